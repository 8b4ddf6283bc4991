//! Reading other agents' files: a module of its own, which only an import loads.

use alloc::string::String;
use alloc::vec::Vec;

use js_sys::Uint8Array;
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::context::Format;
use crate::interop::fresh::Fresh;
use crate::interop::native::{self, About};
use crate::interop::{self, AgentName, Loss, messages};
use crate::session::event::Parent;
use crate::session::message::Message;
use crate::session::scan::Problem;
use crate::text::to_json;
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
