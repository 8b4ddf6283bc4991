//! What is known of a session, for JavaScript.

use alloc::rc::Rc;
use core::cell::RefCell;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::{Answer, bytes, thrown, utf8};
use leftoff::session::handle::Session;
use leftoff::session::index;

/// One session: its logs, and what is known from them.
#[wasm_bindgen(js_name = Session)]
pub struct SessionHandle(Rc<RefCell<Session>>);

#[wasm_bindgen(js_class = Session)]
impl SessionHandle {
    /// Its line of the store's index; `place` as in `index::write`.
    #[wasm_bindgen(js_name = indexLine)]
    pub fn index_line(&self, place: &[u8]) -> Answer<Uint8Array> {
        index::write(&self.0.borrow(), utf8(place)?).map(|line| bytes(&line)).map_err(thrown)
    }
}

impl SessionHandle {
    pub(super) fn of(session: Rc<RefCell<Session>>) -> SessionHandle {
        SessionHandle(session)
    }
}
