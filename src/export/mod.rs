//! A session as one text, for people or for other programs: it takes the messages one after another and gives the pieces of
//! the text, so that nobody has to hold a session twice.

mod json;
mod markdown;

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::{Code, Error};
use crate::json::fields::Fields;
use crate::json::indent::indented;
use crate::record::message::Message;

/// What the text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// For programs: metadata, messages and tool executions, whole.
    Json,
    /// For people: metadata and messages.
    Markdown,
}

impl Shape {
    /// Reads its name, JSON.
    ///
    /// # Errors
    /// `invalid_request` where it is none.
    pub fn parse(name: &str) -> Result<Shape, Error> {
        match name {
            "\"json\"" => Ok(Shape::Json),
            "\"markdown\"" => Ok(Shape::Markdown),
            _ => {
                let message =
                    format!("expected json, markdown or leftoff to export, but found {name} instead");
                Err(Error::new(Code::InvalidRequest, message))
            }
        }
    }
}

/// A text that is being made: [`begin`](Export::begin), then [`message`](Export::message) and
/// [`execution`](Export::execution) for each that it has, then [`end`](Export::end); each gives the next piece.
///
/// Which it has is asked first, by [`has_message`](Export::has_message) of all messages and then by
/// [`has_execution`](Export::has_execution): so what leaves can be looked at in between.
#[derive(Debug)]
pub struct Export {
    shape: Shape,
    all_branches: bool,
    /// Messages that are not in it, and the calls that they answer.
    elsewhere: BTreeSet<String>,
    messages: usize,
    executions: usize,
}

impl Export {
    /// With the messages of the current path, or of all branches.
    pub fn new(shape: Shape, all_branches: bool) -> Export {
        Export { shape, all_branches, elsewhere: BTreeSet::new(), messages: 0, executions: 0 }
    }

    /// What the text is.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Whether a message is in it. `answers`: the id of the call that it answers.
    pub fn has_message(&mut self, id: &str, answers: Option<&str>, is_on_path: bool) -> bool {
        let has = is_on_path || self.all_branches;
        if !has {
            self.elsewhere.extend([Some(id), answers].into_iter().flatten().map(String::from));
        }
        has
    }

    /// Whether a tool execution is in it: not where the message that made the call is not, or, where nobody knows which
    /// that was, its answer.
    pub fn has_execution(&self, message_id: Option<&str>, call_id: &str) -> bool {
        let by = message_id.filter(|id| !id.is_empty()).unwrap_or(call_id);
        !self.elsewhere.contains(by)
    }

    /// How the text begins: with the session's metadata, JSON.
    ///
    /// # Errors
    /// `invalid_json` where it is no object.
    pub fn begin(&mut self, metadata: &str) -> Result<String, Error> {
        let fields = object(metadata, "metadata")?;
        Ok(match self.shape {
            Shape::Json => format!("{{\n  \"metadata\": {},\n  \"messages\": [", indented(metadata, 1)),
            Shape::Markdown => markdown::heading(fields),
        })
    }

    /// The next message, JSON as it is read.
    ///
    /// # Errors
    /// `invalid_json` where it is no object.
    pub fn message(&mut self, message: &str) -> Result<String, Error> {
        let fields = object(message, "a message")?;
        Ok(match self.shape {
            Shape::Json => {
                self.messages += 1;
                json::item(message, self.messages == 1)
            }
            Shape::Markdown => {
                let is_on_path = fields.raw("onPath") != Some("false");
                // It was read from a log, where everything has its kind.
                self.section(&Message::copied(fields, &mut Vec::new()), is_on_path)
            }
        })
    }

    /// The same of Markdown, as it was read.
    pub(crate) fn section(&mut self, message: &Message, is_on_path: bool) -> String {
        self.messages += 1;
        let between = if self.messages == 1 { "" } else { "\n" };
        [between, &markdown::section(message, !is_on_path)].concat()
    }

    /// The next tool execution, JSON as it is read; all messages come before.
    ///
    /// # Errors
    /// `invalid_json` where it is no object.
    pub fn execution(&mut self, execution: &str) -> Result<String, Error> {
        object(execution, "a tool execution")?;
        self.executions += 1;
        Ok(match self.shape {
            Shape::Json if self.executions == 1 => {
                [self.behind_messages(), &json::item(execution, true)].concat()
            }
            Shape::Json => json::item(execution, false),
            Shape::Markdown => String::new(),
        })
    }

    /// How the text ends.
    pub fn end(&self) -> String {
        match self.shape {
            Shape::Json if self.executions == 0 => [self.behind_messages(), "]\n}\n"].concat(),
            Shape::Json => "\n  ]\n}\n".into(),
            Shape::Markdown => String::new(),
        }
    }

    fn behind_messages(&self) -> &'static str {
        if self.messages == 0 { "],\n  \"toolExecutions\": [" } else { "\n  ],\n  \"toolExecutions\": [" }
    }
}

fn object<'a>(json: &'a str, what: &str) -> Result<Fields<'a>, Error> {
    let refused =
        |found| Error::new(Code::InvalidJson, format!("expected {what}, but found {found} instead"));
    Fields::parse(json).map_err(refused)
}
