//! Who has a session open, which is a project's current one, and which are old: for JavaScript.

use alloc::string::String;
use alloc::vec::Vec;

use wasm_bindgen::prelude::*;

use crate::{Answer, small, thrown, utf8};
use leftoff::layout::pointer::{self, Pointer};
use leftoff::session::tidy::{Aged, Limits, too_old};

/// What a project's pointer says of a session.
#[wasm_bindgen(js_name = writePointer)]
pub fn write_pointer(id: String, path: String) -> String {
    pointer::write(&Pointer { id, path })
}

/// What a project's pointer says; nothing where it is none.
#[wasm_bindgen(js_name = readPointer, unchecked_return_type = "{ id: string, path: string } | undefined")]
pub fn read_pointer(json: &str) -> JsValue {
    pointer::read(json).map_or(JsValue::UNDEFINED, |pointer| small(&pointer))
}

/// Whether a folder may have a pointer; see `pointer::may_have`.
#[wasm_bindgen(js_name = mayHavePointer)]
pub fn may_have_pointer(project: &str, parent: &str, home_of_user: &str) -> bool {
    pointer::may_have(project, parent, home_of_user)
}

/// The places of those to be archived, of JSON `[{"id","placement","isReadable","lastActive"}]`; see `tidy::too_old`.
#[wasm_bindgen(js_name = tooOld)]
pub fn old_ones(
    listed: &[u8],
    most: f64,
    days: f64,
    now_ms: f64,
    current: Option<String>,
) -> Answer<Vec<u32>> {
    let listed = Aged::all_from_json(utf8(listed)?).map_err(thrown)?;
    let limits = Limits { most, days, now_ms: now_ms as i64, current: current.as_deref() };
    Ok(too_old(&listed, &limits).into_iter().filter_map(|place| u32::try_from(place).ok()).collect())
}
