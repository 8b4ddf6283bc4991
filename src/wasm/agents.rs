//! What is needed now and then, a module of its own: reading and writing other agents' files, finding and searching.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use js_sys::Uint8Array;
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::context::Format;
use crate::error::{Code, Error};
use crate::interop::fresh::Fresh;
use crate::interop::native::{self, About};
use crate::interop::{self, AgentName, Loss, messages};
use crate::resume::search::Search;
use crate::resume::{find, listing};
use crate::session::event::Parent;
use crate::session::message::Message;
use crate::session::scan::Problem;
use crate::text::to_json;
use crate::time::Stamp;
use crate::wasm::{Answer, bytes, thrown, utf8};

/// The names of the agents that are known.
#[wasm_bindgen(js_name = agentNames)]
pub fn agent_names() -> Vec<String> {
    AgentName::ALL.into_iter().map(|agent| agent.as_str().into()).collect()
}

/// Reads a file of the agent that is named, or that the content tells: JSON `{"sessions":[...],"problems":[...]}`, the messages in leftoff's shape.
#[wasm_bindgen(js_name = readTranscript)]
pub fn read_transcript(file: &[u8], name: &str, from: Option<String>) -> Answer<Uint8Array> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Read<'a> {
        id: &'a str,
        agent: &'a str,
        source_id: &'a str,
        parent: &'a Option<Parent>,
        title: &'a Option<String>,
        folder: &'a Option<String>,
        model: &'a Option<String>,
        losses: &'a [Loss],
        messages: &'a [Message],
    }
    #[derive(Serialize)]
    struct Transcript<'a> {
        sessions: Vec<Read<'a>>,
        problems: &'a [Problem],
    }
    let from = from.map(|from| AgentName::parse(&from)).transpose().map_err(thrown)?;
    let import = interop::read(file, name, from).map_err(thrown)?;
    let sessions = import.sessions.iter().map(|session| Read {
        id: &session.id,
        agent: session.agent,
        source_id: &session.source_id,
        parent: &session.parent,
        title: &session.title,
        folder: &session.folder,
        model: &session.model,
        losses: &session.losses,
        messages: &session.messages,
    });
    Ok(bytes(&to_json(&Transcript { sessions: sessions.collect(), problems: &import.problems })))
}

/// The shape in which an agent's provider counts.
#[wasm_bindgen(js_name = formatOf)]
pub fn format_of(agent: &str) -> Answer<String> {
    let agent = AgentName::parse(agent).map_err(thrown)?;
    native::format_of(agent).map(|format| format.as_str().into()).map_err(thrown)
}

/// Writes a session of an agent: messages, JSON bytes in leftoff's shape, and `{"id","folder","place","gitBranch",
/// "title","model","nowMs"}`. Gives `{"path","text","id","losses"}`, JSON.
#[wasm_bindgen(js_name = writeNative)]
pub fn write_native(agent: &str, messages: &[u8], about: &[u8]) -> Answer<Uint8Array> {
    let agent = AgentName::parse(agent).map_err(thrown)?;
    let messages = messages::read(utf8(messages)?, Format::Leftoff).map_err(thrown)?;
    let about = About::from_json(utf8(about)?).map_err(thrown)?;
    native::write(agent, &messages, &about).map(|native| bytes(&to_json(&native))).map_err(thrown)
}

/// What of an import a log does not hold yet; see `Fresh`.
#[wasm_bindgen(js_name = Fresh)]
pub struct FreshHandle(Fresh);

#[wasm_bindgen(js_class = Fresh)]
impl FreshHandle {
    /// Of these messages, JSON bytes in leftoff's shape.
    #[wasm_bindgen(constructor)]
    pub fn new(messages: &[u8]) -> Answer<FreshHandle> {
        let messages = messages::read(utf8(messages)?, Format::Leftoff).map_err(thrown)?;
        Ok(FreshHandle(Fresh::new(messages)))
    }

    /// Takes the next bytes of the log.
    pub fn feed(&mut self, log: &[u8]) {
        self.0.feed(log);
    }

    /// There are no more bytes. Gives the messages to append, a JSON array.
    pub fn finish(self) -> Uint8Array {
        bytes(&to_json(&self.0.finish()))
    }
}

/// The places of those that have the words, the best first. `all`: JSON, for each what it is known by, its title first.
#[wasm_bindgen]
pub fn ranked(words: &str, all: &[u8]) -> Answer<Vec<u32>> {
    let wrong = |error| {
        let message = format!("expected an array of arrays of texts, but found something else: {error}");
        thrown(Error::new(Code::InvalidJson, message))
    };
    let all: Vec<find::Known> = serde_json::from_slice(all).map_err(wrong)?;
    Ok(find::ranked(words, &all).into_iter().filter_map(|place| u32::try_from(place).ok()).collect())
}

/// Looks for words in logs; see `Search`.
#[wasm_bindgen(js_name = Search)]
pub struct SearchHandle(Search);

#[wasm_bindgen(js_class = Search)]
impl SearchHandle {
    /// For these words.
    #[wasm_bindgen(constructor)]
    pub fn new(words: &str) -> SearchHandle {
        SearchHandle(Search::new(words))
    }

    /// Where the lines begin and end that have to be looked at, the newest first.
    pub fn lines(&self, bytes: &[u8]) -> Vec<u32> {
        let lines = self.0.lines(bytes).into_iter();
        lines.flat_map(|line| [line.start, line.end]).filter_map(|at| u32::try_from(at).ok()).collect()
    }

    /// What a line says: `{"type":"none"}`, `{"type":"hit",...}` or `{"type":"needs","blob"}`, JSON.
    pub fn line(&mut self, line: &[u8]) -> Uint8Array {
        bytes(&to_json(&self.0.line(line)))
    }

    /// The words in their place: `[{"text","isHit"}]`, JSON.
    pub fn excerpt(&self, text: &str) -> Uint8Array {
        bytes(&to_json(&self.0.excerpt(text)))
    }

    /// Takes a blob that was wanted.
    pub fn blob(&mut self, id: &str, blob: Option<Vec<u8>>) -> Uint8Array {
        bytes(&to_json(&self.0.blob(id, blob.as_deref())))
    }
}

/// A list as a person reads it: of JSON bytes, the sessions as lists have them.
#[wasm_bindgen]
pub fn listing(items: &[u8], now_ms: f64, offset_minutes: i32) -> Answer<Uint8Array> {
    let wrong = |error| {
        let message = format!("expected sessions as lists have them, but found something else: {error}");
        thrown(Error::new(Code::InvalidJson, message))
    };
    let items: Vec<listing::Item> = serde_json::from_slice(items).map_err(wrong)?;
    let stamp = Stamp { now_ms: now_ms as i64, offset_minutes, entropy: [0; 32] };
    Ok(bytes(&listing::render(&items, &stamp)))
}
