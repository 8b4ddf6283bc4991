//! Reads VS Code's chats: `chatSessions/<session>.json`, a document, or `<session>.jsonl`, a log of changes; a chat that
//! was exported; and Copilot Chat's transcripts, whose events are those of Copilot CLI.
//!
//! A chat is a list of requests, each with all that answers it. A request that the log removes was taken back; one that
//! is hidden will be, as soon as the user goes on.

mod chat_log;
mod invocation;
mod parts;
mod request;
mod table;
mod values;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::Error;
use crate::interop::conversation::ConversationBuilder;
use crate::interop::lines::{
    MAX_SOURCE_LINE, file_stem, first_objects, lines, new_problem, records, reject_empty, require_sessions,
    span_of,
};
use crate::interop::{AgentName, Import, ImportedSession, Losses, Object, copilot};
use crate::json::hash::sha256;
use crate::record::scan::{Problem, ProblemCode};
use crate::record::span::Span;

use chat_log::ChatLog;
use request::add_request;
use table::REASONS;

pub(crate) use request::PENDING_KEY;
pub use table::COVERAGE;

/// The longest id of a request, or a model's name, that its messages repeat. VS Code's ids have 44 bytes.
const MAX_ID_BYTES: usize = 128;
const NO_CHANGE: &str = "expected a change of the chat, but found one of nothing that is there";

/// True if these bytes are a chat of VS Code, or a transcript of Copilot Chat.
pub(crate) fn can_read(bytes: &[u8]) -> bool {
    let is_document = Object::parse_document("", bytes).is_some_and(|document| is_chat(&document));
    is_document || first_states(bytes).any(|mut line| is_first_state(&mut line)) || is_transcript(bytes)
}

// A whole chat may stand on a line that is longer than any other agent's.
fn first_states(bytes: &[u8]) -> impl Iterator<Item = Object<'_>> {
    let long = lines(bytes).take(1).filter(|(_, line)| line.len() > MAX_SOURCE_LINE);
    first_objects(bytes, 16).chain(long.filter_map(|(_, line)| parse_long_line(line)))
}

fn parse_long_line(line: &[u8]) -> Option<Object<'_>> {
    Object::parse("", core::str::from_utf8(line).ok()?).ok()
}

fn is_chat(object: &Object<'_>) -> bool {
    let is_list = object.raw("requests").is_some_and(|requests| requests.starts_with('['));
    is_list && (object.has("responderUsername") || object.has("sessionId") && object.has("creationDate"))
}

fn is_first_state(line: &mut Object<'_>) -> bool {
    line.raw("kind") == Some("0")
        && line.take_object("v", &mut Losses::default()).is_some_and(|state| is_chat(&state))
}

fn is_transcript(bytes: &[u8]) -> bool {
    first_objects(bytes, 16).any(|mut event| {
        event.raw("type") == Some("\"session.start\"")
            && event.take_object("data", &mut Losses::default()).is_some_and(|data| data.has("vscodeVersion"))
    })
}

/// Reads a chat. `name` is the file's name, for the id of a chat that gives none itself.
///
/// # Errors
/// `empty_file`, also if nothing was said; `unknown_format` if nothing in the bytes is VS Code's; `line_too_long` if all
/// that there is is too long to be stored.
pub fn read(bytes: &[u8], name: &str) -> Result<Import, Error> {
    reject_empty(bytes, AgentName::VsCode)?;
    if is_transcript(bytes) {
        return copilot::read_events(bytes, name, AgentName::VsCode);
    }
    let mut log = ChatLog::default();
    let mut problems = Vec::new();
    let document = Object::parse_document("", bytes).filter(is_chat);
    let is_known = match document.and(core::str::from_utf8(bytes).ok()) {
        Some(text) => {
            log.begin(text.trim_start_matches('\u{feff}').trim(), |request| span_of(bytes, request))
        }
        None => apply_lines(&mut log, bytes, &mut problems),
    };
    let session = read_chat(log, bytes, name, &mut problems);
    problems.sort_by_key(|problem| problem.start);
    let sessions = Vec::from_iter(Some(session).filter(|session| !session.messages.is_empty()));
    require_sessions(Import { sessions, problems }, bytes, AgentName::VsCode, is_known)
}

// Applies the lines of a log; true if one of them is a chat's first state.
fn apply_lines<'a>(log: &mut ChatLog<'a>, bytes: &'a [u8], problems: &mut Vec<Problem>) -> bool {
    let mut is_known = false;
    for (start, line) in lines(bytes) {
        let long = if line.len() > MAX_SOURCE_LINE { parse_long_line(line) } else { None };
        let whole = Span { start: start as u64, end: (start + line.len()) as u64 };
        let found: Vec<Result<(Object<'a>, Span), Problem>> = match long {
            Some(object) => Vec::from([Ok((object, whole))]),
            None => records(line, AgentName::VsCode).collect(),
        };
        for record in found {
            let begin = start as u64;
            match record {
                Ok((object, place)) => {
                    let place = Span { start: begin + place.start, end: begin + place.end };
                    let is_first = object.raw("kind") == Some("0");
                    let is_applied = log.apply(object, if is_first { whole } else { place });
                    is_known |= is_first && is_applied;
                    if !is_applied {
                        problems.push(new_problem(ProblemCode::Foreign, place, NO_CHANGE));
                    }
                }
                Err(problem) => {
                    let (start, end) = (begin + problem.start, begin + problem.end);
                    problems.push(Problem { start, end, ..problem });
                }
            }
        }
    }
    is_known
}

fn read_chat(log: ChatLog<'_>, bytes: &[u8], name: &str, problems: &mut Vec<Problem>) -> ImportedSession {
    let mut talk = ConversationBuilder::new(AgentName::VsCode);
    let (session, histories, current) = log.finish();
    read_session(&mut talk, &session, name, histories.first().map(|first| first.id.as_str()));
    // The last message of each request, and the first request that the user has hidden to take it back.
    let mut ends: Vec<Option<usize>> = Vec::new();
    let mut hidden = None;
    for (index, history) in histories.iter().enumerate() {
        let (before, count) = (history.parent.and_then(|parent| ends[parent]), talk.drafts.len());
        continue_after(&mut talk, before);
        // Each message of the request repeats its name.
        let native = match history.id.len() {
            0 => format!("request-{index}"),
            1..=MAX_ID_BYTES => history.id.clone(),
            _ => sha256(history.id.as_bytes()),
        };
        let is_last = current.last() == Some(&index);
        let is_hidden = add_request(&mut talk, history, native, is_last, bytes.len() as u64);
        ends.push(if talk.drafts.len() > count { Some(talk.drafts.len() - 1) } else { before });
        if is_hidden && history.is_current {
            hidden = hidden.or_else(|| current.iter().position(|shown| *shown == index));
        }
    }
    let shown = &current[..hidden.unwrap_or(current.len())];
    continue_after(&mut talk, shown.last().and_then(|last| ends[*last]));
    talk.finish(problems)
}

// What follows hangs from this message; all behind it was taken back.
fn continue_after(talk: &mut ConversationBuilder, before: Option<usize>) {
    match before {
        Some(before) => talk.rewind_after(before),
        None if talk.is_empty() => {}
        None => talk.rewind(0),
    }
}

fn read_session(talk: &mut ConversationBuilder, json: &str, name: &str, first_request: Option<&str>) {
    let ConversationBuilder { session, losses, .. } = talk;
    let Ok(mut chat) = Object::parse("session", json) else { return };
    let id = chat.take_name("sessionId", losses).filter(|id| !id.is_empty());
    // A chat that was exported has no id.
    let id = id.or_else(|| first_request.filter(|id| !id.is_empty()).map(String::from));
    session.source_id = id.unwrap_or_else(|| file_stem(name, ".json").into());
    let title: Option<String> = chat.take("customTitle", losses);
    session.title = title.or(chat.take("computedTitle", losses));
    session.created_ms = chat.take_ms("creationDate", losses);
    chat.take_raw("version");
    chat.report_rest_lost(losses, REASONS);
}
