//! Looks at what stands at a place.

use std::ffi::OsStr;
use std::os::fd::BorrowedFd;

use rustix::fs::FileType;
#[cfg(target_os = "linux")]
use rustix::fs::{AtFlags, StatxFlags, statx};
#[cfg(not(target_os = "linux"))]
use rustix::fs::{AtFlags, statat};

use super::refusal::Fault;
use crate::operation::{FileId, FileKind, Stat};

/// Links are not followed.
#[cfg(target_os = "linux")]
pub(super) fn look(folder: BorrowedFd<'_>, name: &OsStr) -> Result<Stat, Fault> {
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
    let found = statx(folder, name, AtFlags::SYMLINK_NOFOLLOW, wanted)?;
    let us = |time: rustix::fs::StatxTimestamp| micros(time.tv_sec, time.tv_nsec.into());
    let changed_us = us(found.stx_ctime);
    // Not every filesystem knows when a file was made.
    let knows = found.stx_mask & StatxFlags::BTIME.bits() != 0;
    let made_us = if knows { us(found.stx_btime) } else { changed_us };
    let kind = kind_of(FileType::from_raw_mode(found.stx_mode.into()));
    let size = if kind == FileKind::File { found.stx_size } else { 0 };
    let file = Some(FileId { number: found.stx_ino, made_us });
    Ok(Stat { kind, size, modified_us: us(found.stx_mtime), changed_us, file })
}

/// Links are not followed.
#[cfg(not(target_os = "linux"))]
pub(super) fn look(folder: BorrowedFd<'_>, name: &OsStr) -> Result<Stat, Fault> {
    let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let modified_us = micros(found.st_mtime.into(), found.st_mtime_nsec as i64);
    let changed_us = micros(found.st_ctime.into(), found.st_ctime_nsec as i64);
    let kind = kind_of(FileType::from_raw_mode(found.st_mode));
    let size = if kind == FileKind::File { found.st_size as u64 } else { 0 };
    // Where the system doesn't tell when a file was made, the time of change stands for it.
    let file = Some(FileId { number: found.st_ino.into(), made_us: changed_us });
    Ok(Stat { kind, size, modified_us, changed_us, file })
}

pub(super) fn kind_of(found: FileType) -> FileKind {
    match found {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Folder,
        _ => FileKind::Other,
    }
}

// Goes by milliseconds as JavaScript has them: else each host would take a file for changed that the other one noted.
fn micros(seconds: i64, nanoseconds: i64) -> i64 {
    let ms = seconds as f64 * 1000.0 + nanoseconds as f64 / 1e6;
    (ms * 1000.0 + 0.5) as i64
}
