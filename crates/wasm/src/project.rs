//! By what a project is known, for JavaScript.

use alloc::string::String;

use wasm_bindgen::prelude::*;

use leftoff::project;

/// The hash of a project's folder, resolved and in normalization form C.
#[wasm_bindgen(js_name = projectHash)]
pub fn project_hash(path: &str) -> String {
    project::hash(path)
}
