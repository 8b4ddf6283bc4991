//! Native export: writes sessions as other agents keep them, so that the real client resumes one that it never had.
//!
//! Calls and results are paired first, by the rule that the client's provider has. What a client cannot take, or adds
//! by itself, is left out and listed: reasoning that another provider signed, system messages, what another client said
//! in the user's name; and a file that it has no place for, in whose stead a text says what it was.
//!
//! Arguments with a number that no double holds, or nested too deep, are written as a text, and listed: a client's
//! reader would drop the whole answer with them.

mod claude_code;
mod client;
mod codex;
mod copilot;
mod export;
mod gemini;
mod opencode;
mod pi;
mod qwen;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::{Code, Error};
use crate::interop::object::Losses;
use crate::interop::{AgentName, Loss};
use crate::json::fields::Fields;
use crate::json::text::{Text, to_json};
use crate::record::id;
use crate::record::message::{Message, Reasoning, Role};
use crate::shapes::Format;
use crate::shapes::file::{File, FileSource};
use crate::shapes::gemini as gemini_shape;
use crate::shapes::names::NameLimits;
use crate::shapes::render_steps;
use crate::shapes::steps::{Call, Step, ToolAnswer, pair_steps};
use crate::time;

pub use client::Client;
pub(crate) use client::{folder_of, opencode_model, opencode_model_used};
pub(crate) use export::{Continuation, ExportReport, NativeCopy, NativeExport, PreparedExport};

/// The agents of which a session can be written, and their providers' formats.
const NATIVE_FORMATS: [(AgentName, Format); 7] = [
    (AgentName::ClaudeCode, Format::Anthropic),
    (AgentName::Codex, Format::OpenaiResponses),
    (AgentName::Copilot, Format::OpenaiChat),
    (AgentName::Gemini, Format::Gemini),
    (AgentName::OpenCode, Format::OpenaiChat),
    (AgentName::Pi, Format::OpenaiChat),
    (AgentName::Qwen, Format::OpenaiChat),
];

const OWN_INSTRUCTIONS: &str = "the client has its own instructions";
const CLIENT_TEXT: &str = "written by another client, not by the user";
const FOREIGN_SIGNATURE: &str = "signed by another provider";
const MISSING_CALL: &str = "the tool call is missing";
const NO_PLACE: &str = "the client has no field for it; a line of text replaces it";
const HIDDEN_FROM_MODEL: &str =
    "the client keeps the result's image, but doesn't show it to the model when it resumes";
const UNREADABLE_JSON: &str = "clients can't read this number or nesting; sent as text";
const TOKENS_COUNTED_BY_CLIENT: &str = "the client counts tokens itself";
// The images that every provider takes.
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
// The name of a model where a client wants one, and none is known.
const UNKNOWN_MODEL: &str = "unknown";

/// The header of a native session.
#[derive(Clone, Debug, Default)]
pub struct NativeHeader {
    /// A uuid that no session of the client has.
    pub id: String,
    /// The folder that the client works in, absolute.
    pub folder: String,
    /// The client's name for that folder, if files of its own give it.
    pub folder_name: Option<String>,
    /// The branch that is checked out there.
    pub git_branch: Option<String>,
    /// The session's title.
    pub title: Option<String>,
    /// The model that answers from now on.
    pub model: Option<String>,
    /// The user's words before all else.
    pub first_prompt: Option<String>,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}

impl NativeHeader {
    /// Reads `{"id","folder","place","gitBranch","title","model","first","nowMs"}`.
    ///
    /// # Errors
    /// `invalid_request` where it is no such object, or names no id or folder.
    pub fn from_json(json: &str) -> Result<NativeHeader, Error> {
        let wrong = |found: &str| {
            let message = format!("expected the id and the folder of a session, but found {found} instead");
            Error::new(Code::InvalidRequest, message)
        };
        let mut fields = Fields::parse(json).map_err(|found| wrong(&found.to_string()))?;
        let mut bad = Vec::new();
        let about = NativeHeader {
            id: fields.take("id", &mut bad).unwrap_or_default(),
            folder: fields.take("folder", &mut bad).unwrap_or_default(),
            folder_name: fields.take("place", &mut bad),
            git_branch: fields.take("gitBranch", &mut bad),
            title: fields.take("title", &mut bad),
            model: fields.take("model", &mut bad),
            first_prompt: fields.take("first", &mut bad),
            now_ms: fields.take("nowMs", &mut bad).unwrap_or_default(),
        };
        let is_named = !about.id.is_empty() && !about.folder.is_empty();
        if is_named { Ok(about) } else { Err(wrong("none")) }
    }
}

/// A session in a client's format.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NativeSession {
    /// Its path below the client's own folder, with `/`.
    pub path: String,
    /// The file's text.
    pub text: String,
    /// The id by which the client resumes it.
    pub id: String,
    /// The losses.
    pub losses: Vec<Loss>,
}

/// Returns the agents of which a session can be written.
pub fn agents() -> impl Iterator<Item = AgentName> {
    NATIVE_FORMATS.iter().map(|(agent, _)| *agent)
}

/// Returns the format in which an agent's provider counts: a context that fits in it fits the client.
///
/// # Errors
/// `unknown_format` if no session of this agent can be written.
pub fn format_of(agent: AgentName) -> Result<Format, Error> {
    let known = NATIVE_FORMATS.iter().find(|(name, _)| *name == agent);
    known.map(|(_, format)| *format).ok_or_else(|| {
        let names = NATIVE_FORMATS.map(|(name, _)| name.as_str()).join(", ");
        let message = format!("expected one of {names}, but found {} instead", agent.as_str());
        Error::new(Code::UnknownFormat, message)
    })
}

/// Writes the messages of a context, oldest first, as a session of an agent.
///
/// # Errors
/// `unknown_format` if no session of this agent can be written.
pub fn write(agent: AgentName, messages: &[Message], about: &NativeHeader) -> Result<NativeSession, Error> {
    let format = format_of(agent)?;
    let mut losses = Losses::default();
    let first = about.first_prompt.iter().map(|text| Message {
        role: Some(Role::User),
        content: text.as_str().into(),
        ..Message::default()
    });
    let messages: Vec<Message> = first.chain(select_messages(agent, messages, &mut losses)).collect();
    let (steps, orphaned_results) = pair_steps(&messages, NameLimits::of(format));
    for _ in orphaned_results {
        losses.add("tool".into(), MISSING_CALL);
    }
    for _ in all_files(&steps).filter(|(place, file)| !takes_file(agent, *place, file)) {
        losses.add("attachments".into(), NO_PLACE);
    }
    let of_results = all_files(&steps)
        .filter(|(place, file)| *place == FilePlace::Result && takes_file(agent, *place, file));
    for _ in of_results.filter(|_| agent == AgentName::Copilot) {
        losses.add("tool.attachments".into(), HIDDEN_FROM_MODEL);
    }
    // Whatever Qwen Code's provider takes, its files hold Gemini's parts.
    let format = if agent == AgentName::Qwen { Format::Gemini } else { format };
    // A summary stands first and has no time: it gets that of the message behind it.
    let ms = messages.iter().find_map(ms_of).unwrap_or(about.now_ms);
    let mut writing =
        WriterState { agent, format, header: about, losses, last_ms: ms, uuid_count: 0, native_id: None };
    let (path, text) = match agent {
        AgentName::ClaudeCode => claude_code::write(&steps, &mut writing),
        AgentName::Copilot => copilot::write(&steps, &mut writing),
        AgentName::OpenCode => opencode::write(&steps, &mut writing),
        AgentName::Pi => pi::write(&steps, &mut writing),
        AgentName::Gemini => gemini::write(&steps, &mut writing),
        AgentName::Qwen => qwen::write(&steps, &mut writing),
        _ => codex::write(&steps, &mut writing),
    };
    let id = writing.native_id.unwrap_or_else(|| about.id.clone());
    // They stand only inside strings; Node's own reader of lines takes them for the end of one.
    let text = text.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    Ok(NativeSession { path, text, id, losses: writing.losses.into_list() })
}

// A context's own summary is written as the user's words.
fn select_messages(agent: AgentName, messages: &[Message], losses: &mut Losses) -> Vec<Message> {
    let mut kept = Vec::with_capacity(messages.len());
    for message in messages {
        let is_own = source_agent(message) == agent.as_str();
        if message.id.is_empty() && message.role == Some(Role::System) {
            kept.push(Message { role: Some(Role::User), ..message.clone() });
        } else if message.role == Some(Role::System) {
            losses.add("system".into(), OWN_INSTRUCTIONS);
        } else if !is_own && message.role == Some(Role::User) && message.has_source_mark("isMeta") {
            losses.add("user".into(), CLIENT_TEXT);
        } else {
            kept.push(message.clone());
        }
    }
    // Codex has arguments and results as plain text.
    for message in kept.iter_mut().filter(|_| agent != AgentName::Codex) {
        make_readable(message, losses);
    }
    kept
}

// The brackets around a value that is taken over: of a record, a message, its content.
const MAX_WRAPPING_DEPTH: usize = 28;

// JSON may have a number that no double holds, or more brackets than a reader counts.
fn make_readable(message: &mut Message, losses: &mut Losses) {
    let is_unread = |text: &str| {
        let is_deep = || {
            let within =
                ["[".repeat(MAX_WRAPPING_DEPTH).as_str(), text, "]".repeat(MAX_WRAPPING_DEPTH).as_str()]
                    .concat();
            serde_json::from_str::<Value>(&within).is_err()
        };
        serde_json::from_str::<&RawValue>(text).is_ok() && is_deep()
    };
    if let Some(assistant) = &mut message.assistant {
        for call in assistant.tool_calls.iter_mut().filter(|call| is_unread(call.arguments.as_str())) {
            call.arguments = format!("{{\"arguments\":{}}}", to_json(call.arguments.as_str())).into();
            losses.add("toolCalls.arguments".into(), UNREADABLE_JSON);
        }
    }
    let text = message.content.as_str();
    if let Some(tool) = message.tool.as_mut().filter(|tool| tool.is_json && is_unread(text)) {
        tool.is_json = false;
        losses.add("tool.isJson".into(), UNREADABLE_JSON);
    }
}

fn ms_of(message: &Message) -> Option<i64> {
    message.timestamp.as_deref().and_then(time::parse)
}

fn source_agent(message: &Message) -> &str {
    message.source.as_ref().map_or("", |source| &source.agent)
}

/// The state that the writers share.
struct WriterState<'a> {
    agent: AgentName,
    format: Format,
    header: &'a NativeHeader,
    losses: Losses,
    last_ms: i64,
    uuid_count: usize,
    // The client's id of the session, if that is no uuid.
    native_id: Option<String>,
}

impl WriterState<'_> {
    /// Returns the time of a message, or of the one before it if it has none.
    fn time(&mut self, message: Option<&Message>) -> String {
        self.last_ms = message.and_then(ms_of).unwrap_or(self.last_ms);
        time::format(self.last_ms)
    }

    /// Makes the next uuid: the same for the same session.
    fn uuid(&mut self) -> String {
        self.uuid_count += 1;
        id::from_parts(&[self.header.id.as_bytes(), &(self.uuid_count as u64).to_be_bytes()])
    }

    /// Shapes a step for the provider: what is said, then the results.
    fn shape_step(&self, step: &Step<'_>) -> Vec<Value> {
        serde_json::from_str(&render_steps(core::slice::from_ref(step), self.format)).unwrap_or_default()
    }

    /// Returns the model that made an answer.
    fn model(&self, step: &Step<'_>) -> Option<String> {
        let assistant = step.message.and_then(|message| message.assistant.as_ref());
        assistant.and_then(|assistant| assistant.model.clone())
    }

    /// Returns the value that the client's own record of an answer has under this name.
    fn find_note(&self, step: &Step<'_>, name: &str) -> Option<String> {
        let source = step.message?.source.as_ref().filter(|source| source.agent == self.agent.as_str())?;
        let (_, value) = source.extra.iter().find(|(key, _)| key.trim_matches('"') == name)?;
        Text::decode(value).map(|text| text.as_str().into())
    }

    /// Returns the reasoning of an answer that the client's own provider made; all other is lost.
    fn reasoning<'m>(&mut self, step: &Step<'m>) -> &'m [Reasoning] {
        let Some(message) = step.message else { return &[] };
        let Some(assistant) = &message.assistant else { return &[] };
        if assistant.usage.is_some() {
            self.losses.add("assistant.usage".into(), TOKENS_COUNTED_BY_CLIENT);
        }
        if source_agent(message) == self.agent.as_str() {
            return &assistant.reasoning;
        }
        for _ in &assistant.reasoning {
            self.losses.add("assistant.reasoning".into(), FOREIGN_SIGNATURE);
        }
        &[]
    }
}

/// The place of a file in a step.
#[derive(Clone, Copy, PartialEq)]
enum FilePlace {
    Prompt,
    Answer,
    Result,
    Failure,
}

impl FilePlace {
    fn of_step(step: &Step<'_>) -> FilePlace {
        if step.role == Role::Assistant { FilePlace::Answer } else { FilePlace::Prompt }
    }

    fn of_result(answer: &ToolAnswer<'_>) -> FilePlace {
        if answer.is_error { FilePlace::Failure } else { FilePlace::Result }
    }
}

// Returns all files of a session.
fn all_files<'s, 'a>(steps: &'s [Step<'a>]) -> impl Iterator<Item = (FilePlace, &'s File<'a>)> {
    steps.iter().flat_map(|step| {
        let step_files = step.files.iter().map(|file| (FilePlace::of_step(step), file));
        let results = step.calls.iter().filter_map(|call| call.result.as_ref());
        let given =
            results.flat_map(|answer| answer.files.iter().map(|file| (FilePlace::of_result(answer), file)));
        step_files.chain(given)
    })
}

/// True if a client takes a file there. For any other it would refuse the session, or drop the message.
fn takes_file(agent: AgentName, place: FilePlace, file: &File<'_>) -> bool {
    let is_here = matches!(file.source, FileSource::Data(_));
    let is_near =
        is_here || matches!(file.source, FileSource::Url(address) if address.starts_with("https://"));
    let is_image = IMAGE_TYPES.contains(&file.mime) || (!is_here && file.mime.starts_with("image/"));
    match agent {
        AgentName::Gemini | AgentName::Qwen => gemini_shape::accepts_file(file),
        AgentName::ClaudeCode => {
            let is_known = is_image || file.mime == "application/pdf";
            matches!(place, FilePlace::Prompt | FilePlace::Result) && is_near && is_known
        }
        AgentName::OpenCode => place != FilePlace::Failure && is_here && is_image,
        AgentName::Copilot => matches!(place, FilePlace::Prompt | FilePlace::Result) && is_here && is_image,
        _ => place != FilePlace::Answer && is_here && is_image,
    }
}

/// Splits what is said: a text for each file that the client does not take there, and the files that it takes.
fn split_files<'f, 'a>(
    agent: AgentName,
    place: FilePlace,
    text: &str,
    files: &'f [File<'a>],
) -> (String, Vec<&'f File<'a>>) {
    let (taken, others): (Vec<_>, Vec<_>) = files.iter().partition(|file| takes_file(agent, place, file));
    let mut texts = Vec::from([String::from(text)]);
    texts.extend(others.iter().map(|file| file.describe()));
    texts.retain(|text| !text.is_empty());
    (texts.join("\n"), taken)
}

/// Returns the parts of the first of Gemini's contents: what is said.
fn first_parts(shaped: &[Value]) -> Vec<Value> {
    shaped.first().and_then(|content| content["parts"].as_array()).cloned().unwrap_or_default()
}

/// Returns a step's results, each with its parts in the second content: a function's answer stands before all files.
fn results_with_parts<'s, 'a>(
    step: &'s Step<'a>,
    shaped: &[Value],
) -> Vec<(&'s Call<'a>, &'s ToolAnswer<'a>, Vec<Value>)> {
    let results = step.results();
    let mut answers = first_parts(shaped.get(1..).unwrap_or_default()).into_iter();
    let answered: Vec<Value> = answers.by_ref().take(results.len()).collect();
    let with_files = results.into_iter().zip(answered).map(|((call, answer), part)| {
        let mut parts = Vec::from([part]);
        parts.extend(answers.by_ref().take(answer.files.len()));
        (call, answer, parts)
    });
    with_files.collect()
}

/// Renders lines of JSON.
fn render_lines(records: &[Value]) -> String {
    let lines: Vec<String> = records.iter().map(|record| format!("{record}\n")).collect();
    lines.concat()
}

/// Makes a folder's name of a path as clients do: whatever is no letter and no digit becomes a dash, each half of a
/// surrogate pair one.
fn dash_path(path: &str) -> String {
    let dash = |unit: u16| char::from_u32(unit.into()).filter(char::is_ascii_alphanumeric).unwrap_or('-');
    path.encode_utf16().map(dash).collect()
}
