//! Exports a session as one text, for people or for programs. It takes the messages one by one and returns the text in
//! parts, so that nobody has to hold a session twice.

#[cfg(feature = "interop")]
mod atif;
mod json;
mod markdown;

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::{Code, Error};
use crate::json::fields::Fields;
use crate::json::indent::indent_json;
use crate::record::message::Message;
#[cfg(feature = "interop")]
use atif::Trajectory;

/// The format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// For programs: metadata, messages and tool executions, complete.
    Json,
    /// For people: metadata and messages.
    Markdown,
    /// For evaluation and training: messages as steps, in ATIF 1.8.
    #[cfg(feature = "interop")]
    Atif,
}

impl ExportFormat {
    /// Reads a format's name, JSON.
    ///
    /// # Errors
    /// `invalid_request` for any other name.
    pub fn parse(name: &str) -> Result<ExportFormat, Error> {
        match name {
            "\"json\"" => Ok(ExportFormat::Json),
            "\"markdown\"" => Ok(ExportFormat::Markdown),
            #[cfg(feature = "interop")]
            "\"atif\"" => Ok(ExportFormat::Atif),
            _ => {
                let message =
                    format!("expected json, markdown, atif or leftoff to export, but found {name} instead");
                Err(Error::new(Code::InvalidRequest, message))
            }
        }
    }
}

/// An export in progress: [`begin`](Export::begin), then [`message`](Export::message) and
/// [`execution`](Export::execution) for each that is included, then [`end`](Export::end); each returns the next part.
///
/// The inclusion is decided first, by [`has_message`](Export::has_message) for all messages and then by
/// [`has_execution`](Export::has_execution): so the outgoing content can be checked in between.
#[derive(Debug)]
pub struct Export {
    shape: ExportFormat,
    all_branches: bool,
    /// The ids of excluded messages, and of the calls that they answer.
    excluded_ids: BTreeSet<String>,
    messages: usize,
    executions: usize,
    #[cfg(feature = "interop")]
    trajectory: Trajectory,
}

impl Export {
    /// Exports the messages of the current path, or of all branches.
    pub fn new(shape: ExportFormat, all_branches: bool) -> Export {
        Export {
            shape,
            all_branches,
            excluded_ids: BTreeSet::new(),
            messages: 0,
            executions: 0,
            #[cfg(feature = "interop")]
            trajectory: Trajectory::default(),
        }
    }

    /// Returns the format.
    pub fn shape(&self) -> ExportFormat {
        self.shape
    }

    /// True if a message is included. `answers` is the id of the call that it answers.
    pub fn has_message(&mut self, id: &str, answers: Option<&str>, is_on_path: bool) -> bool {
        let has = is_on_path || self.all_branches;
        if !has {
            self.excluded_ids.extend([Some(id), answers].into_iter().flatten().map(String::from));
        }
        has
    }

    /// True if a tool execution is included. It is not if the message that made its call is excluded, or, if that
    /// message is unknown, the message with its result.
    pub fn has_execution(&self, message_id: Option<&str>, call_id: &str) -> bool {
        let by = message_id.filter(|id| !id.is_empty()).unwrap_or(call_id);
        !self.excluded_ids.contains(by)
    }

    /// Begins the text, with the session's metadata, JSON.
    ///
    /// # Errors
    /// `invalid_json` if it is no object.
    pub fn begin(&mut self, metadata: &str) -> Result<String, Error> {
        let fields = object(metadata, "metadata")?;
        Ok(match self.shape {
            ExportFormat::Json => {
                format!("{{\n  \"metadata\": {},\n  \"messages\": [", indent_json(metadata, 1))
            }
            ExportFormat::Markdown => markdown::render_heading(fields),
            #[cfg(feature = "interop")]
            ExportFormat::Atif => self.trajectory.begin(metadata),
        })
    }

    /// Returns the part for the next message, given as its stored JSON.
    ///
    /// # Errors
    /// `invalid_json` if it is no object.
    pub fn message(&mut self, message: &str) -> Result<String, Error> {
        let fields = object(message, "a message")?;
        Ok(match self.shape {
            ExportFormat::Json => {
                self.messages += 1;
                json::render_item(message, self.messages == 1)
            }
            ExportFormat::Markdown => {
                let (message, is_on_path) = read_message(fields);
                self.section(&message, is_on_path)
            }
            #[cfg(feature = "interop")]
            ExportFormat::Atif => {
                let (message, is_on_path) = read_message(fields);
                self.trajectory.add_message(&message, is_on_path)
            }
        })
    }

    /// Like [`Export::message`], for Markdown, with a parsed message.
    pub(crate) fn section(&mut self, message: &Message, is_on_path: bool) -> String {
        self.messages += 1;
        let between = if self.messages == 1 { "" } else { "\n" };
        [between, &markdown::render_section(message, !is_on_path)].concat()
    }

    /// Returns the part for the next tool execution, given as its stored JSON; all messages must come before.
    ///
    /// # Errors
    /// `invalid_json` if it is no object.
    pub fn execution(&mut self, execution: &str) -> Result<String, Error> {
        object(execution, "a tool execution")?;
        self.executions += 1;
        Ok(match self.shape {
            ExportFormat::Json if self.executions == 1 => {
                [self.behind_messages(), &json::render_item(execution, true)].concat()
            }
            ExportFormat::Json => json::render_item(execution, false),
            ExportFormat::Markdown => String::new(),
            #[cfg(feature = "interop")]
            ExportFormat::Atif => String::new(),
        })
    }

    /// Ends the text.
    pub fn end(&mut self) -> String {
        match self.shape {
            ExportFormat::Json if self.executions == 0 => [self.behind_messages(), "]\n}\n"].concat(),
            ExportFormat::Json => "\n  ]\n}\n".into(),
            ExportFormat::Markdown => String::new(),
            #[cfg(feature = "interop")]
            ExportFormat::Atif => self.trajectory.end(),
        }
    }

    fn behind_messages(&self) -> &'static str {
        if self.messages == 0 { "],\n  \"toolExecutions\": [" } else { "\n  ],\n  \"toolExecutions\": [" }
    }
}

// Reads a stored message, and whether it is on the current path.
fn read_message(fields: Fields<'_>) -> (Message, bool) {
    let is_on_path = fields.raw("onPath") != Some("false");
    // It was read from a log, where every value has its kind.
    (Message::parse_copy(fields, &mut Vec::new()), is_on_path)
}

fn object<'a>(json: &'a str, what: &str) -> Result<Fields<'a>, Error> {
    let refused =
        |found| Error::new(Code::InvalidJson, format!("expected {what}, but found {found} instead"));
    Fields::parse(json).map_err(refused)
}
