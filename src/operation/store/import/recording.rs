//! Recording: takes a conversation into the store while it goes on in an agent's client, from the client's own
//! transcript.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::request::FileRequest;
use super::target_session::full_tool_names;
use super::{ImportProgress, Importer, parse_agent};
use crate::interop::ImportedSession;
use crate::json::text::to_json;
use crate::json::text::to_open_json;
use crate::layout::{CONVERSATIONS, File, Placement, Root, SESSION_FOLDER, SessionLocation, mentions, names};
use crate::operation::message_pages::{MessagesRequest, PathMessages};
use crate::operation::session_files::SessionFiles;
use crate::operation::store::{Store, place_json};
use crate::operation::{CountingMode, FileKind, Io, Operation, Trouble, unless_bug};
use crate::record::event::{Agent, Change};
use crate::session::change_request::ChangeRequest;

/// The answer where nothing was recorded.
const NO_RECORDING: &str = "null";

impl Store {
    /// Records what an agent's client has written of a conversation so far: `{"path","from","only","hasCommand"}`,
    /// JSON. With `hasCommand`, the host is asked which command began it.
    ///
    /// Answer: `{"at","all","beside"}`. `at` is the place of the session that the conversation is, or continues, as
    /// [`place_json`] renders it; `all` are the places of every session that was written to; `beside`,
    /// `{"day","name"}`, is the workspace conversation that it belongs beside. Null where nothing was said yet, or the
    /// setting `record` is off. [`Store::open_recorded`] opens all of them from this answer, in another store of the
    /// home as well.
    pub fn record(self: &Rc<Store>, request: String, counts: CountingMode) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move { store.record_transcript(&io, &request, counts).await })
    }

    /// Records, and opens the sessions as [`Store::open_recorded`] does; none where nothing was said yet.
    pub fn record_and_open(
        self: &Rc<Store>,
        request: String,
        counts: CountingMode,
    ) -> Operation<'static, Vec<Rc<SessionFiles>>> {
        let store = self.clone();
        Operation::new(|io| async move {
            let recorded = store.record_transcript(&io, &request, counts).await?;
            if recorded == NO_RECORDING {
                Ok(Vec::new())
            } else {
                store.open_all_recorded(&io, &recorded).await
            }
        })
    }

    async fn record_transcript(
        self: &Rc<Store>,
        io: &Io,
        request: &str,
        counts: CountingMode,
    ) -> Result<String, Trouble> {
        let FileRequest { path, agent: from, session_filter: only, has_command, .. } =
            FileRequest::from_json(request)?;
        if self.setup.read_settings(io).await?.value("record") == "false" {
            return Ok(NO_RECORDING.into());
        }
        let mut importing = Importer::new(self, io, counts, false);
        importing.is_ongoing = true;
        importing.has_command = has_command;
        let progress = ImportProgress { total_files: 1, ..ImportProgress::default() };
        importing.import_one_file(&path, parse_agent(from.as_deref())?, &only, &progress).await?;
        let all = importing.recorded_sessions.take();
        for files in &all {
            files.release_lease(io).await?;
        }
        let is_own = |files: &&Rc<SessionFiles>| {
            files.with_session(|session| session.metadata().session_type != "subagent")
        };
        let Some(files) = all.iter().rfind(is_own) else { return Ok(NO_RECORDING.into()) };
        let beside = Box::pin(self.find_conversation(io, files)).await?;
        let beside = beside.map_or(NO_RECORDING.into(), |(day, name)| {
            format!("{{\"day\":{},\"name\":{}}}", to_json(&day), to_json(&name))
        });
        let place = |files: &Rc<SessionFiles>| place_json(Some((files.shown_folder(), files.placement())));
        let (at, all) = (place(files), all.iter().map(place).collect::<Vec<_>>().join(","));
        Ok(format!("{{\"at\":{at},\"all\":[{all}],\"beside\":{beside}}}"))
    }

    // Finds the conversation that a session in the home belongs beside, if a command of the workspace began it: the
    // first one named in its messages that exists, as a folder with Markdown, and has no session.
    async fn find_conversation(
        &self,
        io: &Io,
        files: &SessionFiles,
    ) -> Result<Option<(String, String)>, Trouble> {
        let command =
            files.with_session(|session| session.metadata().agent.command.clone()).unwrap_or_default();
        if files.placement() != Placement::Home || names::command_type(&command).is_none() {
            return Ok(None);
        }
        // A recorded session begins in the home and moves beside its Markdown: a folder of leftoff's own would take the
        // next number of the day.
        let mut seen: Vec<(String, String)> = Vec::new();
        let mut path = PathMessages::begin(files, io, MessagesRequest::default()).await?;
        while let Some(some) = path.next().await? {
            for (message, _) in some {
                for (day, name) in mentions::find_conversations(&to_open_json(&message)) {
                    let day_and_name = (String::from(day), String::from(name));
                    if seen.contains(&day_and_name) {
                        continue;
                    }
                    if self.is_free_conversation(io, day, name).await? {
                        return Ok(Some(day_and_name));
                    }
                    seen.push(day_and_name);
                }
            }
        }
        Ok(None)
    }

    async fn is_free_conversation(&self, io: &Io, day: &str, name: &str) -> Result<bool, Trouble> {
        let root = Root::Workspace(self.setup.workspace().into());
        let folder = File::new(root, format!("{CONVERSATIONS}/{day}/{name}"));
        let entries = unless_bug(io.list(&folder).await)?.flatten().unwrap_or_default();
        let has_text =
            entries.iter().any(|entry| entry.kind == FileKind::File && entry.name.ends_with(".md"));
        Ok(has_text && entries.iter().all(|entry| entry.name != SESSION_FOLDER))
    }
}

impl Importer<'_> {
    /// Finishes a session once its new messages are in it: when recording, notes the agent's present model and tools;
    /// else flushes and indexes it, and releases its lease.
    pub(super) async fn finish_session(
        &self,
        files: Rc<SessionFiles>,
        imported: &ImportedSession,
        added: usize,
    ) -> Result<(), Trouble> {
        if self.is_ongoing {
            self.record_agent(&files, imported).await?;
            self.recorded_sessions.borrow_mut().push(files);
            return Ok(());
        }
        let store = self.store;
        let is_there = files.is_unmoved(self.io).await?;
        if is_there {
            files.flush_files(self.io, false).await?;
            if added > 0 {
                files.record_summary(self.io).await?;
            }
            if let Some(place) = SessionLocation::of(&files.folder()) {
                store.reindex_session(self.io, &files, &place).await?;
            }
        }
        self.release_unless_open(&files).await
    }

    // A session that a caller has open stays open.
    async fn release_unless_open(&self, files: &Rc<SessionFiles>) -> Result<(), Trouble> {
        let open = self.store.find_open(&files.shown_folder());
        let is_open = open.is_some_and(|open| Rc::ptr_eq(&open, files));
        if is_open { Ok(()) } else { files.release_lease(self.io).await }
    }

    /// Releases the lease of a session into which an import failed, so that nobody takes it for open. What failed is
    /// told; that the lease could not be removed either is not.
    pub(super) async fn give_up_lease(&self, files: &Rc<SessionFiles>) {
        if !self.is_ongoing {
            self.release_unless_open(files).await.ok();
        }
    }

    /// Records the agent's model and tools, if they changed.
    pub(super) async fn record_agent(
        &self,
        files: &SessionFiles,
        imported: &ImportedSession,
    ) -> Result<(), Trouble> {
        let known = files.with_session(|session| session.metadata().agent.clone());
        let mut tools: Vec<String> = known.tools.clone();
        tools.extend(full_tool_names(imported, &known.tools));
        tools.sort();
        tools.dedup();
        let model =
            imported.model.clone().filter(|model| !model.is_empty() && known.model.as_ref() != Some(model));
        if tools.len() <= known.tools.len() && model.is_none() {
            return Ok(());
        }
        let agent = Agent { model, tools, ..Agent::default() };
        let changes = Vec::from([ChangeRequest {
            is_partial: true,
            ..ChangeRequest::from(Change::Agent(agent.into()))
        }]);
        files
            .retry_after_move(self.io, &|| Box::pin(files.refresh_and_record(self.io, changes.clone())))
            .await
    }
}
