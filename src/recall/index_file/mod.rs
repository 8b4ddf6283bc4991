//! An index file: the terms of sessions, and the messages that have them. It is the search index's only format.
//!
//! Its terms are sorted, each with its postings, so that a term is found by one read at the end of the file and one
//! read of a block. A document is a message in one of two fields: what was said, or what was done and shown. The file
//! is derived: nothing in it is believed over the log, and all of it is checksummed, so that damage is noticed where
//! it is read. The same logs give the same bytes, whoever writes them, at once or merged.
//!
//! | part | content |
//! |---|---|
//! | blocks | at most 2 KiB and one term more: `shared << 4 \| suffix`, the suffix; the number of documents in each field, four bits each (15: the rest follows as a number); if these are more than four, the length of each list; the lists, unless they are long. Sealed |
//! | far | the long lists, those of a term together. Sealed |
//! | documents | for each field: pages of 128 documents, 11 bytes each: where the line begins, about how long it is, when it was said, by whom. Sealed |
//! | end | numbers of rows, blocks and documents; the length of each document, one byte; a row for each segment of a session; first term and length of each block. Sealed, with the trailer's beginning |
//! | trailer | the length of the end, and of the file; version of the format, its highest bit set if the file has no secret, and of the analysis; the end's checksum; a mark |

pub mod build;
pub mod bytes;
pub mod merge;
pub mod read;
#[cfg(test)]
mod tests;
pub mod write;

use alloc::string::String;
use alloc::vec::Vec;

use crate::recall::documents::{Posting, SAID_FIELD, WORK_FIELD};

/// The version of this format.
pub const FORMAT_VERSION: u32 = 3;

// The bit of the format version that is set if the file has none of the secrets found in its logs.
const REDACTED_BIT: u32 = 1 << 31;

const FILE_MARK: [u8; 4] = *b"lfr1";
// The lengths of the end and of the file, two versions, the checksum, the mark.
const TRAILER_BYTES: usize = 8 + 8 + 4 + 4 + bytes::CHECKSUM_BYTES + FILE_MARK.len();
// The length at which a block is closed.
const BLOCK_BYTES: usize = 2048;
// Longer lists, in bytes, lie apart from the terms.
const MAX_INLINE_LIST_BYTES: usize = 256;
// For a term of at most this many documents, the lengths of the lists are not stored.
const MAX_DOCUMENTS_WITHOUT_LENGTHS: u32 = 4;
// The documents of a page, and the bytes of each.
const PAGE_DOCUMENTS: usize = 128;
const DOCUMENT_BYTES: usize = 11;

// Returns the length in bytes of a field's pages.
fn pages_length(count: usize) -> usize {
    count * DOCUMENT_BYTES + count.div_ceil(PAGE_DOCUMENTS) * bytes::CHECKSUM_BYTES
}

/// A segment of a session's log inside an index file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// The session's key in the store's index.
    pub key: String,
    /// The offset of the segment's first byte in the log.
    pub start: u64,
    /// The offset after its last byte.
    pub end: u64,
    /// The log's last change when it ended with this segment, in microseconds since 1970; negative if it may have
    /// changed again at that moment unnoticed, zero if unknown.
    pub changed_us: i64,
    /// The file number that the system gives the log; zero if it gives none.
    pub file: u64,
    /// The hash of the segment's last bytes.
    pub tail: u64,
    /// The number of secrets that the log had up to the segment's end, and that were kept out of the index; zero if
    /// nobody looked.
    pub secrets: u32,
    /// The number of documents in each field.
    pub documents: [u32; 2],
    /// The number of terms in each field's documents.
    pub terms: [u64; 2],
    /// The earliest and the latest time of its messages, in seconds since 1970.
    pub times: Option<(u32, u32)>,
}

/// The documents of a term, in each field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostingLists {
    /// The number of documents.
    pub counts: [u32; 2],
    /// The encoded postings.
    pub bytes: [Vec<u8>; 2],
}

impl PostingLists {
    /// Calls `work` with each posting of a field; `None` if they are damaged.
    pub fn for_each_posting(&self, field: usize, work: impl FnMut(Posting)) -> Option<()> {
        bytes::for_each_posting(&mut bytes::ByteReader(&self.bytes[field]), self.counts[field], work)
    }

    // Keeps only those postings of a field whose document passes.
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
    // Joins a segment that continues where this one ends.
    fn append(&mut self, next: &Segment) {
        self.end = next.end;
        self.changed_us = next.changed_us;
        self.file = next.file;
        self.tail = next.tail;
        self.secrets = self.secrets.max(next.secrets);
        for field in [SAID_FIELD, WORK_FIELD] {
            self.documents[field] += next.documents[field];
            self.terms[field] += next.terms[field];
        }
        self.times = match (self.times, next.times) {
            (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
            (one, other) => one.or(other),
        };
    }
}
