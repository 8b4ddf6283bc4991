//! Session lists: what they show, which sessions, and in which order.

mod list_request;

use alloc::rc::Rc;
use alloc::string::String;
#[cfg(feature = "interop")]
use alloc::vec::Vec;
use core::cell::OnceCell;
use core::cmp::Ordering;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::json::fields::Fields;
use crate::json::text::{Text, to_json};
use crate::layout::{Placement, SessionLocation};
use crate::project::Aliases;
use crate::record::event::USUAL_TYPE;
use crate::record::status::Status;
use crate::session::file_prints::FilePrint;
use crate::session::name_order::compare_names;
use crate::time;

#[cfg(feature = "interop")]
pub(crate) use list_request::take_time;

/// A title or summary shorter than this was not cut.
#[cfg(feature = "interop")]
const MIN_CUT_CHARS: usize = 40;

/// What a line of the index says of a session.
#[derive(Clone, Debug)]
pub struct IndexEntry {
    /// Its placement.
    pub placement: Placement,
    /// Its id.
    pub id: String,
    /// Its name in its workspace.
    pub name: Option<String>,
    /// Its title.
    pub title: String,
    /// The type of conversation.
    pub session_type: String,
    /// Its status; `None` where it cannot be opened.
    pub lifecycle: Option<Status>,
    /// Whether it is archived.
    pub is_archived: bool,
    /// When it was active last, RFC 3339.
    pub last_active: String,
    /// The folder that it was begun in.
    pub project: String,
    /// What else its project is known by.
    pub aliases: Aliases,
    /// The agent that it was imported from, else empty.
    pub agent: String,
    created_at: String,
    message_count: u64,
    total_tokens: u64,
    project_hash: String,
    archived_at: Option<String>,
    summary: Option<String>,
    provider: String,
}

/// The keys of a line, in the order of [`IndexEntry::read`].
const LINE_KEYS: [&str; 20] = [
    "placement",
    "lifecycle",
    "status",
    "id",
    "name",
    "title",
    "type",
    "lastAccessedAt",
    "projectPath",
    "agent",
    "createdAt",
    "projectHash",
    "archivedAt",
    "summary",
    "remote",
    "firstCommit",
    "folder",
    "messageCount",
    "totalTokens",
    "provider",
];

/// A listed session as callers get it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownSession<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    session_type: &'a str,
    title: &'a str,
    status: &'a str,
    last_active: &'a str,
    summary: Option<&'a str>,
    message_count: u64,
    placement: &'a str,
    path: &'a str,
    project_hash: &'a str,
    created_at: &'a str,
    total_tokens: u64,
    provider: &'a RawValue,
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    agent: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    archived_at: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    project: &'a str,
}

const NO_PROVIDER: &str = r#"{"type":"","model":"","contextWindow":0}"#;

impl IndexEntry {
    /// Reads a line; `None` where it lacks what every line has.
    pub fn read(line: &str) -> Option<IndexEntry> {
        let fields = Fields::parse(line).ok()?;
        // A list reads thousands of these: each is gone through once, not once for each of its keys.
        let mut values = [None; LINE_KEYS.len()];
        for (key, value) in fields.decoded_entries().filter(|(_, value)| *value != "null") {
            if let Some(at) = LINE_KEYS.iter().position(|known| *known == key) {
                values[at] = Some(value);
            }
        }
        let [placement, lifecycle, status, id, name, title, kind, last, project, agent, values @ ..] = values;
        let [created, hash, archived, summary, remote, commit, folder, messages, tokens, provider] = values;
        let lifecycle = match &*decode_text(lifecycle?)? {
            "unreadable" => None,
            lifecycle => Some(Status::from_name(lifecycle)?),
        };
        Some(IndexEntry {
            placement: Placement::from_name(&decode_text(placement?)?)?,
            lifecycle,
            aliases: Aliases {
                remote: remote.and_then(decode_text),
                first_commit: commit.and_then(decode_text),
                folder: folder.and_then(decode_text),
            },
            id: decode_text(id?)?,
            name: name.and_then(decode_text),
            title: decode_text(title?)?,
            session_type: decode_text(kind?)?,
            is_archived: decode_text(status?)? == "archived",
            last_active: decode_text(last?)?,
            project: decode_text(project?)?,
            agent: decode_text(agent?)?,
            created_at: decode_text(created?)?,
            project_hash: decode_text(hash?)?,
            archived_at: archived.and_then(decode_text),
            summary: summary.and_then(decode_text),
            message_count: messages?.parse().ok()?,
            total_tokens: tokens?.parse().ok()?,
            provider: provider.filter(|provider| provider.starts_with('{'))?.into(),
        })
    }

    /// The entry of a session that cannot be opened.
    pub fn unreadable(placement: Placement, id: &str) -> IndexEntry {
        IndexEntry {
            placement,
            id: id.into(),
            name: None,
            title: String::new(),
            session_type: USUAL_TYPE.into(),
            lifecycle: None,
            is_archived: false,
            last_active: String::new(),
            project: String::new(),
            aliases: Aliases::default(),
            agent: String::new(),
            created_at: String::new(),
            message_count: 0,
            total_tokens: 0,
            project_hash: String::new(),
            archived_at: None,
            summary: None,
            provider: NO_PROVIDER.into(),
        }
    }

    /// Its status as a word.
    pub fn status(&self) -> &'static str {
        self.lifecycle.map_or("unreadable", Status::as_str)
    }
}

/// A listed session: its entry, its path, and the folder it belongs to, as shown to people.
#[derive(Clone, Debug)]
pub struct ListedSession {
    /// Its entry.
    pub entry: IndexEntry,
    /// Its path.
    pub path: String,
    /// The same, as the core has it.
    pub place: Rc<SessionLocation>,
    /// Its name in the index of its store, cached once asked for.
    pub key: OnceCell<Rc<str>>,
    /// The folder it belongs to; for a workspace session, wherever that is checked out.
    pub folder: String,
    /// When it was active last, in milliseconds since 1970; `None` where that is no time.
    pub last_ms: Option<i64>,
    /// The size and time of its messages log, where the list looked at it.
    pub log_print: FilePrint,
}

impl ListedSession {
    /// Its title, name and summary, to search in.
    #[cfg(feature = "interop")]
    pub fn names(&self) -> Vec<&str> {
        let IndexEntry { title, summary, name, .. } = &self.entry;
        core::iter::once(title.as_str()).chain(summary.as_deref()).chain(name.as_deref()).collect()
    }

    /// Whether its title or summary may be cut from a longer text.
    #[cfg(feature = "interop")]
    pub(crate) fn may_be_cut(&self) -> bool {
        let is_long = |text: &str| text.encode_utf16().count() >= MIN_CUT_CHARS;
        is_long(&self.entry.title) || self.entry.summary.as_deref().is_some_and(is_long)
    }

    /// Writes it as callers get it, JSON.
    pub fn write(&self, to: &mut String) {
        let IndexEntry { placement, id, name, title, session_type, last_active: last, agent, .. } =
            &self.entry;
        let provider = serde_json::from_str(&self.entry.provider);
        let shown = ShownSession {
            id,
            session_type,
            title,
            status: self.entry.status(),
            last_active: last,
            summary: self.entry.summary.as_deref(),
            message_count: self.entry.message_count,
            placement: match placement {
                Placement::Home => "home",
                Placement::Workspace => "workspace",
            },
            path: &self.path,
            project_hash: &self.entry.project_hash,
            created_at: &self.entry.created_at,
            total_tokens: self.entry.total_tokens,
            provider: provider.unwrap_or(RawValue::NULL),
            name: name.as_deref().unwrap_or_default(),
            agent,
            archived_at: self.entry.archived_at.as_deref().unwrap_or_default(),
            project: &self.folder,
        };
        to.push_str(&to_json(&shown));
    }
}

/// A list request: which sessions, how many, and in which order.
#[derive(Clone, Debug, Default)]
pub struct ListRequest {
    /// Those of all projects.
    pub all_projects: bool,
    /// The index is believed without looking at the files.
    pub is_unverified: bool,
    /// A session open here counts as open elsewhere, and is not paused: the caller does not list it as its own, and
    /// may be another module.
    pub counts_own_as_foreign: bool,
    /// Sessions that have been idle for long are not paused.
    pub keeps_idle: bool,
    /// At most so many.
    pub limit: Option<usize>,
    /// The order.
    pub sort: SortOrder,
    session_type: TypeFilter,
    lifecycle: Option<Option<Status>>,
    archived_filter: Option<bool>,
    agent: Option<String>,
    folder: Option<String>,
    since_ms: Option<i64>,
    until_ms: Option<i64>,
}

#[derive(Clone, Debug, Default)]
enum TypeFilter {
    #[default]
    NoSubagent,
    Any,
    Of(String),
}

/// The sort order. Equal sessions are sorted by last activity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortOrder {
    /// The last active one first.
    #[default]
    Active,
    /// The newest one first.
    Created,
    /// By title; see [`compare_names`].
    Title,
    /// The one with most messages first.
    Messages,
    /// By agent, as by title.
    Agent,
    /// By the project's folder, as by title.
    Project,
}

impl ListRequest {
    /// The usual list, with archived and sub-agents' sessions if `is_any`.
    pub fn usual(is_any: bool) -> ListRequest {
        let session_type = if is_any { TypeFilter::Any } else { TypeFilter::NoSubagent };
        ListRequest { session_type, archived_filter: (!is_any).then_some(false), ..ListRequest::default() }
    }

    /// Sessions to recall from, also archived ones: of the project, of the project of this folder, or of all.
    #[cfg(feature = "interop")]
    pub fn for_recall(all: bool, folder: Option<String>) -> ListRequest {
        ListRequest { all_projects: all || folder.is_some(), folder, ..ListRequest::default() }
    }

    /// The same request without its filters, for the project or for all.
    #[cfg(feature = "interop")]
    pub fn with_all_others(&self) -> ListRequest {
        let ListRequest { all_projects: all, is_unverified, .. } = *self;
        ListRequest {
            all_projects: all,
            is_unverified,
            counts_own_as_foreign: true,
            session_type: TypeFilter::Any,
            ..ListRequest::default()
        }
    }

    /// All sessions of the project or of all projects, in this folder if one is named, the last created first: whatever
    /// their type, archived or not. None is paused.
    #[cfg(feature = "interop")]
    pub(crate) fn for_any_type(all_projects: bool, folder: Option<String>) -> ListRequest {
        let (session_type, sort) = (TypeFilter::Any, SortOrder::Created);
        // To count is no reason to pause what is open here.
        let counts_own_as_foreign = true;
        ListRequest {
            all_projects,
            folder,
            session_type,
            sort,
            counts_own_as_foreign,
            ..ListRequest::default()
        }
    }

    /// Whether the list has it.
    pub fn includes(&self, session: &ListedSession) -> bool {
        let ListedSession { entry, folder, last_ms, .. } = session;
        let named = |wanted: &String| wanted == folder || folder.rsplit(['/', '\\']).next() == Some(wanted);
        self.archived_filter.is_none_or(|archived| archived == entry.is_archived)
            && self.lifecycle.is_none_or(|lifecycle| lifecycle == entry.lifecycle)
            && self.agent.as_ref().is_none_or(|agent| *agent == entry.agent)
            && self.folder.as_ref().is_none_or(named)
            && self.since_ms.is_none_or(|since| last_ms.is_some_and(|ms| ms >= since))
            && self.until_ms.is_none_or(|until| last_ms.is_some_and(|ms| ms <= until))
            && match &self.session_type {
                TypeFilter::Any => true,
                TypeFilter::NoSubagent => entry.session_type != "subagent",
                TypeFilter::Of(name) => *name == entry.session_type,
            }
    }
}

// A title that an agent cut may end with a lone surrogate.
fn decode_text(raw: &str) -> Option<String> {
    Text::decode(raw).map(Text::into_shown)
}

/// Compares sessions by when they were active last, as a number and as stored, and by their paths: the last active
/// one comes first. What is no time was long ago.
pub fn compare_last_active(one: (Option<i64>, &str, &str), other: (Option<i64>, &str, &str)) -> Ordering {
    let by_time = other.0.cmp(&one.0).then_with(|| other.1.cmp(one.1));
    by_time.then_with(|| one.2.cmp(other.2))
}

/// Sorts in the requested order.
pub fn sort_sessions(listed: &mut [Rc<ListedSession>], by: SortOrder) {
    fn active(session: &ListedSession) -> (Option<i64>, &str, &str) {
        (session.last_ms, &session.entry.last_active, &session.path)
    }
    listed.sort_by(|one, other| compare_last_active(active(one), active(other)));
    match by {
        SortOrder::Active => {}
        SortOrder::Created => {
            listed.sort_by_cached_key(|session| core::cmp::Reverse(time::parse(&session.entry.created_at)))
        }
        SortOrder::Title => listed.sort_by(|one, other| compare_names(&one.entry.title, &other.entry.title)),
        SortOrder::Messages => listed.sort_by_key(|session| core::cmp::Reverse(session.entry.message_count)),
        SortOrder::Agent => listed.sort_by(|one, other| compare_names(&one.entry.agent, &other.entry.agent)),
        SortOrder::Project => listed.sort_by(|one, other| compare_names(&one.folder, &other.folder)),
    }
}
