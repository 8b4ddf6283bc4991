//! Regions of a log.

use alloc::vec::Vec;

use serde::Serialize;

use crate::json::fields::{BadValue, Fields, FromFields};

/// A region of a log, from and to in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Span {
    /// The first byte.
    pub start: u64,
    /// Behind the last byte.
    pub end: u64,
}

impl Span {
    /// Whether a line that begins at `at` lies in one of these, which are in their order.
    pub(crate) fn any_holds(spans: &[Span], at: u64) -> bool {
        let next = spans.partition_point(|span| span.start <= at);
        next > 0 && at < spans[next - 1].end
    }
}

impl FromFields for Span {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Span> {
        Some(Span { start: fields.take("start", bad)?, end: fields.take("end", bad)? })
    }
}
