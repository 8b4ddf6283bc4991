//! Models, for JavaScript.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::to_js_bytes;
use leftoff::json::text::to_json;
use leftoff::tokens::{models, prices};

/// A model's encoding and window by its name: `{"encoding","window"}`, JSON.
#[wasm_bindgen(js_name = modelOf)]
pub fn model_of(name: &str) -> Option<Uint8Array> {
    models::find_model(name).map(|model| to_js_bytes(&to_json(&model)))
}

/// A model's prices by its name, in US dollars for a million tokens: see `prices::Prices`, JSON.
#[wasm_bindgen(js_name = pricesOf)]
pub fn prices_of(name: &str) -> Option<Uint8Array> {
    prices::find_prices(name).map(|found| to_js_bytes(&to_json(&found)))
}
