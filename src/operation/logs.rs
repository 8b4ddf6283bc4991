//! A session's three logs as files: observes what they gained, appends batches, confirms durability.
//!
//! The first durable append of a process also confirms what was there before it, as events, folders and blobs of the
//! same name: their writer may have been killed before the disk had them. A batch that was staged is taken in as
//! staged, not read again, where the file grew by exactly its bytes.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::mem;

use super::io::AppendedFile;
use super::session_files::{READ_BYTES, SessionFiles};
use super::{FileKind, Io, Stat, Trouble, Work};
use crate::error::{Code, Error};
use crate::layout::{self, File};
use crate::record::scan::{Problem, ScanItem};
use crate::session::handle::Session;
use crate::session::log::Log;

/// Pauses before a batch is appended again when nobody can say how much of it was written.
const RETRY_WAITS_MS: [u32; 3] = [5, 20, 80];
/// First bytes of a log that tell it from another: they hold the id of its first line.
const HEAD_BYTES: usize = 128;
/// Last observed bytes of a log that tell it from another that took its place.
const TAIL_BYTES: u64 = 256;

/// One of a session's logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogName {
    Events,
    Messages,
    Tools,
}

/// The state of a log's file.
#[derive(Debug, Default)]
pub(super) struct LogFile {
    is_confirmed: bool,
    // First bytes of the file, where they were read.
    head: Vec<u8>,
    // Last bytes of the observed part.
    tail: Vec<u8>,
    // The file's stat when it was observed to its end.
    last_stat: Option<Stat>,
}

impl LogFile {
    pub fn forget(&mut self) {
        *self = LogFile { is_confirmed: self.is_confirmed, ..LogFile::default() };
    }

    // Whether the file is another one than was observed, or was changed otherwise than at its end.
    fn is_replaced_by(&self, found: &Stat, end: u64) -> bool {
        let Some(seen) = &self.last_stat else { return false };
        // Where the system does not know when a file was created, it reports its last change.
        let is_told = |stat: &Stat| stat.file.is_some_and(|file| file.made_us != stat.changed_us);
        let made = |stat: &Stat| stat.file.map(|file| file.made_us);
        let number = |stat: &Stat| stat.file.map(|file| file.number);
        let is_made = (is_told(seen) || is_told(found)) && made(seen) != made(found);
        let was_changed = found.size == end && found.changed_us != seen.changed_us;
        number(seen) != number(found) || is_made || was_changed
    }

    fn add_ends(&mut self, LogEnds { head, tail, .. }: &LogEnds) {
        if let Some(head) = head {
            self.head.clone_from(head);
        }
        self.tail.extend(tail);
        self.tail.drain(..self.tail.len().saturating_sub(TAIL_BYTES as usize));
    }
}

/// The first and last of the bytes observed next, as much as is remembered.
pub(super) struct LogEnds {
    pub length: u64,
    // Of a log's first bytes only.
    head: Option<Vec<u8>>,
    tail: Vec<u8>,
}

impl LogEnds {
    pub fn of(bytes: &[u8], are_first: bool) -> LogEnds {
        let head = are_first.then(|| bytes[..bytes.len().min(HEAD_BYTES)].to_vec());
        let tail = bytes[bytes.len().saturating_sub(TAIL_BYTES as usize)..].to_vec();
        LogEnds { length: bytes.len() as u64, head, tail }
    }
}

impl SessionFiles {
    pub(super) fn log_file(&self, log: LogName) -> File {
        self.folder().child(match log {
            LogName::Events => layout::EVENTS,
            LogName::Messages => layout::MESSAGES,
            LogName::Tools => layout::TOOLS,
        })
    }

    /// How far the log is observed.
    pub(super) fn end(&self, log: LogName) -> u64 {
        self.with_session(|session| log_of(session, log).observed_end())
    }

    pub(super) fn shrunk_error(&self, log: LogName, expected: u64, found: u64) -> Trouble {
        let path = self.shown_log_path(log);
        Trouble::new(
            Code::LogShrunk,
            format!("expected {path} to have at least {expected} bytes, but found {found} instead"),
        )
    }

    fn shown_log_path(&self, log: LogName) -> alloc::string::String {
        format!("\"{}/{}\"", self.shown_folder(), self.log_file(log).name())
    }

    pub(super) fn replaced_error(&self, log: LogName) -> Trouble {
        let path = self.shown_log_path(log);
        let message = format!("expected in {path} what was read before, but found something else instead");
        Trouble::new(Code::LogReplaced, message)
    }

    /// Reads the file's size.
    pub(super) async fn size(&self, io: &Io, log: LogName) -> Result<u64, Trouble> {
        self.size_of(log, io.stat(&self.log_file(log)).await?)
    }

    /// The file's size when it was last looked at.
    pub(super) fn seen_size(&self, log: LogName) -> u64 {
        self.logs[log as usize].borrow().last_stat.map_or(0, |seen| seen.size)
    }

    fn size_of(&self, log: LogName, found: Option<Stat>) -> Result<u64, Trouble> {
        match found {
            Some(stat) if stat.kind != FileKind::File => {
                let path = self.shown_log_path(log);
                let message = format!("expected a file at {path}, but found something else instead");
                Err(Trouble::new(Code::NotAFile, message))
            }
            found => Ok(found.map_or(0, |stat| stat.size)),
        }
    }

    /// Reads the file's size; an error where it is less than was observed, as after a move.
    pub(super) async fn grown_size(&self, io: &Io, log: LogName) -> Result<u64, Trouble> {
        let found = io.stat(&self.log_file(log)).await?;
        self.check_grown(log, found)
    }

    fn check_grown(&self, log: LogName, found: Option<Stat>) -> Result<u64, Trouble> {
        let (size, end) = (self.size_of(log, found)?, self.end(log));
        if size < end { Err(self.shrunk_error(log, end, size)) } else { Ok(size) }
    }

    /// Observes what the file gained since the last look, by us or by others; returns the problems. When bytes are
    /// gone from which state was derived, as after a checkout by git, it fails with `log_replaced`.
    pub(super) async fn observe(&self, io: &Io, log: LogName) -> Result<Vec<Problem>, Trouble> {
        let found = io.stat(&self.log_file(log)).await?;
        self.observe_stat(io, log, found).await
    }

    pub(super) async fn observe_stat(
        &self,
        io: &Io,
        log: LogName,
        found: Option<Stat>,
    ) -> Result<Vec<Problem>, Trouble> {
        let end = self.end(log);
        let size = self.check_grown(log, found)?;
        let known = &self.logs[log as usize];
        if end > 0 && found.is_some_and(|found| known.borrow().is_replaced_by(&found, end)) {
            return Err(self.replaced_error(log));
        }
        // Boxed, since it is rare: an operation is as large as the largest work that it may do.
        let problems = if size > end {
            Box::pin(self.observe_up_to(io, log, size)).await?
        } else {
            if end > 0 && known.borrow().tail.is_empty() {
                let tail =
                    Box::pin(io.read_range(&self.log_file(log), end.saturating_sub(TAIL_BYTES), end)).await?;
                known.borrow_mut().tail = tail;
            }
            // An observation of nothing counts, too: a batch may have been given up in doubt.
            self.with_session(|session| log_of(session, log).observe(&[], end))?;
            Vec::new()
        };
        known.borrow_mut().last_stat = found;
        Ok(problems)
    }

    async fn observe_up_to(&self, io: &Io, log: LogName, size: u64) -> Result<Vec<Problem>, Trouble> {
        let file = self.log_file(log);
        let begun = self.end(log);
        let mut tail = if begun > 0 { self.logs[log as usize].borrow().tail.clone() } else { Vec::new() };
        let mut problems = Vec::new();
        while self.end(log) < size {
            let at = self.end(log);
            let start = at - tail.len() as u64;
            let end = size.min(start + READ_BYTES);
            let mut bytes = io.read(&file, start, Some(end)).await?.unwrap_or_default();
            if bytes.len() <= tail.len() && !bytes.is_empty() {
                bytes = io.read_range(&file, start, end).await?;
            }
            // Bytes that cannot be read must not look as if they had never been written.
            if bytes.len() <= tail.len() {
                return Err(self.shrunk_error(log, size, start + bytes.len() as u64));
            }
            if !bytes.starts_with(&tail) {
                return Err(self.replaced_error(log));
            }
            let bytes = &bytes[mem::take(&mut tail).len()..];
            self.logs[log as usize].borrow_mut().add_ends(&LogEnds::of(bytes, at == 0));
            problems.extend(self.with_session(|session| {
                let found = log_of(session, log).observe(bytes, at)?;
                Ok::<_, Error>(take_found(session, log, found))
            })?);
        }
        Ok(problems)
    }

    /// Observes the beginning of a log of which nothing was observed.
    pub(super) async fn observe_part(&self, io: &Io, log: LogName, end: u64) -> Result<(), Trouble> {
        self.observe_up_to(io, log, end).await?;
        self.observe_tail(log);
        Ok(())
    }

    /// Observes a log to its end: a last line without a line feed counts if it is complete.
    pub(super) async fn observe_whole(&self, io: &Io, log: LogName) -> Result<Vec<Problem>, Trouble> {
        let mut problems = self.observe(io, log).await?;
        problems.extend(self.observe_tail(log));
        Ok(problems)
    }

    fn observe_tail(&self, log: LogName) -> Vec<Problem> {
        self.with_session(|session| {
            let found = log_of(session, log).observe_tail();
            take_found(session, log, found)
        })
    }

    /// Whether the file is the one that was observed, and not another in its place.
    pub(super) async fn is_same_file(&self, io: &Io, log: LogName) -> Result<bool, Trouble> {
        if self.size(io, log).await? < self.end(log) {
            return Ok(false);
        }
        let head = self.logs[log as usize].borrow().head.clone();
        let found = io.read_range(&self.log_file(log), 0, head.len() as u64).await?;
        Ok(head.starts_with(&found))
    }

    /// Appends the staged batch. If that fails before the first byte, the batch is aborted; else the same records are
    /// appended again, and readers keep one of two equal ones. `begins`: create the session's folder where it is
    /// missing.
    pub(super) async fn append(
        &self,
        io: &Io,
        log: LogName,
        bytes: Vec<u8>,
        (durable, begins): (bool, bool),
    ) -> Result<(), Trouble> {
        let open = OpenBatchGuard(self, log);
        let chance = io.fresh_chance(&self.chance)?;
        let start = self.end(log);
        let ends = LogEnds::of(&bytes, start == 0);
        let folder = self.folder();
        let within = (!begins).then_some(&folder);
        let appended = io.append(&self.log_file(log), bytes, durable, within).await;
        // If no byte was stored, the same random bytes may be used again.
        if !appended.as_ref().is_err_and(|trouble| trouble.written_bytes() == Some(0)) {
            self.chance.replace(chance);
        }
        let tried = match appended {
            Ok(AppendedFile { end, stat: seen }) if end == start + ends.length => {
                match self.commit_own_append(io, log, (&ends, seen), durable).await {
                    Ok(()) => {
                        open.disarm();
                        return Ok(());
                    }
                    Err(trouble) => Err(trouble),
                }
            }
            Ok(_) => Ok(()),
            Err(trouble) => Err(trouble),
        };
        Box::pin(self.retry_append(io, log, tried, (durable, within))).await?;
        open.disarm();
        Ok(())
    }

    async fn commit_own_append(
        &self,
        io: &Io,
        log: LogName,
        (ends, seen): (&LogEnds, Option<Stat>),
        durable: bool,
    ) -> Result<(), Trouble> {
        self.mark_confirmed(log, durable);
        let start = self.end(log);
        self.note_own_append(io, log, (ends, seen), start).await?;
        Ok(self.with_session(|session| commit_log(session, log, start))?)
    }

    // For when others appended as well, or the append failed.
    async fn retry_append(
        &self,
        io: &Io,
        log: LogName,
        mut tried: Result<(), Trouble>,
        (durable, within): (bool, Option<&File>),
    ) -> Result<(), Trouble> {
        for (attempt, wait) in append_attempts() {
            let failure = match tried {
                Ok(()) => match self.commit_shared_append(io, log, durable).await {
                    Ok(()) => return Ok(()),
                    Err(trouble) => trouble,
                },
                Err(trouble) => trouble,
            };
            if failure.is_bug() {
                return Err(failure);
            }
            if self.has_moved(io, log, &failure).await {
                // The session may be back in a moment: then the next batch must find none under way.
                self.with_session(|session| log_of(session, log).abort())?;
                let is_replaced = failure.code() == Code::LogReplaced.as_str();
                return Err(if is_replaced { failure } else { self.moved_error() });
            }
            let never_was = attempt == 0 && failure.written_bytes() == Some(0);
            let again = if never_was {
                Vec::new()
            } else {
                self.with_session(|session| log_of(session, log).mark_in_doubt())?
            };
            let Some(wait) = wait.filter(|_| !never_was) else {
                self.with_session(|session| log_of(session, log).abort())?;
                return Err(failure);
            };
            io.wait(wait).await?;
            let file = self.log_file(log);
            tried = io.append(&file, again, durable, within).await.map(drop);
        }
        Ok(())
    }

    async fn commit_shared_append(&self, io: &Io, log: LogName, durable: bool) -> Result<(), Trouble> {
        self.mark_confirmed(log, durable);
        self.observe(io, log).await?;
        Ok(self.with_session(|session| commit_log(session, log, 0))?)
    }

    /// Takes an append as observed where we alone appended. `seen`: the file's stat after it, where known.
    pub(super) async fn note_own_append(
        &self,
        io: &Io,
        log: LogName,
        (ends, seen): (&LogEnds, Option<Stat>),
        start: u64,
    ) -> Result<(), Trouble> {
        let end = start + ends.length;
        let found = match seen {
            Some(seen) => Some(seen),
            None => io.stat(&self.log_file(log)).await?,
        };
        // Only now, together with the log's own state: an operation that is dropped or fails before has observed
        // nothing.
        let mut known = self.logs[log as usize].borrow_mut();
        known.add_ends(ends);
        known.last_stat = found.filter(|found| found.size == end);
        Ok(())
    }

    // Whether the session lies elsewhere by now; where nobody can say, the failure itself is reported.
    async fn has_moved(&self, io: &Io, log: LogName, failure: &Trouble) -> bool {
        if is_file_mismatch(failure) {
            return true;
        }
        let is_cut = failure.written_bytes().is_some_and(|written| written > 0);
        if failure.code() != "storage_failed" || !is_cut {
            return false;
        }
        match io.stat(&self.folder()).await {
            Ok(None) => true,
            Ok(Some(_)) => matches!(self.is_same_file(io, log).await, Ok(false)),
            Err(_) => false,
        }
    }

    /// Makes the disk confirm what was in the file before this process came: its writer may have died before the disk
    /// had it. `again`: also what this process appended since.
    pub(super) async fn confirm(&self, io: &Io, log: LogName, again: bool) -> Result<(), Trouble> {
        if (self.is_confirmed(log) && !again) || self.size(io, log).await? == 0 {
            return Ok(());
        }
        self.retry_storage(io, &|| {
            Box::pin(async {
                io.append(&self.log_file(log), Vec::new(), true, Some(&self.folder())).await?;
                Ok(())
            })
        })
        .await?;
        let found = io.stat(&self.log_file(log)).await?;
        let mut known = self.logs[log as usize].borrow_mut();
        known.is_confirmed = true;
        if known.last_stat.is_some_and(|seen| found.is_some_and(|found| found.size == seen.size)) {
            known.last_stat = found;
        }
        Ok(())
    }

    /// Retries work that may be repeated: its file may have been moved away just then, and be back. An unconfirmed
    /// write is not retried.
    pub(super) async fn retry_storage<'a>(
        &self,
        io: &Io,
        work: &dyn Fn() -> Work<'a, ()>,
    ) -> Result<(), Trouble> {
        let mut waits = RETRY_WAITS_MS.into_iter();
        loop {
            let trouble = match work().await {
                Ok(()) => return Ok(()),
                Err(Trouble::Failed(failure)) if failure.code == "not_found" => {
                    return Err(self.moved_error());
                }
                Err(trouble) => trouble,
            };
            let may_pass = matches!(&trouble, Trouble::Failed(failure) if failure.code == "storage_failed" && !failure.is_unconfirmed);
            match waits.next().filter(|_| may_pass) {
                Some(ms) => io.wait(ms).await?,
                None => return Err(trouble),
            }
        }
    }

    pub(super) fn is_confirmed(&self, log: LogName) -> bool {
        self.logs[log as usize].borrow().is_confirmed
    }

    pub(super) fn mark_confirmed(&self, log: LogName, durable: bool) {
        self.logs[log as usize].borrow_mut().is_confirmed |= durable;
    }
}

/// The attempts of an append, each with the pause before the next one.
fn append_attempts() -> impl Iterator<Item = (usize, Option<u32>)> {
    RETRY_WAITS_MS.into_iter().map(Some).chain([None]).enumerate()
}

/// Whether the trouble means that other files were found than were read, or none.
pub(super) fn is_file_mismatch(trouble: &Trouble) -> bool {
    matches!(trouble.code(), "not_found" | "log_shrunk" | "log_replaced")
}

/// Guards a batch that is being appended. When the operation is dropped, the batch stays in doubt; the log then has
/// to be observed first.
struct OpenBatchGuard<'a>(&'a SessionFiles, LogName);

impl OpenBatchGuard<'_> {
    fn disarm(self) {
        mem::forget(self);
    }
}

impl Drop for OpenBatchGuard<'_> {
    fn drop(&mut self) {
        // After an abort, there is none.
        self.0.with_session(|session| {
            let log = log_of(session, self.1);
            if log.mark_in_doubt().is_ok() {
                log.abort().ok();
            }
        });
    }
}

pub(super) fn log_of(session: &mut Session, log: LogName) -> &mut Log {
    match log {
        LogName::Events => session.events(),
        LogName::Messages => session.messages(),
        LogName::Tools => session.tools(),
    }
}

fn take_found(session: &mut Session, log: LogName, found: Vec<ScanItem>) -> Vec<Problem> {
    match log {
        LogName::Events => session.take_events(found),
        LogName::Messages => session.take_messages(found),
        LogName::Tools => session.take_tools(found),
    }
}

fn commit_log(session: &mut Session, log: LogName, offset: u64) -> Result<(), Error> {
    match log {
        LogName::Messages => session.commit_messages(offset).map(drop),
        LogName::Events | LogName::Tools => {
            let found = log_of(session, log).commit(offset)?;
            take_found(session, log, found);
            Ok(())
        }
    }
}
