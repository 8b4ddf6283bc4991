//! Reads OpenCode's sessions, as `opencode export` gives them: `{info, messages: [{info, parts}]}`.
//! `js/agents/opencode.js` turns its database into the same, and `folder_tree.rs` its older folders.
//!
//! A message of an assistant may have several steps; each is an answer of its own, so that a call's result stands
//! before the words after it. A tool part is a call of the answer and, once it has an output or an error, a message
//! behind it. Text that the client wrote in the user's name (`synthetic`), or that no model saw (`ignored`), is a
//! message of its own with that mark, whatever stood between. Messages that `revert` takes back stay, with a mark, and
//! off the path: the client removes them with the next prompt.

mod folder_tree;
mod parts;
mod table;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::{Code, Error};
use crate::interop::conversation::{ConversationBuilder, MessageDraft, RecordOrigin, set_flag};
use crate::interop::lines::{reject_empty, require_sessions, span_of};
use crate::interop::loss;
use crate::interop::{AgentName, Import, ImportedSession, Object};
use crate::json::request;
use crate::record::event::Parent;
use crate::record::span::Span;
use crate::time;

use parts::{Envelope, add_answers, add_prompt};
use table::REASONS;

pub use folder_tree::{paths_to_read_first, session_groups, sessions_of_tree};

pub use table::COVERAGE;

/// The provider whose model answered: the client sends reasoning on to the same one alone, and to others as plain text.
pub(super) const PROVIDER_KEY: &str = "provider";

const AGENT: &str = AgentName::OpenCode.as_str();

/// True if these bytes are an export of OpenCode.
pub(crate) fn can_read(bytes: &[u8]) -> bool {
    Object::parse_document("", bytes).is_some_and(|document| is_export(&document))
}

fn is_export(document: &Object<'_>) -> bool {
    let is_list = document.raw("messages").is_some_and(|messages| messages.starts_with('['));
    let info = document.raw("info").and_then(|info| Object::parse("", info).ok());
    is_list && info.is_some_and(|info| info.raw("id").is_some_and(|id| id.starts_with('"')))
}

/// Reads an export.
///
/// # Errors
/// `empty_file`, also if nothing was said; `unknown_format` if it is no export of OpenCode.
pub fn read(bytes: &[u8]) -> Result<Import, Error> {
    reject_empty(bytes, AgentName::OpenCode)?;
    let document = Object::parse_document("export", bytes).filter(is_export);
    let mut document = document.ok_or_else(|| {
        let message = "expected an export of opencode ({info, messages}), but found something else instead";
        Error::new(Code::UnknownFormat, message)
    })?;
    let mut talk = ConversationBuilder::new(AgentName::OpenCode);
    let info = document.take_object("info", &mut talk.losses);
    let reverted = info.and_then(|info| read_session(&mut talk, info.with_path("session")));
    for (json, object) in document.take_objects("messages", &mut talk.losses) {
        read_message(&mut talk, object.with_path("message"), span_of(bytes, json));
    }
    document.report_rest_lost(&mut talk.losses, REASONS);
    reverted.unwrap_or_default().apply_to(&mut talk);
    let last_ms = talk.session.last_ms;
    let mut problems = Vec::new();
    let mut session = talk.finish(&mut problems);
    session.last_ms = session.last_ms.max(last_ms);
    let sessions = Vec::from_iter(Some(session).filter(|session| !session.messages.is_empty()));
    require_sessions(Import { sessions, problems }, bytes, AgentName::OpenCode, true)
}

/// Reads what a plugin is handed: a message, `{info, parts}`, or all of a session, as an export has them. Returns also
/// whether it is all. A message in which nothing was said yet gives none.
///
/// # Errors
/// `invalid_request` if it is neither.
pub(crate) fn read_recorded(json: &str) -> Result<(ImportedSession, bool), Error> {
    let document = Object::parse("", json).ok();
    let is_whole = document.as_ref().is_some_and(is_export);
    let info = document.and_then(|message| Object::parse("", message.raw("info")?).ok());
    let session = info.as_ref().and_then(|info| info.raw("sessionID").filter(|id| id.starts_with('"')));
    let read = match session {
        _ if is_whole => read(json.as_bytes()),
        Some(id) => read(format!("{{\"info\":{{\"id\":{id}}},\"messages\":[{json}]}}").as_bytes()),
        None => {
            let message = "expected a message of opencode ({info, parts}) or an export, but found something else instead";
            return Err(request::error(message));
        }
    };
    let session = match read {
        Ok(import) => import.sessions.into_iter().next().unwrap_or_default(),
        Err(error) if error.code == Code::EmptyFile => ImportedSession::default(),
        Err(error) => return Err(error),
    };
    Ok((session, is_whole))
}

fn read_session(talk: &mut ConversationBuilder, mut info: Object<'_>) -> Option<RevertPoint> {
    let ConversationBuilder { session, losses, .. } = talk;
    session.source_id = info.take("id", losses).unwrap_or_default();
    session.title = info.take("title", losses);
    session.folder = info.take("directory", losses);
    let parent: Option<String> = info.take("parentID", losses);
    session.parent = parent.map(|id| Parent { session: format!("{AGENT}/{id}"), call_id: None });
    if let Some(mut model) = info.take_object("model", losses) {
        session.model = model.take("id", losses);
        model.report_rest_lost(losses, REASONS);
    }
    if let Some(mut time) = info.take_object("time", losses) {
        session.created_ms = time.take_ms("created", losses);
        session.last_ms = time.take("updated", losses);
        time.report_rest_lost(losses, REASONS);
    }
    let version: Option<String> = info.take("version", losses);
    let revert = info.take_object("revert", losses);
    let reverted = revert.map(|mut revert| {
        let reverted =
            RevertPoint { message: revert.take("messageID", losses), part: revert.take("partID", losses) };
        revert.report_rest_lost(losses, REASONS);
        reverted
    });
    info.report_rest_lost(losses, REASONS);
    talk.note_version(version, COVERAGE.tested_versions);
    reverted
}

fn read_message(talk: &mut ConversationBuilder, mut object: Object<'_>, place: Span) {
    let losses = &mut talk.losses;
    let Some(mut info) = object.take_object("info", losses) else {
        return object.report_rest_lost(losses, REASONS);
    };
    let role: String = info.take("role", losses).unwrap_or_default();
    let mut info = info.with_path(role.as_str());
    let mut origin = RecordOrigin::from_place(place, None);
    origin.native = info.take_name("id", losses).unwrap_or(origin.native);
    info.take_raw("sessionID");
    let mut envelope = Envelope { origin, ..Envelope::default() };
    if let Some(mut time) = info.take_object("time", losses) {
        envelope.created_ms = time.take_ms("created", losses);
        envelope.completed_ms = time.take_ms("completed", losses);
        time.report_rest_lost(losses, REASONS);
    }
    envelope.origin.timestamp = envelope.created_ms.map(time::format);
    let parts = object.take_blocks("parts", losses);
    object.report_rest_lost(losses, REASONS);
    match role.as_str() {
        "user" => {
            add_prompt(talk, &envelope, parts);
            info.report_rest_lost(&mut talk.losses, REASONS);
        }
        "assistant" => add_answers(talk, envelope, info, parts),
        _ => losses.add(format!("record:{role}"), loss::UNKNOWN_MESSAGE),
    }
}

/// The beginning of what was taken back: a message, or a part of it.
#[derive(Default)]
struct RevertPoint {
    message: Option<String>,
    part: Option<String>,
}

impl RevertPoint {
    // A part that is no message of its own belongs to one that stays.
    fn apply_to(self, talk: &mut ConversationBuilder) {
        let is = |id: &Option<String>, draft: &MessageDraft| {
            let source = draft.message.source.as_ref();
            source.zip(id.as_ref()).is_some_and(|(source, id)| source.id == *id)
        };
        let part = talk.drafts.iter().position(|draft| is(&self.part, draft));
        let from = part.or_else(|| match self.part {
            Some(_) => talk.drafts.iter().rposition(|draft| is(&self.message, draft)).map(|at| at + 1),
            None => talk.drafts.iter().position(|draft| is(&self.message, draft)),
        });
        let Some(from) = from else { return };
        for source in talk.drafts[from..].iter_mut().filter_map(|draft| draft.message.source.as_mut()) {
            set_flag(&mut source.extra, "isReverted");
        }
        talk.rewind(from);
    }
}
