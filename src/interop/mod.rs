//! Other agents' sessions and the providers' message shapes. Only the files in here know a foreign format.

mod agent;
pub mod aider;
pub mod claude_code;
pub mod cline;
pub mod codex;
pub mod continue_dev;
mod conversation;
pub mod copilot;
pub mod cortext;
mod coverage;
pub mod fresh;
pub mod gemini;
mod import;
mod lines;
mod located;
pub mod messages;
pub mod nanocoder;
pub mod native;
mod object;
pub mod opencode;
mod parts;
pub mod pi;
mod pieces;
pub mod qwen;
mod refusal;
mod version;

use crate::error::{Code, Error};
use crate::session::title;

pub use agent::AgentName;
pub use coverage::{Coverage, coverage};
pub use import::{Import, ImportedSession, Loss, SubAgent};
use object::{Losses, Object, Reasons};

/// Whether bytes are a session of one agent.
type Knows = fn(&[u8]) -> bool;

/// Whose session these bytes are, by their content alone; nothing where no reader knows them.
pub fn detect(bytes: &[u8]) -> Option<AgentName> {
    // The cheapest first: of Claude Code's files any line may be the first that tells.
    let known: [(AgentName, Knows); 12] = [
        (AgentName::Codex, codex::knows),
        (AgentName::Nanocoder, nanocoder::knows),
        (AgentName::Gemini, gemini::knows),
        (AgentName::Qwen, qwen::knows),
        (AgentName::OpenCode, opencode::knows),
        (AgentName::Pi, pi::knows),
        (AgentName::Cline, cline::knows),
        (AgentName::Continue, continue_dev::knows),
        (AgentName::Cortext, cortext::knows),
        (AgentName::Copilot, copilot::knows),
        (AgentName::ClaudeCode, claude_code::knows),
        (AgentName::Aider, aider::knows),
    ];
    known.into_iter().find(|(_, knows)| knows(bytes)).map(|(agent, _)| agent)
}

/// Reads an agent's file. `name`, the file's path, serves only where the content says no id; `from` is the agent that
/// the caller believes it is, else the content tells.
///
/// # Errors
/// `empty_file`; `unknown_format`, saying what was expected and what the file begins with.
pub fn read(bytes: &[u8], name: &str, from: Option<AgentName>) -> Result<Import, Error> {
    let Some(agent) = from.or_else(|| detect(bytes)) else {
        // Whatever else is wrong with it, the reader that takes any line says.
        let error = claude_code::read(bytes, name).err().filter(|error| error.code != Code::UnknownFormat);
        let names = AgentName::ALL.map(AgentName::as_str).join(", ");
        return Err(error.unwrap_or_else(|| lines::unknown(bytes, &names)));
    };
    let mut import = match agent {
        AgentName::ClaudeCode => claude_code::read(bytes, name),
        AgentName::Nanocoder => nanocoder::read(bytes),
        AgentName::Codex => codex::read(bytes, name),
        AgentName::OpenCode => opencode::read(bytes),
        AgentName::Gemini => gemini::read(bytes, name),
        AgentName::Qwen => qwen::read(bytes, name),
        AgentName::Pi => pi::read(bytes, name),
        AgentName::Cline => cline::read(bytes, name),
        AgentName::Continue => continue_dev::read(bytes),
        AgentName::Aider => aider::read(bytes),
        AgentName::Cortext => cortext::read(bytes, name),
        AgentName::Copilot => copilot::read(bytes, name),
    }?;
    for session in &mut import.sessions {
        session.title = session.title.take().and_then(title::given);
    }
    Ok(import)
}
