//! Reads pi's sessions: `<sessions>/<folder>/<time>_<session>.jsonl`, a tree of entries by `id` and `parentId`.
//!
//! An entry whose parent was followed already begins a branch; the chain goes through entries that are no messages. An
//! entry without a parent, after something was said, cannot be a branch, and is read in file order. The first version
//! of the format has no chain at all. Compactions and summaries of branches are messages of the user, as the model gets
//! them, with a mark; the messages that they sum up stay.

mod content;
mod table;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::Error;
use crate::interop::conversation::{
    ConversationBuilder, MessageDraft, RecordOrigin, set_flag, set_flag_value,
};
use crate::interop::lines::{file_stem, first_objects, new_problem, records, reject_empty, require_sessions};
use crate::interop::{AgentName, Import, Losses, Object};
use crate::record::message::Message;
use crate::record::scan::{Problem, ProblemCode};
use crate::record::span::Span;
use crate::time;

use content::EntryContent;
use table::REASONS;

pub use table::COVERAGE;

const NO_SHARED_MESSAGES: &str = "none of the named session's messages are in this one";
/// The lines among which the header is looked for.
const HEAD_LINES: usize = 5;

/// The maker of an answer: the client sends reasoning on to the same one alone, and to others as plain text.
pub(super) const MAKER_KEYS: [&str; 2] = ["api", "provider"];

/// True if these bytes begin with a header of pi.
pub(crate) fn can_read(bytes: &[u8]) -> bool {
    first_objects(bytes, HEAD_LINES).any(|mut object| {
        let kind: Option<String> = object.take("type", &mut Losses::default());
        kind.as_deref() == Some("session") && ["id", "timestamp", "cwd"].iter().all(|name| object.has(name))
    })
}

/// Reads a session. `name` is the file's name, for the id of a session whose header is lost.
///
/// # Errors
/// `empty_file`, also if nothing was said; `unknown_format` if no record of pi is in the bytes; `line_too_long` if all
/// that there is is too long to be stored.
pub fn read(bytes: &[u8], name: &str) -> Result<Import, Error> {
    reject_empty(bytes, AgentName::Pi)?;
    let mut reader = Reader {
        talk: ConversationBuilder::new(AgentName::Pi),
        links: BTreeMap::new(),
        followed_messages: BTreeSet::new(),
        last_index: None,
        fork_file: None,
        problems: Vec::new(),
    };
    for record in records(bytes, AgentName::Pi) {
        match record {
            Ok((object, place)) => reader.read_record(object, place),
            Err(problem) => reader.problems.push(problem),
        }
    }
    let is_known = can_read(bytes) || !reader.talk.is_empty();
    require_sessions(reader.finish(name), bytes, AgentName::Pi, is_known)
}

fn is_message_kind(kind: &str) -> bool {
    matches!(kind, "message" | "custom_message" | "compaction" | "branch_summary")
}

// A fork begins with the entries of the session it was made of, as they stand there: they are older than itself. That
// session's id and time are in the name of its file.
fn note_fork(talk: &mut ConversationBuilder, path: &str) -> Option<()> {
    let (clock, id) = file_stem(path, ".jsonl").split_once('_')?;
    let (day, clock) = clock.split_once('T')?;
    let clock: Vec<&str> = clock.trim_end_matches('Z').split('-').collect();
    let [hour, minute, second, ms] = clock[..] else { return None };
    let created_ms = time::parse(&format!("{day}T{hour}:{minute}:{second}.{ms}Z"))?;
    let begun = talk.session.created_ms?;
    let is_older = |draft: &MessageDraft| {
        draft.message.timestamp.as_deref().and_then(time::parse).is_some_and(|time| time < begun)
    };
    let last = talk.drafts.iter().rposition(is_older)?;
    talk.set_fork_origin(id, created_ms, last);
    Some(())
}

struct Reader {
    talk: ConversationBuilder,
    // For each entry, the message it became, or else the one before it: its children follow that.
    links: BTreeMap<String, Option<usize>>,
    // The messages that have a child.
    followed_messages: BTreeSet<usize>,
    last_index: Option<usize>,
    // The file that it began as a copy of.
    fork_file: Option<String>,
    problems: Vec<Problem>,
}

impl Reader {
    fn read_record(&mut self, mut object: Object<'_>, place: Span) {
        let kind: Option<String> = object.take("type", &mut Losses::default());
        let Some(kind) = kind else {
            let message = "expected a record of pi, but found an object without a type instead";
            self.problems.push(new_problem(ProblemCode::Foreign, place, message));
            return;
        };
        let object = object.with_path(kind.as_str());
        match kind.as_str() {
            "session" => self.read_header(object),
            kind if is_message_kind(kind) => self.read_entry(object, kind, place),
            kind => self.read_other(object, kind),
        }
    }

    // A fork begins with the header of its own file.
    fn read_header(&mut self, mut object: Object<'_>) {
        let ConversationBuilder { session, losses, .. } = &mut self.talk;
        let id: Option<String> = object.take("id", losses);
        let created = object.take_time("timestamp", losses);
        let folder: Option<String> = object.take("cwd", losses);
        let forked: Option<String> = object.take("parentSession", losses);
        object.report_rest_lost(losses, REASONS);
        if session.source_id.is_empty() {
            self.fork_file = forked;
            session.source_id = id.unwrap_or_default();
            session.folder = folder;
        }
        // A child of the header has no parent.
        self.links.insert(session.source_id.clone(), None);
        self.talk.note_created(created.as_deref().and_then(time::parse));
    }

    fn read_entry(&mut self, mut object: Object<'_>, kind: &str, place: Span) {
        let entry_content = match kind {
            "message" => content::read_message(&mut object, &mut self.talk.losses),
            "custom_message" => Ok(content::read_custom(&mut object, &mut self.talk.losses)),
            _ => Ok(content::read_summary(&mut object, kind, &mut self.talk.losses)),
        };
        let entry_content = match entry_content {
            Ok(entry_content) => entry_content,
            Err(wrong) => {
                self.problems.push(new_problem(ProblemCode::BadValue, place, wrong));
                return;
            }
        };
        let (id, before) = self.find_parent(&mut object, kind);
        let losses = &mut self.talk.losses;
        let origin = RecordOrigin::from_place(place, object.take_time("timestamp", losses));
        let mut origin = RecordOrigin { native: id.clone().unwrap_or(origin.native), ..origin };
        object.report_rest_lost(losses, REASONS);
        let Some(EntryContent { message, pieces, marks, notes }) = entry_content else {
            // The losses name the kind of message.
            return self.link(id, before);
        };
        marks.iter().for_each(|name| set_flag(&mut origin.flags, name));
        notes.iter().for_each(|(name, value)| set_flag_value(&mut origin.flags, name, Some(value)));
        let branch = before.is_some_and(|before| !self.followed_messages.insert(before));
        let at = self.talk.add_after(before, Message { branch, ..message }, origin);
        self.talk.extend(at, pieces, 0);
        self.last_index = Some(at);
        self.link(id, Some(at));
    }

    fn read_other(&mut self, mut object: Object<'_>, kind: &str) {
        let (id, before) = self.find_parent(&mut object, kind);
        if kind == "session_info" {
            let ConversationBuilder { session, losses, .. } = &mut self.talk;
            session.title = object.take("name", losses).or(session.title.take());
            object.take_raw("timestamp");
            object.report_rest_lost(losses, REASONS);
        } else {
            self.talk.losses.add(format!("record:{kind}"), "the record is not a message");
        }
        self.link(id, before);
    }

    // Returns the entry's id, and the message it follows, through entries that are none.
    fn find_parent(&mut self, object: &mut Object<'_>, kind: &str) -> (Option<String>, Option<usize>) {
        let losses = &mut self.talk.losses;
        let id: Option<String> = object.take("id", losses);
        let parent: Option<String> = object.take("parentId", losses);
        let before = match parent.as_ref().map(|parent| self.links.get(parent)) {
            Some(Some(before)) => *before,
            Some(None) => {
                if is_message_kind(kind) {
                    object.report_lost("parentId", "names an entry that doesn't come before it", losses);
                }
                self.last_index
            }
            // Only the first version has no ids, and no chain.
            None if id.is_none() => self.last_index,
            None => None,
        };
        if before.is_none() && self.last_index.is_some() && is_message_kind(kind) {
            object.report_lost("parentId", "starts a new tree; read in file order", losses);
        }
        (id, before.or(self.last_index))
    }

    fn link(&mut self, id: Option<String>, message: Option<usize>) {
        if let Some(id) = id {
            self.links.insert(id, message);
        }
    }

    fn finish(self, name: &str) -> Import {
        let Reader { mut talk, mut problems, fork_file: forked, .. } = self;
        if talk.is_empty() {
            return Import { sessions: Vec::new(), problems };
        }
        if talk.session.source_id.is_empty() {
            let name = file_stem(name, ".jsonl");
            talk.session.source_id = name.rsplit('_').next().unwrap_or(name).into();
        }
        if let Some(path) = forked
            && note_fork(&mut talk, &path).is_none()
        {
            talk.losses.add("session.parentSession".into(), NO_SHARED_MESSAGES);
        }
        let session = talk.finish(&mut problems);
        problems.sort_by_key(|problem| problem.start);
        // A conversation of which nothing can be stored leaves only its problems.
        let sessions = Vec::from_iter(Some(session).filter(|session| !session.messages.is_empty()));
        Import { sessions, problems }
    }
}
