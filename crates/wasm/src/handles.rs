//! What the core does apart from one session: models, ids.

#[cfg(feature = "core")]
use alloc::string::String;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::bytes;
#[cfg(feature = "core")]
use crate::{Answer, stamp};
use leftoff::json::text::to_json;
#[cfg(feature = "core")]
use leftoff::record::id;
use leftoff::tokens::models;

/// What is known of a model by its name: `{"encoding","window"}`, JSON.
#[wasm_bindgen(js_name = modelOf)]
pub fn model_of(name: &str) -> Option<Uint8Array> {
    models::find(name).map(|model| bytes(&to_json(&model)))
}

/// A new uuid.
#[cfg(feature = "core")]
#[wasm_bindgen(js_name = newId)]
pub fn new_id(now_ms: f64, entropy: &[u8]) -> Answer<String> {
    stamp(now_ms, entropy).map(|stamp| id::new(&stamp, 0))
}
