//! Checks and resolves the folders that a caller names.

use alloc::format;
use alloc::string::String;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::super::refusal::storage_failure;
use crate::operation::{Failure, Trouble};

/// A path as text, as it is stored.
pub(super) fn path_text(path: &Path) -> Result<String, Trouble> {
    path.to_str().map(String::from).ok_or_else(|| {
        let message = format!("expected a path of Unicode, but found \"{}\" instead", path.display());
        Failure { code: "invalid_path".into(), message, ..Failure::default() }.into()
    })
}

/// The absolute path, whether anything is there or not.
pub(super) fn absolute_path(path: &Path) -> Result<PathBuf, Trouble> {
    let whole =
        std::path::absolute(path).map_err(|error| storage_failure("stat", path, None, error.into()))?;
    Ok(whole.components().collect())
}

/// A folder's path without links.
pub(super) fn real_folder(path: PathBuf) -> Result<PathBuf, Trouble> {
    match is_folder(&path)? {
        true => {
            path.canonicalize().map_err(|error| storage_failure("stat", &path, None, error.into()).into())
        }
        false => Err(folder_failure("not_found", format!("no folder at \"{}\"", path.display()))),
    }
}

/// Whether a folder is there; refuses anything else at the path.
pub(super) fn is_folder(path: &Path) -> Result<bool, Trouble> {
    match std::fs::metadata(path) {
        Ok(found) if !found.is_dir() => {
            Err(folder_failure("not_a_folder", format!("\"{}\" is a file, not a folder", path.display())))
        }
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(storage_failure("stat", path, None, error.into()).into()),
    }
}

fn folder_failure(code: &str, message: String) -> Trouble {
    Failure { code: code.into(), message, ..Failure::default() }.into()
}
