//! Where the terms of a question stand in a log, by reading it; an index knows the same without.

use alloc::vec::Vec;

use super::documents::{Corpus, Document, Read};
use super::lines::Lines;
use super::question::Question;
use super::words::Words;

/// A log that is read for a question.
#[derive(Debug)]
pub(crate) struct Scan {
    lines: Lines,
    corpus: Corpus,
    places: [Vec<Document>; 2],
}

impl Scan {
    /// Of a log whose bytes are fed from `offset` on.
    pub fn new(offset: u64) -> Scan {
        Scan { lines: Lines::from(offset), corpus: Corpus::default(), places: Default::default() }
    }

    /// Takes the next bytes; `is_last`: there are no more.
    pub fn feed(&mut self, bytes: &[u8], is_last: bool, question: &Question, words: &mut Words) {
        let mut read = Read::on(question, &mut self.corpus, &mut self.places, words);
        self.lines.feed(bytes, &mut read);
        if is_last {
            self.lines.end(true, &mut read);
        }
    }

    /// What those documents have of the question that lie before a line of the log, and where each lies.
    pub fn found(self, before: u64) -> (Corpus, [Vec<Document>; 2]) {
        let Scan { mut corpus, places, .. } = self;
        for (documents, places) in corpus.iter_mut().zip(&places) {
            documents.cut(places.iter().take_while(|one| one.at < before).count());
        }
        (corpus, places)
    }
}
