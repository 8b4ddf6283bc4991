//! The few messages of a log that may answer a question: these are read.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

#[cfg(feature = "interop")]
use super::documents::WORK;
use super::documents::{Corpus, Document};
use super::portable_math::size_of;
use super::question::Question;
use super::rank::{RankedDocument, TermWeights, rank_documents, weight_of_role};
use crate::record::message::Role;
use crate::record::span::Span;

// How many messages are looked at for what of them answers.
const MOST: usize = 64;
// So many documents before that of a result at most stands its call: others that were called at once lie between.
const CALLS: u32 = 32;

/// What is looked at, and what the terms of the question are worth.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shortlist {
    /// What the terms are worth.
    pub worth: TermWeights,
    /// The best first.
    pub candidates: Vec<Candidate>,
}

/// A message that may answer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Candidate {
    /// Its line, and more than that maybe.
    pub line: Span,
    /// How well it matches.
    pub score: f32,
    /// Of a result the line of its call.
    pub caller: Option<Span>,
}

/// The documents that match best. None where the question is about something else: it need not be looked up.
pub(crate) fn rank_best(question: &Question, corpus: &Corpus) -> (TermWeights, Vec<RankedDocument>) {
    let worth = TermWeights::new(&question.terms, corpus, &[]);
    let ranked = match worth.least_score(question) {
        Some(_) => rank_documents(question, corpus, &worth, MOST),
        None => Vec::new(),
    };
    (worth, ranked)
}

/// Which documents have to be known to tell what they are: of a field, so many.
#[cfg(feature = "interop")]
pub(crate) fn documents_to_read(ranked: &[RankedDocument]) -> Vec<(usize, core::ops::Range<u32>)> {
    let before = |field: usize| if field == WORK { CALLS } else { 0 };
    ranked
        .iter()
        .map(|one| (one.field, one.document.saturating_sub(before(one.field))..one.document + 1))
        .collect()
}

impl Shortlist {
    /// Of documents that match, each message once; what was said at the time that the question names counts up to twice.
    /// `places`: where a document of a field lies.
    pub fn new(
        question: &Question,
        (worth, ranked): (TermWeights, Vec<RankedDocument>),
        places: &dyn Fn(usize, u32) -> Option<Document>,
    ) -> Shortlist {
        let mut candidates: Vec<Candidate> = Vec::new();
        let mut met: BTreeMap<u64, usize> = BTreeMap::new();
        for one in ranked {
            let Some(document) = places(one.field, one.document) else { continue };
            let place = *met.entry(document.line_start).or_insert(candidates.len());
            if place == candidates.len() {
                let line = line_span(document);
                candidates.push(Candidate { line, ..Candidate::default() });
            }
            let score = one.score * weight_of_role(&question.terms, one.field, &document);
            candidates[place].score += score * (1.0 + question.nearness_in_time(document.seconds));
            if document.role == Some(Role::Tool) {
                let before = (one.document.saturating_sub(CALLS)..one.document).rev();
                let mut before = before.filter_map(|number| places(one.field, number));
                candidates[place].caller =
                    before.find(|other| other.role == Some(Role::Assistant)).map(line_span);
            }
        }
        candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.line.start.cmp(&a.line.start)));
        Shortlist { worth, candidates }
    }
}

fn line_span(document: Document) -> Span {
    Span { start: document.line_start, end: document.line_start.saturating_add(size_of(document.size)) }
}
