//! Models, for JavaScript.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::{JsResult, to_js_bytes, to_js_error};
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

/// What a call of a model cost in US dollars, JSON, by its provider's counts: see `prices::cost_of`.
#[wasm_bindgen(js_name = costOf)]
pub fn cost_of(name: &str, usage: &str) -> JsResult<Option<Uint8Array>> {
    let cost = prices::cost_of(name, usage).map_err(to_js_error)?;
    Ok(cost.map(|cost| to_js_bytes(&to_json(&cost))))
}
