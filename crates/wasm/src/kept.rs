//! Where agents keep their sessions, and what else lies beside one.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use js_sys::Uint8Array;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error as NoName;
use wasm_bindgen::prelude::*;

use crate::agents::from_json;
use crate::{Answer, bytes, thrown};
use leftoff::interop::AgentName;
use leftoff::interop::kept::{self, Names, System};
use leftoff::interop::opencode;
use leftoff::json::text::to_json;

/// Who works, on what.
#[derive(Deserialize)]
pub(crate) struct Where {
    #[serde(default)]
    pub project: String,
    pub user: String,
    pub variables: BTreeMap<String, String>,
    #[serde(default)]
    pub system: System,
}

/// The places of all agents, there or not. `asked`: `{"project","user","variables","system"}`, JSON; gives `[{"agent","path","names"}]`.
#[wasm_bindgen(js_name = keptSessions)]
pub fn kept_sessions(asked: &[u8]) -> Answer<Uint8Array> {
    let Where { project, user, variables, system } = from_json(asked, "who works, and where")?;
    Ok(bytes(&to_json(&kept::kept(&project, &user, &variables, system))))
}

/// Whether a file in such a place holds a session, by its path from there, with `/`.
#[wasm_bindgen(js_name = isKept)]
pub fn is_kept(names: &str, below: &str) -> bool {
    let names: Result<Names, NoName> = Names::deserialize(names.into_deserializer());
    names.is_ok_and(|names| names.has(below))
}

/// The folder in which an agent keeps what it has. `asked`: `{"user","variables"}`, JSON.
#[wasm_bindgen(js_name = homeOf)]
pub fn home_of(agent: &str, asked: &[u8]) -> Answer<Option<String>> {
    let agent = AgentName::parse(agent).map_err(thrown)?;
    let Where { user, variables, .. } = from_json(asked, "who works")?;
    Ok(kept::home_of(agent, &user, &variables))
}

/// Where else an agent says something of the session in a file, by its path with `/`: the first of these that is there counts.
#[wasm_bindgen]
pub fn beside(path: &str) -> Vec<String> {
    kept::beside(path)
}

/// Whether a folder with folders of these names is read as one file.
#[wasm_bindgen(js_name = isTree)]
pub fn is_tree(folders: Vec<String>) -> bool {
    kept::is_tree(&folders.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The sessions of such a folder: all files below it, by their paths from there, with `/`, how long each is, and what is in them.
#[wasm_bindgen(js_name = sessionsOfTree)]
pub fn sessions_of_tree(paths: Vec<String>, lengths: &[u32], all: &[u8]) -> Vec<String> {
    let mut rest = all;
    let mut next = |length: &u32| {
        let (file, behind) = rest.split_at(*length as usize);
        rest = behind;
        file.to_vec()
    };
    opencode::sessions_of_tree(&paths.into_iter().zip(lengths.iter().map(&mut next)).collect())
}
