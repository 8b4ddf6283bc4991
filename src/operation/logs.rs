//! The three logs of a session: each a file, and what is known of it.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::mem;

use super::io::Appended;
use super::live::{Live, PIECE};
use super::{Io, Kind, Stat, Trouble, Work};
use crate::error::{Code, Error};
use crate::layout::{self, File};
use crate::record::scan::{Found, Problem};
use crate::session::handle::Session;
use crate::session::log::Log;

/// What is waited before a batch is appended again of which nobody can say how much was written.
const WAITS_MS: [u32; 3] = [5, 20, 80];
/// Enough of a log to tell it from another: the id of its first line.
const HEAD: usize = 128;
/// Enough of its end to tell what was observed from what came into its place.
const TAIL: u64 = 256;

/// One of a session's logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogName {
    Events,
    Messages,
    Tools,
}

/// What is known of a log's file.
#[derive(Debug, Default)]
pub(super) struct LogFile {
    is_confirmed: bool,
    // How it begins, where that was seen.
    head: Vec<u8>,
    // How that ends which was observed.
    tail: Vec<u8>,
    // What it was like when it was observed to its end.
    seen: Option<Stat>,
}

impl LogFile {
    pub fn forget(&mut self) {
        *self = LogFile { is_confirmed: self.is_confirmed, ..LogFile::default() };
    }

    // Whether another file stands there than was observed, or it was changed otherwise than at its end.
    fn is_other(&self, found: &Stat, end: u64) -> bool {
        let Some(seen) = &self.seen else { return false };
        // Where the system does not know when a file was made, it tells its last change.
        let is_told = |stat: &Stat| stat.file.is_some_and(|file| file.made_us != stat.changed_us);
        let made = |stat: &Stat| stat.file.map(|file| file.made_us);
        let number = |stat: &Stat| stat.file.map(|file| file.number);
        let is_made = (is_told(seen) || is_told(found)) && made(seen) != made(found);
        let was_changed = found.size == end && found.changed_us != seen.changed_us;
        number(seen) != number(found) || is_made || was_changed
    }

    fn take(&mut self, Ends { head, tail, .. }: &Ends) {
        if let Some(head) = head {
            self.head.clone_from(head);
        }
        self.tail.extend(tail);
        self.tail.drain(..self.tail.len().saturating_sub(TAIL as usize));
    }
}

/// Of bytes that are the next ones of a log, as much as is remembered.
pub(super) struct Ends {
    pub length: u64,
    // Of the first ones only.
    head: Option<Vec<u8>>,
    tail: Vec<u8>,
}

impl Ends {
    pub fn of(bytes: &[u8], are_first: bool) -> Ends {
        let head = are_first.then(|| bytes[..bytes.len().min(HEAD)].to_vec());
        let tail = bytes[bytes.len().saturating_sub(TAIL as usize)..].to_vec();
        Ends { length: bytes.len() as u64, head, tail }
    }
}

impl Live {
    pub(super) fn log_file(&self, log: LogName) -> File {
        self.folder().below(match log {
            LogName::Events => layout::EVENTS,
            LogName::Messages => layout::MESSAGES,
            LogName::Tools => layout::TOOLS,
        })
    }

    /// How far it is observed.
    pub(super) fn end(&self, log: LogName) -> u64 {
        self.with(|session| log_of(session, log).observed())
    }

    pub(super) fn shrunk(&self, log: LogName, expected: u64, found: u64) -> Trouble {
        let path = self.log_shown(log);
        Trouble::refused(
            Code::LogShrunk,
            format!("expected {path} to have at least {expected} bytes, but found {found} instead"),
        )
    }

    fn log_shown(&self, log: LogName) -> alloc::string::String {
        format!("\"{}/{}\"", self.shown(), self.log_file(log).name())
    }

    pub(super) fn replaced(&self, log: LogName) -> Trouble {
        let path = self.log_shown(log);
        let message = format!("expected in {path} what was read before, but found something else instead");
        Trouble::refused(Code::LogReplaced, message)
    }

    /// How many bytes the file has.
    pub(super) async fn size(&self, io: &Io, log: LogName) -> Result<u64, Trouble> {
        self.size_of(log, io.stat(&self.log_file(log)).await?)
    }

    /// How many bytes it had when it was looked at last.
    pub(super) fn seen_size(&self, log: LogName) -> u64 {
        self.logs[log as usize].borrow().seen.map_or(0, |seen| seen.size)
    }

    fn size_of(&self, log: LogName, found: Option<Stat>) -> Result<u64, Trouble> {
        match found {
            Some(stat) if stat.kind != Kind::File => {
                let path = self.log_shown(log);
                let message = format!("expected a file at {path}, but found something else instead");
                Err(Trouble::refused(Code::NotAFile, message))
            }
            found => Ok(found.map_or(0, |stat| stat.size)),
        }
    }

    /// The same: not fewer than were observed, as where it was moved away.
    pub(super) async fn grown_size(&self, io: &Io, log: LogName) -> Result<u64, Trouble> {
        let found = io.stat(&self.log_file(log)).await?;
        self.grown(log, found)
    }

    fn grown(&self, log: LogName, found: Option<Stat>) -> Result<u64, Trouble> {
        let (size, end) = (self.size_of(log, found)?, self.end(log));
        if size < end { Err(self.shrunk(log, end, size)) } else { Ok(size) }
    }

    /// Takes what the file gained since the last look, by us or by others; gives the problems. What is derived from bytes
    /// that are there no longer, as after a checkout by git, is refused as `log_replaced`.
    pub(super) async fn observe(&self, io: &Io, log: LogName) -> Result<Vec<Problem>, Trouble> {
        let found = io.stat(&self.log_file(log)).await?;
        self.observe_found(io, log, found).await
    }

    pub(super) async fn observe_found(
        &self,
        io: &Io,
        log: LogName,
        found: Option<Stat>,
    ) -> Result<Vec<Problem>, Trouble> {
        let end = self.end(log);
        let size = self.grown(log, found)?;
        let known = &self.logs[log as usize];
        if end > 0 && found.is_some_and(|found| known.borrow().is_other(&found, end)) {
            return Err(self.replaced(log));
        }
        // What is seldom lies apart: an operation is as large as what it may come to.
        let problems = if size > end {
            Box::pin(self.observe_up_to(io, log, size)).await?
        } else {
            if end > 0 && known.borrow().tail.is_empty() {
                let tail =
                    Box::pin(io.read_range(&self.log_file(log), end.saturating_sub(TAIL), end)).await?;
                known.borrow_mut().tail = tail;
            }
            // Also that nothing came has to count: a batch may have been given up in doubt.
            self.with(|session| log_of(session, log).observe(&[], end))?;
            Vec::new()
        };
        known.borrow_mut().seen = found;
        Ok(problems)
    }

    async fn observe_up_to(&self, io: &Io, log: LogName, size: u64) -> Result<Vec<Problem>, Trouble> {
        let file = self.log_file(log);
        let begun = self.end(log);
        let mut tail = if begun > 0 { self.logs[log as usize].borrow().tail.clone() } else { Vec::new() };
        let mut problems = Vec::new();
        loop {
            let at = self.end(log);
            if at >= size {
                return Ok(problems);
            }
            let start = at - tail.len() as u64;
            let mut bytes = io.read(&file, start, Some(size.min(start + PIECE))).await?.unwrap_or_default();
            if bytes.len() <= tail.len() && !bytes.is_empty() {
                bytes = io.read_range(&file, start, size.min(start + PIECE)).await?;
            }
            // What is not read must not look as if it had never been said.
            if bytes.len() <= tail.len() {
                return Err(self.shrunk(log, size, start + bytes.len() as u64));
            }
            if !bytes.starts_with(&tail) {
                return Err(self.replaced(log));
            }
            let bytes = &bytes[mem::take(&mut tail).len()..];
            self.logs[log as usize].borrow_mut().take(&Ends::of(bytes, at == 0));
            problems.extend(self.with(|session| {
                let found = log_of(session, log).observe(bytes, at)?;
                Ok::<_, Error>(taken(session, log, found))
            })?);
        }
    }

    /// Takes the beginning of a log of which nothing was observed.
    pub(super) async fn observe_part(&self, io: &Io, log: LogName, end: u64) -> Result<(), Trouble> {
        self.observe_up_to(io, log, end).await?;
        self.observe_tail(log);
        Ok(())
    }

    /// It is read to its end: a last line without a line feed counts if it is whole.
    pub(super) async fn observe_whole(&self, io: &Io, log: LogName) -> Result<Vec<Problem>, Trouble> {
        let mut problems = self.observe(io, log).await?;
        problems.extend(self.observe_tail(log));
        Ok(problems)
    }

    fn observe_tail(&self, log: LogName) -> Vec<Problem> {
        self.with(|session| {
            let found = log_of(session, log).observe_tail();
            taken(session, log, found)
        })
    }

    /// Whether it is the file that was observed, and no other one that lies in its place now.
    pub(super) async fn is_still(&self, io: &Io, log: LogName) -> Result<bool, Trouble> {
        if self.size(io, log).await? < self.end(log) {
            return Ok(false);
        }
        let head = self.logs[log as usize].borrow().head.clone();
        let found = io.read_range(&self.log_file(log), 0, head.len() as u64).await?;
        Ok(head.starts_with(&found))
    }

    /// Appends the batch that was staged. Where it fails before the first byte, the batch never was; else the same
    /// records are appended again, and readers keep one of two equal ones. `begins`: its folder is made where it is missing.
    pub(super) async fn append(
        &self,
        io: &Io,
        log: LogName,
        bytes: Vec<u8>,
        (durable, begins): (bool, bool),
    ) -> Result<(), Trouble> {
        let open = OpenBatch(self, log);
        let chance = io.fresh_chance(&self.chance)?;
        let start = self.end(log);
        let ends = Ends::of(&bytes, start == 0);
        let folder = self.folder();
        let within = (!begins).then_some(&folder);
        let appended = io.append(&self.log_file(log), bytes, durable, within).await;
        // Who failed before a byte was stored may try again with the same.
        if !appended.as_ref().is_err_and(|trouble| trouble.written() == Some(0)) {
            self.chance.replace(chance);
        }
        let tried = match appended {
            Ok(Appended { end, seen }) if end == start + ends.length => {
                match self.appended_alone(io, log, (&ends, seen), durable).await {
                    Ok(()) => {
                        open.told();
                        return Ok(());
                    }
                    Err(trouble) => Err(trouble),
                }
            }
            Ok(_) => Ok(()),
            Err(trouble) => Err(trouble),
        };
        Box::pin(self.append_again(io, log, tried, (durable, within))).await?;
        open.told();
        Ok(())
    }

    async fn appended_alone(
        &self,
        io: &Io,
        log: LogName,
        (ends, seen): (&Ends, Option<Stat>),
        durable: bool,
    ) -> Result<(), Trouble> {
        self.confirmed(log, durable);
        let start = self.end(log);
        self.note(io, log, (ends, seen), start).await?;
        Ok(self.with(|session| commit(session, log, start))?)
    }

    // Others appended as well, or it failed.
    async fn append_again(
        &self,
        io: &Io,
        log: LogName,
        mut tried: Result<(), Trouble>,
        (durable, within): (bool, Option<&File>),
    ) -> Result<(), Trouble> {
        for (attempt, wait) in waits() {
            let failure = match tried {
                Ok(()) => match self.appended_among_others(io, log, durable).await {
                    Ok(()) => return Ok(()),
                    Err(trouble) => trouble,
                },
                Err(trouble) => trouble,
            };
            if failure.is_bug() {
                return Err(failure);
            }
            if self.is_elsewhere(io, log, &failure).await {
                // It may be back in a moment: then the next batch must find none under way.
                self.with(|session| log_of(session, log).abort())?;
                let is_replaced = failure.code() == Code::LogReplaced.as_str();
                return Err(if is_replaced { failure } else { self.elsewhere() });
            }
            let never_was = attempt == 0 && failure.written() == Some(0);
            let again =
                if never_was { Vec::new() } else { self.with(|session| log_of(session, log).unknown())? };
            let Some(wait) = wait.filter(|_| !never_was) else {
                self.with(|session| log_of(session, log).abort())?;
                return Err(failure);
            };
            io.wait(wait).await?;
            let file = self.log_file(log);
            tried = io.append(&file, again, durable, within).await.map(drop);
        }
        Ok(())
    }

    async fn appended_among_others(&self, io: &Io, log: LogName, durable: bool) -> Result<(), Trouble> {
        self.confirmed(log, durable);
        self.observe(io, log).await?;
        Ok(self.with(|session| commit(session, log, 0))?)
    }

    /// What was appended by us alone is as good as observed. `seen`: what the file was like then, where that is known.
    pub(super) async fn note(
        &self,
        io: &Io,
        log: LogName,
        (ends, seen): (&Ends, Option<Stat>),
        start: u64,
    ) -> Result<(), Trouble> {
        let end = start + ends.length;
        let found = match seen {
            Some(seen) => Some(seen),
            None => io.stat(&self.log_file(log)).await?,
        };
        // Only now, with what is known of the log itself: who is dropped or fails before has observed nothing.
        let mut known = self.logs[log as usize].borrow_mut();
        known.take(ends);
        known.seen = found.filter(|found| found.size == end);
        Ok(())
    }

    // Whether the session lies somewhere else by now; where nobody can say, what failed is told.
    async fn is_elsewhere(&self, io: &Io, log: LogName, failure: &Trouble) -> bool {
        if is_amiss(failure) {
            return true;
        }
        let is_cut = failure.written().is_some_and(|written| written > 0);
        if failure.code() != "storage_failed" || !is_cut {
            return false;
        }
        match io.stat(&self.folder()).await {
            Ok(None) => true,
            Ok(Some(_)) => matches!(self.is_still(io, log).await, Ok(false)),
            Err(_) => false,
        }
    }

    /// Makes the disk confirm what was there before this process came: who wrote it may have died before the disk did.
    /// `again`: also what this process appended since.
    pub(super) async fn confirm(&self, io: &Io, log: LogName, again: bool) -> Result<(), Trouble> {
        if (self.is_confirmed(log) && !again) || self.size(io, log).await? == 0 {
            return Ok(());
        }
        self.try_again(io, &|| {
            Box::pin(async {
                io.append(&self.log_file(log), Vec::new(), true, Some(&self.folder())).await?;
                Ok(())
            })
        })
        .await?;
        let found = io.stat(&self.log_file(log)).await?;
        let mut known = self.logs[log as usize].borrow_mut();
        known.is_confirmed = true;
        if known.seen.is_some_and(|seen| found.is_some_and(|found| found.size == seen.size)) {
            known.seen = found;
        }
        Ok(())
    }

    /// Does what may be done again: its file may have been moved away just then, and be back. What the disk did not
    /// confirm is not tried again.
    pub(super) async fn try_again<'a>(
        &self,
        io: &Io,
        work: &dyn Fn() -> Work<'a, ()>,
    ) -> Result<(), Trouble> {
        let mut waits = WAITS_MS.into_iter();
        loop {
            let trouble = match work().await {
                Ok(()) => return Ok(()),
                Err(Trouble::Failed(failure)) if failure.code == "not_found" => return Err(self.elsewhere()),
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

    pub(super) fn confirmed(&self, log: LogName, durable: bool) {
        self.logs[log as usize].borrow_mut().is_confirmed |= durable;
    }
}

/// The tries of an append, and what is waited before the next one.
fn waits() -> impl Iterator<Item = (usize, Option<u32>)> {
    WAITS_MS.into_iter().map(Some).chain([None]).enumerate()
}

/// Said by who finds other files than it has read, or none.
pub(super) fn is_amiss(trouble: &Trouble) -> bool {
    matches!(trouble.code(), "not_found" | "log_shrunk" | "log_replaced")
}

/// A batch that is on its way. Whoever drops the operation leaves it in doubt; the log then wants to be observed.
struct OpenBatch<'a>(&'a Live, LogName);

impl OpenBatch<'_> {
    fn told(self) {
        mem::forget(self);
    }
}

impl Drop for OpenBatch<'_> {
    fn drop(&mut self) {
        // Where it was aborted, there is none.
        self.0.with(|session| {
            let log = log_of(session, self.1);
            if log.unknown().is_ok() {
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

fn taken(session: &mut Session, log: LogName, found: Vec<Found>) -> Vec<Problem> {
    match log {
        LogName::Events => session.take_events(found),
        LogName::Messages => session.take_messages(found),
        LogName::Tools => session.take_tools(found),
    }
}

fn commit(session: &mut Session, log: LogName, offset: u64) -> Result<(), Error> {
    match log {
        LogName::Messages => session.commit_messages(offset).map(drop),
        LogName::Events | LogName::Tools => {
            let found = log_of(session, log).commit(offset)?;
            taken(session, log, found);
            Ok(())
        }
    }
}
