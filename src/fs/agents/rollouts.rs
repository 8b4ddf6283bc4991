//! Codex's rollouts that go on with others: a fork's, and that of a thread that was rewound.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use std::path::Path;

use super::{at, plain};
use crate::fs::disk::Disk;
use crate::interop::codex;
use crate::interop::kept::{ROLLOUTS, days_of, is_rollout_of};
use crate::operation::{Failure, Kind};

/// A rollout behind all that it goes on with, as far as that is found: a reader says what is missing.
pub(super) fn with_base(disk: &Disk, path: &str, bytes: Vec<u8>) -> Result<Vec<u8>, Failure> {
    if !path.rsplit('/').next().is_some_and(|name| name.starts_with("rollout-")) {
        return Ok(bytes);
    }
    let mut met = BTreeSet::from([String::from(path)]);
    let (mut from, mut first, mut pieces) = (String::from(path), bytes, Vec::new());
    loop {
        let base = codex::base(&first);
        let found = base.as_ref().and_then(|base| rollout_of(disk, &from, &base.rollout));
        // One that goes on with itself has no beginning.
        let known = base.zip(found).filter(|(_, found)| met.insert(found.clone()));
        let Some((base, found)) = known else { break };
        let before = plain(disk, &found)?;
        let Some(end) = base.part(&before) else { break };
        pieces.push((core::mem::replace(&mut first, before), end));
        from = found;
    }
    // The last that was found stands first: of it, and of each that follows, what the next one goes on with.
    let mut all = Vec::new();
    for (piece, end) in pieces.into_iter().rev() {
        all.extend_from_slice(first.get(..end).unwrap_or(&first));
        first = piece;
    }
    all.append(&mut first);
    Ok(all)
}

// The file of a rollout: beside another one, on its own day, or wherever it lies.
fn rollout_of(disk: &Disk, path: &str, id: &str) -> Option<String> {
    let folder = Path::new(path).parent()?;
    let is_root =
        |folder: &&Path| ROLLOUTS.iter().any(|root| folder.file_name().is_some_and(|name| name == *root));
    let home = folder.ancestors().find(is_root).and_then(Path::parent).and_then(Path::to_str);
    let roots: Vec<String> =
        home.iter().flat_map(|home| ROLLOUTS.map(|root| format!("{home}/{root}"))).collect();
    let days = roots
        .first()
        .into_iter()
        .flat_map(|root| days_of(id).into_iter().map(move |day| format!("{root}/{day}")));
    let near: Vec<String> = folder.to_str().map(String::from).into_iter().chain(days).collect();
    near.iter()
        .find_map(|folder| within(disk, folder, id, false))
        .or_else(|| roots.iter().find_map(|root| within(disk, root, id, true)))
}

fn within(disk: &Disk, folder: &str, id: &str, is_deep: bool) -> Option<String> {
    let entries = disk.list(&at(folder), &[]).ok().flatten().unwrap_or_default();
    entries.iter().find_map(|entry| {
        let path = format!("{folder}/{}", entry.name);
        match entry.kind {
            Kind::Folder if is_deep => within(disk, &path, id, true),
            _ => is_rollout_of(&entry.name, id).then_some(path),
        }
    })
}
