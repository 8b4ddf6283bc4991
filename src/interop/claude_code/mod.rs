//! Reads Claude Code's transcripts: `<projects>/<folder>/<session>.jsonl`, and `<session>/subagents/agent-<id>.jsonl`
//! beside it.
//!
//! One answer is spread over several records of one `message.id`; the results of parallel calls are records of their
//! own. A record names its parent by `parentUuid`, through records that are no messages. Two different prompts with the
//! same parent message are a rewind: the later begins a branch. A rewind to before the first message cannot be told
//! from a file without a chain, and is read in file order. A compact boundary begins the chain anew, tied to the
//! history before it by `logicalParentUuid`: that history stays, and the summary behind the boundary is a message like
//! others. Sub-agents' records (`isSidechain`) are sessions of their own. A prompt typed while the agent was at work
//! stands in an attachment, `queued_command`; it is read as the user's message, unless no answer lies between it and a
//! record of the user that says the same. What other attachments tell the model, above all the files that the user
//! named, is a message with a mark; see `attachments`.

mod attachments;
mod content;
mod prompt_queue;
mod record;
mod table;
mod thread;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::Error;
use crate::interop::lines::{file_stem, first_objects, new_problem, records, reject_empty, require_sessions};
use crate::interop::{AgentName, Import, Losses, Object};
use crate::json::fields::kind_of;
use crate::record::scan::{Problem, ProblemCode};
use crate::record::span::Span;

use prompt_queue::Queue;
use record::{Envelope, Record, RecordLink};
use table::REASONS;
use thread::Thread;

pub use table::COVERAGE;

const AGENT: &str = AgentName::ClaudeCode.as_str();
const NO_MESSAGE: &str = "the record is not a message";
/// The client's words in the user's name where the user stopped an answer.
const INTERRUPTION_TEXT: &str = "\"[Request interrupted by user]\"";
/// Records of prompts that were typed while the agent was at work, and what happened to them.
const QUEUE_KIND: &str = "queue-operation";
/// The path of a prompt that was typed while the agent was at work.
const QUEUED_COMMAND_PATH: &str = "attachment/queued_command";

/// True if these bytes have a record of a user or an assistant, as Claude Code writes it.
pub(crate) fn can_read(bytes: &[u8]) -> bool {
    first_objects(bytes, usize::MAX).any(|mut object| {
        let kind: String = object.take("type", &mut Losses::default()).unwrap_or_default();
        let is_queued = kind == QUEUE_KIND && object.has("operation") && object.has("content");
        is_signed(&object)
            && (is_queued || is_conversation(&kind) && take_message(&mut object, &kind).is_ok())
    })
}

/// Reads a transcript. `name` is the file's name, for the id of a session that gives none itself.
///
/// # Errors
/// `empty_file`; `unknown_format` if no record of a user or an assistant, as Claude Code writes it, is in the bytes;
/// `line_too_long` if all that there is is too long to be stored.
pub fn read(bytes: &[u8], name: &str) -> Result<Import, Error> {
    reject_empty(bytes, AgentName::ClaudeCode)?;
    let mut reader = Reader::new();
    for record in records(bytes, AgentName::ClaudeCode) {
        match record {
            Ok((object, place)) => reader.read_record(object, place),
            Err(problem) => reader.problems.push(problem),
        }
    }
    let is_known = reader.is_known;
    let import = reader.finish(file_stem(name, ".jsonl"));
    require_sessions(import, bytes, AgentName::ClaudeCode, is_known)
}

fn is_conversation(kind: &str) -> bool {
    matches!(kind, "user" | "assistant")
}

fn is_signed(object: &Object<'_>) -> bool {
    object.has("uuid") || object.has("sessionId")
}

/// Takes the message of a record, and its content, which is a string or an array.
fn take_message<'a>(object: &mut Object<'a>, kind: &str) -> Result<(Object<'a>, &'a str), String> {
    let raw = object.take_raw("message");
    let message = raw.and_then(|raw| Object::parse(format!("{kind}.message"), raw).ok());
    let mut message = message.ok_or_else(|| mismatch_message("message", "an object", raw))?;
    match message.take_raw("content") {
        Some(content) if content.starts_with(['"', '[']) => Ok((message, content)),
        other => Err(mismatch_message("message.content", "a string or an array", other)),
    }
}

fn is_queued_prompt(object: &Object<'_>) -> bool {
    let quiet = &mut Losses::default();
    let inner = object.raw("attachment").filter(|raw| has_word(raw, "commandMode"));
    inner.and_then(|raw| Object::parse("", raw).ok()).is_some_and(|mut inner| {
        let mut is = |key: &str, word: &str| inner.take::<String>(key, quiet).as_deref() == Some(word);
        is("type", "queued_command") && is("commandMode", "prompt")
    })
}

/// True if a word may be a key in this JSON; cheaper than splitting it. It misses an escaped key, which nobody writes.
fn has_word(json: &str, word: &str) -> bool {
    memchr::memmem::find(json.as_bytes(), word.as_bytes()).is_some()
}

/// Takes the attachment of a queued prompt, and the prompt, which is a string or an array.
fn take_queued_prompt<'a>(object: &mut Object<'a>) -> Result<(Object<'a>, &'a str), String> {
    let raw = object.take_raw("attachment");
    let attachment = raw.and_then(|raw| Object::parse(format!("{QUEUED_COMMAND_PATH}.attachment"), raw).ok());
    let mut attachment = attachment.ok_or_else(|| mismatch_message("attachment", "an object", raw))?;
    let prompt = attachment.take_raw("prompt");
    let prompt_json = prompt.filter(|prompt| prompt.starts_with(['"', '[']));
    prompt_json
        .map(|prompt_json| (attachment, prompt_json))
        .ok_or_else(|| mismatch_message("attachment.prompt", "a string or an array", prompt))
}

fn mismatch_message(path: &str, expected: &str, found: Option<&str>) -> String {
    let found = found.map_or("nothing", kind_of);
    format!("expected {expected} for {path:?}, but found {found} instead")
}

struct Reader<'a> {
    is_known: bool,
    session_id: Option<String>,
    titles: Titles,
    // The main conversation comes first, whether it has messages or not.
    threads: Vec<Thread>,
    thread_of_agent: BTreeMap<String, usize>,
    links: BTreeMap<String, RecordLink>,
    seen_records: BTreeSet<(String, Option<&'a str>, &'a str)>,
    queue: Queue,
    problems: Vec<Problem>,
}

#[derive(Default)]
struct Titles {
    custom: Option<String>,
    ai: Option<String>,
    // Each summary, with the last record that it covers.
    summaries: Vec<(String, Option<String>)>,
}

impl<'a> Reader<'a> {
    fn new() -> Reader<'a> {
        Reader {
            is_known: false,
            session_id: None,
            titles: Titles::default(),
            threads: Vec::from([Thread::new(None)]),
            thread_of_agent: BTreeMap::new(),
            links: BTreeMap::new(),
            seen_records: BTreeSet::new(),
            queue: Queue::default(),
            problems: Vec::new(),
        }
    }

    fn add_problem(&mut self, code: ProblemCode, place: Span, message: &str) {
        self.problems.push(new_problem(code, place, message));
    }

    fn read_record(&mut self, mut object: Object<'a>, place: Span) {
        let kind: Option<String> = object.take("type", &mut Losses::default());
        let Some(kind) = kind else {
            let message = "expected a record of claude-code, but found an object without a type instead";
            return self.add_problem(ProblemCode::Foreign, place, message);
        };
        let object = object.with_path(kind.as_str());
        match kind.as_str() {
            "user" | "assistant" => self.read_message(object, &kind, place),
            "attachment" if is_queued_prompt(&object) => {
                self.read_message(object.with_path(QUEUED_COMMAND_PATH), QUEUED_COMMAND_PATH, place)
            }
            "custom-title" | "ai-title" | "summary" => self.read_title(object, &kind),
            QUEUE_KIND => self.read_queue_operation(object, place),
            _ => self.read_other_record(object, &kind, place),
        }
    }

    fn read_queue_operation(&mut self, mut object: Object<'a>, place: Span) {
        let session_id: Option<String> = object.take_name("sessionId", &mut Losses::default());
        let is_signed = session_id.is_some();
        self.session_id = self.session_id.take().or(session_id);
        let talk = &mut self.threads[0].talk;
        talk.losses.add(format!("record:{QUEUE_KIND}"), NO_MESSAGE);
        self.is_known |= self.queue.apply_operation(&mut object, place, talk.drafts.len()) && is_signed;
    }

    fn read_message(&mut self, mut object: Object<'a>, kind: &str, place: Span) {
        let signed = is_signed(&object);
        let timestamp = object.raw("timestamp");
        let whole = object.raw(if kind == QUEUED_COMMAND_PATH { "attachment" } else { "message" });
        let parsed = if kind == QUEUED_COMMAND_PATH {
            take_queued_prompt(&mut object)
        } else {
            take_message(&mut object, kind)
        };
        let (message, content) = match parsed {
            Ok(parsed) => parsed,
            Err(wrong) => return self.add_problem(ProblemCode::BadValue, place, &wrong),
        };
        self.is_known |= signed && is_conversation(kind);
        let mut losses = Losses::default();
        let envelope = Envelope::take(&mut object, &mut losses);
        let session_id = object.take_name("sessionId", &mut losses);
        self.session_id = self.session_id.take().or(session_id);
        let at = self.thread_of(&envelope, &mut object, &mut losses);
        let before = self.find_parent_message(at, &envelope, kind, &mut losses);
        self.note_interruption(at, &mut object, before, content);
        let agent = object.raw("toolUseResult").filter(|raw| kind == "user" && has_word(raw, "agentId"));
        let thread = &mut self.threads[at];
        thread.talk.losses.merge(losses);
        thread.describe(&mut object, kind, &envelope);
        // A client that resumes or compacts may write its old records again, with another parent.
        let key = envelope.uuid.clone().zip(whole).map(|(uuid, whole)| (uuid, timestamp, whole));
        if key.is_some_and(|key| !self.seen_records.insert(key)) {
            return thread.skip_repeated(object);
        }
        let uuid = envelope.uuid.clone();
        let record = Record { object, message, content, envelope, parent_index: before, place };
        let last = match kind {
            "assistant" => thread.add_answer(record),
            QUEUED_COMMAND_PATH => thread.add_queued(record),
            _ => thread.add_prompt(record),
        };
        if let Some(raw) = agent {
            thread.note_agent(raw, last);
        }
        self.link(at, uuid, Some(last));
    }

    // The user stopped an answer: newer versions name it, in older ones it is the one before.
    fn note_interruption(
        &mut self,
        at: usize,
        object: &mut Object<'a>,
        before: Option<usize>,
        content: &str,
    ) {
        let named: Option<String> = object.take("interruptedMessageId", &mut Losses::default());
        let linked = named.and_then(|uuid| self.links.get(&uuid)).filter(|linked| linked.thread == at);
        let interrupted_place = content.contains(INTERRUPTION_TEXT).then_some(before).flatten();
        if let Some(place) = linked.and_then(|linked| linked.message_index) {
            self.threads[at].cut_short(place);
        } else if let Some(place) = interrupted_place.filter(|place| !self.threads[at].is_finished(*place)) {
            self.threads[at].cut_short(place);
        }
    }

    fn read_title(&mut self, mut object: Object<'a>, kind: &str) {
        let losses = &mut self.threads[0].talk.losses;
        let titles = &mut self.titles;
        match kind {
            "custom-title" => titles.custom = object.take("customTitle", losses).or(titles.custom.take()),
            "ai-title" => titles.ai = object.take("aiTitle", losses).or(titles.ai.take()),
            _ => {
                let leaf = object.take("leafUuid", losses);
                titles.summaries.extend(object.take("summary", losses).map(|summary| (summary, leaf)));
            }
        }
        if kind != "summary" {
            object.take_raw("sessionId");
        }
        object.report_rest_lost(losses, REASONS);
    }

    // A record without a message costs one line in the losses, but the chain goes through it.
    fn read_other_record(&mut self, mut object: Object<'a>, kind: &str, place: Span) {
        let mut losses = Losses::default();
        let envelope = Envelope::take(&mut object, &mut losses);
        let at = self.thread_of(&envelope, &mut object, &mut losses);
        let attachment = object.take_raw("attachment").filter(|_| kind == "attachment");
        let subkind: Option<String> = match attachment {
            Some(raw) => self.read_attachment_kind(raw, at),
            None if kind == "system" => object.take("subtype", &mut losses),
            None => None,
        };
        let why = subkind.as_deref().filter(|_| attachment.is_some()).and_then(attachments::skip_reason);
        let queued = attachment
            .filter(|_| why.is_none())
            .and_then(|raw| attachments::attachment_message(raw, object.raw("rendered")));
        let kind = subkind.map_or_else(|| kind.into(), |subkind| format!("{kind}/{subkind}"));
        let before = self.find_parent_message(at, &envelope, &kind, &mut losses);
        self.threads[at].talk.note_created(envelope.ms());
        let is_repeated = || envelope.uuid.as_ref().is_some_and(|uuid| self.links.contains_key(uuid));
        match queued {
            // A client that resumes may write it again.
            Some(_) if is_repeated() => {}
            Some(message) => {
                let place = self.threads[at].add_attachment(message, &envelope, before, place);
                self.link(at, envelope.uuid, Some(place));
            }
            None => {
                self.threads[at].talk.losses.add(format!("record:{kind}"), why.unwrap_or(NO_MESSAGE));
                self.link(at, envelope.uuid, before);
            }
        }
    }

    // Reads the kind of an attachment. One about tools adds their names: a resumed session can miss them.
    fn read_attachment_kind(&mut self, raw: &str, at: usize) -> Option<String> {
        let quiet = &mut Losses::default();
        let mut inner = Object::parse("attachment", raw).ok()?;
        let kind: Option<String> = inner.take("type", quiet);
        if kind.as_deref() == Some("deferred_tools_delta") {
            let names: Vec<String> = inner.take("addedNames", quiet).unwrap_or_default();
            self.threads[at].talk.session.tools.extend(names);
        }
        kind
    }

    // Returns the conversation of a record. A sub-agent's record says so, and names the agent; older versions leave the
    // agent out, then the chain tells.
    fn thread_of(&mut self, envelope: &Envelope, object: &mut Object<'a>, losses: &mut Losses) -> usize {
        if object.take::<bool>("isSidechain", losses) != Some(true) {
            return 0;
        }
        let agent = object.take::<String>("agentId", losses).filter(|agent| !agent.is_empty());
        if agent.is_none()
            && let Some(linked) = envelope.parent.as_ref().and_then(|parent| self.links.get(parent))
            && linked.thread > 0
        {
            return linked.thread;
        }
        let next = self.threads.len();
        let name = agent.or_else(|| envelope.uuid.clone()).unwrap_or_else(|| format!("sidechain-{next}"));
        let at = *self.thread_of_agent.entry(name.clone()).or_insert(next);
        if at == next {
            self.threads.push(Thread::new(Some(name)));
        }
        at
    }

    // Returns the message that a record follows, through records that are none.
    fn find_parent_message(
        &self,
        at: usize,
        envelope: &Envelope,
        kind: &str,
        losses: &mut Losses,
    ) -> Option<usize> {
        let parent = envelope.parent.as_ref()?;
        match self.links.get(parent).filter(|linked| linked.thread == at) {
            Some(linked) => linked.message_index,
            None => {
                if is_conversation(kind) || kind == QUEUED_COMMAND_PATH {
                    losses.add(
                        format!("{kind}.parentUuid"),
                        "names a record that doesn't come before it in this conversation",
                    );
                }
                None
            }
        }
    }

    fn link(&mut self, thread: usize, uuid: Option<String>, message: Option<usize>) {
        if let Some(uuid) = uuid {
            self.links.insert(uuid, RecordLink { thread, message_index: message });
        }
    }

    fn finish(mut self, name: &str) -> Import {
        let native = self.session_id.take().unwrap_or_else(|| name.into());
        let title = self.choose_title();
        core::mem::take(&mut self.queue).add_undelivered(&mut self.threads[0].talk);
        let mut threads = core::mem::take(&mut self.threads);
        // Losses of a conversation without messages are listed with the first that has some.
        let mut orphaned = Losses::default();
        for thread in threads.iter_mut().filter(|thread| thread.talk.is_empty()) {
            orphaned.merge(core::mem::take(&mut thread.talk.losses));
        }
        let calls = threads.first().map(Thread::calls_of_agents).unwrap_or_default();
        let main = threads.first_mut().filter(|thread| !thread.talk.is_empty());
        let main = main.map(|thread| thread.set_source_id(&native));
        let caller = main.unwrap_or_else(|| format!("{AGENT}/{native}"));
        threads.retain(|thread| !thread.talk.is_empty());
        if let Some(first) = threads.first_mut() {
            first.talk.losses.merge(orphaned);
        }
        let mut sessions = Vec::new();
        for thread in threads {
            let mut session = thread.finish(&native, &caller, &calls, &mut self.problems);
            session.title = title.clone().filter(|_| session.parent.is_none());
            sessions.push(session);
        }
        // A conversation of which nothing can be stored leaves only its problems.
        sessions.retain(|session| !session.messages.is_empty());
        self.problems.sort_by_key(|problem| problem.start);
        Import { sessions, problems: self.problems }
    }

    // The summary of another file's session may stand at the head of this one: its leaf is not here.
    fn choose_title(&mut self) -> Option<String> {
        let Titles { custom, ai, summaries } = core::mem::take(&mut self.titles);
        let mut summary = None;
        for (text, leaf) in summaries {
            if leaf.is_none_or(|leaf| self.links.contains_key(&leaf)) {
                summary = Some(text);
            } else {
                self.threads[0]
                    .talk
                    .losses
                    .add("summary.summary".into(), "summarizes a session that isn't in this file");
            }
        }
        custom.or(ai).or(summary)
    }
}
