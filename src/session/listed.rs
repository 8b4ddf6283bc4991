//! What lists show of sessions, which of them, and in which order.

mod wanted;

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
use crate::layout::{Place, Placement};
use crate::project::Aliases;
use crate::record::event::USUAL_TYPE;
use crate::record::status::Status;
use crate::session::names::in_words;
use crate::session::prints::Print;
use crate::time;

/// No title or summary that is shorter was cut.
#[cfg(feature = "interop")]
const CUT: usize = 40;

/// What a line of the index says of a session.
#[derive(Clone, Debug)]
pub struct Entry {
    /// How it is kept.
    pub placement: Placement,
    /// Its id.
    pub id: String,
    /// What it is called in its workspace.
    pub name: Option<String>,
    /// Its title.
    pub title: String,
    /// What sort of conversation it is.
    pub session_type: String,
    /// What it is; nothing where it cannot be opened.
    pub lifecycle: Option<Status>,
    /// It is hidden from lists.
    pub is_archived: bool,
    /// When it was active last, RFC 3339.
    pub last: String,
    /// The folder that it was begun in.
    pub project: String,
    /// By what else its project is known.
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

/// What is read of a line, in the order of [`Entry::read`].
const KEYS: [&str; 20] = [
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

/// As callers are told of it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
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

impl Entry {
    /// Reads a line; nothing where it is less.
    pub fn read(line: &str) -> Option<Entry> {
        let fields = Fields::parse(line).ok()?;
        // A list reads thousands of these: each is gone through once, not once for each of its keys.
        let mut values = [None; KEYS.len()];
        for (key, value) in fields.named().filter(|(_, value)| *value != "null") {
            if let Some(at) = KEYS.iter().position(|known| *known == key) {
                values[at] = Some(value);
            }
        }
        let [placement, lifecycle, status, id, name, title, kind, last, project, agent, values @ ..] = values;
        let [created, hash, archived, summary, remote, commit, folder, messages, tokens, provider] = values;
        let lifecycle = match &*shown(lifecycle?)? {
            "unreadable" => None,
            lifecycle => Some(Status::named(lifecycle)?),
        };
        Some(Entry {
            placement: Placement::named(&shown(placement?)?)?,
            lifecycle,
            aliases: Aliases {
                remote: remote.and_then(shown),
                first_commit: commit.and_then(shown),
                folder: folder.and_then(shown),
            },
            id: shown(id?)?,
            name: name.and_then(shown),
            title: shown(title?)?,
            session_type: shown(kind?)?,
            is_archived: shown(status?)? == "archived",
            last: shown(last?)?,
            project: shown(project?)?,
            agent: shown(agent?)?,
            created_at: shown(created?)?,
            project_hash: shown(hash?)?,
            archived_at: archived.and_then(shown),
            summary: summary.and_then(shown),
            message_count: messages?.parse().ok()?,
            total_tokens: tokens?.parse().ok()?,
            provider: provider.filter(|provider| provider.starts_with('{'))?.into(),
        })
    }

    /// One that cannot be opened.
    pub fn unreadable(placement: Placement, id: &str) -> Entry {
        Entry {
            placement,
            id: id.into(),
            name: None,
            title: String::new(),
            session_type: USUAL_TYPE.into(),
            lifecycle: None,
            is_archived: false,
            last: String::new(),
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

    /// What it is, in a word.
    pub fn status(&self) -> &'static str {
        self.lifecycle.map_or("unreadable", Status::as_str)
    }
}

/// One that is listed: what is known of it, where it lies, and the folder it belongs to, as people call them.
#[derive(Clone, Debug)]
pub struct Listed {
    /// What is known of it.
    pub entry: Entry,
    /// Where it lies.
    pub path: String,
    /// The same, as the core has it.
    pub place: Rc<Place>,
    /// What the index of its store calls it, where somebody has asked.
    pub key: OnceCell<Rc<str>>,
    /// The folder it belongs to; of what lies in a workspace, wherever that is checked out.
    pub folder: String,
    /// When it was active last, in milliseconds since 1970; nothing where that is no time.
    pub last_ms: Option<i64>,
    /// How long its messages were, and when they were changed last, where the list looked at them.
    pub log: Print,
}

impl Listed {
    /// What it is called, and what is said of it in short.
    #[cfg(feature = "interop")]
    pub fn names(&self) -> Vec<&str> {
        let Entry { title, summary, name, .. } = &self.entry;
        core::iter::once(title.as_str()).chain(summary.as_deref()).chain(name.as_deref()).collect()
    }

    /// Whether its title or summary may be cut from a longer text.
    #[cfg(feature = "interop")]
    pub(crate) fn may_be_cut(&self) -> bool {
        let is_long = |text: &str| text.encode_utf16().count() >= CUT;
        is_long(&self.entry.title) || self.entry.summary.as_deref().is_some_and(is_long)
    }

    /// As callers are told of it, JSON.
    pub fn write(&self, to: &mut String) {
        let Entry { placement, id, name, title, session_type, last, agent, .. } = &self.entry;
        let provider = serde_json::from_str(&self.entry.provider);
        let shown = Shown {
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

/// Which sessions are wanted, how many, and in which order.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Of all projects.
    pub all: bool,
    /// What the index says is not held against the files.
    pub is_unverified: bool,
    /// One that is open here is as one that somebody else has open: who asks does not list it, and may be another module.
    pub as_another: bool,
    /// At most so many.
    pub limit: Option<usize>,
    /// In which order.
    pub sort: Sort,
    session_type: Type,
    lifecycle: Option<Option<Status>>,
    archived: Option<bool>,
    agent: Option<String>,
    folder: Option<String>,
    since: Option<i64>,
    until: Option<i64>,
}

#[derive(Clone, Debug, Default)]
enum Type {
    #[default]
    NoSubagent,
    Any,
    Of(String),
}

/// What comes first. Of what is alike, the last active one does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// The last active one.
    #[default]
    Active,
    /// The newest one.
    Created,
    /// By title; see [`in_words`].
    Title,
    /// That with most messages.
    Messages,
    /// By agent, as by title.
    Agent,
    /// By the project's folder, as by title.
    Project,
}

impl Wanted {
    /// Those that a list has unless more is said, also archived ones and sub-agents' where `is_any`.
    pub fn usual(is_any: bool) -> Wanted {
        let session_type = if is_any { Type::Any } else { Type::NoSubagent };
        Wanted { session_type, archived: (!is_any).then_some(false), ..Wanted::default() }
    }

    /// Those that something may be remembered from, also archived ones: of the project, of that of this folder, or of all.
    #[cfg(feature = "interop")]
    pub fn remembered(all: bool, folder: Option<String>) -> Wanted {
        Wanted { all: all || folder.is_some(), folder, ..Wanted::default() }
    }

    /// Also those that are not wanted, of the project or of all.
    #[cfg(feature = "interop")]
    pub fn with_all_others(&self) -> Wanted {
        let Wanted { all, is_unverified, .. } = *self;
        Wanted { all, is_unverified, as_another: true, session_type: Type::Any, ..Wanted::default() }
    }

    /// Whether a list has it.
    pub fn has(&self, one: &Listed) -> bool {
        let Listed { entry, folder, last_ms, .. } = one;
        let named = |wanted: &String| wanted == folder || folder.rsplit(['/', '\\']).next() == Some(wanted);
        self.archived.is_none_or(|archived| archived == entry.is_archived)
            && self.lifecycle.is_none_or(|lifecycle| lifecycle == entry.lifecycle)
            && self.agent.as_ref().is_none_or(|agent| *agent == entry.agent)
            && self.folder.as_ref().is_none_or(named)
            && self.since.is_none_or(|since| last_ms.is_some_and(|ms| ms >= since))
            && self.until.is_none_or(|until| last_ms.is_some_and(|ms| ms <= until))
            && match &self.session_type {
                Type::Any => true,
                Type::NoSubagent => entry.session_type != "subagent",
                Type::Of(name) => *name == entry.session_type,
            }
    }
}

// What an agent wrote into a title may be no whole text.
fn shown(raw: &str) -> Option<String> {
    Text::decode(raw).map(Text::into_shown)
}

/// When a session was active last, as a number and as it is stored, and where it lies: the last active one comes first. What is
/// no time was long ago.
pub fn later(one: (Option<i64>, &str, &str), other: (Option<i64>, &str, &str)) -> Ordering {
    let by_time = other.0.cmp(&one.0).then_with(|| other.1.cmp(one.1));
    by_time.then_with(|| one.2.cmp(other.2))
}

/// In the order that is wanted.
pub fn sort(listed: &mut [Rc<Listed>], by: Sort) {
    fn active(one: &Listed) -> (Option<i64>, &str, &str) {
        (one.last_ms, &one.entry.last, &one.path)
    }
    listed.sort_by(|one, other| later(active(one), active(other)));
    match by {
        Sort::Active => {}
        Sort::Created => {
            listed.sort_by_cached_key(|one| core::cmp::Reverse(time::parse(&one.entry.created_at)))
        }
        Sort::Title => listed.sort_by(|one, other| in_words(&one.entry.title, &other.entry.title)),
        Sort::Messages => listed.sort_by_key(|one| core::cmp::Reverse(one.entry.message_count)),
        Sort::Agent => listed.sort_by(|one, other| in_words(&one.entry.agent, &other.entry.agent)),
        Sort::Project => listed.sort_by(|one, other| in_words(&one.folder, &other.folder)),
    }
}
