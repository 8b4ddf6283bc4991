//! The bindings for JavaScript, two modules: the core, and what reads other agents' files. They translate and decide
//! nothing.
//!
//! What holds stored text crosses as UTF-8 JSON bytes, both ways. Offsets are numbers, exact up to 2^53.

#[cfg(feature = "wasm-agents")]
mod agents;
#[cfg(feature = "wasm")]
mod handles;
#[cfg(feature = "wasm")]
mod reader;
#[cfg(feature = "wasm")]
mod session;

#[cfg(feature = "wasm")]
pub use handles::{ContextBuild, Counter};
#[cfg(feature = "wasm")]
pub use session::{DocumentName, LogName, SessionHandle};

use js_sys::Uint8Array;
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::error::{Code, Error};

type Answer<T> = Result<T, JsValue>;

fn thrown(error: Error) -> JsValue {
    small(&error)
}

fn small(value: &impl Serialize) -> JsValue {
    value.serialize(&serde_wasm_bindgen::Serializer::json_compatible()).unwrap_or(JsValue::NULL)
}

fn bytes(text: &str) -> Uint8Array {
    Uint8Array::from(text.as_bytes())
}

fn utf8(json: &[u8]) -> Answer<&str> {
    let message = "expected UTF-8, but found other bytes instead";
    core::str::from_utf8(json).map_err(|_| thrown(Error::new(Code::InvalidJson, message)))
}
