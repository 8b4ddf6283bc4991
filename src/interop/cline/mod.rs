//! Reads Cline's sessions: `<id>.messages.json` of its SDK, one document each; and a task of its older versions, either
//! as the model's messages (`api_conversation_history.json`) or as what was shown (`ui_messages.json`), each a list.
//!
//! A task's two files tell the same conversation: whoever has both reads the first. They give no id: the folder in the
//! given name is it, else their first entry. Cline names a message anew each time it is loaded again, by adding
//! `_tool_` and a call's id: so the part before that names it, and a result is named by its call. The model's messages
//! after a compaction are a file like the session's; it is a conversation of its own beside it, `<session>/compaction`.

mod content;
mod table;
mod ui_messages;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::{Code, Error};
use crate::interop::conversation::{ConversationBuilder, RecordOrigin, set_flag};
use crate::interop::lines::{reject_empty, require_sessions, span_of};
use crate::interop::loss;
use crate::interop::{AgentName, Import, Losses, Object};
use crate::json::fields::parse_items;
use crate::json::hash::sha256;
use crate::record::message::{Assistant, Message, Role, Usage};
use crate::shapes::answer_pieces::AnswerPiece;
use crate::time;

use content::{MessageContent, read_content};
use table::REASONS;

pub use table::COVERAGE;

enum ClineFile<'a> {
    Session(Object<'a>),
    History(Vec<&'a str>),
    Shown(Vec<&'a str>),
}

/// True if these bytes are a session or a task of Cline.
pub(crate) fn can_read(bytes: &[u8]) -> bool {
    match detect_file(bytes) {
        Some(ClineFile::History(messages)) => messages.iter().any(|message| is_signed(message)),
        found => found.is_some(),
    }
}

fn detect_file(bytes: &[u8]) -> Option<ClineFile<'_>> {
    let json = core::str::from_utf8(bytes).ok()?.trim_start_matches('\u{feff}').trim();
    if json.starts_with('{') {
        let document = Object::parse_document("session", bytes)?;
        let is_it = ["sessionId", "updated_at", "agent"].iter().all(|name| document.has(name))
            && document.raw("messages").is_some_and(|messages| messages.starts_with('['));
        return is_it.then_some(ClineFile::Session(document));
    }
    let entries = parse_items(json)?;
    let first = Object::parse("", entries.first()?).ok()?;
    if first.has("ts") && (first.has("say") || first.has("ask")) {
        return Some(ClineFile::Shown(entries));
    }
    (first.has("role") && first.has("content")).then_some(ClineFile::History(entries))
}

// Other programs have lists of such messages, too: Cline's have more fields, or its text.
fn is_signed(message: &str) -> bool {
    let Ok(message) = Object::parse("", message) else { return false };
    let content = message.raw("content").unwrap_or_default();
    let has = ["modelInfo", "metrics", "conversationHistoryIndex"].iter().any(|name| message.has(name));
    has || ["<task>", "<environment_details>", "<user_message>"].iter().any(|tag| content.contains(tag))
}

/// Reads a session or a task. `name` is the file's name; if it has a folder, that names a task.
///
/// # Errors
/// `empty_file`, also if nothing was said; `unknown_format` if it is none.
pub fn read(bytes: &[u8], name: &str) -> Result<Import, Error> {
    reject_empty(bytes, AgentName::Cline)?;
    let unknown = || {
        let message = "expected a session or a task of cline, but found something else instead";
        Error::new(Code::UnknownFormat, message)
    };
    let mut talk = ConversationBuilder::new(AgentName::Cline);
    match detect_file(bytes).ok_or_else(unknown)? {
        ClineFile::Session(document) => read_session(&mut talk, document, bytes),
        ClineFile::History(entries) => {
            talk.session.source_id = task_id(name, entries[0]);
            for (at, json) in entries.into_iter().enumerate() {
                // Such a message has no id, and the list is only added to.
                read_message(&mut talk, json, bytes, format!("{at}/{}", sha256(json.as_bytes())));
            }
        }
        ClineFile::Shown(entries) => {
            talk.session.source_id = task_id(name, entries[0]);
            ui_messages::read(&mut talk, &entries, bytes);
        }
    }
    let last_ms = talk.session.last_ms;
    let mut problems = Vec::new();
    let mut session = talk.finish(&mut problems);
    session.last_ms = session.last_ms.or(last_ms);
    let sessions = Vec::from_iter(Some(session).filter(|session| !session.messages.is_empty()));
    require_sessions(Import { sessions, problems }, bytes, AgentName::Cline, true)
}

fn task_id(name: &str, first: &str) -> String {
    let folder = name.rsplit(['/', '\\']).nth(1).filter(|folder| !folder.is_empty());
    folder.map_or_else(|| sha256(first.as_bytes())[..32].into(), String::from)
}

fn read_session(talk: &mut ConversationBuilder, mut document: Object<'_>, bytes: &[u8]) {
    let ConversationBuilder { session, losses, .. } = talk;
    session.source_id = document.take("sessionId", losses).unwrap_or_default();
    let updated = document.take_time("updated_at", losses);
    session.last_ms = updated.as_deref().and_then(time::parse);
    let origin = document.take_object("origin", losses);
    let version = origin.and_then(|mut origin| {
        let version: Option<String> = origin.take("version", losses);
        origin.report_rest_lost(losses, REASONS);
        version
    });
    let messages = document.take_objects("messages", losses);
    document.report_rest_lost(losses, REASONS);
    talk.note_version(version, COVERAGE.tested_versions);
    if messages.first().is_some_and(|(first, _)| is_summary(first)) {
        talk.session.source_id.push_str("/compaction");
    }
    for (json, _) in messages {
        let place = span_of(bytes, json);
        read_message(talk, json, bytes, format!("byte-{}", place.start));
    }
}

fn is_summary(message: &str) -> bool {
    let quiet = &mut Losses::default();
    let metadata =
        Object::parse("", message).ok().and_then(|mut message| message.take_object("metadata", quiet));
    let kind = metadata.and_then(|mut metadata| metadata.take::<String>("kind", quiet));
    kind.is_some_and(|kind| kind.starts_with("compaction"))
}

fn read_message(talk: &mut ConversationBuilder, json: &str, bytes: &[u8], fallback: String) {
    let losses = &mut talk.losses;
    let Ok(mut object) = Object::parse("message", json) else {
        return losses.add("message".into(), loss::NO_MESSAGE);
    };
    let role: Option<String> = object.take("role", losses);
    let ts = object.take_ms("ts", losses);
    let id: Option<String> = object.take("id", losses);
    let native = id.map_or(fallback, |id| id.split("_tool_").next().unwrap_or_default().into());
    let mut origin =
        RecordOrigin { native, ..RecordOrigin::from_place(span_of(bytes, json), ts.map(time::format)) };
    if let Some(mut metadata) = object.take_object("metadata", losses) {
        if is_summary(json) {
            set_flag(&mut origin.flags, "isCompactSummary");
            metadata.take_raw("kind");
        }
        metadata.report_rest_lost(losses, REASONS);
    }
    let assistant = take_assistant(&mut object, losses);
    let MessageContent { pieces, plain, results } = read_content(&mut object, losses);
    object.take_raw("sessionId");
    object.report_rest_lost(losses, REASONS);
    for (result, call) in results {
        talk.add(result, RecordOrigin { native: format!("result/{call}"), ..origin.clone() });
    }
    match role.as_deref() {
        Some("assistant") => {
            let role = Some(Role::Assistant);
            let attachments = plain.attachments;
            let partial = pieces.last().is_some_and(is_cut);
            let at = talk.add(
                Message { role, assistant: Some(assistant), attachments, partial, ..Message::default() },
                origin,
            );
            talk.extend(at, pieces, 0);
        }
        Some("user") if plain.is_empty() => {}
        Some("user") => {
            talk.add(plain.into_message(Role::User), origin);
        }
        _ => report_unknown_role(talk, role),
    }
}

// Cline says it behind what it got of an answer.
fn is_cut(last: &AnswerPiece) -> bool {
    let AnswerPiece::Text(text) = last else { return false };
    ["[Response interrupted by user]", "[Response interrupted by API Error]"]
        .iter()
        .any(|end| text.as_str().trim_end().ends_with(end))
}

fn report_unknown_role(talk: &mut ConversationBuilder, role: Option<String>) {
    let role = role.unwrap_or_default();
    talk.losses.add(format!("record:{role}"), loss::UNKNOWN_MESSAGE);
}

fn take_assistant(object: &mut Object<'_>, losses: &mut Losses) -> Assistant {
    let mut assistant = Assistant::default();
    if let Some(mut model) = object.take_object("modelInfo", losses) {
        // Older versions call it so.
        assistant.model = model.take("id", losses).or_else(|| model.take("modelId", losses));
        model.report_rest_lost(losses, REASONS);
    }
    if let Some(mut counts) = object.take_object("metrics", losses) {
        // The sum includes the tokens read from the cache or written to it.
        let input: Option<u64> = counts.take("inputTokens", losses);
        let cache_read: Option<u64> = counts.take("cacheReadTokens", losses);
        let cache_write: Option<u64> = counts.take("cacheWriteTokens", losses);
        let cached = cache_read.unwrap_or_default().saturating_add(cache_write.unwrap_or_default());
        let output = counts.take("outputTokens", losses);
        let input = input.map(|input| input.saturating_sub(cached));
        let usage = Usage { input, output, cache_read, cache_write, ..Usage::default() };
        assistant.usage = (input.is_some() || output.is_some()).then_some(usage);
        counts.report_rest_lost(losses, REASONS);
    }
    assistant
}
