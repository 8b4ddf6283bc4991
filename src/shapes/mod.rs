//! The providers' message shapes: every context leaves, and every message enters, through here.
//!
//! No result is written without its call and no call without a result. Work common to all shapes is done once, in
//! `steps.rs` when writing and in `reading.rs` when reading; a shape's own file only describes the shape.

mod ai_sdk;
mod ai_sdk_ui;
mod answer;
pub(crate) mod answer_pieces;
mod anthropic;
pub(crate) mod file;
mod format;
pub(crate) mod gemini;
mod json;
mod likely;
mod limits;
mod maker;
mod message;
pub(crate) mod names;
mod openai_chat;
mod openai_responses;
mod part;
mod patterns;
mod reading;
mod reasoning;
mod speakers;
pub(crate) mod steps;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::{Code, Error};
use crate::json::fields::{BadValue, Fields, FromFields, ObjectError, parse_items, parse_objects};
use crate::json::text::to_json;
use crate::record::draft::{self, MESSAGE_SCHEMA};
use crate::record::message::{Assistant, Message, Role};
use crate::tokens::Images;

pub use answer::extract_messages;
pub use format::Format;
use json::JsonWriter;
use likely::likely_formats;
pub use limits::UnsentFile;
use names::NameLimits;
use reading::{DraftReader, name_results};
pub use reasoning::ReasoningReport;
use steps::Step;

/// Written before an unasked answer if the provider requires the user to begin: the conversation was cut there.
const EARLIER_BEGINNING: &str = "[The conversation began before this.]";

/// Messages in a provider's shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapedMessages {
    /// A JSON array.
    pub json: String,
    /// The ids in results whose calls do not exist; these results are left out.
    pub orphaned_results: Vec<String>,
}

/// Writes a context's messages in the requested shape.
///
/// A call without a result gets one that says so; a result without a call is left out. Results follow their calls,
/// reasoning is not sent, a lone surrogate becomes U+FFFD. leftoff's own shape stays as stored.
pub fn write(messages: &[Message], format: Format) -> ShapedMessages {
    write_to(messages, format, Recipient::Anybody)
}

/// Like [`write()`], for a recipient: a model that waits for results of its calls gets its reasoning back.
pub fn write_to(messages: &[Message], format: Format, to: Recipient<'_>) -> ShapedMessages {
    if format == Format::Leftoff {
        let json = to_json(&messages.iter().map(without_storage_fields).collect::<Vec<_>>());
        return ShapedMessages { json, orphaned_results: Vec::new() };
    }
    let PreparedSteps { steps, orphaned_results, .. } = prepare_steps(messages, format, to);
    ShapedMessages { json: render_steps(&steps, format), orphaned_results }
}

/// The recipient of the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipient<'a> {
    /// Anybody; gets no reasoning.
    Anybody,
    /// A model that gets its own reasoning.
    Model {
        /// Its name; `None` means the model of the newest answer.
        name: Option<&'a str>,
        /// The id of a message: from there on each turn was sent with its reasoning, which stays; `None` means that
        /// only the newest one is.
        since: Option<&'a str>,
    },
    /// The same model, whose reasoning has a secret and is not sent.
    Masked,
}

impl<'a> Recipient<'a> {
    /// The recipient for a model, if known; masked if its reasoning has a secret.
    pub fn of(model: Option<&'a str>, is_masked: bool) -> Recipient<'a> {
        if is_masked { Recipient::Masked } else { Recipient::Model { name: model, since: None } }
    }

    /// The same recipient, to whom the reasoning from this message on was sent already.
    pub fn with_reasoning_since(self, id: Option<&'a str>) -> Recipient<'a> {
        match self {
            Recipient::Model { name, .. } => Recipient::Model { name, since: id },
            Recipient::Anybody | Recipient::Masked => self,
        }
    }
}

/// Returns the files and the reasoning that are not sent as stored.
pub fn report_unsent(
    messages: &[Message],
    format: Format,
    to: Recipient<'_>,
) -> (Vec<UnsentFile>, Vec<ReasoningReport>) {
    if format == Format::Leftoff {
        return Default::default();
    }
    let PreparedSteps { unsent, thoughts, .. } = prepare_steps(messages, format, to);
    (unsent, thoughts)
}

/// Renders messages in a provider's shape for counting: the JSON to count, and the cost of images and other files by
/// this rule. A file is in the JSON only with its text, if it has one.
pub fn render_for_count(
    messages: &[Message],
    format: Format,
    to: Recipient<'_>,
    images: Option<Images>,
) -> (String, u32) {
    write_steps(&prepare_steps(messages, format, to).steps, format, JsonWriter::for_counting(images))
        .into_counted()
}

/// Like [`render_for_count`], for one message, whatever it lacks. Together, messages cost at most a little more: for
/// repeated ids, which are changed, and for the text before an answer that comes first.
pub fn render_alone_for_count(message: &Message, format: Format, images: Option<Images>) -> (String, u32) {
    let mut steps = steps::single_step(message, NameLimits::of(format));
    limits::drop_unsendable_files(steps.as_mut_slice(), format, |_| 0);
    write_steps(steps.as_slice(), format, JsonWriter::for_counting(images)).into_counted()
}

// All steps, and whatever is not sent as stored.
struct PreparedSteps<'a> {
    steps: Vec<Step<'a>>,
    orphaned_results: Vec<String>,
    unsent: Vec<UnsentFile>,
    thoughts: Vec<ReasoningReport>,
}

fn prepare_steps<'a>(messages: &'a [Message], format: Format, to: Recipient<'_>) -> PreparedSteps<'a> {
    let (mut steps, orphaned_results) = steps::pair_steps(messages, NameLimits::of(format));
    let is_users_first = matches!(format, Format::Anthropic | Format::Gemini);
    if is_users_first && steps.first().is_some_and(|first| first.role == Role::Assistant) {
        steps.insert(0, Step::user(EARLIER_BEGINNING));
    }
    let thoughts = match to {
        Recipient::Anybody => Vec::new(),
        Recipient::Model { .. } | Recipient::Masked => reasoning::attach(messages, &mut steps, format, to),
    };
    let unsent = limits::drop_unsendable_files(&mut steps, format, |steps| {
        write_steps(steps, format, JsonWriter::for_counting(None)).finish().len()
    });
    PreparedSteps { steps, orphaned_results, unsent, thoughts }
}

/// Renders the steps in a shape, as a JSON array.
pub(crate) fn render_steps(steps: &[Step<'_>], format: Format) -> String {
    write_steps(steps, format, JsonWriter::default()).finish()
}

fn write_steps(steps: &[Step<'_>], format: Format, mut json: JsonWriter) -> JsonWriter {
    json.put("[", &[]);
    match format {
        // Written as stored, without steps.
        Format::Leftoff => {}
        Format::OpenaiChat => openai_chat::write(steps, &mut json),
        Format::OpenaiResponses => openai_responses::write(steps, &mut json),
        Format::Anthropic => anthropic::write(steps, &mut json),
        Format::Gemini => gemini::write(steps, &mut json),
        Format::AiSdk => ai_sdk::write(steps, &mut json),
        Format::AiSdkUi => ai_sdk_ui::write(steps, &mut json),
    }
    json.put("]", &[]);
    json
}

/// Reads a caller's message, an array of messages, or a provider's answer as drafts for a log. A key or value that no
/// reader of the log would return is refused; see `session::draft`.
///
/// A part of an unknown kind is kept as text.
///
/// # Errors
/// `invalid_json`; `invalid_request`, naming the place and the expected value; `empty_message` for a message without
/// text and files, unless it is an answer, a result, a revision, or imported. On an error nothing is read.
pub fn read_drafts(json: &str, format: Format) -> Result<Vec<Message>, Error> {
    let drafts = read_by(json, format, read_draft)?;
    match drafts.iter().position(is_empty) {
        None => Ok(drafts),
        Some(place) => Err(Error::new(
            Code::EmptyMessage,
            format!("message {place} is empty: it needs a content or an attachment"),
        )),
    }
}

// An answer may be empty; so may a revision that withdraws a text, and a message from an agent's file.
fn is_empty(message: &Message) -> bool {
    message.role != Some(Role::Assistant)
        && message.rev == 0
        && message.source.is_none()
        && message.content.is_empty()
        && message.attachments.is_empty()
        && message.tool.is_none()
}

/// Like [`read_drafts`], but messages in leftoff's shape come from a log, and their keys are accepted as they are.
///
/// # Errors
/// Those of [`read_drafts`].
pub fn read(json: &str, format: Format) -> Result<Vec<Message>, Error> {
    read_by(json, format, read_stored)
}

/// Reads messages that are copied from one log to another, in leftoff's shape: any log may have what another has.
///
/// # Errors
/// Those of [`read_drafts`].
pub fn read_copies(json: &str) -> Result<Vec<Message>, Error> {
    read_by(json, Format::Leftoff, |fields, reading| {
        reading.drafts.push(Message::parse_copy(fields, &mut reading.bad));
    })
}

fn read_by(json: &str, format: Format, own: fn(Fields<'_>, &mut DraftReader)) -> Result<Vec<Message>, Error> {
    let json = json.trim_ascii();
    let all = match parse_objects(json) {
        Some(objects) => objects,
        None => parse_each(json)?,
    };
    let is_empty = all.is_empty();
    let mut reading = DraftReader::default();
    for (place, fields) in all.into_iter().enumerate() {
        match format {
            Format::Leftoff => own(fields, &mut reading),
            Format::OpenaiChat => message::read_message(fields, &openai_chat::OPENAI_CHAT_KEYS, &mut reading),
            Format::OpenaiResponses => openai_responses::read(fields, &mut reading),
            Format::Anthropic => message::read_message(fields, &anthropic::ANTHROPIC_KEYS, &mut reading),
            Format::Gemini => message::read_message(fields, &gemini::GEMINI_KEYS, &mut reading),
            Format::AiSdk => message::read_message(fields, &message::PLAIN_KEYS, &mut reading),
            Format::AiSdkUi => message::read_message(fields, &ai_sdk_ui::AI_SDK_UI_KEYS, &mut reading),
        }
        if let Some(bad) = reading.bad.first() {
            let hint = if format == Format::Leftoff { suggest_format(json, place) } else { String::new() };
            return Err(place_error(place, &[&*bad.message, &*hint].concat()));
        }
    }
    if format == Format::OpenaiResponses {
        // An answer without content is an answer all the same.
        if !reading.is_empty() || (reading.drafts.is_empty() && !is_empty) {
            reading.end_message(Role::Assistant);
        }
    }
    if format != Format::Leftoff {
        name_results(&mut reading.drafts);
    }
    Ok(reading.drafts)
}

// Names the likely shape to callers who pass a provider's messages without a format.
fn suggest_format(json: &str, place: usize) -> String {
    let all = parse_objects(json).or_else(|| parse_each(json).ok()).unwrap_or_default();
    let formats = all.get(place).map(likely_formats).unwrap_or_default();
    let names: Vec<String> = formats.iter().map(|format| format!("\"{}\"", format.as_str())).collect();
    if names.is_empty() {
        return String::new();
    }
    format!(". This looks like a provider's message: pass its format, {}", names.join(" or "))
}

fn read_draft(fields: Fields<'_>, reading: &mut DraftReader) {
    draft::check(&fields, &MESSAGE_SCHEMA, "", &mut reading.bad);
    read_stored(fields, reading);
}

fn read_stored(fields: Fields<'_>, reading: &mut DraftReader) {
    match Message::from_fields(fields, &mut reading.bad) {
        Some(message) => reading.drafts.push(message),
        None => reading.bad.push(BadValue { message: "expected a \"role\", but found none".into() }),
    }
}

// Reads value by value, to say which one is no object.
fn parse_each(json: &str) -> Result<Vec<Fields<'_>>, Error> {
    let parsed = |(place, value)| {
        Fields::parse(value).map_err(|wrong| match wrong {
            ObjectError::Invalid => {
                Error::new(Code::InvalidJson, format!("message {place}: expected JSON, but found none"))
            }
            ObjectError::TooDeep => {
                place_error(place, "expected a message, but found one that is nested too deep")
            }
            ObjectError::Other(kind) => {
                place_error(place, &format!("expected a message, but found {kind} instead"))
            }
        })
    };
    parse_items(json).unwrap_or_else(|| Vec::from([json])).into_iter().enumerate().map(parsed).collect()
}

fn place_error(place: usize, what: &str) -> Error {
    Error::new(Code::InvalidRequest, format!("message {place}: {what}"))
}

// Removes the fields that only storage needs.
fn without_storage_fields(message: &Message) -> Message {
    let assistant = message
        .assistant
        .as_ref()
        .map(|assistant| Assistant { tool_calls: assistant.tool_calls.clone(), ..Assistant::default() });
    Message {
        id: message.id.clone(),
        role: message.role,
        content: message.content.clone(),
        tool: message.tool.clone(),
        assistant: assistant.filter(|assistant| !assistant.tool_calls.is_empty()),
        attachments: message.attachments.clone(),
        ..Message::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ai_sdk: &str) {
        let drafts = read(ai_sdk, Format::AiSdk).unwrap();
        assert_eq!(write(&drafts, Format::AiSdk).json, ai_sdk);
        let plain = write(&drafts, Format::Leftoff).json;
        assert_eq!(write(&read(&plain, Format::Leftoff).unwrap(), Format::AiSdk).json, ai_sdk);
    }

    #[test]
    fn what_comes_in_as_the_ai_sdk_has_it_goes_out_again_so() {
        check(r#"[{"role":"system","content":"be brief"},{"role":"user","content":"hi"}]"#);
        check(
            r#"[{"role":"user","content":[{"type":"text","text":"see"},{"type":"file","data":"AAAA","mediaType":"image/png"}]}]"#,
        );
        check(concat!(
            r#"[{"role":"assistant","content":[{"type":"text","text":"look"},{"type":"tool-call","toolCallId":"1","#,
            r#""toolName":"ls","input":{"a":[1, 2]}},{"type":"tool-call","toolCallId":"2","toolName":"cat","input":"x"}]},"#,
            r#"{"role":"tool","content":[{"type":"tool-result","toolCallId":"1","toolName":"ls","output":{"type":"text","#,
            r#""value":"a"}},{"type":"tool-result","toolCallId":"2","toolName":"cat","output":{"type":"error-text","value":"b"}}]}]"#,
        ));
    }

    #[test]
    fn a_wrong_message_is_refused_with_its_place_and_nothing_is_read() {
        let refused = |json: &str, format| {
            read_drafts(json, format).map_err(|e| (e.code.as_str(), e.message)).unwrap_err()
        };
        let (code, message) = refused(r#"[{"role":"user","content":"x"},{"role":"boss"}]"#, Format::Leftoff);
        assert_eq!(code, "invalid_request");
        assert!(message.starts_with("message 1: expected \"system\""), "{message}");
        assert_eq!(refused("[", Format::Leftoff).0, "invalid_json");
        assert_eq!(
            refused("7", Format::AiSdk).1,
            "message 0: expected a message, but found a number instead"
        );
        assert_eq!(refused("{}", Format::Leftoff).1, "message 0: expected a \"role\", but found none");
        let odd = r#"{"role":"user","content":[{"type":"text","text":"x"},{"type":"text","text":7}]}"#;
        assert_eq!(
            refused(odd, Format::AiSdk).1,
            "message 0: expected a string for \"content[1].text\", but found 7 instead"
        );
    }

    #[test]
    fn a_part_of_an_unknown_kind_is_kept_as_text() {
        let drafts =
            read(r#"{"role":"user","content":[{"type":"hologram","of":[1]}]}"#, Format::AiSdk).unwrap();
        assert_eq!(drafts[0].content.as_str(), r#"[hologram] {"of":[1]}"#);
    }
}
