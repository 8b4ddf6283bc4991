//! Streams the messages of an unopened session, newest first.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::logs::LogName;
use super::message_pages::{json_array, message_json};
use super::messages::MessageStream;
use super::session_files::SessionFiles;
use super::{Io, Trouble};

/// Reads a log alone, newest first: for a session that was not opened, and need not be.
pub(super) struct NewestMessages<'a> {
    files: &'a SessionFiles,
    io: &'a Io,
    messages: MessageStream<'a>,
    end: u64,
    given_ids: BTreeSet<String>,
}

impl<'a> NewestMessages<'a> {
    pub async fn begin(session_files: &'a SessionFiles, io: &'a Io) -> Result<NewestMessages<'a>, Trouble> {
        let end = session_files.size(io, LogName::Messages).await?;
        let messages = MessageStream::newest_first(session_files, io, end);
        Ok(NewestMessages { files: session_files, io, messages, end, given_ids: BTreeSet::new() })
    }

    /// The next messages, a JSON array; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, Trouble> {
        let (files, io) = (self.files, self.io);
        loop {
            let some = self.messages.next().await?;
            if self.messages.has_undecided() {
                // Only a reader from the start knows which batches count, and where messages begin.
                let looked_ms = io.now_ms();
                let log = io.stat(&files.log_file(LogName::Messages)).await?;
                let log = log.map(|log| (log.size, log.changed_us));
                files.run_in_turn(io, &|| Box::pin(files.observe_present_logs(io))).await?;
                files.save_checkpoint_if_far(io, (log, looked_ms)).await?;
                let end = self.end.min(files.with_session(|session| session.log_state().bytes));
                self.messages = MessageStream::newest_first(files, io, end);
                continue;
            }
            let Some(mut some) = some else { return Ok(None) };
            some.retain(|message| self.given_ids.insert(message.id.clone()));
            return Ok(Some(json_array(some.iter().map(|message| message_json(message, true)))));
        }
    }
}
