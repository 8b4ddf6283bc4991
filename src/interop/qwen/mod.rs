//! Reads Qwen Code's sessions: `<projects>/<folder>/chats/<session>.jsonl`.
//!
//! Records name their parents by `parentUuid`, through records that are no messages; their contents are parts of
//! Gemini's API. An assistant's records of one uuid are one answer. A rewind is a record whose parent lies farther
//! back: it begins a branch. A sub-agent's records (`isSidechain`) are a session of their own. Of a compression only
//! its summary is read: the history stays.

mod table;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::Error;
use crate::interop::content_parts::{ContentParts, FunctionAnswer, parse_parts};
use crate::interop::conversation::{ConversationBuilder, RecordOrigin, build_flags};
use crate::interop::lines::{file_stem, first_objects, new_problem, records, reject_empty, require_sessions};
use crate::interop::loss;
use crate::interop::object::Losses;
use crate::interop::{AgentName, Import, Object};
use crate::record::event::Parent;
use crate::record::message::{Assistant, Message, Role, Usage};
use crate::record::scan::{Problem, ProblemCode};
use crate::record::span::Span;
use crate::shapes::answer_pieces::AnswerPiece;
use crate::time;

use table::REASONS;

pub use table::COVERAGE;

const NO_MESSAGE: &str = "the record is not a message";
const TITLE_KIND: &str = "system/custom_title";
const COMPRESSION_KIND: &str = "system/chat_compression";
const REWIND_KIND: &str = "system/rewind";
// Messages from the client to the model in a user's name.
const NOTICE_KINDS: [&str; 3] = ["notification", "cron", "goal_runtime"];

/// True if these bytes begin with a record of Qwen Code.
pub(crate) fn can_read(bytes: &[u8]) -> bool {
    first_objects(bytes, 64).any(|object| is_own(&object))
}

fn is_own(object: &Object<'_>) -> bool {
    let message = object.raw("message").and_then(|raw| Object::parse("", raw).ok());
    object.has("uuid") && object.has("sessionId") && message.is_some_and(|message| message.has("parts"))
}

/// Reads a session. `name` is the file's name, for the id of a session that gives none itself.
///
/// # Errors
/// `empty_file`; `unknown_format` if nothing was said as Qwen Code writes it; `line_too_long` if all that there is is
/// too long to be stored.
pub fn read(bytes: &[u8], name: &str) -> Result<Import, Error> {
    reject_empty(bytes, AgentName::Qwen)?;
    let mut reader = Reader::default();
    for record in records(bytes, AgentName::Qwen) {
        match record {
            Ok((object, place)) => reader.read_record(object, place),
            Err(problem) => reader.problems.push(problem),
        }
    }
    let is_known = reader.is_known;
    require_sessions(reader.finish(file_stem(name, ".jsonl")), bytes, AgentName::Qwen, is_known)
}

#[derive(Default)]
struct Reader {
    is_known: bool,
    session_id: Option<String>,
    title: Option<String>,
    // The conversations by their agents; the main one has no name.
    threads: BTreeMap<String, Thread>,
    // For each record with a uuid, its agent and its message, or else the message before it.
    links: BTreeMap<String, (String, Option<usize>)>,
    problems: Vec<Problem>,
}

struct Thread {
    talk: ConversationBuilder,
    // Answers by their uuids, since the newest prompt.
    answers: BTreeMap<String, usize>,
}

/// The fields that every record has.
struct Envelope {
    uuid: Option<String>,
    parent: Option<String>,
    timestamp: Option<String>,
    agent: String,
    place: Span,
}

impl Envelope {
    fn origin(&self) -> RecordOrigin {
        let origin = RecordOrigin::from_place(self.place, self.timestamp.clone());
        RecordOrigin { native: self.uuid.clone().unwrap_or(origin.native), ..origin }
    }
}

impl Reader {
    fn read_record(&mut self, mut object: Object<'_>, place: Span) {
        let quiet = &mut Losses::default();
        self.is_known = self.is_known || is_own(&object);
        let kind: Option<String> = object.take("type", quiet);
        let Some(kind) = kind else {
            let message = "expected a record of qwen, but found an object without a type instead";
            return self.problems.push(new_problem(ProblemCode::Foreign, place, message));
        };
        let subtype: Option<String> = object.take("subtype", quiet);
        let kind = match subtype.as_deref() {
            Some(subtype) if kind == "system" => format!("system/{subtype}"),
            _ => kind,
        };
        let object = object.with_path(kind.as_str());
        match kind.as_str() {
            "user" | "assistant" | "tool_result" => {
                self.read_message(object, &kind, subtype.as_deref(), place)
            }
            _ => self.read_other_record(object, &kind, place),
        }
    }

    fn take_envelope(&mut self, object: &mut Object<'_>, losses: &mut Losses, place: Span) -> Envelope {
        let session_id = object.take_name("sessionId", losses);
        self.session_id = self.session_id.take().or(session_id);
        let is_side = object.take("isSidechain", losses) == Some(true);
        let agent: Option<String> = object.take("agentId", losses);
        Envelope {
            uuid: object.take_name("uuid", losses).filter(|uuid| !uuid.is_empty()),
            parent: object.take("parentUuid", losses),
            timestamp: object.take_time("timestamp", losses),
            agent: if is_side { agent.unwrap_or_else(|| "sidechain".into()) } else { String::new() },
            place,
        }
    }

    fn thread(&mut self, agent: &str) -> &mut Thread {
        let new = || Thread { talk: ConversationBuilder::new(AgentName::Qwen), answers: BTreeMap::new() };
        self.threads.entry(agent.into()).or_insert_with(new)
    }

    // Returns the message that a record follows: none before the first; if its parent is missing, the newest one.
    fn find_parent_message(&mut self, envelope: &Envelope, kind: &str) -> Option<usize> {
        let parent = envelope.parent.as_ref().and_then(|parent| self.links.get(parent));
        let known = parent.filter(|(agent, _)| *agent == envelope.agent).map(|(_, before)| *before);
        let thread = self.thread(&envelope.agent);
        if known.is_none() && envelope.parent.is_some() && !thread.talk.is_empty() {
            let why = "names a record that doesn't come before it in this conversation";
            thread.talk.losses.add(format!("{kind}.parentUuid"), why);
        }
        known.unwrap_or_else(|| thread.talk.drafts.len().checked_sub(1))
    }

    fn link(&mut self, envelope: Envelope, message: Option<usize>) {
        if let Some(uuid) = envelope.uuid {
            self.links.insert(uuid, (envelope.agent, message));
        }
    }

    // A record without a message costs one line in the losses, but the chain goes through it.
    fn read_other_record(&mut self, mut object: Object<'_>, kind: &str, place: Span) {
        let mut losses = Losses::default();
        let envelope = self.take_envelope(&mut object, &mut losses, place);
        let mut before = self.find_parent_message(&envelope, kind);
        let target = if kind == REWIND_KIND { rewind_target(&mut object) } else { None };
        let rewound = target.and_then(|target| self.links.get(&target)).map(|(_, message)| *message);
        let talk = &mut self.thread(&envelope.agent).talk;
        talk.note_created(envelope.timestamp.as_deref().and_then(time::parse));
        if kind == TITLE_KIND {
            for key in ["cwd", "version", "gitBranch"] {
                object.take_raw(key);
            }
            let mut title = None;
            if let Some(mut payload) = object.take_object("systemPayload", &mut losses) {
                title = payload.take("customTitle", &mut losses);
                payload.report_rest_lost(&mut losses, REASONS);
            }
            object.report_rest_lost(&mut losses, REASONS);
            talk.losses.merge(losses);
            self.title = title.or(self.title.take());
        } else {
            if let Some(target) = rewound {
                match target {
                    Some(target) => talk.rewind_after(target),
                    None => talk.rewind(0),
                }
                talk.losses.add(format!("record:{kind}"), NO_MESSAGE);
                return self.link(envelope, target);
            }
            talk.losses.add(format!("record:{kind}"), NO_MESSAGE);
            if kind == COMPRESSION_KIND
                && let Some(summary) = compression_summary(&mut object)
            {
                let origin = RecordOrigin { flags: build_flags(&["isCompactSummary"]), ..envelope.origin() };
                before = Some(self.add_message(&envelope.agent, before, summary, origin));
            }
        }
        self.link(envelope, before);
    }

    fn read_message(&mut self, mut object: Object<'_>, kind: &str, subtype: Option<&str>, place: Span) {
        let mut losses = Losses::default();
        let envelope = self.take_envelope(&mut object, &mut losses, place);
        let before = self.find_parent_message(&envelope, kind);
        let path = format!("{kind}.message.parts");
        let mut content = ContentParts::default();
        if let Some(mut message) = object.take_object("message", &mut losses) {
            self.is_known |= message.has("parts");
            content = parse_parts(&path, message.take_raw("parts"), &mut losses, REASONS);
            message.take_raw("role");
            message.report_rest_lost(&mut losses, REASONS);
        }
        let talk = &mut self.thread(&envelope.agent).talk;
        let folder: Option<String> = object.take("cwd", &mut losses);
        if talk.session.folder.is_some() && folder.is_some() && folder != talk.session.folder {
            losses.add(format!("{kind}.cwd"), "changes within the session");
        }
        talk.session.folder = talk.session.folder.take().or(folder);
        talk.session.git_branch = object.take("gitBranch", &mut losses).or(talk.session.git_branch.take());
        talk.note_version(object.take("version", &mut losses), COVERAGE.tested_versions);
        talk.note_created(envelope.timestamp.as_deref().and_then(time::parse));
        let last = match kind {
            "assistant" => self.add_answer(&mut object, &envelope, before, content, &mut losses),
            _ => self.add_prompt(&mut object, (kind, subtype), &envelope, before, content, &mut losses),
        };
        object.report_rest_lost(&mut losses, REASONS);
        self.thread(&envelope.agent).talk.losses.merge(losses);
        self.link(envelope, last);
    }

    // A message that does not follow the one before it in the file begins a branch.
    fn add_message(
        &mut self,
        agent: &str,
        before: Option<usize>,
        message: Message,
        origin: RecordOrigin,
    ) -> usize {
        let talk = &mut self.thread(agent).talk;
        let branch = before != talk.drafts.len().checked_sub(1);
        talk.add_after(before, Message { branch, ..message }, origin)
    }

    fn add_answer(
        &mut self,
        object: &mut Object<'_>,
        envelope: &Envelope,
        before: Option<usize>,
        content: ContentParts,
        losses: &mut Losses,
    ) -> Option<usize> {
        let agent = &envelope.agent;
        let known = envelope.uuid.as_ref().and_then(|uuid| self.thread(agent).answers.get(uuid).copied());
        let at = known.unwrap_or_else(|| {
            let message = Message {
                role: Some(Role::Assistant),
                assistant: Some(Assistant::default()),
                ..Message::default()
            };
            self.add_message(agent, before, message, envelope.origin())
        });
        for _ in &content.answers {
            losses.add("assistant.message.parts[].functionResponse".into(), loss::INVALID_IN_ANSWER);
        }
        let Thread { talk, answers } = self.thread(agent);
        answers.extend(envelope.uuid.clone().map(|uuid| (uuid, at)));
        let more = if known.is_some() { envelope.place.end - envelope.place.start } else { 0 };
        talk.extend(at, content.pieces, more);
        let message = &mut talk.drafts[at].message;
        message.attachments.extend(content.attachments);
        let assistant = message.assistant.get_or_insert_default();
        assistant.model = object.take("model", losses).or(assistant.model.take());
        assistant.usage = usage(object, losses).or(assistant.usage.take());
        Some(at)
    }

    // Adds the results first, each as a message; then the words beside them, if any.
    fn add_prompt(
        &mut self,
        object: &mut Object<'_>,
        (kind, subtype): (&str, Option<&str>),
        envelope: &Envelope,
        mut before: Option<usize>,
        mut parts: ContentParts,
        losses: &mut Losses,
    ) -> Option<usize> {
        let text = parts.take_text();
        for piece in &parts.pieces {
            let field = match piece {
                AnswerPiece::Call(_) => "functionCall",
                AnswerPiece::Reasoning(_) | AnswerPiece::Text(_) => "thought",
            };
            losses.add(format!("{kind}.message.parts[].{field}"), loss::VALID_IN_ANSWER_ONLY);
        }
        let FunctionAnswer { id: call, is_error: failed, not_run, exit_code, .. } =
            take_outcome(object, losses);
        let is_notice = subtype.is_some_and(|subtype| NOTICE_KINDS.contains(&subtype));
        let flags = if is_notice { build_flags(&["isMeta"]) } else { build_flags(&[]) };
        let is_beside = !text.is_empty() || !parts.attachments.is_empty();
        let is_alone = parts.answers.is_empty();
        let answers: Vec<FunctionAnswer> = match kind {
            "tool_result" if is_alone => {
                let attachments = core::mem::take(&mut parts.attachments);
                Vec::from([FunctionAnswer {
                    content: text.clone(),
                    attachments,
                    ..FunctionAnswer::default()
                }])
            }
            _ => parts.answers,
        };
        for answer in answers {
            let id = if answer.id.is_empty() { call.clone() } else { answer.id };
            let is_error = answer.is_error || failed;
            let answer = FunctionAnswer { id, is_error, not_run, exit_code, ..answer };
            before =
                Some(self.add_message(&envelope.agent, before, answer.into_message(), envelope.origin()));
        }
        if is_alone && kind == "tool_result" || !is_alone && !is_beside {
            return before;
        }
        let message = Message {
            role: Some(Role::User),
            content: text,
            attachments: parts.attachments,
            ..Message::default()
        };
        if !is_notice {
            self.thread(&envelope.agent).answers.clear();
        }
        Some(self.add_message(&envelope.agent, before, message, RecordOrigin { flags, ..envelope.origin() }))
    }

    fn finish(mut self, name: &str) -> Import {
        let native = self.session_id.take().unwrap_or_else(|| name.into());
        let mut caller = format!("{}/{native}", AgentName::Qwen.as_str());
        // Losses of a conversation without messages are listed with the first that has some.
        let mut orphaned = Losses::default();
        for thread in self.threads.values_mut().filter(|thread| thread.talk.is_empty()) {
            orphaned.merge(core::mem::take(&mut thread.talk.losses));
        }
        let mut sessions = Vec::new();
        for (agent, Thread { mut talk, .. }) in self.threads {
            if talk.is_empty() {
                continue;
            }
            talk.losses.merge(core::mem::take(&mut orphaned));
            if agent.is_empty() {
                talk.session.source_id = native.clone();
                talk.session.title = self.title.take();
                caller = talk.id();
            } else {
                talk.session.source_id = format!("{native}/{agent}");
                talk.session.parent = Some(Parent { session: caller.clone(), call_id: None });
            }
            sessions.push(talk.finish(&mut self.problems));
        }
        sessions.retain(|session| !session.messages.is_empty());
        self.problems.sort_by_key(|problem| problem.start);
        Import { sessions, problems: self.problems }
    }
}

// Takes the call that a result answers, and how it ended.
fn take_outcome(object: &mut Object<'_>, losses: &mut Losses) -> FunctionAnswer {
    let Some(mut outcome) = object.take_object("toolCallResult", losses) else {
        return FunctionAnswer::default();
    };
    let id = outcome.take_name("callId", losses).unwrap_or_default();
    let status: Option<String> = outcome.take("status", losses);
    let shown = outcome.raw("resultDisplay").and_then(|raw| Object::parse("", raw).ok());
    let exit_code = shown.and_then(|mut shown| shown.take("exitCode", &mut Losses::default()));
    outcome.report_rest_lost(losses, REASONS);
    let not_run = status.as_deref() == Some("cancelled");
    FunctionAnswer {
        id,
        is_error: not_run || status.as_deref() == Some("error"),
        not_run,
        exit_code,
        ..FunctionAnswer::default()
    }
}

// Input includes the cached tokens. Whether output includes the thoughts, the sum tells.
fn usage(object: &mut Object<'_>, losses: &mut Losses) -> Option<Usage> {
    let mut counts = object.take_object("usageMetadata", losses)?;
    let input: Option<u64> = counts.take("promptTokenCount", losses);
    let output: Option<u64> = counts.take("candidatesTokenCount", losses);
    let thoughts: Option<u64> = counts.take("thoughtsTokenCount", losses);
    let cached: Option<u64> = counts.take("cachedContentTokenCount", losses);
    let total: Option<u64> = counts.take("totalTokenCount", losses);
    counts.report_rest_lost(losses, REASONS);
    let output = output.map(|output| {
        let is_whole = total == input.and_then(|input| input.checked_add(output));
        output.saturating_add(thoughts.filter(|_| !is_whole).unwrap_or_default())
    });
    Some(Usage {
        input: input.map(|input| input.saturating_sub(cached.unwrap_or_default())),
        output,
        cache_read: cached,
        reasoning: thoughts,
        ..Usage::default()
    })
}

// Takes the record up to which the conversation stands after a rewind.
fn rewind_target(object: &mut Object<'_>) -> Option<String> {
    let quiet = &mut Losses::default();
    object.take_object("systemPayload", quiet)?.take("targetUuid", quiet)
}

// Takes the first message after a compression.
fn compression_summary(object: &mut Object<'_>) -> Option<Message> {
    let quiet = &mut Losses::default();
    let mut payload = object.take_object("systemPayload", quiet)?;
    let history = payload.take_objects("compressedHistory", quiet);
    let (_, mut first) = history.into_iter().next()?;
    let is_user = first.take::<String>("role", quiet).as_deref() == Some("user");
    let content = parse_parts("", first.take_raw("parts"), quiet, REASONS).take_text();
    let is_said = is_user && !content.is_empty();
    is_said.then(|| Message { role: Some(Role::User), content, ..Message::default() })
}
