//! The binding, called as JavaScript calls it, in the module as it is compiled for WebAssembly.
#![cfg(target_arch = "wasm32")]

use js_sys::{Reflect, Uint8Array};
use leftoff_wasm::{Counter, LogName, SessionHandle};
use wasm_bindgen_test::wasm_bindgen_test;

const NOW_MS: f64 = 1_763_812_800_000.0;
const ENTROPY: &[u8] = &[7; 32];

fn code(error: wasm_bindgen::JsValue) -> Option<String> {
    Reflect::get(&error, &"code".into()).ok()?.as_string()
}

#[wasm_bindgen_test]
fn bytes_that_are_no_vocabulary_are_refused_with_a_code() {
    let error = Counter::from_planes(b"no vocabulary").err().and_then(code);
    assert_eq!(error.as_deref(), Some("invalid_vocabulary"));
}

#[wasm_bindgen_test]
fn drafts_that_are_no_json_and_chance_that_is_too_short_are_refused_with_a_code() {
    let mut session = SessionHandle::new(None);
    let mut staged = |draft: &[u8], entropy: &[u8]| {
        session
            .stage_messages(draft, "leftoff", NOW_MS, entropy, &Counter::estimate(), true)
            .err()
            .and_then(code)
    };
    assert_eq!(staged(b"{", ENTROPY).as_deref(), Some("invalid_json"));
    assert_eq!(staged(b"[]", &ENTROPY[1..]).as_deref(), Some("invalid_request"));
}

#[wasm_bindgen_test]
fn what_is_staged_is_what_is_read_again() {
    let draft = r#"[{"role":"user","content":"Zeile \u2028 eins"}]"#;
    let mut session = SessionHandle::new(None);
    let log: Uint8Array = session
        .stage_messages(draft.as_bytes(), "leftoff", NOW_MS, ENTROPY, &Counter::estimate(), true)
        .expect("a draft");
    let mut other = SessionHandle::new(None);
    other.observe(LogName::Messages, &log.to_vec(), 0.0).expect("the log as it was written");
    assert_eq!(other.end(LogName::Messages), f64::from(log.length()));
}
