//! Other agents' sessions and the providers' message shapes. Only the files in here know a foreign format.

pub mod claude_code;
pub mod fresh;
pub mod messages;
pub mod nanocoder;
mod pieces;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::error::{Code, Error};
use crate::fields::{Field, Fields, NotFields};
use crate::session::event::Parent;
use crate::session::message::Message;
use crate::session::scan::Problem;

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
}

const AGENTS: [AgentName; 12] = [
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
];

impl AgentName {
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
        }
    }

    /// The agent of this name.
    ///
    /// # Errors
    /// `unknown_format` for a name that is none.
    pub fn parse(name: &str) -> Result<AgentName, Error> {
        let message = || {
            let names = AGENTS.map(AgentName::as_str).join(", ");
            format!("expected an agent's name ({names}), but found {name:?} instead")
        };
        let known = AGENTS.into_iter().find(|agent| agent.as_str() == name);
        known.ok_or_else(|| Error::new(Code::UnknownFormat, message()))
    }
}

/// What an agent's file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Import {
    /// The conversation, and those of its sub-agents; never empty.
    pub sessions: Vec<ImportedSession>,
    /// What could not be read, with its place in the file.
    pub problems: Vec<Problem>,
}

/// One conversation from an agent's file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportedSession {
    /// The uuid it has here, the same at each import.
    pub id: String,
    /// The agent's name.
    pub agent: &'static str,
    /// The id it has there; of a sub-agent's conversation `<session>/<agent>`.
    pub source_id: String,
    /// For a sub-agent's conversation: who called it. Where the caller lies in another file, its uuid cannot be known
    /// from this one, and `session` is `<agent's name>/<source id>`.
    pub parent: Option<Parent>,
    /// The conversations that this one called for and that may lie in files of their own.
    pub sub_agents: Vec<SubAgent>,
    /// The title that the user or the agent gave.
    pub title: Option<String>,
    /// The folder it was begun in.
    pub folder: Option<String>,
    /// The git branch of its newest message.
    pub git_branch: Option<String>,
    /// The model of the newest answer.
    pub model: Option<String>,
    /// The version of the client that wrote the newest message.
    pub version: Option<String>,
    /// The time of its first record, in milliseconds since 1970.
    pub created_ms: Option<i64>,
    /// The time of its newest message, in milliseconds since 1970.
    pub last_ms: Option<i64>,
    /// The messages, in file order.
    pub messages: Vec<Message>,
    /// What was not taken over.
    pub losses: Vec<Loss>,
}

/// A sub-agent and the call that began it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SubAgent {
    /// The `source_id` of its conversation.
    pub source_id: String,
    /// The id of the call.
    pub call_id: String,
}

/// Something that an import leaves behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// What: `record:<type>`, or the path of a field.
    pub field: String,
    /// How often.
    pub count: u64,
    /// Why.
    pub why: &'static str,
}

/// Whose session these bytes are, by their content alone; nothing where no reader knows them.
pub fn detect(bytes: &[u8]) -> Option<AgentName> {
    if nanocoder::knows(bytes) {
        return Some(AgentName::Nanocoder);
    }
    claude_code::knows(bytes).then_some(AgentName::ClaudeCode)
}

/// Reads an agent's file. `name`, the file's name, serves only where the content says no id; `from` is the agent that
/// the caller believes it is, else the content tells.
///
/// # Errors
/// `empty_file`; `unknown_format`, saying what was expected and what the file begins with.
pub fn read(bytes: &[u8], name: &str, from: Option<AgentName>) -> Result<Import, Error> {
    let expected = from.or_else(|| detect(bytes)).unwrap_or(AgentName::ClaudeCode);
    match expected {
        AgentName::ClaudeCode => claude_code::read(bytes, name),
        AgentName::Nanocoder => nanocoder::read(bytes),
        AgentName::Codex
        | AgentName::OpenCode
        | AgentName::Gemini
        | AgentName::Qwen
        | AgentName::Copilot
        | AgentName::Cline
        | AgentName::Continue
        | AgentName::Aider
        | AgentName::Pi
        | AgentName::Cortext => {
            let found = expected.as_str();
            let message = format!(
                "expected a session of claude-code or nanocoder, but was asked to read one of {found}"
            );
            Err(Error::new(Code::UnknownFormat, message))
        }
    }
}

/// Counts what is left behind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Losses(BTreeMap<String, (u64, &'static str)>);

impl Losses {
    pub fn add(&mut self, field: String, why: &'static str) {
        self.0.entry(field).or_insert((0, why)).0 += 1;
    }

    pub fn merge(&mut self, other: Losses) {
        for (field, (count, why)) in other.0 {
            self.0.entry(field).or_insert((0, why)).0 += count;
        }
    }

    pub fn list(self) -> Vec<Loss> {
        self.0.into_iter().map(|(field, (count, why))| Loss { field, count, why }).collect()
    }
}

/// Why a field is lost whose value cannot be read.
pub(crate) const ANOTHER_KIND: &str = "its value is of another kind than expected";

/// An object of a foreign file, and where it stands: what is not taken out of it is listed as lost.
pub(crate) struct Object<'a> {
    path: String,
    fields: Fields<'a>,
}

impl<'a> Object<'a> {
    pub fn parse(path: impl Into<String>, json: &'a str) -> Result<Object<'a>, NotFields> {
        Ok(Object { path: path.into(), fields: Fields::parse(json)? })
    }

    pub fn has(&self, key: &str) -> bool {
        self.fields.has(key)
    }

    /// A field as it stands, left where it is.
    pub fn raw(&self, key: &str) -> Option<&'a str> {
        self.fields.raw(key)
    }

    /// Lists a field as lost that was taken, but cannot be used.
    pub fn lose(&self, key: &str, why: &'static str, losses: &mut Losses) {
        losses.add(format!("{}.{key}", self.path), why);
    }

    /// Names the place anew, once the object has said what it is.
    pub fn at(self, path: impl Into<String>) -> Object<'a> {
        Object { path: path.into(), ..self }
    }

    pub fn take<T: Field>(&mut self, key: &str, losses: &mut Losses) -> Option<T> {
        let mut bad = Vec::new();
        let value = self.fields.take(key, &mut bad);
        if !bad.is_empty() {
            self.lose(key, ANOTHER_KIND, losses);
        }
        value
    }

    pub fn take_raw(&mut self, key: &str) -> Option<&'a str> {
        self.fields.take_raw(key)
    }

    /// Lists what nobody took; `why` gives the reason for a path.
    pub fn leave(self, losses: &mut Losses, why: fn(&str) -> &'static str) {
        for name in self.fields.names() {
            let path = format!("{}.{name}", self.path);
            let why = why(&path);
            losses.add(path, why);
        }
    }
}
