//! Reads Gemini CLI's sessions: `<tmp>/<project>/chats/session-<minute>-<id>.jsonl`, of sub-agents
//! `chats/<session>/<id>.jsonl`; older versions wrote one JSON document.
//!
//! The log is one of changes. A line with an id that was there before is the same message, written again. A line `$set`
//! changes fields of the session; its `messages`, if it has any, are the conversation as it is from then on.
//! `$rewindTo` takes back a message and all behind it. Tools' results stand in the answer that called them and again in
//! a user's message. A client that resumes writes its head again, the context alone, then the conversation as a `$set`:
//! the earlier messages are not taken back by that. When the client makes room, it writes the conversation anew under
//! other ids: behind a `<session_context>` line by line, or in a `$set`; those are the earlier messages, and what else
//! a `$set` has in front of them is their summary. A sub-agent's file does not name its caller: its folder does, and
//! the call names it.

mod history;
mod record;
mod table;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::Error;
use crate::interop::conversation::{ConversationBuilder, RecordOrigin, build_flags};
use crate::interop::lines::{first_objects, new_problem, records, reject_empty, require_sessions};
use crate::interop::{AgentName, Import, Losses, Object, SubAgent};
use crate::record::event::Parent;
use crate::record::message::{Message, Role};
use crate::record::scan::{Problem, ProblemCode};
use crate::record::span::Span;
use crate::shapes::answer_pieces::AnswerPiece;
use crate::time;

use history::{History, HistoryEntry};
use record::Record;
use table::REASONS;

pub use table::COVERAGE;

const NO_MESSAGE: &str = "the record is not a message";
/// The text that the client shows where the user stopped an answer.
const CANCELLATION_TEXT: &str = "Request cancelled.";
const CONTEXT_TAG: &str = "<session_context>";
const SUMMARY_TAG: &str = "<state_snapshot>";
// The answer to a summary that the client writes in the model's name.
const SUMMARY_REPLY: &str = "Got it. Thanks for the additional context!";

/// True if these bytes are a session of Gemini CLI.
pub(crate) fn can_read(bytes: &[u8]) -> bool {
    let is_document = Object::parse_document("", bytes).is_some_and(|document| is_whole(&document));
    is_document || first_objects(bytes, 16).any(|object| is_head(&object) || is_change(&object))
}

/// Reads a session. `name` is the file's name, for the id of a session that gives none itself.
///
/// # Errors
/// `empty_file`, also if nothing was said; `unknown_format` if nothing in the bytes is Gemini CLI's; `line_too_long`
/// if all that there is is too long to be stored.
pub fn read(bytes: &[u8], name: &str) -> Result<Import, Error> {
    reject_empty(bytes, AgentName::Gemini)?;
    let mut reader = Reader::new(bytes);
    match Object::parse_document("session", bytes).filter(is_whole) {
        Some(document) => reader.read_head(document),
        None => {
            for record in records(bytes, AgentName::Gemini) {
                match record {
                    Ok((object, place)) => reader.read_line(object, place),
                    Err(problem) => reader.problems.push(problem),
                }
            }
        }
    }
    let is_known = reader.is_known;
    require_sessions(reader.finish(name), bytes, AgentName::Gemini, is_known)
}

fn is_whole(object: &Object<'_>) -> bool {
    let is_list = object.raw("messages").is_some_and(|raw| raw.starts_with('['));
    is_list && object.has("sessionId") && object.has("startTime")
}

fn is_head(object: &Object<'_>) -> bool {
    object.has("sessionId") && object.has("projectHash") && !object.has("type")
}

fn is_change(object: &Object<'_>) -> bool {
    let is_set = object.raw("$set").is_some_and(|raw| raw.starts_with('{'));
    is_set || object.has("$rewindTo") || object.raw("type") == Some("\"gemini\"")
}

struct Reader {
    // The address of the file's first byte.
    first_byte: usize,
    is_known: bool,
    is_sub_agent: bool,
    talk: ConversationBuilder,
    history: History,
    // True if the client was started anew, and has not written yet which conversation it continues.
    has_restarted: bool,
    // The result of each call.
    results: BTreeMap<String, usize>,
    // The newest answer's results: they are written once more, without an id if the calls have none.
    newest_answer_results: Vec<usize>,
    agents: BTreeSet<(String, String)>,
    problems: Vec<Problem>,
}

impl Reader {
    fn new(bytes: &[u8]) -> Reader {
        Reader {
            first_byte: bytes.as_ptr() as usize,
            is_known: false,
            is_sub_agent: false,
            talk: ConversationBuilder::new(AgentName::Gemini),
            history: History::default(),
            has_restarted: false,
            results: BTreeMap::new(),
            newest_answer_results: Vec::new(),
            agents: BTreeSet::new(),
            problems: Vec::new(),
        }
    }

    fn read_line(&mut self, mut object: Object<'_>, place: Span) {
        self.is_known |= is_head(&object) || is_change(&object);
        if object.has("$rewindTo") {
            let id: Option<String> = object.take("$rewindTo", &mut self.talk.losses);
            object.with_path("$rewindTo").report_rest_lost(&mut self.talk.losses, REASONS);
            self.rewind(id.as_deref().unwrap_or_default());
        } else if object.has("$set") {
            self.read_set(object.with_path("$set"));
        } else if object.raw("type").is_some_and(|raw| raw.starts_with('"')) {
            self.read_message(object, format!("byte-{}", place.start), place);
        } else if object.has("sessionId") {
            self.read_head(object.with_path("session"));
        } else {
            let message = "expected a record of gemini, but found an object without a type instead";
            self.problems.push(new_problem(ProblemCode::Foreign, place, message));
        }
    }

    // Reads the session's fields: the first line, or an older version's document.
    fn read_head(&mut self, mut object: Object<'_>) {
        self.is_known = true;
        self.has_restarted = !self.history.is_empty();
        let ConversationBuilder { session, losses, .. } = &mut self.talk;
        let id: Option<String> = object.take("sessionId", losses);
        if session.source_id.is_empty() {
            session.source_id = id.unwrap_or_default();
        }
        let begun = object.take_time("startTime", losses);
        let last = object.take_time("lastUpdated", losses);
        session.last_ms = last.as_deref().and_then(time::parse).or(session.last_ms);
        session.title = object.take("summary", losses).or(session.title.take());
        self.is_sub_agent |= object.take::<String>("kind", losses).as_deref() == Some("subagent");
        if self.is_sub_agent {
            let folders: Vec<String> = object.take("directories", losses).unwrap_or_default();
            session.folder = session.folder.take().or(folders.into_iter().next());
        }
        self.talk.note_created(begun.as_deref().and_then(time::parse));
        let messages = object.take_objects("messages", &mut self.talk.losses);
        object.report_rest_lost(&mut self.talk.losses, REASONS);
        for (number, (json, message)) in messages.into_iter().enumerate() {
            let place = self.span_of(json);
            self.read_message(message, format!("message-{number}"), place);
        }
    }

    fn read_set(&mut self, mut object: Object<'_>) {
        let ConversationBuilder { session, losses, .. } = &mut self.talk;
        let Some(mut set) = object.take_object("$set", losses) else {
            return object.report_rest_lost(losses, REASONS);
        };
        let last = set.take_time("lastUpdated", losses);
        session.last_ms = last.as_deref().and_then(time::parse).or(session.last_ms);
        session.title = set.take("summary", losses).or(session.title.take());
        let id: Option<String> = set.take("sessionId", losses);
        if id.is_some_and(|id| !session.source_id.is_empty() && id != session.source_id) {
            set.report_lost("sessionId", "changes within the session", losses);
        }
        let is_whole = set.raw("messages").is_some_and(|raw| raw.starts_with('['));
        let messages = set.take_objects("messages", losses);
        set.report_rest_lost(losses, REASONS);
        object.report_rest_lost(losses, REASONS);
        if is_whole {
            self.apply_checkpoint(messages);
        }
    }

    // Returns the place of a slice of the file.
    fn span_of(&self, json: &str) -> Span {
        let start = (json.as_ptr() as usize).saturating_sub(self.first_byte);
        Span { start: start as u64, end: (start + json.len()) as u64 }
    }

    // `native` names the message if it has no id itself.
    fn read_message(&mut self, object: Object<'_>, native: String, place: Span) {
        if let Some(record) = self.parse_record(object, &native, place) {
            self.has_restarted = false;
            let id = record.id.clone().unwrap_or_default();
            let at = self.history.find(&id);
            if at.is_none() && self.history.find_repeated(&record) {
                return self.history.push_repeated(id);
            }
            let entry = self.add_or_update(record, native, at.and_then(|at| self.history.entry(at)).cloned());
            match at {
                Some(at) => self.history.set_entry(at, entry),
                None => self.history.push(id, entry),
            }
        }
    }

    // Parses a message; `None` if it is for the screen only, or no message.
    fn parse_record(&mut self, mut object: Object<'_>, native: &str, place: Span) -> Option<Record> {
        let losses = &mut self.talk.losses;
        let kind: String = object.take("type", &mut Losses::default()).unwrap_or_default();
        let mut object = object.with_path(kind.as_str());
        if !matches!(kind.as_str(), "user" | "gemini") {
            losses.add(format!("record:{kind}"), NO_MESSAGE);
            let id = object.take("id", &mut Losses::default());
            let at = object.take_time("timestamp", &mut Losses::default());
            if object.take::<String>("content", &mut Losses::default()).as_deref() == Some(CANCELLATION_TEXT)
            {
                self.talk.cut_short();
            }
            self.talk.note_created(at.as_deref().and_then(time::parse));
            self.history.push_silent(id.unwrap_or_default());
            return None;
        }
        self.is_known |= kind == "gemini";
        let id = object.take_name("id", losses).filter(|id| !id.is_empty());
        let timestamp = object.take_time("timestamp", losses);
        let record = match kind.as_str() {
            "user" => record::read_prompt(&mut object, losses),
            _ => record::read_answer(&mut object, id.as_deref().unwrap_or(native), losses),
        };
        object.report_rest_lost(losses, REASONS);
        self.talk.note_created(timestamp.as_deref().and_then(time::parse));
        Some(Record { id, timestamp, place, ..record })
    }

    // Adds a message, or replaces its earlier state.
    fn add_or_update(
        &mut self,
        mut record: Record,
        native: String,
        known: Option<HistoryEntry>,
    ) -> HistoryEntry {
        let mut entry = HistoryEntry {
            key: record.key(),
            is_answer: record.is_answer,
            is_new: true,
            ..known.unwrap_or_default()
        };
        let given = core::mem::take(&mut record.results);
        let native = record.id.clone().unwrap_or(native);
        let (timestamp, place) = (record.timestamp.clone(), record.place);
        if record.is_answer {
            self.agents.extend(record.agents.drain(..));
            entry.message_index = Some(self.put_message(entry.message_index, record, native));
            self.add_results(given, timestamp.as_deref(), place, &mut entry);
            return entry;
        }
        let is_beside = !record.text.is_empty() || !record.attachments.is_empty();
        let is_said = given.is_empty() || (is_beside && !self.has_read(&given, &record));
        self.add_results(given, timestamp.as_deref(), place, &mut entry);
        if is_said {
            entry.message_index = Some(self.put_message(entry.message_index, record, native));
        }
        entry
    }

    fn put_message(&mut self, at: Option<usize>, record: Record, native: String) -> usize {
        let text = record.text.as_str();
        let is_summary = text.starts_with(SUMMARY_TAG) || self.history.makes_room;
        let flags = match (text.starts_with(CONTEXT_TAG), is_summary) {
            (true, _) => build_flags(&["isMeta"]),
            (false, true) if !record.is_answer => build_flags(&["isCompactSummary"]),
            (false, _) => build_flags(&[]),
        };
        let Record { place, timestamp, is_answer, text, pieces, attachments, assistant, .. } = record;
        let role = if is_answer { Role::Assistant } else { Role::User };
        let assistant = is_answer.then_some(assistant);
        let message =
            Message { role: Some(role), content: text, attachments, assistant, ..Message::default() };
        let Some(at) = at else {
            self.newest_answer_results.clear();
            // A gateway may give a call the id of an earlier one.
            for piece in &pieces {
                if let AnswerPiece::Call(call) = piece {
                    self.results.remove(&call.id);
                }
            }
            let at = self.talk.add(message, RecordOrigin { native, timestamp, place, flags });
            self.talk.extend(at, pieces, 0);
            return at;
        };
        let draft = &mut self.talk.drafts[at];
        draft.message.content = message.content;
        draft.message.attachments = message.attachments;
        draft.message.assistant = message.assistant;
        draft.pieces.clear();
        self.talk.extend(at, pieces, place.end - place.start);
        at
    }

    // True if the text beside these results was read with them already.
    fn has_read(&self, given: &[TimedAnswer], record: &Record) -> bool {
        let text = record.text.as_str();
        record.attachments.is_empty()
            && given.iter().any(|(answer, ..)| {
                let known = self.results.get(&answer.id).map(|at| &self.talk.drafts[*at].message.content);
                known.is_some_and(|content| content.as_str().ends_with(text))
            })
    }

    // Adds the results that were not read yet.
    fn add_results(
        &mut self,
        given: Vec<TimedAnswer>,
        fallback_time: Option<&str>,
        place: Span,
        entry: &mut HistoryEntry,
    ) {
        for (answer, timestamp, field) in given {
            if let Some(at) = self.results.get(&answer.id).copied() {
                let before = &self.talk.drafts[at].message.content;
                if !before.as_str().starts_with(answer.content.as_str()) {
                    self.talk.losses.add(field.into(), "repeats the tool result in another form");
                }
                continue;
            }
            let is_told = |at: &usize| self.talk.drafts[*at].message.content == answer.content;
            if answer.id.is_empty()
                && let Some(again) = self.newest_answer_results.iter().position(is_told)
            {
                self.newest_answer_results.remove(again);
                continue;
            }
            let origin =
                RecordOrigin::from_place(place, timestamp.or_else(|| fallback_time.map(String::from)));
            let id = answer.id.clone();
            let native = if id.is_empty() { origin.native } else { id.clone() };
            let at = self.talk.add(answer.into_message(), RecordOrigin { native, ..origin });
            entry.result_index = entry.result_index.or(Some(at));
            if entry.is_answer {
                self.newest_answer_results.push(at);
            }
            if !id.is_empty() {
                self.results.insert(id.clone(), at);
                Rc::make_mut(&mut entry.calls).push(id);
            }
        }
    }

    // The client takes back all if it does not find the message.
    fn rewind(&mut self, id: &str) {
        let at = self.history.find(id);
        if at.is_none() {
            self.talk.losses.add("$rewindTo.$rewindTo".into(), "names a message that doesn't come before it");
        }
        let taken = self.history.cut_from(at.unwrap_or_default());
        self.take_back(&taken);
    }

    fn take_back(&mut self, taken: &[HistoryEntry]) {
        for call in taken.iter().flat_map(|entry| entry.calls.iter()) {
            self.results.remove(call);
        }
        if let Some(first) = taken.iter().find_map(HistoryEntry::first) {
            self.talk.rewind(first);
        }
    }

    // Replaces the conversation. A message left out in the middle was left out of a context, and stays; those left out
    // at the end are taken back, unless a summary stands for them.
    fn apply_checkpoint(&mut self, messages: Vec<(&str, Object<'_>)>) {
        let before = core::mem::take(&mut self.history);
        let mut read = Vec::new();
        for (json, message) in messages {
            match self.parse_record(message, "", self.span_of(json)) {
                Some(record) if record.id.is_some() => read.push(record),
                Some(_) => {
                    let why = "a message without an id, which Gemini CLI ignores too";
                    self.talk.losses.add("$set.$set.messages".into(), why);
                }
                None => {}
            }
        }
        // It begins with the context alone, and with the conversation once the client has found that.
        let is_bare = |record: &Record| !record.is_answer && record.text.as_str().starts_with(CONTEXT_TAG);
        self.has_restarted &= read.iter().all(is_bare);
        if self.has_restarted {
            self.history = before;
            return;
        }
        let plan = before.compare(&read);
        if plan.is_rewind {
            self.take_back(&plan.dropped_end);
        }
        self.history.makes_room = plan.makes_room;
        for (record, known) in read.into_iter().zip(plan.known_entries) {
            let id = record.id.clone().unwrap_or_default();
            // The client writes the same message twice at times.
            let known =
                known.or_else(|| self.history.find(&id).and_then(|at| self.history.entry(at)).cloned());
            let entry = match known {
                Some(entry) => self.update_known(record, entry),
                None => self.add_or_update(record, id.clone(), None),
            };
            self.history.makes_room &= entry.message_index.is_none() || !entry.is_new;
            self.history.push(id, entry);
        }
        self.history.makes_room = false;
    }

    // Updates an earlier message from a `$set`: it may have been shortened, so the earlier words stay.
    fn update_known(&mut self, record: Record, entry: HistoryEntry) -> HistoryEntry {
        let key = record.key();
        if entry.message_index.is_some() && key != entry.key {
            let kind = if record.is_answer { "gemini" } else { "user" };
            self.talk.losses.add(format!("{kind}.content"), "repeats the message in another form");
        }
        let mut entry = HistoryEntry { key, is_new: false, ..entry };
        self.add_results(record.results, record.timestamp.as_deref(), record.place, &mut entry);
        entry
    }

    fn finish(mut self, name: &str) -> Import {
        let session = &mut self.talk.session;
        let (folder, name) = name.rsplit_once('/').unwrap_or(("", name));
        if session.source_id.is_empty() {
            session.source_id = name.trim_end_matches(".jsonl").trim_end_matches(".json").into();
        }
        let caller = folder.rsplit('/').next().filter(|caller| self.is_sub_agent && !caller.is_empty());
        session.parent = caller.map(|caller| Parent {
            session: format!("{}/{caller}", AgentName::Gemini.as_str()),
            call_id: None,
        });
        let agents = self.agents.into_iter().map(|(source_id, call_id)| SubAgent { source_id, call_id });
        session.sub_agents = agents.collect();
        let mut problems = self.problems;
        let session = self.talk.finish(&mut problems);
        problems.sort_by_key(|problem| problem.start);
        let sessions = if session.messages.is_empty() { Vec::new() } else { Vec::from([session]) };
        Import { sessions, problems }
    }
}

type TimedAnswer = (crate::interop::content_parts::FunctionAnswer, Option<String>, &'static str);
