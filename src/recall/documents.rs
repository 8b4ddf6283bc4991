//! Messages as documents: what of each is ranked, where it lies, and who takes them one after another.

use core::iter;
use core::ops::Range;

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::portable_math::length_byte;
use super::question::Question;
use super::terms::{Field, TermAnalyzer};
use crate::record::message::Role;

/// What was said: the texts of people and models.
pub(crate) const SAID: usize = 0;
/// What was done and shown: calls of tools and their results.
pub(crate) const WORK: usize = 1;

/// Of the documents of a term, the number of one and how often it has the term: at least once.
pub(crate) type Posting = (u32, u32);

/// Where a document lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Document {
    /// Where its line begins in the log.
    pub line_start: u64,
    /// No fewer bytes than the line has, as [`size_of`](super::portable_math::size_of) reads it.
    pub size: u8,
    /// Seconds since 1970; zero where it has no time.
    pub seconds: u32,
    /// Whose message it is.
    pub role: Option<Role>,
}

/// Who takes documents.
pub(crate) trait DocumentSink {
    /// Takes one, with its texts. Gives its number.
    fn add_document(&mut self, field: usize, document: Document, texts: &[(Field, Cow<'_, str>)]) -> u32;

    /// One is none any more: nothing of it is left but its place among the others.
    fn remove_document(&mut self, field: usize, number: u32);
}

/// The documents of a field, as they are ranked; those of a session follow one another.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldDocuments {
    /// How many terms each has, as [`length_of`](super::portable_math::length_of) reads it.
    pub lengths: Vec<u8>,
    /// Of each session which are its.
    pub sessions: Vec<Range<u32>>,
    /// Of each term of the question the documents that have it, in order.
    pub hits: Vec<Vec<Posting>>,
    /// Of each term in how many documents more it stands, which nobody looked up.
    pub unread: Vec<u32>,
}

impl FieldDocuments {
    /// In how many documents a term stands.
    pub fn count_documents(&self, term: usize) -> usize {
        self.hits[term].len() + self.unread.get(term).map_or(0, |count| *count as usize)
    }

    /// Leaves only the first documents of the only session.
    pub fn truncate(&mut self, count: usize) {
        self.lengths.truncate(count);
        self.sessions = iter::once(0..count as u32).collect();
        for hits in &mut self.hits {
            hits.truncate(hits.partition_point(|(document, _)| (*document as usize) < count));
        }
    }
}

/// What is asked, of both fields.
pub(crate) type Corpus = [FieldDocuments; 2];

/// Documents of one session that are read for the sake of a question.
pub(crate) struct CorpusReader<'a> {
    question: &'a Question,
    words: &'a mut TermAnalyzer,
    /// What they have of it.
    pub corpus: &'a mut Corpus,
    /// Where each lies, in each field.
    pub places: &'a mut [Vec<Document>; 2],
}

impl<'a> CorpusReader<'a> {
    /// Goes on with those that were read before.
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
