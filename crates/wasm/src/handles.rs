//! What the core does apart from one session: contexts, ids, whole calls.

use alloc::string::String;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::counter::Counter;
use crate::{Answer, bytes, stamp, thrown, utf8};
use leftoff::calls;
use leftoff::context::{self, Reported};
use leftoff::json::text::to_json;
use leftoff::record::id;
use leftoff::tokens::models;

/// What is known of a model by its name: `{"encoding","window"}`, JSON.
#[wasm_bindgen(js_name = modelOf)]
pub fn model_of(name: &str) -> Option<Uint8Array> {
    models::find(name).map(|model| bytes(&to_json(&model)))
}

/// What differs between two contexts, or what is kept of them, JSON each: `{"strategy","tokensUsed","tokenBudget",
/// "includedMessageCount"}`, of each `{"before","after"}`, and `"messages":[{"id","before","after"}]`.
#[wasm_bindgen(js_name = compareContexts)]
pub fn compare_contexts(before: &[u8], after: &[u8]) -> Answer<Uint8Array> {
    let read = |json| Reported::from_json(utf8(json)?).map_err(thrown);
    Ok(bytes(&to_json(&context::compare(&read(before)?, &read(after)?))))
}

/// See `calls::scan_log`.
#[wasm_bindgen(js_name = scanLog)]
pub fn scan_log(log: &[u8]) -> Uint8Array {
    bytes(&calls::scan_log(log))
}

/// See `calls::context_of_log`.
#[wasm_bindgen(js_name = contextOfLog)]
pub fn context_of_log(log: &[u8], request: &[u8], counter: &Counter) -> Answer<Uint8Array> {
    calls::context_of_log(log, utf8(request)?, counter.0.as_deref()).map(|json| bytes(&json)).map_err(thrown)
}

/// See `calls::drift`.
#[wasm_bindgen]
pub fn drift(about: &[u8]) -> Answer<Uint8Array> {
    calls::drift(utf8(about)?).map(|json| bytes(&json)).map_err(thrown)
}

/// See `calls::resume_block`.
#[wasm_bindgen(js_name = resumeBlock)]
pub fn resume_block(session: &[u8], stamp: &str) -> Answer<Uint8Array> {
    calls::resume_block(utf8(session)?, stamp).map(|block| bytes(&block)).map_err(thrown)
}

/// A new uuid.
#[wasm_bindgen(js_name = newId)]
pub fn new_id(now_ms: f64, entropy: &[u8]) -> Answer<String> {
    stamp(now_ms, entropy).map(|stamp| id::new(&stamp, 0))
}
