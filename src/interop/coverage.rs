//! The coverage of each reader: the fields of an agent's files that it knows.

use crate::interop::{
    AgentName, aider, ask, claude_code, cline, codex, continue_dev, copilot, cortext, gemini, leftoff,
    nanocoder, opencode, pi, qwen, vscode,
};

/// The fields that a reader knows. A field in neither list, nor inside one of `whole_fields`, is listed as lost.
#[derive(Clone, Copy, Debug)]
pub struct Coverage {
    /// The versions of the client whose files the reader is tested with, oldest first.
    pub tested_versions: &'static [&'static str],
    /// The fields that are taken over.
    pub mapped_fields: &'static [&'static str],
    /// The fields that are taken over with all that is in them.
    pub whole_fields: &'static [&'static str],
}

/// Returns the coverage of an agent's reader.
pub fn coverage(agent: AgentName) -> Coverage {
    match agent {
        AgentName::ClaudeCode => claude_code::COVERAGE,
        AgentName::Codex => codex::COVERAGE,
        AgentName::Nanocoder => nanocoder::COVERAGE,
        AgentName::Gemini => gemini::COVERAGE,
        AgentName::Qwen => qwen::COVERAGE,
        AgentName::OpenCode => opencode::COVERAGE,
        AgentName::Pi => pi::COVERAGE,
        AgentName::Cline => cline::COVERAGE,
        AgentName::Continue => continue_dev::COVERAGE,
        AgentName::Aider => aider::COVERAGE,
        AgentName::Cortext => cortext::COVERAGE,
        AgentName::VsCode => vscode::COVERAGE,
        AgentName::Copilot => copilot::COVERAGE,
        AgentName::Ask => ask::COVERAGE,
        AgentName::Leftoff => leftoff::COVERAGE,
    }
}
