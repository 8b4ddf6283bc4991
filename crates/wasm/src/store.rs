//! A store, for JavaScript.

use alloc::rc::Rc;
use alloc::string::String;
#[cfg(feature = "core")]
use alloc::string::ToString;
use alloc::vec::Vec;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

#[cfg(feature = "core")]
use crate::live::LiveHandle;
use crate::operation::{Operations, Running};
#[cfg(feature = "core")]
use crate::operation::{flag, none, unknown};
use crate::{Answer, thrown, utf8};
#[cfg(feature = "core")]
use crate::{small, stamp};
#[cfg(feature = "core")]
use leftoff::json::text::to_json;
use leftoff::layout::Placement;
#[cfg(feature = "core")]
use leftoff::operation::{Current, Finding};
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
}

#[cfg(feature = "core")]
#[wasm_bindgen(js_class = Operations)]
impl Operations {
    /// An operation of a store, by its name; `words` are what it asks for. `offset`: minutes of local time east of UTC. Its
    /// answer is `{"answer"}`, and in `notices` what it found out about sessions, as `Store::notices` tells it.
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
            "create" => store.create(word()).map(|live| placed_at(Some(place(&live)))),
            "list" => store.list(word()).map(String::into_bytes),
            "find" => store.find(word(), finding(&word())).map(placed_at),
            "whereabouts" => store.whereabouts(word()).map(placed_at),
            "current" => store.current(Current::Any).map(placed_at),
            "goesOn" => store.current(Current::GoesOn).map(placed_at),
            "point" => store.point_to(word(), word()).map(flag),
            "settings" => store.setup().settings().map(|read| read.to_json().into_bytes()),
            "open" => store.open(word(), placement(&word())).map(opened),
            "move" => {
                let live = open(store, &mut word)?;
                store.move_to(&live, word()).map(|place| placed_at(Some(place)))
            }
            "relocate" => store.relocate(word(), word(), word()).map(|count| count.to_string().into_bytes()),
            "delete" => {
                let live = open(store, &mut word)?;
                store.delete(&live, word() == "true").map(|trash| to_json(&trash).into_bytes())
            }
            "tidy" => store.tidy(word()).map(|ids| to_json(&ids).into_bytes()),
            "save" => store.save().map(none),
            _ => return Err(small(&unknown())),
        };
        let stamp = Stamp { offset_minutes: offset, ..stamp(now_ms, entropy)? };
        self.begun_of(store, running, stamp)
    }
}

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

fn with_notices(answer: Vec<u8>, store: &Store) -> Vec<u8> {
    let notices = store.notices();
    let behind =
        if notices.is_empty() { String::from("}") } else { [",\"notices\":", &notices, "}"].concat() };
    [&b"{\"answer\":"[..], &answer, behind.as_bytes()].concat()
}

#[cfg(feature = "core")]
fn open(store: &Rc<Store>, word: &mut impl FnMut() -> String) -> Answer<Rc<Live>> {
    store.live(&word(), placement(&word()), &word()).map_err(thrown)
}

pub(crate) fn place(live: &Live) -> (String, Placement) {
    (live.shown(), live.placement())
}

pub(crate) fn placed_at(place: Option<(String, Placement)>) -> Vec<u8> {
    placed(place).into_bytes()
}

pub(crate) fn placement(name: &str) -> Placement {
    Placement::named(name).unwrap_or(Placement::Home)
}

#[cfg(feature = "core")]
fn opened((live, told): (Rc<Live>, String)) -> Vec<u8> {
    let place = placed(Some(place(&live)));
    alloc::format!("{{\"place\":{place},\"told\":{told}}}").into_bytes()
}

#[cfg(feature = "core")]
fn finding(how: &str) -> Finding {
    match how {
        "placed" => Finding::Placed,
        _ => Finding::Listed,
    }
}
