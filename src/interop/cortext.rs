//! Reads Cortext's conversations: `.session/messages.jsonl`, whose lines each have `timestamp`, `role` and `content`.
//!
//! The lines have no id: the folder of the conversation, in the given name, is the session's id, else its first line. A
//! message is named by its place.

use alloc::string::String;
use alloc::vec::Vec;

use crate::error::Error;
use crate::interop::conversation::{ConversationBuilder, RecordOrigin};
use crate::interop::lines::{first_objects, lines, new_problem, records, reject_empty, require_sessions};
use crate::interop::{AgentName, Coverage, Import, LossReasons, Losses, Object};
use crate::json::hash::sha256;
use crate::json::text::Text;
use crate::record::message::{Assistant, Message, Role, Tool};
use crate::record::scan::{Problem, ProblemCode};
use crate::record::span::Span;
use crate::shapes::answer_pieces::AnswerPiece;

/// The reader's coverage; the lines name no version.
pub const COVERAGE: Coverage = Coverage {
    tested_versions: &[],
    mapped_fields: &["message.timestamp", "message.role", "message.content"],
    whole_fields: &[],
};

const REASONS: LossReasons = &[];

// Keys of other agents' lines that have the three fields, too.
const FOREIGN_KEYS: [&str; 6] = ["id", "type", "uuid", "sessionId", "message", "parentId"];

/// True if the first line is one of Cortext.
pub(crate) fn can_read(bytes: &[u8]) -> bool {
    first_objects(bytes, 1).any(|mut object| {
        let role: Option<Role> = object.take("role", &mut Losses::default());
        let is_text = object.raw("content").is_some_and(|content| content.starts_with('"'));
        role.is_some()
            && is_text
            && object.has("timestamp")
            && !FOREIGN_KEYS.iter().any(|name| object.has(name))
    })
}

/// Reads a conversation. `name` is the file's name; the folder that `.session/` is in names the session.
///
/// # Errors
/// `empty_file`; `unknown_format` if no message is in the bytes; `line_too_long` if all that there is is too long to be
/// stored.
pub fn read(bytes: &[u8], name: &str) -> Result<Import, Error> {
    reject_empty(bytes, AgentName::Cortext)?;
    let mut talk = ConversationBuilder::new(AgentName::Cortext);
    let mut problems = Vec::new();
    for record in records(bytes, AgentName::Cortext) {
        match record {
            Ok((object, place)) => add_message(&mut talk, object, place, &mut problems),
            Err(problem) => problems.push(problem),
        }
    }
    let first = lines(bytes).next().map(|(_, line)| sha256(line)[..32].into());
    let folder = name.rsplit(['/', '\\']).skip(1).find(|part| !part.is_empty() && *part != ".session");
    talk.session.source_id = folder.map(String::from).or(first).unwrap_or_default();
    // The workspace that the conversation lies in.
    let workspace = name.rsplit_once("/conversations/").map(|(workspace, _)| workspace);
    talk.session.folder = workspace.filter(|workspace| !workspace.is_empty()).map(String::from);
    let is_known = !talk.is_empty();
    let session = talk.finish(&mut problems);
    problems.sort_by_key(|problem| problem.start);
    let sessions = Vec::from_iter(Some(session).filter(|session| !session.messages.is_empty()));
    require_sessions(Import { sessions, problems }, bytes, AgentName::Cortext, is_known)
}

fn add_message(talk: &mut ConversationBuilder, object: Object<'_>, place: Span, problems: &mut Vec<Problem>) {
    let mut object = object.with_path("message");
    let Some(role) = object.take::<Role>("role", &mut Losses::default()) else {
        let message = "expected a message with a role, but found an object without one";
        return problems.push(new_problem(ProblemCode::Foreign, place, message));
    };
    let losses = &mut talk.losses;
    let origin = RecordOrigin::from_place(place, object.take_time("timestamp", losses));
    let content: Text = object.take("content", losses).unwrap_or_default();
    object.report_rest_lost(losses, REASONS);
    let plain = Message { role: Some(role), ..Message::default() };
    match role {
        Role::Assistant => {
            let at = talk.add(Message { assistant: Some(Assistant::default()), ..plain }, origin);
            talk.extend(at, Vec::from([AnswerPiece::Text(content)]), 0);
        }
        Role::Tool => drop(talk.add(Message { content, tool: Some(Tool::default()), ..plain }, origin)),
        Role::User | Role::System => drop(talk.add(Message { content, ..plain }, origin)),
    }
}
