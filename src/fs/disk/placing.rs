//! What comes into a place whole: a file in the place of another one.

use alloc::format;
use alloc::string::ToString;
use std::ffi::{OsStr, OsString};
use std::fs::File;

use rustix::fs::{AtFlags, OFlags, RenameFlags};
use rustix::io::retry_on_intr;

use super::{At, Disk, OWN, refuse_link};
use crate::fs::refusal::Fault;
use crate::fs::tree::Making;

impl Disk {
    // Written beside it, counted, flushed, renamed. Whatever fails, the old one stays.
    pub(super) fn replaced(&mut self, at: &At, bytes: &[u8], within: Option<&str>) -> Result<(), Fault> {
        let held = at.tree.hold(&at.path, Some(Making { fresh: &mut self.fresh, within }))?;
        refuse_link(&held)?;
        self.open.remove(&at.whole());
        let temporary = temporary(&held.name)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(&held.folder, &temporary, flags, OWN)?);
        let rename = || rustix::fs::renameat(&held.folder, &temporary, &held.folder, &held.name);
        let placed = filled(&file, bytes).and_then(|()| Ok(rename()?));
        if placed.is_err() {
            // The caller hears why replacing failed; that a temporary file stayed behind must not hide it.
            let _ = rustix::fs::unlinkat(&held.folder, &temporary, AtFlags::empty());
        }
        placed
    }
}

impl Disk {
    // The system looks that nothing is there, and renames, in one step.
    pub(super) fn moved(&mut self, from: &At, to: &At) -> Result<(), Fault> {
        let source = from.held()?;
        refuse_link(&source)?;
        let target = to.tree.hold(&to.path, Some(Making { fresh: &mut self.fresh, within: None }))?;
        let (old, new) = ((&source.folder, &source.name), (&target.folder, &target.name));
        Ok(rustix::fs::renameat_with(old.0, old.1, new.0, new.1, RenameFlags::NOREPLACE)?)
    }
}

fn filled(file: &File, bytes: &[u8]) -> Result<(), Fault> {
    rustix::fs::fchmod(file, OWN)?; // The umask may have taken from it.
    let mut left = bytes;
    while !left.is_empty() {
        match retry_on_intr(|| rustix::io::write(file, left))? {
            0 => break,
            count => left = &left[count..],
        }
    }
    let size = file.metadata()?.len();
    if size != bytes.len() as u64 {
        let detail = format!("expected a file of {} bytes, but found {size} instead", bytes.len());
        return Err(Fault::Found("storage_failed", detail));
    }
    Ok(file.sync_all()?)
}

/// A name beside another one that nobody has.
pub(super) fn temporary(name: &OsStr) -> Result<OsString, Fault> {
    let mut chance = [0; 8];
    getrandom::fill(&mut chance).map_err(|error| Fault::Found("storage_failed", error.to_string()))?;
    let mut temporary = OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{}.{:016x}.tmp", std::process::id(), u64::from_ne_bytes(chance)));
    Ok(temporary)
}
