//! One session of a store, and how messages are appended to it.

mod contexts;
mod reading;

use alloc::rc::Rc;
use alloc::string::{String, ToString};
use std::path::PathBuf;

use serde::Deserialize;

use super::append::{AppendOptions, AppendResponse, Durability};
use super::helpers::Helpers;
use super::host::Host;
use super::redaction::Redactor;
use super::request::{RequestField, with_fields};
use crate::error::Error;
use crate::layout::{Placement, Root};
use crate::operation::{
    AppendRequest, CountingMode, Drafts, Operation, OutgoingRedactor, SessionFiles, Store, Trouble,
};
use crate::session::batch::AppendConditions;
use crate::session::documents::DocumentName;

/// The options of a compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compact {
    /// Compacts; without it the answer only says what would happen.
    pub apply: bool,
    /// Takes the last compaction back: contexts begin where they began before.
    pub undo: bool,
    /// How many tokens of the newest messages stay as they are.
    pub keep: Option<u32>,
}

/// The options of resuming.
#[derive(Clone, Copy, Debug)]
pub struct Resume<'a> {
    /// Resumes a completed session, too.
    pub overrides: bool,
    /// Makes the session active again; it does unless given.
    pub revives: bool,
    /// The current environment, JSON, `{"promptHash","model","window","tools"}`: each difference becomes a warning.
    pub now: Option<&'a str>,
    /// Limits the history to so many bytes of text; the text is then in the answer, too.
    pub max_bytes: Option<u64>,
}

impl Default for Resume<'_> {
    fn default() -> Self {
        Resume { overrides: false, revives: true, now: None, max_bytes: None }
    }
}

/// One conversation: messages are appended, and what a model call gets is built from them. Each call looks first
/// whether other processes appended meanwhile. Requests and answers are JSON, the same as in the JavaScript package. A
/// clone is the same session.
///
/// Methods fail with a [`Trouble`]. Its code is one of the core's, or one of a storage's: `disk_full`,
/// `permission_denied`, `read_only`, `too_many_files`, `not_a_file`, `not_a_folder`, `outside_store`, `storage_failed`.
#[derive(Clone, Debug)]
pub struct Session(pub(super) Rc<OpenSession>);

/// The state that a session's clones and its store share.
#[derive(Debug)]
pub(super) struct OpenSession {
    pub files: Rc<SessionFiles>,
    pub host: Rc<Host>,
    pub store: Rc<Store>,
    pub redactor: Rc<OutgoingRedactor>,
}

impl Session {
    /// The session's uuid.
    pub fn id(&self) -> String {
        self.0.files.id()
    }

    /// The session's folder; a new one after a move, as soon as another method has run.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(self.0.files.shown_folder())
    }

    /// Where the session lies: in the home, or in a workspace.
    pub fn placement(&self) -> Placement {
        let is_home = self.0.files.folder().root == Root::Home;
        if is_home { Placement::Home } else { Placement::Workspace }
    }

    /// The session's metadata, as `metadata.json` stores it. It is not redacted: pass it on through
    /// [`Session::redact_value`].
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// session.rename("The parser")?;
    /// assert!(session.metadata().contains("The parser"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn metadata(&self) -> String {
        self.0.files.session().borrow().document(DocumentName::MetadataJson)
    }

    /// Notices for whoever opened the session, `[{"code","message"}]`; the codes are `left_open` and `auto_paused`.
    pub fn notices(&self) -> String {
        self.0.files.notices()
    }

    /// Lists who else has the session open for appending: `[{"pid","host","boot","start","program","since"}]`. Nothing
    /// is lost by that; but two agents in one conversation are seldom intended.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// assert_eq!(session.list_holders()?, "[]");
    /// # Ok(())
    /// # }
    /// ```
    pub fn list_holders(&self) -> Result<String, Trouble> {
        self.0.host.drive(self.0.files.list_holders())
    }

    /// Appends one message or many, as one batch: an object or an array of such. The whole answer of a provider's library counts as
    /// one, and none of its messages is lost.
    ///
    /// # Errors
    /// `invalid_request` naming the place of a key or value that no reader would give back; `line_too_long`; those of a
    /// storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// use leftoff::fs::{AppendOptions, Durability};
    /// use leftoff::shapes::Format;
    ///
    /// session.append(r#"{"role":"user","content":"What is left to do?"}"#, AppendOptions::default())?;
    /// let answer = r#"[{"role":"assistant","content":[{"type":"text","text":"Nothing."}]}]"#;
    /// let buffered = AppendOptions { durability: Durability::Buffered, format: Some(Format::Anthropic), ..Default::default() };
    /// assert_eq!(session.append(answer, buffered)?.messages().len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn append(&self, messages: &str, options: AppendOptions) -> Result<AppendResponse, Trouble> {
        let lines =
            self.0.host.drive(self.0.files.append_messages(self.append_request(messages, options)))?;
        Ok(AppendResponse { lines })
    }

    /// Appends under conditions: an operation counts once, however often it is appended, and messages built on an
    /// expected last message follow it or are refused.
    ///
    /// # Errors
    /// As of [`Session::append`]; `conflict` where another message than the expected one is the last, and `operation_reused` where
    /// the operation appended other messages: then nothing was appended.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// use leftoff::session::batch::AppendConditions;
    ///
    /// let once = AppendConditions { operation: Some("step-7".into()), expected: None };
    /// let first = session.append_once(r#"{"role":"user","content":"Go on."}"#, Default::default(), once.clone())?;
    /// let again = session.append_once(r#"{"role":"user","content":"Go on."}"#, Default::default(), once)?;
    /// assert_eq!(first, again);
    /// # Ok(())
    /// # }
    /// ```
    pub fn append_once(
        &self,
        messages: &str,
        options: AppendOptions,
        once: AppendConditions,
    ) -> Result<AppendResponse, Trouble> {
        let lines =
            self.0.host.drive(self.0.files.append_once(self.append_request(messages, options), once))?;
        Ok(AppendResponse { lines })
    }

    fn append_request(&self, messages: &str, options: AppendOptions) -> AppendRequest {
        let AppendOptions { durability, format, revives } = options;
        let is_durable = durability == Durability::Durable;
        let drafts = Drafts::Json(messages.into(), format);
        AppendRequest { drafts, is_durable, revives, counts: self.counting_mode() }
    }

    /// Records a tool execution: its result as a message, and beside it how it went. Once for each call:
    /// `{"call":{"id","name",
    /// "arguments"},"result":{"content","success","error","exitCode"},"durationMs","messageId"}`. Answer:
    /// `{"execution","isNew"}`, with the `lines` that were written.
    ///
    /// # Errors
    /// `invalid_request` for a call without an id or a name, a result that is no text, and where no message of the
    /// assistant's could make the call; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// let calls = r#"{"role":"assistant","assistant":{"toolCalls":[{"id":"c1","name":"bash","arguments":"{}"}]}}"#;
    /// session.append(calls, Default::default())?;
    /// let done = r#"{"call":{"id":"c1","name":"bash"},"result":{"content":"ok","exitCode":0},"durationMs":810}"#;
    /// assert!(session.append_tool(done)?.contains(r#""isNew":true"#));
    /// assert!(session.append_tool(done)?.contains(r#""isNew":false"#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn append_tool(&self, execution: &str) -> Result<String, Trouble> {
        self.0.host.drive(self.0.files.append_tool(execution.into(), self.counting_mode()))
    }

    /// Reads what others appended, so that [`Session::metadata`] has it.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// session.refresh()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn refresh(&self) -> Result<(), Trouble> {
        self.0.host.drive(self.0.files.refresh_logs())
    }

    /// Makes the disk confirm all that was appended, and writes derived files.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// session.flush()?;
    /// assert!(session.path().join("metadata.json").is_file());
    /// # Ok(())
    /// # }
    /// ```
    pub fn flush(&self) -> Result<(), Trouble> {
        self.0.host.drive(self.0.files.flush(true))
    }

    /// Writes derived files and closes the session; opening it again reads it anew. A store does this at its end, too;
    /// if nobody does, whoever opens the session next makes the derived files again.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let store = leftoff::fs::Store::open(home.path())?;
    /// let session = store.create("{}")?;
    /// let id = session.id();
    /// session.close()?;
    /// assert_eq!(store.session(&id)?.id(), id);
    /// # Ok(())
    /// # }
    /// ```
    pub fn close(self) -> Result<(), Trouble> {
        self.0.store.forget(&self.0.files);
        self.0.host.drive(self.0.files.close())
    }

    /// Redacts a value, JSON, that was made from the session. Contexts, exports and tool executions are redacted
    /// already.
    ///
    /// # Errors
    /// What the rules that the store was opened with refuse; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// assert_eq!(session.redact_value(r#"{"a":1}"#)?, r#"{"a":1}"#);
    /// # Ok(())
    /// # }
    /// ```
    pub fn redact_value(&self, value: &str) -> Result<String, Trouble> {
        self.redactor().redact_value(&self.0.host, value.into())
    }

    fn redactor(&self) -> Redactor {
        Redactor { redactor: self.0.redactor.clone(), folder: Some(self.0.files.folder()) }
    }

    // Drives an operation of the session and redacts its answer.
    fn drive_redacted(&self, operation: Operation<'_, String>) -> Result<String, Trouble> {
        self.redact_value(&self.0.host.drive(operation)?)
    }

    fn counting_mode(&self) -> CountingMode {
        self.0.host.counting_mode()
    }
}

impl Drop for OpenSession {
    fn drop(&mut self) {
        self.store.forget(&self.files);
        // That it had the session open is taken away by whoever finds this process gone, too.
        let _ = self.host.drive(self.files.release());
    }
}

// Builds the request for the core: the caller's, the helpers that there are, and further fields.
fn build_request(request: &str, helpers: &Helpers<'_>, more: &[RequestField<'_>]) -> Result<String, Error> {
    let of = ("summarizes", Some(helpers.summarize.is_some().to_string()));
    let embeds = ("embeds", Some(helpers.embed.is_some().to_string()));
    with_fields("{}", &[&[("request", Some(with_fields(request, &[])?)), of, embeds], more].concat())
}

#[derive(Deserialize)]
struct SessionMetadata {
    display: Display,
}

#[derive(Deserialize)]
struct Display {
    title: String,
}

/// Returns the title that a session's metadata document shows.
pub(super) fn title_in(metadata: &str) -> Result<String, Trouble> {
    let metadata: SessionMetadata =
        serde_json::from_str(metadata).map_err(|error| Trouble::internal(error.to_string()))?;
    Ok(metadata.display.title)
}
