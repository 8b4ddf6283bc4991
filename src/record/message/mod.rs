//! A message as a line of `messages.jsonl`, with its tokens, calls and files; role, content and timestamp alone will do.
//!
//! A reader needs no field but `role`. A line without an id gets one from its place and its bytes, so that the same file
//! always reads the same.

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

/// The speaker of a message.
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
    /// The message's id; a line with the same id and a higher `rev` is a revision of it.
    pub id: String,
    /// The message's number. A hint only: the order of lines in the file decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The id of the message that this one follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<String>,
    /// When it was said, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// The speaker. Absent if the stored value is none of the four; such a message is shown, and enters no context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// The text that was said, or the tool's answer.
    pub content: Text,
    /// The message's cost in a context; believed only where the line's checksum is right.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "open_option")]
    pub tokens: Option<Tokens>,
    /// For role `tool`: the call that this message answers.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "open_option")]
    pub tool: Option<Tool>,
    /// For role `assistant`: fields that only a model's answer has.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "open_option")]
    pub assistant: Option<Assistant>,
    /// Images and files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub attachments: Vec<Attachment>,
    /// The revision's number: the highest counts, at the place of the first.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub rev: u64,
    /// True for an answer that is not finished.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub partial: bool,
    /// True if this line leaves file order: a branch begins here.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub branch: bool,
    /// The origin of an imported line.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "open_option")]
    pub source: Option<LineOrigin>,
    /// Fields that this version does not know.
    #[serde(skip)]
    pub extra: Extra,
}

/// A stored token count: a hint that names its counter, and is never needed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Tokens {
    /// Tokens of this message.
    pub count: u32,
    /// Tokens of the log up to and with this message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cumulative: Option<u64>,
    /// The counter, `o200k_base` or `estimate-1`; unknown if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Fields that this version does not know.
    #[serde(skip)]
    pub extra: Extra,
}

/// The call that a tool result answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Tool {
    /// The call's id.
    pub call_id: String,
    /// The tool's name.
    pub name: String,
    /// True if the tool failed.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub is_error: bool,
    /// True if the tool did not run to its end: it was denied, blocked or interrupted.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub not_run: bool,
    /// The exit code of a command, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// True if the content is the JSON of a value: the tool did not answer with a text.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub is_json: bool,
    /// Fields that this version does not know.
    #[serde(skip)]
    pub extra: Extra,
}

/// The fields that only a model's answer has.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Assistant {
    /// The model that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tool calls it asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub tool_calls: Vec<ToolCall>,
    /// Why the model stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
    /// How long the answer took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The model's reasoning, where the provider shows it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub reasoning: Vec<Reasoning>,
    /// The provider's own token counts.
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

/// A model's request to run a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ToolCall {
    /// The id that pairs the call with its result.
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
    /// The readable part of the reasoning.
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
    /// Input tokens that were not in the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Output tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Input tokens read from the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// Input tokens written to the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// Those of them that stay there for an hour instead of five minutes, which costs more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_hour: Option<u64>,
    /// Output tokens spent on reasoning.
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
    /// A piece of the content: its first byte and the byte behind its last.
    Text(u32, u32),
    /// An index in `toolCalls`.
    Call(u32),
    /// An index in `reasoning`.
    Reasoning(u32),
}

/// An image or a file: at a path, inline, or in a blob.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Attachment {
    /// The media type.
    pub mime: String,
    /// The file's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The path of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The file's bytes, base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// The id of the blob that holds the file's bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
    /// The number of bytes in the blob.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// The origin of an imported line.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Source", optional_fields))]
pub struct LineOrigin {
    /// The agent's name.
    pub agent: String,
    /// The record's id in the agent's files.
    pub id: String,
    /// Fields that this version does not know.
    #[serde(skip)]
    pub extra: Extra,
}

/// Reads a record of `messages.jsonl` as a message, and its problems. Valid JSON that is no message is `foreign`.
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

impl Usage {
    /// The tokens that were sent, cached or not; `None` if no such count is known.
    #[cfg(feature = "interop")]
    pub(crate) fn sum_input(&self) -> Option<u64> {
        [self.input, self.cache_read, self.cache_write].into_iter().flatten().reduce(u64::saturating_add)
    }

    /// All tokens, sent and answered.
    #[cfg(feature = "interop")]
    pub(crate) fn sum(&self) -> u64 {
        self.sum_input().unwrap_or_default().saturating_add(self.output.unwrap_or_default())
    }

    /// Adds the counts of another call; one that neither knows stays unknown.
    #[cfg(feature = "interop")]
    pub(crate) fn add(&mut self, other: &Usage) {
        for (sum, count) in [
            (&mut self.input, other.input),
            (&mut self.output, other.output),
            (&mut self.cache_read, other.cache_read),
            (&mut self.cache_write, other.cache_write),
            (&mut self.cache_write_hour, other.cache_write_hour),
            (&mut self.reasoning, other.reasoning),
        ] {
            *sum = count.map(|count| sum.unwrap_or_default().saturating_add(count)).or(*sum);
        }
    }
}

impl Message {
    /// The calls of an assistant message; empty for every other message.
    pub fn tool_calls(&self) -> &[ToolCall] {
        self.assistant.as_ref().map_or(&[], |assistant| &assistant.tool_calls)
    }

    /// True if the record that it was imported from has this mark; `isMeta`: the client wrote it in the user's name.
    pub(crate) fn has_source_mark(&self, mark: &str) -> bool {
        let marks = self.source.iter().flat_map(|source| source.extra.iter());
        marks.into_iter().any(|(key, value)| key.trim_matches('"') == mark && value == "true")
    }

    /// True for a message in the user's place that no user typed.
    pub(crate) fn is_injected(&self) -> bool {
        ["isMeta", "isCompactSummary", "isBranchSummary", "isIgnored"]
            .iter()
            .any(|mark| self.has_source_mark(mark))
    }

    /// True if the other message says the same, whatever the number and the count of its line.
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

/// Removes the fields that belong to the line and not to the message: a line written anew gets its own.
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
