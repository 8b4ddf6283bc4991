//! The verbs of a storage, on a local disk.
//!
//! One append is one `write` on a descriptor opened with O_APPEND: the system then keeps the lines of several processes
//! apart. Nothing is retried but what a signal interrupted, nothing is locked, and nothing is promised to two writers on
//! NFS, SMB or in a synced folder.

mod appending;
mod copying;
mod looking;
mod names;
mod placing;
mod removing;
#[cfg(test)]
mod tests;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use std::os::fd::AsFd;
use std::path::PathBuf;

use rustix::fs::{AtFlags, FileType, Mode};
use rustix::io::Errno;

use super::look::look;
use super::refusal::{Fault, refused};
use super::tree::{Held, Tree};
use crate::operation::{Entry, Failure, Kind, Stat};
use appending::Open;

/// Of who may read and write a file.
const OWN: Mode = Mode::RUSR.union(Mode::WUSR);
const NOT_A_FILE: &str = "it is a folder, a link or a device, not a file";

/// A file or a folder: in which tree, and its path there.
#[derive(Clone, Debug)]
pub(super) struct At {
    pub tree: Tree,
    pub path: String,
}

/// What is known between calls: which files are open, and which names the disk has confirmed.
#[derive(Debug, Default)]
pub(super) struct Disk {
    open: BTreeMap<PathBuf, Open>,
    appends: u64,
    /// Folders that were missing, and whose entry in their parent the disk has not confirmed.
    fresh: BTreeSet<PathBuf>,
    /// Folders whose entry in their parent the disk has confirmed.
    confirmed: BTreeSet<PathBuf>,
}

impl At {
    fn whole(&self) -> PathBuf {
        self.tree.path(&self.path)
    }

    fn held(&self) -> Result<Held, Fault> {
        self.tree.hold(&self.path, None)
    }

    fn look(&self) -> Result<Stat, Fault> {
        let held = self.held()?;
        look(held.folder.as_fd(), &held.name)
    }
}

impl Disk {
    /// From `start` up to `end`, of what the file has when it is opened.
    pub fn read(&self, at: &At, start: u64, end: Option<u64>) -> Result<Option<Vec<u8>>, Failure> {
        let read = looking::read(at, start, end);
        absent(read).map_err(|fault| refused("read", &at.whole(), None, fault))
    }

    /// What stands there.
    pub fn stat(&self, at: &At) -> Result<Option<Stat>, Failure> {
        let found = at.look().and_then(|stat| {
            // No verb follows it, so none may say that it is there.
            let is_link = stat.kind == Kind::Other && !at.tree.is_open() && is_link(&at.held()?)?;
            if is_link { Err(Errno::LOOP.into()) } else { Ok(stat) }
        });
        absent(found).map_err(|fault| refused("stat", &at.whole(), None, fault))
    }

    /// What is in a folder, sorted as JavaScript sorts; of each folder in it, what the files of these names are like.
    pub fn list(&self, at: &At, names: &[&str]) -> Result<Option<Vec<Entry>>, Failure> {
        match looking::entries(at).and_then(|entries| looking::with_files(at, entries, names)) {
            Ok(entries) => Ok(Some(entries)),
            Err(Fault::System(Errno::NOENT)) => Ok(None),
            // Either it is a file, or a parent of it.
            Err(Fault::System(Errno::NOTDIR)) if matches!(absent(at.look()), Ok(None)) => Ok(None),
            Err(fault) => Err(refused("list", &at.whole(), None, fault)),
        }
    }

    /// Adds bytes at the end, all in one piece. Answer: how long the file is then.
    pub fn append(
        &mut self,
        at: &At,
        bytes: &[u8],
        durable: bool,
        within: Option<&str>,
    ) -> Result<u64, Failure> {
        let mut written = 0;
        let end = self.appended(at, bytes, within, &mut written).map_err(|fault| {
            let failure = refused("append to", &at.whole(), None, gone(at, within, fault));
            Failure { written: Some(written), ..failure }
        })?;
        if durable && let Err(fault) = self.confirm(at) {
            // The system reports a failed flush once and then forgets it: this descriptor can prove nothing any more.
            self.open.remove(&at.whole());
            let failure = refused("append to", &at.whole(), None, fault);
            return Err(Failure { written: Some(written), is_unconfirmed: true, ..failure });
        }
        Ok(end)
    }

    /// Puts bytes in the place of a file, whole or not at all.
    pub fn replace(&mut self, at: &At, bytes: &[u8], within: Option<&str>) -> Result<(), Failure> {
        let path = at.whole();
        if let Err(fault) = self.replaced(at, &[bytes], true, within) {
            return Err(refused("replace", &path, None, gone(at, within, fault)));
        }
        let named = self.name(&at.tree, &path);
        named.map_err(|fault| unconfirmed(refused("replace", &path, None, fault)))
    }

    /// Puts bytes, in pieces, in the place of a file, whole or not at all; nobody waits until the disk has it.
    pub fn put(&mut self, at: &At, pieces: &[&[u8]]) -> Result<(), Failure> {
        self.replaced(at, pieces, false, None).map_err(|fault| refused("replace", &at.whole(), None, fault))
    }

    /// Gives a file, or a folder with all in it, another place, where nothing is yet.
    pub fn rename(&mut self, from: &At, to: &At) -> Result<(), Failure> {
        let (path, place) = (from.whole(), to.whole());
        let failed = |fault| refused("move", &path, Some(&place), fault);
        if let Err(fault) = self.moved(from, to) {
            let is_gone = fault.is_absent() && matches!(absent(from.look()), Ok(None));
            let reason = || Fault::Because("not_found", "there is nothing to move".into());
            return Err(failed(if is_gone { reason() } else { fault }));
        }
        let named = self.name(&to.tree, &place).and_then(|()| names::sync(&from.tree, &path));
        named.map_err(|fault| unconfirmed(failed(fault)))
    }

    /// Makes a place a link to a folder, also in the place of another link. A filesystem without links makes none.
    pub fn link(&mut self, at: &At, target: &str) -> Result<(), Failure> {
        self.linked(at, target).map_err(|fault| match fault {
            Fault::System(Errno::EXIST) => {
                let detail = "expected nothing or a link there, but found something else instead";
                refused("link", &at.whole(), None, Fault::Found("already_exists", detail.into()))
            }
            fault => refused("link", &at.whole(), None, fault),
        })
    }

    /// Removes a file, a link, or a folder with all in it; it is no error if nothing is there.
    pub fn remove(&mut self, at: &At) -> Result<(), Failure> {
        let path = at.whole();
        self.let_go_within(&path);
        let removed = removing::removed(at);
        absent(removed).map(|_| ()).map_err(|fault| refused("remove", &path, None, fault))
    }
}

fn unconfirmed(failure: Failure) -> Failure {
    Failure { is_unconfirmed: true, ..failure }
}

fn absent<T>(found: Result<T, Fault>) -> Result<Option<T>, Fault> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(fault) if fault.is_absent() => Ok(None),
        Err(fault) => Err(fault),
    }
}

// Where the folder is gone that nobody makes, that is said.
fn gone(at: &At, within: Option<&str>, fault: Fault) -> Fault {
    let Some(within) = within.filter(|_| fault.is_absent()) else { return fault };
    let folder = At { tree: at.tree.clone(), path: within.into() };
    if !matches!(absent(folder.look()), Ok(None)) {
        return fault;
    }
    let reason = format!("expected a folder at \"{}\", but found none", folder.whole().display());
    Fault::Because("not_found", reason)
}

/// What stands there, links not followed.
fn type_at(held: &Held) -> Result<FileType, Errno> {
    let stat = rustix::fs::statat(&held.folder, &held.name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(stat.st_mode))
}

fn is_link(held: &Held) -> Result<bool, Errno> {
    match type_at(held) {
        Err(Errno::NOENT) => Ok(false),
        found => Ok(found?.is_symlink()),
    }
}

fn refuse_link(held: &Held) -> Result<(), Errno> {
    if is_link(held)? { Err(Errno::LOOP) } else { Ok(()) }
}
