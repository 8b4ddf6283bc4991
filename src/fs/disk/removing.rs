//! What is taken away, a folder with all in it, and nothing behind a link.

use alloc::format;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

use super::{At, absent};
use crate::fs::refusal::Fault;

pub(super) fn removed(at: &At) -> Result<(), Fault> {
    let held = at.held()?;
    if at.path.is_empty() {
        let path = at.whole();
        let path = path.display();
        return Err(Fault::Outside(format!(
            "expected a path below \"{path}\", but found the folder itself instead"
        )));
    }
    taken(held.folder.as_fd(), &held.name)
}

fn taken(folder: BorrowedFd<'_>, name: &OsStr) -> Result<(), Fault> {
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
            absent(taken(inner.as_fd(), OsStr::from_bytes(name)))?;
        }
    }
    Ok(rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)?)
}
