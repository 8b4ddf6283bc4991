//! What is known of agents' clients: how they are called, their slash commands and MCP servers, where they keep sessions. Asked by
//! the name of a question: a function of its own for each would make every page that has a store larger.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use js_sys::Uint8Array;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;

use crate::agents::from_json;
use crate::operation::unknown;
use crate::{Answer, bytes, small, thrown};
use leftoff::interop::commands::{self, Command};
use leftoff::interop::kept::{self, Names, System};
use leftoff::interop::native::{self, Client};
use leftoff::interop::servers::{self, Server};
use leftoff::interop::{AgentName, opencode};
use leftoff::json::text::to_json;
use leftoff::layout::names;

/// Who works, on what.
#[derive(Deserialize)]
struct Where {
    #[serde(default)]
    project: String,
    user: String,
    variables: BTreeMap<String, String>,
    #[serde(default)]
    system: System,
}

/// The command of a session: its name, the hash by which it was kept, whose session it was, and the commands of each agent.
#[derive(Deserialize)]
struct Asked {
    name: String,
    kept: Option<String>,
    own: Option<String>,
    candidates: Vec<(String, Vec<Command>)>,
}

/// Answers a question, JSON. `words`: an array of what it asks with, JSON; `files`: the bytes that it is about.
#[wasm_bindgen(js_name = ofClients)]
pub fn of_clients(name: &str, words: &[u8], files: &[u8]) -> Answer<Uint8Array> {
    let answer = match name.split_once('.') {
        Some(("client", rest)) => client(rest, words)?,
        Some(("command", rest)) => command(rest, words, files)?,
        Some(("server", rest)) => server(rest, words)?,
        Some(("place", rest)) => place(rest, words, files)?,
        Some(_) | None => None,
    };
    answer.map(|json| bytes(&json)).ok_or_else(|| small(&unknown()))
}

/// The sessions of such a group of files of OpenCode's folders as `place.groups` tells, or of all: they may be long, and cross as they
/// are. `lengths`: how long each file is in `files`.
#[wasm_bindgen(js_name = sessionsOfTree)]
pub fn sessions_of_tree(paths: Vec<String>, lengths: &[u32], files: &[u8]) -> Vec<String> {
    opencode::sessions_of_tree(&filled(paths, lengths, files))
}

fn client(name: &str, words: &[u8]) -> Answer<Option<String>> {
    Ok(match name {
        "all" => told(&AgentName::ALL.map(AgentName::as_str)),
        "written" => told(&native::agents().map(AgentName::as_str).collect::<Vec<_>>()),
        "meant" => {
            let (typed,): (String,) = asked(words)?;
            told(&AgentName::find_meant(&typed).map(AgentName::as_str))
        }
        "format" => {
            let (agent,): (String,) = asked(words)?;
            told(&native::format_of(of(&agent)?).map_err(thrown)?.as_str())
        }
        "program" => {
            let (agent,): (String,) = asked(words)?;
            let client = Client::of(of(&agent)?).map_err(thrown)?;
            told(&(client.program, client.installs()))
        }
        "reads" => {
            let (agent,): (String,) = asked(words)?;
            told(&AgentName::parse(&agent).and_then(Client::of).ok().and_then(|client| client.reads()))
        }
        "goingOn" => {
            let (agent, variables): (String, BTreeMap<String, String>) = asked(words)?;
            told(&kept::going_on(of(&agent)?, &variables))
        }
        "isSameFolder" => {
            let (agent, one, other, system): (String, String, String, System) = asked(words)?;
            told(&kept::is_same_folder(of(&agent)?, &one, &other, system))
        }
        _ => None,
    })
}

fn command(name: &str, words: &[u8], file: &[u8]) -> Answer<Option<String>> {
    Ok(match name {
        "type" => {
            let (command,): (String,) = asked(words)?;
            told(&names::command_type(&command))
        }
        "agents" => told(&commands::AGENTS.map(AgentName::as_str)),
        "folders" => {
            let (agent, Where { project, user, variables, .. }): (String, Where) = asked(words)?;
            let agent = AgentName::parse(&agent).ok();
            told(
                &agent.map(|agent| commands::folders(agent, &project, &user, &variables)).unwrap_or_default(),
            )
        }
        "is" => {
            let (agent, below): (String, String) = asked(words)?;
            told(&AgentName::parse(&agent).is_ok_and(|agent| commands::name_of(agent, &below).is_some()))
        }
        "in" => {
            let (agent, below, prompt): (String, String, Option<String>) = asked(words)?;
            told(&commands::read(of(&agent)?, &below, file, prompt.as_deref()))
        }
        "called" => {
            let (name, all): (String, Vec<Command>) = asked(words)?;
            told(&commands::called(&name, &all))
        }
        "filled" => {
            let (text, arguments): (String, String) = asked(words)?;
            told(&commands::filled(&text, &arguments))
        }
        _ => return behind(name, words),
    })
}

// Of the command behind a conversation; the last word is what the user said first in it.
fn behind(name: &str, words: &[u8]) -> Answer<Option<String>> {
    Ok(match name {
        "mayHaveBegun" => {
            let (agent, first): (String, Vec<String>) = asked(words)?;
            let may = |agent| commands::may_have_begun(agent, &texts(&first));
            told(&AgentName::parse(&agent).is_ok_and(may))
        }
        "began" => {
            let (agent, all, first): (String, Vec<Command>, Vec<String>) = asked(words)?;
            told(&commands::began(of(&agent)?, &texts(&first), &all))
        }
        "arguments" => {
            let (agent, command, first): (String, Command, Vec<String>) = asked(words)?;
            told(&commands::arguments(of(&agent)?, &command, &texts(&first)))
        }
        "now" => {
            let (Asked { name, kept, own, candidates }, first): (Asked, Vec<String>) = asked(words)?;
            let candidates: Answer<Vec<_>> =
                candidates.into_iter().map(|(agent, all)| Ok((of(&agent)?, all))).collect();
            // Of an agent that nobody knows there are no commands.
            let own = own.as_deref().and_then(|own| AgentName::parse(own).ok());
            told(&commands::now(&name, kept.as_deref(), own, &candidates?, &texts(&first)))
        }
        _ => None,
    })
}

fn server(name: &str, words: &[u8]) -> Answer<Option<String>> {
    Ok(match name {
        "places" => {
            let (agent, Where { project, user, variables, .. }): (String, Where) = asked(words)?;
            let agent = AgentName::parse(&agent).ok();
            told(&agent.and_then(|agent| servers::places(agent, &project, &user, &variables)))
        }
        "on" => {
            let (all,): (Vec<Server>,) = asked(words)?;
            told(&all.into_iter().filter(Server::is_on).map(|server| server.name).collect::<Vec<_>>())
        }
        "tool" => {
            let (server,): (String,) = asked(words)?;
            told(&servers::tool_of(&server))
        }
        _ => None,
    })
}

fn place(name: &str, words: &[u8], files: &[u8]) -> Answer<Option<String>> {
    Ok(match name {
        "all" => {
            let (Where { project, user, variables, system },) = asked(words)?;
            told(&kept::kept(&project, &user, &variables, system))
        }
        "is" => {
            let (names, below): (Names, String) = asked(words)?;
            told(&names.has(&below))
        }
        "beside" => {
            let (path,): (String,) = asked(words)?;
            told(&kept::beside(&path))
        }
        "isTree" => {
            let (folders,): (Vec<String>,) = asked(words)?;
            told(&kept::is_tree(&texts(&folders)))
        }
        "first" => {
            let (paths,): (Vec<String>,) = asked(words)?;
            told(&opencode::read_first(&texts(&paths)))
        }
        "groups" => {
            let (paths, first, lengths): (Vec<String>, Vec<String>, Vec<u32>) = asked(words)?;
            told(&opencode::groups(&texts(&paths), &filled(first, &lengths, files)))
        }
        _ => None,
    })
}

fn asked<T: DeserializeOwned>(words: &[u8]) -> Answer<T> {
    from_json(words, "what a question about a client asks with")
}

fn told(answer: &impl Serialize) -> Option<String> {
    Some(to_json(answer))
}

fn of(agent: &str) -> Answer<AgentName> {
    AgentName::parse(agent).map_err(thrown)
}

fn filled(paths: Vec<String>, lengths: &[u32], all: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut rest = all;
    let mut next = |length: &u32| {
        let (file, behind) = rest.split_at(*length as usize);
        rest = behind;
        file.to_vec()
    };
    paths.into_iter().zip(lengths.iter().map(&mut next)).collect()
}

fn texts(all: &[String]) -> Vec<&str> {
    all.iter().map(String::as_str).collect()
}
