//! Reads the answers of the providers' libraries: a whole answer is appended as its messages, with none of them lost.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Format;
use crate::error::{Code, Error};
use crate::json::fields::{Fields, parse_items};

/// Only text with one of these keys is parsed to detect its shape.
const ANSWER_KEYS: [&[u8]; 7] =
    [b"choices", b"output", b"candidates", b"stop_reason", b"steps", b"stepNumber", b"modelId"];
const MISSING_MESSAGES: &str = "with its messages, but found one without them: pass \"answer.responseMessages\", of version 6 \"answer.response.messages\"";

/// Returns the messages to append and their shape: a whole answer of a provider's library counts as one message, and
/// determines the shape if `format` does not. `json` is one, or an array of such. Without any hint the shape is
/// leftoff's.
///
/// ```
/// use leftoff::shapes::{Format, extract_messages};
///
/// let answer = r#"{"object":"chat.completion","choices":[{"message":{"role":"assistant","content":"Hi."}}]}"#;
/// let (format, messages) = extract_messages(answer, None)?;
/// assert_eq!((format, &*messages), (Format::OpenaiChat, answer));
/// # Ok::<(), leftoff::error::Error>(())
/// ```
///
/// # Errors
/// `invalid_request` if an answer has another shape than `format`, or is only a part of one, which may lack others.
pub fn extract_messages(json: &str, format: Option<Format>) -> Result<(Format, Cow<'_, str>), Error> {
    let json = json.trim();
    if !may_tell(json.as_bytes()) {
        return Ok((format.unwrap_or(Format::Leftoff), json.into()));
    }
    let all = parse_items(json).unwrap_or_else(|| Vec::from([json]));
    let known: Vec<Option<Format>> =
        all.iter().map(|result| answer_format(result)).collect::<Result<_, _>>()?;
    let first =
        known.first().copied().flatten().filter(|first| known.iter().all(|result| *result == Some(*first)));
    let is = format.or(first).unwrap_or(Format::Leftoff);
    if let Some(other) = known.iter().flatten().find(|other| **other != is) {
        let (is, name, other) = (is.as_str(), describe_answer(*other), other.as_str());
        return Err(answer_error(format!(
            "expected messages of the format \"{is}\", but found {name} instead: pass {{ format: \"{other}\" }}"
        )));
    }
    if is != Format::AiSdk || known.iter().all(Option::is_none) {
        return Ok((is, json.into()));
    }
    let mut messages = Vec::new();
    for (result, known) in all.into_iter().zip(known) {
        if known.is_some() { messages.extend(messages_in_result(result)?) } else { messages.push(result) }
    }
    Ok((is, format!("[{}]", messages.join(",")).into()))
}

// Messages come at every turn, whole answers seldom: parsing each here, too, would cost as much as all else.
fn may_tell(json: &[u8]) -> bool {
    memchr::memchr_iter(b'"', json).any(|end| {
        let before = json.get(..end).unwrap_or_default();
        ANSWER_KEYS.iter().any(|key| before.strip_suffix(*key).is_some_and(|rest| rest.ends_with(b"\"")))
    })
}

// Returns the format of an answer, by fields that only it has.
fn answer_format(result: &str) -> Result<Option<Format>, Error> {
    let Ok(fields) = Fields::parse(result) else { return Ok(None) };
    let is = |key: &str, value: &str| fields.raw(key) == Some(value);
    let is_array = |key: &str| fields.raw(key).is_some_and(|raw| raw.starts_with('['));
    if fields.has("role") {
        let is_whole = is("type", "\"message\"") && fields.has("stop_reason") && is("role", "\"assistant\"");
        return Ok(is_whole.then_some(Format::Anthropic));
    }
    if fields.has("steps") && fields.has("response") {
        return Ok(Some(Format::AiSdk));
    }
    let is_step = fields.has("stepNumber") && fields.has("finishReason");
    if is_step || (is_array("messages") && fields.has("modelId")) {
        let (part, name) =
            (if is_step { "one step" } else { "the response" }, describe_answer(Format::AiSdk));
        return Err(answer_error(format!(
            "expected messages, but found {part} of {name} instead, which may lack those of other steps: pass the result itself, or its \"responseMessages\""
        )));
    }
    Ok(match () {
        () if is("object", "\"chat.completion\"") && is_array("choices") => Some(Format::OpenaiChat),
        () if is("object", "\"response\"") && is_array("output") => Some(Format::OpenaiResponses),
        () if is_array("candidates") => Some(Format::Gemini),
        () => None,
    })
}

// A result of AI SDK 7 has the messages of all steps beside its last response, one of version 6 inside it.
fn messages_in_result(result: &str) -> Result<Vec<&str>, Error> {
    let fields = Fields::parse(result).ok();
    let messages = fields.as_ref().and_then(|fields| {
        let beside = fields.raw("responseMessages");
        beside.or_else(|| Fields::parse(fields.raw("response")?).ok()?.raw("messages"))
    });
    let refuse = || answer_error(format!("expected {} {MISSING_MESSAGES}", describe_answer(Format::AiSdk)));
    messages.and_then(parse_items).ok_or_else(refuse)
}

// Returns the provider's term for a whole answer.
fn describe_answer(format: Format) -> &'static str {
    match format {
        Format::Leftoff => "a message of leftoff's",
        Format::OpenaiChat => "a chat completion of OpenAI's",
        Format::OpenaiResponses => "a response of OpenAI's",
        Format::Anthropic => "a message of Anthropic's",
        Format::Gemini => "a response of Gemini's",
        Format::AiSdk | Format::AiSdkUi => "a result of the AI SDK",
    }
}

fn answer_error(message: String) -> Error {
    Error::new(Code::InvalidRequest, message)
}
