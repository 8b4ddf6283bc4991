//! The shortlist: the few messages of a log that may answer a question, which are then read.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

#[cfg(feature = "interop")]
use super::documents::WORK_FIELD;
use super::documents::{Corpus, Document};
use super::portable_math::size_of;
use super::question::Question;
use super::rank::{RankedDocument, TermWeights, rank_documents, weight_of_role};
use crate::record::message::Role;
use crate::record::span::Span;

// The most messages that are read for passages.
const MAX_MESSAGES: usize = 64;
// The most documents between a result and its call: other calls of the same moment lie between.
const MAX_CALL_DISTANCE: u32 = 32;

/// The candidates, and the weights of the question's terms.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shortlist {
    /// The weights of the terms.
    pub worth: TermWeights,
    /// The best candidates first.
    pub candidates: Vec<Candidate>,
}

/// A message that may answer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Candidate {
    /// The range of its line, or a little more.
    pub line: Span,
    /// Its score.
    pub score: f32,
    /// For a result, the line of its call.
    pub caller: Option<Span>,
}

/// Ranks the documents and returns the best; none if the question is about something else, so that nothing need be
/// read.
pub(crate) fn rank_best(question: &Question, corpus: &Corpus) -> (TermWeights, Vec<RankedDocument>) {
    let worth = TermWeights::new(&question.terms, corpus, &[]);
    let ranked = match worth.least_score(question) {
        Some(_) => rank_documents(question, corpus, &worth, MAX_MESSAGES),
        None => Vec::new(),
    };
    (worth, ranked)
}

/// Returns the ranges of documents, by field, whose places and roles must be read.
#[cfg(feature = "interop")]
pub(crate) fn documents_to_read(ranked: &[RankedDocument]) -> Vec<(usize, core::ops::Range<u32>)> {
    let before = |field: usize| if field == WORK_FIELD { MAX_CALL_DISTANCE } else { 0 };
    ranked
        .iter()
        .map(|ranked_document| {
            (
                ranked_document.field,
                ranked_document.document.saturating_sub(before(ranked_document.field))
                    ..ranked_document.document + 1,
            )
        })
        .collect()
}

impl Shortlist {
    /// Turns ranked documents into candidates, each message once; messages from the time that the question names
    /// count up to twice. `places` looks up a document of a field.
    pub fn new(
        question: &Question,
        (worth, ranked): (TermWeights, Vec<RankedDocument>),
        places: &dyn Fn(usize, u32) -> Option<Document>,
    ) -> Shortlist {
        let mut candidates: Vec<Candidate> = Vec::new();
        let mut met: BTreeMap<u64, usize> = BTreeMap::new();
        for ranked_document in ranked {
            let Some(document) = places(ranked_document.field, ranked_document.document) else { continue };
            let place = *met.entry(document.line_start).or_insert(candidates.len());
            if place == candidates.len() {
                let line = line_span(document);
                candidates.push(Candidate { line, ..Candidate::default() });
            }
            let score =
                ranked_document.score * weight_of_role(&question.terms, ranked_document.field, &document);
            candidates[place].score += score * (1.0 + question.nearness_in_time(document.seconds));
            if document.role == Some(Role::Tool) {
                let before = (ranked_document.document.saturating_sub(MAX_CALL_DISTANCE)
                    ..ranked_document.document)
                    .rev();
                let mut before = before.filter_map(|number| places(ranked_document.field, number));
                candidates[place].caller =
                    before.find(|other| other.role == Some(Role::Assistant)).map(line_span);
            }
        }
        candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.line.start.cmp(&a.line.start)));
        Shortlist { worth, candidates }
    }
}

/// Returns the range of a document's line, or a little more.
pub(crate) fn line_span(document: Document) -> Span {
    Span { start: document.line_start, end: document.line_start.saturating_add(size_of(document.size)) }
}
