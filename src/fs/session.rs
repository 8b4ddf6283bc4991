//! One conversation, as its files have it.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use std::path::PathBuf;

use serde_json::value::RawValue;

use super::helpers::Helpers;
use super::host::Host;
use super::pages::Pages;
use crate::error::{Code, Error};
use crate::json::text::to_json;
use crate::operation::{Appending, Counts, Drafts, Live, Trouble};
use crate::record::message::{self, Message};
use crate::record::scan::records;
use crate::session::documents::Name;
use crate::shapes::Format;
use crate::tokens::Encoding;

/// How safe a message is once an append has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The disk has confirmed it.
    #[default]
    Durable,
    /// The system has it: it survives the end of this process, not that of the machine.
    Buffered,
}

/// How messages are appended.
#[derive(Clone, Copy, Debug)]
pub struct AppendOptions {
    /// How safe they are to be before the call ends; on the disk unless given.
    pub durability: Durability,
    /// In whose shape they are given; leftoff's own unless given.
    pub format: Format,
    /// A paused session is active again with them; it is unless given.
    pub revives: bool,
}

impl Default for AppendOptions {
    fn default() -> AppendOptions {
        AppendOptions { durability: Durability::Durable, format: Format::Leftoff, revives: true }
    }
}

/// How a session is compacted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compact {
    /// It is done, not only said.
    pub apply: bool,
    /// Contexts begin where they began before.
    pub undo: bool,
    /// So many tokens of the newest messages stay as they are.
    pub keep: Option<u32>,
}

/// What an append wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    lines: Vec<u8>,
}

impl Appended {
    /// The lines as they are in the log, a JSON object each.
    pub fn lines(&self) -> &[u8] {
        &self.lines
    }

    /// The messages as they are stored. They are read from their lines when they are asked for: most never are.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// let appended = session.append(r#"{"role":"user","content":"Hello"}"#, Default::default())?;
    /// assert_eq!(appended.messages()[0].content.as_str(), "Hello");
    /// # Ok(())
    /// # }
    /// ```
    pub fn messages(&self) -> Vec<Message> {
        records(&self.lines).filter_map(|record| message::read(&record).0).collect()
    }
}

/// One conversation: what is said is appended, and what a model call gets is built from it. Each call looks first whether
/// other processes appended meanwhile. What is asked and answered is JSON, the same as in the JavaScript package. A clone is
/// the same session.
///
/// What a method refuses is a [`Trouble`]. Its code is one of the core's, or one of a storage's: `disk_full`,
/// `permission_denied`, `read_only`, `too_many_files`, `not_a_file`, `not_a_folder`, `outside_store`, `storage_failed`.
#[derive(Clone, Debug)]
pub struct Session {
    pub(super) live: Rc<Live>,
    pub(super) host: Rc<Host>,
}

impl Session {
    /// Its uuid.
    pub fn id(&self) -> String {
        self.live.id()
    }

    /// Its folder; another one once it was moved, and something was done with it since.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(self.live.shown())
    }

    /// What is known of it, in the words of `metadata.json`.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// session.say(r#"[{"type":"title","title":"The parser"}]"#)?;
    /// assert!(session.metadata().contains("The parser"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn metadata(&self) -> String {
        self.live.session().borrow().document(Name::MetadataJson)
    }

    /// Appends one message or many, as one batch: an object or an array of such.
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
    /// let buffered = AppendOptions { durability: Durability::Buffered, format: Format::Anthropic, ..Default::default() };
    /// assert_eq!(session.append(answer, buffered)?.messages().len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn append(&self, messages: &str, options: AppendOptions) -> Result<Appended, Trouble> {
        let AppendOptions { durability, format, revives } = options;
        let is_durable = durability == Durability::Durable;
        let drafts = Drafts::Said(messages.into(), format);
        let appending = Appending { drafts, is_durable, revives, counts: self.counts() };
        let lines = self.host.drive(self.live.append_messages(appending))?;
        Ok(Appended { lines })
    }

    /// The messages of the current path, as contexts have it, in pages of a JSON array each: each message once, as its highest
    /// revision. `reading` is `{"newestFirst","leaf","allBranches"}`, all optional.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// session.append(r#"{"role":"user","content":"Hello"}"#, Default::default())?;
    /// let pages = session.messages("{}").collect::<Result<Vec<_>, _>>()?;
    /// assert!(pages[0].contains(r#""content":"Hello""#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn messages(&self, reading: &str) -> Pages {
        Pages::new(&self.host, self.live.messages(reading.into()))
    }

    /// Records what a tool did: its result as a message, and beside it how it went. Once for each call: `{"call":{"id","name",
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
        self.host.drive(self.live.append_tool(execution.into(), self.counts()))
    }

    /// What the tools did, oldest first, each with its result: a JSON array.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// assert_eq!(session.tools()?, "[]");
    /// # Ok(())
    /// # }
    /// ```
    pub fn tools(&self) -> Result<String, Trouble> {
        self.host.drive(self.live.tools())
    }

    /// What a model call gets: messages within the budget, each call with its result, and a report that says why. The
    /// request is as [`Request::from_json`](crate::context::Request::from_json) reads it.
    ///
    /// # Errors
    /// `budget_too_small` where the newest user message does not fit, not even shortened; `no_counter` for an encoding that
    /// needs `count`; `invalid_request`; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// session.append(r#"{"role":"user","content":"Hello"}"#, Default::default())?;
    /// let context = session.context(r#"{"window":8000,"format":"openai-chat"}"#, Default::default())?;
    /// assert!(context.starts_with(r#"{"messages":[{"role":"user","content":"Hello"}]"#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn context(&self, request: &str, mut helpers: Helpers<'_>) -> Result<String, Trouble> {
        let asked = format!("{{{}}}", asked(request, &helpers)?);
        self.host.drive_with(self.live.context(asked, self.counts()), &mut helpers)
    }

    /// What the conversation has come to: its task, files, decisions and blockers, open tasks and failed commands. No model
    /// is asked.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// session.append(r#"{"role":"user","content":"Rename the parser's entry point."}"#, Default::default())?;
    /// assert!(session.state()?.contains(r#""originalTask":"Rename the parser's entry point.""#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn state(&self) -> Result<String, Trouble> {
        self.host.drive(self.live.state())
    }

    /// The task, pinned messages, open tasks, files and what was decided, as a text of at most so many tokens: for a
    /// compaction hook. Empty where nothing is known.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// use leftoff::tokens::Encoding;
    ///
    /// session.append(r#"{"role":"user","content":"Rename the parser's entry point."}"#, Default::default())?;
    /// assert!(session.brief(2000, Encoding::Estimate1)?.contains("the parser's entry point"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn brief(&self, max_tokens: u32, encoding: Encoding) -> Result<String, Trouble> {
        let asked = format!("{{\"maxTokens\":{max_tokens},\"encoding\":{}}}", to_json(encoding.as_str()));
        self.host.drive(self.live.brief(asked))
    }

    /// The messages that are in every context: a JSON array of their ids.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// assert_eq!(session.pins()?, "[]");
    /// # Ok(())
    /// # }
    /// ```
    pub fn pins(&self) -> Result<String, Trouble> {
        self.host.drive(self.live.pins())
    }

    /// A summary of the messages from one to another, `{"startMessageId","endMessageId","maxTokens"}`: what a model wrote of
    /// just these, if that is kept, else what was learned of them.
    ///
    /// # Errors
    /// `not_found` for a message that is not on the path; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// let said = session.append(r#"{"role":"user","content":"Fix the parser."}"#, Default::default())?.messages();
    /// let id = &said[0].id;
    /// let asked = format!(r#"{{"startMessageId":"{id}","endMessageId":"{id}","maxTokens":200}}"#);
    /// assert!(session.summary_of(&asked)?.contains("Fix the parser."));
    /// # Ok(())
    /// # }
    /// ```
    pub fn summary_of(&self, asked: &str) -> Result<String, Trouble> {
        self.host.drive(self.live.summary_of(asked.into(), self.counts()))
    }

    /// Has future contexts begin after a summary: what it would do, or with `apply` did. The request is that of
    /// [`Session::context`].
    ///
    /// # Errors
    /// What [`Session::context`] refuses.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// session.append(r#"{"role":"user","content":"Hello"}"#, Default::default())?;
    /// let plan = session.compact(r#"{"window":8000}"#, Default::default(), Default::default())?;
    /// assert!(plan.contains(r#""isApplied":false"#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn compact(&self, request: &str, how: Compact, mut helpers: Helpers<'_>) -> Result<String, Trouble> {
        let Compact { apply, undo, keep } = how;
        let keep = keep.map(|tokens| format!(",\"keep\":{tokens}")).unwrap_or_default();
        let asked = format!("{{{},\"apply\":{apply},\"undo\":{undo}{keep}}}", asked(request, &helpers)?);
        self.host.drive_with(self.live.compact(asked, self.counts()), &mut helpers)
    }

    /// Says what happened to it, a JSON array: `{"type":"title","title"}`, `{"type":"status","status"}` of `active`, `paused`
    /// or `completed`, `{"type":"summary","summary"}`, `{"type":"archived"}`, `{"type":"unarchived"}`,
    /// `{"type":"pin","messageId"}`, `{"type":"unpin","messageId"}`, `{"type":"agent","agent"}`.
    ///
    /// # Errors
    /// `invalid_transition` where it was completed; `invalid_request`; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// session.say(r#"[{"type":"summary","summary":"It is done."},{"type":"status","status":"completed"}]"#)?;
    /// let refused = session.say(r#"[{"type":"status","status":"paused"}]"#).map_err(|trouble| trouble.code().to_string());
    /// assert_eq!(refused, Err("invalid_transition".into()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn say(&self, asked: &str) -> Result<(), Trouble> {
        self.host.drive(self.live.say(asked.into()))
    }

    /// Reads all of it and says what is wrong; nothing is mended. Places are bytes.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// assert!(session.examine()?.contains(r#""health":"ok""#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn examine(&self) -> Result<String, Trouble> {
        self.host.drive(self.live.examine())
    }

    /// Takes in what others appended, so that [`Session::metadata`] has it.
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
        self.host.drive(self.live.catch_up())
    }

    /// Makes the disk confirm all that was appended, and writes what is derived.
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
        self.host.drive(self.live.flush(true))
    }

    // What is stored is counted by the vocabulary, where the program has it.
    fn counts(&self) -> Counts {
        self.host.vocabulary("o200k_base").map_or(Counts::Estimate, Counts::Exact)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if Rc::strong_count(&self.live) == 1 {
            // That it had the session open is taken away by whoever finds this process gone, too.
            let _ = self.host.drive(self.live.release());
        }
    }
}

// As the core's operations want it: the request, and whether a model writes summaries.
fn asked(request: &str, helpers: &Helpers<'_>) -> Result<String, Trouble> {
    let request: &RawValue = serde_json::from_str(request)
        .map_err(|_| Error::new(Code::InvalidRequest, "expected a request object, but found no JSON"))?;
    Ok(format!("\"request\":{request},\"summarizes\":{}", helpers.summarize.is_some()))
}
