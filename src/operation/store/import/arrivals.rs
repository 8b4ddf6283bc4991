//! Where a session of an agent lies in the store, or begins: in the home, with the project that its agent names, else with none;
//! one that a command of the workspace began, beside its conversation, once that is there.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Importing;
use crate::interop::servers::full_name;
use crate::interop::{AgentName, ImportedSession};
use crate::json::fields::Fields;
use crate::layout::{MESSAGES, NO_PROJECT, Place, names};
use crate::operation::lease::TakenUp;
use crate::operation::live::Live;
use crate::operation::pages::array;
use crate::operation::store::Store;
use crate::operation::{Io, Trouble, unless_bug};
use crate::project::{self};
use crate::record::event::{Agent, Change, Created, Imported, Project, USUAL_TYPE};
use crate::record::message::Message;
use crate::record::status::Status;
use crate::session::ask::Ask;
use crate::session::begin::Begin;
use crate::time;

/// So much of a uuid is its time.
const TIME: usize = "00000000-0000-".len();

/// Sessions by what their ids end with, once they were looked for.
#[derive(Default)]
pub(super) struct Met {
    in_home: Option<BTreeMap<String, Place>>,
    in_workspaces: Option<BTreeMap<String, Place>>,
}

/// What began a conversation.
#[derive(Default)]
struct Command {
    name: Option<String>,
    hash: Option<String>,
    /// What the client has beside the tools that its record names.
    tools: Vec<String>,
}

impl Importing<'_> {
    /// The session that one of an agent's goes into.
    pub(super) async fn session(
        &self,
        one: &ImportedSession,
        messages: &Rc<Vec<Message>>,
    ) -> Result<Rc<Live>, Trouble> {
        // What goes on there is told by who is in that folder.
        let of_store = || self.is_on.then(|| self.store.setup.project.clone());
        // Whoever works in a project by a link works in that project.
        let project = match one.folder.clone() {
            Some(folder) => Some(self.io.real_path(&folder).await?),
            None => of_store(),
        };
        let hash = match &project {
            None => NO_PROJECT.into(),
            Some(path) => project::hash(&self.normal(path).await?),
        };
        let place = Place::Home { project: hash, id: one.id.clone() };
        if let Some(known) = self.known(&place, &one.id).await? {
            return self.store.arrive(self.io, known).await;
        }
        let command = if self.has_command { self.command(messages).await? } else { Command::default() };
        if let Some(met) = &mut self.met.borrow_mut().in_home {
            met.insert(tail_of(&one.id), place.clone());
        }
        let live = self.store.unread(&place, "");
        live.begun(self.io, self.begin(one, project, command)).await?;
        Ok(live)
    }

    fn begin(&self, one: &ImportedSession, project: Option<String>, command: Command) -> Begin {
        let Command { name, hash, tools } = command;
        let mut had = full_names(one, &tools);
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
        let created = Created {
            session: one.id.clone(),
            session_type: session_type.into(),
            name: None,
            project: project.map(project_of),
            parent: one.parent.clone(),
            // Nothing where it says nothing.
            agent: Some(agent).filter(|agent| *agent != Agent::default()),
        };
        let began = one.created_ms.map(time::format);
        let mut then: Vec<Ask> =
            one.fork.iter().map(|origin| Ask::from(Change::Fork(origin.clone()))).collect();
        if !self.is_on {
            // It goes on where it came from; here it rests since then.
            let timestamp = one.last_ms.map(time::format).or(began.clone());
            let paused = Change::Status { status: Status::Paused, reason: None };
            then.push(Ask { is_timeless: timestamp.is_none(), timestamp, ..Ask::from(paused) });
        }
        let from = Imported { agent: one.agent.into(), source_id: one.source_id.clone() };
        Begin::new(created, one.title.clone()).at(began).imported(from).then(then)
    }

    // Which command began it, told by whoever asked.
    async fn command(&self, messages: &Rc<Vec<Message>>) -> Result<Command, Trouble> {
        let said = array(messages.iter().map(|message| crate::operation::pages::json(message, true)));
        let answer = self.io.command(said).await?;
        let Ok(mut fields) = Fields::parse(&answer) else { return Ok(Command::default()) };
        let bad = &mut Vec::new();
        let (name, hash) = (fields.take("name", bad), fields.take("hash", bad));
        Ok(Command { name, hash, tools: fields.take("tools", bad).unwrap_or_default() })
    }

    // By that a project is known.
    async fn normal(&self, path: &str) -> Result<String, Trouble> {
        if path.is_ascii() { Ok(path.into()) } else { self.io.normal(path).await }
    }

    // Where it lies already. It may have been relocated since; and a client that takes a session up again in another process may
    // begin another file of it, at another time.
    async fn known(&self, place: &Place, id: &str) -> Result<Option<Place>, Trouble> {
        if self.is_there(place).await? {
            return Ok(Some(place.clone()));
        }
        self.met(&tail_of(id)).await
    }

    /// Where a session lies whose id ends so.
    pub(super) async fn met(&self, tail: &str) -> Result<Option<Place>, Trouble> {
        if self.met.borrow().in_home.is_none() {
            let found = self.in_home().await?;
            self.met.borrow_mut().in_home = Some(found);
        }
        let met = |all: &Option<BTreeMap<String, Place>>| all.as_ref()?.get(tail).cloned();
        let in_home = met(&self.met.borrow().in_home);
        if let Some(place) = in_home
            && self.is_there(&place).await?
        {
            return Ok(Some(place));
        }
        if self.met.borrow().in_workspaces.is_none() {
            let found = self.in_workspaces().await?;
            self.met.borrow_mut().in_workspaces = Some(found);
        }
        let in_workspaces = met(&self.met.borrow().in_workspaces);
        Ok(in_workspaces)
    }

    async fn is_there(&self, place: &Place) -> Result<bool, Trouble> {
        Ok(self.io.stat(&place.log(MESSAGES)).await?.is_some())
    }

    async fn in_home(&self) -> Result<BTreeMap<String, Place>, Trouble> {
        let mut met = BTreeMap::new();
        for hash in self.store.projects(self.io).await? {
            for one in self.store.in_home(self.io, &hash, false).await? {
                if let Place::Home { id, .. } = &one.place {
                    met.insert(tail_of(id), one.place.clone());
                }
            }
        }
        Ok(met)
    }

    // Not by a list: that pauses what rests, and whoever imports changes no other session.
    async fn in_workspaces(&self) -> Result<BTreeMap<String, Place>, Trouble> {
        let mut met = BTreeMap::new();
        let places = self.store.in_workspaces(self.io, false).await?;
        for one in self.store.shown(self.io, places).await? {
            let live = self.store.unread(&one.place, "");
            if unless_bug(Box::pin(live.opened(self.io)).await)?.is_some() {
                met.insert(tail_of(&live.id()), one.place);
            }
        }
        Ok(met)
    }
}

impl Store {
    /// The session of a place, as whoever opens it has it.
    pub(in crate::operation::store) async fn arrive(
        &self,
        io: &Io,
        place: Place,
    ) -> Result<Rc<Live>, Trouble> {
        let Some(place) = self.now(io, place.clone()).await? else {
            return Err(self.unread(&place, "").elsewhere());
        };
        let live = self.unread(&place, "");
        if let Some(open) = self.open_at(&live.shown()) {
            return Ok(open);
        }
        Box::pin(live.opened(io)).await?;
        if io.stat(&live.folder()).await?.is_none() {
            return Err(live.elsewhere());
        }
        let TakenUp { notices, .. } = Box::pin(live.taken_up(io, self.setup.idle_ms, true)).await?;
        self.tell(&live.shown(), notices);
        self.meet(io, &place).await?;
        Ok(live)
    }
}

// As it was where it began: nobody asks its repository what it is by now.
fn project_of(path: String) -> Project {
    let name = path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default().to_string();
    Project { hash: project::hash(&path), name, path, ..Project::default() }
}

/// The tools of an agent's session, those of these servers, `mcp__SERVER` each, by their whole names.
pub(super) fn full_names(one: &ImportedSession, servers: &[String]) -> Vec<String> {
    let Ok(agent) = AgentName::parse(one.agent) else { return one.tools.clone() };
    let named = |tool: &String| full_name(agent, tool, servers).unwrap_or_else(|| tool.clone());
    one.tools.iter().map(named).collect()
}

// What is imported has an id that begins with the time of its source; the rest names the source alone.
pub(super) fn tail_of(id: &str) -> String {
    id.get(TIME..).unwrap_or_default().into()
}
