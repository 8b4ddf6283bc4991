//! Info: describes one session from its files, whoever has it open, and changes none of them: its metadata, its
//! messages' counts, related sessions, the sizes of its files, and its health.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::Store;
use super::places::MAX_PARALLEL_READS;
use super::session_index::FoundSession;
use crate::json::text::{is_default, to_json};
use crate::layout::{File, Root};
use crate::operation::health::HealthReport;
use crate::operation::join::{collect_responses, join_in_batches};
use crate::operation::message_pages::{MessagesRequest, PathMessages};
use crate::operation::session_files::SessionFiles;
use crate::operation::{FileKind, Io, Operation, Trouble, Work, unless_bug, unless_other};
use crate::record::event::{ForkOrigin, ImportOrigin, Parent};
use crate::record::message::Role;
use crate::record::status::Status;
use crate::session::documents::Document;
use crate::session::index::SessionIndex;
use crate::session::lease::Lease;
use crate::session::metadata::Metadata;
use crate::time;

#[derive(Serialize)]
struct InfoResponse {
    #[serde(flatten)]
    details: SessionDetails,
    #[serde(flatten)]
    counts: MessageCounts,
    #[serde(flatten)]
    relations: SessionRelations,
    files: Vec<FileSize>,
    #[serde(flatten)]
    health: HealthReport,
    #[serde(rename = "openIn")]
    open_in: Vec<LeaseHolder>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionDetails {
    id: String,
    name: Option<String>,
    title: String,
    #[serde(rename = "type")]
    session_type: String,
    status: Status,
    archived_at: Option<String>,
    summary: Option<String>,
    created_at: String,
    last_active: String,
    project: Option<String>,
    placement: &'static str,
    path: String,
    agent: AgentDetails,
    source: Option<SourceDetails>,
    total_tokens: u64,
    tool_executions: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AgentDetails {
    command: Option<String>,
    model: Option<String>,
    provider: Option<String>,
    context_window: Option<u64>,
    tools: Vec<String>,
}

#[derive(Serialize)]
struct SourceDetails {
    agent: String,
    id: String,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct MessageCounts {
    message_count: u64,
    roles: RoleCounts,
    branches: u64,
    pins: Vec<String>,
}

#[derive(Default, Serialize)]
struct RoleCounts {
    system: u64,
    user: u64,
    assistant: u64,
    tool: u64,
    /// Messages of a role that leftoff does not know.
    #[serde(skip_serializing_if = "is_default")]
    other: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionRelations {
    forked_from: Option<ForkOrigin>,
    parent: Option<Parent>,
    /// Ids of forks and, below, of sub-agents' sessions, of this project.
    forks: Vec<String>,
    subagents: Vec<String>,
}

#[derive(Serialize)]
struct FileSize {
    file: String,
    bytes: u64,
    /// The number of files in a folder; none for a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
}

#[derive(Serialize)]
struct LeaseHolder {
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    pid: u64,
    host: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
}

/// The sessions that another session comes from.
struct SessionOrigins {
    id: String,
    forked_from: Option<ForkOrigin>,
    parent: Option<Parent>,
}

impl LeaseHolder {
    // Drops the fields that only serve to tell whether the process is gone.
    fn from_lease(Lease { program, pid, host, since, boot: _, start: _ }: Lease) -> LeaseHolder {
        LeaseHolder { program, pid, host, since }
    }
}

impl Store {
    /// Describes a session:
    /// `{"id","title","messageCount","roles","forks","subagents","files","health","problems","openIn"}` and its other
    /// metadata, JSON. Forks and sub-agents are those of this store's project: all projects have too many sessions to
    /// look at.
    pub fn info(self: &Rc<Store>, of: &SessionFiles) -> Operation<'static, String> {
        // A copy reads the files in every host: the open handle hears of nothing earlier by that.
        let (store, copy) = (self.clone(), of.unopened_copy());
        Operation::new(|io| async move {
            let shown = copy.shown_folder();
            io.take_turn_of(&shown).await?;
            copy.follow_moves(&io).await?;
            copy.refresh_after_move(&io).await?;
            let described = copy.describe_session();
            let counted = Box::pin(copy.count_messages(&io)).await?;
            let (files, examined) =
                (measure_files(&io, &copy.folder()).await?, copy.build_health_report(&io).await?);
            io.end_turn_of(&shown);
            let related = Box::pin(store.find_relations(&io, &copy)).await?;
            let open_in = copy.holders(&io).await?.into_iter().map(LeaseHolder::from_lease).collect();
            Ok(to_json(&InfoResponse {
                details: described,
                counts: counted,
                relations: related,
                files,
                health: examined,
                open_in,
            }))
        })
    }

    async fn find_relations(&self, io: &Io, files: &SessionFiles) -> Result<SessionRelations, Trouble> {
        let id = files.id();
        let index = self.read_index(io).await?;
        let found = self.find_sessions(io, &index, false, true).await?;
        let works = found.into_iter().map(|seen| {
            let index = &index;
            Box::pin(async move { self.read_origins(io, index, seen).await })
                as Work<'_, Option<SessionOrigins>>
        });
        let (mut forks, mut subagents) = (Vec::new(), Vec::new());
        for SessionOrigins { id: other, forked_from, parent } in
            join_in_batches(works, MAX_PARALLEL_READS).await?.into_iter().flatten()
        {
            if forked_from.is_some_and(|origin| origin.session == id) {
                forks.push(other.clone());
            }
            if parent.is_some_and(|parent| parent.session == id) {
                subagents.push(other);
            }
        }
        let (forked_from, parent) = files.with_session(|session| {
            let Metadata { forked_from, parent, .. } = session.metadata();
            (forked_from.clone(), parent.clone())
        });
        Ok(SessionRelations { forked_from, parent, forks, subagents })
    }

    // Reads a session's document: to open each session of a project takes too long, and lists do not have these
    // fields.
    async fn read_origins(
        &self,
        io: &Io,
        index: &SessionIndex,
        seen: FoundSession,
    ) -> Result<Option<SessionOrigins>, Trouble> {
        let Some(FoundSession::Verified(found, one)) = self.verify_session(io, index, seen).await? else {
            return Ok(None);
        };
        let files = self.unopened_session(&found.place, "");
        // A session that cannot be read must not cost the others.
        let json = unless_bug(files.read_document(io).await)?.flatten().unwrap_or_default();
        let Ok((document, _)) = Document::read(files.document_name(), &json) else { return Ok(None) };
        let Metadata { forked_from, parent, .. } = document.metadata();
        Ok(Some(SessionOrigins { id: one.entry.id.clone(), forked_from, parent }))
    }
}

impl SessionFiles {
    async fn count_messages(&self, io: &Io) -> Result<MessageCounts, Trouble> {
        let mut counted = MessageCounts::default();
        let reading = MessagesRequest { all_branches: true, ..MessagesRequest::default() };
        let mut messages = PathMessages::begin(self, io, reading).await?;
        while let Some(some) = messages.next().await? {
            for (message, _) in some {
                counted.message_count += 1;
                counted.branches += u64::from(message.branch);
                let roles = &mut counted.roles;
                *match message.role {
                    Some(Role::System) => &mut roles.system,
                    Some(Role::User) => &mut roles.user,
                    Some(Role::Assistant) => &mut roles.assistant,
                    Some(Role::Tool) => &mut roles.tool,
                    None => &mut roles.other,
                } += 1;
            }
        }
        let source = self.with_session(|session| session.source());
        counted.pins = self.read_pinned_messages(io, &source).await?.into_iter().map(|pin| pin.id).collect();
        Ok(counted)
    }

    fn describe_session(&self) -> SessionDetails {
        let (session, folder) = (self.session(), self.folder());
        let session = session.borrow();
        let (metadata, known) = (session.metadata().clone(), session.log_state());
        let non_empty = |text: Option<String>| text.filter(|text| !text.is_empty());
        let created_at = metadata.created_at.clone().unwrap_or_default();
        SessionDetails {
            id: self.id(),
            title: metadata.title(&known.titles),
            name: metadata.name,
            session_type: metadata.session_type,
            status: metadata.status,
            archived_at: metadata.archived_at,
            summary: metadata.summary,
            last_active: known.last_message_ms.map_or_else(|| created_at.clone(), time::format),
            created_at,
            project: match folder.root {
                Root::Workspace(root) => Some(root),
                _ => non_empty(metadata.project.map(|project| project.path)),
            },
            placement: self.placement().as_str(),
            path: self.shown_folder(),
            agent: AgentDetails {
                command: metadata.agent.command,
                model: non_empty(metadata.agent.model),
                provider: non_empty(metadata.agent.provider),
                context_window: metadata.agent.context_window.filter(|window| *window > 0),
                tools: metadata.agent.tools,
            },
            source: metadata
                .imported
                .map(|ImportOrigin { agent, source_id }| SourceDetails { agent, id: source_id }),
            total_tokens: known.tokens,
            tool_executions: known.tool_messages,
        }
    }
}

// Measures the files of a folder, and the folders in it, by name. Folders inside those are not looked into.
async fn measure_files(io: &Io, folder: &File) -> Result<Vec<FileSize>, Trouble> {
    let mut sizes = Vec::new();
    for entry in io.list(folder).await?.unwrap_or_default() {
        let at = folder.child(&entry.name);
        let (file, within) = match entry.kind {
            FileKind::Folder => (format!("{}/", entry.name), unless_other(io.list(&at).await)?),
            FileKind::File | FileKind::Other => (entry.name, None),
        };
        let count = within.as_ref().map(Vec::len);
        let files: Vec<File> = match within {
            Some(within) => within.iter().map(|one| at.child(&one.name)).collect(),
            None => [at].into(),
        };
        let mut bytes = 0;
        for stat in collect_responses(files.iter().map(|file| io.stat(file)).collect()).await {
            bytes += unless_other(stat)?.map_or(0, |stat| stat.size);
        }
        sizes.push(FileSize { file, bytes, count });
    }
    sizes.sort_by(|one, other| one.file.cmp(&other.file));
    Ok(sizes)
}
