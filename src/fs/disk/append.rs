//! Appends, and the proof that what they wrote reached the disk.

use alloc::format;
use std::fs::File;
use std::path::Path;

use rustix::fs::{AtFlags, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::{Disk, NOT_A_FILE, OWNER_FILE_MODE, TreePath, none_if_absent};
use crate::fs::refusal::Fault;
use crate::fs::tree::{FolderCreation, HeldEntry};

/// How many files are kept open between appends.
pub(super) const MAX_OPEN_FILES: usize = 32;

/// A file that was opened for appending.
#[derive(Debug)]
pub(super) struct OpenFile {
    file: File,
    identity: FileIdentity,
    /// Whether the disk has confirmed the file's name, too.
    is_named: bool,
    /// When the file was last used.
    last_use: u64,
}

type FileIdentity = (u64, u64);

impl Disk {
    /// Appends bytes and returns the file's length after it. `written`: how many bytes got in.
    pub(super) fn append_bytes(
        &mut self,
        at: &TreePath,
        bytes: &[u8],
        within: Option<&str>,
        written: &mut u64,
    ) -> Result<u64, Fault> {
        let open = self.file_to_append(at, within)?;
        let count = retry_on_intr(|| rustix::io::write(&open.file, bytes))?;
        *written = count as u64;
        if count < bytes.len() {
            return Err(Fault::Found("disk_full", format!("{count} of {} bytes got in", bytes.len())));
        }
        // If the file lies elsewhere by now, nobody finds these bytes: whoever moved it may have read it before they
        // came.
        let gone = || Fault::Found("storage_failed", "removed, replaced or moved away meanwhile".into());
        len_if_same(at, open.identity)?.ok_or_else(gone)
    }

    /// Makes the disk confirm what was appended, and the file's name.
    pub(super) fn confirm(&mut self, at: &TreePath) -> Result<(), Fault> {
        let path = at.full_path();
        let Some(open) = self.open_files.get(&path) else { return Ok(()) };
        if open.is_named {
            return Ok(open.file.sync_data()?);
        }
        // Whoever made the file may have died before the disk knew its name.
        open.file.sync_all()?;
        self.name(&at.tree, &path)?;
        self.open_files.entry(path).and_modify(|open| open.is_named = true);
        Ok(())
    }

    pub(super) fn close_within(&mut self, path: &Path) {
        self.open_files.retain(|open, _| !open.starts_with(path));
    }

    fn file_to_append(&mut self, at: &TreePath, within: Option<&str>) -> Result<&OpenFile, Fault> {
        let path = at.full_path();
        self.append_count += 1;
        let known = self.open_files.get(&path).map(|open| len_if_same(at, open.identity)).transpose()?;
        if known.flatten().is_none() {
            self.open_files.remove(&path);
            if self.open_files.len() >= MAX_OPEN_FILES {
                let oldest = self.open_files.iter().min_by_key(|(_, open)| open.last_use);
                let oldest = oldest.map(|(path, _)| path.clone());
                oldest.map(|path| self.open_files.remove(&path));
            }
            let held = at.tree.hold(
                &at.path,
                Some(FolderCreation { new_folders: &mut self.new_folders, must_exist: within }),
            )?;
            let file = open_to_append(&held)?;
            if !file.metadata()?.is_file() {
                return Err(Fault::Because("not_a_file", NOT_A_FILE.into()));
            }
            let identity = identity(&rustix::fs::fstat(&file)?);
            self.open_files.insert(path.clone(), OpenFile { file, identity, is_named: false, last_use: 0 });
        }
        let open = self.open_files.get_mut(&path).expect("it was put there just now");
        open.last_use = self.append_count;
        Ok(open)
    }
}

#[allow(clippy::unnecessary_cast, reason = "other systems have other widths")]
fn identity(stat: &rustix::fs::Stat) -> FileIdentity {
    (stat.st_dev as u64, stat.st_ino as u64)
}

// The file's length, if the file at this place still has this identity.
fn len_if_same(at: &TreePath, same: FileIdentity) -> Result<Option<u64>, Fault> {
    let found = at
        .hold()
        .and_then(|held| Ok(rustix::fs::statat(&held.folder, &held.name, AtFlags::SYMLINK_NOFOLLOW)?));
    let found = none_if_absent(found)?.filter(|stat| identity(stat) == same);
    Ok(found.map(|stat| stat.st_size as u64))
}

// Opens the file at a place, or a new one.
fn open_to_append(held: &HeldEntry) -> Result<File, Fault> {
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let open = |flags| rustix::fs::openat(&held.folder, &held.name, flags, OWNER_FILE_MODE).map(File::from);
    match open(flags) {
        Err(Errno::NOENT) => {}
        opened => return Ok(opened?),
    }
    match open(flags | OFlags::CREATE | OFlags::EXCL) {
        Err(Errno::EXIST) => Ok(open(flags)?), // Another process was faster.
        made => {
            let made = made?;
            rustix::fs::fchmod(&made, OWNER_FILE_MODE)?; // The umask may have taken from it.
            Ok(made)
        }
    }
}
