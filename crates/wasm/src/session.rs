//! What is known of a session, for JavaScript.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::reader::ReaderHandle;
use crate::{Answer, bytes, thrown, utf8};
use leftoff::session::handle::Session;
use leftoff::session::index;
use leftoff::session::reader::Reader;

/// One session: its logs, and what is known from them.
#[wasm_bindgen(js_name = Session)]
pub struct SessionHandle(Rc<RefCell<Session>>);

#[wasm_bindgen(js_class = Session)]
impl SessionHandle {
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
