//! Settings, for JavaScript.

use alloc::string::String;
use alloc::vec::Vec;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::{Answer, bytes, thrown, utf8};
use leftoff::nearest;
use leftoff::settings::{self, SettingsFile};

/// The keys of all settings.
#[wasm_bindgen(js_name = settingKeys)]
pub fn setting_keys() -> Vec<String> {
    settings::keys().into_iter().map(String::from).collect()
}

/// Of files, JSON `[{"path","source","text","problem"}]`, what holds, as `settings::Read::to_json` says it.
#[wasm_bindgen(js_name = readSettings)]
pub fn read_settings(files: &[u8]) -> Answer<Uint8Array> {
    let files = SettingsFile::all_from_json(utf8(files)?).map_err(thrown)?;
    Ok(bytes(&settings::read(&files).to_json()))
}

/// A program's configuration of saving by itself, JSON, over what holds by default.
#[wasm_bindgen(js_name = autoPersistSettings)]
pub fn auto_persist_settings(given: &str) -> Answer<Uint8Array> {
    settings::auto_persist(given).map(|all| bytes(&settings::grouped(&all))).map_err(thrown)
}

/// Of the words that are known, those that may have been meant.
#[wasm_bindgen(js_name = nearestWords)]
pub fn nearest_words(typed: &str, known: Vec<String>) -> Vec<String> {
    let near = nearest::nearest(typed, known.iter().map(String::as_str));
    near.into_iter().filter_map(|place| known.get(place).cloned()).collect()
}
