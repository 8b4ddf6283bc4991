//! Checkpoints: the state derived from a messages log up to a byte, so that opening reads only what came after.
//!
//! Derived and deletable. It is believed only where the last line it covers is still the same bytes at the same
//! place; see [`Checkpoint::matches_line`]. A log with branches has none: its paths need every id.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::error::{Code, Error};
use crate::json::fields::{BadValue, Fields, FromFields};
use crate::json::hash::sha256;
use crate::json::text::{is_default, to_json};
use crate::record::line::{self, Checksum};
use crate::record::message::{Message, Role};
use crate::record::scan::Record;
use crate::record::span::Span;
use crate::session::batch;
use crate::session::folded_state::FoldedState;
use crate::session::title::Titles;
use crate::time;
use crate::tokens::cost;

const CHECKPOINT_VERSION: u32 = 5;

/// The state derived from the covered bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Checkpoint {
    /// The version of this format.
    pub version: u32,
    /// How many bytes are covered.
    pub bytes: u64,
    /// The last covered line.
    pub last_line: Span,
    /// SHA-256 of the last covered line, hex; set in the saved form only.
    last_line_hash: String,
    // Id of a message that this checkpoint itself was given.
    #[serde(skip)]
    newest_user_id: Option<String>,
    // The line until it is hashed: the hash is needed when a checkpoint is saved, not for each message.
    #[serde(skip)]
    last_line_json: Option<String>,
    /// How many messages; a revised message counts once.
    pub messages: u64,
    /// Messages of role `user`.
    pub user_messages: u64,
    /// Messages of role `assistant`.
    pub assistant_messages: u64,
    /// Messages of role `tool`.
    pub tool_messages: u64,
    /// The sum of the stored token counts.
    pub tokens: u64,
    /// Time of the newest message, milliseconds since 1970.
    pub last_message_ms: Option<i64>,
    /// Titles made from the messages, for a session without a given one.
    pub titles: Titles,
    /// The id of the last message.
    pub last_id: Option<String>,
    /// The system messages.
    pub systems: Vec<Span>,
    /// The pinned messages.
    pub pins: Vec<PinnedMessage>,
    /// The newest user message.
    pub newest_user: Option<Span>,
    /// Its first line, where it was revised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest_user_first: Option<Span>,
    /// Repeated lines, and those of batches that do not count, in their order: they count for nothing, wherever they
    /// stand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repeated: Vec<Span>,
    /// Revisions that are the first line of their message: it stands there, not before all that was read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub firsts: Vec<Span>,
    /// Start of the first line that is a revision: what ends before it needs no look ahead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_revision: Option<u64>,
    /// The operations that counted, the newest [`batch::MAX_REMEMBERED`] of them, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<batch::CountedOperation>,
    /// Those of tool executions, the newest [`batch::MAX_REMEMBERED_TOOLS`] of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub of_tools: Vec<batch::CountedOperation>,
    /// A digest of the revised messages: what was made of them holds as long as it is the same.
    #[serde(skip_serializing_if = "is_default")]
    pub revised: u32,
    /// How many problems were found.
    pub problems: u64,
    /// The session state folded so far.
    pub learned: FoldedState,
}

/// A pinned message and its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PinnedMessage {
    /// The message's id.
    pub id: String,
    /// Its line.
    pub span: Span,
}

impl Checkpoint {
    /// Takes the next message. `is_new` is false for a revision.
    pub fn add_message(&mut self, record: Record, message: &Message, is_new: bool, is_pinned: bool) {
        let span = record.span();
        // An implausible count is made anew.
        let count = || {
            cost::trusted_count(&record, message)
                .map_or_else(|| cost::message(message, None).tokens, |tokens| tokens.count)
        };
        self.tokens += message.tokens.as_ref().filter(|_| is_new).map_or(0, |_| u64::from(count()));
        self.last_line = span;
        self.last_line_json = Some(record.json);
        // A revision stands in the place of its message.
        self.last_id = Some(&message.id).filter(|_| is_new).cloned().or(self.last_id.take());
        let said = message.timestamp.as_deref().and_then(time::parse);
        self.last_message_ms = self.last_message_ms.max(said);
        if is_pinned {
            self.pins.push(PinnedMessage { id: message.id.clone(), span });
        }
        match message.role {
            Some(Role::System) => self.systems.push(span),
            // A revision of an older one does not become the newest.
            Some(Role::User) if is_new || self.newest_user_id.as_ref() == Some(&message.id) => {
                let first = self.newest_user_first.or(self.newest_user);
                self.newest_user_first = first.filter(|_| !is_new);
                self.newest_user = Some(span);
                self.newest_user_id = Some(message.id.clone());
            }
            Some(Role::User) => {}
            Some(Role::Assistant | Role::Tool) | None => {}
        }
        if !is_new {
            return;
        }
        self.messages += 1;
        self.titles.add_message(message, span.start);
        match message.role {
            Some(Role::User) => self.user_messages += 1,
            Some(Role::Assistant) => self.assistant_messages += 1,
            Some(Role::Tool) => self.tool_messages += 1,
            Some(Role::System) | None => {}
        }
    }

    /// Skips lines that do not count, such as a repeated one, from `start` to the end of `record`.
    pub fn skip_lines(&mut self, start: u64, record: Record) {
        let span = Span { start, end: record.end };
        self.last_line = record.span();
        self.last_line_json = Some(record.json);
        // Writers repeat batches, rather than lines.
        match self.repeated.last_mut() {
            Some(last) if span.start <= last.end + 1 => last.end = span.end,
            Some(_) | None => self.repeated.push(span),
        }
    }

    /// Whether the log still holds the last covered line; `line` is what it has in [`Checkpoint::last_line`].
    pub fn matches_line(&self, line: &[u8]) -> bool {
        self.version == CHECKPOINT_VERSION
            && !self.last_line_hash.is_empty()
            && sha256(line) == self.last_line_hash
    }

    /// Whether it says the same of a log as another one. Not compared: what events decide; the problems of a damaged log,
    /// which may be found at another place; and the titles that it had while others read it.
    pub(crate) fn is_equivalent_to(&self, other: &Checkpoint) -> bool {
        let comparable = |one: &Checkpoint| {
            let titles = one.titles.clone().without_previous();
            let plain = Checkpoint { pins: Vec::new(), problems: 0, titles, ..one.clone() }.to_json();
            // Parsed, so that fields known to neither are in neither.
            Checkpoint::from_json(plain.as_bytes()).ok()
        };
        comparable(self).is_some() && comparable(self) == comparable(other)
    }

    /// Whether a line feed ends the covered bytes; a last line without one counts if it is whole.
    pub(crate) fn ends_line(&self) -> bool {
        self.bytes == 0 || self.last_line.end != self.bytes
    }

    /// Renders the checkpoint for saving.
    pub fn to_json(&self) -> String {
        let hash = self.last_line_json.as_ref().map(|line| sha256(line.as_bytes()));
        let last_line_hash = hash.unwrap_or_else(|| self.last_line_hash.clone());
        line::seal(to_json(&Checkpoint { version: CHECKPOINT_VERSION, last_line_hash, ..self.clone() }))
    }

    /// Reads a saved checkpoint.
    ///
    /// # Errors
    /// `invalid_json` where it is no checkpoint of this version, or not as it was written; the caller then reads the
    /// log.
    pub fn from_json(json: &[u8]) -> Result<Checkpoint, Error> {
        let none =
            || Error::new(Code::InvalidJson, "expected a checkpoint, but found something else instead");
        if line::checksum(json) != Checksum::Right {
            return Err(none());
        }
        let json = core::str::from_utf8(json).map_err(|_| none())?;
        let mut bad = Vec::new();
        let read =
            Checkpoint::from_fields(Fields::parse(json).map_err(|_| none())?, &mut bad).ok_or_else(none)?;
        if bad.is_empty() && read.version == CHECKPOINT_VERSION { Ok(read) } else { Err(none()) }
    }
}

impl FromFields for Checkpoint {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Checkpoint> {
        Some(Checkpoint {
            version: fields.take("version", bad)?,
            bytes: fields.take("bytes", bad)?,
            last_line: fields.take("lastLine", bad)?,
            last_line_hash: fields.take("lastLineHash", bad)?,
            newest_user_id: None,
            last_line_json: None,
            messages: fields.take("messages", bad)?,
            user_messages: fields.take("userMessages", bad)?,
            assistant_messages: fields.take("assistantMessages", bad)?,
            tool_messages: fields.take("toolMessages", bad)?,
            tokens: fields.take("tokens", bad)?,
            last_message_ms: fields.take("lastMessageMs", bad),
            titles: fields.take("titles", bad)?,
            last_id: fields.take("lastId", bad),
            systems: fields.take("systems", bad)?,
            pins: fields.take("pins", bad)?,
            newest_user_first: fields.take("newestUserFirst", bad),
            newest_user: fields.take("newestUser", bad),
            repeated: fields.take("repeated", bad).unwrap_or_default(),
            firsts: fields.take("firsts", bad).unwrap_or_default(),
            first_revision: fields.take("firstRevision", bad),
            operations: fields.take("operations", bad).unwrap_or_default(),
            of_tools: fields.take("ofTools", bad).unwrap_or_default(),
            revised: fields.take("revised", bad).unwrap_or_default(),
            problems: fields.take("problems", bad)?,
            learned: fields.take("learned", bad)?,
        })
    }
}

impl FromFields for PinnedMessage {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<PinnedMessage> {
        Some(PinnedMessage { id: fields.take("id", bad)?, span: fields.take("span", bad)? })
    }
}
