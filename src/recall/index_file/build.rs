//! Collects the terms of documents and makes an index file of them.

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use xxhash_rust::xxh64::xxh64;

use super::bytes::put_posting;
use super::write::{DocumentTables, IndexFileWriter};
use super::{PostingLists, Segment};
use crate::recall::documents::{Document, DocumentSink, Posting, SAID_FIELD, WORK_FIELD};
use crate::recall::portable_math::length_byte;
use crate::recall::terms::{Field, TermAnalyzer, TermSink};

const NO_ENTRY: u32 = u32::MAX;

/// An index file in the making: segments of sessions, added in the order of their keys.
pub struct IndexFileBuilder<'a> {
    words: &'a mut TermAnalyzer,
    draft: IndexFileDraft,
}

/// The content so far.
#[derive(Debug, Default)]
pub struct IndexFileDraft {
    terms: TermTable,
    lists: Vec<[OpenList; 2]>,
    // In each field, the terms and documents that are in no list yet. Each term's list lies elsewhere in memory, so
    // they wait until they are many.
    waiting: [Vec<(u32, u32)>; 2],
    removed: [BTreeSet<u32>; 2],
    tables: DocumentTables,
}

// The number of entries that wait.
const MAX_WAITING_ENTRIES: usize = if cfg!(test) { 16 } else { 1 << 18 };

// The documents of a term in a field; the count of the last one may still grow.
#[derive(Clone, Debug, Default)]
struct OpenList {
    count: u32,
    bytes: Vec<u8>,
    previous_document: u32,
    last: Posting,
}

impl OpenList {
    fn add(&mut self, document: u32) {
        if self.count > 0 && self.last.0 == document {
            self.last.1 += 1;
        } else {
            self.flush();
            self.count += 1;
            self.last = (document, 1);
        }
    }

    fn flush(&mut self) {
        if self.last.1 > 0 {
            put_posting(&mut self.bytes, self.previous_document, self.last);
            self.previous_document = self.last.0;
            self.last.1 = 0;
        }
    }
}

impl<'a> IndexFileBuilder<'a> {
    /// `hides` says that the texts come without the secrets found in the logs.
    pub fn new(words: &'a mut TermAnalyzer, hides: bool) -> IndexFileBuilder<'a> {
        let mut builder = IndexFileBuilder { words, draft: IndexFileDraft::default() };
        builder.begin(hides);
        builder
    }

    fn begin(&mut self, hides: bool) {
        self.words.forget_notes();
        self.draft = IndexFileDraft {
            tables: DocumentTables { hides, ..DocumentTables::default() },
            ..IndexFileDraft::default()
        };
    }

    /// Begins a segment.
    pub fn begin_segment(&mut self, row: Segment) {
        self.draft.begin_segment(row);
    }

    /// Returns the segment that was begun last, if any.
    pub fn last_segment(&mut self) -> Option<&mut Segment> {
        self.draft.tables.rows.last_mut()
    }

    /// Returns the bytes of the file, and begins another one.
    pub fn finish(&mut self) -> Vec<u8> {
        let made = core::mem::take(&mut self.draft);
        self.begin(made.tables.hides);
        made.finish()
    }
}

impl IndexFileDraft {
    /// Begins a segment.
    pub fn begin_segment(&mut self, row: Segment) {
        self.tables.rows.push(Segment { documents: [0; 2], terms: [0; 2], times: None, ..row });
    }

    /// Adds a document, whose terms `fill` hands over one by one, and returns its number.
    pub fn add_document(
        &mut self,
        field: usize,
        document: Document,
        fill: &mut dyn FnMut(TermSink<'_>),
    ) -> u32 {
        let number = self.tables.documents[field].len() as u32;
        let mut length = 0;
        let waiting = &mut self.waiting[field];
        fill(&mut |term, note| {
            let term = *note.get_or_insert_with(|| self.terms.number_of(term.as_bytes()));
            waiting.push((term, number));
            length += 1;
        });
        if waiting.len() >= MAX_WAITING_ENTRIES {
            self.flush_waiting(field);
        }
        self.tables.documents[field].push(document);
        self.tables.lengths[field].push(length_byte(length));
        if let Some(row) = self.tables.rows.last_mut() {
            row.documents[field] += 1;
            row.terms[field] += length;
            if document.seconds > 0 {
                let (first, last) = row.times.unwrap_or((document.seconds, document.seconds));
                row.times = Some((first.min(document.seconds), last.max(document.seconds)));
            }
        }
        number
    }

    // Moves the waiting entries into the lists, term by term.
    fn flush_waiting(&mut self, field: usize) {
        self.lists.resize(self.terms.count(), Default::default());
        let waiting = core::mem::take(&mut self.waiting[field]);
        let mut ends = vec![0; self.lists.len()];
        waiting.iter().for_each(|(term, _)| ends[*term as usize] += 1);
        let mut sum = 0;
        for end in &mut ends {
            sum += core::mem::replace(end, sum);
        }
        let mut documents = vec![0; waiting.len()];
        for (term, document) in waiting {
            let end = &mut ends[term as usize];
            documents[*end] = document;
            *end += 1;
        }
        let mut from = 0;
        for (lists, to) in self.lists.iter_mut().zip(ends) {
            documents[from..to].iter().for_each(|document| lists[field].add(*document));
            from = to;
        }
    }

    /// Returns the bytes of the file.
    pub fn finish(mut self) -> Vec<u8> {
        [SAID_FIELD, WORK_FIELD].into_iter().for_each(|field| self.flush_waiting(field));
        let mut order: Vec<u32> = (0..self.lists.len() as u32).collect();
        order.sort_unstable_by(|one, other| self.terms.term(*one).cmp(self.terms.term(*other)));
        let mut writer = IndexFileWriter::default();
        for number in order {
            let lists = &mut self.lists[number as usize];
            lists.iter_mut().for_each(OpenList::flush);
            let mut lists = PostingLists {
                counts: [lists[SAID_FIELD].count, lists[WORK_FIELD].count],
                bytes: [SAID_FIELD, WORK_FIELD].map(|field| core::mem::take(&mut lists[field].bytes)),
            };
            for field in [SAID_FIELD, WORK_FIELD].into_iter().filter(|field| !self.removed[*field].is_empty())
            {
                lists.retain_documents(field, |document| !self.removed[field].contains(&document));
            }
            if lists.counts != [0; 2] {
                writer.add_term(self.terms.term(number), &lists);
            }
        }
        writer.finish(&self.tables)
    }
}

impl DocumentSink for IndexFileBuilder<'_> {
    fn add_document(&mut self, field: usize, document: Document, texts: &[(Field, Cow<'_, str>)]) -> u32 {
        let words = &mut self.words;
        self.draft.add_document(field, document, &mut |take| {
            texts.iter().for_each(|(field, text)| words.for_each_noted_term(text, *field, take));
        })
    }

    fn remove_document(&mut self, field: usize, number: u32) {
        let made = &mut self.draft;
        made.removed[field].insert(number);
        let number = number as usize;
        made.tables.documents[field][number] = Document::default();
        made.tables.lengths[field][number] = 0;
    }
}

// Numbers each distinct term.
#[derive(Debug, Default)]
struct TermTable {
    text: Vec<u8>,
    ends: Vec<u32>,
    // Open-addressing slots: a term's number and its hash. Their count is a power of two, at most half of it filled.
    slots: Vec<(u32, u32)>,
}

impl TermTable {
    fn count(&self) -> usize {
        self.ends.len()
    }

    fn term(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.text[start..self.ends[number] as usize]
    }

    fn number_of(&mut self, term: &[u8]) -> u32 {
        if self.slots.len() <= 2 * self.ends.len() {
            self.grow();
        }
        let hash = xxh64(term, 0) as u32;
        let mut slot = hash as usize & (self.slots.len() - 1);
        loop {
            match self.slots[slot] {
                (NO_ENTRY, _) => break,
                (number, other) if other == hash && self.term(number) == term => return number,
                _ => slot = (slot + 1) & (self.slots.len() - 1),
            }
        }
        let number = self.ends.len() as u32;
        self.text.extend_from_slice(term);
        self.ends.push(self.text.len() as u32);
        self.slots[slot] = (number, hash);
        number
    }

    fn grow(&mut self) {
        let size = (2 * self.slots.len()).max(1 << 10);
        let before = core::mem::replace(&mut self.slots, vec![(NO_ENTRY, 0); size]);
        for (number, hash) in before.into_iter().filter(|(number, _)| *number != NO_ENTRY) {
            let mut slot = hash as usize & (size - 1);
            while self.slots[slot].0 != NO_ENTRY {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = (number, hash);
        }
    }
}
