//! The session index of a store: one line for each session, so that a listing need not open them. A cache: what it
//! says of a session is believed only where the session's logs are as they were, which the host checks.
//!
//! Append-only; of the lines of one path the newest counts. A line without its right checksum is skipped.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;
use core::cmp::Ordering;

use memchr::memmem::Finder;
use memchr::{memchr, memrchr};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::error::Error;
use crate::json::text::{Extra, Open, to_json};
use crate::layout::Placement;
use crate::record::event::{Parent, Project};
use crate::record::line::{self, Checksum};
use crate::record::status::Status;
use crate::session::file_prints::{self, FilePrint};
use crate::session::handle::Session;
use crate::session::session_list::{IndexEntry, ListedSession};
use crate::time;

// The beginning of an index line; the path stands first, so that the newest line of one is found without parsing.
const LINE_PREFIX: &[u8] = b"{\"v\":1,\"path\":\"";

/// A line of the index: the fields by which a session is found, and those that lists show besides.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct IndexRecord<'a> {
    path: &'a str,
    placement: &'a str,
    // The prints of the logs, in the host's words.
    files: &'a RawValue,
    id: &'a str,
    project_path: &'a str,
    project_hash: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    remote: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_commit: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<&'a str>,
    title: String,
    // The agent it was imported from, empty for our own.
    agent: &'a str,
    created_at: &'a str,
    last_accessed_at: String,
    message_count: u64,
    total_tokens: u64,
    provider: Provider<'a>,
    status: &'static str,
    lifecycle: Status,
    #[serde(rename = "type")]
    session_type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    archived_at: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a Parent>,
    #[serde(skip)]
    extra: Extra,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Provider<'a> {
    #[serde(rename = "type")]
    provider_type: &'a str,
    model: &'a str,
    context_window: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    base_url: Option<&'a str>,
}

impl Open for IndexRecord<'_> {
    fn extra(&self) -> &Extra {
        &self.extra
    }
}

/// Writes the line of a session: its path, below the home if it lies there, and the prints of its files.
///
/// # Errors
/// `line_too_long`.
pub fn write_line(
    session: &Session,
    path: &str,
    placement: Placement,
    files: &[FilePrint],
) -> Result<String, Error> {
    let files = file_prints::write_prints(files);
    let metadata = session.metadata();
    let known = session.log_state();
    let agent = &metadata.agent;
    let none = Project::default();
    let project = metadata.project.as_ref().unwrap_or(&none);
    let created_at = metadata.created_at.as_deref().unwrap_or_default();
    line::write(&IndexRecord {
        path,
        placement: match placement {
            Placement::Home => "home",
            Placement::Workspace => "workspace",
        },
        files: serde_json::from_str(&files).unwrap_or(RawValue::NULL),
        id: &metadata.id,
        project_path: &project.path,
        project_hash: &project.hash,
        remote: project.remote.as_deref(),
        first_commit: project.first_commit.as_deref(),
        folder: project.folder.as_deref(),
        title: metadata.title(&known.titles),
        agent: metadata.imported.as_ref().map_or("", |imported| &imported.agent),
        created_at,
        last_accessed_at: last_active(known.last_message_ms, created_at),
        message_count: known.messages,
        total_tokens: known.tokens,
        provider: Provider {
            provider_type: agent.provider.as_deref().unwrap_or_default(),
            model: agent.model.as_deref().unwrap_or_default(),
            context_window: agent.context_window.unwrap_or_default(),
            base_url: agent.base_url.as_deref(),
        },
        status: if metadata.archived_at.is_some() { "archived" } else { "active" },
        lifecycle: metadata.status,
        session_type: &metadata.session_type,
        name: metadata.name.as_deref(),
        summary: metadata.summary.as_deref(),
        archived_at: metadata.archived_at.as_deref(),
        parent: metadata.parent.as_ref(),
        extra: Extra::default(),
    })
}

// Lists sort by it as a text, so all are written alike. What is no time sorts as the text it is.
fn last_active(message_ms: Option<i64>, created_at: &str) -> String {
    message_ms.or_else(|| time::parse(created_at)).map_or_else(|| created_at.into(), time::format)
}

/// The lines of an index, and what is wrong with it.
pub struct IndexScan<'a> {
    // The sound lines, with their offsets.
    sound_lines: Vec<(usize, IndexLine<'a>)>,
    /// How many lines there are.
    pub lines: u64,
    /// How many of them no index of this version would have.
    pub damaged_lines: u64,
}

// A line with the right checksum, and the parts cut out of it without parsing: JSON as written, texts without their
// quotes.
struct IndexLine<'a> {
    text: &'a str,
    path: &'a str,
    files: &'a str,
    created_at: &'a str,
    last_accessed_at: &'a str,
}

// The text between the parts of a line, in the order of the entry's fields. Inside a string a quote is escaped: so
// none of these is part of one.
struct Keys {
    placement: Finder<'static>,
    files: Finder<'static>,
    id: Finder<'static>,
    agent: Finder<'static>,
    created_at: Finder<'static>,
    last_accessed_at: Finder<'static>,
    quote: Finder<'static>,
}

/// Reads an index.
pub fn read_index(index: &[u8]) -> IndexScan<'_> {
    let keys = Keys::default();
    let mut read = IndexScan { sound_lines: Vec::new(), lines: 0, damaged_lines: 0 };
    let mut start = 0;
    while start < index.len() {
        let end = memchr(b'\n', &index[start..]).map_or(index.len(), |length| start + length);
        if start < end {
            read.lines += 1;
            match IndexLine::of(&index[start..end], &keys) {
                Some(line) => read.sound_lines.push((start, line)),
                None if is_sealed(&index[start..end]) => {} // Of an older version: of no use, but sound.
                None => read.damaged_lines += 1,
            }
        }
        start = end + 1;
    }
    read
}

impl IndexScan<'_> {
    /// The newest line of each path, one after another, each with its line feed. A right checksum proves no JSON, as
    /// somebody may have forged it: a reader that wants more than the path finds that out.
    pub fn newest(&self) -> String {
        let newest: BTreeMap<&str, &str> =
            self.sound_lines.iter().map(|(_, line)| (line.path, line.text)).collect();
        newest.into_values().flat_map(|line| [line, "\n"]).collect()
    }
}

/// A session index, and the place of each path's newest line in it. Of ten thousand lines, a list of twenty needs
/// twenty parsed.
#[derive(Debug, Default)]
pub struct SessionIndex {
    bytes: Vec<u8>,
    rows: BTreeMap<ReversedPath, IndexRow>,
    /// How many lines it has.
    pub lines: u64,
    /// How many of them are unusable.
    pub damaged_lines: u64,
}

// A path, compared from its end: those of one folder all begin alike, and ten thousand are compared a hundred
// thousand times.
#[derive(Debug, PartialEq, Eq)]
struct ReversedPath(String);

impl Ord for ReversedPath {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.bytes().rev().cmp(other.0.bytes().rev())
    }
}

impl PartialOrd for ReversedPath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A line of an index. Its checksum is right, which says only that somebody wrote it so.
#[derive(Debug)]
pub struct IndexRow {
    start: usize,
    end: usize,
    files: Box<[FilePrint]>,
    /// The listed session, cached once asked for: for unchanged files it is always the same.
    pub cached_session: OnceCell<Option<Rc<ListedSession>>>,
    /// When its session was active last.
    pub last_active: Box<str>,
    /// That time comes from its messages, not from something else that may have changed.
    pub has_message_time: bool,
}

impl IndexRow {
    /// Whether it was written for files like these; see [`file_prints::matches_files`].
    pub fn matches_files(&self, files: &[Option<FilePrint>]) -> bool {
        file_prints::matches_files(&self.files, files)
    }

    /// The print of its messages log.
    pub fn log_print(&self) -> FilePrint {
        self.files.first().copied().flatten()
    }
}

impl SessionIndex {
    /// Reads an index; `named` maps a stored path to the path it is known by.
    pub fn of(bytes: Vec<u8>, named: &dyn Fn(String) -> String) -> SessionIndex {
        let mut index = SessionIndex::default();
        index.extend(bytes, named);
        index
    }

    /// Reads lines that were added to it.
    pub fn extend(&mut self, added: Vec<u8>, named: &dyn Fn(String) -> String) {
        let from = self.bytes.len();
        let read = read_index(&added);
        self.lines += read.lines;
        self.damaged_lines += read.damaged_lines;
        for (start, line) in &read.sound_lines {
            let Ok(path) = serde_json::from_str(&["\"", line.path, "\""].concat()) else { continue };
            let row = IndexRow {
                start: from + start,
                end: from + start + line.text.len(),
                files: file_prints::parse_prints(line.files).unwrap_or_default().into(),
                cached_session: OnceCell::new(),
                last_active: line.last_accessed_at.into(),
                has_message_time: line.is_timed(),
            };
            self.rows.insert(ReversedPath(named(path)), row);
        }
        if from == 0 { self.bytes = added } else { self.bytes.extend_from_slice(&added) }
    }

    /// The lines that contain some bytes.
    #[cfg(feature = "interop")]
    pub fn lines_with(&self, wanted: &[u8]) -> Vec<u8> {
        lines_with(&self.bytes, wanted)
    }

    /// Its length in bytes.
    pub fn length(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The newest line of a path.
    pub fn row(&self, path: String) -> Option<&IndexRow> {
        self.rows.get(&ReversedPath(path))
    }

    /// The known paths and their lines, ordered by the ends of the paths.
    pub fn rows(&self) -> impl Iterator<Item = (&str, &IndexRow)> {
        self.rows.iter().map(|(path, row)| (&*path.0, row))
    }

    /// How many paths it knows.
    pub fn paths(&self) -> usize {
        self.rows.len()
    }

    /// Parses a line; `None` where it is no entry.
    pub fn entry(&self, row: &IndexRow) -> Option<IndexEntry> {
        self.bytes
            .get(row.start..row.end)
            .and_then(|line| core::str::from_utf8(line).ok())
            .and_then(IndexEntry::read)
    }
}

/// Finds the lines, each with its line feed, that contain some bytes: to parse them takes a tenth of the time that
/// all lines do.
pub fn lines_with(index: &[u8], wanted: &[u8]) -> Vec<u8> {
    let mut lines = Vec::new();
    let finder = Finder::new(wanted);
    let mut from = 0;
    while let Some(at) = finder.find(&index[from..]).map(|at| from + at) {
        let start = memrchr(b'\n', &index[..at]).map_or(0, |at| at + 1);
        from = memchr(b'\n', &index[at..]).map_or(index.len(), |length| at + length + 1);
        lines.extend_from_slice(&index[start..from]);
    }
    lines
}

/// Copies an index without the lines of a path.
pub fn drop_path(index: &[u8], path: &str) -> Vec<u8> {
    let head = ["{\"v\":1,\"path\":", &to_json(path), ","].concat();
    let lines = index.split_inclusive(|byte| *byte == b'\n');
    lines.filter(|line| !line.starts_with(head.as_bytes())).flatten().copied().collect()
}

impl Default for Keys {
    fn default() -> Self {
        Self {
            placement: Finder::new("\",\"placement\":\""),
            files: Finder::new(",\"files\":"),
            id: Finder::new(",\"id\":\""),
            agent: Finder::new("\",\"agent\":\""),
            created_at: Finder::new("\",\"createdAt\":\""),
            last_accessed_at: Finder::new("\",\"lastAccessedAt\":\""),
            quote: Finder::new("\""),
        }
    }
}

impl<'a> IndexLine<'a> {
    fn of(line: &'a [u8], keys: &Keys) -> Option<Self> {
        if !is_sealed(line) {
            return None;
        }
        let whole = core::str::from_utf8(line).ok()?;
        let mut rest = &whole[LINE_PREFIX.len()..];
        let path = split_before(&mut rest, &keys.placement)?;
        split_before(&mut rest, &keys.files)?;
        let files = split_before(&mut rest, &keys.id)?;
        split_before(&mut rest, &keys.agent)?;
        split_before(&mut rest, &keys.created_at)?;
        let created_at = split_before(&mut rest, &keys.last_accessed_at)?;
        let last_accessed_at = split_before(&mut rest, &keys.quote)?;
        Some(Self { text: whole, path, files, created_at, last_accessed_at })
    }

    // Without a message, a session is as old as its first event, whose time may be written in two ways: as given, and
    // as we write it.
    fn is_timed(&self) -> bool {
        let (created, last) = (self.created_at, self.last_accessed_at);
        created != last && (created.len() == last.len() || time::parse(created) != time::parse(last))
    }
}

fn is_sealed(line: &[u8]) -> bool {
    line.starts_with(LINE_PREFIX) && line::checksum(line) == Checksum::Right
}

// The text before the key; `rest` becomes the text after it.
fn split_before<'a>(rest: &mut &'a str, key: &Finder<'_>) -> Option<&'a str> {
    let at = key.find(rest.as_bytes())?;
    let found = &rest[..at];
    *rest = &rest[at + key.needle().len()..];
    Some(found)
}
