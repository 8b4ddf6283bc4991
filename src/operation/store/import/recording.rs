//! A conversation that goes on in an agent's client, taken into the store from the client's own record.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::arrivals::full_names;
use super::request::FileRequest;
use super::{Importing, Progress, named};
use crate::interop::ImportedSession;
use crate::json::text::to_json;
use crate::json::text::to_open_json;
use crate::layout::{CONVERSATIONS, File, Place, Placement, Root, SESSION_FOLDER, mentioned, names};
use crate::operation::live::Live;
use crate::operation::pages::{OfPath, Reading};
use crate::operation::store::{Store, placed};
use crate::operation::{Counts, Io, Kind, Operation, Trouble, unless_bug};
use crate::record::event::{Agent, Change};
use crate::session::ask::Ask;

/// What is told where there is nothing.
const NOTHING: &str = "null";

impl Store {
    /// Takes in what an agent's client has written of a conversation until now, while it goes on there: `{"path","from","only",
    /// "hasCommand"}`, JSON; with `hasCommand`, the host is asked which command began it. Answer: `{"at","all","beside"}`, the place
    /// of the session that it is, or goes on with, as [`placed`] tells it, those of all that it is about, and the conversation of
    /// the workspace that it belongs beside, `{"day","name"}`; null where nothing was said yet, or the setting `record` is off.
    /// [`Store::recorded`] opens all of them from that, also where another store does.
    pub fn record(self: &Rc<Store>, request: String, counts: Counts) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move { store.record_now(&io, &request, counts).await })
    }

    /// The same, and they are open. Answer: as of [`Store::recorded`]; none where nothing was said yet.
    pub fn record_and_open(
        self: &Rc<Store>,
        request: String,
        counts: Counts,
    ) -> Operation<'static, Vec<Rc<Live>>> {
        let store = self.clone();
        Operation::new(|io| async move {
            let told = store.record_now(&io, &request, counts).await?;
            if told == NOTHING { Ok(Vec::new()) } else { store.opened_recorded(&io, &told).await }
        })
    }

    async fn record_now(self: &Rc<Store>, io: &Io, request: &str, counts: Counts) -> Result<String, Trouble> {
        let FileRequest { path, from, only, has_command, .. } = FileRequest::from_json(request)?;
        if self.setup.read_settings(io).await?.value("record") == "false" {
            return Ok(NOTHING.into());
        }
        let mut importing = Importing::new(self, io, counts, false);
        importing.is_on = true;
        importing.has_command = has_command;
        let progress = Progress { done: 0, total: 1, start: 0, size: 0, total_bytes: 0 };
        importing.file(&path, named(from.as_deref())?, &only, &progress).await?;
        let all = importing.recorded.take();
        for live in &all {
            live.released(io).await?;
        }
        let is_own = |live: &&Rc<Live>| live.with(|session| session.metadata().session_type != "subagent");
        let Some(live) = all.iter().rfind(is_own) else { return Ok(NOTHING.into()) };
        let beside = Box::pin(self.beside(io, live)).await?;
        let beside = beside.map_or(NOTHING.into(), |(day, name)| {
            format!("{{\"day\":{},\"name\":{}}}", to_json(&day), to_json(&name))
        });
        let place = |live: &Rc<Live>| placed(Some((live.shown(), live.placement())));
        let (at, all) = (place(live), all.iter().map(place).collect::<Vec<_>>().join(","));
        Ok(format!("{{\"at\":{at},\"all\":[{all}],\"beside\":{beside}}}"))
    }

    // The conversation that a session of the home belongs beside, where a command of the workspace began it: the first that its
    // messages name which is there, a folder with Markdown, without a session.
    async fn beside(&self, io: &Io, live: &Live) -> Result<Option<(String, String)>, Trouble> {
        let command = live.with(|session| session.metadata().agent.command.clone()).unwrap_or_default();
        if live.placement() != Placement::Home || names::command_type(&command).is_none() {
            return Ok(None);
        }
        let mut seen: Vec<(String, String)> = Vec::new();
        let mut path = OfPath::begin(live, io, Reading::default()).await?;
        while let Some(some) = path.next().await? {
            for (message, _) in some {
                for (day, name) in mentioned::conversations(&to_open_json(&message)) {
                    let one = (String::from(day), String::from(name));
                    if seen.contains(&one) {
                        continue;
                    }
                    if self.is_free(io, day, name).await? {
                        return Ok(Some(one));
                    }
                    seen.push(one);
                }
            }
        }
        Ok(None)
    }

    async fn is_free(&self, io: &Io, day: &str, name: &str) -> Result<bool, Trouble> {
        let root = Root::Workspace(self.setup.workspace().into());
        let folder = File::new(root, format!("{CONVERSATIONS}/{day}/{name}"));
        let entries = unless_bug(io.list(&folder).await)?.flatten().unwrap_or_default();
        let has_text = entries.iter().any(|entry| entry.kind == Kind::File && entry.name.ends_with(".md"));
        Ok(has_text && entries.iter().all(|entry| entry.name != SESSION_FOLDER))
    }
}

impl Importing<'_> {
    /// All that is new is in it: where it goes on, it says what the agent is by now; else nobody needs it any more.
    pub(super) async fn let_go(
        &self,
        live: Rc<Live>,
        one: &ImportedSession,
        added: usize,
    ) -> Result<(), Trouble> {
        if self.is_on {
            self.note_agent(&live, one).await?;
            self.recorded.borrow_mut().push(live);
            return Ok(());
        }
        let store = self.store;
        let is_there = live.is_where_it_was(self.io).await?;
        if is_there {
            live.flushed(self.io, false).await?;
            if added > 0 {
                live.record_summary(self.io).await?;
            }
            if let Some(place) = Place::of(&live.folder()) {
                store.changed(self.io, &live, &place).await?;
            }
        }
        // What somebody has open stays so.
        let is_open = store.open_at(&live.shown()).is_some_and(|open| Rc::ptr_eq(&open, &live));
        if is_open { Ok(()) } else { live.released(self.io).await }
    }

    // The model and the tools that it has by now.
    async fn note_agent(&self, live: &Live, one: &ImportedSession) -> Result<(), Trouble> {
        let known = live.with(|session| session.metadata().agent.clone());
        let mut tools: Vec<String> = known.tools.clone();
        tools.extend(full_names(one, &known.tools));
        tools.sort();
        tools.dedup();
        let model =
            one.model.clone().filter(|model| !model.is_empty() && known.model.as_ref() != Some(model));
        if tools.len() <= known.tools.len() && model.is_none() {
            return Ok(());
        }
        let agent = Agent { model, tools, ..Agent::default() };
        let asked = Vec::from([Ask { is_partial: true, ..Ask::from(Change::Agent(agent.into())) }]);
        live.here(self.io, &|| Box::pin(live.said(self.io, asked.clone()))).await
    }
}
