//! A tool execution as a line of `tools.jsonl`: what a tool did, without its result. The tool's message in
//! `messages.jsonl` is the only copy of a result; the id of the call joins both.

pub mod execution_draft;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::error::Error;
use crate::json::fields::{BadValue, Fields, FromFields};
use crate::json::request;
use crate::json::text::{Extra, Open};
use crate::record::id;
use crate::record::message::{drop_line_keys, take_timestamp};
use crate::record::scan::{Problem, Record};
use crate::time::{self, Stamp};

/// The text in place of a result that was never recorded.
pub(crate) const INTERRUPTED_RESULT: &str = "[No result was recorded: the call was interrupted.]";

/// A run of a tool.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ToolExecution {
    /// The execution's id.
    pub id: String,
    /// The execution's number. A hint only: the order of lines in the file decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// When it ran, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// The id of the assistant message with the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The id of the call.
    pub tool_call_id: String,
    /// The tool's name.
    pub tool: String,
    /// The arguments of the call.
    #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
    pub arguments: Box<RawValue>,
    /// The outcome.
    pub result: ToolResult,
    /// The tokens of its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u32>,
    /// The duration, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Fields that this version does not know.
    #[serde(skip)]
    pub extra: Extra,
}

/// The outcome of an execution; the result's text stands in the tool's message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ToolResult {
    /// True if the tool did what was asked.
    pub success: bool,
    /// The error, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The exit code of a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
}

impl ToolExecution {
    /// Reads
    /// `{"toolCallId","tool","arguments","messageId","result":{"success","error","exitCode"},"tokens","durationMs",
    /// "timestamp"}`, and gives it an id, a number and a time.
    ///
    /// # Errors
    /// `invalid_request`, naming the field.
    pub fn from_json(json: &str, seq: u64, stamp: &Stamp) -> Result<ToolExecution, Error> {
        let mut bad = Vec::new();
        let fields = Fields::parse(json).map_err(|found| {
            request::error(format!("expected a tool execution, but found {found} instead"))
        })?;
        let read = ToolExecution::from_fields(fields, &mut bad);
        request::reject_bad(&mut bad)?;
        let read = read.ok_or_else(|| {
            request::error("expected a tool execution with toolCallId and tool, but found less")
        })?;
        Ok(ToolExecution {
            id: id::new(stamp, 0),
            seq: Some(seq),
            timestamp: read.timestamp.or_else(|| Some(time::format(stamp.now_ms))),
            ..read
        })
    }
}

/// Reads a record of `tools.jsonl` as an execution, and its problems. Valid JSON that is none is `foreign`.
pub fn read(record: &Record) -> (Option<ToolExecution>, Vec<Problem>) {
    record.read::<ToolExecution>("a tool execution, which has a \"toolCallId\" and a \"tool\"")
}

impl Open for ToolExecution {
    fn extra(&self) -> &Extra {
        &self.extra
    }
}

impl FromFields for ToolExecution {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<ToolExecution> {
        drop_line_keys(&mut fields);
        let arguments = fields.take_raw("arguments").filter(|raw| raw.starts_with('{')).unwrap_or("{}");
        Some(ToolExecution {
            id: fields.take("id", bad).unwrap_or_default(),
            seq: fields.take("seq", bad),
            timestamp: take_timestamp(&mut fields, bad),
            message_id: fields.take("messageId", bad),
            tool_call_id: fields.take("toolCallId", bad)?,
            tool: fields.take("tool", bad)?,
            arguments: RawValue::from_string(arguments.into()).expect("a slice of JSON is JSON"),
            result: fields.take("result", bad).unwrap_or_default(),
            tokens: fields.take("tokens", bad),
            duration_ms: fields.take("durationMs", bad),
            extra: fields.rest(),
        })
    }
}

impl FromFields for ToolResult {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<ToolResult> {
        Some(ToolResult {
            success: fields.take("success", bad).unwrap_or_default(),
            error: fields.take("error", bad),
            exit_code: fields.take("exitCode", bad),
        })
    }
}
