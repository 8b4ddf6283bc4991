//! A store, for JavaScript.

use alloc::rc::Rc;
#[cfg(feature = "core")]
use alloc::string::String;
#[cfg(feature = "core")]
use alloc::string::ToString;
use alloc::vec::Vec;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::live::LiveHandle;
use crate::operation::Operations;
#[cfg(feature = "agents")]
use crate::operation::Running;
#[cfg(feature = "core")]
use crate::operation::{flag, none, unknown};
use crate::{Answer, thrown, utf8};
#[cfg(feature = "core")]
use crate::{small, stamp};
use leftoff::json::text::to_json;
use leftoff::layout::Placement;
use leftoff::operation::{Live, Setup, Store, placed};
use leftoff::time::Stamp;

/// A store, and which sessions of it the host has open; see `Store`.
#[wasm_bindgen(js_name = Store)]
pub struct StoreHandle(pub(super) Rc<Store>);

#[wasm_bindgen(js_class = Store)]
impl StoreHandle {
    /// Made of JSON, as in `Setup::from_json`.
    #[wasm_bindgen(constructor)]
    pub fn new(setup: &[u8]) -> Answer<StoreHandle> {
        Setup::from_json(utf8(setup)?).map(|setup| StoreHandle(Store::new(setup))).map_err(thrown)
    }
}

#[cfg(feature = "core")]
#[wasm_bindgen(js_class = Store)]
impl StoreHandle {
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

    /// Whether the session is open: it is the one that whoever asks for it gets.
    #[wasm_bindgen(js_name = isOpen)]
    pub fn is_open(&self, live: &LiveHandle) -> bool {
        self.0.is_open(&live.0)
    }

    /// What was found out about sessions that nobody has opened since, told once, as in `Store::notices`.
    pub fn notices(&self) -> String {
        self.0.notices()
    }

    /// Takes over what the second module was told.
    pub fn hear(&self, notices: &str) {
        self.0.hear(notices);
    }
}

#[cfg(feature = "core")]
#[wasm_bindgen(js_class = Operations)]
impl Operations {
    /// An operation of a store, by its name; `words` are what it asks for. `offset`: minutes of local time east of UTC. One that
    /// ends with a session answers with its place.
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
    ) -> Answer<Uint8Array> {
        let store = &store.0;
        let mut words = words.into_iter();
        let mut word = || words.next().unwrap_or_default();
        let running = match name {
            "create" => store.create(word()).map(lies),
            "session" => store.session(word()).map(lies),
            "current" => store.current().map(|live| live.map_or(b"null".into(), lies)),
            "goOn" => store.go_on(word()).map(lies),
            "kept" => store.kept(word(), placement(&word())).map(lies),
            "recorded" => {
                store.recorded(word()).map(|all| all.into_iter().next().map_or(b"null".into(), lies))
            }
            "list" => store.list(word()).map(String::into_bytes),
            "noteText" => store.note_text(word(), word()).map(none),
            "point" => store.point_to(word(), word()).map(flag),
            "rest" => store.rest().map(none),
            "settings" => store.setup().settings().map(|read| read.to_json().into_bytes()),
            "move" => {
                let live = open(store, &mut word)?;
                store.move_to(&live, word()).map(lies)
            }
            "relocate" => store.relocate(word(), word(), word()).map(|count| count.to_string().into_bytes()),
            "delete" => {
                let live = open(store, &mut word)?;
                store.delete(&live, word() == "true").map(|trash| to_json(&trash).into_bytes())
            }
            "tidy" => store.tidy(word()).map(|ids| to_json(&ids).into_bytes()),
            "close" => store.close().map(none),
            _ => return Err(small(&unknown())),
        };
        self.begun_at(running, Stamp { offset_minutes: offset, ..stamp(now_ms, entropy)? })
    }
}

#[cfg(feature = "agents")]
#[wasm_bindgen(js_class = Store)]
impl StoreHandle {
    /// The session of a folder, as people call it, for one operation: nothing of it is read, and it is nobody else's.
    pub fn apart(&self, shown: &str, is_workspace: bool, id: &str) -> Answer<LiveHandle> {
        let placement = if is_workspace { Placement::Workspace } else { Placement::Home };
        self.0.apart(shown, placement, id).map(LiveHandle).map_err(thrown)
    }
}

#[cfg(feature = "agents")]
impl Operations {
    // The answer has beside it what the store found out about sessions.
    pub(crate) fn begun_of(
        &mut self,
        store: &Rc<Store>,
        running: Running,
        stamp: Stamp,
    ) -> Answer<Uint8Array> {
        let store = store.clone();
        self.begun_at(running.map(move |answer| with_notices(answer, &store)), stamp)
    }
}

#[cfg(feature = "agents")]
fn with_notices(answer: Vec<u8>, store: &Store) -> Vec<u8> {
    [b"{\"answer\":", &answer[..], b",\"notices\":", store.notices().as_bytes(), b"}"].concat()
}

#[cfg(feature = "core")]
fn open(store: &Rc<Store>, word: &mut impl FnMut() -> String) -> Answer<Rc<Live>> {
    store.live(&word(), placement(&word()), &word()).map_err(thrown)
}

pub(crate) fn lies(live: Rc<Live>) -> Vec<u8> {
    let place = placed(Some((live.shown(), live.placement())));
    ["{\"id\":", &to_json(&live.id()), ",", &place[1..]].concat().into_bytes()
}

pub(crate) fn placement(name: &str) -> Placement {
    Placement::named(name).unwrap_or(Placement::Home)
}
