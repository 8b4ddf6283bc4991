//! Reads what an agent's file needs from other files: the rollouts that a Codex rollout continues, as a fork or after
//! a rewind, and a companion file, in which the agent says more of the session.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Importer;
use crate::interop::codex;
use crate::interop::locations::{ROLLOUTS, companion_paths, days_of, is_rollout_of};
use crate::layout::{File, Root};
use crate::operation::{FileKind, Trouble, unless_bug};

/// The most bytes of a companion file; none is larger.
pub(super) const MAX_COMPANION_BYTES: u64 = 1 << 24;

impl Importer<'_> {
    /// Puts a rollout after those that it continues, as far as they are found; the reader reports what is missing. Any
    /// other file is returned as it is.
    pub(super) async fn with_base(&self, path: &str, bytes: Vec<u8>) -> Result<Vec<u8>, Trouble> {
        let path = self.to_slash_path(path);
        if !path.rsplit('/').next().is_some_and(|name| name.starts_with("rollout-")) {
            return Ok(bytes);
        }
        let mut met = BTreeSet::from([path.clone()]);
        let (mut from, mut first, mut pieces) = (path, bytes, Vec::new());
        while let Some(base) = codex::find_base(&first) {
            let Some(found) = self.find_rollout(&from, &base.rollout).await? else { break };
            // A rollout that continues itself has no beginning.
            if !met.insert(found.clone()) {
                break;
            }
            let Some(before) = self.io.next_document(&self.to_native_path(&found), "null", true).await?
            else {
                break;
            };
            let Some(end) = base.part_len(&before.bytes) else { break };
            pieces.push((core::mem::replace(&mut first, before.bytes), end));
            from = found;
        }
        // The one found last comes first; of it, and of each that follows, only the part that the next one continues.
        let mut all = Vec::new();
        for (piece, end) in pieces.into_iter().rev() {
            all.extend_from_slice(first.get(..end).unwrap_or(&first));
            first = piece;
        }
        all.append(&mut first);
        Ok(all)
    }

    /// Reads the companion file of a session, if there is one; without it the session is read all the same.
    pub(super) async fn read_companion(&self, path: &str) -> Result<Option<Vec<u8>>, Trouble> {
        for place in companion_paths(&self.to_slash_path(path)) {
            let file = File::new(Root::Outside, self.to_native_path(&place));
            let stat = unless_bug(self.io.stat(&file).await)?.flatten();
            if stat.is_some_and(|stat| stat.kind == FileKind::File && stat.size <= MAX_COMPANION_BYTES)
                && let Some(bytes) = unless_bug(self.io.read_all(&file).await)?.flatten()
            {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }

    // Finds the file of a rollout: beside another one, in the folder of its own day, or anywhere below the roots.
    async fn find_rollout(&self, path: &str, id: &str) -> Result<Option<String>, Trouble> {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let home = folder
            .match_indices('/')
            .map(|(at, _)| at)
            .rev()
            .find(|at| ROLLOUTS.contains(&folder[at + 1..].split('/').next().unwrap_or_default()))
            .map(|at| &folder[..at]);
        let roots: Vec<String> =
            home.into_iter().flat_map(|home| ROLLOUTS.map(|root| format!("{home}/{root}"))).collect();
        let days = days_of(id);
        let near =
            roots.first().into_iter().flat_map(|root| days.iter().map(move |day| format!("{root}/{day}")));
        for folder in [String::from(folder)].into_iter().chain(near) {
            if let Some(found) = self.find_rollout_in(folder, id, false).await? {
                return Ok(Some(found));
            }
        }
        for root in roots {
            if let Some(found) = self.find_rollout_in(root, id, true).await? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    // Finds a rollout in a folder, or also in those below it. A folder that cannot be read has none.
    async fn find_rollout_in(
        &self,
        folder: String,
        id: &str,
        is_deep: bool,
    ) -> Result<Option<String>, Trouble> {
        let mut folders = Vec::from([folder]);
        while let Some(folder) = folders.pop() {
            let listed = self.io.list(&File::new(Root::Outside, self.to_native_path(&folder))).await;
            let entries = unless_bug(listed)?.flatten().unwrap_or_default();
            if let Some(found) = entries.iter().find(|entry| is_rollout_of(&entry.name, id)) {
                return Ok(Some(format!("{folder}/{}", found.name)));
            }
            let deeper = entries.iter().rev().filter(|entry| is_deep && entry.kind == FileKind::Folder);
            folders.extend(deeper.map(|entry| format!("{folder}/{}", entry.name)));
        }
        Ok(None)
    }

    // Paths with `/` inside, and with the host's separator outside.
    pub(super) fn to_slash_path(&self, path: &str) -> String {
        path.replace(&*self.store.setup.separator, "/")
    }

    pub(super) fn to_native_path(&self, path: &str) -> String {
        path.replace('/', &self.store.setup.separator)
    }
}
