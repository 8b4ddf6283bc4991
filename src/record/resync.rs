//! Finds records inside a damaged line.
//!
//! A record begins with `{"v":` and ends with its checksum; neither can stand inside a JSON string, where a quote is
//! escaped. A candidate is believed only if the checksum holds. The search is linear: at most [`MAX_CANDIDATES`]
//! beginnings are followed at a time, each by a running checksum.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::vec::Vec;

use crc::{Digest, Table};
use memchr::memmem;

use crate::json::fields::Fields;
use crate::record::line::{CRC_KEY, CRC_REST_BYTES, START, crc32c};

const MAX_CANDIDATES: usize = 8;

struct Candidate {
    start: usize,
    digest: Digest<'static, u32, Table<16>>,
    covered_to: usize,
}

/// Returns the byte ranges of the records in a damaged line, in their order.
pub(crate) fn find_records(line: &[u8]) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut candidates: VecDeque<Candidate> = VecDeque::new();
    let mut starts = memmem::find_iter(line, START).peekable();
    for crc_at in memmem::find_iter(line, CRC_KEY) {
        let end = crc_at + CRC_KEY.len() + CRC_REST_BYTES;
        let Some(digits) = line.get(crc_at + CRC_KEY.len()..end).and_then(|rest| rest.strip_suffix(b"\"}"))
        else {
            continue;
        };
        while let Some(start) = starts.next_if(|start| *start < crc_at) {
            candidates.push_back(Candidate { start, digest: crc32c().digest(), covered_to: start });
            if candidates.len() > MAX_CANDIDATES {
                candidates.pop_front();
            }
        }
        let mut right = None;
        for candidate in candidates.iter_mut().rev() {
            candidate.digest.update(&line[candidate.covered_to..crc_at]);
            candidate.covered_to = crc_at;
            let crc = format!("{:08x}", candidate.digest.clone().finalize());
            if right.is_none() && crc.as_bytes() == digits && is_record(&line[candidate.start..end]) {
                right = Some((candidate.start, end));
            }
        }
        if let Some(span) = right {
            spans.push(span);
            candidates.clear();
        }
    }
    spans
}

fn is_record(bytes: &[u8]) -> bool {
    core::str::from_utf8(bytes).is_ok_and(|json| Fields::parse(json).is_ok())
}
