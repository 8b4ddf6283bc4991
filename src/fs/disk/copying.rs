//! Copies of whole trees, by the other verbs. A file is in its place whole, or not at all.

use alloc::format;
use alloc::string::String;
use std::ffi::OsStr;

use super::placing::temporary;
use super::{At, Disk, refused};
use crate::operation::{Failure, Kind, Stat};

/// So much of a file is in memory.
const PIECE: u64 = 4 * 1024 * 1024;

impl Disk {
    /// Copies a file, or a folder with all in it; how many bytes that were. `missing`: only what is not there.
    pub fn copy(&mut self, from: &At, to: &At, missing: bool) -> Result<u64, Failure> {
        match self.stat(from)? {
            Some(Stat { kind: Kind::Folder, .. }) => {
                let mut bytes = 0;
                for entry in self.list(from, &[])?.unwrap_or_default() {
                    bytes += self.copy(&below(from, &entry.name), &below(to, &entry.name), missing)?;
                }
                Ok(bytes)
            }
            Some(Stat { kind: Kind::Other, .. }) => {
                let path = from.whole();
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

    fn copy_file(&mut self, from: &At, to: &At, size: u64) -> Result<u64, Failure> {
        if size <= PIECE {
            let bytes = self.read(from, 0, Some(size))?.unwrap_or_default();
            self.replace(to, &bytes, None)?;
            return Ok(bytes.len() as u64);
        }
        // Beside its place until it is whole: whoever looks at what is missing finds no part of it there.
        let name = temporary(OsStr::new(to.path.rsplit('/').next().unwrap_or_default()));
        let name = name.map_err(|fault| refused("copy", &from.whole(), Some(&to.whole()), fault))?;
        let place = beside(to, &name.to_string_lossy());
        let filled = self.fill(from, &place, size).and_then(|()| self.rename(&place, to));
        if filled.is_err() {
            // The caller hears why copying failed; that a temporary file stayed behind must not hide it.
            let _ = self.remove(&place);
        }
        filled.map(|()| size)
    }

    fn fill(&mut self, from: &At, to: &At, size: u64) -> Result<(), Failure> {
        let mut at = 0;
        while at < size {
            let bytes = self.read(from, at, Some(size.min(at + PIECE)))?.unwrap_or_default();
            if bytes.is_empty() {
                let path = from.whole();
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

fn beside(at: &At, name: &str) -> At {
    let path = match at.path.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{name}"),
        None => name.into(),
    };
    At { tree: at.tree.clone(), path }
}

fn below(at: &At, name: &str) -> At {
    let path = if at.path.is_empty() { String::from(name) } else { format!("{}/{name}", at.path) };
    At { tree: at.tree.clone(), path }
}
