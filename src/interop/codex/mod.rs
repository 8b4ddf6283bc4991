//! Reads Codex's rollouts: `<home>/sessions/<year>/<month>/<day>/rollout-<time>-<session>.jsonl`.
//!
//! A line is `{timestamp, type, payload}`; in the first versions it is the payload alone. A model's answer stands in
//! several items that follow each other, until a user's message, a result, or the count of its tokens. A message stands
//! twice, in an item and in an event, in either order: it is read once. A compaction (`compacted`) replaces the history
//! for the client; here it stays, and the summary is a message like others. A rollback takes the newest turns back:
//! they stay, and what follows begins a branch. Records have no ids that all versions write: their places name them.

mod duplicates;
mod event;
mod item;
mod lineage;
mod table;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::Error;
use crate::interop::conversation::{ConversationBuilder, MessageDraft, RecordOrigin, build_flags};
use crate::interop::lines::{file_stem, first_objects, new_problem, records, reject_empty, require_sessions};
use crate::interop::{AgentName, Import, Losses, Object};
use crate::record::event::Parent;
use crate::record::message::{Message, Role, Tool};
use crate::record::scan::{Problem, ProblemCode};
use crate::record::span::Span;
use crate::shapes::answer_pieces::AnswerPiece;
use crate::time;

use duplicates::DuplicateTracker;
use table::REASONS;

pub use lineage::{BaseRollout, find_base};
pub use table::COVERAGE;

/// The mark of a result whose call is of a custom tool. A client looks for the results of each kind of call by itself.
pub(super) const CUSTOM_KEY: &str = "isCustom";
pub(super) const BY_PROVIDER_KEY: &str = "isByProvider";
pub(super) const TOOL_SEARCH_KEY: &str = "isToolSearch";

const NO_MESSAGE: &str = "the record is not a message";
const KINDS: [&str; 5] = ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];
// Types of lines in the first versions, beside messages.
const FLAT_KINDS: [&str; 6] =
    ["message", "tool_call", "tool_result", "function_call", "function_result", "function_call_output"];
// The number of lines to look at: those at the head of a file may be of unknown types.
const HEAD_LINES: usize = 20;

/// True if a line near the beginning is one of a rollout.
pub(crate) fn can_read(bytes: &[u8]) -> bool {
    first_objects(bytes, HEAD_LINES).any(|mut object| {
        let kind: String = object.take("type", &mut Losses::default()).unwrap_or_default();
        let is_enveloped = object.raw("payload").is_some_and(|payload| payload.starts_with('{'));
        (is_enveloped && KINDS.contains(&kind.as_str())) || is_flat(&object, &kind)
    })
}

// The first versions wrote the model API's items, with a time, and the model's name beside the user's message.
fn is_flat(object: &Object<'_>, kind: &str) -> bool {
    let is_timed = object.has("timestamp") || object.has("created_at");
    let is_said = kind.is_empty() && object.has("role") && object.has("model");
    is_timed && !object.has("payload") && is_said
}

/// Reads a rollout. `name` is the file's name, for the id of a session that gives none itself.
///
/// # Errors
/// `empty_file` if nothing was said; `unknown_format` if it is no rollout; `line_too_long` if all that there is is too
/// long to be stored.
pub fn read(bytes: &[u8], name: &str) -> Result<Import, Error> {
    reject_empty(bytes, AgentName::Codex)?;
    let mut reader = Reader::new();
    let is_known = can_read(bytes);
    if is_known {
        for record in records(bytes, AgentName::Codex) {
            match record {
                Ok((object, place)) => reader.read_record(object, place),
                Err(problem) => {
                    let Problem { start, end, .. } = problem;
                    let (start, end) = (start - reader.rollout_start, end - reader.rollout_start);
                    reader.problems.push(Problem { start, end, ..problem });
                }
            }
        }
    }
    require_sessions(reader.finish(name), bytes, AgentName::Codex, is_known)
}

struct Reader {
    talk: ConversationBuilder,
    is_described: bool,
    // The answer whose items are being read.
    answer: Option<usize>,
    model: Option<String>,
    // Where each turn began, for a rollback.
    prompts: Vec<usize>,
    duplicates: DuplicateTracker,
    // How calls ended, by events; their results do not say it.
    call_ends: BTreeMap<String, CallEnd>,
    // Results whose end was applied already, since a later call has the same id.
    settled_results: BTreeSet<usize>,
    // Where the rollout begins, behind those that it continues.
    rollout_start: u64,
    problems: Vec<Problem>,
}

/// The end of a call.
struct CallEnd {
    exit_code: Option<i64>,
    is_error: bool,
    not_run: bool,
}

impl CallEnd {
    fn apply_to(&self, tool: &mut Tool) {
        tool.is_error |= self.is_error;
        tool.not_run |= self.not_run;
        tool.exit_code = self.exit_code;
    }
}

/// A record on its way into a conversation.
struct Record<'a> {
    payload: Object<'a>,
    origin: RecordOrigin,
}

impl Reader {
    fn new() -> Reader {
        Reader {
            talk: ConversationBuilder::new(AgentName::Codex),
            is_described: false,
            answer: None,
            model: None,
            prompts: Vec::new(),
            duplicates: DuplicateTracker::default(),
            call_ends: BTreeMap::new(),
            settled_results: BTreeSet::new(),
            rollout_start: 0,
            problems: Vec::new(),
        }
    }

    fn read_record(&mut self, mut object: Object<'_>, Span { start, end }: Span) {
        let place = Span { start: start - self.rollout_start, end: end - self.rollout_start };
        let kind: String = object.take("type", &mut Losses::default()).unwrap_or_default();
        let is_enveloped = object.has("payload");
        if !is_enveloped && (object.has("role") || FLAT_KINDS.contains(&kind.as_str())) {
            return self.read_flat_record(object, &kind, place);
        }
        let payload = object.take_raw("payload").and_then(|raw| Object::parse("", raw).ok());
        let Some(mut payload) = payload.filter(|_| !kind.is_empty()) else {
            let message = "expected a type and a payload, but found an object without them instead";
            return self.problems.push(new_problem(ProblemCode::Foreign, place, message));
        };
        let is_named = matches!(kind.as_str(), "response_item" | "event_msg");
        let inner: String =
            payload.take("type", &mut Losses::default()).filter(|_| is_named).unwrap_or_default();
        let path = if is_named { format!("{kind}/{inner}") } else { kind.clone() };
        let mut lost = Losses::default();
        let mut object = object.with_path(path.as_str());
        let timestamp = object.take_time("timestamp", &mut lost);
        object.take_raw("ordinal");
        self.talk.note_created(timestamp.as_deref().and_then(time::parse));
        let mut record = Record {
            payload: payload.with_path(format!("{path}.payload")),
            origin: RecordOrigin::from_place(place, timestamp),
        };
        if kind == "session_meta" {
            self.continue_base(&mut record, start);
        }
        let is_told = match kind.as_str() {
            "session_meta" if !self.is_described || start == self.rollout_start => {
                self.read_session_meta(record.payload)
            }
            "turn_context" => self.read_turn_context(record.payload),
            "compacted" => self.read_compaction(record),
            "token_usage_record" => self.read_usage_record(record.payload),
            "response_item" => self.read_item(record, &inner, &path),
            "event_msg" => self.read_event(record, &inner, &path),
            _ => self.report_lost_record(&path),
        };
        if is_told {
            self.talk.losses.merge(lost);
            object.report_rest_lost(&mut self.talk.losses, REASONS);
        }
    }

    fn read_flat_record(&mut self, object: Object<'_>, kind: &str, place: Span) {
        let kind = if kind.is_empty() { "message" } else { kind };
        let path = format!("flat/{kind}");
        let mut object = object.with_path(path.as_str());
        let losses = &mut self.talk.losses;
        let created = object.take_time("created_at", losses);
        let timestamp = object.take_time("timestamp", losses).or(created);
        let record = Record { payload: object, origin: RecordOrigin::from_place(place, timestamp) };
        self.read_item(record, kind, &path);
    }

    // Lists a record as lost as a whole; always returns false.
    fn report_lost_record(&mut self, path: &str) -> bool {
        self.talk.losses.add(format!("record:{path}"), NO_MESSAGE);
        false
    }

    fn read_session_meta(&mut self, mut payload: Object<'_>) -> bool {
        self.is_described = true;
        let ConversationBuilder { session, losses, .. } = &mut self.talk;
        session.source_id = payload.take("id", losses).unwrap_or_default();
        session.folder = payload.take("cwd", losses);
        let version = payload.take("cli_version", losses);
        if let Some(mut git) = payload.take_object("git", losses) {
            session.git_branch = git.take("branch", losses);
            git.report_rest_lost(losses, REASONS);
        }
        session.parent = parent(&mut payload, losses);
        payload.report_rest_lost(losses, REASONS);
        self.talk.note_version(version, COVERAGE.tested_versions);
        true
    }

    fn read_turn_context(&mut self, mut payload: Object<'_>) -> bool {
        let losses = &mut self.talk.losses;
        self.model = payload.take_name("model", losses).or(self.model.take());
        payload.report_rest_lost(losses, REASONS);
        true
    }

    fn read_compaction(&mut self, record: Record<'_>) -> bool {
        let Record { mut payload, mut origin } = record;
        let losses = &mut self.talk.losses;
        let summary: String = payload.take("message", losses).unwrap_or_default();
        payload.report_rest_lost(losses, REASONS);
        if !summary.is_empty() {
            origin.flags = build_flags(&["isCompactSummary"]);
            let message = Message { role: Some(Role::User), content: summary.into(), ..Message::default() };
            self.add_message(message, origin);
        }
        true
    }

    // Adds a message that is no answer.
    fn add_message(&mut self, message: Message, origin: RecordOrigin) -> usize {
        self.answer = None;
        self.talk.add(message, origin)
    }

    // Adds to the answer that is being read, or begins one.
    fn add_answer_piece(&mut self, piece: AnswerPiece, origin: RecordOrigin) -> usize {
        let bytes = origin.place.end - origin.place.start;
        let at = match self.answer {
            Some(at) => at,
            None => {
                let mut message = Message { role: Some(Role::Assistant), ..Message::default() };
                message.assistant.get_or_insert_default().model = self.model.clone();
                self.duplicates.forget(Role::User);
                self.talk.add(message, origin)
            }
        };
        self.talk.extend(at, Vec::from([piece]), if self.answer.is_some() { bytes } else { 0 });
        self.answer = Some(at);
        at
    }

    // A call of this id begins: the end of an earlier one belongs to that one's result.
    fn apply_earlier_end(&mut self, id: &str) {
        let Some(end) = self.call_ends.remove(id) else { return };
        let mut drafts = self.talk.drafts.iter_mut().enumerate().rev();
        let result = drafts.find_map(|(at, draft)| {
            let tool = draft.message.tool.as_mut().filter(|tool| tool.call_id == id)?;
            Some((at, tool))
        });
        if let Some((at, tool)) = result {
            end.apply_to(tool);
            self.settled_results.insert(at);
        }
    }

    fn finish(mut self, name: &str) -> Import {
        for (at, MessageDraft { message, .. }) in self.talk.drafts.iter_mut().enumerate() {
            let Some(tool) = &mut message.tool else { continue };
            let end = self.call_ends.get(&tool.call_id).filter(|_| !self.settled_results.contains(&at));
            if let Some(end) = end {
                end.apply_to(tool);
            }
            tool.exit_code = tool.exit_code.or_else(|| parse_exit_code(message.content.as_str()));
        }
        if self.talk.session.source_id.is_empty() {
            self.talk.session.source_id = id_in(name).into();
        }
        let mut problems = self.problems;
        let session = self.talk.finish(&mut problems);
        let sessions = Vec::from([session]).into_iter().filter(|session| !session.messages.is_empty());
        let sessions = sessions.collect();
        problems.sort_by_key(|problem| problem.start);
        Import { sessions, problems }
    }
}

// Reads a command's exit code as the client tells its model: in a line before the output, or in JSON beside it.
fn parse_exit_code(output: &str) -> Option<i64> {
    let quiet = &mut Losses::default();
    if output.starts_with('{') {
        let mut result = Object::parse("", output).ok()?;
        return result.take_object("metadata", quiet)?.take("exit_code", quiet);
    }
    let (head, _) = output.split_once("\nOutput:")?;
    let exit_code = |line: &str| {
        let prefixes = ["Exit code: ", "Process exited with code "];
        prefixes.into_iter().find_map(|prefixes| line.strip_prefix(prefixes))?.trim_ascii().parse().ok()
    };
    head.lines().find_map(exit_code)
}

// Returns the id in `rollout-<time>-<id>.jsonl`.
fn id_in(name: &str) -> &str {
    let name = file_stem(name, ".jsonl");
    let is_rollout = name.strip_prefix("rollout-").filter(|rest| rest.len() > UUID_CHARS);
    is_rollout.and_then(|rest| rest.get(rest.len() - UUID_CHARS..)).unwrap_or(name)
}

const UUID_CHARS: usize = 36;

// Returns the session whose sub-agent this one is.
fn parent(payload: &mut Object<'_>, losses: &mut Losses) -> Option<Parent> {
    let (id, call_id) = match payload.raw("source").and_then(parse_spawn) {
        Some(spawned) => {
            payload.take_raw("source");
            spawned
        }
        None => (payload.take::<String>("parent_thread_id", losses)?, None),
    };
    Some(Parent { session: format!("{}/{id}", AgentName::Codex.as_str()), call_id })
}

fn parse_spawn(source: &str) -> Option<(String, Option<String>)> {
    let quiet = &mut Losses::default();
    let mut agent = Object::parse("", source).ok()?.take_object("subagent", quiet)?;
    let mut spawn = agent.take_object("thread_spawn", quiet)?;
    Some((spawn.take("parent_thread_id", quiet)?, spawn.take("spawn_call_id", quiet)))
}
