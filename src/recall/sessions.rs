//! Ranks sessions by a question, and the messages in each.
//!
//! A session's score comes from its best messages as [`rank`](super::rank) scores them, each next one counting less,
//! and from the question's words in the session as a whole.

use alloc::vec;
use alloc::vec::Vec;

use super::documents::{Corpus, FieldDocuments, SAID_FIELD, WORK_FIELD};
use super::portable_math::length_of;
use super::question::Term;
use super::rank::{RankedDocument, TermWeights, WORK_WEIGHT, rarity, saturate, score_field};

// The number of messages that a session's score comes from.
const SCORED_MESSAGES: usize = 4;

// BM25's `k1` for a whole session.
const K: f32 = 2.0;
const B: f32 = 0.6;
// The weight of each next best message, relative to the one before.
const NEXT_MESSAGE_WEIGHT: f32 = 0.4;
// A word in a title counts as if it was said this often.
const TITLE_WEIGHT: f32 = 2.0;

/// A session that matches the question.
#[derive(Clone, Debug)]
pub(crate) struct RankedSession {
    /// The session's number.
    pub session: u32,
    /// The score; higher is better.
    pub score: f32,
    /// The session's best messages, the best first.
    pub best: Vec<RankedDocument>,
}

/// The matching sessions, the best first.
#[derive(Clone, Debug)]
pub(crate) struct SessionRanking {
    /// The sessions.
    pub sessions: Vec<RankedSession>,
    /// The weight of each term in a message.
    pub worth: TermWeights,
    /// The terms that no message and no title has, a bit for each.
    pub unmatched_terms: u64,
}

/// What is known of a session apart from its messages.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SessionHints {
    /// The terms in its title and its summary, a bit for each.
    pub title: u64,
    /// How near the session is to a time that the question names, from 0 to 1.
    pub date: f32,
}

/// Ranks the sessions that match, the best first; ties keep the order of `known`. `asked` has, if not all documents
/// are searched, a flag for each document of both fields; and the most messages to return for a session.
pub(crate) fn rank_sessions(
    terms: &[Term],
    corpus: &Corpus,
    known: &[SessionHints],
    (eligible, max_messages): (Option<&[Vec<bool>; 2]>, usize),
) -> SessionRanking {
    let titles: Vec<u64> = known.iter().map(|session| session.title).collect();
    let worth = TermWeights::new(terms, corpus, &titles);
    let unmet = unmatched_terms(terms.len(), corpus, &titles, eligible);
    let mut best: Vec<Vec<RankedDocument>> = vec![Vec::new(); known.len()];
    for field in [SAID_FIELD, WORK_FIELD] {
        let found = score_field(field, &corpus[field], &worth);
        for (session, documents) in corpus[field].sessions.iter().enumerate() {
            for document in documents.clone() {
                let at = document as usize;
                // Whoever searches only some messages means the words of those messages, not of their neighbors.
                let is_meant = eligible.is_none_or(|eligible| eligible[field][at] && found.own[at] > 0.0);
                if found.scores[at] > 0.0 && is_meant {
                    insert_best(
                        &mut best[session],
                        RankedDocument { field, document, score: found.scores[at] },
                        max_messages,
                    );
                }
            }
        }
    }
    let mut own = score_sessions(terms, corpus, known.len());
    for (session, (known, best)) in known.iter().zip(&best).enumerate() {
        // If only some messages are searched, a session without a match among them is not found.
        let is_found = eligible.is_none() || !best.is_empty();
        let title = score_title(&worth, known.title);
        let all = (own[session] + combine_scores(best, title)) * (1.0 + known.date);
        own[session] = if is_found { all } else { 0.0 };
    }
    let ranked = own.into_iter().zip(best).enumerate();
    let ranked =
        ranked.map(|(session, (score, best))| RankedSession { session: session as u32, score, best });
    let mut sessions: Vec<RankedSession> = ranked.filter(|session| session.score > 0.0).collect();
    sessions.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.session.cmp(&other.session)));
    SessionRanking { sessions, worth, unmatched_terms: unmet }
}

// Returns the terms without a match. A term that was not looked up is common, so it counts as matched.
fn unmatched_terms(terms: usize, corpus: &Corpus, titles: &[u64], eligible: Option<&[Vec<bool>; 2]>) -> u64 {
    let is_said = |term: usize, field: usize| {
        let documents = &corpus[field];
        let is_asked = |document: u32| eligible.is_none_or(|eligible| eligible[field][document as usize]);
        documents.unread.get(term).is_some_and(|count| *count > 0)
            || documents.hits[term].iter().any(|(document, _)| is_asked(*document))
    };
    let titled = titles.iter().fold(0, |all, has| all | has);
    let is_met =
        |term: &usize| titled >> term & 1 == 1 || is_said(*term, SAID_FIELD) || is_said(*term, WORK_FIELD);
    (0..terms).filter(|term| !is_met(term)).fold(0, |all, term| all | 1 << term)
}

fn insert_best(best: &mut Vec<RankedDocument>, document: RankedDocument, max_messages: usize) {
    let place = best.iter().position(|other| other.score < document.score).unwrap_or(best.len());
    if place < max_messages {
        best.insert(place, document);
        best.truncate(max_messages);
    }
}

// Combines the scores of the best messages and of the title.
fn combine_scores(best: &[RankedDocument], title: Option<f32>) -> f32 {
    let mut scores: Vec<f32> = best.iter().map(|document| document.score).chain(title).collect();
    scores.sort_by(|one, other| other.total_cmp(one));
    let shares = core::iter::successors(Some(1.0), |share| Some(share * NEXT_MESSAGE_WEIGHT));
    scores.iter().zip(shares).take(SCORED_MESSAGES).map(|(score, share)| share * score).sum()
}

// Scores a title as if it were a short message.
fn score_title(worth: &TermWeights, has: u64) -> Option<f32> {
    let of_title = worth.terms.iter().enumerate().filter(|(term, _)| has >> term & 1 == 1);
    let own: f32 = of_title.map(|(_, worth)| worth).sum();
    (has != 0).then(|| worth.boost_by_share(own * saturate(TITLE_WEIGHT, 0.0, 1.0), own))
}

// Scores each session as one text.
fn score_sessions(terms: &[Term], corpus: &Corpus, sessions: usize) -> Vec<f32> {
    let lengths = [SAID_FIELD, WORK_FIELD].map(|field| session_lengths(&corpus[field], sessions));
    let all = (0..sessions)
        .filter(|session| lengths[SAID_FIELD][*session] + lengths[WORK_FIELD][*session] > 0.0)
        .count();
    let averages =
        [SAID_FIELD, WORK_FIELD].map(|field| lengths[field].iter().sum::<f32>() / (all.max(1) as f32));
    let mut own = vec![0.0; sessions];
    for (nth, term) in terms.iter().enumerate() {
        let times = [SAID_FIELD, WORK_FIELD].map(|field| session_term_counts(&corpus[field], nth, sessions));
        let having =
            (0..sessions).filter(|session| times[SAID_FIELD][*session] + times[WORK_FIELD][*session] > 0.0);
        let worth = term.weight * rarity(having.count(), all);
        for field in [SAID_FIELD, WORK_FIELD] {
            let worth = if field == SAID_FIELD { worth } else { WORK_WEIGHT * worth };
            for (session, times) in times[field].iter().enumerate().filter(|(_, times)| **times > 0.0) {
                let length = lengths[field][session] / averages[field].max(1.0);
                own[session] += worth * times * (K + 1.0) / (times + K * (1.0 - B + B * length));
            }
        }
    }
    own
}

fn session_lengths(documents: &FieldDocuments, sessions: usize) -> Vec<f32> {
    let mut all = vec![0.0; sessions];
    for (session, documents_of) in documents.sessions.iter().enumerate() {
        let own = &documents.lengths[documents_of.start as usize..documents_of.end as usize];
        all[session] = own.iter().map(|length| length_of(*length)).sum();
    }
    all
}

// Counts how often each session has a term.
fn session_term_counts(documents: &FieldDocuments, term: usize, sessions: usize) -> Vec<f32> {
    let mut all = vec![0.0; sessions];
    let mut session = 0;
    for (document, times) in &documents.hits[term] {
        while documents.sessions[session].end <= *document {
            session += 1;
        }
        all[session] += *times as f32;
    }
    all
}
