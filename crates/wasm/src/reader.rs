//! Transcripts and texts for people: part of the second module, and a module by itself for pages.

use alloc::string::String;
use alloc::vec::Vec;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::{JsResult, parse_stamp, parse_utf8, to_js_bytes, to_js_error};
use leftoff::interop::{self, AgentName};
use leftoff::json::text::to_json;
use leftoff::record::message::Message;
use leftoff::resume::log_match::LogSearch;
use leftoff::resume::{history, listing, outline};
use leftoff::shapes;
use leftoff::shapes::Format;
use leftoff::state::stopping;
use leftoff::time::Stamp;

/// A parsed file of an agent. The messages stay here until they are asked for.
#[wasm_bindgen(js_name = Transcript)]
pub struct TranscriptHandle {
    about: String,
    sessions: Vec<Vec<Message>>,
}

#[wasm_bindgen(js_class = Transcript)]
impl TranscriptHandle {
    /// Reads a file of the named agent, or of the one detected from the content. `beside`: the companion file; see
    /// `interop::read_with`.
    #[wasm_bindgen(constructor)]
    pub fn new(
        file: &[u8],
        name: &str,
        from: Option<String>,
        beside: Option<Vec<u8>>,
    ) -> JsResult<TranscriptHandle> {
        let from = from.map(|from| AgentName::parse(&from)).transpose().map_err(to_js_error)?;
        let import = interop::read_with(file, name, from, beside.as_deref()).map_err(to_js_error)?;
        let about = import.overview_json();
        let sessions = import.sessions.into_iter().map(|session| session.messages).collect();
        Ok(TranscriptHandle { about, sessions })
    }

    /// The sessions and problems without the messages, JSON `{"sessions":[...],"problems":[...]}`.
    pub fn overview(&self) -> Uint8Array {
        to_js_bytes(&self.about)
    }

    /// A session's messages from one place up to another, a JSON array in leftoff's shape.
    pub fn messages(&self, session: usize, from: usize, to: usize) -> Uint8Array {
        let messages = self.sessions.get(session).map(|messages| messages.as_slice()).unwrap_or_default();
        to_js_bytes(&to_json(&messages.get(from..to.min(messages.len())).unwrap_or_default()))
    }
}

/// Finds the clause of a user's message that asks to stop; see `stopping::find_stop_phrase`.
#[wasm_bindgen(js_name = findStopPhrase)]
pub fn find_stop_phrase(text: &str) -> Option<String> {
    stopping::find_stop_phrase(text)
}

/// Outlines messages, JSON bytes in leftoff's shape, turn by turn: see `outline::outline`.
#[wasm_bindgen]
pub fn outline(messages: &[u8]) -> JsResult<Uint8Array> {
    let messages = shapes::read(parse_utf8(messages)?, Format::Leftoff).map_err(to_js_error)?;
    Ok(to_js_bytes(&to_json(&outline::outline(&messages))))
}

/// Finds the lines, one message each, that have all words, newest first: a JSON array of
/// `{"id","role","timestamp","excerpt"}`.
#[wasm_bindgen(js_name = searchLines)]
pub fn search_lines(words: &str, lines: &[u8]) -> Uint8Array {
    let mut search = LogSearch::new(words);
    let hits: Vec<_> = search.find_all(lines).into_iter().map(|hit| search.to_shown_hit(hit)).collect();
    to_js_bytes(&to_json(&hits))
}

/// Renders a list for people, from listed sessions as JSON bytes.
#[wasm_bindgen]
pub fn listing(listed: &[u8], now_ms: f64, offset_minutes: i32) -> JsResult<Uint8Array> {
    let stamp = Stamp { now_ms: now_ms as i64, offset_minutes, entropy: [0; 32] };
    listing::render_listed(parse_utf8(listed)?, &stamp).map(|text| to_js_bytes(&text)).map_err(to_js_error)
}

/// Renders messages, JSON bytes in leftoff's shape, as fenced text: see `history::render`.
#[wasm_bindgen]
pub fn history(messages: &[u8], now_ms: f64, entropy: &[u8]) -> JsResult<Uint8Array> {
    let messages = shapes::read(parse_utf8(messages)?, Format::Leftoff).map_err(to_js_error)?;
    Ok(to_js_bytes(&history::render_history(&messages, &parse_stamp(now_ms, entropy)?)))
}
