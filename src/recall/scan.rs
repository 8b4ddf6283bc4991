//! Finds the terms of a question in a log by reading it; with an index that is not needed.

use alloc::vec::Vec;

use super::document_feed::DocumentFeed;
use super::documents::{Corpus, CorpusReader, Document};
use super::question::Question;
use super::terms::TermAnalyzer;

/// A log that is read for a question.
#[derive(Debug)]
pub(crate) struct QuestionScan {
    lines: DocumentFeed,
    corpus: Corpus,
    places: [Vec<Document>; 2],
}

impl QuestionScan {
    /// Starts a log whose bytes are fed from `offset` on.
    pub fn new(offset: u64) -> QuestionScan {
        QuestionScan {
            lines: DocumentFeed::starting_at(offset),
            corpus: Corpus::default(),
            places: Default::default(),
        }
    }

    /// Takes the next bytes; `is_last` says that no more follow.
    pub fn feed(&mut self, bytes: &[u8], is_last: bool, question: &Question, words: &mut TermAnalyzer) {
        let mut read = CorpusReader::resume(question, &mut self.corpus, &mut self.places, words);
        self.lines.feed(bytes, &mut read);
        if is_last {
            self.lines.finish(true, &mut read);
        }
    }

    /// Returns the hits in documents before a line of the log, and where each document lies.
    pub fn into_hits_before(self, before: u64) -> (Corpus, [Vec<Document>; 2]) {
        let QuestionScan { mut corpus, places, .. } = self;
        for (documents, places) in corpus.iter_mut().zip(&places) {
            documents.truncate(places.iter().take_while(|one| one.line_start < before).count());
        }
        (corpus, places)
    }
}
