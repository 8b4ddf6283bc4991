//! Other agents' sessions and the providers' message shapes. Only the files in here know a foreign format.

pub mod claude_code;
pub mod messages;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Serialize;

use crate::error::{Code, Error};
use crate::session::event::Parent;
use crate::session::message::Message;
use crate::session::scan::Problem;

/// An agent whose sessions can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum AgentName {
    /// Anthropic's Claude Code.
    #[serde(rename = "claude-code")]
    ClaudeCode,
}

impl AgentName {
    /// The word as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            AgentName::ClaudeCode => "claude-code",
        }
    }

    /// The agent of this name.
    ///
    /// # Errors
    /// `unknown_format` for an agent whose sessions cannot be read.
    pub fn parse(name: &str) -> Result<AgentName, Error> {
        let message = || {
            format!("expected an agent whose sessions can be read (claude-code), but found {name:?} instead")
        };
        let known = Some(AgentName::ClaudeCode).filter(|agent| agent.as_str() == name);
        known.ok_or_else(|| Error::new(Code::UnknownFormat, message()))
    }
}

/// What an agent's file holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Import {
    /// The conversation, and those of its sub-agents.
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
    /// The id it has there.
    pub source_id: String,
    /// For a sub-agent's conversation: who called it.
    pub parent: Option<Parent>,
    /// The title that the user or the agent gave.
    pub title: Option<String>,
    /// The folder it was held in.
    pub folder: Option<String>,
    /// The model of the newest answer.
    pub model: Option<String>,
    /// The messages, in order.
    pub messages: Vec<Message>,
    /// What was not taken over.
    pub losses: Vec<Loss>,
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

/// Reads an agent's file. A format is known by its content; `name`, the file's name without its ending, serves only
/// where the content says no id.
///
/// # Errors
/// `empty_file`; `unknown_format`, saying what the file begins with.
pub fn read(bytes: &[u8], name: &str) -> Result<Import, Error> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(Error::new(
            Code::EmptyFile,
            "expected an agent's session, but found an empty file instead",
        ));
    }
    match claude_code::read(bytes, name) {
        Some(import) => Ok(import),
        None => {
            let first: String =
                String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).escape_debug().to_string();
            let message =
                format!("expected a session of claude-code, but found a file that begins with \"{first}\"");
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
