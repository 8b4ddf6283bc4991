//! Nanocoder's sessions: `<data>/sessions/<id>.json`, one JSON document each; tested with 1.30.0.
//!
//! The document keeps no ids and no times of messages: an id is made from the place and the words of a message, so that
//! importing again gives the same; its time is that of the session's beginning, the only one that never changes.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::error::{Code, Error};
use crate::fields::{Field, items};
use crate::interop::{AgentName, Import, ImportedSession, Losses, Object};
use crate::session::id::{self, sha256};
use crate::session::message::{Assistant, Message, Role, Source, Tool, ToolCall};
use crate::text::{Extra, Text};
use crate::time;

const AGENT: &str = AgentName::Nanocoder.as_str();
/// What it says of itself that follows from the messages, or is a way to show them.
const DERIVED: &str = "it follows from the rest";
const UNKNOWN: &str = "leftoff has no place for it";

/// Whether these bytes are a document of nanocoder.
pub(crate) fn knows(bytes: &[u8]) -> bool {
    document(bytes).is_some_and(|document| {
        let names = ["id", "messages", "workingDirectory", "createdAt", "lastAccessedAt"];
        names.iter().all(|name| document.has(name))
    })
}

/// Reads a session.
///
/// # Errors
/// `unknown_format` where it is no document of nanocoder.
pub fn read(bytes: &[u8]) -> Result<Import, Error> {
    let unknown =
        || Error::new(Code::UnknownFormat, "expected a session of nanocoder, but found something else");
    if !knows(bytes) {
        return Err(unknown());
    }
    let mut document = document(bytes).ok_or_else(unknown)?;
    let mut losses = Losses::default();
    let source_id: String = document.take("id", &mut losses).ok_or_else(unknown)?;
    let created: Option<String> = document.take("createdAt", &mut losses);
    let last: Option<String> = document.take("lastAccessedAt", &mut losses);
    let created_ms = created.as_deref().and_then(time::parse);
    let last_ms = last.as_deref().and_then(time::parse).or(created_ms);
    let model: Option<String> = document.take("model", &mut losses);
    let raw = document.take_raw("messages").and_then(items).ok_or_else(unknown)?;
    let mut messages: Vec<Message> = Vec::with_capacity(raw.len());
    for (place, json) in raw.into_iter().enumerate() {
        let native = format!("{place}/{}", sha256(json.as_bytes()));
        let Some(mut message) = message(json, model.as_deref(), &mut losses) else { continue };
        message.id = id::imported(AGENT, &source_id, &native, created_ms.unwrap_or_default());
        message.parent_id = messages.last().map(|before| before.id.clone());
        message.timestamp = created_ms.map(time::format);
        message.source = Some(Source { agent: AGENT.into(), id: place.to_string(), extra: Extra::default() });
        messages.push(message);
    }
    let session = ImportedSession {
        id: id::imported(AGENT, &source_id, "", created_ms.unwrap_or_default()),
        agent: AGENT,
        title: document.take("title", &mut losses),
        folder: document.take("workingDirectory", &mut losses),
        source_id,
        model,
        created_ms,
        last_ms,
        messages,
        ..ImportedSession::default()
    };
    document.leave(&mut losses, |path| {
        if matches!(path, "session.messageCount" | "session.titleManuallySet") { DERIVED } else { UNKNOWN }
    });
    Ok(Import {
        sessions: Vec::from([ImportedSession { losses: losses.list(), ..session }]),
        problems: Vec::new(),
    })
}

fn document(bytes: &[u8]) -> Option<Object<'_>> {
    let json = core::str::from_utf8(bytes).ok()?;
    Object::parse("session", json.trim_start_matches('\u{feff}')).ok()
}

fn message(json: &str, model: Option<&str>, losses: &mut Losses) -> Option<Message> {
    let Ok(mut object) = Object::parse("messages", json) else {
        losses.add("messages".into(), "it is no message");
        return None;
    };
    let role: Option<Role> = object.take("role", losses);
    let content: Text = object.take("content", losses).unwrap_or_default();
    let calls = object.take_raw("tool_calls").and_then(items).unwrap_or_default();
    let calls: Vec<ToolCall> = calls.into_iter().filter_map(|call| tool_call(call, losses)).collect();
    let call_id: Option<String> = object.take("tool_call_id", losses);
    let name: Option<String> = object.take("name", losses);
    let message = Message {
        role,
        content,
        tool: (role == Some(Role::Tool)).then(|| Tool {
            call_id: call_id.unwrap_or_default(),
            name: name.unwrap_or_default(),
            ..Tool::default()
        }),
        assistant: (role == Some(Role::Assistant)).then(|| Assistant {
            model: model.map(String::from),
            tool_calls: calls,
            ..Assistant::default()
        }),
        ..Message::default()
    };
    object.leave(losses, |_| UNKNOWN);
    role.is_some().then_some(message)
}

fn tool_call(json: &str, losses: &mut Losses) -> Option<ToolCall> {
    let mut call = Object::parse("messages.tool_calls", json).ok()?;
    let id = call.take("id", losses).unwrap_or_default();
    let mut function = Object::parse("messages.tool_calls.function", call.take_raw("function")?).ok()?;
    let name = function.take("name", losses).unwrap_or_default();
    // An object, as the client parsed it; kept as JSON.
    let raw = function.take_raw("arguments").unwrap_or("{}");
    let arguments = if raw.starts_with('"') {
        Text::read(raw, "arguments", &mut Vec::new()).unwrap_or_default()
    } else {
        raw.into()
    };
    function.leave(losses, |_| UNKNOWN);
    call.leave(losses, |_| UNKNOWN);
    Some(ToolCall { id, name, arguments })
}
