//! A run: the words of sessions, and which of their messages have them; the one format of the index.
//!
//! Its terms are sorted, each with its postings, so that a term is found with one look into the end of the file and one at a
//! block. A document is a message, in one of two fields: what was said, or what was done and shown. It is a derived file:
//! nothing in it is believed over the log, and everything in it has a checksum, so that damage is noticed where it is read.
//! What the same logs say is the same bytes, whoever writes them, at once or merged.
//!
//! | part | content |
//! |---|---|
//! | blocks | of 2 KiB and a term more at most: `shared << 4 \| suffix`, the suffix; how many documents in each field, in four bits each (15: a number of what is more follows); where these are more than four, the length of each list; the lists, unless they are long. Sealed |
//! | far | the long lists, those of a term together. Sealed |
//! | documents | of each field: pages of 128, 11 bytes each: where its line begins and about how long that is, when it was said, by whom. Sealed |
//! | end | numbers of rows, blocks and documents; the length of each document, in a byte; a row for each piece of a session; first term and length of each block. Sealed, with the trailer's beginning |
//! | trailer | how long the end is, and all; version of the format, its highest bit set where no secret is in it, and of the analysis; the end's checksum; a mark |

pub mod build;
pub mod bytes;
pub mod merge;
pub mod read;
#[cfg(test)]
mod tests;
pub mod write;

use alloc::string::String;
use alloc::vec::Vec;

use crate::recall::documents::{Posting, SAID, WORK};

/// The version of this format.
pub const FORMAT: u32 = 3;

// Stands in the version of a run that has no secret which was found in its logs.
const HIDING: u32 = 1 << 31;

const MARK: [u8; 4] = *b"lfr1";
// How long the end is and the file, two versions, the checksum, the mark.
const TRAILER: usize = 8 + 8 + 4 + 4 + bytes::CHECK + MARK.len();
// A block is closed once it is as long.
const BLOCK: usize = 2048;
// Lists of as many bytes lie apart from the terms.
const NEAR: usize = 256;
// Of a term in so few documents the lengths of the lists are not told.
const FEW: u32 = 4;
// Documents in a page, and the bytes of each.
const PAGE: usize = 128;
const DOCUMENT: usize = 11;

// How long the pages of so many documents are.
fn pages_length(count: usize) -> usize {
    count * DOCUMENT + count.div_ceil(PAGE) * bytes::CHECK
}

/// A piece of a session's log that a run has the words of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// What the index of a store calls the session.
    pub key: String,
    /// The first byte of the piece.
    pub start: u64,
    /// Behind its last byte.
    pub end: u64,
    /// When the log was changed last, in microseconds since 1970, where it ended with this piece; negative where it may have
    /// been changed again at that moment unseen, zero where nobody is sure.
    pub changed_us: i64,
    /// The number by which the system knows the log; zero where it knows none.
    pub file: u64,
    /// The hash of the last bytes of the piece.
    pub tail: u64,
    /// How many secrets its log had up to its end, without which it was indexed; zero where nobody looked.
    pub secrets: u32,
    /// How many documents it has, in each field.
    pub documents: [u32; 2],
    /// How many terms these have together.
    pub terms: [u64; 2],
    /// Seconds since 1970: the earliest and the latest that a message says.
    pub times: Option<(u32, u32)>,
}

/// The documents of a term, in each field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostingLists {
    /// How many.
    pub counts: [u32; 2],
    /// Their postings.
    pub bytes: [Vec<u8>; 2],
}

impl PostingLists {
    /// Calls with each posting in a field; nothing where they are damaged.
    pub fn for_each_posting(&self, field: usize, work: impl FnMut(Posting)) -> Option<()> {
        bytes::for_each_posting(&mut bytes::ByteReader(&self.bytes[field]), self.counts[field], work)
    }

    // Leaves only those postings in a field whose document is meant.
    fn retain_documents(&mut self, field: usize, is_meant: impl Fn(u32) -> bool) {
        let mut kept = Vec::new();
        let _ = self.for_each_posting(field, |posting| {
            kept.extend(Some(posting).filter(|(document, _)| is_meant(*document)))
        });
        self.counts[field] = kept.len() as u32;
        self.bytes[field] = bytes::encode_postings(&kept);
    }
}

impl Segment {
    // A piece that goes on where this one ends becomes a part of it.
    fn append(&mut self, next: &Segment) {
        self.end = next.end;
        self.changed_us = next.changed_us;
        self.file = next.file;
        self.tail = next.tail;
        self.secrets = self.secrets.max(next.secrets);
        for field in [SAID, WORK] {
            self.documents[field] += next.documents[field];
            self.terms[field] += next.terms[field];
        }
        self.times = match (self.times, next.times) {
            (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
            (one, other) => one.or(other),
        };
    }
}
