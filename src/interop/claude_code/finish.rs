//! What was gathered becomes messages that can be stored.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::interop::claude_code::AGENT;
use crate::interop::pieces::{Piece, assemble};
use crate::session::blob;
use crate::session::checkpoint::Span;
use crate::session::id;
use crate::session::line::{self, MAX_LINE};
use crate::session::message::{Message, Role};
use crate::session::scan::{Problem, ProblemCode};
use crate::time;

/// A message that is being gathered.
pub(super) struct Draft {
    pub message: Message,
    pub pieces: Vec<Piece>,
    pub native: String,
    pub before: Option<usize>,
    /// Where its first record lies.
    pub place: Span,
    /// How many bytes its records have.
    pub bytes: u64,
}

/// The messages with their ids. One that no line can hold is a problem, and what follows it hangs from what is before.
pub(super) fn finish_messages(
    drafts: Vec<Draft>,
    tools: &BTreeMap<String, String>,
    source_id: &str,
    created_ms: Option<i64>,
    problems: &mut Vec<Problem>,
) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::with_capacity(drafts.len());
    let mut refused = BTreeSet::new();
    let mut ms = created_ms.unwrap_or_default();
    for Draft { mut message, pieces, native, before, place, bytes } in drafts {
        ms = message.timestamp.as_deref().and_then(time::parse).unwrap_or(ms);
        message.id = id::imported(AGENT, source_id, &native, ms);
        let parent = before.and_then(|before| messages.get(before));
        message.parent_id = match parent {
            Some(parent) if refused.contains(&parent.id) => parent.parent_id.clone(),
            Some(parent) => Some(parent.id.clone()),
            None => None,
        };
        if message.role == Some(Role::Assistant) {
            assemble(&mut message, pieces);
        }
        if let Some(tool) = &mut message.tool {
            tool.name = tools.get(&tool.call_id).cloned().unwrap_or_default();
        }
        if let Some(found) = too_long(&message, bytes) {
            problems.push(Problem {
                code: ProblemCode::LineTooLong,
                start: place.start,
                end: place.end,
                message: found,
            });
            refused.insert(message.id.clone());
        }
        messages.push(message);
    }
    messages.retain(|message| !refused.contains(&message.id));
    messages
}

// What a log says of a message beside what is in the file: its number, its tokens, its checksum.
const ROOM: u64 = 1024;

// A call's arguments are escaped once more in a line, and each span of an answer is told: what is this small fits.
const SURELY_FITS: u64 = MAX_LINE as u64 / 8;

fn too_long(message: &Message, bytes: u64) -> Option<String> {
    if bytes <= SURELY_FITS {
        return None;
    }
    let mut stored = message.clone();
    blob::take_out(&mut stored);
    match line::write(&stored) {
        Ok(line) if line.len() as u64 + ROOM <= MAX_LINE as u64 => None,
        Ok(line) => Some(format!(
            "expected a line of at most {MAX_LINE} bytes, but found {} bytes and more instead",
            line.len()
        )),
        Err(error) => Some(error.message),
    }
}
