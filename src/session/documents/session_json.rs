//! `session.json`, the document of a session in a workspace.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::error::Error;
use crate::json::fields::{BadValue, Fields};
use crate::json::text::{Extra, Open, to_pretty_json};
use crate::record::event::{Agent, ForkOrigin, ImportOrigin, Parent, Project, type_of};
use crate::record::status::Status;
use crate::session::checkpoint::Checkpoint;
use crate::session::document_claims::DocumentClaims;
use crate::session::documents::{TakeFields, WithExtra, keep_extra, non_empty, parse_document};
use crate::session::metadata::Metadata;
use crate::time;

const VERSION: &str = "1.0";

/// `session.json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct SessionJson {
    known: SessionFields,
    #[serde(skip)]
    extra: Extra,
}

// The document's own fields up to `context_summary`; then additional ones for what it lacks.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields, rename = "SessionJson"))]
struct SessionFields {
    version: String,
    conversation_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(as = "String"))]
    conversation_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(as = "Status"))]
    status: Option<Status>,
    created_at: String,
    last_active: String,
    message_count: u64,
    #[cfg_attr(test, ts(as = "AgentConfig"))]
    agent_config: WithExtra<AgentConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_summary: Option<String>,
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    archived_at: Option<String>,
    total_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(as = "Option<OfProject>"))]
    project: Option<WithExtra<OfProject>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(as = "Option<OfParent>"))]
    parent: Option<WithExtra<OfParent>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(as = "Option<OfImported>"))]
    imported: Option<WithExtra<OfImported>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(as = "Option<OfOrigin>"))]
    forked_from: Option<WithExtra<OfOrigin>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    as_of: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
struct AgentConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_prompt_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    tools: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_window: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base_url: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
struct OfProject {
    path: String,
    hash: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remote: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
struct OfOrigin {
    session: String,
    message_id: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
struct OfParent {
    session: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_id: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
struct OfImported {
    agent: String,
    source_id: String,
}

impl SessionJson {
    /// Makes the document of a session.
    pub fn new(metadata: &Metadata, known: &Checkpoint) -> SessionJson {
        // Without `..`: a new field does not compile until it has a place here.
        let Metadata {
            id,
            session_type,
            name,
            given_title: title,
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
        let created_at = created_at.unwrap_or_default();
        let known = SessionFields {
            version: VERSION.into(),
            conversation_id: name.unwrap_or_else(|| id.clone()),
            conversation_type: Some(session_type),
            status: Some(status),
            last_active: known.last_message_ms.map_or_else(|| created_at.clone(), time::format),
            created_at,
            message_count: known.messages,
            agent_config: AgentConfig::of(agent).into(),
            context_summary: summary,
            id,
            title,
            archived_at,
            total_tokens: known.tokens,
            project: project.map(OfProject::of).map(WithExtra::from),
            parent: parent.map(OfParent::of).map(WithExtra::from),
            imported: imported.map(OfImported::of).map(WithExtra::from),
            forked_from: forked_from.map(OfOrigin::of).map(WithExtra::from),
            as_of,
        };
        SessionJson { known, extra: Extra::default() }
    }

    /// Reads the document, and reports the values that could not be read.
    ///
    /// # Errors
    /// `invalid_json` where it is no object.
    pub fn read(json: &[u8]) -> Result<(SessionJson, Vec<String>), Error> {
        let (WithExtra { value: known, extra }, bad) = parse_document(json, "session.json")?;
        Ok((SessionJson { known, extra }, bad))
    }

    /// Its summary.
    pub(crate) fn summary(&self) -> Option<&str> {
        self.known.context_summary.as_deref()
    }

    /// Whether a newer version of leftoff wrote it.
    pub fn is_newer(&self) -> bool {
        let major = self.known.version.split('.').next().and_then(|major| major.parse::<u32>().ok());
        major.is_some_and(|major| major > 1)
    }

    /// The session's metadata as the document has it.
    pub fn metadata(&self) -> Metadata {
        let SessionFields {
            version: _,
            conversation_id,
            conversation_type,
            status,
            created_at,
            last_active: _,
            message_count: _,
            agent_config,
            context_summary,
            id,
            title,
            archived_at,
            total_tokens: _,
            project,
            parent,
            imported,
            forked_from,
            as_of,
        } = self.known.clone();
        Metadata {
            given_summary: context_summary.clone(),
            summary_ms: None,
            summary_revision: None,
            name: non_empty(conversation_id).filter(|name| *name != id),
            id,
            session_type: type_of(conversation_type),
            given_title: title.and_then(non_empty),
            heading: None,
            summary: context_summary,
            status: status.unwrap_or_default(),
            archived_at,
            created_at: non_empty(created_at),
            project: project.map(|project| project.value.into_project()),
            parent: parent.map(|parent| parent.value.into_parent()),
            agent: agent_config.value.into_agent(),
            imported: imported.map(|imported| imported.value.into_imported()),
            forked_from: forked_from.map(|origin| origin.value.into_origin()),
            as_of,
        }
    }

    /// What it says of the session, with `None` where it is silent.
    pub fn claims(&self) -> DocumentClaims {
        DocumentClaims::of(self.metadata())
            .with_stated(
                self.known.conversation_type.as_ref().is_some_and(|said| !said.is_empty()),
                self.known.status,
            )
            .with_archival(self.known.archived_at.clone(), None)
    }

    /// Adds the fields of an older document that this version does not know.
    pub fn keeping(mut self, old: &SessionJson) -> SessionJson {
        self.extra = old.extra.clone();
        let (new, old) = (&mut self.known, &old.known);
        new.agent_config.keeping(&old.agent_config);
        keep_extra(&mut new.project, &old.project);
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

// Converted both ways, and without `..`: a new field does not compile until the document has it.
impl AgentConfig {
    fn of(agent: Agent) -> AgentConfig {
        let Agent {
            command,
            system_prompt_hash,
            prompt_file,
            model,
            tools,
            provider,
            context_window,
            base_url,
        } = agent;
        AgentConfig {
            command,
            system_prompt_hash,
            prompt_file,
            model,
            tools,
            provider,
            context_window,
            base_url,
        }
    }

    fn into_agent(self) -> Agent {
        let AgentConfig {
            command,
            system_prompt_hash,
            prompt_file,
            model,
            tools,
            provider,
            context_window,
            base_url,
        } = self;
        Agent { command, system_prompt_hash, prompt_file, model, tools, provider, context_window, base_url }
    }
}

impl OfProject {
    fn of(project: Project) -> OfProject {
        let Project { path, hash, name, remote, first_commit, folder } = project;
        OfProject { path, hash, name, remote, first_commit, folder }
    }

    fn into_project(self) -> Project {
        let OfProject { path, hash, name, remote, first_commit, folder } = self;
        Project { path, hash, name, remote, first_commit, folder }
    }
}

impl OfOrigin {
    fn of(ForkOrigin { session, message_id }: ForkOrigin) -> OfOrigin {
        OfOrigin { session, message_id }
    }

    fn into_origin(self) -> ForkOrigin {
        let OfOrigin { session, message_id } = self;
        ForkOrigin { session, message_id }
    }
}

impl OfParent {
    fn of(Parent { session, call_id }: Parent) -> OfParent {
        OfParent { session, call_id }
    }

    fn into_parent(self) -> Parent {
        let OfParent { session, call_id } = self;
        Parent { session, call_id }
    }
}

impl OfImported {
    fn of(ImportOrigin { agent, source_id }: ImportOrigin) -> OfImported {
        OfImported { agent, source_id }
    }

    fn into_imported(self) -> ImportOrigin {
        let OfImported { agent, source_id } = self;
        ImportOrigin { agent, source_id }
    }
}

impl Open for SessionJson {
    fn extra(&self) -> &Extra {
        &self.extra
    }
}

impl TakeFields for SessionFields {
    fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<SessionFields> {
        // The other document has it as a status; here it is a date.
        let is_archived = fields.raw("status") == Some("\"archived\"");
        let status = fields.take("status", bad).filter(|_| !is_archived);
        let last_active: String = fields.take("last_active", bad).unwrap_or_default();
        let since = non_empty(last_active.clone()).filter(|_| is_archived);
        Some(SessionFields {
            version: fields.take("version", bad).unwrap_or_else(|| VERSION.into()),
            conversation_id: fields.take("conversation_id", bad).unwrap_or_default(),
            conversation_type: fields.take("conversation_type", bad),
            status,
            created_at: fields.take("created_at", bad).unwrap_or_default(),
            last_active,
            message_count: fields.take("message_count", bad).unwrap_or_default(),
            agent_config: fields.take("agent_config", bad).unwrap_or_default(),
            context_summary: fields.take("context_summary", bad),
            id: fields.take("id", bad).unwrap_or_default(),
            title: fields.take("title", bad),
            archived_at: fields.take("archived_at", bad).or(since),
            total_tokens: fields.take("total_tokens", bad).unwrap_or_default(),
            project: fields.take("project", bad),
            parent: fields.take("parent", bad),
            imported: fields.take("imported", bad),
            forked_from: fields.take("forked_from", bad),
            as_of: fields.take("as_of", bad),
        })
    }
}

impl TakeFields for AgentConfig {
    fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<AgentConfig> {
        Some(AgentConfig {
            command: fields.take("command", bad),
            system_prompt_hash: fields.take("system_prompt_hash", bad),
            prompt_file: fields.take("prompt_file", bad),
            model: fields.take("model", bad),
            tools: fields.take("tools", bad).unwrap_or_default(),
            provider: fields.take("provider", bad),
            context_window: fields.take("context_window", bad),
            base_url: fields.take("base_url", bad),
        })
    }
}

impl TakeFields for OfProject {
    fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<OfProject> {
        Some(OfProject {
            path: fields.take("path", bad)?,
            hash: fields.take("hash", bad).unwrap_or_default(),
            name: fields.take("name", bad).unwrap_or_default(),
            remote: fields.take("remote", bad),
            first_commit: fields.take("first_commit", bad),
            folder: fields.take("folder", bad),
        })
    }
}

impl TakeFields for OfOrigin {
    fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<OfOrigin> {
        Some(OfOrigin { session: fields.take("session", bad)?, message_id: fields.take("message_id", bad)? })
    }
}

impl TakeFields for OfParent {
    fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<OfParent> {
        Some(OfParent { session: fields.take("session", bad)?, call_id: fields.take("call_id", bad) })
    }
}

impl TakeFields for OfImported {
    fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<OfImported> {
        Some(OfImported { agent: fields.take("agent", bad)?, source_id: fields.take("source_id", bad)? })
    }
}

#[cfg(test)]
pub(crate) fn type_declarations(config: &ts_rs::Config) -> Vec<String> {
    use crate::records::render_declaration;
    Vec::from([
        render_declaration::<SessionFields>(config),
        render_declaration::<AgentConfig>(config),
        render_declaration::<OfProject>(config),
        render_declaration::<OfOrigin>(config),
        render_declaration::<OfParent>(config),
        render_declaration::<OfImported>(config),
    ])
}
