//! What is known of a session, for JavaScript.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::handles::{ContextBuild, Counter};
use crate::reader::ReaderHandle;
use crate::{Answer, bytes, small, stamp, thrown, utf8};
use leftoff::context::{Build, Request, extract};
use leftoff::json::text::to_json;
use leftoff::session::documents::Name;
use leftoff::session::handle::Session;
use leftoff::session::index;
use leftoff::session::reader::Reader;
use leftoff::session::source::Compacted;
use leftoff::shapes;
use leftoff::shapes::Format;
use leftoff::tokens::{Counting, count};

/// One session: its logs, and what is known from them.
#[wasm_bindgen(js_name = Session)]
pub struct SessionHandle(Rc<RefCell<Session>>);

#[wasm_bindgen(js_class = Session)]
impl SessionHandle {
    /// A session of which nothing is observed. `id` is the one that its place says.
    #[wasm_bindgen(constructor)]
    pub fn new(id: Option<String>) -> SessionHandle {
        SessionHandle::of(Rc::new(RefCell::new(Session::new(None).with_id(&id.unwrap_or_default()))))
    }

    /// Stages drafts, JSON bytes of `format`; see `Session::stage_messages`. Gives their lines.
    #[wasm_bindgen(js_name = stageMessages)]
    pub fn stage_messages(
        &self,
        drafts: &[u8],
        format: &str,
        now_ms: f64,
        entropy: &[u8],
        counter: &Counter,
        count_tokens: bool,
    ) -> Answer<Uint8Array> {
        let format = Format::parse(format).map_err(thrown)?;
        let drafts = shapes::drafts(utf8(drafts)?, format).map_err(thrown)?;
        let stamp = stamp(now_ms, entropy)?;
        let counting = if count_tokens { Counting::by(counter.0.as_deref()) } else { Counting::Off };
        let staged = self.0.borrow_mut().stage_messages(drafts, &stamp, counting).map_err(thrown)?;
        Ok(Uint8Array::from(&staged.bytes[..]))
    }

    /// The staged batch is in the log of messages, where they begin.
    pub fn commit(&self) -> Answer<()> {
        self.0.borrow_mut().commit_messages(0).map(drop).map_err(thrown)
    }

    /// Its messages newest first, from `end` of their log on; see `Reader`.
    #[wasm_bindgen(js_name = newestFirst)]
    pub fn newest_first(&self, end: f64) -> ReaderHandle {
        ReaderHandle(Reader::newest_first(end as u64, self.0.borrow().known().repeated.clone()))
    }

    /// Its line of the store's index; `place` as in `index::write`.
    #[wasm_bindgen(js_name = indexLine)]
    pub fn index_line(&self, place: &[u8]) -> Answer<Uint8Array> {
        index::write(&self.0.borrow(), utf8(place)?).map(|line| bytes(&line)).map_err(thrown)
    }

    /// What is known of the session, in the words of document 004.
    pub fn metadata(&self) -> Uint8Array {
        bytes(&self.0.borrow().document(Name::MetadataJson))
    }

    /// The bytes of the messages log that `learn` takes next, `[start, end]`; nothing where all are known.
    pub fn unlearned(&self) -> Option<Vec<f64>> {
        self.0.borrow_mut().unlearned().map(|span| Vec::from([span.start as f64, span.end as f64]))
    }

    /// Folds bytes into what is known of the conversation; see `Session::learn`.
    pub fn learn(&self, bytes: &[u8]) {
        self.0.borrow_mut().learn(bytes);
    }

    /// What is known of the conversation, JSON as `SessionState` writes it.
    pub fn state(&self) -> Uint8Array {
        let source = self.0.borrow().source();
        bytes(&to_json(&source.state.shown(&source.project)))
    }

    /// Where the pinned messages lie in the log.
    pub fn pins(&self) -> JsValue {
        small(&self.0.borrow().source().pins)
    }

    /// What is known of the conversation and the texts of its pins, in at most so many tokens.
    pub fn brief(&self, pins: Vec<String>, tokens: u32, counter: &Counter) -> String {
        extract(self.0.borrow().source().known(&pins), tokens, &|text| {
            count(text, counter.0.as_deref()).tokens
        })
    }

    /// Begins a context; `request` as in `Request::from_json`. It is as if the conversation had been compacted through
    /// that message, where one is given.
    pub fn context(&self, request: &[u8], through: Option<String>) -> Answer<ContextBuild> {
        let request = Request::from_json(utf8(request)?).map_err(thrown)?;
        let shape = request.shape();
        let mut source = self.0.borrow().source();
        source.compacted =
            through.map(|through| Compacted { through, ..Compacted::default() }).or(source.compacted);
        Ok(ContextBuild { build: Build::new(request, source), shape })
    }

    /// The newest compaction, JSON as an event has it.
    pub fn compaction(&self) -> Uint8Array {
        bytes(&to_json(self.0.borrow().compaction()))
    }

    /// A message of the current path; nothing where the log has but one.
    #[wasm_bindgen(getter)]
    pub fn leaf(&self) -> Option<String> {
        self.0.borrow().leaf().map(String::from)
    }

    /// Which of these messages of the log lie on the path of `leaf`, or on the current one: a byte for each.
    #[wasm_bindgen(js_name = areOnPath)]
    pub fn are_on_path(&self, ids: Vec<String>, leaf: Option<String>) -> Vec<u8> {
        let on = self.0.borrow().are_on_path(ids.iter().map(String::as_str), leaf.as_deref());
        on.into_iter().map(u8::from).collect()
    }
}

impl SessionHandle {
    pub(super) fn of(session: Rc<RefCell<Session>>) -> SessionHandle {
        SessionHandle(session)
    }
}
