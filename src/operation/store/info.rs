//! What there is to know of one session: what is said of it, what its messages come to, which sessions it came from and which
//! came of it, what lies in its folder, and how well. Its files say it, whoever has it open, and none of them is changed by that.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::Store;
use super::listing::Seen;
use super::places::AT_ONCE;
use crate::json::text::{is_default, to_json};
use crate::layout::{File, Root};
use crate::operation::examine::Examined;
use crate::operation::io::{each, some};
use crate::operation::live::Live;
use crate::operation::pages::{OfPath, Reading};
use crate::operation::{Io, Kind, Operation, Trouble, Work, unless_bug, unless_other};
use crate::record::event::{Imported, Origin, Parent};
use crate::record::message::Role;
use crate::record::status::Status;
use crate::session::documents::Document;
use crate::session::index::Index;
use crate::session::lease::Lease;
use crate::session::metadata::Metadata;
use crate::time;

#[derive(Serialize)]
struct Info {
    #[serde(flatten)]
    described: Described,
    #[serde(flatten)]
    counted: Counted,
    #[serde(flatten)]
    related: Related,
    files: Vec<Size>,
    #[serde(flatten)]
    examined: Examined,
    #[serde(rename = "openIn")]
    open_in: Vec<Holder>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Described {
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
    agent: Agent,
    source: Option<Source>,
    total_tokens: u64,
    tool_executions: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Agent {
    command: Option<String>,
    model: Option<String>,
    provider: Option<String>,
    context_window: Option<u64>,
    tools: Vec<String>,
}

#[derive(Serialize)]
struct Source {
    agent: String,
    id: String,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Counted {
    message_count: u64,
    roles: Roles,
    branches: u64,
    pins: Vec<String>,
}

#[derive(Default, Serialize)]
struct Roles {
    system: u64,
    user: u64,
    assistant: u64,
    tool: u64,
    /// Whose role is none that leftoff knows.
    #[serde(skip_serializing_if = "is_default")]
    other: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Related {
    forked_from: Option<Origin>,
    parent: Option<Parent>,
    /// Ids of sessions of the project, as `subagents`.
    forks: Vec<String>,
    subagents: Vec<String>,
}

#[derive(Serialize)]
struct Size {
    file: String,
    bytes: u64,
    /// Of a folder, how many files are in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
}

#[derive(Serialize)]
struct Holder {
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    pid: u64,
    host: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
}

/// Whom another session comes from.
struct Kin {
    id: String,
    forked_from: Option<Origin>,
    parent: Option<Parent>,
}

impl Holder {
    // What it takes to know whether that process is gone is nobody else's affair.
    fn of(Lease { program, pid, host, since, boot: _, start: _ }: Lease) -> Holder {
        Holder { program, pid, host, since }
    }
}

impl Store {
    /// What there is to know of a session, `{"id","title","messageCount","roles","forks","subagents","files","health","problems",
    /// "openIn"}` and what else is said of it, JSON. Forks and sub-agents are those of this store's project: of all projects
    /// they are too many to look at.
    pub fn info(self: &Rc<Store>, of: &Live) -> Operation<'static, String> {
        // By its bytes, in every host: whoever has it open learns of nothing earlier by that.
        let (store, live) = (self.clone(), of.anew());
        Operation::new(|io| async move {
            let shown = live.shown();
            io.turn_of(&shown).await?;
            live.arrived(&io).await?;
            live.looked_here(&io).await?;
            let described = live.described();
            let counted = Box::pin(live.counted(&io)).await?;
            let (files, examined) = (sizes(&io, &live.folder()).await?, live.examined(&io).await?);
            io.leave_of(&shown);
            let related = Box::pin(store.related(&io, &live)).await?;
            let open_in = live.holders(&io).await?.into_iter().map(Holder::of).collect();
            Ok(to_json(&Info { described, counted, related, files, examined, open_in }))
        })
    }

    async fn related(&self, io: &Io, live: &Live) -> Result<Related, Trouble> {
        let id = live.id();
        let index = self.read_index(io).await?;
        let found = self.found_of(io, &index, false, true).await?;
        let works = found.into_iter().map(|seen| {
            let index = &index;
            Box::pin(async move { self.kin(io, index, seen).await }) as Work<'_, Option<Kin>>
        });
        let (mut forks, mut subagents) = (Vec::new(), Vec::new());
        for Kin { id: other, forked_from, parent } in some(works, AT_ONCE).await?.into_iter().flatten() {
            if forked_from.is_some_and(|origin| origin.session == id) {
                forks.push(other.clone());
            }
            if parent.is_some_and(|parent| parent.session == id) {
                subagents.push(other);
            }
        }
        let (forked_from, parent) = live.with(|session| {
            let Metadata { forked_from, parent, .. } = session.metadata();
            (forked_from.clone(), parent.clone())
        });
        Ok(Related { forked_from, parent, forks, subagents })
    }

    // By its document: to open each session of a project takes too long, and lists do not tell it.
    async fn kin(&self, io: &Io, index: &Index, seen: Seen) -> Result<Option<Kin>, Trouble> {
        let Some(Seen::Sure(found, one)) = self.verified(io, index, seen).await? else { return Ok(None) };
        let live = self.unread(&found.place, "");
        // One that cannot be read must not cost what the others say.
        let json = unless_bug(live.document_found(io).await)?.flatten().unwrap_or_default();
        let Ok((document, _)) = Document::read(live.document_name(), &json) else { return Ok(None) };
        let Metadata { forked_from, parent, .. } = document.metadata();
        Ok(Some(Kin { id: one.entry.id.clone(), forked_from, parent }))
    }
}

impl Live {
    async fn counted(&self, io: &Io) -> Result<Counted, Trouble> {
        let mut counted = Counted::default();
        let reading = Reading { all_branches: true, ..Reading::default() };
        let mut messages = OfPath::begin(self, io, reading).await?;
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
        let source = self.with(|session| session.source());
        counted.pins = self.pinned(io, &source).await?.into_iter().map(|pin| pin.id).collect();
        Ok(counted)
    }

    fn described(&self) -> Described {
        let (session, folder) = (self.session(), self.folder());
        let session = session.borrow();
        let (metadata, known) = (session.metadata().clone(), session.known());
        let said = |text: Option<String>| text.filter(|text| !text.is_empty());
        let created_at = metadata.created_at.clone().unwrap_or_default();
        Described {
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
                _ => said(metadata.project.map(|project| project.path)),
            },
            placement: self.placement().as_str(),
            path: self.shown(),
            agent: Agent {
                command: metadata.agent.command,
                model: said(metadata.agent.model),
                provider: said(metadata.agent.provider),
                context_window: metadata.agent.context_window.filter(|window| *window > 0),
                tools: metadata.agent.tools,
            },
            source: metadata.imported.map(|Imported { agent, source_id }| Source { agent, id: source_id }),
            total_tokens: known.tokens,
            tool_executions: known.tool_messages,
        }
    }
}

// Of the files in a folder, and of the folders in it, by their names. What is neither, nobody looks into.
async fn sizes(io: &Io, folder: &File) -> Result<Vec<Size>, Trouble> {
    let mut sizes = Vec::new();
    for entry in io.list(folder).await?.unwrap_or_default() {
        let at = folder.below(&entry.name);
        let (file, within) = match entry.kind {
            Kind::Folder => (format!("{}/", entry.name), unless_other(io.list(&at).await)?),
            Kind::File | Kind::Other => (entry.name, None),
        };
        let count = within.as_ref().map(Vec::len);
        let files: Vec<File> = match within {
            Some(within) => within.iter().map(|one| at.below(&one.name)).collect(),
            None => [at].into(),
        };
        let mut bytes = 0;
        for stat in each(files.iter().map(|file| io.stat(file)).collect()).await {
            bytes += unless_other(stat)?.map_or(0, |stat| stat.size);
        }
        sizes.push(Size { file, bytes, count });
    }
    sizes.sort_by(|one, other| one.file.cmp(&other.file));
    Ok(sizes)
}
