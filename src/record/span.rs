//! Byte ranges of a file.

use alloc::vec::Vec;

use serde::Serialize;

use crate::json::fields::{BadValue, Fields, FromFields};

// Spans with a smaller gap are read as one, since finding a file takes as long as reading so many bytes; a read has at
// most `MAX_SPAN_BYTES` bytes.
const MAX_GAP_BYTES: u64 = 32 * 1024;
const MAX_SPAN_BYTES: u64 = 1024 * 1024;

/// A byte range of a file, mostly a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Span {
    /// The first byte.
    pub start: u64,
    /// The byte behind the last one.
    pub end: u64,
}

impl Span {
    /// True if a line that begins at `at` lies in one of these spans, which are in order.
    pub(crate) fn any_holds(spans: &[Span], at: u64) -> bool {
        let next = spans.partition_point(|span| span.start <= at);
        next > 0 && at < spans[next - 1].end
    }

    /// Joins spans, given in order, that lie close: each result is one read.
    pub(crate) fn merge_close(spans: impl Iterator<Item = Span>) -> Vec<Span> {
        let mut read: Vec<Span> = Vec::new();
        for span in spans {
            match read.last_mut() {
                Some(last) if span.end <= last.end => {}
                Some(last)
                    if span.start < last.end.saturating_add(MAX_GAP_BYTES)
                        && span.end <= last.start.saturating_add(MAX_SPAN_BYTES) =>
                {
                    last.end = span.end;
                }
                Some(_) | None => read.push(span),
            }
        }
        read
    }
}

impl FromFields for Span {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Span> {
        Some(Span { start: fields.take("start", bad)?, end: fields.take("end", bad)? })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_read_has_each_of_them_whole_and_no_two_that_could_be_one(
            mut spans in prop::collection::vec((0..MAX_SPAN_BYTES * 4, 0..MAX_SPAN_BYTES), 1..12),
        ) {
            spans.sort_unstable_by_key(|(start, _)| *start);
            let spans: Vec<Span> =
                spans.into_iter().map(|(start, length)| Span { start, end: start + length }).collect();
            let read = Span::merge_close(spans.iter().copied());
            for span in spans {
                prop_assert!(read.iter().any(|one| one.start <= span.start && span.end <= one.end), "{:?}", span);
            }
            for pair in read.windows(2) {
                prop_assert!(pair[0].start <= pair[1].start && pair[0].end < pair[1].end);
                let is_far = pair[1].start >= pair[0].end + MAX_GAP_BYTES;
                prop_assert!(is_far || pair[1].end > pair[0].start + MAX_SPAN_BYTES, "{:?}", pair);
            }
        }
    }
}
