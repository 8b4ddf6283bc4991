//! The second module's functions, needed now and then: writing other agents' files, finding and searching. `reader`
//! reads files.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use js_sys::Uint8Array;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;

use crate::{JsResult, parse_utf8, to_js_bytes, to_js_error};
use leftoff::context;
use leftoff::error::{Code, Error};
use leftoff::json::text::to_json;
use leftoff::resume::session_match;
use leftoff::shapes;
use leftoff::shapes::Format;

/// Ranks the items that have the words, and returns their places, best first. `all`: JSON, each item's names, its title
/// first.
#[wasm_bindgen(js_name = rankByWords)]
pub fn rank_by_words(words: &str, all: &[u8]) -> JsResult<Vec<u32>> {
    let all: Vec<session_match::SessionTexts> = from_json(all, "an array of arrays of texts")?;
    Ok(session_match::rank_by_words(words, &all)
        .into_iter()
        .filter_map(|place| u32::try_from(place).ok())
        .collect())
}

/// Makes the prompt that asks a model to summarize messages, JSON bytes in leftoff's shape, in about so many tokens:
/// the system's text, and the user's.
#[wasm_bindgen(js_name = summaryPrompt)]
pub fn summary_prompt(messages: &[u8], tokens: u32) -> JsResult<Uint8Array> {
    let messages = shapes::read(parse_utf8(messages)?, Format::Leftoff).map_err(to_js_error)?;
    let texts: Vec<String> = messages.iter().map(context::render_message).collect();
    Ok(to_js_bytes(&to_json(&context::summary_prompt(&texts.join("\n\n"), None, tokens))))
}

pub(crate) fn from_json<T: DeserializeOwned>(json: &[u8], what: &str) -> JsResult<T> {
    serde_json::from_slice(json).map_err(|error| {
        let message = format!("expected {what}, but found something else: {error}");
        to_js_error(Error::new(Code::InvalidJson, message))
    })
}
