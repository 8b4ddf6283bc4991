//! Gathering the terms of documents, until they are a run.

use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;

use xxhash_rust::xxh64::xxh64;

use super::bytes::put_posting;
use super::write::{Beside, Writer};
use super::{Lists, Row};
use crate::recall::documents::{Document, Fill, Posting, SAID, Sink, WORK};
use crate::recall::number::length_byte;

const NONE: u32 = u32::MAX;

/// A run in the making: pieces of sessions, one after another, sorted by what the index calls them.
#[derive(Debug, Default)]
pub struct Builder {
    words: Words,
    lists: Vec<[Open; 2]>,
    gone: [BTreeSet<u32>; 2],
    beside: Beside,
}

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

impl Builder {
    /// A run without the secrets that are found in its logs.
    pub fn hiding() -> Builder {
        Builder { beside: Beside { hides: true, ..Beside::default() }, ..Builder::default() }
    }

    /// Begins a piece.
    pub fn piece(&mut self, row: Row) {
        self.beside.rows.push(Row { documents: [0; 2], terms: [0; 2], times: None, ..row });
    }

    /// The piece that was begun last, if one was.
    pub fn row(&mut self) -> Option<&mut Row> {
        self.beside.rows.last_mut()
    }

    /// The bytes of the run.
    pub fn finish(mut self) -> Vec<u8> {
        let mut order: Vec<u32> = (0..self.lists.len() as u32).collect();
        order.sort_unstable_by(|one, other| self.words.word(*one).cmp(self.words.word(*other)));
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
                writer.term(self.words.word(number), &lists);
            }
        }
        writer.finish(&self.beside)
    }
}

impl Sink for Builder {
    fn document(&mut self, field: usize, document: Document, fill: Fill<'_>) -> u32 {
        let number = self.beside.documents[field].len() as u32;
        let mut length = 0;
        fill(&mut |term| {
            let word = self.words.number(term.as_bytes()) as usize;
            if word == self.lists.len() {
                self.lists.push(Default::default());
            }
            self.lists[word][field].add(number);
            length += 1;
        });
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

    fn forget(&mut self, field: usize, number: u32) {
        self.gone[field].insert(number);
        let number = number as usize;
        self.beside.documents[field][number] = Document::default();
        self.beside.lengths[field][number] = 0;
    }
}

// Words by numbers, each once.
#[derive(Debug, Default)]
struct Words {
    text: Vec<u8>,
    ends: Vec<u32>,
    hashes: Vec<u32>,
    // A power of two, at most half full.
    slots: Vec<u32>,
}

impl Words {
    fn word(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.text[start..self.ends[number] as usize]
    }

    fn number(&mut self, word: &[u8]) -> u32 {
        if self.slots.len() <= 2 * self.ends.len() {
            self.grow();
        }
        let hash = xxh64(word, 0) as u32;
        let mut slot = hash as usize & (self.slots.len() - 1);
        loop {
            match self.slots[slot] {
                NONE => break,
                number if self.hashes[number as usize] == hash && self.word(number) == word => return number,
                _ => slot = (slot + 1) & (self.slots.len() - 1),
            }
        }
        let number = self.ends.len() as u32;
        self.text.extend_from_slice(word);
        self.ends.push(self.text.len() as u32);
        self.hashes.push(hash);
        self.slots[slot] = number;
        number
    }

    fn grow(&mut self) {
        let size = (2 * self.slots.len()).max(1 << 10);
        self.slots = vec![NONE; size];
        for (number, hash) in self.hashes.iter().enumerate() {
            let mut slot = *hash as usize & (size - 1);
            while self.slots[slot] != NONE {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = number as u32;
        }
    }
}
