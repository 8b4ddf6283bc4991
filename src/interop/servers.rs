//! The MCP servers of an agent's client: the files that name them, and which of them are on.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::AgentName;
use super::locations::home_of;

/// The prefix of the names of servers' tools.
const SERVER_PREFIX: &str = "mcp__";

/// A place in a file where servers are named.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct ServerLocation {
    /// The file: TOML by its name, else JSON with comments.
    pub path: String,
    /// The keys that lead to the servers.
    pub keys: Vec<String>,
}

/// Returns the files in which an agent's client names servers; empty if nobody knows the agent's files.
pub fn server_locations(
    agent: AgentName,
    project: &str,
    user: &str,
    variables: &BTreeMap<String, String>,
) -> Option<Vec<ServerLocation>> {
    let set = |name: &str| variables.get(name).filter(|value| !value.is_empty()).cloned();
    let home = home_of(agent, user, variables).unwrap_or_default();
    let at = |path: String, keys: &[&str]| ServerLocation {
        path,
        keys: keys.iter().map(|key| (*key).into()).collect(),
    };
    match agent {
        AgentName::ClaudeCode => {
            let own = format!("{}/.claude.json", set("CLAUDE_CONFIG_DIR").unwrap_or_else(|| user.into()));
            Some(Vec::from([
                at(format!("{project}/.mcp.json"), &["mcpServers"]),
                at(own.clone(), &["mcpServers"]),
                at(own, &["projects", project, "mcpServers"]),
            ]))
        }
        AgentName::Codex => Some(Vec::from([
            at(format!("{home}/config.toml"), &["mcp_servers"]),
            at(format!("{project}/.codex/config.toml"), &["mcp_servers"]),
        ])),
        AgentName::Gemini => Some(Vec::from([
            at(format!("{home}/settings.json"), &["mcpServers"]),
            at(format!("{project}/.gemini/settings.json"), &["mcpServers"]),
        ])),
        AgentName::OpenCode => {
            let config = set("XDG_CONFIG_HOME").unwrap_or_else(|| format!("{user}/.config"));
            let folders = [format!("{config}/opencode"), project.into()];
            let files = ["opencode.json", "opencode.jsonc"];
            let of = |folder: String| files.map(|file| at(format!("{folder}/{file}"), &["mcp"]));
            Some(folders.into_iter().flat_map(of).collect())
        }
        _ => None,
    }
}

/// A server's entry in a file.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Server {
    /// The server's name.
    pub name: String,
    /// The entry's `enabled`, if it is true or false.
    pub enabled: Option<bool>,
    /// The entry's `disabled`, if it is true or false.
    pub disabled: Option<bool>,
}

impl Server {
    /// True if the server is on.
    pub fn is_on(&self) -> bool {
        self.enabled != Some(false) && self.disabled != Some(true)
    }
}

/// Returns the prefix of the names of a server's tools in a session.
pub fn tool_prefix(server: &str) -> String {
    let plain =
        |letter: char| if letter.is_ascii_alphanumeric() || "_-".contains(letter) { letter } else { '_' };
    format!("{SERVER_PREFIX}{}", server.chars().map(plain).collect::<String>())
}

/// Returns the full name, `mcp__SERVER__TOOL`, of a tool that an agent's client calls by a name of its own; `None` if
/// it belongs to none of these servers, each given as `mcp__SERVER`.
pub fn full_tool_name(agent: AgentName, tool: &str, servers: &[String]) -> Option<String> {
    let befores: &[&str] = match agent {
        AgentName::Gemini | AgentName::Qwen => &["mcp_", "mcp__", ""],
        AgentName::OpenCode => &[""],
        _ => return None,
    };
    let of = |server: &String| {
        let name = server.strip_prefix(SERVER_PREFIX).filter(|name| !name.is_empty())?;
        let below = |before: &&str| {
            let rest = tool.strip_prefix(*before)?.strip_prefix(name)?;
            rest.strip_prefix("__").or_else(|| rest.strip_prefix('_')).filter(|rest| !rest.is_empty())
        };
        let rest = befores.iter().find_map(below)?;
        Some((name.len(), format!("{server}__{rest}")))
    };
    // One server's name may be the beginning of another's.
    servers.iter().filter_map(of).max_by_key(|(length, _)| *length).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_of_a_server_has_one_name_whatever_its_client_calls_it() {
        let servers = ["git hub", "git", "docs"].map(tool_prefix);
        let check = |agent, tool: &str, expected: Option<&str>| {
            assert_eq!(full_tool_name(agent, tool, &servers).as_deref(), expected, "{tool}");
        };
        check(AgentName::OpenCode, "git_hub_list_issues", Some("mcp__git_hub__list_issues"));
        check(AgentName::OpenCode, "git_log", Some("mcp__git__log"));
        check(AgentName::OpenCode, "read", None);
        check(AgentName::OpenCode, "docs", None);
        check(AgentName::OpenCode, "docs_", None);
        check(AgentName::Gemini, "mcp_docs_search", Some("mcp__docs__search"));
        check(AgentName::Gemini, "docs__search", Some("mcp__docs__search"));
        check(AgentName::Gemini, "mcp_other_search", None);
        // The names that these two use are full already.
        check(AgentName::ClaudeCode, "docs_search", None);
        check(AgentName::Codex, "docs__search", None);
    }
}
