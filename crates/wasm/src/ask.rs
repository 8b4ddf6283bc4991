//! Transcripts of `leftoff ask`, and the engines that answer.

use alloc::string::String;
use alloc::vec::Vec;

use js_sys::Uint8Array;
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::{JsResult, to_js_bytes, to_js_error};
use leftoff::ask::{self, DEFAULT_PROMPT, Engine, PRESETS, Recorder, Transcript};
use leftoff::json::text::to_json;

/// The file name of a transcript that begins now, without `.md`.
#[wasm_bindgen(js_name = askName)]
pub fn ask_name(now_ms: f64) -> String {
    ask::name(now_ms as i64)
}

/// A transcript's first line; see `ask::title`.
#[wasm_bindgen(js_name = askTitle)]
pub fn ask_title(name: &str, folder: &str) -> String {
    ask::title(name, folder)
}

/// A question, with the heading before it.
#[wasm_bindgen(js_name = askQuestion)]
pub fn ask_question(now_ms: f64, question: &str) -> Vec<u8> {
    let mut recorder = Recorder::default();
    let mut written = ask::question(now_ms as i64).into_bytes();
    written.extend(recorder.feed(question.as_bytes()));
    written.extend(recorder.end());
    written
}

/// The text before an answer.
#[wasm_bindgen(js_name = askAnswer)]
pub fn ask_answer(now_ms: f64, engine: &str) -> String {
    ask::answer(now_ms as i64, engine)
}

/// The text after an answer.
#[wasm_bindgen(js_name = askEnd)]
pub fn ask_end(now_ms: f64, stopped: Option<String>) -> String {
    ask::end(now_ms as i64, stopped.as_deref())
}

/// The text for an engine; without instructions, the default ones. See `ask::prompt`.
#[wasm_bindgen(js_name = askPrompt)]
pub fn ask_prompt(instructions: Option<String>, history: &str, question: &str) -> Uint8Array {
    to_js_bytes(&ask::prompt(instructions.as_deref().unwrap_or(DEFAULT_PROMPT), history, question))
}

/// The instructions for an engine, unless the user has others.
#[wasm_bindgen(js_name = askInstructions)]
pub fn ask_instructions() -> String {
    DEFAULT_PROMPT.into()
}

/// The names of the known engines.
#[wasm_bindgen(js_name = askEngines)]
pub fn ask_engines() -> Vec<String> {
    PRESETS.map(String::from).into()
}

/// An engine's command and window, JSON; see `Engine::of`.
#[wasm_bindgen(js_name = askEngine)]
pub fn ask_engine(
    engine: Option<String>,
    model: Option<String>,
    installed: Vec<String>,
) -> JsResult<Uint8Array> {
    let installed: Vec<&str> = installed.iter().map(String::as_str).collect();
    let engine = Engine::choose(engine.as_deref(), model.as_deref(), &installed).map_err(to_js_error)?;
    Ok(to_js_bytes(&to_json(&engine)))
}

/// Says how to continue a transcript, JSON `{"torn","closing"}`: from which byte on nothing counts, and the text that
/// has to come before the next question.
#[wasm_bindgen(js_name = askOpened)]
pub fn ask_opened(transcript: &[u8], now_ms: f64) -> Uint8Array {
    #[derive(Serialize)]
    struct OpenTranscript {
        torn: Option<u64>,
        closing: String,
    }
    let read = Transcript::parse(transcript);
    to_js_bytes(&to_json(&OpenTranscript { torn: read.torn, closing: read.closing(now_ms as i64) }))
}

/// An answer on its way into a transcript; see `ask::Recorder`.
#[wasm_bindgen(js_name = AskRecorder)]
#[derive(Default)]
pub struct AskRecorder(Recorder);

#[wasm_bindgen(js_class = AskRecorder)]
impl AskRecorder {
    /// A recorder that has heard nothing yet.
    #[wasm_bindgen(constructor)]
    pub fn new() -> AskRecorder {
        AskRecorder::default()
    }

    /// Takes the next bytes and returns those to append.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.0.feed(bytes)
    }

    /// The number of bytes kept back.
    #[wasm_bindgen(js_name = heldByteCount, getter)]
    pub fn held_byte_count(&self) -> usize {
        self.0.held_byte_count()
    }

    /// Ends the answer and returns the bytes that were kept back.
    pub fn end(&mut self) -> Vec<u8> {
        self.0.end()
    }
}
