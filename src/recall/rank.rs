//! How well documents match what is asked, of one session or of all: contexts and searches rank by this.
//!
//! BM25 over what is said, a short message seen together with those around it, since an answer stands beside its question and
//! seldom says its words again; over what is done and shown by itself, and worth less. What has more of the question's
//! words is worth more than what has one of them often. The numbers were tuned on talk and on coding sessions at once; what
//! is best for the one alone is not for the other.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::documents::{Corpus, Document, FieldDocuments, SAID, WORK};
use super::portable_math::{length_of, ln, size_of};
use super::question::{Question, Term, seeks_overview};
use crate::record::message::Role;

const K1: f32 = 1.2;
const B: f32 = 0.6;
/// What was done and shown, to what was said.
pub(crate) const WORTH_WORK: f32 = 0.7;
// What a model's long answer is worth, to what it answers, whose words it repeats at length.
const WORTH_ANSWER: f32 = 0.5;
// A line of more bytes is a long answer.
const LONG_ANSWER: u64 = 800;
// What stands in the message itself, in the one before or behind, and two farther.
const AROUND: [f32; 3] = [1.0, 0.5, 0.1];
// A message of more terms, about sixty, is seen by itself.
const SHORT: u8 = 47;
// Fewer documents are counted as so many, where what is asked may have no answer.
#[cfg(feature = "interop")]
const FEW: usize = 100;
// Lists of more documents are looked up only until the words that are have so much of what all are worth.
#[cfg(feature = "interop")]
const MANY: usize = 4096;
#[cfg(feature = "interop")]
const ENOUGH: f32 = 0.75;
// How well the best has to match where a question names what is known; and where it names also other things, or nothing, if all
// of its words were said: within a session, common words alone match something in any long one.
const LEAST: [f32; 3] = [1.0, 2.0, 2.0];
// The same of many, where what nobody said takes more.
#[cfg(feature = "interop")]
const LEAST_OF_MANY: [f32; 3] = [1.0, 0.8, 1.3];

/// What the terms of a question are worth.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TermWeights {
    /// Of each term, in a message.
    pub terms: Vec<f32>,
    /// Of all together; what stands nowhere is worth most.
    pub sum: f32,
    // Of each term, how many documents have it, and how many there are.
    counts: Vec<usize>,
    document_count: usize,
    least_scores: [f32; 3],
}

impl TermWeights {
    /// `titles`: of each session which terms its title has, a bit for each, where titles are asked too.
    pub fn new(terms: &[Term], corpus: &Corpus, titles: &[u64]) -> TermWeights {
        let mut counts = Vec::new();
        let mut worths = Vec::new();
        for (nth, term) in terms.iter().enumerate() {
            let having = [SAID, WORK].map(|field| corpus[field].count_documents(nth));
            let field = if having[SAID] > 0 { SAID } else { WORK };
            let (count, all) = match having {
                [0, 0] => (titles.iter().filter(|title| **title >> nth & 1 == 1).count(), titles.len()),
                _ => (having[field], corpus[field].lengths.len()),
            };
            worths.push(term.weight * rarity(count, all));
            counts.push(having[SAID] + having[WORK]);
        }
        let all = corpus.iter().map(|documents| documents.lengths.len()).sum();
        TermWeights {
            sum: worths.iter().sum(),
            terms: worths,
            counts,
            document_count: all,
            least_scores: LEAST,
        }
    }

    /// The same as if there were at least a hundred documents: of few nobody can tell what is rare.
    #[cfg(feature = "interop")]
    pub fn for_many_documents(&self, terms: &[Term]) -> TermWeights {
        let of = |(term, count): (&Term, &usize)| term.weight * rarity(*count, self.document_count.max(FEW));
        let terms: Vec<f32> = terms.iter().zip(&self.counts).map(of).collect();
        TermWeights { sum: terms.iter().sum(), terms, least_scores: LEAST_OF_MANY, ..self.clone() }
    }

    /// How well the best has to match; nothing does where a question names things, and the session none of them: it is about
    /// something else. Unless the session knows all that it names, the fewer of its words anybody said, the likelier it is that
    /// nobody answers it.
    pub fn least_score(&self, question: &Question) -> Option<f32> {
        let asked = || question.terms.iter().zip(&self.counts);
        let names = asked().filter(|(term, _)| term.is_name).map(|(_, count)| *count);
        let (known, unknown): (Vec<usize>, Vec<usize>) = names.partition(|count| *count > 0);
        let said = asked().filter(|(_, count)| **count > 0).count() as f32;
        let share = said / usize::max(self.counts.len(), 1) as f32;
        let of_all_said = match (known.is_empty(), unknown.is_empty()) {
            (true, false) => return None,
            (false, true) => return Some(self.least_scores[0]),
            (false, false) => self.least_scores[1],
            (true, true) => self.least_scores[2],
        };
        Some(of_all_said / (share * share).max(f32::MIN_POSITIVE))
    }

    /// A score as a part of what a text could have at best. Of a long question no text has all.
    pub fn normalize_score(&self, score: f32) -> f32 {
        let root = libm::sqrtf(self.terms.len() as f32);
        score / self.sum.max(f32::MIN_POSITIVE) * root * libm::sqrtf(root)
    }

    /// A score with what it is worth more where so much of the question stands there: all of it doubles it.
    pub fn boost_by_share(&self, score: f32, own: f32) -> f32 {
        score * (1.0 + own / self.sum.max(f32::MIN_POSITIVE))
    }
}

/// How well each document of a field matches.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldScores {
    /// The more the better; zero where nothing does.
    pub scores: Vec<f32>,
    /// What those terms are worth that it has itself.
    pub own: Vec<f32>,
}

/// A document that matches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RankedDocument {
    /// In which field.
    pub field: usize,
    /// Its number there.
    pub document: u32,
    /// How well.
    pub score: f32,
}

/// Which terms need not be looked up, where each stands in so many of all documents: of those that many have the ones that tell
/// little, beside the rarer ones of the question.
#[cfg(feature = "interop")]
pub(crate) fn find_skippable_terms(terms: &[Term], counts: &[usize], all: usize) -> Vec<bool> {
    let worth = |nth: &usize| terms[*nth].weight * rarity(counts[*nth], all);
    let mut left: Vec<usize> = (0..terms.len()).filter(|nth| counts[*nth] > 0).collect();
    let enough = left.iter().map(worth).sum::<f32>() * ENOUGH;
    let mut unneeded = vec![false; terms.len()];
    let mut sum = 0.0;
    let order = |one: &usize, other: &usize| worth(one).total_cmp(&worth(other)).then(other.cmp(one));
    while let Some(nth) = left.iter().copied().max_by(order) {
        unneeded[nth] = counts[nth] > MANY && sum >= enough;
        sum += worth(&nth);
        left.retain(|one| *one != nth);
    }
    unneeded
}

/// So many documents that match, the best first; of equal ones the newer. What tells somebody to do something is matched by what
/// has one of its names.
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
    for field in [SAID, WORK] {
        let scores = score_field(field, &corpus[field], worth).scores;
        let mut is_meant = vec![!question.is_order; scores.len()];
        let named = question.terms.iter().zip(&corpus[field].hits).filter(|(term, _)| term.is_name);
        for (document, _) in named.flat_map(|(_, hits)| hits) {
            is_meant[*document as usize] = true;
        }
        let matching = scores.into_iter().zip(is_meant).enumerate();
        let matching = matching.filter(|(_, (score, is_meant))| *score > 0.0 && *is_meant);
        // They are few: most of what matches is behind the last of them.
        for (at, (score, _)) in matching {
            let one = RankedDocument { field, document: at as u32, score };
            let place = ranked.partition_point(|better| order(better, &one).is_lt());
            if place < most {
                ranked.truncate(most - 1);
                ranked.insert(place, one);
            }
        }
    }
    ranked
}

/// What a match is worth by whose it is. Who asks for an overview may mean the answers as well.
pub(crate) fn weight_of_role(terms: &[Term], field: usize, document: &Document) -> f32 {
    let is_long_answer = field == SAID
        && document.role == Some(Role::Assistant)
        && size_of(document.size) > LONG_ANSWER
        && !seeks_overview(terms);
    if is_long_answer { WORTH_ANSWER } else { 1.0 }
}

/// How well each document of a field matches.
pub(crate) fn score_field(field: usize, documents: &FieldDocuments, worth: &TermWeights) -> FieldScores {
    let average = average_length(documents);
    let count = documents.lengths.len();
    let mut found = FieldScores { scores: vec![0.0; count], own: vec![0.0; count] };
    let mut near = vec![0.0_f32; count];
    let mut met = Vec::new();
    for (value, hits) in worth.terms.iter().zip(&documents.hits) {
        for (document, session, times) in hits_by_session(documents, hits) {
            found.own[document as usize] += value;
            let reach = if field == SAID { 2 } else { 0 };
            for (at, farther) in neighbors(document, session, reach) {
                let is_seen = farther == 0 || (1..=SHORT).contains(&documents.lengths[at]);
                if is_seen && near[at] == 0.0 {
                    met.push((at as u32, session));
                }
                near[at] += if is_seen { AROUND[farther] * times as f32 } else { 0.0 };
            }
        }
        let value = if field == SAID { *value } else { WORTH_WORK * value };
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

// How long a document is with what counts of those around it, and how many times as long that makes it on average.
fn length_around(
    field: usize,
    documents: &FieldDocuments,
    document: u32,
    session: &Range<u32>,
) -> (f32, f32) {
    let own = documents.lengths[document as usize];
    if field != SAID || own > SHORT {
        return (length_of(own), 1.0);
    }
    let length = neighbors(document, session, 2)
        .fold(0.0, |sum, (at, farther)| sum + AROUND[farther] * length_of(documents.lengths[at]));
    (length, AROUND[0] + 2.0 * (AROUND[1] + AROUND[2]))
}

// A document and those around it in its session, and how far each is.
fn neighbors(document: u32, session: &Range<u32>, reach: u32) -> impl Iterator<Item = (usize, usize)> {
    let first = document.saturating_sub(reach).max(session.start);
    let last = (document + reach + 1).min(session.end);
    (first..last).map(move |at| (at as usize, at.abs_diff(document) as usize))
}

// Each document of a term, the documents of its session, and how often it has the term.
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
    let (sum, count) =
        lengths.fold((0.0_f64, 0.0), |(sum, count), one| (sum + f64::from(length_of(*one)), count + 1.0));
    (sum / f64::max(count, 1.0)) as f32
}

/// How much a term is worth that stands so often in a text of that length.
pub(crate) fn saturate(times: f32, length: f32, average: f32) -> f32 {
    if times == 0.0 {
        return 0.0;
    }
    times * (K1 + 1.0) / (times + K1 * (1.0 - B + B * length / average.max(1.0)))
}

/// How rare something is that so many of all have.
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
        check(&[1, MANY], &[false, false]);
        check(&[6000, 6000, 6000, 6000, 6000], &[false, false, false, false, true]);
    }
}
