//! The files that were imported, with their state at that time. It is a cache: without it, each file is read once
//! more.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::fields::Fields;
use crate::json::text::to_json;
use crate::layout;
use crate::operation::{Io, Trouble, unless_bug};

/// Files that are imported between two saves.
const FILES_PER_SAVE: usize = 256;
/// Raised when a reader learns to take more from a file, so that all files are read again.
const READERS_VERSION: u32 = 2;

pub(super) struct ImportedFiles {
    prints: BTreeMap<String, String>,
    is_changed: bool,
}

impl ImportedFiles {
    pub async fn load(io: &Io) -> Result<ImportedFiles, Trouble> {
        let bytes = unless_bug(io.read_all(&layout::import_cache()).await)?.flatten().unwrap_or_default();
        let prints = core::str::from_utf8(&bytes).ok().and_then(parse_imported_files).unwrap_or_default();
        Ok(ImportedFiles { prints, is_changed: false })
    }

    pub fn contains(&self, path: &str, print: &str) -> bool {
        self.prints.get(path).is_some_and(|known| known == print)
    }

    pub async fn add(&mut self, io: &Io, path: String, print: String) -> Result<(), Trouble> {
        self.prints.insert(path, print);
        self.is_changed = true;
        // So that an interrupted import need not begin anew.
        if self.prints.len().is_multiple_of(FILES_PER_SAVE) { self.save(io).await } else { Ok(()) }
    }

    pub async fn save(&mut self, io: &Io) -> Result<(), Trouble> {
        if !self.is_changed {
            return Ok(());
        }
        let json = format!("{{\"readers\":{READERS_VERSION},\"files\":{}}}", to_json(&self.prints));
        unless_bug(io.replace(&layout::import_cache(), json.into_bytes(), None).await)?;
        self.is_changed = false;
        Ok(())
    }
}

fn parse_imported_files(json: &str) -> Option<BTreeMap<String, String>> {
    let mut fields = Fields::parse(json).ok()?;
    if fields.take::<u64>("readers", &mut Vec::new())? != u64::from(READERS_VERSION) {
        return None;
    }
    serde_json::from_str(fields.take_raw("files")?).ok()
}
