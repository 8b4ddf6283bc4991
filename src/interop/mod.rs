//! Other agents' sessions and the providers' message shapes. Only the files in here know a foreign format.

mod agent;
pub mod aider;
pub mod ask;
mod beside;
pub mod claude_code;
pub mod cline;
pub mod codex;
pub mod commands;
pub mod continue_dev;
mod conversation;
pub mod copilot;
pub mod cortext;
mod coverage;
pub mod fresh;
pub mod gemini;
mod import;
pub mod kept;
pub mod leftoff;
mod lines;
mod located;
mod loss;
pub mod nanocoder;
pub mod native;
mod object;
pub mod opencode;
mod parts;
pub mod pi;
mod plain;
pub mod qwen;
mod refusal;
pub mod servers;
pub mod talk;
mod torn;
mod transcript;
mod typed;
mod version;

use alloc::format;

use crate::error::{Code, Error};
use crate::plain::wrapping::is_about_place;
use crate::record::message::{Message, Role};
use crate::session::title;

pub use agent::AgentName;
pub use coverage::{Coverage, coverage};
pub use import::{Import, ImportedSession, SubAgent};
pub use loss::Loss;
use object::{Losses, Object, Reasons};
pub use transcript::Transcript;
pub use typed::{IS_QUEUED, TypedPrompts};

/// Whether bytes are a session of one agent.
type Knows = fn(&[u8]) -> bool;

/// Whose session these bytes are, by their content alone; nothing where no reader knows them.
pub fn detect(bytes: &[u8]) -> Option<AgentName> {
    // The cheapest first: of Claude Code's files any line may be the first that tells.
    let known: [(AgentName, Knows); 14] = [
        (AgentName::Leftoff, leftoff::knows),
        (AgentName::Ask, ask::knows),
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
/// `empty_file`; `too_deep`; `unknown_format`, saying what was expected and what the file begins with.
pub fn read(bytes: &[u8], name: &str, from: Option<AgentName>) -> Result<Import, Error> {
    read_with(bytes, name, from, None)
}

/// The same with what the agent says of the session in another file, where there is one: `agent-<id>.meta.json` beside
/// Claude Code's sub-agents, `.project_root` or `projects.json` of Gemini CLI, `<id>.json` of Cline, `sessions.json` of
/// Continue.
///
/// # Errors
/// Those of [`read`]; `empty_file` where nobody said anything, neither the user nor the agent.
pub fn read_with(
    bytes: &[u8],
    name: &str,
    from: Option<AgentName>,
    beside: Option<&[u8]>,
) -> Result<Import, Error> {
    let Some(agent) = from.or_else(|| detect(bytes)) else {
        // Whatever else is wrong with it, the reader that takes any line says.
        let error = claude_code::read(bytes, name)
            .err()
            .filter(|error| !matches!(error.code, Code::UnknownFormat | Code::TooDeep));
        let names = AgentName::ALL.map(AgentName::as_str).join(", ");
        return Err(error.unwrap_or_else(|| lines::unknown(bytes, &names)));
    };
    let mut import = read_by(agent, bytes, name)?;
    let found = import.sessions.len();
    // What a client tells the model by itself is no conversation yet.
    import.sessions.retain(|session| session.messages.iter().any(|message| is_said(agent, message)));
    if import.sessions.is_empty() && found > 0 {
        let agent = agent.as_str();
        let message = format!("expected a session of {agent}, but nothing was said in this one");
        return Err(Error::new(Code::EmptyFile, message));
    }
    if let Some(beside) = beside {
        beside::take(&mut import, agent, name, beside);
    }
    Ok(import)
}

fn is_said(agent: AgentName, message: &Message) -> bool {
    match message.role {
        Some(Role::Assistant | Role::Tool) => true,
        // Claude Code marks the words of a command, too, that the user typed.
        Some(Role::User) if agent == AgentName::ClaudeCode => !message.is_marked("isAttached"),
        Some(Role::User) => !message.is_marked("isMeta") && !is_about_place(message.content.as_str()),
        Some(Role::System) | None => false,
    }
}

fn read_by(agent: AgentName, bytes: &[u8], name: &str) -> Result<Import, Error> {
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
        AgentName::Aider => aider::read(bytes, name),
        AgentName::Cortext => cortext::read(bytes, name),
        AgentName::Copilot => copilot::read(bytes, name),
        AgentName::Ask => ask::read(bytes, name),
        AgentName::Leftoff => leftoff::read(bytes),
    }?;
    for session in &mut import.sessions {
        session.title = session.title.take().and_then(title::given);
    }
    Ok(import)
}
