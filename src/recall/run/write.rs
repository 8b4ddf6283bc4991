//! Writing a run: its terms one after another, then what is known of its documents.

use alloc::vec::Vec;

use super::bytes::{put, seal};
use super::{BLOCK, DOCUMENT, FEW, FORMAT, HIDING, Lists, MARK, NEAR, PAGE, Row};
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

/// A run on its way.
#[derive(Debug, Default)]
pub struct Writer {
    out: Vec<u8>,
    far: Vec<u8>,
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
    /// A run of about so many bytes.
    pub fn of(bytes: usize) -> Writer {
        Writer { out: Vec::with_capacity(bytes), ..Writer::default() }
    }

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
            put(&mut self.out, from as u64);
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

    fn close(&mut self) {
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

    /// The bytes of the run.
    pub fn finish(mut self, beside: &Beside) -> Vec<u8> {
        self.close();
        let mut out = self.out;
        let far_at = out.len();
        out.append(&mut self.far);
        let documents_at = out.len();
        beside.documents.iter().for_each(|documents| put_documents(&mut out, documents));
        let end_at = out.len();
        for number in [far_at, documents_at, beside.rows.len(), self.blocks as usize] {
            put(&mut out, number as u64);
        }
        beside.documents.iter().for_each(|documents| put(&mut out, documents.len() as u64));
        beside.lengths.iter().for_each(|lengths| out.extend_from_slice(lengths));
        beside.rows.iter().for_each(|row| put_row(&mut out, row));
        out.extend_from_slice(&self.sparse);
        let length = (out.len() - end_at) as u64;
        out.extend_from_slice(&length.to_le_bytes());
        let whole = (out.len() + super::TRAILER - 8) as u64;
        out.extend_from_slice(&whole.to_le_bytes());
        let format = if beside.hides { FORMAT | HIDING } else { FORMAT };
        out.extend_from_slice(&format.to_le_bytes());
        out.extend_from_slice(&VERSION.to_le_bytes());
        seal(&mut out, end_at);
        out.extend_from_slice(&MARK);
        out
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

fn put_documents(out: &mut Vec<u8>, documents: &[Document]) {
    for page in documents.chunks(PAGE) {
        let from = out.len();
        for one in page {
            out.extend_from_slice(&one.at.to_le_bytes()[..5]);
            out.push(one.size);
            out.extend_from_slice(&one.seconds.to_le_bytes());
            out.push(number_of(one.role));
        }
        debug_assert_eq!(out.len() - from, page.len() * DOCUMENT);
        seal(out, from);
    }
}

fn put_row(out: &mut Vec<u8>, row: &Row) {
    put(out, row.key.len() as u64);
    out.extend_from_slice(row.key.as_bytes());
    put(out, row.from);
    put(out, row.to - row.from);
    out.extend_from_slice(&row.changed_us.to_le_bytes());
    out.extend_from_slice(&row.file.to_le_bytes());
    out.extend_from_slice(&row.tail.to_le_bytes());
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
