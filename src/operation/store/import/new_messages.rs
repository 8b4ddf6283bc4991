//! Appends the messages of an agent's session that are not in the store yet.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;

use super::Importer;
use crate::interop::import_diff::ImportDiff;
use crate::interop::talk::is_talk;
use crate::operation::logs::LogName;
use crate::operation::session_files::{READ_BYTES, SessionFiles};
use crate::operation::{AppendRequest, Drafts, Trouble};
use crate::record::message::Message;
use crate::state::stopping::find_stop_phrase;

/// Messages in one batch.
const BATCH_MESSAGES: usize = 256;

/// How many messages of a file are written, for progress reports.
pub(super) struct WriteProgress<'a> {
    pub importing: &'a Importer<'a>,
    pub share: &'a super::file::DocumentShare<'a>,
    pub written_count: usize,
    pub message_count: usize,
}

impl WriteProgress<'_> {
    /// Reports progress, before `count` more messages are written.
    async fn report_more(&mut self, count: usize) -> Result<(), Trouble> {
        let share = if self.message_count == 0 {
            0.0
        } else {
            (self.written_count as f64 / self.message_count as f64).min(1.0)
        };
        self.written_count += count;
        self.importing.report_progress(self.share, share).await
    }
}

impl Importer<'_> {
    /// Appends the messages that a session does not have yet, and answers that have grown since; returns how many.
    /// They are not folded into its state: whoever resumes the session does that, and of a hundred imported few are
    /// resumed. Others may import the same file meanwhile: nobody waits, and each appends what it finds missing until
    /// nothing is.
    pub(super) async fn append_new_messages(
        &self,
        files: &SessionFiles,
        (messages, goes_on): (&Rc<Vec<Message>>, bool),
        written: &mut WriteProgress<'_>,
    ) -> Result<usize, Trouble> {
        let mut added = 0;
        files.acquire_lease(self.io).await?;
        if files.size(self.io, LogName::Messages).await? == 0 {
            added = messages.len();
            let mut bytes = 0;
            for start in (0..messages.len()).step_by(BATCH_MESSAGES) {
                let part = start..messages.len().min(start + BATCH_MESSAGES);
                written.report_more(part.len()).await?;
                bytes += self.append_drafts(files, Drafts::Slice(messages.clone(), part), false).await?;
            }
            if files.size(self.io, LogName::Messages).await? == bytes {
                files.flush_files(self.io, false).await?;
                return Ok(added);
            }
        }
        // If the session is moved meanwhile, its log is compared again.
        let compared = || {
            Box::pin(async { self.append_missing(files, messages, goes_on).await })
                as crate::operation::Work<'_, usize>
        };
        added += files.retry_after_move(self.io, &compared).await?;
        if added > 0 {
            files.flush_files(self.io, false).await?;
        }
        Ok(added)
    }

    async fn append_missing(
        &self,
        files: &SessionFiles,
        messages: &Rc<Vec<Message>>,
        goes_on: bool,
    ) -> Result<usize, Trouble> {
        let mut diff = ImportDiff::of_part(Vec::clone(messages), goes_on);
        self.append_from_diff(files, &mut diff, &mut 0).await
    }

    /// Appends what a log lacks, and returns how many messages that were. `read_to`: how much of the log the diff has
    /// been fed.
    pub(super) async fn append_from_diff(
        &self,
        files: &SessionFiles,
        diff: &mut ImportDiff,
        read_to: &mut u64,
    ) -> Result<usize, Trouble> {
        let mut added = 0;
        loop {
            self.feed_log(files, diff, read_to).await?;
            let batch = diff.next_missing(BATCH_MESSAGES);
            if batch.is_empty() {
                return Ok(added);
            }
            added += batch.len();
            // Neither a message in which the user stops the session nor the answer to it resumes the session.
            let goes_on = |(at, one): (usize, &Message)| {
                is_talk(one, batch.get(at + 1)) && find_stop_phrase(one.content.as_str()).is_none()
            };
            let has_talk = || batch.iter().enumerate().any(goes_on);
            let revives = self.is_ongoing && has_talk();
            if revives {
                // The session may have been paused just now, by whoever looks after sessions that rest.
                Box::pin(files.observe(self.io, LogName::Events)).await?;
            }
            self.append_drafts(files, Drafts::Messages(batch), revives).await?;
        }
    }

    /// Feeds a log to a diff, from `read_to` to the log's present end.
    pub(super) async fn feed_log(
        &self,
        files: &SessionFiles,
        diff: &mut ImportDiff,
        read_to: &mut u64,
    ) -> Result<(), Trouble> {
        let (file, size) = (files.log_file(LogName::Messages), files.size(self.io, LogName::Messages).await?);
        if size < *read_to {
            return Err(files.shrunk_error(LogName::Messages, *read_to, size));
        }
        while *read_to < size {
            let end = size.min(*read_to + READ_BYTES);
            let bytes = self.io.read(&file, *read_to, Some(end)).await?.unwrap_or_default();
            if bytes.is_empty() {
                return Err(files.shrunk_error(LogName::Messages, size, *read_to));
            }
            diff.feed(&bytes);
            *read_to += bytes.len() as u64;
        }
        Ok(())
    }

    // Appends drafts, not yet confirmed by the disk, for one flush confirms all. `revives`: this resumes the session.
    // Returns the number of bytes.
    async fn append_drafts(
        &self,
        files: &SessionFiles,
        drafts: Drafts,
        revives: bool,
    ) -> Result<u64, Trouble> {
        let appending = AppendRequest { drafts, is_durable: false, revives, counts: self.counts.clone() };
        Ok(files.append_drafts(self.io, &appending).await?.len() as u64)
    }
}
