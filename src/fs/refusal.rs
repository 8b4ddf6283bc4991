//! Turns the system's errors into a storage's, with the same codes and the same words as in the JavaScript package.

use alloc::format;
use alloc::string::String;
use core::fmt::Display;
use std::path::Path;

use rustix::io::Errno;

use crate::operation::Failure;

/// Why a verb failed, before it has words.
#[derive(Debug)]
pub(super) enum Fault {
    /// The system's error.
    System(Errno),
    /// A path that leads out of the tree, as a sentence.
    Outside(String),
    /// A code, and a detail beside its reason.
    Found(&'static str, String),
    /// A code, and a reason instead of its own.
    Because(&'static str, String),
}

impl Fault {
    /// Whether nothing is there; a parent that is a file counts as nothing being there.
    pub fn is_absent(&self) -> bool {
        matches!(self, Fault::System(Errno::NOENT | Errno::NOTDIR))
    }
}

impl From<Errno> for Fault {
    fn from(errno: Errno) -> Fault {
        Fault::System(errno)
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Fault {
        match Errno::from_io_error(&error) {
            Some(errno) => Fault::System(errno),
            None => Fault::Found("storage_failed", format!("{error}")),
        }
    }
}

/// Makes the failure of a verb at a path, in one wording. `to`: the other path of a move.
pub(super) fn storage_failure(verb: &str, path: &Path, to: Option<&Path>, fault: Fault) -> Failure {
    let (code, reason, detail) = match fault {
        Fault::Outside(reason) => ("outside_store", reason, None),
        Fault::Found(code, detail) => (code, reason(code).into(), Some(detail)),
        Fault::Because(code, reason) => (code, reason, None),
        Fault::System(errno) => {
            let code = (to.is_some().then(|| move_code(errno)).flatten()).unwrap_or_else(|| code(errno));
            match code {
                "outside_store" => {
                    (code, "expected a file of the store, but found a link instead".into(), None)
                }
                code => (code, reason(code).into(), Some(errno_name(errno))),
            }
        }
    };
    let to = to.map(|to| format!(" to \"{}\"", to.display())).unwrap_or_default();
    let detail = detail.map(|detail| format!(" ({detail})")).unwrap_or_default();
    let message = format!("could not {verb} \"{}\"{to}: {reason}{detail}", path.display());
    Failure { code: code.into(), message, ..Failure::default() }
}

fn code(errno: Errno) -> &'static str {
    match errno {
        Errno::ACCESS | Errno::PERM => "permission_denied",
        Errno::NOSPC | Errno::DQUOT | Errno::FBIG => "disk_full",
        Errno::ROFS => "read_only",
        Errno::MFILE | Errno::NFILE => "too_many_files",
        Errno::ISDIR | Errno::NXIO => "not_a_file",
        Errno::NOTDIR => "not_a_folder",
        Errno::LOOP => "outside_store",
        _ => "storage_failed",
    }
}

// The code where the target of a move is taken, or out of reach.
fn move_code(errno: Errno) -> Option<&'static str> {
    match errno {
        Errno::EXIST | Errno::NOTEMPTY => Some("already_exists"),
        Errno::XDEV => Some("other_filesystem"),
        Errno::INVAL => Some("invalid_path"),
        _ => None,
    }
}

fn reason(code: &str) -> &'static str {
    match code {
        "permission_denied" => "permission denied",
        "disk_full" => "the disk is full",
        "read_only" => "the filesystem is read-only",
        "too_many_files" => "too many files are open",
        "not_a_file" => "it is a folder, a link or a device, not a file",
        "not_a_folder" => "a file is where a folder should be",
        "invalid_path" => "invalid path or name",
        "not_found" => "there is nothing to move",
        "already_exists" => "it already exists",
        "other_filesystem" => "the two places are on different filesystems",
        _ => "the storage failed",
    }
}

// The error's name in the system's headers, where leftoff knows it.
fn errno_name(errno: Errno) -> String {
    let name: &dyn Display = match errno {
        Errno::ACCESS => &"EACCES",
        Errno::PERM => &"EPERM",
        Errno::NOSPC => &"ENOSPC",
        Errno::DQUOT => &"EDQUOT",
        Errno::FBIG => &"EFBIG",
        Errno::ROFS => &"EROFS",
        Errno::MFILE => &"EMFILE",
        Errno::NFILE => &"ENFILE",
        Errno::ISDIR => &"EISDIR",
        Errno::LOOP => &"ELOOP",
        Errno::NXIO => &"ENXIO",
        Errno::NOTDIR => &"ENOTDIR",
        Errno::NOENT => &"ENOENT",
        Errno::EXIST => &"EEXIST",
        Errno::NOTEMPTY => &"ENOTEMPTY",
        Errno::XDEV => &"EXDEV",
        Errno::INVAL => &"EINVAL",
        Errno::IO => &"EIO",
        Errno::NAMETOOLONG => &"ENAMETOOLONG",
        Errno::STALE => &"ESTALE",
        _ => &errno,
    };
    format!("{name}")
}
