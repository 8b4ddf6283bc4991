//! Whole calls without a store, for the cases of `tests/conformance`.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::counter::Counter;
use crate::{JsResult, parse_utf8, to_js_bytes, to_js_error};
use leftoff::calls;

/// See `calls::scan_log`.
#[wasm_bindgen(js_name = scanLog)]
pub fn scan_log(log: &[u8]) -> Uint8Array {
    to_js_bytes(&calls::scan_log(log))
}

/// See `calls::context_of_log`.
#[wasm_bindgen(js_name = contextOfLog)]
pub fn context_of_log(log: &[u8], request: &[u8], counter: &Counter) -> JsResult<Uint8Array> {
    calls::context_of_log(log, parse_utf8(request)?, counter.0.as_deref())
        .map(|json| to_js_bytes(&json))
        .map_err(to_js_error)
}

/// See `calls::drift`.
#[wasm_bindgen]
pub fn drift(about: &[u8]) -> JsResult<Uint8Array> {
    calls::drift(parse_utf8(about)?).map(|json| to_js_bytes(&json)).map_err(to_js_error)
}

/// See `calls::resume_block`.
#[wasm_bindgen(js_name = resumeBlock)]
pub fn resume_block(session: &[u8], stamp: &str) -> JsResult<Uint8Array> {
    calls::resume_block(parse_utf8(session)?, stamp).map(|block| to_js_bytes(&block)).map_err(to_js_error)
}
