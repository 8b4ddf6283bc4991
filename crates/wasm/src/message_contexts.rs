//! Contexts without a session, of messages that are stored nowhere; and the comparison of two contexts.
//!
//! A transcript's context is an operation without files (`context_of`). A session in memory, with logs, events,
//! documents and checkpoints, would take one and a half times as long, or twice. A test holds it to what a session of
//! the same messages gives. Where the caller has strategies, which are given a session, it is a session in memory.

use alloc::string::String;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::counter::Counter;
use crate::operation::Operations;
use crate::{JsResult, parse_utf8, to_js_bytes, to_js_error};
use leftoff::context::{self, ComparedContext};
use leftoff::json::text::to_json;
use leftoff::operation::context_of;

#[wasm_bindgen(js_class = Operations)]
impl Operations {
    /// Begins a context of messages, JSON bytes in leftoff's shape; `asked` and its answer as in
    /// `operation::context_of`.
    #[wasm_bindgen(js_name = contextOf)]
    pub fn context_of(
        &mut self,
        messages: &[u8],
        request: &[u8],
        counter: &Counter,
        now_ms: f64,
        entropy: &[u8],
    ) -> JsResult<Uint8Array> {
        let (messages, request) = (String::from(parse_utf8(messages)?), String::from(parse_utf8(request)?));
        let running = context_of(messages, request, counter.counts(true)).map(String::into_bytes);
        self.start(running, now_ms, entropy)
    }
}

/// Compares two contexts, or their stored reports, JSON each: `{"strategy","tokensUsed","tokenBudget",
/// "includedMessageCount"}`, each as `{"before","after"}`, and `"messages":[{"id","before","after"}]`.
#[wasm_bindgen(js_name = compareContexts)]
pub fn compare_contexts(before: &[u8], after: &[u8]) -> JsResult<Uint8Array> {
    let read = |json| ComparedContext::from_json(parse_utf8(json)?).map_err(to_js_error);
    Ok(to_js_bytes(&to_json(&context::compare_contexts(&read(before)?, &read(after)?))))
}
