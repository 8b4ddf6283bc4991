//! The binding, called as JavaScript calls it, in the module as it is compiled for WebAssembly.
//! Tries: crates/wasm/
#![cfg(target_arch = "wasm32")]

use js_sys::{Array, Reflect};
use leftoff_wasm::{Counter, Operations, SessionHandle};
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

fn session() -> SessionHandle {
    SessionHandle::new(None, "sessions/session-a".into(), "/sessions/session-a".into(), "cache".into(), "")
}

#[wasm_bindgen_test]
fn bytes_that_are_no_text_and_chance_that_is_too_short_are_refused_with_a_code() {
    let (session, mut operations) = (session(), Operations::new());
    let mut begun = |name: &str, request: &[u8], entropy: &[u8]| {
        let counter = Counter::estimate();
        operations.begin(&session, name, request, &counter, true, NOW_MS, entropy).err().and_then(code)
    };
    assert_eq!(begun("say", b"\xff", ENTROPY).as_deref(), Some("invalid_json"));
    assert_eq!(begun("open", b"", &ENTROPY[1..]).as_deref(), Some("invalid_request"));
    assert_eq!(begun("no operation", b"", ENTROPY).as_deref(), Some("internal"));
}

#[wasm_bindgen_test]
fn an_operation_says_what_it_needs_and_takes_the_answers() {
    let (session, mut operations) = (session(), Operations::new());
    let counter = Counter::estimate();
    let step =
        operations.begin(&session, "others", b"", &counter, true, NOW_MS, ENTROPY).expect("a step").to_vec();
    let [b'N', a, b, c, d, ..] = step[..] else { panic!("expected needs, but found {step:?}") };
    let nothing = Array::of1(&3.into());
    let number = u32::from_le_bytes([a, b, c, d]);
    let last = operations.next(number, NOW_MS, vec![nothing]).expect("a step").to_vec();
    assert_eq!(last, b"R[]");
    let again = operations.next(number, NOW_MS, Vec::new()).err().and_then(code);
    assert_eq!(again.as_deref(), Some("internal"));
}
