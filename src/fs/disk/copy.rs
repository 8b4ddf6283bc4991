//! Copies of whole trees, by the other verbs. A file is in its place whole, or not at all.

use alloc::format;
use alloc::string::String;
use std::ffi::OsStr;

use super::replace::temporary_name;
use super::{Disk, TreePath, storage_failure};
use crate::operation::{Failure, FileKind, Stat};

/// The most bytes of a file held in memory.
const COPY_CHUNK_BYTES: u64 = 4 * 1024 * 1024;

impl Disk {
    /// Copies a file, or a folder with all in it, and returns the number of bytes. `missing`: only what is absent at
    /// the target.
    pub fn copy(&mut self, from: &TreePath, to: &TreePath, missing: bool) -> Result<u64, Failure> {
        match self.stat(from)? {
            Some(Stat { kind: FileKind::Folder, .. }) => {
                let mut bytes = 0;
                for entry in self.list(from, &[])?.unwrap_or_default() {
                    bytes +=
                        self.copy(&child_path(from, &entry.name), &child_path(to, &entry.name), missing)?;
                }
                Ok(bytes)
            }
            Some(Stat { kind: FileKind::Other, .. }) => {
                let path = from.full_path();
                let found = format!(
                    "expected a file or a folder at \"{}\", but found something else instead",
                    path.display()
                );
                Err(Failure { code: "not_a_file".into(), message: found, ..Failure::default() })
            }
            _ if missing && self.stat(to)?.is_some() => Ok(0),
            found => self.copy_file(from, to, found.map_or(0, |stat| stat.size)),
        }
    }

    fn copy_file(&mut self, from: &TreePath, to: &TreePath, size: u64) -> Result<u64, Failure> {
        if size <= COPY_CHUNK_BYTES {
            let bytes = self.read(from, 0, Some(size))?.unwrap_or_default();
            self.replace(to, &bytes, None)?;
            return Ok(bytes.len() as u64);
        }
        // Written beside its place until it is whole: who looks for what is missing finds no part of it there.
        let name = temporary_name(OsStr::new(to.path.rsplit('/').next().unwrap_or_default()));
        let name =
            name.map_err(|fault| storage_failure("copy", &from.full_path(), Some(&to.full_path()), fault))?;
        let place = sibling_path(to, &name.to_string_lossy());
        let filled = self.fill(from, &place, size).and_then(|()| self.rename(&place, to));
        if filled.is_err() {
            // The caller hears why copying failed; that a temporary file stayed behind must not hide it.
            let _ = self.remove(&place);
        }
        filled.map(|()| size)
    }

    fn fill(&mut self, from: &TreePath, to: &TreePath, size: u64) -> Result<(), Failure> {
        let mut at = 0;
        while at < size {
            let bytes = self.read(from, at, Some(size.min(at + COPY_CHUNK_BYTES)))?.unwrap_or_default();
            if bytes.is_empty() {
                let path = from.full_path();
                let message =
                    format!("expected {size} bytes in \"{}\", but found {at} instead", path.display());
                return Err(Failure { code: "storage_failed".into(), message, ..Failure::default() });
            }
            at += bytes.len() as u64;
            self.append(to, &bytes, at == size, None)?;
        }
        Ok(())
    }
}

fn sibling_path(at: &TreePath, name: &str) -> TreePath {
    let path = match at.path.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{name}"),
        None => name.into(),
    };
    TreePath { tree: at.tree.clone(), path }
}

fn child_path(at: &TreePath, name: &str) -> TreePath {
    let path = if at.path.is_empty() { String::from(name) } else { format!("{}/{name}", at.path) };
    TreePath { tree: at.tree.clone(), path }
}
