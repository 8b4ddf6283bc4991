//! A store, for JavaScript.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::live::LiveHandle;
use crate::operation::Operations;
use crate::{Answer, small, stamp, thrown, utf8};
use leftoff::json::text::to_json;
use leftoff::layout::{Placement, Root};
use leftoff::operation::{Live, Setup, Store, Trouble};

/// A store, and which sessions of it the host has open; see `Store`.
#[wasm_bindgen(js_name = Store)]
pub struct StoreHandle(Rc<Store>);

#[wasm_bindgen(js_class = Store)]
impl StoreHandle {
    /// Made of JSON, as in `Setup::from_json`.
    #[wasm_bindgen(constructor)]
    pub fn new(setup: &[u8]) -> Answer<StoreHandle> {
        Setup::from_json(utf8(setup)?).map(|setup| StoreHandle(Store::new(setup))).map_err(thrown)
    }

    /// The session of a folder, as people call it, open until it is forgotten: the one that is, else one of which nothing is
    /// read. `id`: where it was opened before.
    pub fn live(&self, shown: &str, is_workspace: bool, id: &str) -> Answer<LiveHandle> {
        let placement = if is_workspace { Placement::Workspace } else { Placement::Home };
        self.0.live(shown, placement, id).map(LiveHandle).map_err(thrown)
    }

    /// The session is open no longer: whoever asks for it gets another one.
    pub fn forget(&self, live: &LiveHandle) {
        self.0.forget(&live.0);
    }
}

#[wasm_bindgen(js_class = Operations)]
impl Operations {
    /// An operation of a store, by its name; `request` is what it asks for, JSON mostly. `offset`: minutes of local time east
    /// of UTC. A session is told by its folder, as people call it.
    #[wasm_bindgen(js_name = beginAt)]
    pub fn begin_at(
        &mut self,
        store: &StoreHandle,
        name: &str,
        request: &[u8],
        now_ms: f64,
        offset: i32,
        entropy: &[u8],
    ) -> Answer<Uint8Array> {
        let store = &store.0;
        let request = String::from(utf8(request)?);
        let running = match name {
            "create" => store.create(request).map(place),
            "takeConversation" => store.take_conversation(request).map(|path| to_json(&path).into_bytes()),
            _ => {
                return Err(small(&Trouble::internal(
                    "expected the name of an operation, but found another one",
                )));
            }
        };
        let mut stamp = stamp(now_ms, entropy)?;
        stamp.offset_minutes = offset;
        self.begun_at(running, stamp)
    }
}

// Where it lies, and how it is kept.
fn place(live: Rc<Live>) -> Vec<u8> {
    let placement = if live.folder().root == Root::Home { "home" } else { "workspace" };
    let path = to_json(&live.shown());
    format!("{{\"path\":{path},\"placement\":\"{placement}\"}}").into_bytes()
}
