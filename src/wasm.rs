//! The binding for JavaScript.

use alloc::string::String;
use wasm_bindgen::prelude::*;

/// The version of this crate.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").into()
}
