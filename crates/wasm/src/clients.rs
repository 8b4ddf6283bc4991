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
use crate::{Answer, bytes};
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

/// Which files below such a folder have to be read before it can be told which are of one session, of all by their paths from there,
/// with `/`.
#[wasm_bindgen(js_name = firstOfTree)]
pub fn first_of_tree(paths: Vec<String>) -> Vec<String> {
    opencode::read_first(&texts(&paths))
}

/// Which files are of one session, JSON: an array of paths for each. `first`: those that were read, `lengths` how long each is, `all`
/// what is in them.
#[wasm_bindgen(js_name = groupsOfTree)]
pub fn groups_of_tree(paths: Vec<String>, first: Vec<String>, lengths: &[u32], all: &[u8]) -> Uint8Array {
    bytes(&to_json(&opencode::groups(&texts(&paths), &files(first, lengths, all))))
}

/// The session of such a group, or all of a folder.
#[wasm_bindgen(js_name = sessionsOfTree)]
pub fn sessions_of_tree(paths: Vec<String>, lengths: &[u32], all: &[u8]) -> Vec<String> {
    opencode::sessions_of_tree(&files(paths, lengths, all))
}

fn files(paths: Vec<String>, lengths: &[u32], all: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut rest = all;
    let mut next = |length: &u32| {
        let (file, behind) = rest.split_at(*length as usize);
        rest = behind;
        file.to_vec()
    };
    paths.into_iter().zip(lengths.iter().map(&mut next)).collect()
}

pub(crate) fn texts(all: &[String]) -> Vec<&str> {
    all.iter().map(String::as_str).collect()
}
