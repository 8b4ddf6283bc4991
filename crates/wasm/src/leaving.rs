//! What leaves, for JavaScript: the door of a store, and the operations of the second module. See `operation::Leaving`.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::live::LiveHandle;
use crate::operation::{Operations, none, unknown};
use crate::{Answer, bytes, small, thrown, utf8};
use leftoff::json::text::to_json;
use leftoff::layout::{File, Root};
use leftoff::operation::{Door, Leaving, Left, Redact};

/// The door of a store.
#[wasm_bindgen(js_name = Door)]
pub struct DoorHandle(Rc<Door>);

#[wasm_bindgen(js_class = Door)]
impl DoorHandle {
    /// `redact`: what is done about secrets, JSON.
    #[wasm_bindgen(constructor)]
    pub fn new(redact: &str) -> Answer<DoorHandle> {
        Redact::parse(redact).map(|redact| DoorHandle(Door::new(redact))).map_err(thrown)
    }

    /// What was found since, `[{"rule","placeholder","count"}]`, JSON.
    pub fn told(&self) -> Uint8Array {
        bytes(&to_json(&self.0.told()))
    }
}

/// What leaves of a session, or of none.
#[wasm_bindgen(js_name = Leaving)]
pub struct LeavingHandle(pub(super) Rc<Leaving>);

#[wasm_bindgen(js_class = Leaving)]
impl LeavingHandle {
    /// Of which nothing is known.
    #[wasm_bindgen(constructor)]
    pub fn new(door: &DoorHandle) -> LeavingHandle {
        LeavingHandle(Leaving::new(&door.0))
    }
}

#[wasm_bindgen(js_class = Operations)]
impl Operations {
    /// `prepare`; `out` of a value, JSON; `take` of lines. `has_folder`: of the session whose files are below a workspace
    /// without a name.
    pub fn leave(
        &mut self,
        leaving: &LeavingHandle,
        name: &str,
        request: Vec<u8>,
        has_folder: bool,
        now_ms: f64,
        entropy: &[u8],
    ) -> Answer<Uint8Array> {
        let leaving = &leaving.0;
        let folder = has_folder.then(folder);
        let running = match name {
            "prepare" => leaving.prepare(folder).map(none),
            "out" => {
                let json = String::from(utf8(&request)?);
                leaving.out(json, folder).map(|left: Left| left.to_json().into_bytes())
            }
            "take" => leaving.take(request).map(none),
            _ => return Err(small(&unknown())),
        };
        self.begun(running, now_ms, entropy)
    }

    /// What is read of a session on its way out, in pages: `export`, `search`; `examine`, whose answer is what is
    /// wrong, and `sentContext`, whose answer is that; it is asked whether the host is asked how it may leave.
    pub fn pass(
        &mut self,
        live: &LiveHandle,
        leaving: &LeavingHandle,
        name: &str,
        request: &[u8],
        now_ms: f64,
        entropy: &[u8],
    ) -> Answer<Uint8Array> {
        let request = String::from(utf8(request)?);
        let running = match name {
            "export" => live.0.export(request, &leaving.0).map(none),
            "examine" => live.0.examine().map(String::into_bytes),
            "sentContext" => live.0.sent_context(request == "true").map(String::into_bytes),
            _ => return Err(small(&unknown())),
        };
        self.begun(running, now_ms, entropy)
    }
}

fn folder() -> File {
    File::new(Root::Workspace(String::new()), "")
}
