//! Settings, for JavaScript.

use alloc::string::String;
use alloc::vec::Vec;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::{Answer, bytes, thrown, utf8};
use leftoff::json::text::to_json;
use leftoff::nearest;
use leftoff::settings::{self, SettingsFile};

/// The keys of all settings.
#[wasm_bindgen(js_name = settingKeys)]
pub fn setting_keys() -> Vec<String> {
    settings::keys().into_iter().map(String::from).collect()
}

/// Of files, JSON `[{"path","source","text","problem"}]`, what holds: JSON `{"all":[{"key","value","source","path"}],
/// "problems":[...]}`; see `settings::read`.
#[wasm_bindgen(js_name = readSettings)]
pub fn read_settings(files: &[u8]) -> Answer<Uint8Array> {
    let files = SettingsFile::all_from_json(utf8(files)?).map_err(thrown)?;
    Ok(bytes(&to_json(&settings::read(&files))))
}

/// Refuses a value, JSON, that may not be written into a file, the one that is given as in `readSettings`; without one, to
/// take the setting out.
#[wasm_bindgen(js_name = checkSetting)]
pub fn check_setting(key: &str, value: Option<String>, file: &[u8]) -> Answer<()> {
    let files = SettingsFile::all_from_json(utf8(file)?).map_err(thrown)?;
    files.iter().try_for_each(|file| settings::check_writing(key, value.as_deref(), file)).map_err(thrown)
}

/// A program's configuration of saving by itself, JSON, over what holds by default: `[{"key","value",...}]`.
#[wasm_bindgen(js_name = autoPersistSettings)]
pub fn auto_persist_settings(given: &str) -> Answer<Uint8Array> {
    settings::auto_persist(given).map(|all| bytes(&to_json(&all))).map_err(thrown)
}

/// Of the words that are known, those that may have been meant.
#[wasm_bindgen(js_name = nearestWords)]
pub fn nearest_words(typed: &str, known: Vec<String>) -> Vec<String> {
    let near = nearest::nearest(typed, known.iter().map(String::as_str));
    near.into_iter().filter_map(|place| known.get(place).cloned()).collect()
}
