//! The functions on tool outputs that need no store.

use alloc::string::String;
use alloc::vec::Vec;

use wasm_bindgen::prelude::*;

use crate::{JsResult, to_js_error};
use leftoff::outputs;

/// The id of a query; see `outputs::hash_query`.
#[wasm_bindgen(js_name = hashQuery)]
pub fn hash_query(query: &str) -> String {
    outputs::hash_query(query)
}

/// Parses which places an answer picks from a list of so many outputs; see `outputs::choice::chosen`.
#[wasm_bindgen(js_name = chosenOutputs)]
pub fn chosen_outputs(answer: &str, count: u32) -> JsResult<Vec<u32>> {
    let places = outputs::choice::parse_choice(answer, count as usize).map_err(to_js_error)?;
    Ok(places.into_iter().map(|place| place as u32).collect())
}
