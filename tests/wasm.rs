//! The binding, called as JavaScript calls it, in the module as it is compiled for WebAssembly.
#![cfg(target_arch = "wasm32")]

use js_sys::{Reflect, Uint8Array};
use leftoff::wasm::{Counter, LogName, SessionHandle};
use wasm_bindgen_test::wasm_bindgen_test;

const STAMP: &str = r#"{"nowMs":1763812800000,"offsetMinutes":60,"entropy":"0707070707070707070707070707070707070707070707070707070707070707"}"#;

fn code(error: wasm_bindgen::JsValue) -> Option<String> {
    Reflect::get(&error, &"code".into()).ok()?.as_string()
}

#[wasm_bindgen_test]
fn bytes_that_are_no_vocabulary_are_refused_with_a_code() {
    let error = Counter::from_planes(b"no vocabulary").err().and_then(code);
    assert_eq!(error.as_deref(), Some("invalid_vocabulary"));
}

#[wasm_bindgen_test]
fn drafts_that_are_no_json_are_refused_with_a_code() {
    let mut session = SessionHandle::new(None, None);
    let error =
        session.stage_messages(b"{", "leftoff", STAMP, &Counter::estimate(), true).err().and_then(code);
    assert_eq!(error.as_deref(), Some("invalid_json"));
}

#[wasm_bindgen_test]
fn what_is_staged_is_what_is_read_again() {
    let draft = r#"[{"role":"user","content":"Zeile \u2028 eins"}]"#;
    let mut session = SessionHandle::new(None, None);
    let log: Uint8Array = session
        .stage_messages(draft.as_bytes(), "leftoff", STAMP, &Counter::estimate(), true)
        .expect("a draft");
    let mut other = SessionHandle::new(None, None);
    other.observe(LogName::Messages, &log.to_vec(), 0.0).expect("the log as it was written");
    assert_eq!(other.end(LogName::Messages), f64::from(log.length()));
}
