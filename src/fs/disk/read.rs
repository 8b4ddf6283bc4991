//! Reads bytes and folders.

use alloc::vec::Vec;
use std::ffi::OsStr;
use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::{NOT_A_FILE, TreePath, none_if_absent};
use crate::fs::file_stat::{kind_of, look};
use crate::fs::refusal::Fault;
use crate::fs::tree::reopen_to_list;
use crate::operation::{FileKind, FolderEntry};

pub(super) fn read(at: &TreePath, start: u64, end: Option<u64>) -> Result<Vec<u8>, Fault> {
    let held = at.hold()?;
    let nofollow = if at.tree.is_open() { OFlags::empty() } else { OFlags::NOFOLLOW };
    // Opening a pipe must not wait for its other end.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | nofollow;
    let file = File::from(rustix::fs::openat(&held.folder, &held.name, flags, Mode::empty())?);
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(Fault::Because("not_a_file", NOT_A_FILE.into()));
    }
    let end = end.unwrap_or(u64::MAX).min(found.len());
    let length = usize::try_from(end.saturating_sub(start)).map_err(|_| Errno::NOMEM)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).map_err(|_| Errno::NOMEM)?;
    bytes.resize(length, 0);
    let mut filled = 0;
    while filled < length {
        match file.read_at(&mut bytes[filled..], start + filled as u64) {
            Ok(0) => break, // The file was cut while it was read.
            Ok(count) => filled += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

pub(super) fn entries(at: &TreePath) -> Result<Vec<FolderEntry>, Fault> {
    let folder = at.tree.hold_folder(&at.path)?;
    let mut entries = Vec::new();
    for found in Dir::new(reopen_to_list(&folder)?)? {
        let found = found?;
        let name = found.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        // Not every filesystem tells an entry's type.
        let is_told = found.file_type() != FileType::Unknown;
        let looked = || rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW);
        let found = if is_told {
            Ok(found.file_type())
        } else {
            looked().map(|stat| FileType::from_raw_mode(stat.st_mode))
        };
        match found {
            Ok(found) => {
                let (name, kind) = (name.to_string_lossy().into(), kind_of(found));
                entries.push(FolderEntry { name, kind, files: None });
            }
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    entries.sort_by(|one, other| one.name.encode_utf16().cmp(other.name.encode_utf16()));
    Ok(entries)
}

/// Adds to each folder entry the stats of its files of these names; none for a folder that may not be looked into.
pub(super) fn with_files(
    at: &TreePath,
    mut entries: Vec<FolderEntry>,
    names: &[&str],
) -> Result<Vec<FolderEntry>, Fault> {
    if names.is_empty() {
        return Ok(entries);
    }
    let folder = at.tree.hold_folder(&at.path)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for entry in entries.iter_mut().filter(|entry| entry.kind == FileKind::Folder) {
        let Ok(inner) = rustix::fs::openat(&folder, &*entry.name, flags, Mode::empty()) else { continue };
        let stats = names.iter().map(|name| none_if_absent(look(inner.as_fd(), OsStr::new(name))));
        entry.files = Some(stats.collect::<Result<_, _>>()?);
    }
    Ok(entries)
}
