//! The agents whose sessions are known.

use alloc::format;

use serde::Serialize;

use crate::error::{Code, Error};

/// An agent, by the name that the command line has for it.
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
    /// `leftoff ask`.
    Ask,
    /// leftoff itself, which is no agent: a session that a store exported as one file.
    Leftoff,
}

impl AgentName {
    /// All agents.
    pub const ALL: [AgentName; 13] = [
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
        AgentName::Ask,
    ];

    /// The word as it is written.
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
            AgentName::Ask => "ask",
            AgentName::Leftoff => "leftoff",
        }
    }

    /// The agent of this name.
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
}
