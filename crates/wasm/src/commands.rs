//! Slash commands and MCP servers as agents' clients keep them, and the conversation that goes on in one.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use js_sys::Uint8Array;
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use crate::agents::from_json;
use crate::kept::{Where, texts};
use crate::{Answer, bytes, thrown};
use leftoff::interop::commands::{self, Command};
use leftoff::interop::native::Client;
use leftoff::interop::{AgentName, kept, servers};
use leftoff::json::text::to_json;
use leftoff::layout::names;

const COMMANDS: &str = "an array of commands";

/// The type of the conversations that a slash command begins.
#[wasm_bindgen(js_name = commandType)]
pub fn command_type(command: &str) -> Option<String> {
    names::command_type(command).map(String::from)
}

/// The agents whose commands are known.
#[wasm_bindgen(js_name = commandAgents)]
pub fn command_agents() -> Vec<String> {
    commands::AGENTS.into_iter().map(|agent| agent.as_str().into()).collect()
}

/// The folders that may hold commands of an agent; none of one that nobody knows. `asked`: `{"project","user","variables"}`, JSON.
#[wasm_bindgen(js_name = commandFolders)]
pub fn command_folders(agent: &str, asked: &[u8]) -> Answer<Vec<String>> {
    let Ok(agent) = AgentName::parse(agent) else { return Ok(Vec::new()) };
    let Where { project, user, variables, .. } = from_json(asked, "who works, and where")?;
    Ok(commands::folders(agent, &project, &user, &variables))
}

/// Whether a file in such a folder is a command's, by its path from there, with `/`.
#[wasm_bindgen(js_name = isCommand)]
pub fn is_command(agent: &str, below: &str) -> bool {
    AgentName::parse(agent).is_ok_and(|agent| commands::name_of(agent, below).is_some())
}

/// A command of a file in such a folder, JSON; nothing where it is none.
#[wasm_bindgen(js_name = commandIn)]
pub fn command_in(
    agent: &str,
    below: &str,
    file: &[u8],
    prompt: Option<String>,
) -> Answer<Option<Uint8Array>> {
    let agent = AgentName::parse(agent).map_err(thrown)?;
    Ok(commands::read(agent, below, file, prompt.as_deref()).map(|command| bytes(&to_json(&command))))
}

/// Which of some commands has a name, or begins the same type of conversations. `all`: JSON.
#[wasm_bindgen(js_name = commandCalled)]
pub fn command_called(name: &str, all: &[u8]) -> Answer<Option<Uint8Array>> {
    let all: Vec<Command> = from_json(all, COMMANDS)?;
    Ok(commands::called(name, &all).map(|command| bytes(&to_json(command))))
}

/// Whether commands have to be looked up to say which began a conversation.
#[wasm_bindgen(js_name = commandMayHaveBegun)]
pub fn command_may_have_begun(agent: &str, first: Vec<String>) -> bool {
    AgentName::parse(agent).is_ok_and(|agent| commands::may_have_begun(agent, &texts(&first)))
}

/// Which of some commands began a conversation, `{"name","hash"}`. `first`: what the user said first; `all`: JSON.
#[wasm_bindgen(js_name = commandBegan)]
pub fn command_began(agent: &str, first: Vec<String>, all: &[u8]) -> Answer<Option<Uint8Array>> {
    let agent = AgentName::parse(agent).map_err(thrown)?;
    let all: Vec<Command> = from_json(all, COMMANDS)?;
    Ok(commands::began(agent, &texts(&first), &all).map(|began| bytes(&to_json(&began))))
}

/// What a command was called with. `command`: JSON.
#[wasm_bindgen(js_name = commandArguments)]
pub fn command_arguments(agent: &str, command: &[u8], first: Vec<String>) -> Answer<String> {
    let agent = AgentName::parse(agent).map_err(thrown)?;
    Ok(commands::arguments(agent, &from_json(command, "a command")?, &texts(&first)))
}

/// A command's text with what it is called with.
#[wasm_bindgen(js_name = commandFilled)]
pub fn command_filled(text: &str, arguments: &str) -> String {
    commands::filled(text, arguments)
}

#[derive(Deserialize)]
struct Asked {
    name: String,
    kept: Option<String>,
    own: Option<String>,
    candidates: Vec<(String, Vec<Command>)>,
}

/// What the command of a session is now, `{"text","promptHash"}`. `asked`: `{"name","kept","own","candidates"}`, JSON, with the
/// commands of each agent, `[["agent",[...]]]`; `first`: what the user said first.
#[wasm_bindgen(js_name = commandNow)]
pub fn command_now(asked: &[u8], first: Vec<String>) -> Answer<Uint8Array> {
    let Asked { name, kept, own, candidates } = from_json(asked, "the command of a session")?;
    let agent = |name: &str| AgentName::parse(name).map_err(thrown);
    let candidates =
        candidates.into_iter().map(|(name, all)| Ok((agent(&name)?, all))).collect::<Answer<Vec<_>>>()?;
    // Of an agent that nobody knows there are no commands.
    let own = own.as_deref().and_then(|own| AgentName::parse(own).ok());
    Ok(bytes(&to_json(&commands::now(&name, kept.as_deref(), own, &candidates, &texts(&first)))))
}

/// The files of an agent's client that name MCP servers, `[{"path","keys"}]`; nothing of an agent whose files nobody knows.
#[wasm_bindgen(js_name = serverPlaces)]
pub fn server_places(agent: &str, asked: &[u8]) -> Answer<Option<Uint8Array>> {
    let Ok(agent) = AgentName::parse(agent) else { return Ok(None) };
    let Where { project, user, variables, .. } = from_json(asked, "who works, and where")?;
    Ok(servers::places(agent, &project, &user, &variables).map(|places| bytes(&to_json(&places))))
}

/// The names of the servers that are on. `all`: `[{"name","enabled","disabled"}]`, JSON.
#[wasm_bindgen(js_name = serversOn)]
pub fn servers_on(all: &[u8]) -> Answer<Vec<String>> {
    let all: Vec<servers::Server> = from_json(all, "servers")?;
    Ok(all.into_iter().filter(servers::Server::is_on).map(|server| server.name).collect())
}

/// What the tools of a server are called by.
#[wasm_bindgen(js_name = serverTool)]
pub fn server_tool(server: &str) -> String {
    servers::tool_of(server)
}

/// What stands in the path of the record of the conversation in which a program was started. `variables`: JSON.
#[wasm_bindgen(js_name = goingOn)]
pub fn going_on(agent: &str, variables: &[u8]) -> Answer<Option<String>> {
    let agent = AgentName::parse(agent).map_err(thrown)?;
    let variables: BTreeMap<String, String> = from_json(variables, "variables")?;
    Ok(kept::going_on(agent, &variables))
}

/// Whether two paths are of one folder to an agent.
#[wasm_bindgen(js_name = isSameFolder)]
pub fn is_same_folder(agent: &str, one: &str, other: &str, is_windows: bool) -> Answer<bool> {
    let agent = AgentName::parse(agent).map_err(thrown)?;
    let system = if is_windows { kept::System::Windows } else { kept::System::Other };
    Ok(kept::is_same_folder(agent, one, other, system))
}

/// So many bytes of what a command prints in an agent's client reach the model; nothing where there is no limit.
#[wasm_bindgen(js_name = clientReads)]
pub fn client_reads(agent: &str) -> Option<f64> {
    let client = AgentName::parse(agent).and_then(Client::of).ok()?;
    client.reads().map(|bytes| bytes as f64)
}
