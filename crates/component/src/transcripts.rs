//! Transcripts of questions to an agent that remembers nothing.

use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use leftoff::ask::{self, DEFAULT_PROMPT, Engine, PRESETS, Transcript};
use leftoff::json::text::to_json;

use crate::exports::leftoff::core::protocol::{Error, Stamp};
use crate::exports::leftoff::core::transcripts::{Guest, GuestRecorder};
use crate::{Core, to_error};

#[derive(Default)]
pub(crate) struct Recorder(RefCell<ask::Recorder>);

impl GuestRecorder for Recorder {
    fn new() -> Recorder {
        Recorder::default()
    }

    fn feed(&self, bytes: Vec<u8>) -> Vec<u8> {
        self.0.borrow_mut().feed(&bytes)
    }

    fn held(&self) -> u64 {
        self.0.borrow().held_byte_count() as u64
    }

    fn end(&self) -> Vec<u8> {
        self.0.borrow_mut().end()
    }
}

impl Guest for Core {
    type Recorder = Recorder;

    fn name(stamp: Stamp) -> String {
        ask::name(stamp.now_ms)
    }

    fn title(name: String, folder: String) -> String {
        ask::title(&name, &folder)
    }

    fn question(stamp: Stamp) -> String {
        ask::question(stamp.now_ms)
    }

    fn answer(stamp: Stamp, engine: String) -> String {
        ask::answer(stamp.now_ms, &engine)
    }

    fn end(stamp: Stamp, stopped: Option<String>) -> String {
        ask::end(stamp.now_ms, stopped.as_deref())
    }

    fn prompt(instructions: Option<String>, history: String, question: String) -> String {
        ask::prompt(instructions.as_deref().unwrap_or(DEFAULT_PROMPT), &history, &question)
    }

    fn instructions() -> String {
        DEFAULT_PROMPT.into()
    }

    fn engines() -> Vec<String> {
        PRESETS.map(String::from).into()
    }

    fn engine(named: Option<String>, model: Option<String>, installed: Vec<String>) -> Result<String, Error> {
        let installed: Vec<&str> = installed.iter().map(String::as_str).collect();
        let engine = Engine::choose(named.as_deref(), model.as_deref(), &installed).map_err(to_error)?;
        Ok(to_json(&engine))
    }

    fn read(transcript: Vec<u8>) -> String {
        to_json(&Transcript::parse(&transcript))
    }

    fn closing(transcript: Vec<u8>, stamp: Stamp) -> String {
        Transcript::parse(&transcript).closing(stamp.now_ms)
    }
}
