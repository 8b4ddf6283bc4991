//! Which batches count that say which they are; see [`crate::session::batch`].

use alloc::vec::Vec;

use crate::error::Error;
use crate::record::batch::{Batch, Part};
use crate::record::message::Message;
use crate::record::scan::Record;
use crate::record::span::Span;
use crate::session::batch::{Open, Passed, REMEMBERED, REMEMBERED_OF_TOOLS};
use crate::session::handle::Session;

/// A record, and the message that it is, where that is known.
pub(super) type Line = (Record, Option<Message>);

impl Session {
    /// Where the lines of this batch lie, if its operation counted.
    ///
    /// # Errors
    /// `operation_reused` where it counted with other messages.
    pub(crate) fn done(&self, batch: &Batch) -> Result<Option<Span>, Error> {
        for done in self.known.operations.iter().chain(&self.known.of_tools).rev() {
            if done.is(batch)? {
                return Ok(Some(done.span));
            }
        }
        Ok(None)
    }

    /// Whether the message that it expects is the last one now.
    pub(crate) fn is_next(&self, batch: &Batch) -> bool {
        batch.expected.as_ref().is_none_or(|expected| *expected == self.known.last_id)
    }

    /// Whether an event says that a message counts, whatever a merge put before it.
    pub(crate) fn has_accepted(&self, message: &str) -> bool {
        self.accepted.contains(message)
    }

    /// Reads another log of the same session as this one does.
    pub(crate) fn accepting_as(mut self, other: &Session) -> Session {
        self.accepted.clone_from(&other.accepted);
        self
    }

    /// What of the log counts for nothing.
    pub(crate) fn passed(&self) -> Passed {
        let known = &self.known;
        Passed { spans: known.repeated.clone(), firsts: known.firsts.clone(), decided: known.bytes }
    }

    /// How far it is known what counts.
    pub(super) fn decided(&self) -> u64 {
        self.open.as_ref().map_or(self.messages.covered(), |open| open.span.start)
    }

    /// The lines that count by this one, which is of a batch: all of it, where it is whole now.
    pub(super) fn counting(&mut self, part: Part, (record, message): Line) -> Vec<Line> {
        match self.open.take() {
            Some(mut open) if open.has_next(&part) => {
                open.take(part, record, message);
                self.open = Some(open);
            }
            open => {
                self.open = open;
                self.pass_open();
                self.open = Some(Open::begin(part, record, message));
            }
        }
        if self.open.as_ref().is_some_and(Open::has_end) { self.ended() } else { Vec::new() }
    }

    fn ended(&mut self) -> Vec<Line> {
        let counts = |open: &Open| {
            let batch = open.batch();
            // With other messages, too: an operation counts once.
            let is_new = matches!(self.done(batch), Ok(None));
            is_new && open.can_count() && (self.is_next(batch) || open.is_among(&self.accepted))
        };
        if !self.open.as_ref().is_some_and(counts) {
            self.pass_open();
            return Vec::new();
        }
        let Some((done, lines)) = self.open.take().map(Open::into_done) else { return Vec::new() };
        let (known, most) = match done.is_of_tools() {
            true => (&mut self.known.of_tools, REMEMBERED_OF_TOOLS),
            false => (&mut self.known.operations, REMEMBERED),
        };
        known.push(done);
        known.drain(..known.len().saturating_sub(most));
        lines
    }

    // Nobody will write the rest of it: who began it appends all of it again.
    pub(super) fn pass_open(&mut self) {
        let Some(open) = self.open.take() else { return };
        let start = open.span.start;
        if let Some(last) = open.into_last() {
            self.known.pass(start, last);
        }
    }
}
