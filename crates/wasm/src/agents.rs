//! What is needed now and then, a module of its own: writing other agents' files, finding and searching; `reader` reads them.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use js_sys::Uint8Array;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;

use crate::{Answer, bytes, thrown, utf8};
use leftoff::context;
use leftoff::error::{Code, Error};
use leftoff::json::text::to_json;
use leftoff::resume::find;
use leftoff::shapes;
use leftoff::shapes::Format;

/// The places of those that have the words, the best first. `all`: JSON, for each what it is known by, its title first.
#[wasm_bindgen]
pub fn ranked(words: &str, all: &[u8]) -> Answer<Vec<u32>> {
    let all: Vec<find::Known> = from_json(all, "an array of arrays of texts")?;
    Ok(find::ranked(words, &all).into_iter().filter_map(|place| u32::try_from(place).ok()).collect())
}

/// What a model is told that is to sum up messages, JSON bytes in leftoff's shape, in about so many tokens: what the system
/// says, and the user.
#[wasm_bindgen(js_name = summaryPrompt)]
pub fn summary_prompt(messages: &[u8], tokens: u32) -> Answer<Uint8Array> {
    let messages = shapes::read(utf8(messages)?, Format::Leftoff).map_err(thrown)?;
    let told: Vec<String> = messages.iter().map(context::told).collect();
    Ok(bytes(&to_json(&context::prompt(&told.join("\n\n"), None, tokens))))
}

pub(crate) fn from_json<T: DeserializeOwned>(json: &[u8], what: &str) -> Answer<T> {
    serde_json::from_slice(json).map_err(|error| {
        let message = format!("expected {what}, but found something else: {error}");
        thrown(Error::new(Code::InvalidJson, message))
    })
}
