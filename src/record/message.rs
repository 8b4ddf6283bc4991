//! One line of `messages.jsonl`: a message with its tokens, calls and files; role, content and timestamp alone will do.
//!
//! Every field but `role` is optional to read. A line without an id gets one from its place and its bytes, so that
//! the same file always reads the same.

mod reading;

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::json::fields::{BadValue, Fields, reject};
use crate::json::text::{Extra, Open, Text, is_default, open_option};
use crate::record::batch;
use crate::record::id;
use crate::record::scan::{Problem, Record};
use crate::time;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Role {
    /// Instructions that are always in force.
    System,
    /// The person, or the program that acts for one.
    User,
    /// The model.
    Assistant,
    /// The result of one tool call.
    Tool,
}

/// A message as stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Message {
    /// Names the message; the same id with a higher `rev` is the same message, written again.
    pub id: String,
    /// A hint only: file order orders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The message this one follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// Absent where the stored value is none of the four; such a message is shown, and enters no context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// What was said, or what the tool answered.
    pub content: Text,
    /// What the message costs a context; believed only where the line's checksum is right.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "open_option")]
    pub tokens: Option<Tokens>,
    /// For role `tool`: the call that this answers.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "open_option")]
    pub tool: Option<Tool>,
    /// For role `assistant`: what only a model's answer has.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "open_option")]
    pub assistant: Option<Assistant>,
    /// Images and files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub attachments: Vec<Attachment>,
    /// The highest wins, at the place of the first.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub rev: u64,
    /// An answer that is not finished.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub partial: bool,
    /// This line leaves file order: a branch begins here.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub branch: bool,
    /// Where an imported line comes from.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "open_option")]
    pub source: Option<LineOrigin>,
    /// Fields that this version does not know.
    #[serde(skip)]
    pub extra: Extra,
}

/// A stored count: a hint that says by whom it was made, never needed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Tokens {
    /// Of this message.
    pub count: u32,
    /// Of the log up to and with this message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cumulative: Option<u64>,
    /// `o200k_base` or `estimate-1`; where it is absent, nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Fields that this version does not know.
    #[serde(skip)]
    pub extra: Extra,
}

/// Which call a tool result answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Tool {
    /// The id of the call.
    pub call_id: String,
    /// The tool's name.
    pub name: String,
    /// The tool failed.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub is_error: bool,
    /// The tool did not run, or not to its end: it was denied, blocked or interrupted.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub not_run: bool,
    /// The code that a command ended with, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// The content is the JSON of a value: the tool did not answer with a text.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub is_json: bool,
    /// Fields that this version does not know.
    #[serde(skip)]
    pub extra: Extra,
}

/// What only a model's answer has.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Assistant {
    /// The model that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What it asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub tool_calls: Vec<ToolCall>,
    /// Why it stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// What it thought, where the provider shows it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub reasoning: Vec<Reasoning>,
    /// What the provider counted.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "open_option")]
    pub usage: Option<Usage>,
    /// The sequence of reasoning, text and calls, where they interleave.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub order: Vec<OrderPart>,
    /// Fields that this version does not know.
    #[serde(skip)]
    pub extra: Extra,
}

/// A request for a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ToolCall {
    /// Pairs the call with its result.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments, a JSON text; a model may have written one that is not valid.
    pub arguments: Text,
}

/// A piece of reasoning.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Reasoning {
    /// What is readable of it.
    pub text: Text,
    /// The provider's signature over it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The provider's encrypted form of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
}

/// The provider's own counts, in tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Usage {
    /// Read, without the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Read from the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// Written to the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// Of the output, spent on reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
    /// Fields that this version does not know.
    #[serde(skip)]
    pub extra: Extra,
}

/// One piece of an answer: `{"text":[0,12]}` (bytes of the content), `{"call":0}` or `{"reasoning":0}` (places).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Part"))]
pub enum OrderPart {
    /// A piece of the content, from and to in bytes.
    Text(u32, u32),
    /// The place in `toolCalls`.
    Call(u32),
    /// The place in `reasoning`.
    Reasoning(u32),
}

/// An image or a file: lying at a path, or inline.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Attachment {
    /// The media type.
    pub mime: String,
    /// What it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where it lies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its bytes, base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// The blob that its bytes lie in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
    /// How many bytes lie there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// Where an imported line comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Source", optional_fields))]
pub struct LineOrigin {
    /// The agent's name.
    pub agent: String,
    /// The id there.
    pub id: String,
    /// Fields that this version does not know.
    #[serde(skip)]
    pub extra: Extra,
}

/// A record of `messages.jsonl` as a message, and what is wrong with it. Valid JSON that is no message is `foreign`.
pub fn read(record: &Record) -> (Option<Message>, Vec<Problem>) {
    let (message, problems) = record.read::<Message>("a message, which has a \"role\"");
    let message = message.map(|mut message| {
        if message.id.is_empty() {
            message.id = id::from_parts(&[record.json.as_bytes(), &record.start.to_be_bytes()]);
        }
        message
    });
    (message, problems)
}

impl Message {
    /// The calls of an assistant message; of every other message none.
    pub fn tool_calls(&self) -> &[ToolCall] {
        self.assistant.as_ref().map_or(&[], |assistant| &assistant.tool_calls)
    }

    /// Whether the record that it was imported from has this mark: `isMeta`, the client told it in the user's name.
    pub(crate) fn has_source_mark(&self, mark: &str) -> bool {
        let marks = self.source.iter().flat_map(|source| source.extra.iter());
        marks.into_iter().any(|(key, value)| key.trim_matches('"') == mark && value == "true")
    }

    /// Whether it stands in the user's place, and no user said it.
    pub(crate) fn is_injected(&self) -> bool {
        ["isMeta", "isCompactSummary", "isBranchSummary", "isIgnored"]
            .iter()
            .any(|mark| self.has_source_mark(mark))
    }

    /// Whether another line says the same message, whatever its number and its count.
    pub(crate) fn says_the_same(&self, other: &Message) -> bool {
        let bare = |message: &Message| Message { seq: None, tokens: None, ..message.clone() };
        bare(self) == bare(other)
    }
}

macro_rules! impl_open_object {
    ($($name:ty),*) => {$(
        impl Open for $name {
            fn extra(&self) -> &Extra {
                &self.extra
            }
        }
    )*};
}

impl_open_object!(Message, Tokens, Tool, Assistant, Usage, LineOrigin);

/// Takes out what belongs to the line and not to what it says: written again it gets both anew.
pub(crate) fn drop_line_keys(fields: &mut Fields<'_>) {
    batch::drop_batch_field(fields);
    fields.take_raw("v");
    fields.take_raw("crc");
}

pub(crate) fn take_timestamp(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<String> {
    let written: String = fields.take("timestamp", bad)?;
    if time::parse(&written).is_none() {
        return reject(&alloc::format!("{written:?}"), "timestamp", "an RFC 3339 time", bad);
    }
    Some(written)
}
