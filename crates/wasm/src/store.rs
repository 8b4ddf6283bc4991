//! The store's handle, for JavaScript.
//!
//! Opening is the core's: which session is meant, that a folder has one session whoever asks meanwhile, which was
//! deleted or moved, the notices for whoever opens it, what is closed last, and which format an append's answer has.
//! The host has an object for each open session, and turns of folders. No host is asked where a session lies now: the
//! second module's store finds it by the bytes, as another process does. No operation waits for a turn while it has
//! one.

use alloc::rc::Rc;
#[cfg(feature = "core")]
use alloc::string::String;
#[cfg(feature = "core")]
use alloc::string::ToString;
use alloc::vec::Vec;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::operation::Operations;
#[cfg(feature = "agents")]
use crate::operation::Running;
#[cfg(feature = "core")]
use crate::operation::{bool_json, null_json, unknown_operation_error};
use crate::session_handle::SessionHandle;
use crate::{JsResult, parse_utf8, to_js_error};
#[cfg(feature = "core")]
use crate::{parse_stamp, to_js_value};
use leftoff::json::text::to_json;
use leftoff::layout::Placement;
use leftoff::operation::{SessionFiles, Setup, Store, place_json};
use leftoff::time::Stamp;

/// A store, and which of its sessions the host has open; see `Store`.
#[wasm_bindgen(js_name = Store)]
pub struct StoreHandle(pub(super) Rc<Store>);

#[wasm_bindgen(js_class = Store)]
impl StoreHandle {
    /// Makes a store from JSON, as in `Setup::from_json`.
    #[wasm_bindgen(constructor)]
    pub fn new(setup: &[u8]) -> JsResult<StoreHandle> {
        Setup::from_json(parse_utf8(setup)?).map(|setup| StoreHandle(Store::new(setup))).map_err(to_js_error)
    }
}

#[cfg(feature = "core")]
#[wasm_bindgen(js_class = Store)]
impl StoreHandle {
    /// The session of a folder, named by its path for people, open until `forget`: the open one, else a new handle of
    /// which nothing is read yet. `id`: given if it was opened before.
    #[wasm_bindgen(js_name = sessionFiles)]
    pub fn session_files(&self, shown: &str, is_workspace: bool, id: &str) -> JsResult<SessionHandle> {
        let placement = if is_workspace { Placement::Workspace } else { Placement::Home };
        self.0.session_files(shown, placement, id).map(SessionHandle).map_err(to_js_error)
    }

    /// Closes a session: the next call for it gets a new handle.
    pub fn forget(&self, handle: &SessionHandle) {
        self.0.forget(&handle.0);
    }

    /// Whether this handle is the open one that calls for the session get.
    #[wasm_bindgen(js_name = isOpen)]
    pub fn is_open(&self, handle: &SessionHandle) -> bool {
        self.0.is_open(&handle.0)
    }

    /// Takes the notices about sessions that were not opened since, each once, as in `Store::notices`.
    pub fn notices(&self) -> String {
        self.0.notices()
    }

    /// Takes over the second module's notices.
    #[wasm_bindgen(js_name = addNotices)]
    pub fn add_notices(&self, notices: &str) {
        self.0.add_notices(notices);
    }
}

#[cfg(feature = "core")]
#[wasm_bindgen(js_class = Operations)]
impl Operations {
    /// Begins an operation of the store, by its name; `words`: its arguments. `offset`: minutes of local time east of
    /// UTC. An operation that ends with a session answers with its place.
    #[wasm_bindgen(js_name = beginAt)]
    #[allow(clippy::too_many_arguments, reason = "each crosses as it is")]
    pub fn begin_at(
        &mut self,
        store: &StoreHandle,
        name: &str,
        words: Vec<String>,
        now_ms: f64,
        offset: i32,
        entropy: &[u8],
    ) -> JsResult<Uint8Array> {
        let store = &store.0;
        let mut words = words.into_iter();
        let mut word = || words.next().unwrap_or_default();
        let running = match name {
            "create" => store.create(word()).map(session_place_json),
            "session" => store.session(word()).map(session_place_json),
            "current" => store.current().map(|live| live.map_or(b"null".into(), session_place_json)),
            "goOn" => store.go_on(word()).map(session_place_json),
            "kept" => store.open_written(word(), parse_placement(&word())).map(session_place_json),
            "recorded" => store
                .open_recorded(word())
                .map(|all| all.into_iter().next().map_or(b"null".into(), session_place_json)),
            "list" => store.list(word()).map(String::into_bytes),
            "noteText" => store.note_text(word(), word()).map(null_json),
            "point" => store.point_to(word(), word()).map(bool_json),
            "rest" => store.pause_idle().map(null_json),
            "settings" => store.setup().settings().map(|read| read.to_json().into_bytes()),
            "move" => {
                let session = open_session(store, &mut word)?;
                store.move_to(&session, word()).map(session_place_json)
            }
            "relocate" => {
                store.relocate_project(word(), word(), word()).map(|count| count.to_string().into_bytes())
            }
            "delete" => {
                let session = open_session(store, &mut word)?;
                store.delete(&session, word() == "true").map(|trash| to_json(&trash).into_bytes())
            }
            "tidy" => store.tidy(word()).map(|ids| to_json(&ids).into_bytes()),
            "close" => store.close().map(null_json),
            _ => return Err(to_js_value(&unknown_operation_error())),
        };
        self.start_at(running, Stamp { offset_minutes: offset, ..parse_stamp(now_ms, entropy)? })
    }
}

#[cfg(feature = "agents")]
#[wasm_bindgen(js_class = Store)]
impl StoreHandle {
    /// A new handle of a folder's session for one operation alone: nothing is read yet, and no other call gets it.
    #[wasm_bindgen(js_name = unopenedSessionAt)]
    pub fn unopened_session_at(&self, shown: &str, is_workspace: bool, id: &str) -> JsResult<SessionHandle> {
        let placement = if is_workspace { Placement::Workspace } else { Placement::Home };
        self.0.unopened_session_at(shown, placement, id).map(SessionHandle).map_err(to_js_error)
    }
}

#[cfg(feature = "agents")]
impl Operations {
    // The answer carries the store's notices beside it.
    pub(crate) fn start_with_notices(
        &mut self,
        store: &Rc<Store>,
        running: Running,
        stamp: Stamp,
    ) -> JsResult<Uint8Array> {
        let store = store.clone();
        self.start_at(running.map(move |answer| with_notices(answer, &store)), stamp)
    }
}

#[cfg(feature = "agents")]
fn with_notices(answer: Vec<u8>, store: &Store) -> Vec<u8> {
    [b"{\"answer\":", &answer[..], b",\"notices\":", store.notices().as_bytes(), b"}"].concat()
}

#[cfg(feature = "core")]
fn open_session(store: &Rc<Store>, word: &mut impl FnMut() -> String) -> JsResult<Rc<SessionFiles>> {
    store.session_files(&word(), parse_placement(&word()), &word()).map_err(to_js_error)
}

pub(crate) fn session_place_json(files: Rc<SessionFiles>) -> Vec<u8> {
    let place = place_json(Some((files.shown_folder(), files.placement())));
    ["{\"id\":", &to_json(&files.id()), ",", &place[1..]].concat().into_bytes()
}

pub(crate) fn parse_placement(name: &str) -> Placement {
    Placement::from_name(name).unwrap_or(Placement::Home)
}
