//! Writes an index file: its terms one after another, then the tables of its documents.

use alloc::vec::Vec;

use super::bytes::{put_number, seal};
use super::{
    BLOCK_BYTES, DOCUMENT_BYTES, FILE_MARK, FORMAT_VERSION, MAX_DOCUMENTS_WITHOUT_LENGTHS,
    MAX_INLINE_LIST_BYTES, PAGE_DOCUMENTS, PostingLists, REDACTED_BIT, Segment, pages_length,
};
use crate::recall::documents::Document;
use crate::recall::terms::ANALYSIS_VERSION;
use crate::record::message::Role;

/// The tables of an index file beside its terms, in the order of the documents.
#[derive(Debug, Default)]
pub struct DocumentTables {
    /// The segments, whose documents are numbered one segment after another.
    pub rows: Vec<Segment>,
    /// Where the documents of each field lie.
    pub documents: [Vec<Document>; 2],
    /// The number of terms of each document, encoded by [`length_byte`](crate::recall::portable_math::length_byte).
    pub lengths: [Vec<u8>; 2],
    /// True if the file has none of the secrets found in the logs.
    pub hides: bool,
}

/// Writes an index file in parts that are taken away as they are ready, so that no file has to be held whole.
#[derive(Debug, Default)]
pub struct IndexFileWriter {
    // Blocks and far lists that wait to be taken, and the bytes of those taken before.
    blocks_out: Vec<u8>,
    far: Vec<u8>,
    taken_bytes: u64,
    taken_far_bytes: u64,
    // The first term and the length of each block.
    sparse: Vec<u8>,
    blocks: u64,
    // Where the open block begins, its first term, and that of the block before.
    start: usize,
    first: Vec<u8>,
    first_before: Vec<u8>,
    last: Vec<u8>,
}

impl IndexFileWriter {
    /// Adds a term, which sorts after the last one by its bytes.
    pub fn add_term(&mut self, term: &[u8], lists: &PostingLists) {
        if self.blocks_out.len() == self.start {
            self.first = term.into();
            self.last.clear();
        }
        let shared = shared_prefix_len(&self.last, term);
        let suffix = &term[shared..];
        put_two(&mut self.blocks_out, [shared, suffix.len()]);
        self.blocks_out.extend_from_slice(suffix);
        put_two(&mut self.blocks_out, lists.counts.map(|count| count as usize));
        if lists.counts[0] + lists.counts[1] > MAX_DOCUMENTS_WITHOUT_LENGTHS {
            for list in lists.bytes.iter().filter(|list| !list.is_empty()) {
                put_number(&mut self.blocks_out, list.len() as u64);
            }
        }
        if lists.bytes[0].len() + lists.bytes[1].len() > MAX_INLINE_LIST_BYTES {
            let from = self.far.len();
            put_number(&mut self.blocks_out, self.taken_far_bytes + from as u64);
            lists.bytes.iter().for_each(|list| self.far.extend_from_slice(list));
            seal(&mut self.far, from);
        } else {
            lists.bytes.iter().for_each(|list| self.blocks_out.extend_from_slice(list));
        }
        self.last.clear();
        self.last.extend_from_slice(term);
        if self.blocks_out.len() - self.start >= BLOCK_BYTES {
            self.close_block();
        }
    }

    /// Closes the open block: no more terms follow.
    pub fn close_block(&mut self) {
        if self.blocks_out.len() == self.start {
            return;
        }
        seal(&mut self.blocks_out, self.start);
        let shared = shared_prefix_len(&self.first_before, &self.first);
        put_number(&mut self.sparse, shared as u64);
        put_number(&mut self.sparse, (self.first.len() - shared) as u64);
        self.sparse.extend_from_slice(&self.first[shared..]);
        put_number(&mut self.sparse, (self.blocks_out.len() - self.start) as u64);
        self.blocks += 1;
        self.start = self.blocks_out.len();
        self.first_before = core::mem::take(&mut self.first);
    }

    /// Takes the blocks that were closed since the last call.
    pub fn take_blocks(&mut self) -> Vec<u8> {
        let open = self.blocks_out.split_off(self.start);
        self.taken_bytes += self.start as u64;
        self.start = 0;
        core::mem::replace(&mut self.blocks_out, open)
    }

    /// Takes the far lists that were added since the last call.
    pub fn take_far_lists(&mut self) -> Vec<u8> {
        self.taken_far_bytes += self.far.len() as u64;
        core::mem::take(&mut self.far)
    }

    /// Returns the number of bytes of far lists taken so far.
    pub fn taken_far_bytes(&self) -> u64 {
        self.taken_far_bytes
    }

    /// Returns the number of bytes that can be taken.
    pub fn waiting_bytes(&self) -> usize {
        self.start + self.far.len()
    }

    /// Builds the end of the file, once all else was taken; the documents of `beside` may be written already.
    pub fn build_footer(&self, beside: &DocumentTables) -> Vec<u8> {
        let documents_at = self.taken_bytes + self.taken_far_bytes;
        let end_at =
            documents_at + beside.lengths.iter().map(|all| pages_length(all.len()) as u64).sum::<u64>();
        let mut out = Vec::new();
        for number in [self.taken_bytes, documents_at, beside.rows.len() as u64, self.blocks] {
            put_number(&mut out, number);
        }
        beside.lengths.iter().for_each(|lengths| put_number(&mut out, lengths.len() as u64));
        beside.lengths.iter().for_each(|lengths| out.extend_from_slice(lengths));
        beside.rows.iter().for_each(|row| put_segment(&mut out, row));
        out.extend_from_slice(&self.sparse);
        let length = out.len() as u64;
        out.extend_from_slice(&length.to_le_bytes());
        let whole = end_at + length + super::TRAILER_BYTES as u64;
        out.extend_from_slice(&whole.to_le_bytes());
        let format = if beside.hides { FORMAT_VERSION | REDACTED_BIT } else { FORMAT_VERSION };
        out.extend_from_slice(&format.to_le_bytes());
        out.extend_from_slice(&ANALYSIS_VERSION.to_le_bytes());
        seal(&mut out, 0);
        out.extend_from_slice(&FILE_MARK);
        out
    }

    /// Returns the whole file, if no part of it was taken.
    pub fn finish(mut self, beside: &DocumentTables) -> Vec<u8> {
        self.close_block();
        let mut out = self.take_blocks();
        out.append(&mut self.take_far_lists());
        for documents in &beside.documents {
            let mut pages = PageWriter::default();
            documents.iter().for_each(|document| pages.put_document(&encode_document(document)));
            out.append(&mut pages.finish());
        }
        out.append(&mut self.build_footer(beside));
        out
    }
}

/// Writes the pages of a field, in parts that are taken away.
#[derive(Debug, Default)]
pub struct PageWriter {
    bytes: Vec<u8>,
    // Where the open page begins.
    start: usize,
}

impl PageWriter {
    /// Adds a document.
    pub fn put_document(&mut self, document: &[u8]) {
        self.bytes.extend_from_slice(document);
        if self.bytes.len() - self.start == PAGE_DOCUMENTS * DOCUMENT_BYTES {
            self.close_page();
        }
    }

    /// Returns the number of bytes that can be taken.
    pub fn waiting_bytes(&self) -> usize {
        self.start
    }

    /// Takes the pages that became full since the last call.
    pub fn take_full_pages(&mut self) -> Vec<u8> {
        let open = self.bytes.split_off(self.start);
        self.start = 0;
        core::mem::replace(&mut self.bytes, open)
    }

    /// Returns the last pages.
    pub fn finish(mut self) -> Vec<u8> {
        self.close_page();
        self.bytes
    }

    fn close_page(&mut self) {
        if self.bytes.len() > self.start {
            seal(&mut self.bytes, self.start);
            self.start = self.bytes.len();
        }
    }
}

fn shared_prefix_len(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

// Writes two numbers in four bits each; from 15 on, the rest follows as a number.
fn put_two(out: &mut Vec<u8>, [one, other]: [usize; 2]) {
    out.push((one.min(15) << 4 | other.min(15)) as u8);
    for number in [one, other] {
        if let Some(rest) = number.checked_sub(15) {
            put_number(out, rest as u64);
        }
    }
}

fn encode_document(document: &Document) -> [u8; DOCUMENT_BYTES] {
    let mut bytes = [0; DOCUMENT_BYTES];
    bytes[..5].copy_from_slice(&document.line_start.to_le_bytes()[..5]);
    bytes[5] = document.size;
    bytes[6..10].copy_from_slice(&document.seconds.to_le_bytes());
    bytes[10] = role_number(document.role);
    bytes
}

fn put_segment(out: &mut Vec<u8>, row: &Segment) {
    put_number(out, row.key.len() as u64);
    out.extend_from_slice(row.key.as_bytes());
    put_number(out, row.start);
    put_number(out, row.end - row.start);
    out.extend_from_slice(&row.changed_us.to_le_bytes());
    out.extend_from_slice(&row.file.to_le_bytes());
    out.extend_from_slice(&row.tail.to_le_bytes());
    put_number(out, u64::from(row.secrets));
    row.documents.iter().for_each(|count| put_number(out, u64::from(*count)));
    row.terms.iter().for_each(|count| put_number(out, *count));
    let (first, last) = row.times.unwrap_or((u32::MAX, u32::MAX));
    put_number(out, u64::from(first));
    put_number(out, u64::from(last - first));
}

fn role_number(role: Option<Role>) -> u8 {
    match role {
        None => 0,
        Some(Role::System) => 1,
        Some(Role::User) => 2,
        Some(Role::Assistant) => 3,
        Some(Role::Tool) => 4,
    }
}
