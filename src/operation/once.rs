//! Appends of machines that try again: the same operation counts once, and what was built on a message follows it or is
//! refused. Whether a batch counts is known once it is in the file: what others appended may have come before it.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::append::Appending;
use super::live::Live;
use super::logs::LogName;
use super::messages::Messages;
use super::{Io, Operation, Trouble};
use crate::error::{Code, Error};
use crate::layout::Placement;
use crate::record::batch::{Batch, lines_of};
use crate::record::event::{Change, Subject};
use crate::record::message::{self, Message};
use crate::record::scan::records;
use crate::record::span::Span;
use crate::session::ask::Ask;
use crate::session::batch::Once;

/// How often a batch is appended of which others wrote into the middle.
const TRIES: u32 = 4;
/// So many messages at most are named that came since.
const NAMED: usize = 20;

impl Live {
    /// Appends messages under conditions. Answer: their lines, those of the first time where the operation was done before.
    pub fn append_once(self: &Rc<Live>, appending: Appending, once: Once) -> Operation<'static, Vec<u8>> {
        let live = self.clone();
        self.was_staged.set(false);
        Operation::new(|io| async move { live.appended_once(&io, &appending.told()?, once).await })
    }

    pub(super) async fn appended_once(
        &self,
        io: &Io,
        appending: &Appending,
        once: Once,
    ) -> Result<Vec<u8>, Trouble> {
        let batch = once.batch(&appending.drafts.read()?, &io.stamp())?;
        for _ in 0..TRIES {
            let written = match self.put(io, appending, Some(&batch)).await {
                Err(trouble) if trouble.code() == Code::Conflict.as_str() => {
                    return Err(self.conflict(io, &batch).await?);
                }
                written => written?,
            };
            if let Some(span) = self.with(|session| session.done(&batch))? {
                // The one who wrote it may not have waited for the disk.
                if appending.is_durable && written.is_empty() {
                    self.confirm(io, LogName::Messages, true).await?;
                }
                return self.told_once(io, &batch, span, written).await;
            }
            if !self.with(|session| session.is_next(&batch)) {
                return Err(self.conflict(io, &batch).await?);
            }
        }
        let message =
            "expected the messages in one piece, but found that others wrote between them each time";
        Err(Trouble::refused(Code::Conflict, message))
    }

    // What is in the log, whoever wrote it: two that append the same may have come at once. The first counts, so that the last
    // that was written is one's own.
    async fn told_once(
        &self,
        io: &Io,
        batch: &Batch,
        span: Span,
        written: Vec<u8>,
    ) -> Result<Vec<u8>, Trouble> {
        let log = LogName::Messages;
        // A span ends before its line feed.
        let is_last = span.end + 1 == self.end(log);
        let is_own = is_last && span.end + 1 - span.start == written.len() as u64;
        let bytes =
            if is_own { written } else { io.read_range(&self.log_file(log), span.start, span.end).await? };
        let found: Vec<_> = records(&bytes).collect();
        if batch.expected.is_some() && self.placement() == Placement::Workspace {
            let last = found.last().and_then(|record| message::read(record).0);
            self.accept(io, last.map(|message| message.id).unwrap_or_default()).await?;
        }
        Ok(lines_of(batch, &found).into_bytes())
    }

    // What git merges may stand between a message and the one that it was built on: what was acknowledged counts nevertheless.
    async fn accept(&self, io: &Io, message_id: String) -> Result<(), Trouble> {
        if self.with(|session| session.has_accepted(&message_id)) {
            return Ok(());
        }
        self.said_now(io, Vec::from([Ask::from(Change::Accepted(Subject { message_id }))])).await
    }

    // What came since the message that was expected.
    async fn conflict(&self, io: &Io, batch: &Batch) -> Result<Trouble, Trouble> {
        let expected = batch.expected.clone().flatten();
        let mut messages = Messages::newest_first(self, io, self.end(LogName::Messages));
        let mut came: Vec<String> = Vec::new();
        let mut is_there = expected.is_none();
        let mut is_over = false;
        while !is_over && came.len() <= NAMED {
            let some = messages.next().await?;
            is_over = some.is_none();
            for Message { id, .. } in some.into_iter().flatten() {
                if expected.as_ref() == Some(&id) {
                    (is_there, is_over) = (true, true);
                    break;
                }
                came.push(id);
            }
        }
        let is_all = came.len() <= NAMED;
        came.truncate(NAMED);
        came.reverse();
        let named = came.join(", ");
        let found = match (is_all, is_there) {
            (true, true) => format!("{} that came since: {named}", came.len()),
            (true, false) => format!("none of that id in the log, which has {named}"),
            (false, _) => format!("more than {NAMED} others behind it, the newest of them {named}"),
        };
        let wanted = expected.map_or("no message".into(), |id| format!("{id:?} to be the last message"));
        let message = format!("expected {wanted}, but found {found}");
        Ok(Error { came, ..Error::new(Code::Conflict, message) }.into())
    }
}
