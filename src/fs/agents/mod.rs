//! Finds other agents' files and reads the sessions in each. Where agents keep them, and their names, the core says.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::Serialize;

use super::disk::{Disk, TreePath};
use super::tree::Tree;
use crate::interop::locations::{self, TranscriptLocation};
use crate::interop::opencode;
use crate::operation::{AgentDocument, Failure, FileKind};

/// The first bytes of an SQLite database.
const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";
/// The first bytes of a file compressed by zstd.
const ZSTD_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// An agent's file, as an import takes it.
#[derive(Debug, Serialize)]
pub(super) struct AgentFile {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'static str>,
    /// Another one once it has changed.
    size: String,
    bytes: u64,
    /// The time of its last change, in milliseconds since 1970.
    changed: i64,
}

impl AgentFile {
    /// A file that the user named.
    pub fn from_path(path: String) -> AgentFile {
        let (size, bytes, changed) = size_of(&path);
        AgentFile { path, agent: None, size, bytes, changed: changed as i64 }
    }
}

/// The files to look for.
pub(super) enum FileScope<'a> {
    /// All below a folder.
    All(String),
    /// Those that an agent keeps.
    Of(&'a TranscriptLocation),
}

/// The documents of a file: the file itself; or each session of OpenCode's folders.
pub(super) fn documents(disk: &Disk, path: &str) -> Result<VecDeque<AgentDocument>, Failure> {
    if disk.stat(&any_path(path))?.is_some_and(|stat| stat.kind == FileKind::Folder) {
        return sessions_in(disk, path);
    }
    Ok(VecDeque::from([AgentDocument { bytes: read_plain_file(disk, path)?, is_alone: true, failure: None }]))
}

fn sessions_in(disk: &Disk, root: &str) -> Result<VecDeque<AgentDocument>, Failure> {
    let mut places = BTreeMap::new();
    walk(disk, root, false, &mut |Visit { path, name, .. }| {
        places.insert(String::from(name[root.len()..].trim_start_matches('/')), String::from(path));
    });
    let paths: Vec<&str> = places.keys().map(String::as_str).collect();
    let read = |name: String| {
        let bytes = match places.get(&name) {
            Some(path) => disk.read(&any_path(path), 0, None)?,
            None => None,
        };
        Ok((name, bytes.unwrap_or_default()))
    };
    let read_all =
        |paths: Vec<String>| paths.into_iter().map(read).collect::<Result<BTreeMap<_, _>, Failure>>();
    let groups = opencode::session_groups(&paths, &read_all(opencode::paths_to_read_first(&paths))?);
    let mut all = VecDeque::new();
    for group in groups {
        let sessions = opencode::sessions_of_tree(&read_all(group)?).into_iter();
        all.extend(sessions.map(|text| AgentDocument { bytes: text.into(), ..AgentDocument::default() }));
    }
    Ok(all)
}

// Reads a file as it is; refuses what this host has no library for.
fn read_plain_file(disk: &Disk, path: &str) -> Result<Vec<u8>, Failure> {
    let refused = |code: &str, message: String| Failure { code: code.into(), message, ..Failure::default() };
    let bytes = disk.read(&any_path(path), 0, None)?;
    let bytes = bytes.ok_or_else(|| refused("not_found", format!("no file or folder \"{path}\"")))?;
    let unread = match &bytes {
        bytes if bytes.starts_with(SQLITE_MAGIC) => "a database, which this host does not read",
        bytes if bytes.starts_with(ZSTD_MAGIC) => "what zstd compressed, which this host does not unpack",
        _ => return Ok(bytes),
    };
    let message = format!("expected a plain file at \"{path}\", but found {unread}");
    Err(refused("missing_dependency", message))
}

/// Finds the files as they are now, ordered by path. A folder that cannot be looked at counts as empty.
pub(super) fn find_files(disk: &Disk, wanted: &FileScope<'_>) -> Vec<AgentFile> {
    let (root, agent) = match wanted {
        FileScope::All(root) => (root, None),
        FileScope::Of(kept) => (&kept.path, Some(kept.agent.as_str())),
    };
    let is = |path: &str| match wanted {
        FileScope::All(_) => true,
        FileScope::Of(kept) => kept.names.matches(path[root.len()..].trim_start_matches('/')),
    };
    let mut all = Vec::new();
    walk(disk, root, true, &mut |Visit { path, name, is_tree }| {
        if is_tree || is(name) {
            let (size, bytes, changed) = if is_tree { size_of_tree(disk, path) } else { size_of(path) };
            all.push(AgentFile { path: path.into(), agent, size, bytes, changed: changed as i64 });
        }
    });
    all
}

// A file, or a folder that counts as one: its place, and the path by which it was reached.
struct Visit<'a> {
    path: &'a str,
    name: &'a str,
    is_tree: bool,
}

// Visits the files below a path; where `stops`, also a folder that counts as one. Links are followed and each folder is
// visited once: people keep their agents' files elsewhere, and link to them.
fn walk(disk: &Disk, path: &str, stops: bool, visit: &mut dyn FnMut(Visit<'_>)) {
    walk_by(disk, (path, path), stops, &mut BTreeSet::new(), visit);
}

fn walk_by(
    disk: &Disk,
    (path, name): (&str, &str),
    stops: bool,
    met: &mut BTreeSet<String>,
    visit: &mut dyn FnMut(Visit<'_>),
) {
    let kind_of = |path: &str| disk.stat(&any_path(path)).ok().flatten().map(|stat| stat.kind);
    let (mut kind, mut path) = (kind_of(path), String::from(path));
    if kind == Some(FileKind::Other) {
        let Some(real) =
            Path::new(&path).canonicalize().ok().and_then(|real| real.to_str().map(String::from))
        else {
            return;
        };
        (kind, path) = (kind_of(&real), real);
    }
    if kind == Some(FileKind::File) {
        return visit(Visit { path: &path, name, is_tree: false });
    }
    let is_new_folder = kind == Some(FileKind::Folder) && met.insert(path.clone());
    let entries =
        is_new_folder.then(|| disk.list(&any_path(&path), &[]).ok().flatten()).flatten().unwrap_or_default();
    let folders: Vec<&str> =
        entries.iter().filter(|one| one.kind == FileKind::Folder).map(|one| &*one.name).collect();
    if stops && locations::is_opencode_tree(&folders) {
        return visit(Visit { path: &path, name, is_tree: true });
    }
    let below = |above: &str, entry: &str| format!("{}/{entry}", above.trim_end_matches('/'));
    for entry in &entries {
        walk_by(disk, (&below(&path, &entry.name), &below(name, &entry.name)), stops, met, visit);
    }
}

// A text that differs once a file has changed, its length, and the time of its last change in milliseconds.
fn size_of(path: &str) -> (String, u64, f64) {
    let Some((bytes, changed)) = size_and_mtime(path) else { return (String::new(), 0, 0.0) };
    let mut words = Vec::from([bytes.to_string(), changed.to_string()]);
    // What SQLite has written and not put into the database yet.
    if let Some((bytes, changed)) = size_and_mtime(&format!("{path}-wal")) {
        words.extend([bytes.to_string(), changed.to_string()]);
    }
    (words.join(" "), bytes, changed)
}

fn size_of_tree(disk: &Disk, path: &str) -> (String, u64, f64) {
    let (mut count, mut newest, mut bytes) = (0, 0.0, 0);
    walk(disk, path, false, &mut |Visit { path, .. }| {
        let (size, changed) = size_and_mtime(path).unwrap_or_default();
        (count, newest, bytes) = (count + 1, f64::max(newest, changed), bytes + size);
    });
    (format!("{count} {newest} {bytes}"), bytes, newest)
}

// A file's size, and its time of change in milliseconds as JavaScript has them.
fn size_and_mtime(path: &str) -> Option<(u64, f64)> {
    let found = Path::new(path).symlink_metadata().ok()?;
    Some((found.len(), found.mtime() as f64 * 1000.0 + found.mtime_nsec() as f64 / 1e6))
}

fn any_path(path: &str) -> TreePath {
    TreePath { tree: Tree::of_disk(), path: path.into() }
}

/// This program's environment variables.
pub(super) fn variables() -> BTreeMap<String, String> {
    let word =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    std::env::vars_os().filter_map(word).collect()
}

/// The user's home folder.
pub(super) fn user_home() -> String {
    std::env::home_dir().unwrap_or_default().to_string_lossy().into()
}

/// The transcript locations of all agents on this machine.
pub(super) fn transcript_locations(project: &Path) -> Box<[TranscriptLocation]> {
    let (variables, user) = (variables(), user_home());
    let system = if cfg!(target_os = "macos") { locations::System::MacOs } else { locations::System::Other };
    locations::transcript_locations(&project.to_string_lossy(), &user, &variables, system).into()
}
