//! An event as a line of `events.jsonl`: the truth for everything that is not a message.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::json::fields::{BadValue, Fields, FromFields};
use crate::json::text::{Extra, Open, is_default};
use crate::record::document_edit::DocumentEdit;
use crate::record::id;
use crate::record::message::{drop_line_keys, take_timestamp};
use crate::record::scan::{Problem, Record};
use crate::record::status::Status;

/// A change of a session.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Event {
    /// The event's id; a document names by it the state that it was written from.
    pub id: String,
    /// When it happened, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// The change.
    #[serde(flatten)]
    pub change: Change,
    /// Fields that this version does not know.
    #[serde(skip)]
    pub extra: Extra,
}

/// The kinds of change, by the event's `type`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Change {
    /// The session began.
    Created(Box<SessionCreation>),
    /// The user or the agent gave the session a title.
    Title {
        /// The title.
        title: String,
    },
    /// The session was paused, completed or taken up again.
    Status {
        /// The new status.
        status: Status,
        /// Why, where nobody asked for it: `idle`.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        reason: Option<String>,
    },
    /// The session got a summary.
    Summary {
        /// The summary's text.
        summary: String,
        /// True if leftoff made the summary from the session state; nobody wrote it.
        #[serde(rename = "isDerived", skip_serializing_if = "is_default")]
        #[cfg_attr(test, ts(optional, as = "Option<_>"))]
        is_derived: bool,
        /// For a derived summary: a number that stands for the messages that had been revised by then.
        #[serde(skip_serializing_if = "is_default")]
        #[cfg_attr(test, ts(optional, as = "Option<_>"))]
        revised: u32,
    },
    /// The session was hidden from lists.
    Archived,
    /// The session is in lists again.
    Unarchived,
    /// A message is in every context from now on.
    Pin(Subject),
    /// A message is no longer pinned.
    Unpin(Subject),
    /// The agent or its instructions changed.
    Agent(Box<Agent>),
    /// The current branch is now the one of this message.
    Leaf(Subject),
    /// A message counts that was appended behind the one that it expects, whatever a merge puts between them.
    Accepted(Subject),
    /// The session was made from one or more sessions of another agent.
    Imported(ImportOrigin),
    /// The session began as a copy of another session, up to a message.
    Fork(ForkOrigin),
    /// The session belongs to another project from now on, or lies in another placement. The document that it had there
    /// stands beside it in the event, as `sessionJson` or `metadataJson`, for the fields that only that document has.
    Relocated {
        /// The new project; none in a workspace.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        project: Option<Project>,
        /// The session's name in a workspace.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        name: Option<String>,
    },
    /// Contexts begin after a message from now on; without a range, with the first message again.
    Compaction(Box<Compaction>),
    /// Someone edited the session's document by hand.
    Edited(Box<DocumentEdit>),
    /// An event of a type that this version ignores; its fields stay in the line.
    #[serde(untagged)]
    Other(OtherType),
}

/// The type of an event that this version ignores.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct OtherType {
    /// Its name.
    #[serde(rename = "type")]
    pub name: String,
}

/// The message that an event is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Subject {
    /// The message's id.
    pub message_id: String,
}

/// The origin of a forked session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Origin", optional_fields))]
pub struct ForkOrigin {
    /// The uuid of the session that was forked.
    pub session: String,
    /// The id of the last message that was copied.
    pub message_id: String,
}

/// The session type if nobody gives another.
pub const USUAL_TYPE: &str = "chat";

/// Returns the session type that was given, or the usual one.
pub(crate) fn type_of(session_type: Option<String>) -> String {
    session_type.filter(|session_type| !session_type.is_empty()).unwrap_or_else(|| USUAL_TYPE.into())
}

/// The beginning of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Created", optional_fields))]
pub struct SessionCreation {
    /// The session's uuid.
    pub session: String,
    /// The sort of conversation: `chat`, `brainstorm`, `subagent` and so on.
    pub session_type: String,
    /// The session's name in its workspace: the `conversation_id` of `session.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The project that the session belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<Project>,
    /// For a sub-agent's session: the call that began it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// The agent that the conversation was held with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
}

/// A project as `metadata.json` names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Project {
    /// The project's folder.
    pub path: String,
    /// The project's hash; see [`crate::project::hash`].
    pub hash: String,
    /// What it is called.
    pub name: String,
    /// The repository's remote, without credentials: by this a moved project finds its sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// The first commit of its repository, for the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_commit: Option<String>,
    /// The project's path in the repository, if it is only a part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}

/// The call that began a sub-agent's session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Parent {
    /// The uuid of the calling session.
    pub session: String,
    /// The id of the call, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
}

/// The `agent_config` of `session.json`: the agent, its instructions, its model and its tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Agent {
    /// The slash command that began the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// `sha256:` and the hash of the command's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt_hash: Option<String>,
    /// The file with the command's text, if no client keeps it as a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_file: Option<String>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The names of its tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub tools: Vec<String>,
    /// The provider of the model: the `provider.type` of `metadata.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model's context window, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// The provider's base URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
}

impl Agent {
    /// Fills missing fields from what was known. Another model has another window, and another provider another URL, so
    /// neither of these is taken over.
    pub fn or_known(self, known: &Agent) -> Agent {
        let known = known.clone();
        let is_other_model = self.model.is_some() && self.model != known.model;
        let is_other_provider = self.provider.is_some() && self.provider != known.provider;
        let is_other_text = self.system_prompt_hash.is_some();
        Agent {
            command: self.command.or(known.command),
            prompt_file: self.prompt_file.or(known.prompt_file.filter(|_| !is_other_text)),
            system_prompt_hash: self.system_prompt_hash.or(known.system_prompt_hash),
            model: self.model.or(known.model),
            tools: if self.tools.is_empty() { known.tools } else { self.tools },
            provider: self.provider.or(known.provider),
            context_window: self.context_window.or(known.context_window.filter(|_| !is_other_model)),
            base_url: self.base_url.or(known.base_url.filter(|_| !is_other_provider)),
        }
    }
}

/// The agent's session that a session was imported from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Imported", optional_fields))]
pub struct ImportOrigin {
    /// The agent's name.
    pub agent: String,
    /// The session's id in the agent's files.
    pub source_id: String,
}

/// The compaction that contexts begin with: the fields of a kept summary. Without a `summary`, the session state stands
/// for the older messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Compaction {
    /// The messages that are replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<SummaryRange>,
    /// The summary that a model or a person wrote of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<SummaryText>,
    /// The tokens of the replaced messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original_tokens: Option<u64>,
}

/// The range of messages that a summary stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct SummaryRange {
    /// The id of the first message.
    pub start_message_id: String,
    /// The id of the last message.
    pub end_message_id: String,
    /// The first message's number; a hint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_seq: Option<u64>,
    /// The last message's number; a hint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_seq: Option<u64>,
    /// The number of messages.
    pub message_count: u64,
    /// The byte where the last message's line ends in the log; a hint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_byte: Option<u64>,
}

/// A summary as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct SummaryText {
    /// The summary's text.
    pub content: String,
    /// Its tokens, by `o200k_base` or the estimate.
    pub tokens: u64,
    /// The model that wrote it.
    pub model: String,
}

/// Reads a record of `events.jsonl` as an event, and its problems. Valid JSON that is no event is `foreign`.
pub fn read(record: &Record) -> (Option<Event>, Vec<Problem>) {
    let (event, problems) = record.read::<Event>("an event, which has a \"type\"");
    let event = event.map(|mut event| {
        if event.id.is_empty() {
            event.id = id::from_parts(&[record.json.as_bytes(), &record.start.to_be_bytes()]);
        }
        event
    });
    (event, problems)
}

impl Open for Event {
    fn extra(&self) -> &Extra {
        &self.extra
    }
}

impl FromFields for Event {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Event> {
        let name: String = fields.take("type", bad)?;
        drop_line_keys(&mut fields);
        Some(Event {
            id: fields.take("id", bad).unwrap_or_default(),
            timestamp: take_timestamp(&mut fields, bad),
            change: parse_change(name, &mut fields, bad),
            extra: fields.rest(),
        })
    }
}

// Reads the fields of a change. A known type whose one value is missing or bad becomes [`Change::Other`]: it says nothing
// that could be applied.
pub(crate) fn parse_change(name: String, fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Change {
    let known = match name.as_str() {
        "created" => SessionCreation::take(fields, bad).map(|created| Change::Created(Box::new(created))),
        "title" => fields.take("title", bad).map(|title| Change::Title { title }),
        "status" => {
            let reason = fields.take("reason", bad);
            fields.take("status", bad).map(|status| Change::Status { status, reason })
        }
        "summary" => {
            let is_derived = fields.take("isDerived", bad).unwrap_or_default();
            let revised = fields.take("revised", bad).unwrap_or_default();
            fields.take("summary", bad).map(|summary| Change::Summary { summary, is_derived, revised })
        }
        "archived" => Some(Change::Archived),
        "unarchived" => Some(Change::Unarchived),
        "pin" => Subject::take(fields, bad).map(Change::Pin),
        "unpin" => Subject::take(fields, bad).map(Change::Unpin),
        "agent" => Some(Change::Agent(Box::new(Agent::take(fields, bad)))),
        "leaf" => Subject::take(fields, bad).map(Change::Leaf),
        "accepted" => Subject::take(fields, bad).map(Change::Accepted),
        "imported" => ImportOrigin::take(fields, bad).map(Change::Imported),
        "fork" => ForkOrigin::take(fields, bad).map(Change::Fork),
        "relocated" => {
            Some(Change::Relocated { project: fields.take("project", bad), name: fields.take("name", bad) })
        }
        "compaction" => {
            let (range, summary) = (fields.take("range", bad), fields.take("summary", bad));
            let original_tokens = fields.take("originalTokens", bad);
            Some(Change::Compaction(Box::new(Compaction { range, summary, original_tokens })))
        }
        "edited" => Some(Change::Edited(Box::new(DocumentEdit::take(fields, bad)))),
        _ => None,
    };
    known.unwrap_or(Change::Other(OtherType { name }))
}

impl SessionCreation {
    fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<SessionCreation> {
        Some(SessionCreation {
            session: fields.take("session", bad)?,
            session_type: type_of(fields.take("sessionType", bad)),
            name: fields.take("name", bad),
            project: fields.take("project", bad),
            parent: fields.take("parent", bad),
            agent: fields.take("agent", bad),
        })
    }
}

impl ForkOrigin {
    pub(crate) fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<ForkOrigin> {
        Some(ForkOrigin { session: fields.take("session", bad)?, message_id: fields.take("messageId", bad)? })
    }
}

impl Subject {
    fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Subject> {
        Some(Subject { message_id: fields.take("messageId", bad)? })
    }
}

impl Agent {
    pub(crate) fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Agent {
        Agent {
            command: fields.take("command", bad),
            system_prompt_hash: fields.take("systemPromptHash", bad),
            prompt_file: fields.take("promptFile", bad),
            model: fields.take("model", bad),
            tools: fields.take("tools", bad).unwrap_or_default(),
            provider: fields.take("provider", bad),
            context_window: fields.take("contextWindow", bad),
            base_url: fields.take("baseUrl", bad),
        }
    }
}

impl ImportOrigin {
    pub(crate) fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<ImportOrigin> {
        Some(ImportOrigin { agent: fields.take("agent", bad)?, source_id: fields.take("sourceId", bad)? })
    }
}

impl FromFields for SummaryRange {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<SummaryRange> {
        Some(SummaryRange {
            start_message_id: fields.take("startMessageId", bad)?,
            end_message_id: fields.take("endMessageId", bad)?,
            start_seq: fields.take("startSeq", bad),
            end_seq: fields.take("endSeq", bad),
            message_count: fields.take("messageCount", bad).unwrap_or_default(),
            end_byte: fields.take("endByte", bad),
        })
    }
}

impl FromFields for SummaryText {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<SummaryText> {
        Some(SummaryText {
            content: fields.take("content", bad)?,
            tokens: fields.take("tokens", bad).unwrap_or_default(),
            model: fields.take("model", bad).unwrap_or_default(),
        })
    }
}

impl FromFields for Agent {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Agent> {
        Some(Agent::take(&mut fields, bad))
    }
}

impl Project {
    pub(crate) fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Project> {
        Some(Project {
            path: fields.take("path", bad)?,
            hash: fields.take("hash", bad).unwrap_or_default(),
            name: fields.take("name", bad).unwrap_or_default(),
            remote: fields.take("remote", bad),
            first_commit: fields.take("firstCommit", bad),
            folder: fields.take("folder", bad),
        })
    }
}

impl Parent {
    pub(crate) fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Parent> {
        Some(Parent { session: fields.take("session", bad)?, call_id: fields.take("callId", bad) })
    }
}

impl FromFields for ImportOrigin {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<ImportOrigin> {
        ImportOrigin::take(&mut fields, bad)
    }
}

impl FromFields for Project {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Project> {
        Project::take(&mut fields, bad)
    }
}

impl FromFields for Parent {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Parent> {
        Parent::take(&mut fields, bad)
    }
}
