//! Writing a run: its terms one after another, then what is known of its documents.

use alloc::vec::Vec;

use super::bytes::{put, seal};
use super::{BLOCK, DOCUMENT, FEW, FORMAT, HIDING, Lists, MARK, NEAR, PAGE, Row, pages_length};
use crate::recall::documents::Document;
use crate::recall::words::VERSION;
use crate::record::message::Role;

/// What a run has beside its terms, in the order of its documents.
#[derive(Debug, Default)]
pub struct Beside {
    /// The pieces, whose documents follow each other.
    pub rows: Vec<Row>,
    /// In each field, where they lie.
    pub documents: [Vec<Document>; 2],
    /// How many terms each has, as [`length_byte`](crate::recall::number::length_byte) has it.
    pub lengths: [Vec<u8>; 2],
    /// No secret that was found in the logs is in it.
    pub hides: bool,
}

/// A run on its way. What is written so far is taken away in pieces: no run has to be held whole.
#[derive(Debug, Default)]
pub struct Writer {
    // Blocks and far lists that nobody has taken; how long those are that were.
    out: Vec<u8>,
    far: Vec<u8>,
    taken: u64,
    far_taken: u64,
    // First term and length of each block.
    sparse: Vec<u8>,
    blocks: u64,
    // Where the last block begins, its first term, and that of the block before.
    start: usize,
    first: Vec<u8>,
    first_before: Vec<u8>,
    last: Vec<u8>,
}

impl Writer {
    /// Takes the next term, which comes behind the last one in the order of bytes.
    pub fn term(&mut self, term: &[u8], lists: &Lists) {
        if self.out.len() == self.start {
            self.first = term.into();
            self.last.clear();
        }
        let shared = shared(&self.last, term);
        let suffix = &term[shared..];
        put_two(&mut self.out, [shared, suffix.len()]);
        self.out.extend_from_slice(suffix);
        put_two(&mut self.out, lists.counts.map(|count| count as usize));
        if lists.counts[0] + lists.counts[1] > FEW {
            for list in lists.bytes.iter().filter(|list| !list.is_empty()) {
                put(&mut self.out, list.len() as u64);
            }
        }
        if lists.bytes[0].len() + lists.bytes[1].len() > NEAR {
            let from = self.far.len();
            put(&mut self.out, self.far_taken + from as u64);
            lists.bytes.iter().for_each(|list| self.far.extend_from_slice(list));
            seal(&mut self.far, from);
        } else {
            lists.bytes.iter().for_each(|list| self.out.extend_from_slice(list));
        }
        self.last.clear();
        self.last.extend_from_slice(term);
        if self.out.len() - self.start >= BLOCK {
            self.close();
        }
    }

    /// Closes the last block, for which there are no more terms.
    pub fn close(&mut self) {
        if self.out.len() == self.start {
            return;
        }
        seal(&mut self.out, self.start);
        let shared = shared(&self.first_before, &self.first);
        put(&mut self.sparse, shared as u64);
        put(&mut self.sparse, (self.first.len() - shared) as u64);
        self.sparse.extend_from_slice(&self.first[shared..]);
        put(&mut self.sparse, (self.out.len() - self.start) as u64);
        self.blocks += 1;
        self.start = self.out.len();
        self.first_before = core::mem::take(&mut self.first);
    }

    /// The blocks that are closed since they were taken last.
    pub fn blocks(&mut self) -> Vec<u8> {
        let open = self.out.split_off(self.start);
        self.taken += self.start as u64;
        self.start = 0;
        core::mem::replace(&mut self.out, open)
    }

    /// The far lists since they were taken last.
    pub fn far(&mut self) -> Vec<u8> {
        self.far_taken += self.far.len() as u64;
        core::mem::take(&mut self.far)
    }

    /// How long those are that were taken, together.
    pub fn far_length(&self) -> u64 {
        self.far_taken
    }

    /// How much can be taken.
    pub fn waiting(&self) -> usize {
        self.start + self.far.len()
    }

    /// The end of the run, once all else was taken; of `beside` the documents may be written already.
    pub fn end(&self, beside: &Beside) -> Vec<u8> {
        let documents_at = self.taken + self.far_taken;
        let end_at =
            documents_at + beside.lengths.iter().map(|all| pages_length(all.len()) as u64).sum::<u64>();
        let mut out = Vec::new();
        for number in [self.taken, documents_at, beside.rows.len() as u64, self.blocks] {
            put(&mut out, number);
        }
        beside.lengths.iter().for_each(|lengths| put(&mut out, lengths.len() as u64));
        beside.lengths.iter().for_each(|lengths| out.extend_from_slice(lengths));
        beside.rows.iter().for_each(|row| put_row(&mut out, row));
        out.extend_from_slice(&self.sparse);
        let length = out.len() as u64;
        out.extend_from_slice(&length.to_le_bytes());
        let whole = end_at + length + super::TRAILER as u64;
        out.extend_from_slice(&whole.to_le_bytes());
        let format = if beside.hides { FORMAT | HIDING } else { FORMAT };
        out.extend_from_slice(&format.to_le_bytes());
        out.extend_from_slice(&VERSION.to_le_bytes());
        seal(&mut out, 0);
        out.extend_from_slice(&MARK);
        out
    }

    /// The bytes of the run, of which nothing was taken.
    pub fn finish(mut self, beside: &Beside) -> Vec<u8> {
        self.close();
        let mut out = self.blocks();
        out.append(&mut self.far());
        for documents in &beside.documents {
            let mut pages = Pages::default();
            documents.iter().for_each(|one| pages.put(&document(one)));
            out.append(&mut pages.end());
        }
        out.append(&mut self.end(beside));
        out
    }
}

/// The pages of a field on their way.
#[derive(Debug, Default)]
pub struct Pages {
    out: Vec<u8>,
    // Where the last page begins.
    start: usize,
}

impl Pages {
    /// Takes the next document.
    pub fn put(&mut self, document: &[u8]) {
        self.out.extend_from_slice(document);
        if self.out.len() - self.start == PAGE * DOCUMENT {
            self.close();
        }
    }

    /// How much can be taken.
    pub fn waiting(&self) -> usize {
        self.start
    }

    /// The pages that are full since they were taken last.
    pub fn full(&mut self) -> Vec<u8> {
        let open = self.out.split_off(self.start);
        self.start = 0;
        core::mem::replace(&mut self.out, open)
    }

    /// The last pages.
    pub fn end(mut self) -> Vec<u8> {
        self.close();
        self.out
    }

    fn close(&mut self) {
        if self.out.len() > self.start {
            seal(&mut self.out, self.start);
            self.start = self.out.len();
        }
    }
}

fn shared(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

// Two numbers in four bits each; of what is more, the rest follows.
fn put_two(out: &mut Vec<u8>, [one, other]: [usize; 2]) {
    out.push((one.min(15) << 4 | other.min(15)) as u8);
    for number in [one, other] {
        if let Some(rest) = number.checked_sub(15) {
            put(out, rest as u64);
        }
    }
}

fn document(one: &Document) -> [u8; DOCUMENT] {
    let mut bytes = [0; DOCUMENT];
    bytes[..5].copy_from_slice(&one.at.to_le_bytes()[..5]);
    bytes[5] = one.size;
    bytes[6..10].copy_from_slice(&one.seconds.to_le_bytes());
    bytes[10] = number_of(one.role);
    bytes
}

fn put_row(out: &mut Vec<u8>, row: &Row) {
    put(out, row.key.len() as u64);
    out.extend_from_slice(row.key.as_bytes());
    put(out, row.from);
    put(out, row.to - row.from);
    out.extend_from_slice(&row.changed_us.to_le_bytes());
    out.extend_from_slice(&row.file.to_le_bytes());
    out.extend_from_slice(&row.tail.to_le_bytes());
    put(out, u64::from(row.secrets));
    row.documents.iter().for_each(|count| put(out, u64::from(*count)));
    row.terms.iter().for_each(|count| put(out, *count));
    let (first, last) = row.times.unwrap_or((u32::MAX, u32::MAX));
    put(out, u64::from(first));
    put(out, u64::from(last - first));
}

fn number_of(role: Option<Role>) -> u8 {
    match role {
        None => 0,
        Some(Role::System) => 1,
        Some(Role::User) => 2,
        Some(Role::Assistant) => 3,
        Some(Role::Tool) => 4,
    }
}
