//! Redacts messages for the search index: they are indexed as they may go out, without the placeholders.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::unreported::parse_message;
use super::{LineBatches, OutgoingGate, OutgoingRedactor, RedactMode};
use crate::layout::{File, MESSAGES};
use crate::operation::session_files::SessionFiles;
use crate::operation::{Io, Trouble, Work};
use crate::privacy::{KnownSecrets, blank_placeholders};
use crate::recall::document_feed::DocumentFeed;
use crate::recall::documents::DocumentSink;
use crate::record::blob;
use crate::record::message::Message;

/// A log that was scanned for secrets: its redactor, and the last bytes of the scanned part.
#[derive(Clone, Debug)]
pub(super) struct ScannedLog {
    redactor: Rc<OutgoingRedactor>,
    tail: Vec<u8>,
}

/// Redacts messages before they are indexed.
pub(in crate::operation) trait IndexRedactor {
    /// Returns the redactor for the log in a folder.
    fn for_log<'a>(&'a self, io: &'a Io, folder: &'a File) -> Work<'a, Rc<dyn IndexRedactor>>;

    /// Counts the secrets in lines that begin before this byte.
    fn count_secrets(&self, end: u64) -> u32;

    /// Whether the log before this byte has parts of a secret that only later lines show whole.
    fn has_late_secrets<'a>(&'a self, io: &'a Io, folder: &'a File, from: u64) -> Work<'a, bool>;

    /// Redacts scanned lines of that log for the index.
    fn index_lines<'a>(
        &'a self,
        io: &'a Io,
        files: &'a SessionFiles,
        lines: &'a mut DocumentFeed,
        sink: &'a mut dyn DocumentSink,
    ) -> Work<'a, ()>;
}

impl IndexRedactor for OutgoingRedactor {
    fn for_log<'a>(&'a self, io: &'a Io, folder: &'a File) -> Work<'a, Rc<dyn IndexRedactor>> {
        Box::pin(async move { Ok(self.gate.redactor_for_log(io, folder).await? as Rc<dyn IndexRedactor>) })
    }

    fn count_secrets(&self, end: u64) -> u32 {
        let end = end.min(self.scanned_end());
        self.line_offsets.borrow().iter().filter(|place| **place < end).count() as u32
    }

    fn has_late_secrets<'a>(&'a self, io: &'a Io, folder: &'a File, from: u64) -> Work<'a, bool> {
        Box::pin(async move {
            let secrets = self.secrets.borrow().clone().into_iter().zip(self.line_offsets.borrow().clone());
            let new = secrets.filter(|(_, place)| (from..self.scanned_end()).contains(place));
            let new: Vec<_> = new.map(|(secret, _)| secret).collect();
            if new.is_empty() {
                return Ok(false);
            }
            let known = KnownSecrets::new(new);
            let mut batches = LineBatches { file: folder.child(MESSAGES), offset: 0, size: from };
            while let Some((bytes, _)) = batches.next(io).await? {
                if !known.find(&String::from_utf8_lossy(&bytes)).is_empty() {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    fn index_lines<'a>(
        &'a self,
        io: &'a Io,
        files: &'a SessionFiles,
        lines: &'a mut DocumentFeed,
        sink: &'a mut dyn DocumentSink,
    ) -> Work<'a, ()> {
        Box::pin(async move {
            let (messages, places): (Vec<_>, Vec<_>) = core::iter::from_fn(|| lines.next_message()).unzip();
            let hidden = self.redact_for_index(io, files, messages).await?;
            hidden.into_iter().zip(places).for_each(|texts| lines.take(texts, sink));
            Ok(())
        })
    }
}

impl OutgoingRedactor {
    async fn is_log_same_or_grown(&self, io: &Io, log: &File) -> Result<bool, Trouble> {
        let before = self.progress.borrow().get(MESSAGES).copied();
        Ok(before.zip(io.stat(log).await?).is_some_and(|(before, now)| before.is_same_or_grown(&now)))
    }

    // Start of the first incomplete line: it may still bring another secret.
    fn scanned_end(&self) -> u64 {
        self.progress.borrow().get(MESSAGES).map_or(0, |read| read.end)
    }

    async fn redact_for_index(
        &self,
        io: &Io,
        files: &SessionFiles,
        messages: Vec<Message>,
    ) -> Result<Vec<Message>, Trouble> {
        if self.secrets.borrow().is_empty()
            && messages.iter().all(|message| blob::blob_ids(message).is_empty())
        {
            return Ok(messages);
        }
        let mut hidden = Vec::with_capacity(messages.len());
        let mut whole = Vec::new();
        for mut message in messages {
            // Attachments are not indexed.
            message.attachments.clear();
            if blob::blob_ids(&message).is_empty() {
                whole.push(message);
                continue;
            }
            hidden.extend(self.without_secrets(io, core::mem::take(&mut whole)).await?);
            let unfolded = files.unfold_message(io, message).await?;
            for mut message in self.without_secrets(io, Vec::from([unfolded])).await? {
                blob::move_to_blobs(&mut message);
                hidden.push(message);
            }
        }
        hidden.extend(self.without_secrets(io, whole).await?);
        Ok(hidden)
    }

    async fn without_secrets(&self, io: &Io, messages: Vec<Message>) -> Result<Vec<Message>, Trouble> {
        let left = self.redact_each(io, &messages).await?;
        left.into_iter().map(|json| parse_message(blank_placeholders(&json))).collect()
    }
}

impl OutgoingGate {
    /// Returns a replacing redactor with the secrets that the log in a folder has by now. While the log grows, each
    /// line is scanned once.
    pub(super) async fn redactor_for_log(
        &self,
        io: &Io,
        folder: &File,
    ) -> Result<Rc<OutgoingRedactor>, Trouble> {
        let log = folder.child(MESSAGES);
        let known = self.scanned_logs.borrow().get(folder).cloned();
        let own = match known {
            Some(ScannedLog { redactor: own, tail })
                if own.is_log_same_or_grown(io, &log).await?
                    && io.read_tail(&log, own.scanned_end()).await? == tail =>
            {
                own
            }
            _ => OutgoingRedactor::new(&self.with_mode(io, RedactMode::Replace).await?),
        };
        let before = own.scanned_end();
        own.scan_file(io, folder, MESSAGES, u64::MAX).await?;
        if own.scanned_end() > before {
            let tail = io.read_tail(&log, own.scanned_end()).await?;
            self.scanned_logs.borrow_mut().insert(folder.clone(), ScannedLog { redactor: own.clone(), tail });
        }
        Ok(own)
    }
}
