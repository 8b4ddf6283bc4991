//! The agents whose sessions are known.

use alloc::format;
use alloc::string::String;

use serde::Serialize;

use crate::error::{Code, Error};
use crate::nearest::distance;

/// An agent, by its name on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentName {
    /// Anthropic's Claude Code.
    ClaudeCode,
    /// OpenAI's Codex CLI.
    Codex,
    /// OpenCode.
    #[serde(rename = "opencode")]
    OpenCode,
    /// Google's Gemini CLI.
    Gemini,
    /// Qwen Code.
    Qwen,
    /// GitHub's Copilot CLI.
    Copilot,
    /// Cline.
    Cline,
    /// Continue.
    Continue,
    /// Aider.
    Aider,
    /// Nanocoder.
    Nanocoder,
    /// Pi.
    Pi,
    /// Cortext.
    Cortext,
    /// The chats of VS Code itself, which Copilot Chat answers.
    #[serde(rename = "vscode")]
    VsCode,
    /// `leftoff ask`.
    Ask,
    /// leftoff itself, which is no agent: a session that a store exported as one file.
    Leftoff,
}

impl AgentName {
    /// All agents.
    pub const ALL: [AgentName; 14] = [
        AgentName::ClaudeCode,
        AgentName::Codex,
        AgentName::OpenCode,
        AgentName::Gemini,
        AgentName::Qwen,
        AgentName::Copilot,
        AgentName::Cline,
        AgentName::Continue,
        AgentName::Aider,
        AgentName::Nanocoder,
        AgentName::Pi,
        AgentName::Cortext,
        AgentName::VsCode,
        AgentName::Ask,
    ];

    /// Returns the agent's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            AgentName::ClaudeCode => "claude-code",
            AgentName::Codex => "codex",
            AgentName::OpenCode => "opencode",
            AgentName::Gemini => "gemini",
            AgentName::Qwen => "qwen",
            AgentName::Copilot => "copilot",
            AgentName::Cline => "cline",
            AgentName::Continue => "continue",
            AgentName::Aider => "aider",
            AgentName::Nanocoder => "nanocoder",
            AgentName::Pi => "pi",
            AgentName::Cortext => "cortext",
            AgentName::VsCode => "vscode",
            AgentName::Ask => "ask",
            AgentName::Leftoff => "leftoff",
        }
    }

    /// Returns the agent of this name.
    ///
    /// # Errors
    /// `invalid_request` for a name that is none.
    pub fn parse(name: &str) -> Result<AgentName, Error> {
        let message = || {
            let names = AgentName::ALL.map(AgentName::as_str).join(", ");
            format!("expected an agent's name ({names}), but found {name:?} instead")
        };
        let known =
            AgentName::ALL.into_iter().chain([AgentName::Leftoff]).find(|agent| agent.as_str() == name);
        known.ok_or_else(|| Error::new(Code::InvalidRequest, message()))
    }

    /// Checks the name of who holds a conversation: an agent's, or a name of its own for any other program.
    ///
    /// # Errors
    /// `invalid_request` for what is no name, and for another spelling of an agent's name.
    pub fn check_source_name(name: &str) -> Result<(), Error> {
        if AgentName::parse(name).is_ok() {
            return Ok(());
        }
        let meant = AgentName::find_by_typed_name(name).map(AgentName::as_str).or_else(|| {
            let known = AgentName::ALL.map(AgentName::as_str);
            let is_near = |known: &&str| known.len() > MAX_EXACT_NAME_BYTES && distance(name, known) == 1;
            known.into_iter().find(is_near)
        });
        let is_kept = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let is_name = name.starts_with(|first: char| first.is_ascii_lowercase())
            && name.len() <= MAX_SOURCE_NAME_BYTES
            && name.bytes().all(is_kept);
        let message = match meant {
            Some(meant) => format!("expected {meant:?}, an agent's name, but found {name:?} instead"),
            None if !is_name => format!(
                "expected an agent's name, or a program's of at most {MAX_SOURCE_NAME_BYTES} small letters, digits and \
                 hyphens, but found {name:?} instead"
            ),
            None => return Ok(()),
        };
        Err(Error::new(Code::InvalidRequest, message))
    }

    /// Finds the agent that a person means: by its name, however its words are joined, with or without its maker's name
    /// and the kind of program.
    pub fn find_by_typed_name(typed: &str) -> Option<AgentName> {
        let typed = normalize_name(typed);
        let is_called = |agent: &AgentName| normalize_name(agent.as_str()) == typed;
        let exact = AgentName::ALL.into_iter().find(is_called);
        let core = without_maker_and_kind(&typed);
        let is_called_alike = |agent: &AgentName| match agent {
            AgentName::ClaudeCode => core == "claude",
            _ => core == agent.as_str(),
        };
        exact.or_else(|| AgentName::ALL.into_iter().find(is_called_alike))
    }
}

/// The longest name of a program.
const MAX_SOURCE_NAME_BYTES: usize = 64;
/// An agent's name of so few letters is one letter from too many others.
const MAX_EXACT_NAME_BYTES: usize = 4;
const MAKERS: [&str; 6] = ["github", "google", "openai", "anthropic", "alibaba", "sst"];
const NAME_SUFFIXES: [&str; 4] = ["codingagent", "agent", "code", "cli"];

fn normalize_name(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

fn without_maker_and_kind(name: &str) -> &str {
    let name = MAKERS.iter().find_map(|maker| name.strip_prefix(maker)).unwrap_or(name);
    // "opencode" ends in a kind, but is no "open".
    let is_name = AgentName::ALL.iter().any(|agent| agent.as_str() == name);
    if is_name { name } else { NAME_SUFFIXES.iter().find_map(|kind| name.strip_suffix(kind)).unwrap_or(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_found_by_the_names_that_people_have_for_it() {
        let cases = [
            ("claude", AgentName::ClaudeCode),
            ("Claude Code", AgentName::ClaudeCode),
            ("anthropic-claude-code", AgentName::ClaudeCode),
            ("claude_cli", AgentName::ClaudeCode),
            ("openai-codex", AgentName::Codex),
            ("codex-cli", AgentName::Codex),
            ("open-code", AgentName::OpenCode),
            ("sst/opencode", AgentName::OpenCode),
            ("gemini-cli", AgentName::Gemini),
            ("google-gemini-cli", AgentName::Gemini),
            ("qwen-code", AgentName::Qwen),
            ("github-copilot", AgentName::Copilot),
            ("copilot-cli", AgentName::Copilot),
            ("pi-coding-agent", AgentName::Pi),
            ("VS Code", AgentName::VsCode),
            ("vs-code", AgentName::VsCode),
        ];
        for (typed, agent) in cases {
            assert_eq!(AgentName::find_by_typed_name(typed), Some(agent), "{typed}");
        }
        for agent in AgentName::ALL {
            assert_eq!(AgentName::find_by_typed_name(agent.as_str()), Some(agent));
        }
        for typed in ["", "open", "code", "cli", "github", "cloud"] {
            assert_eq!(AgentName::find_by_typed_name(typed), None, "{typed}");
        }
    }

    #[test]
    fn a_source_is_an_agent_or_a_program_with_a_name_of_its_own() {
        for name in ["claude-code", "ask", "openai-agents", "my-app", "a", "x2"] {
            assert_eq!(AgentName::check_source_name(name), Ok(()), "{name}");
        }
        let long = "a".repeat(MAX_SOURCE_NAME_BYTES + 1);
        for name in
            ["", "claude", "Codex", "open-code", "opencoed", "clien", "My App", "-x", "2x", "a/b", &long]
        {
            assert!(AgentName::check_source_name(name).is_err(), "{name}");
        }
    }
}
