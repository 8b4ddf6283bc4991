//! The index of a store: one line for each session, so that a listing need not open them. A cache: what it says of a
//! session is believed only where the session's logs are as they were, which the host checks.
//!
//! Append-only; of the lines of one path the newest counts. A line without its right checksum is passed by.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use memchr::memchr;
use memchr::memmem::Finder;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::error::{Code, Error};
use crate::json::fields::Fields;
use crate::json::text::{Extra, Open};
use crate::record::event::{Parent, Project};
use crate::record::line::{self, Checksum};
use crate::record::status::Status;
use crate::session::handle::Session;
use crate::time;

// What a line of the index begins with; the path stands first, so that the newest line of one is found without parsing.
const HEAD: &[u8] = b"{\"v\":1,\"path\":\"";

/// What finds a session, and what lists show besides.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    path: &'a str,
    placement: &'a str,
    // What the logs were like, in the host's words.
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
    // Whose session it was before it was imported, empty where it is ours.
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

impl Open for Entry<'_> {
    fn extra(&self) -> &Extra {
        &self.extra
    }
}

/// The line of a session. `place` is `{"path","placement","files"}`: where it lies, and what its logs are like, in words
/// that the host compares later.
///
/// # Errors
/// `invalid_request` where the place is none; `line_too_long`.
pub fn write(session: &Session, place: &str) -> Result<String, Error> {
    let wrong = || Error::new(Code::InvalidRequest, "expected a path, a placement and files, but found less");
    let mut bad = Vec::new();
    let mut fields = Fields::parse(place).map_err(|_| wrong())?;
    let path: String = fields.take("path", &mut bad).ok_or_else(wrong)?;
    let placement: String = fields.take("placement", &mut bad).ok_or_else(wrong)?;
    let files = fields.take_raw("files").unwrap_or("null");
    let metadata = session.metadata();
    let known = session.known();
    let agent = &metadata.agent;
    let none = Project::default();
    let project = metadata.project.as_ref().unwrap_or(&none);
    let created_at = metadata.created_at.as_deref().unwrap_or_default();
    line::write(&Entry {
        path: &path,
        placement: &placement,
        files: serde_json::from_str(files).map_err(|_| wrong())?,
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
        session_type: if metadata.session_type.is_empty() { "chat" } else { &metadata.session_type },
        name: metadata.name.as_deref(),
        summary: metadata.summary.as_deref(),
        archived_at: metadata.archived_at.as_deref(),
        parent: metadata.parent.as_ref(),
        extra: Extra::default(),
    })
}

// Lists sort by it as a text, so all are written alike. A time that is none sorts as what it is.
fn last_active(message_ms: Option<i64>, created_at: &str) -> String {
    message_ms.or_else(|| time::parse(created_at)).map_or_else(|| created_at.into(), time::format)
}

/// What an index says, and what is wrong with it.
pub struct Read<'a> {
    // The sound lines, and where they begin.
    sound: Vec<(usize, Line<'a>)>,
    /// How many lines there are.
    pub lines: u64,
    /// How many of them are none of an index of this version.
    pub damaged: u64,
}

// A line whose checksum is right, and what is cut out of it without parsing: JSON as it is written there, the texts
// without their quotes.
struct Line<'a> {
    whole: &'a str,
    path: &'a str,
    files: &'a str,
    created_at: &'a str,
    last_accessed_at: &'a str,
}

// What stands between the parts of a line, in the order of the entry's fields. Inside a string a quote is escaped: none
// of these is part of one.
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
pub fn read(index: &[u8]) -> Read<'_> {
    let keys = Keys::default();
    let mut read = Read { sound: Vec::new(), lines: 0, damaged: 0 };
    let mut start = 0;
    while start < index.len() {
        let end = memchr(b'\n', &index[start..]).map_or(index.len(), |length| start + length);
        if start < end {
            read.lines += 1;
            match Line::of(&index[start..end], &keys) {
                Some(line) => read.sound.push((start, line)),
                None if is_sealed(&index[start..end]) => {} // Of a version that knew less: of no use, and whole.
                None => read.damaged += 1,
            }
        }
        start = end + 1;
    }
    read
}

impl Read<'_> {
    /// The newest line of each path, one after another, each with its line feed. A right checksum does not make JSON,
    /// somebody may have made it so: that the reader finds out where it wants to know more than the path.
    pub fn newest(&self) -> String {
        let newest: BTreeMap<&str, &str> =
            self.sound.iter().map(|(_, line)| (line.path, line.whole)).collect();
        newest.into_values().flat_map(|line| [line, "\n"]).collect()
    }

    /// What a list needs of all of them, a row each, with tabs between: where the line begins; 1 where its session was
    /// last active by a message; when that was; its files and its path, as JSON writes them. The newest row of a path is
    /// its last one.
    pub fn rows(&self) -> String {
        let mut rows = String::new();
        for (start, line) in &self.sound {
            let is_timed = if line.is_timed() { "1" } else { "0" };
            let Line { path, files, last_accessed_at: last, .. } = line;
            rows.extend([&start.to_string(), "\t", is_timed, "\t", last, "\t", files, "\t", path, "\n"]);
        }
        rows
    }
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

impl<'a> Line<'a> {
    fn of(line: &'a [u8], keys: &Keys) -> Option<Self> {
        if !is_sealed(line) {
            return None;
        }
        let whole = core::str::from_utf8(line).ok()?;
        let mut rest = &whole[HEAD.len()..];
        let path = before(&mut rest, &keys.placement)?;
        before(&mut rest, &keys.files)?;
        let files = before(&mut rest, &keys.id)?;
        before(&mut rest, &keys.agent)?;
        before(&mut rest, &keys.created_at)?;
        let created_at = before(&mut rest, &keys.last_accessed_at)?;
        let last_accessed_at = before(&mut rest, &keys.quote)?;
        Some(Self { whole, path, files, created_at, last_accessed_at })
    }

    // Without a message it is as old as what began it, in other words perhaps: as it was given, and as we write it.
    fn is_timed(&self) -> bool {
        let (created, last) = (self.created_at, self.last_accessed_at);
        created != last && (created.len() == last.len() || time::parse(created) != time::parse(last))
    }
}

fn is_sealed(line: &[u8]) -> bool {
    line.starts_with(HEAD) && line::checksum(line) == Checksum::Right
}

// What stands before the key; `rest` is what stands behind it.
fn before<'a>(rest: &mut &'a str, key: &Finder<'_>) -> Option<&'a str> {
    let at = key.find(rest.as_bytes())?;
    let found = &rest[..at];
    *rest = &rest[at + key.needle().len()..];
    Some(found)
}
