//! Edits that a person or an agent made in a session's document: found by comparing it with the state that it was
//! written from, and kept as an event.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::json::fields::{BadValue, Fields};
use crate::json::text::is_default;
use crate::record::event::{Agent, ImportOrigin, Parent, Project};
use crate::record::status::Status;

/// The edited fields with their new values, and the names of removed fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Edited", optional_fields))]
pub struct DocumentEdit {
    /// The title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The session type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_type: Option<String>,
    /// The session's name in its workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The status. By hand it may become anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Whether the session is archived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// The project that the session belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<Project>,
    /// The call that began the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// The whole agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// The agent's session that it was imported from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported: Option<ImportOrigin>,
    /// True if the summary was removed.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub without_summary: bool,
    /// The event that the document was written from, or an id of the document if it names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
}

impl DocumentEdit {
    /// Removes the edits that were taken over before, from the same document.
    pub fn without_applied(self, before: &DocumentEdit) -> Option<DocumentEdit> {
        // Without `..`: a new field does not compile until it is compared.
        let DocumentEdit {
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
        let edited = DocumentEdit {
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

    pub(crate) fn unless_empty(self) -> Option<DocumentEdit> {
        let empty = DocumentEdit { as_of: self.as_of.clone(), ..DocumentEdit::default() };
        (self != empty).then_some(self)
    }

    pub(crate) fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> DocumentEdit {
        DocumentEdit {
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
