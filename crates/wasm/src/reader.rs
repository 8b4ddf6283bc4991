//! The messages of a log, one after another.

use alloc::vec::Vec;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use super::bytes;
use leftoff::json::text::to_json;
use leftoff::session::reader::{Reader, Revisions};

/// Where the messages of a log lie that were written again; see `Revisions`.
#[wasm_bindgen(js_name = Revisions)]
pub struct RevisionsHandle(Revisions);

#[wasm_bindgen(js_class = Revisions)]
impl RevisionsHandle {
    /// Of a log whose bytes are fed from `offset` on.
    #[wasm_bindgen(constructor)]
    pub fn new(offset: f64) -> RevisionsHandle {
        RevisionsHandle(Revisions::new(offset as u64))
    }

    /// Takes the next bytes of the log.
    pub fn feed(&mut self, log: &[u8]) {
        self.0.feed(log);
    }
}

/// The messages of a log, one after another; see `Reader`.
#[wasm_bindgen(js_name = Reader)]
pub struct ReaderHandle(pub(super) Reader);

#[wasm_bindgen(js_class = Reader)]
impl ReaderHandle {
    /// Oldest first, from `offset` on.
    #[wasm_bindgen(js_name = oldestFirst)]
    pub fn oldest_first(offset: f64, revisions: RevisionsHandle) -> ReaderHandle {
        ReaderHandle(Reader::oldest_first(offset as u64, revisions.0))
    }

    /// Newest first, from `end` on.
    #[wasm_bindgen(js_name = newestFirst)]
    pub fn newest_first(end: f64) -> ReaderHandle {
        ReaderHandle(Reader::newest_first(end as u64, Vec::new()))
    }

    /// Takes the bytes that follow those fed before, or, newest first, that precede them.
    pub fn feed(&mut self, log: &[u8]) {
        self.0.feed(log);
    }

    /// There are no more bytes.
    pub fn finish(&mut self) {
        self.0.finish();
    }

    /// `{"messages":[...],"problems":[...],"needs":...}`, JSON.
    pub fn batch(&mut self) -> Uint8Array {
        bytes(&to_json(&self.0.batch()))
    }

    /// Takes bytes that were needed.
    pub fn bytes(&mut self, start: f64, log: &[u8]) {
        self.0.bytes(start as u64, log);
    }

    /// Takes a blob that was needed, if it is there.
    pub fn blob(&mut self, id: &str, content: Option<Vec<u8>>) {
        self.0.blob(id, content.as_deref());
    }
}
