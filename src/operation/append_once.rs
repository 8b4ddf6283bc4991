//! Appends that may be retried: the same operation counts once, and messages built on an expected last message follow
//! it or are refused. Whether a batch counts is known once it is in the file: others may have appended before it.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::append::AppendRequest;
use super::logs::LogName;
use super::messages::MessageStream;
use super::session_files::SessionFiles;
use super::{Io, Operation, Trouble};
use crate::error::{Code, Error};
use crate::layout::Placement;
use crate::record::batch::{Batch, lines_without_batch};
use crate::record::event::{Change, Subject};
use crate::record::message::{self, Message};
use crate::record::scan::records;
use crate::record::span::Span;
use crate::session::batch::AppendConditions;
use crate::session::change_request::ChangeRequest;

/// How often a batch is appended again when others wrote into its middle.
const MAX_ATTEMPTS: u32 = 4;
/// A conflict names at most so many messages that came since.
const MAX_NAMED_MESSAGES: usize = 20;

impl SessionFiles {
    /// Appends messages under conditions. Returns their lines, or those of the first time where the operation was
    /// done before.
    pub fn append_once(
        self: &Rc<SessionFiles>,
        appending: AppendRequest,
        once: AppendConditions,
    ) -> Operation<'static, Vec<u8>> {
        let files = self.clone();
        self.was_staged.set(false);
        Operation::new(|io| async move {
            let appending = appending.with_detected_format()?;
            files.acquire_lease(&io).await?;
            files.append_if_new(&io, &appending, once).await
        })
    }

    pub(super) async fn append_if_new(
        &self,
        io: &Io,
        appending: &AppendRequest,
        once: AppendConditions,
    ) -> Result<Vec<u8>, Trouble> {
        let batch = once.into_batch(&appending.drafts.to_messages()?, &io.stamp())?;
        for _ in 0..MAX_ATTEMPTS {
            let written = match self.append_batch(io, appending, Some(&batch)).await {
                Err(trouble) if trouble.code() == Code::Conflict.as_str() => {
                    return Err(self.conflict_error(io, &batch).await?);
                }
                written => written?,
            };
            if let Some(span) = self.with_session(|session| session.find_counted(&batch))? {
                // The process that wrote it may not have waited for the disk.
                if appending.is_durable && written.is_empty() {
                    self.confirm(io, LogName::Messages, true).await?;
                }
                return self.read_batch_lines(io, &batch, span, written).await;
            }
            if !self.with_session(|session| session.is_next(&batch)) {
                return Err(self.conflict_error(io, &batch).await?);
            }
        }
        let message =
            "expected the messages in one piece, but found that others wrote between them each time";
        Err(Trouble::new(Code::Conflict, message))
    }

    // Reads the batch as the log has it, whoever wrote it: two processes may have appended the same at once. The
    // first one counts, so that the last one written is one's own.
    async fn read_batch_lines(
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
        if batch.expected_message.is_some() && self.placement() == Placement::Workspace {
            let last = found.last().and_then(|record| message::read(record).0);
            self.accept_message(io, last.map(|message| message.id).unwrap_or_default()).await?;
        }
        Ok(lines_without_batch(batch, &found).into_bytes())
    }

    // A merge by git may put lines between a message and the one that it was built on: what was acknowledged counts
    // nevertheless.
    async fn accept_message(&self, io: &Io, message_id: String) -> Result<(), Trouble> {
        if self.with_session(|session| session.has_accepted(&message_id)) {
            return Ok(());
        }
        self.record_now(io, Vec::from([ChangeRequest::from(Change::Accepted(Subject { message_id }))])).await
    }

    // Names the messages that came since the expected one.
    async fn conflict_error(&self, io: &Io, batch: &Batch) -> Result<Trouble, Trouble> {
        let expected = batch.expected_message.clone().flatten();
        let mut messages = MessageStream::newest_first(self, io, self.end(LogName::Messages));
        let mut came: Vec<String> = Vec::new();
        let mut is_there = expected.is_none();
        let mut is_over = false;
        while !is_over && came.len() <= MAX_NAMED_MESSAGES {
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
        let is_all = came.len() <= MAX_NAMED_MESSAGES;
        came.truncate(MAX_NAMED_MESSAGES);
        came.reverse();
        let named = came.join(", ");
        let found = match (is_all, is_there) {
            (true, true) => format!("{} that came since: {named}", came.len()),
            (true, false) => format!("none of that id in the log, which has {named}"),
            (false, _) => {
                format!("more than {MAX_NAMED_MESSAGES} others behind it, the newest of them {named}")
            }
        };
        let wanted = expected.map_or("no message".into(), |id| format!("{id:?} to be the last message"));
        let message = format!("expected {wanted}, but found {found}");
        Ok(Error { came, ..Error::new(Code::Conflict, message) }.into())
    }
}
