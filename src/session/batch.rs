//! Batches that name themselves: by a caller's operation, which counts once however often it is appended, and by the
//! message that they are built on.
//!
//! Nobody locks a log, so the order of its lines decides. Each line of such a batch begins with the batch's
//! description. A batch counts where its last line is there, where none of its operation counted before it, and where
//! the message that it expects is the last one before it. Else nothing of it counts. A reader from the log's start,
//! as [`super::handle::Session`] is, decides; every other reader is told which lines to skip.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::error::{Code, Error};
use crate::json::fields::{BadValue, Fields, FromFields};
use crate::json::hash::sha256;
use crate::json::request;
use crate::json::text::{to_json, to_open_json};
use crate::record::batch::{Batch, BatchLine, MAX_BATCH, take_expected};
use crate::record::id;
use crate::record::message::{self, Message};
use crate::record::scan::Record;
use crate::record::span::Span;
use crate::time::Stamp;

/// The newest operations that are remembered, at most: what a log knows of them stays small, however long it gets.
pub const MAX_REMEMBERED: usize = 1000;
/// Operations of tool executions that are remembered besides: whoever brings a call again finds it in the log.
pub const MAX_REMEMBERED_TOOLS: usize = 100;
/// Prefix of their names, which no caller's name has.
pub(crate) const TOOL_OPERATION_PREFIX: &str = "leftoff/tool/";
/// The longest name of an operation, in bytes.
const MAX_NAME_BYTES: usize = 128;
/// Digits of a hash that are kept.
const HASH_DIGITS: usize = 32;

/// Conditions under which an append counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppendConditions {
    /// The caller's own name for the operation.
    pub operation: Option<String>,
    /// The last message that the caller knows; `Some(None)` where it expects no message at all.
    pub expected: Option<Option<String>>,
}

impl AppendConditions {
    /// Reads `{"operation","expected"}`; `"expected":null` where no message was there.
    ///
    /// # Errors
    /// `invalid_request`.
    pub fn from_json(json: &str) -> Result<AppendConditions, Error> {
        let mut bad = Vec::new();
        let mut fields = request::parse(json, "operation or expected")?;
        if fields.raw("operation") == Some("null") {
            return Err(request::error("expected a string for \"operation\", but found null instead"));
        }
        let once = AppendConditions {
            operation: fields.take("operation", &mut bad),
            expected: take_expected(&mut fields, &mut bad),
        };
        request::reject_bad(&mut bad)?;
        Ok(once)
    }

    /// Makes the batch of these messages; without a caller's operation, it gets one of its own.
    ///
    /// # Errors
    /// `invalid_request` where there are none, or the name is too long.
    pub(crate) fn into_batch(self, messages: &[Message], stamp: &Stamp) -> Result<Batch, Error> {
        if messages.is_empty() {
            return Err(request::error("expected messages for an operation, but found none"));
        }
        let length = self.operation.as_ref().map_or(1, String::len);
        if length == 0 || length > MAX_NAME_BYTES {
            let message = format!(
                "expected an \"operation\" of 1 to {MAX_NAME_BYTES} bytes, but found {length} instead"
            );
            return Err(request::error(message));
        }
        let said: Vec<String> = messages.iter().map(to_open_json).collect();
        let hash = sha256(to_json(&said).as_bytes()).chars().take(HASH_DIGITS).collect();
        let operation = self.operation.unwrap_or_else(|| id::new(stamp, 0));
        Ok(Batch { operation, hash, expected_message: self.expected })
    }
}

/// An operation that counted, and where its lines lie.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CountedOperation {
    operation: String,
    hash: String,
    /// From its first line to the end of its last one.
    pub(crate) span: Span,
}

impl CountedOperation {
    /// Whether it records a tool execution.
    pub(crate) fn is_of_tools(&self) -> bool {
        self.operation.starts_with(TOOL_OPERATION_PREFIX)
    }

    /// Whether it is this batch.
    ///
    /// # Errors
    /// `operation_reused` where it is the same operation with other messages.
    pub(crate) fn matches_batch(&self, batch: &Batch) -> Result<bool, Error> {
        if self.operation != batch.operation || self.hash == batch.hash {
            return Ok(self.operation == batch.operation);
        }
        let message = format!("the operation {:?} appended other messages before", self.operation);
        Err(Error::new(Code::OperationReused, message))
    }
}

impl FromFields for CountedOperation {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<CountedOperation> {
        let (operation, hash) = (fields.take("operation", bad)?, fields.take("hash", bad)?);
        Some(CountedOperation { operation, hash, span: fields.take("span", bad)? })
    }
}

/// The parts of a log that do not count.
#[derive(Clone, Debug)]
pub(crate) struct SkippedLines {
    /// Lines that do not count, in their order.
    pub spans: Vec<Span>,
    /// Revisions that are the first line of their message, in their order.
    pub firsts: Vec<Span>,
    /// From here on nobody knows which batches count.
    pub decided_end: u64,
}

impl SkippedLines {
    pub fn contains(&self, record: &Record) -> bool {
        Span::any_holds(&self.spans, record.start)
    }

    pub fn is_undecided(&self, record: &Record) -> bool {
        record.start >= self.decided_end && BatchLine::of(&record.json).is_some()
    }
}

impl Default for SkippedLines {
    fn default() -> SkippedLines {
        SkippedLines::from(Vec::new())
    }
}

impl From<Vec<Span>> for SkippedLines {
    fn from(spans: Vec<Span>) -> SkippedLines {
        SkippedLines { spans, firsts: Vec::new(), decided_end: u64::MAX }
    }
}

/// A batch whose last line was not read yet.
#[derive(Debug)]
pub(crate) struct Open {
    last: BatchLine,
    pub span: Span,
    // Its lines; the last one alone where the batch is longer than allowed.
    lines: Vec<(Record, Option<Message>)>,
    is_too_long: bool,
}

impl Open {
    pub fn begin(part: BatchLine, record: Record, message: Option<Message>) -> Open {
        let span = record.span();
        Open { last: part, span, lines: Vec::from([(record, message)]), is_too_long: false }
    }

    /// Whether this line continues the batch. A damaged line may be missing in between.
    pub fn has_next(&self, part: &BatchLine) -> bool {
        (&part.batch, part.lines) == (&self.last.batch, self.last.lines) && part.line > self.last.line
    }

    pub fn add_line(&mut self, part: BatchLine, record: Record, message: Option<Message>) {
        self.last = part;
        self.span.end = record.end;
        self.is_too_long |= self.span.end - self.span.start > MAX_BATCH;
        if self.is_too_long {
            self.lines.clear();
        }
        self.lines.push((record, message));
    }

    pub fn has_end(&self) -> bool {
        self.last.line + 1 == self.last.lines
    }

    pub fn can_count(&self) -> bool {
        !self.is_too_long
    }

    pub fn batch(&self) -> &Batch {
        &self.last.batch
    }

    /// Whether an event accepts its last message.
    pub fn is_accepted(&self, accepted: &BTreeSet<String>) -> bool {
        let Some((record, _)) = self.lines.last().filter(|_| !accepted.is_empty()) else { return false };
        message::read(record).0.is_some_and(|message| accepted.contains(&message.id))
    }

    /// The operation, once it counts, and its lines.
    pub fn into_counted(self) -> (CountedOperation, Vec<(Record, Option<Message>)>) {
        let Batch { operation, hash, .. } = self.last.batch;
        (CountedOperation { operation, hash, span: self.span }, self.lines)
    }

    /// Its last line.
    pub fn into_last(mut self) -> Option<Record> {
        self.lines.pop().map(|(record, _)| record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_counts_as_long_as_it_has_no_more_than_the_most_bytes() {
        let batch = Batch { operation: "o".into(), hash: "h".into(), expected_message: None };
        let part = |line| BatchLine { batch: batch.clone(), line, lines: 2 };
        let can_count = |bytes: u64| {
            let (first, last) =
                (Record::from_line(10, "{}".into()), Record::from_line(8 + bytes, "{}".into()));
            let mut open = Open::begin(part(0), first, None);
            open.add_line(part(1), last, None);
            open.can_count()
        };
        assert!(can_count(MAX_BATCH));
        assert!(!can_count(MAX_BATCH + 1));
    }
}
