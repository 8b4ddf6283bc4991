//! Facts about agents' clients: their names, slash commands and MCP servers, and where they keep sessions. One function
//! answers by a question's name: one for each question would make every page that has a store larger.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use js_sys::Uint8Array;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;

use crate::agents::from_json;
use crate::operation::unknown_operation_error;
use crate::{JsResult, to_js_bytes, to_js_error, to_js_value};
use leftoff::interop::commands::{self, Command};
use leftoff::interop::locations::{self, FilePattern, System};
use leftoff::interop::native::{self, Client};
use leftoff::interop::servers::{self, Server};
use leftoff::interop::{AgentName, opencode};
use leftoff::json::text::to_json;
use leftoff::layout::names;

/// The user's environment and project.
#[derive(Deserialize)]
struct ClientEnvironment {
    #[serde(default)]
    project: String,
    user: String,
    variables: BTreeMap<String, String>,
    #[serde(default)]
    system: System,
}

/// A session's command: its name, its stored hash, the session's agent, and the commands of each agent.
#[derive(Deserialize)]
struct CommandQuery {
    name: String,
    kept: Option<String>,
    own: Option<String>,
    candidates: Vec<(String, Vec<Command>)>,
}

/// Answers a question, JSON. `words`: its arguments, a JSON array; `files`: the bytes that it is about.
#[wasm_bindgen(js_name = ofClients)]
pub fn of_clients(name: &str, words: &[u8], files: &[u8]) -> JsResult<Uint8Array> {
    let answer = match name.split_once('.') {
        Some(("client", rest)) => answer_client(rest, words)?,
        Some(("command", rest)) => answer_command(rest, words, files)?,
        Some(("server", rest)) => answer_server(rest, words)?,
        Some(("place", rest)) => answer_place(rest, words, files)?,
        Some(_) | None => None,
    };
    answer.map(|json| to_js_bytes(&json)).ok_or_else(|| to_js_value(&unknown_operation_error()))
}

/// Reads the sessions of a group of OpenCode's files, as `place.groups` makes them, or of all: they may be long, and
/// cross as they are. `lengths`: each file's length in `files`.
#[wasm_bindgen(js_name = sessionsOfTree)]
pub fn sessions_of_tree(paths: Vec<String>, lengths: &[u32], files: &[u8]) -> Vec<String> {
    opencode::sessions_of_tree(&split_files(paths, lengths, files))
}

fn answer_client(name: &str, words: &[u8]) -> JsResult<Option<String>> {
    Ok(match name {
        "all" => json_answer(&AgentName::ALL.map(AgentName::as_str)),
        "written" => json_answer(&native::agents().map(AgentName::as_str).collect::<Vec<_>>()),
        "meant" => {
            let (typed,): (String,) = parse_words(words)?;
            json_answer(&AgentName::find_by_typed_name(&typed).map(AgentName::as_str))
        }
        "format" => {
            let (agent,): (String,) = parse_words(words)?;
            json_answer(&native::format_of(parse_agent(&agent)?).map_err(to_js_error)?.as_str())
        }
        "program" => {
            let (agent,): (String,) = parse_words(words)?;
            let client = Client::of(parse_agent(&agent)?).map_err(to_js_error)?;
            json_answer(&(client.program, client.install_command()))
        }
        "reads" => {
            let (agent,): (String,) = parse_words(words)?;
            json_answer(
                &AgentName::parse(&agent).and_then(Client::of).ok().and_then(|client| client.output_limit()),
            )
        }
        "goingOn" => {
            let (agent, variables): (String, BTreeMap<String, String>) = parse_words(words)?;
            json_answer(&locations::running_session_marker(parse_agent(&agent)?, &variables))
        }
        "isSameFolder" => {
            let (agent, one, other, system): (String, String, String, System) = parse_words(words)?;
            json_answer(&locations::is_same_folder(parse_agent(&agent)?, &one, &other, system))
        }
        _ => None,
    })
}

fn answer_command(name: &str, words: &[u8], file: &[u8]) -> JsResult<Option<String>> {
    Ok(match name {
        "type" => {
            let (command,): (String,) = parse_words(words)?;
            json_answer(&names::command_type(&command))
        }
        "agents" => json_answer(&commands::AGENTS.map(AgentName::as_str)),
        "folders" => {
            let (agent, ClientEnvironment { project, user, variables, .. }): (String, ClientEnvironment) =
                parse_words(words)?;
            let agent = AgentName::parse(&agent).ok();
            json_answer(
                &agent
                    .map(|agent| commands::command_folders(agent, &project, &user, &variables))
                    .unwrap_or_default(),
            )
        }
        "is" => {
            let (agent, below): (String, String) = parse_words(words)?;
            json_answer(
                &AgentName::parse(&agent).is_ok_and(|agent| commands::command_name(agent, &below).is_some()),
            )
        }
        "in" => {
            let (agent, below, prompt): (String, String, Option<String>) = parse_words(words)?;
            json_answer(&commands::read_command(parse_agent(&agent)?, &below, file, prompt.as_deref()))
        }
        "called" => {
            let (name, all): (String, Vec<Command>) = parse_words(words)?;
            json_answer(&commands::find_command(&name, &all))
        }
        "filled" => {
            let (text, arguments): (String, String) = parse_words(words)?;
            json_answer(&commands::fill_arguments(&text, &arguments))
        }
        _ => return answer_starting_command(name, words),
    })
}

// Finds the command behind a conversation; the last word is what the user said first in it.
fn answer_starting_command(name: &str, words: &[u8]) -> JsResult<Option<String>> {
    Ok(match name {
        "mayHaveBegun" => {
            let (agent, first): (String, Vec<String>) = parse_words(words)?;
            let may = |agent| commands::may_have_starting_command(agent, &as_strs(&first));
            json_answer(&AgentName::parse(&agent).is_ok_and(may))
        }
        "began" => {
            let (agent, all, first): (String, Vec<Command>, Vec<String>) = parse_words(words)?;
            json_answer(&commands::find_starting_command(parse_agent(&agent)?, &as_strs(&first), &all))
        }
        "arguments" => {
            let (agent, command, first): (String, Command, Vec<String>) = parse_words(words)?;
            json_answer(&commands::find_arguments(parse_agent(&agent)?, &command, &as_strs(&first)))
        }
        "now" => {
            let (CommandQuery { name, kept, own, candidates }, first): (CommandQuery, Vec<String>) =
                parse_words(words)?;
            let candidates: JsResult<Vec<_>> =
                candidates.into_iter().map(|(agent, all)| Ok((parse_agent(&agent)?, all))).collect();
            // An unknown agent has no commands.
            let own = own.as_deref().and_then(|own| AgentName::parse(own).ok());
            json_answer(&commands::current_command(
                &name,
                kept.as_deref(),
                own,
                &candidates?,
                &as_strs(&first),
            ))
        }
        _ => None,
    })
}

fn answer_server(name: &str, words: &[u8]) -> JsResult<Option<String>> {
    Ok(match name {
        "places" => {
            let (agent, ClientEnvironment { project, user, variables, .. }): (String, ClientEnvironment) =
                parse_words(words)?;
            let agent = AgentName::parse(&agent).ok();
            json_answer(
                &agent.and_then(|agent| servers::server_locations(agent, &project, &user, &variables)),
            )
        }
        "on" => {
            let (all,): (Vec<Server>,) = parse_words(words)?;
            json_answer(&all.into_iter().filter(Server::is_on).map(|server| server.name).collect::<Vec<_>>())
        }
        "tool" => {
            let (server,): (String,) = parse_words(words)?;
            json_answer(&servers::tool_prefix(&server))
        }
        _ => None,
    })
}

fn answer_place(name: &str, words: &[u8], files: &[u8]) -> JsResult<Option<String>> {
    Ok(match name {
        "all" => {
            let (ClientEnvironment { project, user, variables, system },) = parse_words(words)?;
            json_answer(&locations::transcript_locations(&project, &user, &variables, system))
        }
        "is" => {
            let (names, below): (FilePattern, String) = parse_words(words)?;
            json_answer(&names.matches(&below))
        }
        "beside" => {
            let (path,): (String,) = parse_words(words)?;
            json_answer(&locations::companion_paths(&path))
        }
        "isTree" => {
            let (folders,): (Vec<String>,) = parse_words(words)?;
            json_answer(&locations::is_opencode_tree(&as_strs(&folders)))
        }
        "first" => {
            let (paths,): (Vec<String>,) = parse_words(words)?;
            json_answer(&opencode::paths_to_read_first(&as_strs(&paths)))
        }
        "groups" => {
            let (paths, first, lengths): (Vec<String>, Vec<String>, Vec<u32>) = parse_words(words)?;
            json_answer(&opencode::session_groups(&as_strs(&paths), &split_files(first, &lengths, files)))
        }
        _ => None,
    })
}

fn parse_words<T: DeserializeOwned>(words: &[u8]) -> JsResult<T> {
    from_json(words, "what a question about a client asks with")
}

fn json_answer(answer: &impl Serialize) -> Option<String> {
    Some(to_json(answer))
}

fn parse_agent(agent: &str) -> JsResult<AgentName> {
    AgentName::parse(agent).map_err(to_js_error)
}

fn split_files(paths: Vec<String>, lengths: &[u32], all: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut rest = all;
    let mut next = |length: &u32| {
        let (file, behind) = rest.split_at(*length as usize);
        rest = behind;
        file.to_vec()
    };
    paths.into_iter().zip(lengths.iter().map(&mut next)).collect()
}

fn as_strs(all: &[String]) -> Vec<&str> {
    all.iter().map(String::as_str).collect()
}
