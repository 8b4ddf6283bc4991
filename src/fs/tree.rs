//! A folder that nothing leads out of: neither `..` nor a link below it, nor a folder that another process swaps for a link
//! while it is looked at. Links on the way to it are followed.
//!
//! Each folder is opened in the one before, never through a link, and what is to be done is done in the last one. That
//! holds whatever others do meanwhile. A hard link is a file like any other: where else it has a name, nobody tells.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec::Vec;
use std::ffi::OsString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::refusal::Fault;

/// Flags to open a folder for passing through; on systems with `O_PATH` it need not be readable.
#[cfg(any(target_os = "linux", target_os = "android"))]
const PASSAGE_FLAGS: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const PASSAGE_FLAGS: OFlags = OFlags::RDONLY;
const FOLDER_FLAGS: OFlags = PASSAGE_FLAGS.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
const OWNER_FOLDER_MODE: Mode = Mode::RWXU;

/// A tree, named by its folder as it was given, whether it is there or not.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    root: PathBuf,
    // Links below it are followed.
    is_open: bool,
    // Whether its owner has ended: nothing is reached any more.
    has_ended: bool,
}

/// A place that a path leads to, with its folder held open.
pub(super) struct HeldEntry {
    pub folder: OwnedFd,
    pub name: OsString,
}

/// Says which missing folders are made.
pub(super) struct FolderCreation<'a> {
    /// Collects the folders that were missing.
    pub new_folders: &'a mut BTreeSet<PathBuf>,
    /// A folder on the way that is not made, nor any above it.
    pub must_exist: Option<&'a str>,
}

impl Tree {
    /// A tree that no path leaves.
    pub fn restricted_to(folder: PathBuf) -> Tree {
        Tree { root: folder, is_open: false, has_ended: false }
    }

    /// The whole disk, links followed.
    pub fn of_disk() -> Tree {
        Tree { root: PathBuf::from("/"), is_open: true, has_ended: false }
    }

    /// The same tree, ended: nothing is reached any more.
    pub fn into_ended(self) -> Tree {
        Tree { has_ended: true, ..self }
    }

    fn reject_ended(&self) -> Result<(), Fault> {
        let reason = || Fault::Because("storage_closed", "the storage is closed".into());
        if self.has_ended { Err(reason()) } else { Ok(()) }
    }

    /// The full path of a path below the tree's folder.
    pub fn path(&self, below: &str) -> PathBuf {
        if below.is_empty() { self.root.clone() } else { self.root.join(below) }
    }

    /// Whether links below the folder are followed.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Holds a file or a folder, there or not; its own folder is there, or is made.
    pub fn hold(&self, below: &str, making: Option<FolderCreation<'_>>) -> Result<HeldEntry, Fault> {
        self.reject_ended()?;
        if self.is_open {
            let path = self.path(below);
            let parent = path.parent().unwrap_or(&path);
            if let Some(FolderCreation { new_folders: fresh, must_exist: None }) = making {
                make_folders(parent, fresh)?;
            }
            let name = path.file_name().map_or(OsString::from("."), Into::into);
            return Ok(HeldEntry {
                folder: rustix::fs::openat(CWD, parent, FOLDER_FLAGS, Mode::empty())?,
                name,
            });
        }
        let mut names = self.split_names(below)?;
        let last = names.pop();
        let folder = self.open_folders(&names, making)?;
        Ok(HeldEntry { folder, name: OsString::from(last.unwrap_or(".")) })
    }

    /// Holds a folder that is there.
    pub fn hold_folder(&self, below: &str) -> Result<OwnedFd, Fault> {
        self.reject_ended()?;
        if self.is_open {
            return Ok(rustix::fs::openat(CWD, self.path(below), FOLDER_FLAGS, Mode::empty())?);
        }
        self.open_folders(&self.split_names(below)?, None)
    }

    /// Holds the folder that a full path lies in, also above the tree.
    pub fn hold_parent(&self, path: &Path) -> Result<OwnedFd, Fault> {
        let parent = path.parent().unwrap_or(path);
        match parent.strip_prefix(&self.root).ok().and_then(Path::to_str) {
            Some(below) if !self.is_open => self.hold_folder(below),
            _ => Ok(rustix::fs::openat(CWD, parent, FOLDER_FLAGS, Mode::empty())?),
        }
    }

    fn split_names<'a>(&self, below: &'a str) -> Result<Vec<&'a str>, Fault> {
        if below.is_empty() {
            return Ok(Vec::new());
        }
        let names: Vec<&str> = below.split('/').collect();
        if names.iter().any(|name| matches!(*name, "" | "." | "..") || name.contains('\0')) {
            let given = self.root.display();
            return Err(Fault::Outside(format!(
                "expected a path in \"{given}\", but found another one instead"
            )));
        }
        Ok(names)
    }

    fn open_folders(&self, names: &[&str], making: Option<FolderCreation<'_>>) -> Result<OwnedFd, Fault> {
        let (mut fresh, within) = making.map(|making| (making.new_folders, making.must_exist)).unzip();
        let least =
            within.flatten().map(|within| self.split_names(within)).transpose()?.map(|names| names.len());
        if let (Some(fresh), None) = (&mut fresh, least) {
            make_folders(&self.root, fresh)?;
        }
        let mut path = self.root.clone();
        let mut at = rustix::fs::openat(CWD, &path, FOLDER_FLAGS, Mode::empty())?;
        for (depth, name) in names.iter().enumerate() {
            path.push(name);
            let fresh = fresh.as_deref_mut().filter(|_| depth >= least.unwrap_or(0));
            at = open_folder(at.as_fd(), name, &path, fresh)?;
        }
        Ok(at)
    }
}

/// Opens a held folder again, to list or flush it: a held one may only be passed through.
pub(super) fn reopen_to_list(folder: &OwnedFd) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(folder, ".", flags, Mode::empty())
}

// Opens a folder in another one, making it first where wanted.
fn open_folder(
    at: BorrowedFd<'_>,
    name: &str,
    path: &Path,
    fresh: Option<&mut BTreeSet<PathBuf>>,
) -> Result<OwnedFd, Fault> {
    let open = || rustix::fs::openat(at, name, FOLDER_FLAGS | OFlags::NOFOLLOW, Mode::empty());
    match (open(), fresh) {
        (Ok(folder), _) => return Ok(folder),
        (Err(Errno::NOENT), Some(fresh)) => {
            make_folder(at, Path::new(name), path, fresh)?;
        }
        (Err(errno), _) => return Err(folder_fault(at, name, path, errno)),
    }
    open().map_err(|errno| folder_fault(at, name, path, errno))
}

// The fault where something else stands in a folder's place.
fn folder_fault(at: BorrowedFd<'_>, name: &str, path: &Path, errno: Errno) -> Fault {
    match rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode).is_symlink() => {
            Fault::Outside(format!("expected a folder at \"{}\", but found a link instead", path.display()))
        }
        _ => Fault::System(errno),
    }
}

fn make_folder(
    at: BorrowedFd<'_>,
    name: &Path,
    path: &Path,
    fresh: &mut BTreeSet<PathBuf>,
) -> Result<(), Fault> {
    // Noted even if another process made it first: that one may die before it flushes the name.
    fresh.insert(path.into());
    match rustix::fs::mkdirat(at, name, OWNER_FOLDER_MODE) {
        Err(Errno::EXIST) => return Ok(()),
        made => made?,
    }
    let stat = rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW)?;
    // The mode differs only under a umask that takes permissions from the owner.
    if stat.st_mode & 0o777 != 0o700 {
        rustix::fs::chmodat(at, name, OWNER_FOLDER_MODE, AtFlags::empty())?;
    }
    Ok(())
}

// Makes a folder and those above it; links on the way are followed.
fn make_folders(folder: &Path, fresh: &mut BTreeSet<PathBuf>) -> Result<(), Fault> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|path| !path.exists()).collect();
    for path in missing.into_iter().rev() {
        make_folder(CWD, path, path, fresh)?;
    }
    Ok(())
}
