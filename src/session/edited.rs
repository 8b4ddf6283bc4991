//! What a person or an agent changed in a document about a session: found by comparing it with the state that it was
//! written from, and kept as an event.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::fields::{BadValue, Fields};
use crate::session::event::{Agent, Imported, Parent, Project};
use crate::session::message::is_false;
use crate::session::metadata::Metadata;
use crate::session::status::Status;

/// The fields that were edited, each with its new value; and the names of those that were taken out.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Edited {
    /// The title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What sort of conversation it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_type: Option<String>,
    /// Its name in its workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Whether it goes on. By hand it may become anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Whether lists have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// The project it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<Project>,
    /// Who called it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// What made the conversation possible, as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// Where it was imported from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// The summary was taken out.
    #[serde(skip_serializing_if = "is_false")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub without_summary: bool,
    /// The event that the document was written from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
}

/// What a document says of its session; nothing where it is silent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    /// The title.
    pub title: Option<String>,
    /// What sort of conversation it is.
    pub session_type: Option<String>,
    /// Its name in its workspace.
    pub name: Option<String>,
    /// What it is about.
    pub summary: Option<String>,
    /// Whether it goes on.
    pub status: Option<Status>,
    /// Since when it is hidden from lists.
    pub archived_at: Option<String>,
    /// Whether it is hidden, where the document says so in a field of its own.
    pub is_archived: Option<bool>,
    /// The project.
    pub project: Option<Project>,
    /// Who called it.
    pub parent: Option<Parent>,
    /// What made the conversation possible; a field of it may be absent.
    pub agent: Agent,
    /// Where it was imported from.
    pub imported: Option<Imported>,
    /// The event that it was written from.
    pub as_of: Option<String>,
}

impl Said {
    pub(crate) fn of(document: Metadata) -> Said {
        Said {
            title: document.given_title,
            session_type: Some(document.session_type),
            name: document.name,
            summary: document.summary,
            status: Some(document.status),
            archived_at: document.archived_at,
            is_archived: None,
            project: document.project,
            parent: document.parent,
            agent: document.agent,
            imported: document.imported,
            as_of: document.as_of,
        }
    }

    // What has a value where the document is silent.
    pub(crate) fn told(mut self, has_type: bool, status: Option<Status>) -> Said {
        self.session_type = self.session_type.filter(|_| has_type);
        Said { status, ..self }
    }

    pub(crate) fn archived(self, archived_at: Option<String>, is_archived: Option<bool>) -> Said {
        Said { archived_at, is_archived, ..self }
    }
}

impl Edited {
    /// What of `said` differs from the state that the document was written from. `derived` are titles that nobody gave.
    /// Where `is_whole`, the document had a place for every field, so that one that is gone was taken out.
    pub fn between(state: &Metadata, said: Said, derived: &[String], is_whole: bool) -> Option<Edited> {
        let Said {
            title,
            session_type,
            name,
            summary,
            status,
            archived_at,
            is_archived,
            project,
            parent,
            agent,
            imported,
            as_of,
        } = said;
        let is_given = |title: &String| {
            !title.is_empty()
                && !state.is_given(title)
                && (state.given_title.is_some() || !derived.contains(title))
        };
        let was_archived = state.archived_at.is_some();
        let has_date = archived_at.is_some();
        let by_date = (has_date || is_whole).then_some(has_date);
        let edited = Edited {
            without_summary: is_whole && summary.is_none() && state.summary.is_some(),
            title: title.filter(is_given),
            session_type: session_type.filter(|new| *new != state.session_type),
            name: name.filter(|new| state.name.as_ref() != Some(new) && *new != state.id),
            summary: summary.filter(|new| state.summary.as_ref() != Some(new)),
            status: status.filter(|new| *new != state.status),
            archived: [is_archived, by_date].into_iter().flatten().find(|new| *new != was_archived),
            project: project.filter(|new| state.project.as_ref() != Some(new)),
            parent: parent.filter(|new| state.parent.as_ref() != Some(new)),
            agent: Some(agent.over(&state.agent)).filter(|new| *new != state.agent),
            imported: imported.filter(|new| state.imported.as_ref() != Some(new)),
            as_of,
        };
        edited.unless_empty()
    }

    /// What is left where a part was taken over before, from the same document.
    pub fn without(self, before: &Edited) -> Option<Edited> {
        // Without `..`: a new field does not compile until it is compared.
        let Edited {
            title,
            session_type,
            name,
            summary,
            status,
            archived,
            project,
            parent,
            agent,
            imported,
            without_summary,
            as_of,
        } = self;
        let edited = Edited {
            title: title.filter(|new| before.title.as_ref() != Some(new)),
            session_type: session_type.filter(|new| before.session_type.as_ref() != Some(new)),
            name: name.filter(|new| before.name.as_ref() != Some(new)),
            summary: summary.filter(|new| before.summary.as_ref() != Some(new)),
            status: status.filter(|new| before.status != Some(*new)),
            archived: archived.filter(|new| before.archived != Some(*new)),
            project: project.filter(|new| before.project.as_ref() != Some(new)),
            parent: parent.filter(|new| before.parent.as_ref() != Some(new)),
            agent: agent.filter(|new| before.agent.as_ref() != Some(new)),
            imported: imported.filter(|new| before.imported.as_ref() != Some(new)),
            without_summary: without_summary && !before.without_summary,
            as_of,
        };
        edited.unless_empty()
    }

    fn unless_empty(self) -> Option<Edited> {
        let empty = Edited { as_of: self.as_of.clone(), ..Edited::default() };
        (self != empty).then_some(self)
    }

    pub(crate) fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Edited {
        Edited {
            title: fields.take("title", bad),
            session_type: fields.take("sessionType", bad),
            name: fields.take("name", bad),
            summary: fields.take("summary", bad),
            status: fields.take("status", bad),
            archived: fields.take("archived", bad),
            project: fields.take("project", bad),
            parent: fields.take("parent", bad),
            agent: fields.take("agent", bad),
            imported: fields.take("imported", bad),
            without_summary: fields.take("withoutSummary", bad).unwrap_or_default(),
            as_of: fields.take("asOf", bad),
        }
    }
}

impl Agent {
    // What is absent stays as it was.
    fn over(self, old: &Agent) -> Agent {
        let Agent { command, system_prompt_hash, model, tools, provider, context_window, base_url } = self;
        Agent {
            command: command.or_else(|| old.command.clone()),
            system_prompt_hash: system_prompt_hash.or_else(|| old.system_prompt_hash.clone()),
            model: model.or_else(|| old.model.clone()),
            tools: if tools.is_empty() { old.tools.clone() } else { tools },
            provider: provider.or_else(|| old.provider.clone()),
            context_window: context_window.or(old.context_window),
            base_url: base_url.or_else(|| old.base_url.clone()),
        }
    }
}
