//! The verbs of a storage, on a local disk.
//!
//! One append is one `write` on a descriptor opened with O_APPEND: the system then keeps the lines of several processes
//! apart. Nothing is retried but what a signal interrupted, nothing is locked, and nothing is promised to two writers on
//! NFS, SMB or in a synced folder.

mod append;
mod copy;
mod name_sync;
mod read;
mod remove;
mod replace;
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

use super::file_stat::look;
use super::refusal::{Fault, storage_failure};
use super::tree::{HeldEntry, Tree};
use crate::operation::{Failure, FileKind, FolderEntry, Stat};
use append::OpenFile;

/// The mode of new files: only the owner may read and write them.
const OWNER_FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);
const NOT_A_FILE: &str = "it is a folder, a link or a device, not a file";

/// A file or a folder: its tree, and its path there.
#[derive(Clone, Debug)]
pub(super) struct TreePath {
    pub tree: Tree,
    pub path: String,
}

/// A local disk, with what is kept between calls: open files, and names that the disk has confirmed.
#[derive(Debug, Default)]
pub(super) struct Disk {
    open_files: BTreeMap<PathBuf, OpenFile>,
    append_count: u64,
    /// Folders that were missing, and whose entry in their parent the disk has not confirmed.
    new_folders: BTreeSet<PathBuf>,
    /// Folders whose entry in their parent the disk has confirmed.
    confirmed_folders: BTreeSet<PathBuf>,
}

impl TreePath {
    fn full_path(&self) -> PathBuf {
        self.tree.path(&self.path)
    }

    fn hold(&self) -> Result<HeldEntry, Fault> {
        self.tree.hold(&self.path, None)
    }

    fn look(&self) -> Result<Stat, Fault> {
        let held = self.hold()?;
        look(held.folder.as_fd(), &held.name)
    }
}

impl Disk {
    /// Reads from `start` up to `end`, within the length that the file has when it is opened.
    pub fn read(&self, at: &TreePath, start: u64, end: Option<u64>) -> Result<Option<Vec<u8>>, Failure> {
        let read = read::read(at, start, end);
        none_if_absent(read).map_err(|fault| storage_failure("read", &at.full_path(), None, fault))
    }

    /// Looks at what stands at a place.
    pub fn stat(&self, at: &TreePath) -> Result<Option<Stat>, Failure> {
        let found = at.look().and_then(|stat| {
            // No verb follows a link, so none may say that something is there.
            let is_link = stat.kind == FileKind::Other && !at.tree.is_open() && is_link(&at.hold()?)?;
            if is_link { Err(Errno::LOOP.into()) } else { Ok(stat) }
        });
        none_if_absent(found).map_err(|fault| storage_failure("stat", &at.full_path(), None, fault))
    }

    /// Lists a folder, sorted as JavaScript sorts; with each folder in it, the stats of its files of these names.
    pub fn list(&self, at: &TreePath, names: &[&str]) -> Result<Option<Vec<FolderEntry>>, Failure> {
        match read::entries(at).and_then(|entries| read::with_files(at, entries, names)) {
            Ok(entries) => Ok(Some(entries)),
            Err(Fault::System(Errno::NOENT)) => Ok(None),
            // Either the path or a parent of it is a file.
            Err(Fault::System(Errno::NOTDIR)) if matches!(none_if_absent(at.look()), Ok(None)) => Ok(None),
            Err(fault) => Err(storage_failure("list", &at.full_path(), None, fault)),
        }
    }

    /// Adds bytes at the end, all in one piece, and returns the file's length after it.
    pub fn append(
        &mut self,
        at: &TreePath,
        bytes: &[u8],
        durable: bool,
        within: Option<&str>,
    ) -> Result<u64, Failure> {
        let mut written = 0;
        let end = self.append_bytes(at, bytes, within, &mut written).map_err(|fault| {
            let failure = storage_failure(
                "append to",
                &at.full_path(),
                None,
                explain_missing_folder(at, within, fault),
            );
            Failure { written: Some(written), ..failure }
        })?;
        if durable && let Err(fault) = self.confirm(at) {
            // The system reports a failed flush once and then forgets it: this descriptor can prove nothing any more.
            self.open_files.remove(&at.full_path());
            let failure = storage_failure("append to", &at.full_path(), None, fault);
            return Err(Failure { written: Some(written), is_unconfirmed: true, ..failure });
        }
        Ok(end)
    }

    /// Replaces a file's bytes, whole or not at all.
    pub fn replace(&mut self, at: &TreePath, bytes: &[u8], within: Option<&str>) -> Result<(), Failure> {
        let path = at.full_path();
        if let Err(fault) = self.replace_file(at, &[bytes], true, within) {
            return Err(storage_failure("replace", &path, None, explain_missing_folder(at, within, fault)));
        }
        let named = self.name(&at.tree, &path);
        named.map_err(|fault| mark_unconfirmed(storage_failure("replace", &path, None, fault)))
    }

    /// Replaces a file by bytes in pieces, whole or not at all, without waiting for the disk.
    pub fn put(&mut self, at: &TreePath, pieces: &[&[u8]]) -> Result<(), Failure> {
        self.replace_file(at, pieces, false, None)
            .map_err(|fault| storage_failure("replace", &at.full_path(), None, fault))
    }

    /// Moves a file, or a folder with all in it, to a place where nothing is yet.
    pub fn rename(&mut self, from: &TreePath, to: &TreePath) -> Result<(), Failure> {
        let (path, place) = (from.full_path(), to.full_path());
        let failed = |fault| storage_failure("move", &path, Some(&place), fault);
        if let Err(fault) = self.move_entry(from, to) {
            let is_gone = fault.is_absent() && matches!(none_if_absent(from.look()), Ok(None));
            let reason = || Fault::Because("not_found", "there is nothing to move".into());
            return Err(failed(if is_gone { reason() } else { fault }));
        }
        let named = self.name(&to.tree, &place).and_then(|()| name_sync::sync(&from.tree, &path));
        named.map_err(|fault| mark_unconfirmed(failed(fault)))
    }

    /// Makes a link to a folder, also in the place of another link. On a filesystem without links it does nothing.
    pub fn link(&mut self, at: &TreePath, target: &str) -> Result<(), Failure> {
        self.replace_link(at, target).map_err(|fault| match fault {
            Fault::System(Errno::EXIST) => {
                let detail = "expected nothing or a link there, but found something else instead";
                storage_failure("link", &at.full_path(), None, Fault::Found("already_exists", detail.into()))
            }
            fault => storage_failure("link", &at.full_path(), None, fault),
        })
    }

    /// Removes a file, a link, or a folder with all in it; it is no error if nothing is there.
    pub fn remove(&mut self, at: &TreePath) -> Result<(), Failure> {
        let path = at.full_path();
        self.close_within(&path);
        let removed = remove::remove_entry(at);
        none_if_absent(removed).map(|_| ()).map_err(|fault| storage_failure("remove", &path, None, fault))
    }
}

fn mark_unconfirmed(failure: Failure) -> Failure {
    Failure { is_unconfirmed: true, ..failure }
}

fn none_if_absent<T>(found: Result<T, Fault>) -> Result<Option<T>, Fault> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(fault) if fault.is_absent() => Ok(None),
        Err(fault) => Err(fault),
    }
}

// Explains a failure by the folder `within`, if that is gone.
fn explain_missing_folder(at: &TreePath, within: Option<&str>, fault: Fault) -> Fault {
    let Some(within) = within.filter(|_| fault.is_absent()) else { return fault };
    let folder = TreePath { tree: at.tree.clone(), path: within.into() };
    if !matches!(none_if_absent(folder.look()), Ok(None)) {
        return fault;
    }
    let reason = format!("expected a folder at \"{}\", but found none", folder.full_path().display());
    Fault::Because("not_found", reason)
}

/// The type of what stands at a place, links not followed.
fn type_at(held: &HeldEntry) -> Result<FileType, Errno> {
    let stat = rustix::fs::statat(&held.folder, &held.name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(stat.st_mode))
}

fn is_link(held: &HeldEntry) -> Result<bool, Errno> {
    match type_at(held) {
        Err(Errno::NOENT) => Ok(false),
        found => Ok(found?.is_symlink()),
    }
}

fn reject_link(held: &HeldEntry) -> Result<(), Errno> {
    if is_link(held)? { Err(Errno::LOOP) } else { Ok(()) }
}
