//! Reads Nanocoder's sessions: `<data>/sessions/<id>.json`, one JSON document each.
//!
//! The document keeps no ids and no times of messages: an id is made from the place and the words of a message, so that
//! importing again gives the same; its time is that of the session's beginning, the only one that never changes.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::{Code, Error};
use crate::interop::conversation::{ConversationBuilder, RecordOrigin};
use crate::interop::lines::require_sessions;
use crate::interop::loss;
use crate::interop::{AgentName, Coverage, Import, LossReasons, Losses, Object};
use crate::json::hash::sha256;
use crate::json::text::Text;
use crate::record::message::{Assistant, Message, Role, Tool, ToolCall};
use crate::shapes::answer_pieces::AnswerPiece;
use crate::time;

/// The reader's coverage.
pub const COVERAGE: Coverage = Coverage {
    tested_versions: &["1.30.0"],
    mapped_fields: &[
        "session.id",
        "session.title",
        "session.createdAt",
        "session.lastAccessedAt",
        "session.model",
        "session.workingDirectory",
        "session.messages",
        "session.messages[]",
        "session.messages[].role",
        "session.messages[].content",
        "session.messages[].tool_calls",
        "session.messages[].tool_calls[]",
        "session.messages[].tool_calls[].id",
        "session.messages[].tool_calls[].function",
        "session.messages[].tool_calls[].function.name",
        "session.messages[].tool_call_id",
        "session.messages[].name",
    ],
    whole_fields: &["session.messages[].tool_calls[].function.arguments"],
};

// Fields that follow from the messages, or are a way to show them.
const REASONS: LossReasons = &[
    ("session.messageCount", "follows from other fields"),
    ("session.titleManuallySet", "follows from other fields"),
];

/// True if these bytes are a document of nanocoder.
pub(crate) fn can_read(bytes: &[u8]) -> bool {
    Object::parse_document("", bytes).is_some_and(|document| is_session(&document))
}

fn is_session(document: &Object<'_>) -> bool {
    let names = ["id", "messages", "workingDirectory", "createdAt", "lastAccessedAt"];
    names.iter().all(|name| document.has(name))
}

/// Reads a session.
///
/// # Errors
/// `empty_file` if nothing was said; `unknown_format` if it is no document of nanocoder.
pub fn read(bytes: &[u8]) -> Result<Import, Error> {
    let unknown =
        || Error::new(Code::UnknownFormat, "expected a session of nanocoder, but found something else");
    let document = Object::parse_document("session", bytes).filter(is_session);
    let mut document = document.ok_or_else(unknown)?;
    if !document.raw("messages").is_some_and(|messages| messages.starts_with('[')) {
        return Err(unknown());
    }
    let mut talk = ConversationBuilder::new(AgentName::Nanocoder);
    let ConversationBuilder { session, losses, .. } = &mut talk;
    session.source_id = document.take("id", losses).ok_or_else(unknown)?;
    session.title = document.take("title", losses);
    session.folder = document.take("workingDirectory", losses);
    session.model = document.take_name("model", losses);
    let created = document.take_time("createdAt", losses);
    let last = document.take_time("lastAccessedAt", losses);
    session.created_ms = created.as_deref().and_then(time::parse);
    session.last_ms = last.as_deref().and_then(time::parse);
    for (place, (json, object)) in document.take_objects("messages", losses).into_iter().enumerate() {
        add_message(&mut talk, object, format!("{place}/{}", sha256(json.as_bytes())));
    }
    document.report_rest_lost(&mut talk.losses, REASONS);
    let last_ms = talk.session.last_ms;
    let mut problems = Vec::new();
    let mut session = talk.finish(&mut problems);
    session.last_ms = last_ms.or(session.last_ms);
    let sessions = Vec::from_iter(Some(session).filter(|session| !session.messages.is_empty()));
    require_sessions(Import { sessions, problems }, bytes, AgentName::Nanocoder, true)
}

fn add_message(talk: &mut ConversationBuilder, mut object: Object<'_>, native: String) {
    let losses = &mut talk.losses;
    let role: Option<Role> = object.take("role", losses);
    let content: Text = object.take("content", losses).unwrap_or_default();
    let calls = object.take_objects("tool_calls", losses);
    let calls: Vec<AnswerPiece> = calls.into_iter().filter_map(|(_, call)| tool_call(call, losses)).collect();
    let call_id: Option<String> = object.take("tool_call_id", losses);
    let name: Option<String> = object.take("name", losses);
    object.report_rest_lost(losses, REASONS);
    let message = Message {
        role,
        tool: (role == Some(Role::Tool)).then(|| Tool {
            call_id: call_id.unwrap_or_default(),
            name: name.unwrap_or_default(),
            ..Tool::default()
        }),
        assistant: (role == Some(Role::Assistant))
            .then(|| Assistant { model: talk.session.model.clone(), ..Assistant::default() }),
        ..Message::default()
    };
    let origin = RecordOrigin { native, ..RecordOrigin::default() };
    match role {
        None => losses.add("session.messages[]".into(), loss::NO_MESSAGE),
        Some(Role::Assistant) => {
            let place = talk.add(message, origin);
            talk.extend(place, Vec::from([AnswerPiece::Text(content)]), 0);
            talk.extend(place, calls, 0);
        }
        Some(_) => {
            talk.add(Message { content, ..message }, origin);
        }
    }
}

fn tool_call(mut call: Object<'_>, losses: &mut Losses) -> Option<AnswerPiece> {
    let mut function = call.take_object("function", losses)?;
    let id = call.take("id", losses).unwrap_or_default();
    let name = function.take("name", losses).unwrap_or_default();
    let arguments = function.take_arguments("arguments", losses);
    function.report_rest_lost(losses, REASONS);
    call.report_rest_lost(losses, REASONS);
    Some(AnswerPiece::Call(ToolCall { id, name, arguments }))
}
