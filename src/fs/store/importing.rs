//! Imports other agents' sessions, and records conversations that go on in their clients.

use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use std::path::Path;

use super::super::agents::{self, AgentFile, FileScope};
use super::super::helpers::Helpers;
use super::super::refusal::storage_failure;
use super::super::request::{check_json, with_fields};
use super::super::session::Session;
use super::Store;
use super::folders::path_text;
use crate::json::text::to_json;
use crate::operation::{ImportableList, OutgoingRedactor, Trouble};

/// The options of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Import<'a> {
    /// The agent's name; detected from the content unless given.
    pub from: Option<&'a str>,
    /// Which sessions of a database, JSON, `{"folder"}`.
    pub only: Option<&'a str>,
}

/// The options of a list of what an import would take in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Importable<'a> {
    /// The agent's name; detected from the content unless given.
    pub from: Option<&'a str>,
    /// How many sessions at most.
    pub limit: Option<u32>,
}

/// A conversation that goes on in an agent's client.
#[derive(Clone, Copy, Debug)]
pub struct Conversation<'a> {
    /// The agent's name.
    pub agent: &'a str,
    /// The file in which the client keeps it.
    pub path: &'a Path,
    /// Which sessions of a database, JSON, `{"folder"}`.
    pub only: Option<&'a str>,
}

impl Store {
    /// Imports an agent's file, or all files in a folder, into the store. Importing again adds only what is new; in a
    /// folder only files that have changed since are read. Answer: `{"imported","problems","unchanged"}`. This host
    /// unpacks no compressed files, and reads no databases.
    ///
    /// # Errors
    /// For one file: `not_found`, `unknown_format`, `too_deep`, `empty_file`, `damaged`, `missing_dependency`; for a
    /// folder they are among the problems. `invalid_request`; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let said = r#"{"type":"user","uuid":"u1","sessionId":"s1","message":{"role":"user","content":"Hello"}}"#;
    /// let folder = home.path().join("theirs");
    /// std::fs::create_dir(&folder)?;
    /// std::fs::write(folder.join("s1.jsonl"), said)?;
    /// let imported = store.import(&folder, Default::default(), Default::default())?;
    /// assert!(imported.contains(r#""agent":"claude-code""#));
    /// assert!(store.import(&folder, Default::default(), Default::default())?.contains(r#""unchanged":1"#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn import(
        &self,
        path: impl AsRef<Path>,
        how: Import<'_>,
        helpers: Helpers<'_>,
    ) -> Result<String, Trouble> {
        let path = absolute_path_text(path.as_ref())?;
        let found = std::fs::symlink_metadata(&path).ok();
        if found.as_ref().is_some_and(std::fs::Metadata::is_dir) {
            let files = self.0.host.agent_files(&FileScope::All(path));
            return self.import_found(&files, how.from, helpers);
        }
        let request_fields = [
            ("path", Some(to_json(&path))),
            ("from", how.from.map(|from| to_json(&from))),
            ("only", how.only.map(check_json).transpose()?.map(String::from)),
            ("size", found.map(|found| found.len().to_string())),
        ];
        self.run_import(&request_fields, helpers, |store, request| {
            store.0.core.import_file(request, store.0.host.counting_mode())
        })
    }

    /// Imports all that the known agents keep on this machine.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```standalone_crate
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # // SAFETY: nothing else runs in this process. Of the agents of whoever tests, nothing is taken in.
    /// # unsafe { std::env::set_var("HOME", home.path()) };
    /// # let kept = home.path().join(".claude/projects/-work");
    /// # std::fs::create_dir_all(&kept)?;
    /// # let said = r#"{"type":"user","uuid":"u1","sessionId":"s1","message":{"role":"user","content":"Hello"}}"#;
    /// # std::fs::write(kept.join("s1.jsonl"), said)?;
    /// let store = leftoff::fs::Store::open(home.path().join(".leftoff"))?;
    /// let mut tell = |progress: &str| println!("{progress}");
    /// let helpers = leftoff::fs::Helpers { progress: Some(&mut tell), ..Default::default() };
    /// assert!(store.import_all(helpers)?.contains(r#""agent":"claude-code""#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn import_all(&self, helpers: Helpers<'_>) -> Result<String, Trouble> {
        self.import_found(&self.all_agent_files(), None, helpers)
    }

    /// Lists the sessions of which the store lacks something, those of the files that changed last at first: what an
    /// import of the file, of all files in the folder, or, without a path, of all that the known agents keep on this
    /// machine would take in. Nothing is written. Answer: `{"importable":[{"id","isNew","agent","sourceId","title",
    /// "folder","parent","messageCount","newMessages","path","bytes","changed"}],"problems"}`.
    ///
    /// # Errors
    /// What [`Store::import`] refuses.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let said = r#"{"type":"user","uuid":"u1","sessionId":"s1","message":{"role":"user","content":"Hello"}}"#;
    /// let path = home.path().join("s1.jsonl");
    /// std::fs::write(&path, said)?;
    /// let listed = store.list_importable(Some(&path), Default::default(), Default::default())?;
    /// assert!(listed.contains(r#""title":"Hello""#) && listed.contains(r#""newMessages":1"#));
    /// assert_eq!(store.list("{}")?, "[]");
    /// # Ok(())
    /// # }
    /// ```
    pub fn list_importable(
        &self,
        path: Option<&Path>,
        how: Importable<'_>,
        helpers: Helpers<'_>,
    ) -> Result<String, Trouble> {
        let path = path.map(absolute_path_text).transpose()?;
        let is_named = path.as_ref().is_some_and(|path| !Path::new(path).is_dir());
        let files = match path {
            Some(path) if is_named => Vec::from([AgentFile::from_path(path)]),
            Some(path) => self.0.host.agent_files(&FileScope::All(path)),
            None => self.all_agent_files(),
        };
        let request_fields = [
            ("files", Some(to_json(&files))),
            ("from", how.from.map(|from| to_json(&from))),
            ("limit", how.limit.map(|limit| limit.to_string())),
            ("isNamed", Some(is_named.to_string())),
        ];
        let redactor = OutgoingRedactor::new(&self.0.gate);
        self.run_import(&request_fields, helpers, |store, request| {
            ImportableList::of_store(&store.0.core, request, &redactor)
        })
    }

    /// Records what an agent's client has written of a conversation so far, while it goes on there; does nothing where
    /// the setting `record` is off, or nothing was said yet. Returns its session in the store.
    ///
    /// # Errors
    /// What [`Store::import`] refuses for one file.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// use leftoff::fs::{Conversation, Store};
    ///
    /// let store = Store::open(home.path())?;
    /// let said = r#"{"type":"user","uuid":"u1","sessionId":"s1","message":{"role":"user","content":"Hello"}}"#;
    /// let path = home.path().join("s1.jsonl");
    /// std::fs::write(&path, said)?;
    /// let conversation = Conversation { agent: "claude-code", path: &path, only: None };
    /// let session = store.record(conversation, Default::default())?.expect("something was said");
    /// assert!(session.metadata().contains("Hello"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn record(
        &self,
        conversation: Conversation<'_>,
        mut helpers: Helpers<'_>,
    ) -> Result<Option<Session>, Trouble> {
        let request_fields = [
            ("path", Some(to_json(&absolute_path_text(conversation.path)?))),
            ("from", Some(to_json(&conversation.agent))),
            ("only", conversation.only.map(check_json).transpose()?.map(String::from)),
            ("hasCommand", Some(helpers.command.is_some().to_string())),
        ];
        let recording =
            self.0.core.record_and_open(with_fields("{}", &request_fields)?, self.0.host.counting_mode());
        let open = self.drive_with(recording, &mut helpers)?;
        let sessions: Vec<Session> = open.into_iter().map(|files| self.session_of(files)).collect();
        // A running conversation must not be paused as idle: its session and its sub-agents' stay open from now on.
        for session in &sessions {
            let mut recorded = self.0.recorded_sessions.borrow_mut();
            if recorded.iter().all(|known| !Rc::ptr_eq(&known.0, &session.0)) {
                recorded.push(session.clone());
            }
        }
        Ok(sessions.into_iter().next())
    }

    /// Opens the session that an agent's session, or another program's, is recorded into, or creates it:
    /// `{"source":{"agent","id","parent"},"title","model"}`; what is behind `source` is optional, `parent` the id of the
    /// agent's session that began this one.
    ///
    /// # Errors
    /// `invalid_request` for a source whose agent is no name, or an agent's name in another spelling; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let source = r#"{"source":{"agent":"opencode","id":"ses_1"},"title":"The parser"}"#;
    /// let session = store.create_from_source(source)?;
    /// assert_eq!(store.create_from_source(source)?.id(), session.id());
    /// # Ok(())
    /// # }
    /// ```
    pub fn create_from_source(&self, request: &str) -> Result<Session, Trouble> {
        self.session(&self.drive(self.0.core.create_from_source(request.into()))?)
    }

    /// Records a message as an agent hands it to its plugin, or hands it again once it has grown, `{"from","message"}`:
    /// what is new is appended. The reader of the agent's files reads it, so an import of these files finds it there.
    /// Instead of a message it may be all that the agent has of the session, once messages were taken back there.
    /// Returns how many messages are new, or have grown.
    ///
    /// # Errors
    /// `invalid_request` for what is no message of the agent, or another agent than OpenCode; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let session = store.create_from_source(r#"{"source":{"agent":"opencode","id":"ses_1"}}"#)?;
    /// let message = r#"{"info":{"id":"msg_1","sessionID":"ses_1","role":"user","time":{"created":1790000000000}},
    ///     "parts":[{"id":"prt_1","type":"text","text":"Rename the parser."}]}"#;
    /// let request = format!(r#"{{"from":"opencode","message":{message}}}"#);
    /// assert_eq!(store.record_message(&session, &request)?, 1);
    /// assert_eq!(store.record_message(&session, &request)?, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn record_message(&self, session: &Session, request: &str) -> Result<usize, Trouble> {
        let counts = self.0.host.counting_mode();
        self.drive(self.0.core.record_message(session.id(), request.into(), counts))
    }

    /// Opens the session that was imported or recorded from an agent's, by its id there; if a session of the store was
    /// resumed in that one, opens the resumed one.
    ///
    /// # Errors
    /// `invalid_request` for an agent that is not known; `not_found` where nothing of it was imported or recorded; those of a
    /// storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let said = r#"{"type":"user","uuid":"u1","sessionId":"s1","message":{"role":"user","content":"Hello"}}"#;
    /// let path = home.path().join("s1.jsonl");
    /// std::fs::write(&path, said)?;
    /// store.import(&path, Default::default(), Default::default())?;
    /// assert!(store.session_from("claude-code", "s1")?.metadata().contains("Hello"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn session_from(&self, agent: &str, id: &str) -> Result<Session, Trouble> {
        let source = with_fields("{}", &[("agent", Some(to_json(&agent))), ("id", Some(to_json(&id)))])?;
        self.session(&self.drive(self.0.core.find_by_source(source))?)
    }

    /// Notes the text that resumes a session in an agent: what is said after that text in the agent's own session is
    /// imported into this one. The text has the history as [`render_history`](crate::resume::history::render_history)
    /// fences it.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let session = store.create("{}")?;
    /// store.goes_on(&session, "What was said before:\n----- 0123456789abcdef0123456789abcdef\n…")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn goes_on(&self, session: &Session, text: &str) -> Result<(), Trouble> {
        self.drive(self.0.core.note_text(text.into(), session.id()))
    }

    // The files that the known agents keep on this machine.
    fn all_agent_files(&self) -> Vec<AgentFile> {
        let places = agents::transcript_locations(self.project());
        places.iter().flat_map(|place| self.0.host.agent_files(&FileScope::Of(place))).collect()
    }

    fn import_found(
        &self,
        files: &[AgentFile],
        from: Option<&str>,
        helpers: Helpers<'_>,
    ) -> Result<String, Trouble> {
        let request_fields = [("files", Some(to_json(&files))), ("from", from.map(|from| to_json(&from)))];
        self.run_import(&request_fields, helpers, |store, request| {
            store.0.core.import_files(request, store.0.host.counting_mode())
        })
    }

    fn run_import<'a>(
        &self,
        request_fields: &[super::super::request::RequestField<'_>],
        mut helpers: Helpers<'_>,
        work: impl FnOnce(&Store, String) -> crate::operation::Operation<'a, String>,
    ) -> Result<String, Trouble> {
        let tells = [("tells", Some(helpers.progress.is_some().to_string()))];
        let request = with_fields("{}", &[request_fields, &tells].concat())?;
        self.drive_with(work(self, request), &mut helpers)
    }
}

fn absolute_path_text(path: &Path) -> Result<String, Trouble> {
    let absolute =
        std::path::absolute(path).map_err(|error| storage_failure("stat", path, None, error.into()))?;
    path_text(&absolute)
}
