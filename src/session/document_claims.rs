//! Compares what a document says of its session with the state that it was written from.

use alloc::string::String;

use crate::record::document_edit::DocumentEdit;
use crate::record::event::{Agent, ImportOrigin, Parent, Project};
use crate::record::status::Status;
use crate::session::metadata::Metadata;

/// What a document says of its session; `None` where it is silent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DocumentClaims {
    /// The title.
    pub title: Option<String>,
    /// The type of conversation.
    pub session_type: Option<String>,
    /// Its name in its workspace.
    pub name: Option<String>,
    /// The summary.
    pub summary: Option<String>,
    /// The status.
    pub status: Option<Status>,
    /// When it was archived.
    pub archived_at: Option<String>,
    /// Whether it is archived, where the document has a field of its own for that.
    pub is_archived: Option<bool>,
    /// The project.
    pub project: Option<Project>,
    /// The session whose agent called it.
    pub parent: Option<Parent>,
    /// The agent; any of its fields may be absent.
    pub agent: Agent,
    /// The agent and session it was imported from.
    pub imported: Option<ImportOrigin>,
    /// The event that the document was written from.
    pub as_of: Option<String>,
}

impl DocumentClaims {
    pub(crate) fn of(document: Metadata) -> DocumentClaims {
        DocumentClaims {
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

    // Clears the type and the status where the document states none: they have defaults.
    pub(crate) fn with_stated(mut self, has_type: bool, status: Option<Status>) -> DocumentClaims {
        self.session_type = self.session_type.filter(|_| has_type);
        DocumentClaims { status, ..self }
    }

    pub(crate) fn with_archival(
        self,
        archived_at: Option<String>,
        is_archived: Option<bool>,
    ) -> DocumentClaims {
        DocumentClaims { archived_at, is_archived, ..self }
    }
}

impl DocumentEdit {
    /// Compares `said` with the state that the document was written from. `derived` are titles that nobody gave. With
    /// `is_whole`, the document had a place for every field, so a missing one was taken out.
    pub fn from_claims(
        state: &Metadata,
        said: DocumentClaims,
        derived: &[String],
        is_whole: bool,
    ) -> Option<DocumentEdit> {
        let DocumentClaims {
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
        let edited = DocumentEdit {
            without_summary: is_whole && summary.is_none() && state.summary.is_some(),
            title: title.filter(is_given),
            session_type: session_type.filter(|new| *new != state.session_type),
            name: name.filter(|new| state.name.as_ref() != Some(new) && *new != state.id),
            summary: summary.filter(|new| state.summary.as_ref() != Some(new)),
            status: status.filter(|new| *new != state.status),
            archived: [is_archived, by_date].into_iter().flatten().find(|new| *new != was_archived),
            project: project.filter(|new| state.project.as_ref() != Some(new)),
            parent: parent.filter(|new| state.parent.as_ref() != Some(new)),
            agent: Some(agent.or_known(&state.agent)).filter(|new| *new != state.agent),
            imported: imported.filter(|new| state.imported.as_ref() != Some(new)),
            as_of,
        };
        edited.unless_empty()
    }
}
