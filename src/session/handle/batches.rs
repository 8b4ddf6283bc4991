//! Decides which batches with conditions count; see [`crate::session::batch`].

use alloc::vec::Vec;

use crate::error::Error;
use crate::record::batch::{Batch, BatchLine};
use crate::record::message::Message;
use crate::record::scan::Record;
use crate::record::span::Span;
use crate::session::batch::{MAX_REMEMBERED, MAX_REMEMBERED_TOOLS, Open, SkippedLines};
use crate::session::handle::Session;

/// A record, and its message where that is known.
pub(super) type ScannedLine = (Record, Option<Message>);

impl Session {
    /// Finds the lines of a batch whose operation counted.
    ///
    /// # Errors
    /// `operation_reused` where it counted with other messages.
    pub(crate) fn find_counted(&self, batch: &Batch) -> Result<Option<Span>, Error> {
        for done in self.log_state.operations.iter().chain(&self.log_state.of_tools).rev() {
            if done.matches_batch(batch)? {
                return Ok(Some(done.span));
            }
        }
        Ok(None)
    }

    /// Whether the message that it expects is the last one now.
    pub(crate) fn is_next(&self, batch: &Batch) -> bool {
        batch.expected_message.as_ref().is_none_or(|expected| *expected == self.log_state.last_id)
    }

    /// Whether an event accepts a message, whatever a merge put before it.
    pub(crate) fn has_accepted(&self, message: &str) -> bool {
        self.accepted_ids.contains(message)
    }

    /// Copies the accepted messages, to read another log of the same session as this one does.
    pub(crate) fn with_accepted_of(mut self, other: &Session) -> Session {
        self.accepted_ids.clone_from(&other.accepted_ids);
        self
    }

    /// The lines of the log that do not count.
    pub(crate) fn skipped_lines(&self) -> SkippedLines {
        let known = &self.log_state;
        SkippedLines { spans: known.repeated.clone(), firsts: known.firsts.clone(), decided_end: known.bytes }
    }

    /// How far it is known which lines count.
    pub(super) fn decided_end(&self) -> u64 {
        self.open_batch.as_ref().map_or(self.messages.covered_end(), |open| open.span.start)
    }

    /// Takes a line of a batch; returns the lines that count now: the whole batch with its last line.
    pub(super) fn take_batch_line(
        &mut self,
        part: BatchLine,
        (record, message): ScannedLine,
    ) -> Vec<ScannedLine> {
        match self.open_batch.take() {
            Some(mut open) if open.has_next(&part) => {
                open.add_line(part, record, message);
                self.open_batch = Some(open);
            }
            open => {
                self.open_batch = open;
                self.skip_open_batch();
                self.open_batch = Some(Open::begin(part, record, message));
            }
        }
        if self.open_batch.as_ref().is_some_and(Open::has_end) {
            self.finish_open_batch()
        } else {
            Vec::new()
        }
    }

    fn finish_open_batch(&mut self) -> Vec<ScannedLine> {
        let counts = |open: &Open| {
            let batch = open.batch();
            // With other messages, too: an operation counts once.
            let is_new = matches!(self.find_counted(batch), Ok(None));
            is_new && open.can_count() && (self.is_next(batch) || open.is_accepted(&self.accepted_ids))
        };
        if !self.open_batch.as_ref().is_some_and(counts) {
            self.skip_open_batch();
            return Vec::new();
        }
        let Some((done, lines)) = self.open_batch.take().map(Open::into_counted) else { return Vec::new() };
        let (known, most) = match done.is_of_tools() {
            true => (&mut self.log_state.of_tools, MAX_REMEMBERED_TOOLS),
            false => (&mut self.log_state.operations, MAX_REMEMBERED),
        };
        known.push(done);
        known.drain(..known.len().saturating_sub(most));
        lines
    }

    // Nobody will write the rest of it: its writer appends all of it again.
    pub(super) fn skip_open_batch(&mut self) {
        let Some(open) = self.open_batch.take() else { return };
        let start = open.span.start;
        if let Some(last) = open.into_last() {
            self.log_state.skip_lines(start, last);
        }
    }
}
