//! Leases: which processes have a session open for appending. A lease locks nothing: several processes may hold one.
//! Each has a file of its own, so that nobody has to take one away from another; its loss costs a warning, never
//! data. The session's next opening clears away the leases of processes that are gone, and warns of them; whoever
//! merely asks who has the session open clears nothing away.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::session_files::SessionFiles;
use super::{FileKind, Io, Operation, Trouble, unless_bug, unless_other};
use crate::error::Code;
use crate::json::text::to_json;
use crate::layout::File;
use crate::layout::names::CachedKind;
use crate::session::lease::{self, Lease};
use crate::time;

const MINUTE_MS: i64 = 60_000;

/// This process's lease on a session.
#[derive(Default)]
pub(super) struct OwnLease {
    /// Its file's name; empty until someone asks for it.
    name: String,
    is_held: bool,
    /// The session was opened here before, and the state of that was lost: the file may still be there.
    may_be_held: bool,
}

impl OwnLease {
    /// The lease of a session that was opened before, or not.
    pub fn of(was_opened: bool) -> OwnLease {
        OwnLease { may_be_held: was_opened, ..OwnLease::default() }
    }
}

/// A lease file.
pub(super) struct LeaseFile {
    pub file: File,
    /// Its lease; `None` where the file is torn.
    pub lease: Option<Lease>,
    /// It is unreadable, or its process is gone.
    pub is_abandoned: bool,
}

/// A warning for whoever opens a session.
#[derive(Serialize)]
pub(super) struct Notice {
    pub code: &'static str,
    pub message: String,
}

/// The result of pausing an idle session, and the warnings.
pub(super) struct PauseReport {
    pub notices: Vec<Notice>,
    pub has_paused: bool,
}

impl SessionFiles {
    /// Lists who else has the session open. Returns a JSON array of [`Lease`].
    pub fn list_holders(self: &Rc<SessionFiles>) -> Operation<'static, String> {
        let files = self.clone();
        Operation::new(|io| async move {
            files.reject_if_deleted()?;
            Ok(to_json(&files.holders(&io).await?))
        })
    }

    /// Pauses an active session that nobody else has open and in which nothing happened for so long; done when it is
    /// opened or listed. `clears`: warn of the leases of processes that are gone, once, since they are removed.
    pub(super) async fn pause_if_idle(
        &self,
        io: &Io,
        idle_ms: i64,
        clears: bool,
    ) -> Result<PauseReport, Trouble> {
        let found = self.other_leases(io).await?;
        let mut notices = Vec::new();
        if clears {
            notices = self.clear_abandoned(io, &found).await?;
        }
        let is_open = found.iter().any(|one| !one.is_abandoned);
        let rests = async {
            let is_idle = !is_open && self.idle_since(io.now_ms(), idle_ms).is_some();
            if is_idle { Box::pin(self.pause_idle(io, idle_ms)).await } else { Ok(None) }
        };
        // An opening can do without the pause; a resume is told of the failure.
        let last = if clears { unless_bug(rests.await)?.flatten() } else { rests.await? };
        let has_paused = last.is_some();
        notices.extend(last.map(|last| auto_paused_notice(&last, idle_ms)));
        Ok(PauseReport { notices, has_paused })
    }

    /// Removes this process's lease.
    pub fn release(self: &Rc<SessionFiles>) -> Operation<'static, ()> {
        let files = self.clone();
        Operation::new(|io| async move { files.release_lease(&io).await })
    }

    /// Whether this process's lease is there, where others look.
    pub(super) async fn is_held(&self, io: &Io) -> Result<bool, Trouble> {
        Ok(self.lease.borrow().is_held && unless_other(io.stat(&self.own_lease_file()).await)?.is_some())
    }

    /// Takes a lease, since this process appends. A store where that fails can still be written: no reason to fail.
    pub(super) async fn acquire_lease(&self, io: &Io) -> Result<(), Trouble> {
        if self.lease.borrow().is_held {
            return Ok(());
        }
        Box::pin(async {
            let me = io.process().await?;
            self.lease.replace(OwnLease { name: me.name, is_held: true, may_be_held: false });
            if me.is_alone {
                return Ok(());
            }
            let since = Some(time::format(io.now_ms()));
            let lease = to_json(&Lease { since, ..me.lease }).into_bytes();
            unless_bug(io.replace(&self.own_lease_file(), lease, None).await).map(drop)
        })
        .await
    }

    pub(super) async fn release_lease(&self, io: &Io) -> Result<(), Trouble> {
        if !self.lease.borrow().is_held && !self.lease.borrow().may_be_held {
            return Ok(());
        }
        let known = self.lease.take().name;
        let name = if known.is_empty() { io.process().await?.name } else { known };
        self.lease.replace(OwnLease { name, ..OwnLease::default() });
        unless_bug(io.remove(&self.own_lease_file()).await).map(drop)
    }

    /// The other processes that have it open.
    pub(super) async fn holders(&self, io: &Io) -> Result<Vec<Lease>, Trouble> {
        let found = self.other_leases(io).await?;
        Ok(found.into_iter().filter(|one| !one.is_abandoned).filter_map(|one| one.lease).collect())
    }

    /// Rejects a session that another process has open: what that appends meanwhile would go where nobody looks.
    pub(super) async fn reject_if_open(&self, io: &Io) -> Result<(), Trouble> {
        let holders = self.holders(io).await?;
        let Some(Lease { program, pid, host, since, .. }) = holders.first() else { return Ok(()) };
        let (program, since) = (text_or_unknown(program), text_or_unknown(since));
        let message = format!("{program} has the session open: process {pid} on {host}, since {since}");
        Err(Trouble::new(Code::OpenElsewhere, message))
    }

    /// The leases of all other processes.
    pub(super) async fn other_leases(&self, io: &Io) -> Result<Vec<LeaseFile>, Trouble> {
        let folder = self.cached_file(CachedKind::Leases);
        let files = list_lease_files(io, &folder).await?;
        if !files.is_empty() && self.lease.borrow().name.is_empty() {
            let name = io.process().await?.name;
            self.lease.borrow_mut().name = name;
        }
        let mine = self.own_lease_file();
        read_leases(io, files.into_iter().filter(|file| *file != mine).collect()).await
    }

    fn own_lease_file(&self) -> File {
        self.cached_file(CachedKind::Leases).child(&format!("{}.json", self.lease.borrow().name))
    }

    // Reports leases of processes that are gone, once, since they are removed.
    async fn clear_abandoned(&self, io: &Io, found: &[LeaseFile]) -> Result<Vec<Notice>, Trouble> {
        let left: Vec<&LeaseFile> = found.iter().filter(|one| one.is_abandoned).collect();
        remove_leases(io, &left).await?;
        Ok(left.into_iter().filter_map(|one| one.lease.as_ref()).map(left_open_notice).collect())
    }
}

/// Lists the lease files in a folder.
pub(super) async fn list_lease_files(io: &Io, folder: &File) -> Result<Vec<File>, Trouble> {
    let entries = unless_other(io.list(folder).await)?.unwrap_or_default();
    let files = entries.into_iter().filter(|entry| entry.kind == FileKind::File);
    Ok(files.map(|entry| folder.child(&entry.name)).collect())
}

/// Reads lease files, and finds which processes are gone.
pub(super) async fn read_leases(io: &Io, files: Vec<File>) -> Result<Vec<LeaseFile>, Trouble> {
    let reads: Vec<_> = files.iter().map(|file| io.read_all(file)).collect();
    let mut leases = Vec::new();
    for read in reads {
        leases.push(read.await?.and_then(|json| lease::parse_lease(&String::from_utf8_lossy(&json))));
    }
    let holders: Vec<Lease> = leases.iter().flatten().cloned().collect();
    let gone = if holders.is_empty() { Vec::new() } else { io.are_gone(holders).await? };
    let mut gone = gone.into_iter();
    let found = files.into_iter().zip(leases);
    Ok(found
        .map(|(file, lease)| {
            let is_left = if lease.is_some() { gone.next().unwrap_or_default() } else { true };
            LeaseFile { file, lease, is_abandoned: is_left }
        })
        .collect())
}

/// Removes lease files; where that fails, it is no reason to fail.
pub(super) async fn remove_leases(io: &Io, found: &[&LeaseFile]) -> Result<(), Trouble> {
    let removals: Vec<_> = found.iter().map(|one| io.remove(&one.file)).collect();
    for removed in removals {
        unless_bug(removed.await)?;
    }
    Ok(())
}

fn left_open_notice(lease: &Lease) -> Notice {
    let Lease { program, pid, since, .. } = lease;
    let (program, since) = (text_or_unknown(program), text_or_unknown(since));
    Notice {
        code: "left_open",
        message: format!(
            "{program}, process {pid}, had this session open since {since} and ended without closing it; what was acknowledged is here"
        ),
    }
}

fn auto_paused_notice(last: &str, idle_ms: i64) -> Notice {
    let minutes = idle_ms.saturating_add(MINUTE_MS / 2).div_euclid(MINUTE_MS);
    let s = if minutes == 1 { "" } else { "s" };
    Notice {
        code: "auto_paused",
        message: format!("paused after {minutes} minute{s} without activity; last active {last}"),
    }
}

// For a lease written by another version, or by hand.
fn text_or_unknown(text: &Option<String>) -> &str {
    text.as_deref().unwrap_or("unknown")
}
