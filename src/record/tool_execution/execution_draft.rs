//! A tool execution as a caller gives it, before it becomes a record and a message.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::error::{Code, Error};
use crate::json::fields::{BadValue, Field, Fields};
use crate::json::request;
use crate::json::text::{Text, to_json};
use crate::record::draft;
use crate::record::message::Tool;

/// The largest whole number that a double holds exactly.
const MAX_SAFE_INTEGER: i64 = (1 << 53) - 1;

/// A call, its result, and its outcome.
#[derive(Clone, Debug)]
pub struct ExecutionDraft {
    /// The id of the call.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments, a JSON object.
    pub arguments: String,
    /// The id of the assistant message with the call, if the caller gives it.
    pub message_id: Option<String>,
    // The result, a JSON string.
    content: String,
    is_success: bool,
    error: Option<String>,
    exit_code: Option<i64>,
    duration_ms: Option<u64>,
}

impl ExecutionDraft {
    /// Reads
    /// `{"call":{"id","name","arguments"},"result":{"content","success","error","exitCode"},"durationMs","messageId"}`.
    ///
    /// # Errors
    /// `invalid_request`, naming the field.
    pub fn from_json(json: &str) -> Result<ExecutionDraft, Error> {
        draft::check_execution(json)?;
        let bad = &mut Vec::new();
        let mut fields = Fields::parse(json).map_err(|_| incomplete_error())?;
        let mut call = parse_object(fields.take_raw("call")).ok_or_else(incomplete_error)?;
        let mut result = parse_object(fields.take_raw("result")).ok_or_else(incomplete_error)?;
        let (id, name) = (take::<String>(&mut call, "id"), take::<String>(&mut call, "name"));
        let content = result.take_raw("content").filter(|raw| raw.starts_with('"'));
        let (Some(id), Some(name), Some(content)) = (id.filter(|id| !id.is_empty()), name, content) else {
            return Err(incomplete_error());
        };
        let duration_ms = fields.take_raw("durationMs").map(parse_milliseconds).transpose()?;
        let error = result.take("error", bad);
        let exit_code = result.take_raw("exitCode").map(parse_exit_code).transpose()?;
        let is_success =
            result.take_raw("success").map(parse_success).transpose()?.unwrap_or(error.is_none());
        let arguments = call.take_raw("arguments").unwrap_or("{}");
        if !arguments.starts_with('{') {
            let message = "expected an object for the \"arguments\" of the call, but found another value";
            return Err(Error::new(Code::InvalidRequest, message));
        }
        let (arguments, content) = (arguments.to_owned(), content.to_owned());
        let message_id = fields.take("messageId", bad);
        Ok(ExecutionDraft {
            id,
            name,
            arguments,
            message_id,
            content,
            is_success,
            error,
            exit_code,
            duration_ms,
        })
    }

    /// Returns the tool's result.
    pub fn content(&self) -> Text {
        Text::read(&self.content, "content", &mut Vec::new()).unwrap_or_default()
    }

    /// Replaces the outcome by the one that somebody else recorded for the same call.
    pub(crate) fn with_outcome_of(self, tool: &Tool) -> ExecutionDraft {
        ExecutionDraft {
            is_success: !tool.is_error,
            exit_code: tool.exit_code,
            error: None,
            duration_ms: None,
            ..self
        }
    }

    /// Renders its message, a draft in leftoff's shape.
    pub(crate) fn render_result_draft(&self) -> String {
        let mut tool = format!("\"callId\":{},\"name\":{}", to_json(&self.id), to_json(&self.name));
        if !self.is_success {
            tool.push_str(",\"isError\":true");
        }
        if let Some(code) = self.exit_code {
            tool.push_str(&format!(",\"exitCode\":{code}"));
        }
        format!("[{{\"role\":\"tool\",\"content\":{},\"tool\":{{{tool}}}}}]", self.content)
    }

    /// Renders its record, as [`super::ToolExecution::from_json`] reads it. `owner`: the assistant message with the
    /// call; `tokens`: the tokens of its result.
    pub(crate) fn render_record(&self, owner: Option<&str>, tokens: Option<u32>) -> String {
        let (call, tool) = (to_json(&self.id), to_json(&self.name));
        let mut result = format!("\"success\":{}", self.is_success);
        result.extend(self.error.iter().map(|error| format!(",\"error\":{}", to_json(error))));
        result.extend(self.exit_code.iter().map(|code| format!(",\"exitCode\":{code}")));
        let mut record = format!("\"toolCallId\":{call},\"tool\":{tool},\"arguments\":{}", self.arguments);
        record.extend(owner.iter().map(|id| format!(",\"messageId\":{}", to_json(id))));
        record.push_str(&format!(",\"result\":{{{result}}}"));
        record.extend(tokens.iter().map(|tokens| format!(",\"tokens\":{tokens}")));
        record.extend(self.duration_ms.iter().map(|ms| format!(",\"durationMs\":{ms}")));
        format!("{{{record}}}")
    }
}

fn parse_object(raw: Option<&str>) -> Option<Fields<'_>> {
    Fields::parse(raw?).ok()
}

fn take<T: Field>(fields: &mut Fields<'_>, key: &str) -> Option<T> {
    let bad: &mut Vec<BadValue> = &mut Vec::new();
    fields.take(key, bad)
}

// Reads whole milliseconds; a fraction is rounded. Only digits are looked at: a number's value would cost the core what
// reads fractions.
fn parse_milliseconds(raw: &str) -> Result<u64, Error> {
    let wrong =
        || request::error(format!("expected milliseconds for \"durationMs\", but found {raw} instead"));
    let (number, exponent) = raw.split_once(['e', 'E']).unwrap_or((raw, "0"));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    // JavaScript writes a number with an exponent below zero only if it is less than a millionth.
    if exponent.starts_with('-') && !whole.starts_with('-') {
        return Ok(0);
    }
    let whole = whole.parse::<u64>().ok().filter(|_| exponent == "0").ok_or_else(wrong)?;
    Ok(whole + u64::from(fraction.starts_with(|digit: char| digit >= '5')))
}

fn parse_exit_code(raw: &str) -> Result<i64, Error> {
    let wrong =
        || request::error(format!("expected a whole number for \"exitCode\", but found {raw} instead"));
    raw.parse::<i64>()
        .ok()
        .filter(|code| (-MAX_SAFE_INTEGER..=MAX_SAFE_INTEGER).contains(code))
        .ok_or_else(wrong)
}

fn parse_success(raw: &str) -> Result<bool, Error> {
    let wrong = || request::error(format!("expected true or false for \"success\", but found {raw} instead"));
    raw.parse().map_err(|_| wrong())
}

fn incomplete_error() -> Error {
    request::error(
        "expected \"call\" with an id and a name, and \"result\" with a content, but found less".to_string(),
    )
}
