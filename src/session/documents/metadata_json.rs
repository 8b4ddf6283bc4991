//! `metadata.json`, the document of a session in the home.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::error::Error;
use crate::json::fields::{BadValue, Field, Fields, reject};
use crate::json::text::{Extra, Open, to_pretty_json};
use crate::record::event::{Agent, ForkOrigin, ImportOrigin, Parent, Project, type_of};
use crate::record::status::Status;
use crate::session::checkpoint::Checkpoint;
use crate::session::document_claims::DocumentClaims;
use crate::session::documents::{TakeFields, WithExtra, keep_extra, non_empty, parse_document};
use crate::session::metadata::{Metadata, is_made_of};
use crate::time;

const VERSION: u32 = 1;

/// `metadata.json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct MetadataJson {
    known: MetadataFields,
    #[serde(skip)]
    extra: Extra,
}

// The document's own fields up to `status`; then additional ones for what it lacks.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields, rename = "MetadataJson"))]
struct MetadataFields {
    version: u32,
    id: String,
    #[cfg_attr(test, ts(as = "Project"))]
    project: WithExtra<Project>,
    #[cfg_attr(test, ts(as = "Timestamps"))]
    timestamps: WithExtra<Timestamps>,
    #[cfg_attr(test, ts(as = "Stats"))]
    stats: WithExtra<Stats>,
    #[cfg_attr(test, ts(as = "Provider"))]
    provider: WithExtra<Provider>,
    #[cfg_attr(test, ts(as = "Display"))]
    display: WithExtra<Display>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(as = "ListStatus"))]
    status: Option<ListStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(as = "Status"))]
    lifecycle: Option<Status>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(as = "String"))]
    session_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    #[cfg_attr(test, ts(as = "OfAgent"))]
    agent: WithExtra<OfAgent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(as = "Option<Parent>"))]
    parent: Option<WithExtra<Parent>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(as = "Option<ImportOrigin>"))]
    imported: Option<WithExtra<ImportOrigin>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(as = "Option<ForkOrigin>"))]
    forked_from: Option<WithExtra<ForkOrigin>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    archived_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    as_of: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
struct Timestamps {
    created_at: String,
    last_accessed_at: String,
    last_message_at: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
struct Stats {
    message_count: u64,
    tool_execution_count: u64,
    total_tokens: u64,
    user_message_count: u64,
    assistant_message_count: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
struct Provider {
    #[serde(rename = "type")]
    provider_type: String,
    model: String,
    context_window: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    base_url: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
struct Display {
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

// The agent's instructions; its model stands under `provider`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
struct OfAgent {
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_prompt_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_file: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    tools: Vec<String>,
}

// Whether lists show the session. The document calls this the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Shown"))]
enum ListStatus {
    Active,
    Archived,
}

impl MetadataJson {
    /// Makes the document of a session.
    pub fn new(metadata: &Metadata, known: &Checkpoint) -> MetadataJson {
        let title = metadata.title(&known.titles);
        // Without `..`: a new field does not compile until it has a place here.
        let Metadata {
            id,
            session_type,
            name,
            given_title: _,
            heading: _,
            summary,
            status,
            archived_at,
            created_at,
            project,
            parent,
            agent,
            imported,
            forked_from,
            given_summary: _,
            summary_ms: _,
            summary_revision: _,
            as_of,
        } = metadata.clone();
        let (provider, agent) = split_agent(agent);
        let created_at = created_at.unwrap_or_default();
        let last_message_at = known.last_message_ms.map_or_else(|| created_at.clone(), time::format);
        let known = MetadataFields {
            version: VERSION,
            id,
            project: project.unwrap_or_default().into(),
            timestamps: Timestamps { created_at, last_accessed_at: last_message_at.clone(), last_message_at }
                .into(),
            stats: Stats::of(known).into(),
            provider: provider.into(),
            display: Display { title, description: known.titles.first_line().map(String::from) }.into(),
            status: Some(if archived_at.is_some() { ListStatus::Archived } else { ListStatus::Active }),
            lifecycle: Some(status),
            session_type: Some(session_type),
            name,
            summary,
            agent: agent.into(),
            parent: parent.map(WithExtra::from),
            imported: imported.map(WithExtra::from),
            forked_from: forked_from.map(WithExtra::from),
            archived_at,
            as_of,
        };
        MetadataJson { known, extra: Extra::default() }
    }

    /// Reads the document, and reports the values that could not be read.
    ///
    /// # Errors
    /// `invalid_json` where it is no object.
    pub fn read(json: &[u8]) -> Result<(MetadataJson, Vec<String>), Error> {
        let (WithExtra { value: known, extra }, bad) = parse_document(json, "metadata.json")?;
        Ok((MetadataJson { known, extra }, bad))
    }

    /// Its title.
    pub(crate) fn title(&self) -> &str {
        &self.known.display.value.title
    }

    /// Its summary.
    pub(crate) fn summary(&self) -> Option<&str> {
        self.known.summary.as_deref()
    }

    /// Whether a newer version of leftoff wrote it.
    pub fn is_newer(&self) -> bool {
        self.known.version > VERSION
    }

    /// The session's metadata as the document has it.
    pub fn metadata(&self) -> Metadata {
        let MetadataFields {
            version: _,
            id,
            project,
            timestamps:
                WithExtra { value: Timestamps { created_at, last_accessed_at, last_message_at: _ }, .. },
            stats: _,
            provider: WithExtra { value: Provider { provider_type, model, context_window, base_url }, .. },
            display: WithExtra { value: Display { title, description }, .. },
            status,
            lifecycle,
            session_type,
            name,
            summary,
            agent: WithExtra { value: OfAgent { command, system_prompt_hash, prompt_file, tools }, .. },
            parent,
            imported,
            forked_from,
            archived_at,
            as_of,
        } = self.known.clone();
        // A title made from the line that the document was written with, whatever stands in the log by now: nobody
        // gave it.
        let is_given = |title: &String| !description.as_deref().is_some_and(|line| is_made_of(title, line));
        let since = || non_empty(last_accessed_at).or_else(|| non_empty(created_at.clone()));
        Metadata {
            given_summary: summary.clone(),
            summary_ms: None,
            summary_revision: None,
            id,
            session_type: type_of(session_type),
            name,
            given_title: non_empty(title).filter(is_given),
            heading: None,
            summary,
            status: lifecycle.unwrap_or_default(),
            archived_at: archived_at.or_else(|| since().filter(|_| status == Some(ListStatus::Archived))),
            created_at: non_empty(created_at),
            project: Some(project.value).filter(|project| *project != Project::default()),
            parent: parent.map(|parent| parent.value),
            agent: Agent {
                command,
                system_prompt_hash,
                prompt_file,
                model: non_empty(model),
                tools,
                provider: non_empty(provider_type),
                context_window: Some(context_window).filter(|window| *window > 0),
                base_url,
            },
            imported: imported.map(|imported| imported.value),
            forked_from: forked_from.map(|origin| origin.value),
            as_of,
        }
    }

    /// What it says of the session, with `None` where it is silent.
    pub fn claims(&self) -> DocumentClaims {
        let archived_at = self.known.archived_at.clone();
        DocumentClaims::of(self.metadata())
            .with_stated(
                self.known.session_type.as_ref().is_some_and(|said| !said.is_empty()),
                self.known.lifecycle,
            )
            .with_archival(archived_at, self.known.status.map(|shown| shown == ListStatus::Archived))
    }

    /// Adds the fields of an older document that this version does not know.
    pub fn keeping(mut self, old: &MetadataJson) -> MetadataJson {
        self.extra = old.extra.clone();
        let (new, old) = (&mut self.known, &old.known);
        new.project.keeping(&old.project);
        new.timestamps.keeping(&old.timestamps);
        new.stats.keeping(&old.stats);
        new.provider.keeping(&old.provider);
        new.display.keeping(&old.display);
        new.agent.keeping(&old.agent);
        keep_extra(&mut new.parent, &old.parent);
        keep_extra(&mut new.imported, &old.imported);
        keep_extra(&mut new.forked_from, &old.forked_from);
        self
    }

    /// Renders the document.
    pub fn to_json(&self) -> String {
        to_pretty_json(self)
    }
}

// Splits the agent's description into who answers and its instructions.
fn split_agent(agent: Agent) -> (Provider, OfAgent) {
    let Agent { command, system_prompt_hash, prompt_file, model, tools, provider, context_window, base_url } =
        agent;
    let provider = Provider {
        provider_type: provider.unwrap_or_default(),
        model: model.unwrap_or_default(),
        context_window: context_window.unwrap_or_default(),
        base_url,
    };
    (provider, OfAgent { command, system_prompt_hash, prompt_file, tools })
}

impl Stats {
    fn of(known: &Checkpoint) -> Stats {
        Stats {
            message_count: known.messages,
            tool_execution_count: known.tool_messages,
            total_tokens: known.tokens,
            user_message_count: known.user_messages,
            assistant_message_count: known.assistant_messages,
        }
    }
}

impl Open for MetadataJson {
    fn extra(&self) -> &Extra {
        &self.extra
    }
}

impl TakeFields for MetadataFields {
    fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<MetadataFields> {
        Some(MetadataFields {
            version: fields.take("version", bad).unwrap_or(VERSION),
            id: fields.take("id", bad).unwrap_or_default(),
            project: fields.take("project", bad).unwrap_or_default(),
            timestamps: fields.take("timestamps", bad).unwrap_or_default(),
            stats: fields.take("stats", bad).unwrap_or_default(),
            provider: fields.take("provider", bad).unwrap_or_default(),
            display: fields.take("display", bad).unwrap_or_default(),
            status: fields.take("status", bad),
            lifecycle: fields.take("lifecycle", bad),
            session_type: fields.take("type", bad),
            name: fields.take("name", bad),
            summary: fields.take("summary", bad),
            agent: fields.take("agent", bad).unwrap_or_default(),
            parent: fields.take("parent", bad),
            imported: fields.take("imported", bad),
            forked_from: fields.take("forkedFrom", bad),
            archived_at: fields.take("archivedAt", bad),
            as_of: fields.take("asOf", bad),
        })
    }
}

impl TakeFields for Timestamps {
    fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Timestamps> {
        Some(Timestamps {
            created_at: fields.take("createdAt", bad).unwrap_or_default(),
            last_accessed_at: fields.take("lastAccessedAt", bad).unwrap_or_default(),
            last_message_at: fields.take("lastMessageAt", bad).unwrap_or_default(),
        })
    }
}

impl TakeFields for Stats {
    fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Stats> {
        Some(Stats {
            message_count: fields.take("messageCount", bad).unwrap_or_default(),
            tool_execution_count: fields.take("toolExecutionCount", bad).unwrap_or_default(),
            total_tokens: fields.take("totalTokens", bad).unwrap_or_default(),
            user_message_count: fields.take("userMessageCount", bad).unwrap_or_default(),
            assistant_message_count: fields.take("assistantMessageCount", bad).unwrap_or_default(),
        })
    }
}

impl TakeFields for Provider {
    fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Provider> {
        Some(Provider {
            provider_type: fields.take("type", bad).unwrap_or_default(),
            model: fields.take("model", bad).unwrap_or_default(),
            context_window: fields.take("contextWindow", bad).unwrap_or_default(),
            base_url: fields.take("baseUrl", bad),
        })
    }
}

impl TakeFields for Display {
    fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Display> {
        Some(Display {
            title: fields.take("title", bad).unwrap_or_default(),
            description: fields.take("description", bad),
        })
    }
}

impl TakeFields for OfAgent {
    fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<OfAgent> {
        Some(OfAgent {
            command: fields.take("command", bad),
            system_prompt_hash: fields.take("systemPromptHash", bad),
            prompt_file: fields.take("promptFile", bad),
            tools: fields.take("tools", bad).unwrap_or_default(),
        })
    }
}

impl Field for ListStatus {
    fn read(raw: &str, path: &str, bad: &mut Vec<BadValue>) -> Option<ListStatus> {
        match raw {
            "\"archived\"" => Some(ListStatus::Archived),
            // Damage is health, which is found out anew.
            "\"active\"" | "\"corrupted\"" => Some(ListStatus::Active),
            _ => reject(raw, path, "\"active\" or \"archived\"", bad),
        }
    }
}

#[cfg(test)]
pub(crate) fn type_declarations(config: &ts_rs::Config) -> Vec<String> {
    use crate::records::render_declaration;
    Vec::from([
        render_declaration::<MetadataFields>(config),
        render_declaration::<Timestamps>(config),
        render_declaration::<Stats>(config),
        render_declaration::<Provider>(config),
        render_declaration::<Display>(config),
        render_declaration::<OfAgent>(config),
        render_declaration::<ListStatus>(config),
    ])
}
