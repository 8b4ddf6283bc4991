//! A session's handle, for JavaScript.

use alloc::string::String;
use alloc::vec::Vec;

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

use crate::handles::{ContextBuild, Counter};
use crate::reader::ReaderHandle;
use crate::{Answer, bytes, pairs, small, stamp, thrown, utf8};
use leftoff::context::{Build, Request, extract};
use leftoff::json::blob::Blob;
use leftoff::json::text::to_json;
use leftoff::record::message::Message;
use leftoff::record::scan::{Found, Problem};
use leftoff::session::ask::Ask;
use leftoff::session::begin::Begin;
use leftoff::session::checkpoint::Checkpoint;
use leftoff::session::documents::{Document, Name};
use leftoff::session::handle::Session;
use leftoff::session::index;
use leftoff::session::log::Log;
use leftoff::session::reader::Reader;
use leftoff::session::source::Compacted;
use leftoff::shapes;
use leftoff::shapes::Format;
use leftoff::tokens::{Counting, count};

/// Which of a session's logs.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum LogName {
    /// `events.jsonl`
    Events,
    /// `messages.jsonl`
    Messages,
    /// `tools.jsonl`
    Tools,
}

/// Which of the two documents about a session.
#[wasm_bindgen]
#[derive(Clone, Copy)]
pub enum DocumentName {
    /// `session.json`
    SessionJson,
    /// `metadata.json`
    MetadataJson,
}

impl From<DocumentName> for Name {
    fn from(name: DocumentName) -> Name {
        match name {
            DocumentName::SessionJson => Name::SessionJson,
            DocumentName::MetadataJson => Name::MetadataJson,
        }
    }
}

/// One session: its two logs, and what is known from them; beside it the blobs of the batch that was staged.
#[wasm_bindgen(js_name = Session)]
pub struct SessionHandle(Session, Vec<Blob>);

#[wasm_bindgen(js_class = Session)]
impl SessionHandle {
    /// A session of which nothing is observed. `id` is the one that its place says.
    #[wasm_bindgen(constructor)]
    pub fn new(id: Option<String>) -> SessionHandle {
        SessionHandle(Session::new(None).with_id(&id.unwrap_or_default()), Vec::new())
    }

    /// Takes the bytes that a log has from `offset` on; gives the problems.
    pub fn observe(&mut self, log: LogName, bytes: &[u8], offset: f64) -> Answer<JsValue> {
        let found = self.log(log).observe(bytes, offset as u64).map_err(thrown)?;
        Ok(small(&self.take(log, found)))
    }

    /// A log is read to its end: what no line feed ends is given, or reported as torn.
    #[wasm_bindgen(js_name = observeTail)]
    pub fn observe_tail(&mut self, log: LogName) -> JsValue {
        let found = self.log(log).observe_tail();
        small(&self.take(log, found))
    }

    /// `ok`, `damaged` or `unreadable`; see `Session::health`.
    pub fn health(&self) -> JsValue {
        small(&self.0.health())
    }

    /// Whether the messages have to be observed from their start, without a checkpoint.
    #[wasm_bindgen(getter, js_name = needsAll)]
    pub fn needs_all(&self) -> bool {
        self.0.needs_all()
    }

    /// How far a log is observed.
    pub fn end(&mut self, log: LogName) -> f64 {
        self.log(log).observed() as f64
    }

    /// Stages drafts, JSON bytes of `format`; see `Session::stage_messages`. Gives the bytes to append, once
    /// `stagedBlobs` are in their files.
    #[wasm_bindgen(js_name = stageMessages)]
    pub fn stage_messages(
        &mut self,
        drafts: &[u8],
        format: &str,
        now_ms: f64,
        entropy: &[u8],
        counter: &Counter,
        count_tokens: bool,
    ) -> Answer<Uint8Array> {
        let format = Format::parse(format).map_err(thrown)?;
        let drafts = shapes::drafts(utf8(drafts)?, format).map_err(thrown)?;
        self.stage(drafts, now_ms, entropy, counter, count_tokens)
    }

    /// Stages messages that were read from a log, JSON bytes in leftoff's shape: as `stageMessages` does.
    #[wasm_bindgen(js_name = stageCopies)]
    pub fn stage_copies(
        &mut self,
        messages: &[u8],
        now_ms: f64,
        entropy: &[u8],
        counter: &Counter,
        count_tokens: bool,
    ) -> Answer<Uint8Array> {
        let copies = shapes::copies(utf8(messages)?).map_err(thrown)?;
        self.stage(copies, now_ms, entropy, counter, count_tokens)
    }

    /// The blobs of the batch that was staged, each an id and its bytes; nothing where it has none.
    #[wasm_bindgen(js_name = stagedBlobs, unchecked_return_type = "[string, Uint8Array][] | undefined")]
    pub fn staged_blobs(&mut self) -> Option<Array> {
        pairs(core::mem::take(&mut self.1))
    }

    /// The staged batch is in the log; `offset` as in `Log::commit`.
    pub fn commit(&mut self, log: LogName, offset: f64) -> Answer<()> {
        match log {
            LogName::Events => {
                let found = self.0.events().commit(offset as u64).map_err(thrown)?;
                self.0.take_events(found);
            }
            LogName::Messages => {
                self.0.commit_messages(offset as u64).map_err(thrown)?;
            }
            LogName::Tools => {
                let found = self.0.tools().commit(offset as u64).map_err(thrown)?;
                self.0.take_tools(found);
            }
        }
        Ok(())
    }

    /// No byte of the staged batch was written, or it is given up.
    pub fn abort(&mut self, log: LogName) -> Answer<()> {
        self.log(log).abort().map_err(thrown)
    }

    /// Nobody can say how much of the staged batch was written; gives the bytes to append again.
    pub fn unknown(&mut self, log: LogName) -> Answer<Uint8Array> {
        self.log(log).unknown().map(|again| Uint8Array::from(&again[..])).map_err(thrown)
    }

    /// Stages the events that begin a session.
    #[wasm_bindgen(js_name = stageCreated)]
    pub fn stage_created(&mut self, created: &[u8], now_ms: f64, entropy: &[u8]) -> Answer<Uint8Array> {
        let begin = Begin::from_json(utf8(created)?).map_err(thrown)?;
        let stamp = stamp(now_ms, entropy)?;
        let staged = self.0.stage_asked(begin.asked(&stamp), &stamp).map_err(thrown)?;
        Ok(Uint8Array::from(&staged[..]))
    }

    /// Stages what is asked for, JSON as in `Ask::from_json`, behind what the document said; nothing where nothing
    /// changes.
    #[wasm_bindgen(js_name = stageAsked)]
    pub fn stage_asked(&mut self, asked: &[u8], now_ms: f64, entropy: &[u8]) -> Answer<Option<Uint8Array>> {
        let asked = Ask::from_json(utf8(asked)?).map_err(thrown)?;
        let stamp = stamp(now_ms, entropy)?;
        let staged = self.0.stage_asked(asked, &stamp).map_err(thrown)?;
        Ok((!staged.is_empty()).then(|| Uint8Array::from(&staged[..])))
    }

    /// Takes the document that lies beside the logs, once both are observed; gives what in it could not be read.
    #[wasm_bindgen(js_name = takeDocument)]
    pub fn take_document(&mut self, name: DocumentName, json: Option<Vec<u8>>) -> Vec<String> {
        let (document, bad) = match json.map(|json| Document::read(name.into(), &json)) {
            None => (None, Vec::new()),
            Some(Ok((document, bad))) => (Some(document), bad),
            Some(Err(error)) => (None, Vec::from([error.message])),
        };
        self.0.take_document(document);
        bad
    }

    /// The session's id; empty where neither its place nor an event nor the document says one.
    #[wasm_bindgen(getter)]
    pub fn id(&self) -> String {
        self.0.metadata().id.clone()
    }

    /// The id of a session that was found without one.
    #[wasm_bindgen(js_name = setId)]
    pub fn set_id(&mut self, id: &str) {
        self.0.set_id(id);
    }

    /// `active`, `paused` or `completed`.
    #[wasm_bindgen(getter)]
    pub fn status(&self) -> String {
        self.0.metadata().status.as_str().into()
    }

    /// When it was taken up last; nothing where no event says so.
    #[wasm_bindgen(getter, js_name = takenUpAt)]
    pub fn taken_up_at(&self) -> Option<String> {
        self.0.taken_up_at().map(String::from)
    }

    /// Whether the document says what no event says yet.
    #[wasm_bindgen(getter, js_name = hasUnsaid)]
    pub fn has_unsaid(&self) -> bool {
        self.0.has_unsaid()
    }

    /// Its messages newest first, from `end` of their log on; see `Reader`.
    #[wasm_bindgen(js_name = newestFirst)]
    pub fn newest_first(&self, end: f64) -> ReaderHandle {
        ReaderHandle(Reader::newest_first(end as u64, self.0.known().repeated.clone()))
    }

    /// Whether a newer version wrote to it: it can be read, not written.
    #[wasm_bindgen(getter, js_name = isNewer)]
    pub fn is_newer(&self) -> bool {
        self.0.is_newer()
    }

    /// The first heading of the conversation's Markdown.
    #[wasm_bindgen(js_name = setHeading)]
    pub fn set_heading(&mut self, heading: &str) {
        self.0.set_heading(heading);
    }

    /// Begins with what a checkpoint covers, before any message is observed; whether it was one.
    #[wasm_bindgen(js_name = beginAt)]
    pub fn begin_at(&mut self, checkpoint: &[u8]) -> bool {
        Checkpoint::from_json(checkpoint).map(|checkpoint| self.0.begin_at(checkpoint)).is_ok()
    }

    /// The document of a session as it is to be kept.
    pub fn document(&self, name: DocumentName) -> Uint8Array {
        bytes(&self.0.document(name.into()))
    }

    /// Whether the execution of a call is on record, as far as the log was observed.
    #[wasm_bindgen(js_name = hasExecuted)]
    pub fn has_executed(&self, call: &str) -> bool {
        self.0.has_executed(call)
    }

    /// Stages a tool execution, JSON as in `ToolExecution::from_json`.
    #[wasm_bindgen(js_name = stageExecution)]
    pub fn stage_execution(&mut self, execution: &[u8], now_ms: f64, entropy: &[u8]) -> Answer<Uint8Array> {
        let stamp = stamp(now_ms, entropy)?;
        let staged = self.0.stage_execution(utf8(execution)?, &stamp).map_err(thrown)?;
        Ok(Uint8Array::from(&staged[..]))
    }

    /// Its line of the store's index; `place` as in `index::write`.
    #[wasm_bindgen(js_name = indexLine)]
    pub fn index_line(&self, place: &[u8]) -> Answer<Uint8Array> {
        index::write(&self.0, utf8(place)?).map(|line| bytes(&line)).map_err(thrown)
    }

    /// Whether there is a checkpoint to keep.
    #[wasm_bindgen(getter, js_name = keepsCheckpoint)]
    pub fn keeps_checkpoint(&self) -> bool {
        self.0.checkpoint().is_some()
    }

    /// The checkpoint to keep, JSON; nothing for a log with branches.
    pub fn checkpoint(&self) -> Option<Uint8Array> {
        self.0.checkpoint().map(|checkpoint| bytes(&checkpoint.to_json()))
    }

    /// What is known of the session, as `metadata.json` says it.
    pub fn metadata(&self) -> Uint8Array {
        bytes(&self.0.document(Name::MetadataJson))
    }

    /// The bytes of the messages log that `learn` takes next, `[start, end]`; nothing where all are known.
    pub fn unlearned(&mut self) -> Option<Vec<f64>> {
        self.0.unlearned().map(|span| Vec::from([span.start as f64, span.end as f64]))
    }

    /// Folds bytes into what is known of the conversation; see `Session::learn`.
    pub fn learn(&mut self, bytes: &[u8]) {
        self.0.learn(bytes);
    }

    /// What is known of the conversation, JSON as `SessionState` writes it.
    pub fn state(&self) -> Uint8Array {
        let source = self.0.source();
        bytes(&to_json(&source.state.shown(&source.project)))
    }

    /// Where the pinned messages lie in the log.
    pub fn pins(&self) -> JsValue {
        small(&self.0.source().pins)
    }

    /// What is known of the conversation and the texts of its pins, in at most so many tokens.
    pub fn brief(&self, pins: Vec<String>, tokens: u32, counter: &Counter) -> String {
        extract(self.0.source().known(&pins), tokens, &|text| count(text, counter.0.as_ref()).tokens)
    }

    /// Begins a context; `request` as in `Request::from_json`. It is as if the conversation had been compacted through
    /// that message, where one is given.
    pub fn context(&self, request: &[u8], through: Option<String>) -> Answer<ContextBuild> {
        let request = Request::from_json(utf8(request)?).map_err(thrown)?;
        let shape = request.shape();
        let mut source = self.0.source();
        source.compacted =
            through.map(|through| Compacted { through, ..Compacted::default() }).or(source.compacted);
        Ok(ContextBuild { build: Build::new(request, source), shape })
    }

    /// The newest compaction, JSON as an event has it.
    pub fn compaction(&self) -> Uint8Array {
        bytes(&to_json(self.0.compaction()))
    }

    /// A message of the current path; nothing where the log has but one.
    #[wasm_bindgen(getter)]
    pub fn leaf(&self) -> Option<String> {
        self.0.leaf().map(String::from)
    }

    /// Which of these messages of the log lie on the path of `leaf`, or on the current one: a byte for each.
    #[wasm_bindgen(js_name = areOnPath)]
    pub fn are_on_path(&self, ids: Vec<String>, leaf: Option<String>) -> Vec<u8> {
        let on = self.0.are_on_path(ids.iter().map(String::as_str), leaf.as_deref());
        on.into_iter().map(u8::from).collect()
    }
}

impl SessionHandle {
    fn stage(
        &mut self,
        drafts: Vec<Message>,
        now_ms: f64,
        entropy: &[u8],
        counter: &Counter,
        count_tokens: bool,
    ) -> Answer<Uint8Array> {
        let stamp = stamp(now_ms, entropy)?;
        let counting = if count_tokens { Counting::by(counter.0.as_ref()) } else { Counting::Off };
        let staged = self.0.stage_messages(drafts, &stamp, counting).map_err(thrown)?;
        self.1 = staged.blobs;
        Ok(Uint8Array::from(&staged.bytes[..]))
    }

    fn log(&mut self, name: LogName) -> &mut Log {
        match name {
            LogName::Events => self.0.events(),
            LogName::Messages => self.0.messages(),
            LogName::Tools => self.0.tools(),
        }
    }

    fn take(&mut self, name: LogName, found: Vec<Found>) -> Vec<Problem> {
        match name {
            LogName::Events => self.0.take_events(found),
            LogName::Messages => self.0.take_messages(found),
            LogName::Tools => self.0.take_tools(found),
        }
    }
}
