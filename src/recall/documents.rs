//! Messages as documents: what ranking knows of each, where it lies, and who takes them.

use core::iter;
use core::ops::Range;

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::portable_math::length_byte;
use super::question::Question;
use super::terms::{Field, TermAnalyzer};
use crate::record::message::Role;

/// The field of texts by people and models.
pub(crate) const SAID_FIELD: usize = 0;
/// The field of tool calls and their results.
pub(crate) const WORK_FIELD: usize = 1;

/// A posting: a document's number, and how often it has the term, at least once.
pub(crate) type Posting = (u32, u32);

/// Where a document lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Document {
    /// The offset of its line in the log.
    pub line_start: u64,
    /// At least the bytes of the line, decoded by [`size_of`](super::portable_math::size_of).
    pub size: u8,
    /// Its time in seconds since 1970; zero if it has none.
    pub seconds: u32,
    /// The role of its message.
    pub role: Option<Role>,
}

/// Receives documents.
pub(crate) trait DocumentSink {
    /// Takes a document with its texts and returns its number.
    fn add_document(&mut self, field: usize, document: Document, texts: &[(Field, Cow<'_, str>)]) -> u32;

    /// Withdraws a document: only its number stays taken.
    fn remove_document(&mut self, field: usize, number: u32);
}

/// The documents of a field, as they are ranked; those of a session are adjacent.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldDocuments {
    /// The number of terms of each, decoded by [`length_of`](super::portable_math::length_of).
    pub lengths: Vec<u8>,
    /// The documents of each session.
    pub sessions: Vec<Range<u32>>,
    /// For each term of the question, its postings, in order.
    pub hits: Vec<Vec<Posting>>,
    /// For each term, the number of further documents, whose postings were not read.
    pub unread: Vec<u32>,
}

impl FieldDocuments {
    /// Returns how many documents have a term.
    pub fn count_documents(&self, term: usize) -> usize {
        self.hits[term].len() + self.unread.get(term).map_or(0, |count| *count as usize)
    }

    /// Keeps only the first documents of the only session.
    pub fn truncate(&mut self, count: usize) {
        self.lengths.truncate(count);
        self.sessions = iter::once(0..count as u32).collect();
        for hits in &mut self.hits {
            hits.truncate(hits.partition_point(|(document, _)| (*document as usize) < count));
        }
    }
}

/// The documents of both fields.
pub(crate) type Corpus = [FieldDocuments; 2];

/// Reads documents of one session for a question.
pub(crate) struct CorpusReader<'a> {
    question: &'a Question,
    words: &'a mut TermAnalyzer,
    /// The hits so far.
    pub corpus: &'a mut Corpus,
    /// Where each document lies, in each field.
    pub places: &'a mut [Vec<Document>; 2],
}

impl<'a> CorpusReader<'a> {
    /// Continues after the documents that were read before.
    pub fn resume(
        question: &'a Question,
        corpus: &'a mut Corpus,
        places: &'a mut [Vec<Document>; 2],
        words: &'a mut TermAnalyzer,
    ) -> CorpusReader<'a> {
        for documents in corpus.iter_mut() {
            documents.hits.resize(question.terms.len(), Vec::new());
        }
        CorpusReader { question, words, corpus, places }
    }
}

impl DocumentSink for CorpusReader<'_> {
    fn add_document(&mut self, field: usize, document: Document, texts: &[(Field, Cow<'_, str>)]) -> u32 {
        let documents = &mut self.corpus[field];
        let number = documents.lengths.len() as u32;
        let mut length = 0;
        let mut take = |term: &str| {
            length += 1;
            let Some(term) = self.question.find_term(term) else { return };
            match documents.hits[term].last_mut() {
                Some((last, times)) if *last == number => *times += 1,
                Some(_) | None => documents.hits[term].push((number, 1)),
            }
        };
        texts.iter().for_each(|(field, text)| self.words.for_each_term(text, *field, &mut take));
        documents.lengths.push(length_byte(length));
        self.places[field].push(document);
        number
    }

    fn remove_document(&mut self, field: usize, number: u32) {
        let documents = &mut self.corpus[field];
        documents.lengths[number as usize] = 0;
        documents.hits.iter_mut().for_each(|hits| hits.retain(|(one, _)| *one != number));
        self.places[field][number as usize] = Document::default();
    }
}
