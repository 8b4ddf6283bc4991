//! Changes that take effect whole or not at all: replacing a file, moving, placing a link for people.

use alloc::format;
use alloc::string::ToString;
use std::ffi::{OsStr, OsString};
use std::fs::File;

use rustix::fs::{AtFlags, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::{Disk, OWNER_FILE_MODE, TreePath, reject_link, type_at};
use crate::fs::refusal::Fault;
use crate::fs::tree::{FolderCreation, HeldEntry};

impl Disk {
    // Writes beside the file, counts the bytes, flushes where it is to be durable, renames. Whatever fails, the old
    // file stays.
    pub(super) fn replace_file(
        &mut self,
        at: &TreePath,
        pieces: &[&[u8]],
        durable: bool,
        within: Option<&str>,
    ) -> Result<(), Fault> {
        let held = at.tree.hold(
            &at.path,
            Some(FolderCreation { new_folders: &mut self.new_folders, must_exist: within }),
        )?;
        reject_link(&held)?;
        self.open_files.remove(&at.full_path());
        let temporary = temporary_name(&held.name)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(&held.folder, &temporary, flags, OWNER_FILE_MODE)?);
        let rename = || rustix::fs::renameat(&held.folder, &temporary, &held.folder, &held.name);
        let placed = write_pieces(&file, pieces, durable).and_then(|()| Ok(rename()?));
        if placed.is_err() {
            // The caller hears why replacing failed; that a temporary file stayed behind must not hide it.
            let _ = rustix::fs::unlinkat(&held.folder, &temporary, AtFlags::empty());
        }
        placed
    }

    // Moves, but never over what is there, not even over an empty folder.
    pub(super) fn move_entry(&mut self, from: &TreePath, to: &TreePath) -> Result<(), Fault> {
        let source = from.hold()?;
        let found = type_at(&source)?;
        if found.is_symlink() {
            return Err(Errno::LOOP.into());
        }
        if !found.is_file() && !found.is_dir() {
            return Err(Errno::NXIO.into());
        }
        let (path, place) = (from.full_path(), to.full_path());
        if place != path && place.starts_with(&path) {
            return Err(Fault::Because("invalid_path", "a folder cannot lie in itself".into()));
        }
        let target = to
            .tree
            .hold(&to.path, Some(FolderCreation { new_folders: &mut self.new_folders, must_exist: None }))?;
        reject_link(&target)?;
        self.close_within(&path);
        rename_onto_nothing(&source, &target)?;
        // Confirmations at this place were of what lay there before.
        self.confirmed_folders.retain(|folder| !folder.starts_with(&place));
        Ok(())
    }

    // Makes the link beside its place and renames it, so that a reader finds the old one or the new one.
    pub(super) fn replace_link(&mut self, at: &TreePath, target: &str) -> Result<(), Fault> {
        let held = at
            .tree
            .hold(&at.path, Some(FolderCreation { new_folders: &mut self.new_folders, must_exist: None }))?;
        match type_at(&held) {
            Err(Errno::NOENT) => {}
            found if found?.is_symlink() => {}
            _ => return Err(Errno::EXIST.into()),
        }
        let temporary = temporary_name(&held.name)?;
        match rustix::fs::symlinkat(target, &held.folder, &temporary) {
            // A filesystem without links gets none.
            Err(Errno::PERM | Errno::NOTSUP | Errno::NOSYS) => return Ok(()),
            made => made?,
        }
        Ok(rustix::fs::renameat(&held.folder, &temporary, &held.folder, &held.name)?)
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_onto_nothing(from: &HeldEntry, to: &HeldEntry) -> Result<(), Fault> {
    use rustix::fs::{RenameFlags, renameat_with};
    match renameat_with(&from.folder, &from.name, &to.folder, &to.name, RenameFlags::NOREPLACE) {
        // Not every filesystem can rename without replacing.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => look_and_rename(from, to),
        renamed => Ok(renamed?),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_onto_nothing(from: &HeldEntry, to: &HeldEntry) -> Result<(), Fault> {
    look_and_rename(from, to)
}

// A file gets a second name first, which the system refuses where something is; a folder the system puts neither over a
// file nor over a folder with something in it.
fn look_and_rename(from: &HeldEntry, to: &HeldEntry) -> Result<(), Fault> {
    if type_at(from)?.is_dir() {
        if type_at(to).is_ok() {
            return Err(Errno::EXIST.into());
        }
        return Ok(rustix::fs::renameat(&from.folder, &from.name, &to.folder, &to.name)?);
    }
    rustix::fs::linkat(&from.folder, &from.name, &to.folder, &to.name, AtFlags::empty())?;
    Ok(rustix::fs::unlinkat(&from.folder, &from.name, AtFlags::empty())?)
}

fn write_pieces(file: &File, pieces: &[&[u8]], durable: bool) -> Result<(), Fault> {
    rustix::fs::fchmod(file, OWNER_FILE_MODE)?; // The umask may have taken from it.
    for piece in pieces {
        let mut left = *piece;
        while !left.is_empty() {
            match retry_on_intr(|| rustix::io::write(file, left))? {
                0 => break,
                count => left = &left[count..],
            }
        }
    }
    let (size, expected) =
        (file.metadata()?.len(), pieces.iter().map(|piece| piece.len() as u64).sum::<u64>());
    if size != expected {
        let detail = format!("expected a file of {expected} bytes, but found {size} instead");
        return Err(Fault::Found("storage_failed", detail));
    }
    if durable { Ok(file.sync_all()?) } else { Ok(()) }
}

/// Makes an unused name beside another one.
pub(super) fn temporary_name(name: &OsStr) -> Result<OsString, Fault> {
    let mut chance = [0; 8];
    getrandom::fill(&mut chance).map_err(|error| Fault::Found("storage_failed", error.to_string()))?;
    let mut temporary = OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{}.{:016x}.tmp", std::process::id(), u64::from_ne_bytes(chance)));
    Ok(temporary)
}
