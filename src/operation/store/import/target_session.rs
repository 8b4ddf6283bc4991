//! The target session of an import: found in the store, or created. A new one lies in the home, with the project that
//! its agent names, or with none; one that a command of the workspace began moves beside its conversation once that
//! exists.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Importer;
use crate::interop::servers::full_tool_name;
use crate::interop::{AgentName, ImportedSession};
use crate::json::fields::Fields;
use crate::layout::{EVENTS, MESSAGES, NO_PROJECT, SessionLocation, names};
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

/// The length of the time at the beginning of a uuid.
const ID_TIME_CHARS: usize = "00000000-0000-".len();

/// Sessions by the tails of their ids; each map is made when it is first needed.
#[derive(Default)]
pub(super) struct KnownPlaces {
    in_home: Option<BTreeMap<String, SessionLocation>>,
    in_workspaces: Option<BTreeMap<String, SessionLocation>>,
}

/// The command that began a conversation.
#[derive(Default)]
struct OriginCommand {
    name: Option<String>,
    hash: Option<String>,
    /// The client's tools besides those that its record names.
    tools: Vec<String>,
}

impl Importer<'_> {
    /// Opens the session that an agent's session goes into, or creates it.
    pub(super) async fn open_target_session(
        &self,
        imported: &ImportedSession,
        messages: &Rc<Vec<Message>>,
    ) -> Result<Rc<SessionFiles>, Trouble> {
        let (place, project) = self.find_target_place(imported).await?;
        if let Some(known) = self.find_known_place(&place, imported).await? {
            return self.store.open_for_import(self.io, known).await;
        }
        let command = if self.has_command {
            self.find_origin_command(messages).await?
        } else {
            OriginCommand::default()
        };
        if let Some(met) = &mut self.known_places.borrow_mut().in_home {
            met.insert(id_tail(&imported.id), place.clone());
        }
        let files = self.store.unopened_session(&place, "");
        files.begin_session(self.io, self.build_new_session(imported, project, command)).await?;
        Ok(files)
    }

    /// Finds the session that has an agent's session already, as it is on disk; none where an import would create it.
    pub(super) async fn find_stored_session(
        &self,
        imported: &ImportedSession,
    ) -> Result<Option<Rc<SessionFiles>>, Trouble> {
        let (place, _) = self.find_target_place(imported).await?;
        match self.find_known_place(&place, imported).await? {
            Some(known) => open_unchanged(self.store, self.io, known).await.map(Some),
            None => Ok(None),
        }
    }

    // Returns where a new session of an agent's begins, and its project's folder.
    async fn find_target_place(
        &self,
        imported: &ImportedSession,
    ) -> Result<(SessionLocation, Option<String>), Trouble> {
        // A session that is being recorded belongs to the project of the client's folder.
        let of_store = || self.is_ongoing.then(|| self.store.setup.project.clone());
        // A project that is entered by a link is the project that the link leads to.
        let project = match imported.folder.clone() {
            Some(folder) => Some(self.io.real_path(&folder).await?),
            None => of_store(),
        };
        let hash = match &project {
            None => NO_PROJECT.into(),
            Some(path) => project::hash(&self.normalize_path(path).await?),
        };
        Ok((SessionLocation::Home { project: hash, id: imported.id.clone() }, project))
    }

    fn build_new_session(
        &self,
        imported: &ImportedSession,
        project: Option<String>,
        command: OriginCommand,
    ) -> NewSession {
        let OriginCommand { name, hash, tools } = command;
        let mut had = full_tool_names(imported, &tools);
        let others: Vec<String> = tools.into_iter().filter(|tool| !had.contains(tool)).collect();
        had.extend(others);
        let of_command = name.as_deref().and_then(names::command_type).unwrap_or(USUAL_TYPE);
        let session_type = if imported.parent.is_some() { "subagent" } else { of_command };
        let agent = Agent {
            command: name.clone(),
            system_prompt_hash: hash,
            model: imported.model.clone(),
            tools: had,
            ..Agent::default()
        };
        let created = SessionCreation {
            session: imported.id.clone(),
            session_type: session_type.into(),
            name: None,
            project: project.map(project_from_path),
            parent: imported.parent.clone(),
            // None, rather than an agent without any field.
            agent: Some(agent).filter(|agent| *agent != Agent::default()),
        };
        let began = imported.created_ms.map(time::format);
        let mut then: Vec<ChangeRequest> =
            imported.fork.iter().map(|origin| ChangeRequest::from(Change::Fork(origin.clone()))).collect();
        if !self.is_ongoing {
            // An imported session is paused when it ended: the conversation goes on elsewhere, and ten thousand imports need
            // not write ten thousand events to pause them later.
            let timestamp = imported.last_ms.map(time::format).or(began.clone());
            let paused = Change::Status { status: Status::Paused, reason: None };
            then.push(ChangeRequest {
                is_timeless: timestamp.is_none(),
                timestamp,
                ..ChangeRequest::from(paused)
            });
        }
        let from = ImportOrigin { agent: imported.agent.clone(), source_id: imported.source_id.clone() };
        NewSession::new(created, imported.title.clone()).with_time(began).with_import(from).with_changes(then)
    }

    // Asks the host which command began a conversation.
    async fn find_origin_command(&self, messages: &Rc<Vec<Message>>) -> Result<OriginCommand, Trouble> {
        let messages = json_array(
            messages.iter().map(|message| crate::operation::message_pages::message_json(message, true)),
        );
        let answer = self.io.find_command(messages).await?;
        let Ok(mut fields) = Fields::parse(&answer) else { return Ok(OriginCommand::default()) };
        let bad = &mut Vec::new();
        let (name, hash) = (fields.take("name", bad), fields.take("hash", bad));
        Ok(OriginCommand { name, hash, tools: fields.take("tools", bad).unwrap_or_default() })
    }

    // Returns the form of a path by which its project is known.
    async fn normalize_path(&self, path: &str) -> Result<String, Trouble> {
        if path.is_ascii() { Ok(path.into()) } else { self.io.normalize_text(path).await }
    }

    // Returns where a session already lies. It may have been relocated since; and a client that resumes a session in
    // another process may write another file of it, with another time.
    async fn find_known_place(
        &self,
        place: &SessionLocation,
        imported: &ImportedSession,
    ) -> Result<Option<SessionLocation>, Trouble> {
        if self.has_log(place).await? {
            return Ok(Some(place.clone()));
        }
        self.find_by_id(&imported.agent, &imported.id).await
    }

    /// Finds a session that holds what an agent, or another program, has by its id: an agent's also by another time
    /// in it.
    pub(super) async fn find_by_id(&self, agent: &str, id: &str) -> Result<Option<SessionLocation>, Trouble> {
        match AgentName::parse(agent) {
            Ok(_) => self.find_by_tail(&id_tail(id)).await,
            Err(_) => self.find_by_whole_id(id).await,
        }
    }

    async fn find_by_tail(&self, tail: &str) -> Result<Option<SessionLocation>, Trouble> {
        if self.known_places.borrow().in_home.is_none() {
            let found = self.map_home_places().await?;
            self.known_places.borrow_mut().in_home = Some(found);
        }
        let in_home = find_known(&self.known_places.borrow().in_home, tail);
        if let Some(place) = in_home
            && self.has_log(&place).await?
        {
            return Ok(Some(place));
        }
        self.find_in_workspaces(tail).await
    }

    // Lists no folder of sessions.
    async fn find_by_whole_id(&self, id: &str) -> Result<Option<SessionLocation>, Trouble> {
        for project in self.store.project_hashes(self.io).await? {
            let place = SessionLocation::Home { project, id: id.into() };
            if self.has_log(&place).await? {
                return Ok(Some(place));
            }
        }
        self.find_in_workspaces(&id_tail(id)).await
    }

    async fn find_in_workspaces(&self, tail: &str) -> Result<Option<SessionLocation>, Trouble> {
        if self.known_places.borrow().in_workspaces.is_none() {
            let found = self.map_workspace_places().await?;
            self.known_places.borrow_mut().in_workspaces = Some(found);
        }
        Ok(find_known(&self.known_places.borrow().in_workspaces, tail))
    }

    async fn has_log(&self, place: &SessionLocation) -> Result<bool, Trouble> {
        let is_there = |log: &'static str| async move {
            Ok::<_, Trouble>(self.io.stat(&place.log(log)).await?.is_some())
        };
        // A session in which nothing was said yet has only events.
        Ok(is_there(MESSAGES).await? || is_there(EVENTS).await?)
    }

    async fn map_home_places(&self) -> Result<BTreeMap<String, SessionLocation>, Trouble> {
        let mut met = BTreeMap::new();
        for hash in self.store.project_hashes(self.io).await? {
            for found in self.store.places_in_home(self.io, &hash, false).await? {
                if let SessionLocation::Home { id, .. } = &found.place {
                    met.insert(id_tail(id), found.place.clone());
                }
            }
        }
        Ok(met)
    }

    // Does not list sessions: that pauses idle ones, and an import changes no other session.
    async fn map_workspace_places(&self) -> Result<BTreeMap<String, SessionLocation>, Trouble> {
        let mut met = BTreeMap::new();
        let places = self.store.places_in_workspaces(self.io, false).await?;
        for found in self.store.without_hidden(self.io, places).await? {
            let files = self.store.unopened_session(&found.place, "");
            if unless_bug(Box::pin(files.open_files(self.io)).await)?.is_some() {
                met.insert(id_tail(&files.id()), found.place);
            }
        }
        Ok(met)
    }
}

impl Store {
    /// Opens the session at a place, or returns the one that is open there.
    pub(in crate::operation::store) async fn open_for_import(
        &self,
        io: &Io,
        place: SessionLocation,
    ) -> Result<Rc<SessionFiles>, Trouble> {
        let files = open_unchanged(self, io, place).await?;
        if self.find_open(&files.shown_folder()).is_some() {
            return Ok(files);
        }
        let PauseReport { notices, .. } = Box::pin(files.pause_if_idle(io, self.setup.idle_ms, true)).await?;
        self.report_notices(&files.shown_folder(), notices);
        if let Some(place) = SessionLocation::of(&files.folder()) {
            self.register_workspace(io, &place).await?;
        }
        Ok(files)
    }
}

/// Opens the session at a place, or returns the one that is open there, and changes nothing of it.
pub(super) async fn open_unchanged(
    store: &Store,
    io: &Io,
    place: SessionLocation,
) -> Result<Rc<SessionFiles>, Trouble> {
    let Some(place) = store.current_place(io, place.clone()).await? else {
        return Err(store.unopened_session(&place, "").moved_error());
    };
    let files = store.unopened_session(&place, "");
    if let Some(open) = store.find_open(&files.shown_folder()) {
        return Ok(open);
    }
    Box::pin(files.open_files(io)).await?;
    if io.stat(&files.folder()).await?.is_none() {
        return Err(files.moved_error());
    }
    Ok(files)
}

fn find_known(places: &Option<BTreeMap<String, SessionLocation>>, tail: &str) -> Option<SessionLocation> {
    places.as_ref()?.get(tail).cloned()
}

// Names a project as it was when the session began: its repository is not asked what it is by now.
fn project_from_path(path: String) -> Project {
    let name = path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default().to_string();
    Project { hash: project::hash(&path), name, path, ..Project::default() }
}

/// Returns the tools of an agent's session, those of these servers, `mcp__SERVER` each, by their full names.
pub(super) fn full_tool_names(imported: &ImportedSession, servers: &[String]) -> Vec<String> {
    let Ok(agent) = AgentName::parse(&imported.agent) else { return imported.tools.clone() };
    let named = |tool: &String| full_tool_name(agent, tool, servers).unwrap_or_else(|| tool.clone());
    imported.tools.iter().map(named).collect()
}

// Returns an id without its time. An imported session's id begins with its source's time; the rest identifies the
// source.
pub(super) fn id_tail(id: &str) -> String {
    id.get(ID_TIME_CHARS..).unwrap_or_default().into()
}
