//! Where a session of an agent lies in the store, or begins: in the home, with the project that its agent names, else with none;
//! one that a command of the workspace began, beside its conversation, once that is there.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Importer;
use crate::interop::servers::full_tool_name;
use crate::interop::{AgentName, ImportedSession};
use crate::json::fields::Fields;
use crate::layout::{MESSAGES, NO_PROJECT, SessionLocation, names};
use crate::operation::lease::PauseReport;
use crate::operation::message_pages::json_array;
use crate::operation::session_files::SessionFiles;
use crate::operation::store::Store;
use crate::operation::{Io, Trouble, unless_bug};
use crate::project::{self};
use crate::record::event::{Agent, Change, ImportOrigin, Project, SessionCreation, USUAL_TYPE};
use crate::record::message::Message;
use crate::record::status::Status;
use crate::session::change_request::ChangeRequest;
use crate::session::new_session::NewSession;
use crate::time;

/// So much of a uuid is its time.
const TIME: usize = "00000000-0000-".len();

/// Sessions by what their ids end with, once they were looked for.
#[derive(Default)]
pub(super) struct KnownPlaces {
    in_home: Option<BTreeMap<String, SessionLocation>>,
    in_workspaces: Option<BTreeMap<String, SessionLocation>>,
}

/// What began a conversation.
#[derive(Default)]
struct OriginCommand {
    name: Option<String>,
    hash: Option<String>,
    /// What the client has beside the tools that its record names.
    tools: Vec<String>,
}

impl Importer<'_> {
    /// The session that one of an agent's goes into.
    pub(super) async fn open_target_session(
        &self,
        one: &ImportedSession,
        messages: &Rc<Vec<Message>>,
    ) -> Result<Rc<SessionFiles>, Trouble> {
        // What goes on there is told by who is in that folder.
        let of_store = || self.is_ongoing.then(|| self.store.setup.project.clone());
        // Whoever works in a project by a link works in that project.
        let project = match one.folder.clone() {
            Some(folder) => Some(self.io.real_path(&folder).await?),
            None => of_store(),
        };
        let hash = match &project {
            None => NO_PROJECT.into(),
            Some(path) => project::hash(&self.normalize_path(path).await?),
        };
        let place = SessionLocation::Home { project: hash, id: one.id.clone() };
        if let Some(known) = self.find_known_place(&place, &one.id).await? {
            return self.store.open_for_import(self.io, known).await;
        }
        let command = if self.has_command {
            self.find_origin_command(messages).await?
        } else {
            OriginCommand::default()
        };
        if let Some(met) = &mut self.known_places.borrow_mut().in_home {
            met.insert(id_tail(&one.id), place.clone());
        }
        let live = self.store.unopened_session(&place, "");
        live.begin_session(self.io, self.build_new_session(one, project, command)).await?;
        Ok(live)
    }

    fn build_new_session(
        &self,
        one: &ImportedSession,
        project: Option<String>,
        command: OriginCommand,
    ) -> NewSession {
        let OriginCommand { name, hash, tools } = command;
        let mut had = full_tool_names(one, &tools);
        let others: Vec<String> = tools.into_iter().filter(|tool| !had.contains(tool)).collect();
        had.extend(others);
        let of_command = name.as_deref().and_then(names::command_type).unwrap_or(USUAL_TYPE);
        let session_type = if one.parent.is_some() { "subagent" } else { of_command };
        let agent = Agent {
            command: name.clone(),
            system_prompt_hash: hash,
            model: one.model.clone(),
            tools: had,
            ..Agent::default()
        };
        let created = SessionCreation {
            session: one.id.clone(),
            session_type: session_type.into(),
            name: None,
            project: project.map(project_from_path),
            parent: one.parent.clone(),
            // Nothing where it says nothing.
            agent: Some(agent).filter(|agent| *agent != Agent::default()),
        };
        let began = one.created_ms.map(time::format);
        let mut then: Vec<ChangeRequest> =
            one.fork.iter().map(|origin| ChangeRequest::from(Change::Fork(origin.clone()))).collect();
        if !self.is_ongoing {
            // An imported session is paused when it ended: the conversation goes on elsewhere, and ten thousand imports need
            // not write ten thousand events to pause them later.
            let timestamp = one.last_ms.map(time::format).or(began.clone());
            let paused = Change::Status { status: Status::Paused, reason: None };
            then.push(ChangeRequest {
                is_timeless: timestamp.is_none(),
                timestamp,
                ..ChangeRequest::from(paused)
            });
        }
        let from = ImportOrigin { agent: one.agent.into(), source_id: one.source_id.clone() };
        NewSession::new(created, one.title.clone()).with_time(began).with_import(from).with_changes(then)
    }

    // Which command began it, told by whoever asked.
    async fn find_origin_command(&self, messages: &Rc<Vec<Message>>) -> Result<OriginCommand, Trouble> {
        let said = json_array(
            messages.iter().map(|message| crate::operation::message_pages::message_json(message, true)),
        );
        let answer = self.io.find_command(said).await?;
        let Ok(mut fields) = Fields::parse(&answer) else { return Ok(OriginCommand::default()) };
        let bad = &mut Vec::new();
        let (name, hash) = (fields.take("name", bad), fields.take("hash", bad));
        Ok(OriginCommand { name, hash, tools: fields.take("tools", bad).unwrap_or_default() })
    }

    // By that a project is known.
    async fn normalize_path(&self, path: &str) -> Result<String, Trouble> {
        if path.is_ascii() { Ok(path.into()) } else { self.io.normalize_text(path).await }
    }

    // Where it lies already. It may have been relocated since; and a client that takes a session up again in another process may
    // begin another file of it, at another time.
    async fn find_known_place(
        &self,
        place: &SessionLocation,
        id: &str,
    ) -> Result<Option<SessionLocation>, Trouble> {
        if self.has_log(place).await? {
            return Ok(Some(place.clone()));
        }
        self.find_by_tail(&id_tail(id)).await
    }

    /// Where a session lies whose id ends so.
    pub(super) async fn find_by_tail(&self, tail: &str) -> Result<Option<SessionLocation>, Trouble> {
        if self.known_places.borrow().in_home.is_none() {
            let found = self.map_home_places().await?;
            self.known_places.borrow_mut().in_home = Some(found);
        }
        let met = |all: &Option<BTreeMap<String, SessionLocation>>| all.as_ref()?.get(tail).cloned();
        let in_home = met(&self.known_places.borrow().in_home);
        if let Some(place) = in_home
            && self.has_log(&place).await?
        {
            return Ok(Some(place));
        }
        if self.known_places.borrow().in_workspaces.is_none() {
            let found = self.map_workspace_places().await?;
            self.known_places.borrow_mut().in_workspaces = Some(found);
        }
        let in_workspaces = met(&self.known_places.borrow().in_workspaces);
        Ok(in_workspaces)
    }

    async fn has_log(&self, place: &SessionLocation) -> Result<bool, Trouble> {
        Ok(self.io.stat(&place.log(MESSAGES)).await?.is_some())
    }

    async fn map_home_places(&self) -> Result<BTreeMap<String, SessionLocation>, Trouble> {
        let mut met = BTreeMap::new();
        for hash in self.store.project_hashes(self.io).await? {
            for one in self.store.places_in_home(self.io, &hash, false).await? {
                if let SessionLocation::Home { id, .. } = &one.place {
                    met.insert(id_tail(id), one.place.clone());
                }
            }
        }
        Ok(met)
    }

    // Not by a list: that pauses what rests, and whoever imports changes no other session.
    async fn map_workspace_places(&self) -> Result<BTreeMap<String, SessionLocation>, Trouble> {
        let mut met = BTreeMap::new();
        let places = self.store.places_in_workspaces(self.io, false).await?;
        for one in self.store.without_hidden(self.io, places).await? {
            let live = self.store.unopened_session(&one.place, "");
            if unless_bug(Box::pin(live.open_files(self.io)).await)?.is_some() {
                met.insert(id_tail(&live.id()), one.place);
            }
        }
        Ok(met)
    }
}

impl Store {
    /// The session of a place, as whoever opens it has it.
    pub(in crate::operation::store) async fn open_for_import(
        &self,
        io: &Io,
        place: SessionLocation,
    ) -> Result<Rc<SessionFiles>, Trouble> {
        let Some(place) = self.current_place(io, place.clone()).await? else {
            return Err(self.unopened_session(&place, "").moved_error());
        };
        let live = self.unopened_session(&place, "");
        if let Some(open) = self.find_open(&live.shown_folder()) {
            return Ok(open);
        }
        Box::pin(live.open_files(io)).await?;
        if io.stat(&live.folder()).await?.is_none() {
            return Err(live.moved_error());
        }
        let PauseReport { notices, .. } = Box::pin(live.pause_if_idle(io, self.setup.idle_ms, true)).await?;
        self.report_notices(&live.shown_folder(), notices);
        self.register_workspace(io, &place).await?;
        Ok(live)
    }
}

// As it was where it began: nobody asks its repository what it is by now.
fn project_from_path(path: String) -> Project {
    let name = path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default().to_string();
    Project { hash: project::hash(&path), name, path, ..Project::default() }
}

/// The tools of an agent's session, those of these servers, `mcp__SERVER` each, by their whole names.
pub(super) fn full_tool_names(one: &ImportedSession, servers: &[String]) -> Vec<String> {
    let Ok(agent) = AgentName::parse(one.agent) else { return one.tools.clone() };
    let named = |tool: &String| full_tool_name(agent, tool, servers).unwrap_or_else(|| tool.clone());
    one.tools.iter().map(named).collect()
}

// What is imported has an id that begins with the time of its source; the rest names the source alone.
pub(super) fn id_tail(id: &str) -> String {
    id.get(TIME..).unwrap_or_default().into()
}
