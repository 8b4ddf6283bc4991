//! The documents about a session as they lie on disk: wire structs with exactly the field names of their documents.

use alloc::string::String;

use serde::Serialize;

use crate::session::checkpoint::Checkpoint;
use crate::session::event::{Agent, Imported, Parent, Project};
use crate::session::metadata::Metadata;
use crate::session::status::Status;
use crate::text::to_json;
use crate::time;

/// Document 004's `metadata.json`, and what it lacks as additional fields.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MetadataJson {
    version: u32,
    id: String,
    project: Project,
    timestamps: Timestamps,
    stats: Stats,
    provider: Provider,
    display: Display,
    status: &'static str,
    lifecycle: Status,
    #[serde(rename = "type")]
    session_type: String,
    agent: Agent,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<Parent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    imported: Option<Imported>,
    #[serde(skip_serializing_if = "Option::is_none")]
    archived_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    as_of: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Timestamps {
    created_at: String,
    last_accessed_at: String,
    last_message_at: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Stats {
    message_count: u64,
    total_tokens: u64,
    user_message_count: u64,
    assistant_message_count: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Provider {
    model: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Display {
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

impl MetadataJson {
    /// The document of a session. Destructured without `..`, so that a new field does not compile until it has a place.
    pub fn new(metadata: &Metadata, known: &Checkpoint) -> MetadataJson {
        let title = metadata.title(known.first_user_line.as_deref());
        let Metadata {
            id,
            session_type,
            given_title: _,
            summary,
            status,
            archived_at,
            created_at,
            project,
            parent,
            agent,
            imported,
            as_of,
        } = metadata.clone();
        let created_at = created_at.unwrap_or_default();
        let last_message_at = known.last_message_ms.map_or_else(|| created_at.clone(), time::format);
        MetadataJson {
            version: 1,
            id,
            project: project.unwrap_or_default(),
            timestamps: Timestamps { created_at, last_accessed_at: last_message_at.clone(), last_message_at },
            stats: Stats {
                message_count: known.messages,
                total_tokens: known.tokens,
                user_message_count: known.user_messages,
                assistant_message_count: known.assistant_messages,
            },
            provider: Provider { model: agent.model.clone().unwrap_or_default() },
            display: Display { title, description: summary },
            status: if archived_at.is_some() { "archived" } else { "active" },
            lifecycle: status,
            session_type,
            agent,
            parent,
            imported,
            archived_at,
            as_of,
        }
    }

    /// The document as it is kept.
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).unwrap_or_else(|_| to_json(self));
        json.push('\n');
        json
    }
}
