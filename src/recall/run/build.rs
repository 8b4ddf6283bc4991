//! Gathering the terms of documents, until they are a run.

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use xxhash_rust::xxh64::xxh64;

use super::bytes::put_posting;
use super::write::{Beside, Writer};
use super::{Lists, Row};
use crate::recall::documents::{Document, Posting, SAID, Sink, WORK};
use crate::recall::number::length_byte;
use crate::recall::words::{Field, Take, Words};

const NONE: u32 = u32::MAX;

/// A run in the making: pieces of sessions, one after another, sorted by what the index calls them.
pub struct Builder<'a> {
    words: &'a mut Words,
    made: Making,
}

/// What it has so far.
#[derive(Debug, Default)]
pub struct Making {
    terms: Terms,
    lists: Vec<[Open; 2]>,
    // In each field, terms and documents that are in no list yet: a list for each term lies anywhere in memory, so they wait until
    // they are many.
    waiting: [Vec<(u32, u32)>; 2],
    gone: [BTreeSet<u32>; 2],
    beside: Beside,
}

// So many wait.
const MANY: usize = if cfg!(test) { 16 } else { 1 << 18 };

// The documents of a term in a field; of the last one more may come.
#[derive(Clone, Debug, Default)]
struct Open {
    count: u32,
    bytes: Vec<u8>,
    before: u32,
    last: Posting,
}

impl Open {
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
            put_posting(&mut self.bytes, self.before, self.last);
            self.before = self.last.0;
            self.last.1 = 0;
        }
    }
}

impl<'a> Builder<'a> {
    /// `hides`: without the secrets that are found in its logs.
    pub fn new(words: &'a mut Words, hides: bool) -> Builder<'a> {
        let mut builder = Builder { words, made: Making::default() };
        builder.begin(hides);
        builder
    }

    fn begin(&mut self, hides: bool) {
        self.words.forget_notes();
        self.made = Making { beside: Beside { hides, ..Beside::default() }, ..Making::default() };
    }

    /// Begins a piece.
    pub fn piece(&mut self, row: Row) {
        self.made.piece(row);
    }

    /// The piece that was begun last, if one was.
    pub fn row(&mut self) -> Option<&mut Row> {
        self.made.beside.rows.last_mut()
    }

    /// The bytes of the run; another one begins.
    pub fn finish(&mut self) -> Vec<u8> {
        let made = core::mem::take(&mut self.made);
        self.begin(made.beside.hides);
        made.finish()
    }
}

impl Making {
    /// Begins a piece.
    pub fn piece(&mut self, row: Row) {
        self.beside.rows.push(Row { documents: [0; 2], terms: [0; 2], times: None, ..row });
    }

    /// Takes a document, whose terms `fill` hands over one after another. Gives its number.
    pub fn document(&mut self, field: usize, document: Document, fill: &mut dyn FnMut(Take<'_>)) -> u32 {
        let number = self.beside.documents[field].len() as u32;
        let mut length = 0;
        let waiting = &mut self.waiting[field];
        fill(&mut |term, note| {
            let term = *note.get_or_insert_with(|| self.terms.number(term.as_bytes()));
            waiting.push((term, number));
            length += 1;
        });
        if waiting.len() >= MANY {
            self.list(field);
        }
        self.beside.documents[field].push(document);
        self.beside.lengths[field].push(length_byte(length));
        if let Some(row) = self.beside.rows.last_mut() {
            row.documents[field] += 1;
            row.terms[field] += length;
            if document.seconds > 0 {
                let (first, last) = row.times.unwrap_or((document.seconds, document.seconds));
                row.times = Some((first.min(document.seconds), last.max(document.seconds)));
            }
        }
        number
    }

    // Puts what waits into the lists, term by term.
    fn list(&mut self, field: usize) {
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

    /// The bytes of the run.
    pub fn finish(mut self) -> Vec<u8> {
        [SAID, WORK].into_iter().for_each(|field| self.list(field));
        let mut order: Vec<u32> = (0..self.lists.len() as u32).collect();
        order.sort_unstable_by(|one, other| self.terms.term(*one).cmp(self.terms.term(*other)));
        let mut writer = Writer::default();
        for number in order {
            let lists = &mut self.lists[number as usize];
            lists.iter_mut().for_each(Open::flush);
            let mut lists = Lists {
                counts: [lists[SAID].count, lists[WORK].count],
                bytes: [SAID, WORK].map(|field| core::mem::take(&mut lists[field].bytes)),
            };
            for field in [SAID, WORK].into_iter().filter(|field| !self.gone[*field].is_empty()) {
                lists.keep(field, |document| !self.gone[field].contains(&document));
            }
            if lists.counts != [0; 2] {
                writer.term(self.terms.term(number), &lists);
            }
        }
        writer.finish(&self.beside)
    }
}

impl Sink for Builder<'_> {
    fn document(&mut self, field: usize, document: Document, texts: &[(Field, Cow<'_, str>)]) -> u32 {
        let words = &mut self.words;
        self.made.document(field, document, &mut |take| {
            texts.iter().for_each(|(field, text)| words.noted(text, *field, take));
        })
    }

    fn forget(&mut self, field: usize, number: u32) {
        let made = &mut self.made;
        made.gone[field].insert(number);
        let number = number as usize;
        made.beside.documents[field][number] = Document::default();
        made.beside.lengths[field][number] = 0;
    }
}

// Terms by numbers, each once.
#[derive(Debug, Default)]
struct Terms {
    text: Vec<u8>,
    ends: Vec<u32>,
    // The number of a term and its hash; a power of two of them, at most half full.
    slots: Vec<(u32, u32)>,
}

impl Terms {
    fn count(&self) -> usize {
        self.ends.len()
    }

    fn term(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.text[start..self.ends[number] as usize]
    }

    fn number(&mut self, term: &[u8]) -> u32 {
        if self.slots.len() <= 2 * self.ends.len() {
            self.grow();
        }
        let hash = xxh64(term, 0) as u32;
        let mut slot = hash as usize & (self.slots.len() - 1);
        loop {
            match self.slots[slot] {
                (NONE, _) => break,
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
        let before = core::mem::replace(&mut self.slots, vec![(NONE, 0); size]);
        for (number, hash) in before.into_iter().filter(|(number, _)| *number != NONE) {
            let mut slot = hash as usize & (size - 1);
            while self.slots[slot].0 != NONE {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = (number, hash);
        }
    }
}
