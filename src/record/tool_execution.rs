//! One line of `tools.jsonl`: what a tool did, without what it said. The tool's message in
//! `messages.jsonl` is the only copy of a result; both are joined by the id of the call.

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

/// What stands in the place of a result that was never recorded.
pub(crate) const INTERRUPTED: &str = "[No result was recorded: the call was interrupted.]";

/// What a tool did.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ToolExecution {
    /// Names it.
    pub id: String,
    /// A hint only: file order orders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// The assistant's message with the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The call.
    pub tool_call_id: String,
    /// The tool's name.
    pub tool: String,
    /// What it was called with.
    #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
    pub arguments: Box<RawValue>,
    /// How it went.
    pub result: ToolResult,
    /// What its result costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u32>,
    /// How long it took, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Fields that this version does not know.
    #[serde(skip)]
    pub extra: Extra,
}

/// How it went; what it said stands in the tool's message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ToolResult {
    /// It did what was asked.
    pub success: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Of a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
}

impl ToolExecution {
    /// Reads `{"toolCallId","tool","arguments","messageId","result":{"success","error","exitCode"},"tokens","durationMs",
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

/// A record of `tools.jsonl`, and what is wrong with it. Valid JSON that is none is `foreign`.
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
