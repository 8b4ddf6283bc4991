//! Copies of whole trees, by the other verbs.

use alloc::format;
use alloc::string::String;

use super::{At, Disk};
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
        Ok(size)
    }
}

fn below(at: &At, name: &str) -> At {
    let path = if at.path.is_empty() { String::from(name) } else { format!("{}/{name}", at.path) };
    At { tree: at.tree.clone(), path }
}
