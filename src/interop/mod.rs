//! Readers of other agents' sessions, and writers of them. Only the files in here know a foreign format.
//!
//! The readers are a WebAssembly module of their own, 1.8 MB, compressed, since the core is loaded at every start. It
//! is loaded by imports, native exports, finding sessions, the trash, the history as text, and the list on the command
//! line. It is compiled for speed, the core for size: the readers take gigabytes in two thirds of the time, and are
//! twice as large.

mod agent;
pub mod aider;
pub mod ask;
mod attachment_address;
pub mod claude_code;
pub mod cline;
pub mod codex;
pub mod commands;
mod companion_files;
mod content_parts;
pub mod continue_dev;
mod conversation;
pub mod copilot;
pub mod cortext;
mod coverage;
pub mod gemini;
mod import;
pub mod import_diff;
pub mod leftoff;
mod lines;
pub mod locations;
mod loss;
pub mod nanocoder;
pub mod native;
mod object;
pub mod opencode;
pub mod pi;
mod plain_content;
pub mod qwen;
mod refusal;
pub mod servers;
pub mod talk;
mod torn_lines;
mod transcript;
mod typed_prompts;
mod version;
pub mod vscode;

use alloc::format;

use crate::error::{Code, Error};
use crate::plain::wrapping::is_about_place;
use crate::record::message::{Message, Role};
use crate::session::title;

pub use agent::AgentName;
pub use coverage::{Coverage, coverage};
pub use import::{Import, ImportedSession, SubAgent};
pub use loss::Loss;
use object::{LossReasons, Losses, Object};
pub use transcript::Transcript;
pub use typed_prompts::{QUEUED_KEY, TypedPrompts};

/// Tells whether bytes are a session of one agent.
type CanRead = fn(&[u8]) -> bool;

/// Names the agent whose session these bytes are, by their content alone; `None` if no reader knows them.
pub fn detect(bytes: &[u8]) -> Option<AgentName> {
    // The cheapest first: in Claude Code's files any line may be the first that tells.
    let known: [(AgentName, CanRead); 15] = [
        (AgentName::Leftoff, leftoff::is_session_file),
        (AgentName::Ask, ask::can_read),
        (AgentName::Codex, codex::can_read),
        (AgentName::Nanocoder, nanocoder::can_read),
        (AgentName::Gemini, gemini::can_read),
        (AgentName::Qwen, qwen::can_read),
        (AgentName::OpenCode, opencode::can_read),
        (AgentName::Pi, pi::can_read),
        (AgentName::Cline, cline::can_read),
        (AgentName::Continue, continue_dev::can_read),
        (AgentName::Cortext, cortext::can_read),
        // Its transcripts have Copilot CLI's events.
        (AgentName::VsCode, vscode::can_read),
        (AgentName::Copilot, copilot::can_read),
        (AgentName::ClaudeCode, claude_code::can_read),
        (AgentName::Aider, aider::can_read),
    ];
    known.into_iter().find(|(_, knows)| knows(bytes)).map(|(agent, _)| agent)
}

/// Reads an agent's file. `name`, the file's path, serves only if the content gives no id; `from` is the agent that
/// the caller believes it is, else the content decides.
///
/// # Errors
/// `empty_file`; `too_deep`; `unknown_format`, saying what was expected and what the file begins with.
pub fn read(bytes: &[u8], name: &str, from: Option<AgentName>) -> Result<Import, Error> {
    read_with(bytes, name, from, None)
}

/// Reads an agent's file together with its companion file, if there is one: `agent-<id>.meta.json` beside
/// Claude Code's sub-agents, `.project_root` or `projects.json` of Gemini CLI, `<id>.json` of Cline, `sessions.json` of
/// Continue, `workspace.json` of VS Code.
///
/// # Errors
/// Those of [`read`]; `empty_file` if nobody said anything, neither the user nor the agent.
pub fn read_with(
    bytes: &[u8],
    name: &str,
    from: Option<AgentName>,
    beside: Option<&[u8]>,
) -> Result<Import, Error> {
    let Some(agent) = from.or_else(|| detect(bytes)) else {
        // The reader that takes any line names whatever else is wrong with the file.
        let error = claude_code::read(bytes, name)
            .err()
            .filter(|error| !matches!(error.code, Code::UnknownFormat | Code::TooDeep));
        let names = AgentName::ALL.map(AgentName::as_str).join(", ");
        return Err(error.unwrap_or_else(|| lines::unknown_format_error(bytes, &names)));
    };
    let mut import = read_by(agent, bytes, name)?;
    let found = import.sessions.len();
    // Messages that a client sends the model by itself are no conversation yet.
    import.sessions.retain(|session| session.messages.iter().any(|message| is_spoken(agent, message)));
    if import.sessions.is_empty() && found > 0 {
        let agent = agent.as_str();
        let message = format!("expected a session of {agent}, but nothing was said in this one");
        return Err(Error::new(Code::EmptyFile, message));
    }
    if let Some(beside) = beside {
        companion_files::apply_companion(&mut import, agent, name, beside);
    }
    Ok(import)
}

fn is_spoken(agent: AgentName, message: &Message) -> bool {
    match message.role {
        Some(Role::Assistant | Role::Tool) => true,
        // Claude Code marks the text of a command, too, that the user typed.
        Some(Role::User) if agent == AgentName::ClaudeCode => !message.has_source_mark("isAttached"),
        Some(Role::User) => !message.has_source_mark("isMeta") && !is_about_place(message.content.as_str()),
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
        AgentName::VsCode => vscode::read(bytes, name),
        AgentName::Ask => ask::read(bytes, name),
        AgentName::Leftoff => leftoff::read(bytes),
    }?;
    for session in &mut import.sessions {
        session.title = session.title.take().and_then(title::accept_given_title);
    }
    Ok(import)
}
