//! Settings, for JavaScript.

use alloc::string::String;
use alloc::vec::Vec;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::{JsResult, to_js_bytes, to_js_error};
use leftoff::nearest;
use leftoff::settings;

/// The keys of all settings.
#[wasm_bindgen(js_name = settingKeys)]
pub fn setting_keys() -> Vec<String> {
    settings::keys().into_iter().map(String::from).collect()
}

/// A program's autoPersist settings, JSON, over the defaults.
#[wasm_bindgen(js_name = autoPersistSettings)]
pub fn auto_persist_settings(given: &str) -> JsResult<Uint8Array> {
    settings::auto_persist(given).map(|all| to_js_bytes(&settings::render_grouped(&all))).map_err(to_js_error)
}

/// Picks from the known words those that may have been meant.
#[wasm_bindgen(js_name = nearestWords)]
pub fn nearest_words(typed: &str, known: Vec<String>) -> Vec<String> {
    let near = nearest::find_nearest(typed, known.iter().map(String::as_str));
    near.into_iter().filter_map(|place| known.get(place).cloned()).collect()
}
