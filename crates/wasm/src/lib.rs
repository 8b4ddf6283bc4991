//! The bindings for JavaScript. They translate and decide nothing. They make five modules: `leftoff.wasm`, the core;
//! `agents.wasm`, what is needed now and then; and for pages two small parts of those, `reader.wasm` for transcripts
//! and texts for people (287 KB with its binding) and `context.wasm` for contexts of messages that are stored nowhere,
//! models and counting (274 KB). The small parts are the same functions, compiled again for size; where a large module
//! is loaded, it does their work. A fifth, `turns.wasm`, tells a hook in a millisecond that a turn needs no answer.
//!
//! The store's operations and a session's are one module: handles cannot cross, the store's own operations are an
//! eighth of the core, and Node would load json, logs and shapes twice. Node, Deno, Bun and workerd have the two large
//! modules, from the disk.
//!
//! Stored text crosses as UTF-8 JSON bytes, both ways. Measured once, on 10 MB of real messages (23,487 of them; Node
//! 20, medians of nine): out of the core 87 ms as JSON bytes and `JSON.parse`, 223 ms as objects made by
//! serde-wasm-bindgen; into it 130 ms against 304 ms. Offsets are numbers, exact up to 2^53.

#![cfg_attr(feature = "turns", allow(dead_code, reason = "a hook's module only counts turns"))]
#![no_std]

extern crate alloc;

#[cfg(feature = "agents")]
mod agents;
#[cfg(feature = "agents")]
mod agents_store;
#[cfg(feature = "agents")]
mod ask;
#[cfg(feature = "agents")]
mod calls;
#[cfg(feature = "agents")]
mod clients;
#[cfg(any(feature = "core", feature = "agents", feature = "context"))]
mod counter;
#[cfg(feature = "core")]
mod layout;
#[cfg(any(feature = "agents", feature = "context"))]
mod message_contexts;
#[cfg(any(feature = "core", feature = "context"))]
mod models;
#[cfg(any(feature = "core", feature = "agents", feature = "context"))]
mod operation;
#[cfg(feature = "agents")]
mod outgoing;
#[cfg(feature = "agents")]
mod outputs;
#[cfg(any(feature = "agents", feature = "reader"))]
mod reader;
#[cfg(any(feature = "core", feature = "agents"))]
mod session_handle;
#[cfg(feature = "core")]
mod settings;
#[cfg(any(feature = "core", feature = "agents"))]
mod store;
#[cfg(feature = "turns")]
mod turns;

#[cfg(any(feature = "core", feature = "agents", feature = "context"))]
pub use counter::Counter;
#[cfg(any(feature = "core", feature = "agents", feature = "context"))]
pub use operation::Operations;
#[cfg(any(feature = "core", feature = "agents"))]
pub use session_handle::SessionHandle;
#[cfg(any(feature = "core", feature = "agents"))]
pub use store::StoreHandle;

use alloc::format;

use js_sys::Uint8Array;
use serde::Serialize;
use wasm_bindgen::prelude::*;

use leftoff::error::{Code, Error};
use leftoff::time::Stamp;

type JsResult<T> = Result<T, JsValue>;

fn to_js_error(error: Error) -> JsValue {
    to_js_value(&error)
}

fn to_js_value(value: &impl Serialize) -> JsValue {
    value.serialize(&serde_wasm_bindgen::Serializer::json_compatible()).unwrap_or(JsValue::NULL)
}

fn to_js_bytes(text: &str) -> Uint8Array {
    Uint8Array::from(text.as_bytes())
}

// The stamp of what is stored, in UTC: local time is not asked for there.
fn parse_stamp(now_ms: f64, entropy: &[u8]) -> JsResult<Stamp> {
    let found = entropy.len();
    let message = || format!("expected 32 bytes of entropy, but found {found} instead");
    let entropy = entropy.try_into().map_err(|_| to_js_error(Error::new(Code::InvalidRequest, message())))?;
    Ok(Stamp { now_ms: now_ms as i64, offset_minutes: 0, entropy })
}

fn parse_utf8(json: &[u8]) -> JsResult<&str> {
    let message = "expected UTF-8, but found other bytes instead";
    core::str::from_utf8(json).map_err(|_| to_js_error(Error::new(Code::InvalidJson, message)))
}
