//! Checkpoints in the cache: what is known of a log up to a byte, believed only where all of those bytes are what it
//! was made from. Its checksum proves that it is as somebody wrote it, not who that was: so what it says is compared
//! with the log.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::join::join_all;
use super::logs::LogName;
use super::session_files::{READ_BYTES, SessionFiles};
use super::{Io, Stat, Trouble, unless_bug, unless_other};
use crate::json::fields::{BadValue, Fields, FromFields};
use crate::json::text::to_json;
use crate::layout::names::CachedKind as Cached;
use crate::record::message::{self, Message, Role};
use crate::record::scan::records;
use crate::record::span::Span;
use crate::session::checkpoint::Checkpoint;
use crate::session::file_prints::{self, FilePrint};
use crate::session::handle::Session;

/// Bytes of a log that one hash covers.
const BYTES_PER_HASH: u64 = 1 << 20;
/// Above this size, reading a log takes longer than writing its checkpoint.
const MIN_CHECKPOINT_BYTES: u64 = 256 << 10;
/// Digits of a hash that are kept.
const HASH_DIGITS: usize = 32;
/// Longer than a filesystem's clock stands still, in microseconds; where only whole seconds are stored, a second is
/// waited for besides.
const TICK_US: i64 = 20_000;
const SECOND_US: i64 = 1_020_000;

/// What this process has verified of files that it wrote or read.
#[derive(Default)]
pub(super) struct VerifiedFiles {
    checkpoint_fingerprint: Option<LogFingerprint>,
    /// Summaries whose messages were compared: while a session is open, it changes by appends alone.
    pub summary_ids: BTreeSet<String>,
    /// Blobs that the disk has confirmed to this process.
    pub blob_ids: BTreeSet<String>,
}

/// Identifies the bytes of a log that something was made from. Where the file's size and times are unchanged, the
/// bytes are not read again; else they are, and compared by their hashes.
#[derive(Clone, Debug, Serialize)]
pub(super) struct LogFingerprint {
    bytes: u64,
    file: String,
    // One hash for each piece, so that an append costs only the hashing of its own bytes.
    pieces: Vec<String>,
}

impl SessionFiles {
    /// Whether the checkpoint in the cache, if there is one, is right for this log. Reads all of the log.
    pub(super) async fn has_good_checkpoint(&self, io: &Io) -> Result<bool, Trouble> {
        let file = self.cached_file(Cached::Checkpoint);
        if unless_other(io.stat(&file).await)?.is_none() {
            return Ok(true);
        }
        let Some(json) = unless_bug(io.read_all(&file).await)?.flatten() else { return Ok(false) };
        let Ok(checkpoint) = Checkpoint::from_json(&json) else { return Ok(false) };
        Ok(self.has_matching_lines(io, &checkpoint).await? && self.matches_whole_log(io, checkpoint).await?)
    }

    /// Saves a checkpoint where there is something to save. `learns`: fold what came since first.
    pub(super) async fn save_checkpoint(&self, io: &Io, learns: bool) -> Result<(), Trouble> {
        // A log with branches is read whole when it is opened, and has no checkpoint.
        if learns && self.with_session(|session| session.has_checkpoint()) {
            self.fold_messages(io).await?;
        }
        // Without a checkpoint the next opening reads the log: no reason to fail on a full or read-only disk.
        unless_bug(self.write_checkpoint(io, None).await)?;
        self.was_read_whole.set(false);
        Ok(())
    }

    /// Saves a checkpoint where much of the log had to be read. `log`: the file's print before the log was read; it
    /// has to be unchanged after the bytes were hashed, too.
    pub(super) async fn save_checkpoint_if_far(
        &self,
        io: &Io,
        (log, looked_ms): (FilePrint, i64),
    ) -> Result<(), Trouble> {
        let known = self.verified.borrow().checkpoint_fingerprint.as_ref().map_or(0, |covers| covers.bytes);
        let is_far = self.end(LogName::Messages).saturating_sub(known) > MIN_CHECKPOINT_BYTES;
        if is_far && file_prints::is_settled(&[log], looked_ms) {
            unless_bug(self.write_checkpoint(io, Some(log)).await)?;
        }
        Ok(())
    }

    // `log`: the print that the file must have after it was hashed.
    async fn write_checkpoint(&self, io: &Io, log: Option<FilePrint>) -> Result<(), Trouble> {
        let checkpoint =
            self.with_session(|session| session.checkpoint().map(|kept| (kept.bytes, kept.to_json())));
        let Some((bytes, json)) = checkpoint else { return Ok(()) };
        let known = self.verified.borrow().checkpoint_fingerprint.clone();
        let covers = self.fingerprint_log(io, bytes, known).await?;
        if let Some(log) = log {
            let now = io.stat(&self.log_file(LogName::Messages)).await?;
            if now.map(|now| (now.size, now.changed_us)) != log {
                return Ok(());
            }
        }
        io.replace(&self.cached_file(Cached::Covers), to_json(&covers).into_bytes(), None).await?;
        self.verified.borrow_mut().checkpoint_fingerprint = Some(covers);
        io.replace(&self.cached_file(Cached::Checkpoint), json.into_bytes(), None).await
    }

    /// Loads the saved checkpoint, where it is right; and whether the log had to be read for that, which is worth
    /// saving it again.
    pub(super) async fn load_checkpoint(&self, io: &Io) -> Result<Option<(Checkpoint, bool)>, Trouble> {
        // A cache that cannot be read costs one reading of the log, nothing else.
        Ok(unless_bug(Box::pin(self.read_checkpoint(io)).await)?.flatten())
    }

    async fn read_checkpoint(&self, io: &Io) -> Result<Option<(Checkpoint, bool)>, Trouble> {
        let Some(json) = io.read_all(&self.cached_file(Cached::Checkpoint)).await? else { return Ok(None) };
        let covers = io
            .read_all(&self.cached_file(Cached::Covers))
            .await?
            .and_then(|json| LogFingerprint::parse(&json));
        let (Some(covers), Ok(checkpoint)) = (covers, Checkpoint::from_json(&json)) else { return Ok(None) };
        if covers.bytes != checkpoint.bytes || !self.has_matching_lines(io, &checkpoint).await? {
            return Ok(None);
        }
        let Some(was_read) = self.check_fingerprint(io, &covers).await? else { return Ok(None) };
        self.verified.borrow_mut().checkpoint_fingerprint = Some(covers);
        Ok(Some((checkpoint, was_read)))
    }

    /// Whether the log had to be read to see that it still has the same bytes; `None` where it has not.
    pub(super) async fn check_fingerprint(
        &self,
        io: &Io,
        covers: &LogFingerprint,
    ) -> Result<Option<bool>, Trouble> {
        let found = io.stat(&self.log_file(LogName::Messages)).await?;
        if found.map_or(0, |found| found.size) < covers.bytes {
            return Ok(None);
        }
        if !covers.file.is_empty() && covers.file == settled_print(found, io.now_ms()) {
            return Ok(Some(false));
        }
        let now = self.fingerprint_log(io, covers.bytes, None).await?;
        Ok((now.pieces == covers.pieces).then_some(true))
    }

    /// Fingerprints the first bytes of the log as they are now. `known`: a fingerprint of fewer bytes of the same
    /// log.
    pub(super) async fn fingerprint_log(
        &self,
        io: &Io,
        bytes: u64,
        known: Option<LogFingerprint>,
    ) -> Result<LogFingerprint, Trouble> {
        let log = self.log_file(LogName::Messages);
        let file = settled_print(io.stat(&log).await?, io.now_ms());
        let mut pieces = known.map_or_else(Vec::new, |known| {
            let whole = (known.bytes.min(bytes) / BYTES_PER_HASH) as usize;
            known.pieces.into_iter().take(whole).collect()
        });
        let mut at = pieces.len() as u64 * BYTES_PER_HASH;
        while at < bytes {
            let hash = io.hash(&log, at, bytes.min(at + BYTES_PER_HASH)).await?.unwrap_or_default();
            pieces.push(hash.chars().take(HASH_DIGITS).collect());
            at += BYTES_PER_HASH;
        }
        Ok(LogFingerprint { bytes, file, pieces })
    }

    // Checks a few lines: those that the checkpoint names are there, and are what it says they are.
    async fn has_matching_lines(&self, io: &Io, checkpoint: &Checkpoint) -> Result<bool, Trouble> {
        let log = self.log_file(LogName::Messages);
        let is_within = |span: &Span| span.start < span.end && span.end <= checkpoint.bytes;
        let line = io.read_range(&log, checkpoint.last_line.start, checkpoint.last_line.end).await?;
        if checkpoint.bytes > self.size(io, LogName::Messages).await? || !checkpoint.matches_line(&line) {
            return Ok(false);
        }
        let is_again =
            |span: &Span| span.start <= checkpoint.last_line.start && checkpoint.last_line.end <= span.end;
        let mut named = Vec::new();
        if checkpoint.bytes > 0 {
            named.push((checkpoint.last_line, ExpectedMessage::Last));
        }
        named.extend(checkpoint.newest_user.map(|span| (span, ExpectedMessage::WithRole(Role::User))));
        named.extend(checkpoint.systems.iter().map(|span| (*span, ExpectedMessage::WithRole(Role::System))));
        named.extend(checkpoint.pins.iter().map(|pin| (pin.span, ExpectedMessage::WithId(&pin.id))));
        if !named.iter().all(|(span, _)| is_within(span)) {
            return Ok(false);
        }
        let works = named.into_iter().map(|(span, named)| {
            let log = &log;
            Box::pin(async move {
                let bytes = io.read_range(log, span.start, span.end).await?;
                let Some(message) = parse_single_message(&bytes) else { return Ok(false) };
                Ok::<_, Trouble>(match named {
                    // A revision, or a line that repeats an earlier one, is not the last message.
                    ExpectedMessage::Last => {
                        Some(&message.id) == checkpoint.last_id.as_ref()
                            || message.rev > 0
                            || checkpoint.repeated.iter().any(is_again)
                    }
                    ExpectedMessage::WithRole(role) => message.role == Some(role),
                    ExpectedMessage::WithId(id) => message.id == *id,
                })
            }) as core::pin::Pin<Box<dyn Future<Output = _>>>
        });
        for is_there in join_all(works.collect()).await {
            if !is_there? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    // Checks against all of the log. The session state may have been folded less far than the log was read; so it is
    // compared with the log up to there.
    async fn matches_whole_log(&self, io: &Io, checkpoint: Checkpoint) -> Result<bool, Trouble> {
        let Some(mut read) = self.rebuild_checkpoint(io, checkpoint.bytes).await? else { return Ok(false) };
        if checkpoint.learned.bytes != checkpoint.bytes {
            let Some(folded) = self.rebuild_checkpoint(io, checkpoint.learned.bytes).await? else {
                return Ok(false);
            };
            read.learned = folded.learned;
        }
        Ok(read.is_equivalent_to(&checkpoint))
    }

    // Builds the checkpoint of the log up to a byte, with all of it folded.
    async fn rebuild_checkpoint(&self, io: &Io, bytes: u64) -> Result<Option<Checkpoint>, Trouble> {
        let log = self.log_file(LogName::Messages);
        let mut session =
            self.with_session(|known| Session::new(None).with_accepted_of(known)).with_id(&self.id());
        while session.messages().observed_end() < bytes {
            let at = session.messages().observed_end();
            let piece = io.read(&log, at, Some(bytes.min(at + READ_BYTES))).await?.unwrap_or_default();
            if piece.is_empty() {
                return Err(self.shrunk_error(LogName::Messages, bytes, at));
            }
            let found = session.messages().observe(&piece, at)?;
            session.take_messages(found);
        }
        while let Some(span) = session.unfolded_span() {
            let piece = io.read_range(&log, span.start, span.end.min(span.start + READ_BYTES)).await?;
            if piece.is_empty() {
                return Err(self.shrunk_error(LogName::Messages, span.end, span.start));
            }
            session.fold_bytes(&piece);
        }
        Ok(session.checkpoint().cloned())
    }
}

enum ExpectedMessage<'a> {
    Last,
    WithRole(Role),
    WithId(&'a str),
}

impl LogFingerprint {
    fn parse(json: &[u8]) -> Option<LogFingerprint> {
        LogFingerprint::from_fields(Fields::parse(core::str::from_utf8(json).ok()?).ok()?, &mut Vec::new())
    }
}

impl FromFields for LogFingerprint {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<LogFingerprint> {
        Some(LogFingerprint {
            bytes: fields.take("bytes", bad)?,
            file: fields.take("file", bad)?,
            pieces: fields.take("pieces", bad)?,
        })
    }
}

// Parses a line that is one message and nothing else.
pub(super) fn parse_single_message(line: &[u8]) -> Option<Message> {
    let mut found = records(line).filter_map(|record| message::read(&record).0);
    let message = found.next()?;
    found.next().is_none().then_some(message)
}

// A file that was changed just now may be changed again and look the same.
fn settled_print(stat: Option<Stat>, now_ms: i64) -> String {
    let Some(Stat { size, modified_us, changed_us, .. }) = stat else { return String::new() };
    let tick_us = if modified_us % 1_000_000 == 0 { SECOND_US } else { TICK_US };
    let is_settled = modified_us.max(changed_us) < now_ms * 1000 - tick_us;
    if is_settled { format!("{size} {modified_us} {changed_us}") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_just_now_has_no_print() {
        let now_ms = 1_800_000_000_123;
        let print = |modified_us: i64, changed_us: i64| {
            let (kind, size, file) = (crate::operation::FileKind::File, 7, None);
            settled_print(Some(Stat { kind, size, modified_us, changed_us, file }), now_ms)
        };
        let (now, long_ago) = (now_ms * 1000, 1_700_000_000_000_001);
        assert_eq!(print(long_ago, long_ago), format!("7 {long_ago} {long_ago}"));
        assert_eq!([print(now, long_ago), print(long_ago, now), print(now + 1, now + 1)], ["", "", ""]);
        // Where file times have whole seconds, a second may pass before a change shows.
        let (tick, second) = (now - TICK_US - 1, now / 1_000_000 * 1_000_000);
        assert_eq!(print(tick, tick), format!("7 {tick} {tick}"));
        assert_eq!(print(second, second), "");
        assert_eq!(settled_print(None, now_ms), "");
    }
}
