//! Ranks documents by a question, within one session or across all; contexts and searches share this order.
//!
//! Texts that were said are scored by BM25, a short message together with its neighbors, since an answer stands
//! beside its question and seldom repeats its words. Calls and results are scored by themselves, at a lower weight.
//! Having more of the question's words counts more than having one of them often. The numbers were tuned on talk and
//! on coding sessions at once; the best ones for either alone are not the best for the other.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::documents::{Corpus, Document, FieldDocuments, SAID_FIELD, WORK_FIELD};
use super::portable_math::{length_of, ln, size_of};
use super::question::{Question, Term, seeks_overview};
use crate::record::message::Role;

const K1: f32 = 1.2;
const B: f32 = 0.6;
/// The weight of calls and results, relative to what was said.
pub(crate) const WORK_WEIGHT: f32 = 0.7;
// The weight of a model's long answer, relative to the question that it answers and whose words it repeats at length.
const ANSWER_WEIGHT: f32 = 0.5;
// The bytes of a line above which an answer is long.
const LONG_ANSWER_BYTES: u64 = 800;
// The weight of a term in the message itself, in a direct neighbor, and in one two messages away.
const NEIGHBOR_WEIGHTS: [f32; 3] = [1.0, 0.5, 0.1];
// The length byte, about sixty terms, above which a message is scored without its neighbors.
const MAX_SHORT_LENGTH_BYTE: u8 = 47;
// Fewer documents count as this many, where the question may have no answer.
#[cfg(feature = "interop")]
const MIN_DOCUMENT_COUNT: usize = 100;
// Lists of more documents are skipped once the terms looked up hold the share `ENOUGH_WEIGHT_SHARE` of the
// weight of all.
#[cfg(feature = "interop")]
const MAX_LIST_DOCUMENTS: usize = 4096;
#[cfg(feature = "interop")]
const ENOUGH_WEIGHT_SHARE: f32 = 0.75;
// The least score of the best match: if the session knows every name in the question; if it also lacks some; and if the
// question has no names. The latter two hold where all of its words were said: within a session, common words alone
// match something in any long one.
const MIN_SCORES: [f32; 3] = [1.0, 2.0, 2.0];
// The same for many documents, where a question that nobody answered needs a higher bar.
#[cfg(feature = "interop")]
const MIN_SCORES_OF_MANY: [f32; 3] = [1.0, 0.8, 1.3];
// A question of one word that is no name asks for nothing in particular if that word is common: more documents have it
// than these, and more than one in so many.
const MIN_COMMON_DOCUMENTS: usize = 10;
const COMMON_WORD_SHARE: usize = 50;

/// The weights of a question's terms.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TermWeights {
    /// The weight of each term in a message.
    pub terms: Vec<f32>,
    /// The sum of the weights; a term that no message has weighs most.
    pub sum: f32,
    // The number of documents that have each term, and the number of all documents.
    counts: Vec<usize>,
    document_count: usize,
    least_scores: [f32; 3],
}

impl TermWeights {
    /// Weighs the terms. `titles` holds the terms of each session's title, a bit for each, if titles are searched,
    /// too.
    pub fn new(terms: &[Term], corpus: &Corpus, titles: &[u64]) -> TermWeights {
        let mut counts = Vec::new();
        let mut worths = Vec::new();
        for (nth, term) in terms.iter().enumerate() {
            let having = [SAID_FIELD, WORK_FIELD].map(|field| corpus[field].count_documents(nth));
            let field = if having[SAID_FIELD] > 0 { SAID_FIELD } else { WORK_FIELD };
            let (count, all) = match having {
                [0, 0] => (titles.iter().filter(|title| **title >> nth & 1 == 1).count(), titles.len()),
                _ => (having[field], corpus[field].lengths.len()),
            };
            worths.push(term.weight * rarity(count, all));
            counts.push(having[SAID_FIELD] + having[WORK_FIELD]);
        }
        let all = corpus.iter().map(|documents| documents.lengths.len()).sum();
        TermWeights {
            sum: worths.iter().sum(),
            terms: worths,
            counts,
            document_count: all,
            least_scores: MIN_SCORES,
        }
    }

    /// Weighs the terms as if there were at least a hundred documents: among few, rarity says nothing.
    #[cfg(feature = "interop")]
    pub fn for_many_documents(&self, terms: &[Term]) -> TermWeights {
        let of = |(term, count): (&Term, &usize)| {
            term.weight * rarity(*count, self.document_count.max(MIN_DOCUMENT_COUNT))
        };
        let terms: Vec<f32> = terms.iter().zip(&self.counts).map(of).collect();
        TermWeights { sum: terms.iter().sum(), terms, least_scores: MIN_SCORES_OF_MANY, ..self.clone() }
    }

    /// Returns the score that the best match must reach. `None` if the question has names and the session knows none
    /// of them: it is about something else; or if all it has is one common word. Unless the session knows all the names, the bar rises as fewer of the
    /// words were said, since an answer is then less likely.
    pub fn least_score(&self, question: &Question) -> Option<f32> {
        let counted_terms = || question.terms.iter().zip(&self.counts);
        let names = counted_terms().filter(|(term, _)| term.is_name).map(|(_, count)| *count);
        let (known, unknown): (Vec<usize>, Vec<usize>) = names.partition(|count| *count > 0);
        let matched = counted_terms().filter(|(_, count)| **count > 0).count() as f32;
        let share = matched / usize::max(self.counts.len(), 1) as f32;
        if let ([count], true) = (&*self.counts, known.is_empty())
            && *count > (self.document_count / COMMON_WORD_SHARE).max(MIN_COMMON_DOCUMENTS)
        {
            return None;
        }
        let of_all_said = match (known.is_empty(), unknown.is_empty()) {
            (true, false) => return None,
            (false, true) => return Some(self.least_scores[0]),
            (false, false) => self.least_scores[1],
            (true, true) => self.least_scores[2],
        };
        Some(of_all_said / (share * share).max(f32::MIN_POSITIVE))
    }

    /// Scales a score to a share of the best possible one. No text has all of a long question.
    pub fn normalize_score(&self, score: f32) -> f32 {
        let root = libm::sqrtf(self.terms.len() as f32);
        score / self.sum.max(f32::MIN_POSITIVE) * root * libm::sqrtf(root)
    }

    /// Raises a score by the share of the question in the text itself: all of it doubles the score.
    pub fn boost_by_share(&self, score: f32, own: f32) -> f32 {
        score * (1.0 + own / self.sum.max(f32::MIN_POSITIVE))
    }
}

/// The scores of a field's documents.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldScores {
    /// Each document's score; zero if it does not match.
    pub scores: Vec<f32>,
    /// The summed weight of the terms that each document itself has.
    pub own: Vec<f32>,
}

/// A document that matches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RankedDocument {
    /// Its field.
    pub field: usize,
    /// Its number in the field.
    pub document: u32,
    /// Its score.
    pub score: f32,
}

/// Finds the terms whose postings need not be read, given how many of all documents have each: common terms that
/// add little beside the question's rarer ones.
#[cfg(feature = "interop")]
pub(crate) fn find_skippable_terms(terms: &[Term], counts: &[usize], all: usize) -> Vec<bool> {
    let worth = |nth: &usize| terms[*nth].weight * rarity(counts[*nth], all);
    let mut left: Vec<usize> = (0..terms.len()).filter(|nth| counts[*nth] > 0).collect();
    let enough = left.iter().map(worth).sum::<f32>() * ENOUGH_WEIGHT_SHARE;
    let mut unneeded = vec![false; terms.len()];
    let mut sum = 0.0;
    let order = |one: &usize, other: &usize| worth(one).total_cmp(&worth(other)).then(other.cmp(one));
    while let Some(nth) = left.iter().copied().max_by(order) {
        unneeded[nth] = counts[nth] > MAX_LIST_DOCUMENTS && sum >= enough;
        sum += worth(&nth);
        left.retain(|place| *place != nth);
    }
    unneeded
}

/// Returns at most `most` matching documents, the best first; of equal ones the newer first. An order is matched only
/// by documents that have one of its names.
pub(crate) fn rank_documents(
    question: &Question,
    corpus: &Corpus,
    worth: &TermWeights,
    most: usize,
) -> Vec<RankedDocument> {
    let mut ranked: Vec<RankedDocument> = Vec::new();
    let order = |a: &RankedDocument, b: &RankedDocument| {
        b.score.total_cmp(&a.score).then(b.document.cmp(&a.document)).then(a.field.cmp(&b.field))
    };
    for field in [SAID_FIELD, WORK_FIELD] {
        let scores = score_field(field, &corpus[field], worth).scores;
        let mut is_meant = vec![!question.is_order; scores.len()];
        let named = question.terms.iter().zip(&corpus[field].hits).filter(|(term, _)| term.is_name);
        for (document, _) in named.flat_map(|(_, hits)| hits) {
            is_meant[*document as usize] = true;
        }
        let matching = scores.into_iter().zip(is_meant).enumerate();
        let matching = matching.filter(|(_, (score, is_meant))| *score > 0.0 && *is_meant);
        // They are few: most matches rank behind the last of them.
        for (at, (score, _)) in matching {
            let ranked_document = RankedDocument { field, document: at as u32, score };
            let place = ranked.partition_point(|better| order(better, &ranked_document).is_lt());
            if place < most {
                ranked.truncate(most - 1);
                ranked.insert(place, ranked_document);
            }
        }
    }
    ranked
}

/// Weighs a match by its speaker. A question for an overview may mean the long answers as well.
pub(crate) fn weight_of_role(terms: &[Term], field: usize, document: &Document) -> f32 {
    let is_long_answer = field == SAID_FIELD
        && document.role == Some(Role::Assistant)
        && size_of(document.size) > LONG_ANSWER_BYTES
        && !seeks_overview(terms);
    if is_long_answer { ANSWER_WEIGHT } else { 1.0 }
}

/// Scores each document of a field.
pub(crate) fn score_field(field: usize, documents: &FieldDocuments, worth: &TermWeights) -> FieldScores {
    let average = average_length(documents);
    let count = documents.lengths.len();
    let mut found = FieldScores { scores: vec![0.0; count], own: vec![0.0; count] };
    let mut near = vec![0.0_f32; count];
    let mut met = Vec::new();
    for (value, hits) in worth.terms.iter().zip(&documents.hits) {
        for (document, session, times) in hits_by_session(documents, hits) {
            found.own[document as usize] += value;
            let reach = if field == SAID_FIELD { 2 } else { 0 };
            for (at, farther) in neighbors(document, session, reach) {
                let is_seen = farther == 0 || (1..=MAX_SHORT_LENGTH_BYTE).contains(&documents.lengths[at]);
                if is_seen && near[at] == 0.0 {
                    met.push((at as u32, session));
                }
                near[at] += if is_seen { NEIGHBOR_WEIGHTS[farther] * times as f32 } else { 0.0 };
            }
        }
        let value = if field == SAID_FIELD { *value } else { WORK_WEIGHT * value };
        for (document, session) in met.drain(..) {
            let at = document as usize;
            let (length, width) = length_around(field, documents, document, session);
            let times = core::mem::take(&mut near[at]);
            found.scores[at] += value * saturate(times, length, average * width);
        }
    }
    for (score, own) in found.scores.iter_mut().zip(&found.own) {
        *score = worth.boost_by_share(*score, *own);
    }
    found
}

// Returns a document's length with its weighted neighbors, and the factor by which neighbors lengthen a document on
// average.
fn length_around(
    field: usize,
    documents: &FieldDocuments,
    document: u32,
    session: &Range<u32>,
) -> (f32, f32) {
    let own = documents.lengths[document as usize];
    if field != SAID_FIELD || own > MAX_SHORT_LENGTH_BYTE {
        return (length_of(own), 1.0);
    }
    let length = neighbors(document, session, 2)
        .fold(0.0, |sum, (at, farther)| sum + NEIGHBOR_WEIGHTS[farther] * length_of(documents.lengths[at]));
    (length, NEIGHBOR_WEIGHTS[0] + 2.0 * (NEIGHBOR_WEIGHTS[1] + NEIGHBOR_WEIGHTS[2]))
}

// Returns a document and its neighbors in the session, with their distances.
fn neighbors(document: u32, session: &Range<u32>, reach: u32) -> impl Iterator<Item = (usize, usize)> {
    let first = document.saturating_sub(reach).max(session.start);
    let last = (document + reach + 1).min(session.end);
    (first..last).map(move |at| (at as usize, at.abs_diff(document) as usize))
}

// Returns each document of a term, its session's documents, and the term's count.
fn hits_by_session<'a>(
    documents: &'a FieldDocuments,
    hits: &'a [(u32, u32)],
) -> impl Iterator<Item = (u32, &'a Range<u32>, u32)> {
    let mut sessions = documents.sessions.iter().filter(|session| !session.is_empty());
    let mut session = sessions.next();
    hits.iter().filter_map(move |(document, times)| {
        while session.is_some_and(|session| session.end <= *document) {
            session = sessions.next();
        }
        Some((*document, session?, *times))
    })
}

fn average_length(documents: &FieldDocuments) -> f32 {
    let lengths = documents.lengths.iter().filter(|length| **length > 0);
    let (sum, count) = lengths
        .fold((0.0_f64, 0.0), |(sum, count), length| (sum + f64::from(length_of(*length)), count + 1.0));
    (sum / f64::max(count, 1.0)) as f32
}

/// Returns BM25's term weight for a count in a text of that length.
pub(crate) fn saturate(times: f32, length: f32, average: f32) -> f32 {
    if times == 0.0 {
        return 0.0;
    }
    times * (K1 + 1.0) / (times + K1 * (1.0 - B + B * length / average.max(1.0)))
}

/// Returns how rare a term is that `count` of `all` documents have.
pub(crate) fn rarity(count: usize, all: usize) -> f32 {
    let (count, all) = (count.min(all) as f32, all as f32);
    ln(1.0 + (all - count + 0.5) / (count + 0.5))
}

#[cfg(all(test, feature = "interop"))]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::recall::question::TermReason;

    fn check(counts: &[usize], expected: &[bool]) {
        let term = |nth: usize| Term {
            text: nth.to_string(),
            word: nth.to_string(),
            weight: 1.0,
            is_name: false,
            reason: TermReason::Word,
        };
        let terms: Vec<Term> = (0..counts.len()).map(term).collect();
        assert_eq!(find_skippable_terms(&terms, counts, 200_000), expected, "{counts:?}");
    }

    #[test]
    fn what_very_many_messages_have_is_not_looked_up_beside_what_few_have() {
        check(&[1, 200_000], &[false, true]);
        check(&[50_000, 3, 40, 60_000], &[true, false, false, true]);
    }

    #[test]
    fn what_is_asked_is_looked_up_where_nothing_rarer_is() {
        check(&[200_000], &[false]);
        check(&[0, 150_000], &[false, false]);
        check(&[1, MAX_LIST_DOCUMENTS], &[false, false]);
        check(&[6000, 6000, 6000, 6000, 6000], &[false, false, false, false, true]);
    }

    #[test]
    fn one_common_word_asks_for_nothing_and_a_rare_one_or_a_name_does() {
        let asks = |count: usize, is_name: bool| {
            let term =
                Term { text: "a".into(), word: "a".into(), weight: 1.0, is_name, reason: TermReason::Word };
            let mut question = Question::default();
            question.add_terms(Vec::from([term]));
            let worth = TermWeights {
                counts: Vec::from([count]),
                document_count: 5000,
                least_scores: MIN_SCORES,
                ..TermWeights::default()
            };
            worth.least_score(&question).is_some()
        };
        assert!(asks(3, false) && asks(100, false) && asks(4000, true));
        assert!(!asks(101, false));
    }
}
