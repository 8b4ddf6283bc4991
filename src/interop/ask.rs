//! Reads leftoff's own transcripts of `leftoff ask`: Markdown, see [`crate::ask`].
//!
//! A turn is named by its number and by what was said up to it, so that an answer that grows keeps its name, and what
//! follows a turn that was edited by hand begins a branch.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::ask::{MARK_BEGINNINGS, Transcript, Turn, Voice};
use crate::error::Error;
use crate::interop::conversation::{ConversationBuilder, RecordOrigin, set_flag, set_flag_value};
use crate::interop::lines::{file_stem, reject_empty, require_sessions};
use crate::interop::{AgentName, Coverage, Import};
use crate::json::hash::sha256;
use crate::json::text::Extra;
use crate::record::message::{Assistant, Message, Role};
use crate::shapes::answer_pieces::AnswerPiece;
use crate::time;

/// The reader's coverage: all that is in a transcript.
pub const COVERAGE: Coverage = Coverage { tested_versions: &[], mapped_fields: &[], whole_fields: &[] };

/// Digits of a hash that tell turns apart.
const HASH_DIGITS: usize = 16;

/// True if these bytes are a transcript.
pub(crate) fn can_read(bytes: &[u8]) -> bool {
    Transcript::is_transcript(bytes)
}

/// Reads a transcript. `name` is the file's, for one that does not give its own.
///
/// # Errors
/// `empty_file`, also if nothing was asked; `unknown_format` if it is none.
pub fn read(bytes: &[u8], name: &str) -> Result<Import, Error> {
    reject_empty(bytes, AgentName::Ask)?;
    let is_known = can_read(bytes);
    let Transcript { name: own, folder, turns, mut problems, .. } = Transcript::parse(bytes);
    let mut talk = ConversationBuilder::new(AgentName::Ask);
    talk.session.source_id = if own.is_empty() { file_stem(name, ".md").into() } else { own };
    talk.session.folder = folder;
    let begun = turns.iter().find_map(|turn| turn.at.as_deref().and_then(time::parse));
    talk.session.created_ms = begun;
    let mut before = String::new();
    for (number, turn) in turns.into_iter().enumerate() {
        let text = turn.text.clone();
        let is_answer = matches!(turn.voice, Voice::Engine(_));
        let own = if is_answer { before.clone() } else { format!("{before}{text}") };
        let native = format!("{}-{}", number + 1, &sha256(own.as_bytes())[..HASH_DIGITS]);
        add_turn(&mut talk, turn, native);
        before = sha256(format!("{before}{text}").as_bytes());
    }
    let session = talk.finish(&mut problems);
    problems.sort_by_key(|problem| problem.start);
    let sessions = Vec::from_iter(Some(session).filter(|session| !session.messages.is_empty()));
    require_sessions(Import { sessions, problems }, bytes, AgentName::Ask, is_known)
}

fn add_turn(talk: &mut ConversationBuilder, turn: Turn, native: String) {
    let Turn { voice, at, text, end, place } = turn;
    let is_said = matches!(voice, Voice::Engine(_)) && end.is_none();
    let text = if is_said { complete_text(&text).into() } else { text };
    // An empty text is no message.
    if text.trim().is_empty() {
        return;
    }
    let mut flags = Extra::default();
    if let Voice::Engine(engine) = &voice {
        set_flag_value(&mut flags, "engine", Some(engine));
        set_flag_value(&mut flags, "stopped", end.as_ref().and_then(|end| end.stopped.as_deref()));
    }
    if voice == Voice::Note {
        set_flag(&mut flags, "isNote");
    }
    let origin = RecordOrigin { native, timestamp: at, place, flags };
    match voice {
        Voice::User | Voice::Note => {
            talk.add(Message { role: Some(Role::User), content: text.into(), ..Message::default() }, origin);
        }
        Voice::Engine(_) => {
            let is_whole = end.as_ref().is_some_and(|end| end.stopped.is_none());
            let finish_reason = is_whole.then(|| "stop".into());
            let assistant = Some(Assistant { finish_reason, ..Assistant::default() });
            let partial = !is_whole;
            let message = Message { role: Some(Role::Assistant), assistant, partial, ..Message::default() };
            let at = talk.add(message, origin);
            talk.extend(at, Vec::from([AnswerPiece::Text(text.into())]), 0);
        }
    }
}

// Returns the complete part of an answer that is still written: it may end within a character, or within its end mark.
fn complete_text(text: &str) -> &str {
    let (before, last) = text.rsplit_once('\n').unwrap_or(("", text));
    let is_mark = !last.is_empty() && MARK_BEGINNINGS.iter().any(|beginning| beginning.starts_with(last));
    let whole = if is_mark { before } else { text };
    whole.trim_end_matches(['\n', '\u{fffd}'])
}
