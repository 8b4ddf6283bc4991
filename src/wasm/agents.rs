//! Reading other agents' files: a module of its own, which only an import loads.

use alloc::string::String;
use alloc::vec::Vec;

use js_sys::Uint8Array;
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::interop::{self, Loss};
use crate::session::event::Parent;
use crate::session::message::Message;
use crate::session::scan::Problem;
use crate::text::to_json;
use crate::wasm::{Answer, bytes, thrown};

/// Reads an agent's file: JSON `{"sessions":[...],"problems":[...]}`, the messages in leftoff's shape.
#[wasm_bindgen(js_name = readTranscript)]
pub fn read_transcript(file: &[u8], name: &str) -> Answer<Uint8Array> {
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
    let import = interop::read(file, name, None).map_err(thrown)?;
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
