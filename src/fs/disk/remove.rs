//! Removes files, links, and folders with all in them, but nothing behind a link.

use alloc::format;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

use super::{TreePath, none_if_absent};
use crate::fs::refusal::Fault;

pub(super) fn remove_entry(at: &TreePath) -> Result<(), Fault> {
    let held = at.hold()?;
    if at.path.is_empty() {
        let path = at.full_path();
        let path = path.display();
        return Err(Fault::Outside(format!(
            "expected a path below \"{path}\", but found the folder itself instead"
        )));
    }
    remove_below(held.folder.as_fd(), &held.name)
}

fn remove_below(folder: BorrowedFd<'_>, name: &OsStr) -> Result<(), Fault> {
    let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if !FileType::from_raw_mode(stat.st_mode).is_dir() {
        return Ok(rustix::fs::unlinkat(folder, name, AtFlags::empty())?);
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let inner = rustix::fs::openat(folder, name, flags, Mode::empty())?;
    for found in Dir::read_from(&inner)? {
        let found = found?;
        let name = found.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            none_if_absent(remove_below(inner.as_fd(), OsStr::from_bytes(name)))?;
        }
    }
    Ok(rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)?)
}
