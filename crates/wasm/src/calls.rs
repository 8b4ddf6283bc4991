//! Whole calls, without a store: what the cases of tests/conformance are run by.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::counter::Counter;
use crate::{Answer, bytes, thrown, utf8};
use leftoff::calls;

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
