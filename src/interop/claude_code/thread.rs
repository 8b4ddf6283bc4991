//! One conversation of a transcript, the main one or a sub-agent's: its messages and the chain between them.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::interop::claude_code::content::{
    answer_pieces, describe_assistant, prompt_messages, queued_message,
};
use crate::interop::claude_code::record::{ASSISTANT_FLAGS, Envelope, Record, USER_FLAGS, take_flags};
use crate::interop::claude_code::table::{COVERAGE, REASONS};
use crate::interop::conversation::{ConversationBuilder, RecordOrigin, build_flags};
use crate::interop::object::MAX_NAME_BYTES;
use crate::interop::{AgentName, ImportedSession, Losses, Object, SubAgent};
use crate::record::event::Parent;
use crate::record::message::{Message, Role};
use crate::record::scan::Problem;
use crate::record::span::Span;
use crate::shapes::answer_pieces::AnswerPiece;

const CHANGES_REASON: &str = "changes within the session";

pub(super) struct Thread {
    /// The messages so far.
    pub talk: ConversationBuilder,
    // The sub-agent's id; none for the main conversation.
    agent: Option<String>,
    // The answers since the newest prompt, by the ids of their messages: a gateway may give all the same one.
    answers: BTreeMap<String, usize>,
    // The newest prompt behind each message.
    prompts: BTreeMap<usize, usize>,
    agents: Vec<(String, String)>,
    typed_prompts: TypedPrompts,
}

/// The source of a prompt: the user's own record, or a queued prompt.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PromptSource {
    Now,
    Queued,
}

// Prompts that may stand twice, as a queued prompt and as a record of their own.
#[derive(Default)]
struct TypedPrompts {
    // The prompts by the uuids of their records.
    by_uuid: BTreeMap<(PromptSource, String), usize>,
    // The prompts since the newest answer.
    since_answer: Vec<(PromptSource, usize)>,
}

impl TypedPrompts {
    fn add(&mut self, prompt_source: PromptSource, uuid: Option<String>, place: usize) {
        self.by_uuid.extend(uuid.map(|uuid| ((prompt_source, uuid), place)));
        self.since_answer.push((prompt_source, place));
    }

    // Takes the message that the other source gave for the same prompt.
    fn take_counterpart(
        &mut self,
        prompt_source: PromptSource,
        uuid: Option<&str>,
        is_same: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let other = match prompt_source {
            PromptSource::Now => PromptSource::Queued,
            PromptSource::Queued => PromptSource::Now,
        };
        let named = uuid.and_then(|uuid| self.by_uuid.get(&(other, uuid.into()))).copied();
        let is_it = |(prompt_source, place): &(PromptSource, usize)| {
            *prompt_source == other && named.map_or_else(|| is_same(*place), |named| named == *place)
        };
        let at = self.since_answer.iter().position(is_it);
        // A prompt stands twice at most.
        at.map(|at| self.since_answer.remove(at).1).or(named)
    }
}

impl Thread {
    pub fn new(agent: Option<String>) -> Thread {
        Thread {
            talk: ConversationBuilder::new(AgentName::ClaudeCode),
            agent,
            answers: BTreeMap::new(),
            prompts: BTreeMap::new(),
            agents: Vec::new(),
            typed_prompts: TypedPrompts::default(),
        }
    }

    /// Takes a record's fields about the whole conversation.
    pub fn describe(&mut self, object: &mut Object<'_>, kind: &str, envelope: &Envelope) {
        let ConversationBuilder { losses, session, .. } = &mut self.talk;
        let folder = object.take("cwd", losses);
        let git_branch = object.take("gitBranch", losses);
        let version = object.take("version", losses);
        let changes =
            |old: &Option<String>, new: &Option<String>| old.is_some() && new.is_some() && old != new;
        for (field, changed) in [
            ("cwd", changes(&session.folder, &folder)),
            ("gitBranch", changes(&session.git_branch, &git_branch)),
            ("version", changes(&session.version, &version)),
        ] {
            if changed {
                losses.add(format!("{kind}.{field}"), CHANGES_REASON);
            }
        }
        session.folder = session.folder.take().or(folder);
        session.git_branch = git_branch.or(session.git_branch.take());
        self.talk.note_created(envelope.ms());
        self.talk.note_version(version, COVERAGE.tested_versions);
    }

    /// Adds an assistant's record; returns the index of the message it belongs to.
    pub fn add_answer(&mut self, mut record: Record<'_>) -> usize {
        self.typed_prompts.since_answer.clear();
        let losses = &mut self.talk.losses;
        let pieces = answer_pieces(record.content, losses);
        let flags = take_flags(&mut record.object, ASSISTANT_FLAGS, losses);
        let is_cut = record.object.take("isAbortedMidStream", losses) == Some(true);
        let answer = record.message.take("id", losses).filter(|answer: &String| !answer.is_empty());
        let known = answer.as_ref().and_then(|answer| self.answers.get(answer)).copied();
        let known = known.filter(|place| !self.is_behind_result(*place, record.parent_index, &pieces));
        let place = known.unwrap_or_else(|| {
            let message = Message { role: Some(Role::Assistant), ..Message::default() };
            self.talk.add_after(record.parent_index, message, record.origin(flags))
        });
        if let Some(answer) = answer {
            self.answers.insert(answer, place);
        }
        let more = if known.is_some() { record.place.end - record.place.start } else { 0 };
        self.talk.extend(place, pieces, more);
        let Record { object, mut message, .. } = record;
        let ConversationBuilder { drafts, losses, .. } = &mut self.talk;
        drafts[place].message.partial |= is_cut;
        describe_assistant(drafts[place].message.assistant.get_or_insert_default(), &mut message, losses);
        self.report_rest_lost(object, message);
        place
    }

    /// Adds a user's record; returns the index of its last message.
    pub fn add_prompt(&mut self, mut record: Record<'_>) -> usize {
        let is_own = |flag: &&str| record.object.raw(flag) == Some("true");
        let is_summary = is_own(&"isCompactSummary");
        let mut is_prompt = !is_own(&"isMeta") && !is_summary;
        let losses = &mut self.talk.losses;
        let flags = take_flags(&mut record.object, USER_FLAGS, losses);
        let messages = prompt_messages(record.content, losses);
        let not_run = did_not_run(&mut record.object);
        let uuid = record.envelope.uuid.as_deref();
        if let [message] = &messages[..]
            && message.tool.is_none()
            && let Some(place) = self.find_counterpart(PromptSource::Now, uuid, message)
        {
            self.report_rest_lost(record.object, record.message);
            return place;
        }
        let origin = record.origin(flags);
        let mut last = record.parent_index;
        for mut message in messages {
            if let Some(tool) = &mut message.tool {
                tool.not_run = not_run;
            }
            let is_said = message.tool.is_none();
            is_prompt &= is_said;
            message.branch = is_prompt && self.is_rewind(last, &message, &record.envelope);
            let place = self.talk.add_after(last, message, origin.clone());
            if is_said {
                self.typed_prompts.add(PromptSource::Now, record.envelope.uuid.clone(), place);
            }
            if is_prompt && let Some(last) = last {
                self.prompts.insert(last, place);
            }
            last = Some(place);
        }
        if is_prompt || is_summary {
            self.answers.clear();
        }
        self.report_rest_lost(record.object, record.message);
        self.talk.drafts.len() - 1
    }

    // Words behind a result of an answer are another answer; calls of the same one may be written behind it.
    fn is_behind_result(&self, answer: usize, before: Option<usize>, pieces: &[AnswerPiece]) -> bool {
        let is_result = |before: usize| self.talk.drafts[before].message.tool.is_some();
        before.is_some_and(|before| before > answer && is_result(before))
            && !pieces.iter().any(|piece| matches!(piece, AnswerPiece::Call(_)))
    }

    /// Adds a prompt typed while the agent was at work; returns the index of its message. It replaces no other prompt.
    pub fn add_queued(&mut self, mut record: Record<'_>) -> usize {
        let prompt = &mut record.message;
        prompt.take_raw("commandMode");
        let losses = &mut self.talk.losses;
        let uuid: Option<String> = prompt.take("source_uuid", losses);
        let flags = take_flags(prompt, USER_FLAGS, losses);
        let message = queued_message(record.content, losses);
        let place = match self.find_counterpart(PromptSource::Queued, uuid.as_deref(), &message) {
            Some(place) => place,
            None => {
                // If it names no parent, it follows the newest message.
                let last = self.talk.drafts.len().checked_sub(1);
                let last = last.filter(|_| record.envelope.parent.is_none());
                let place = self.talk.add_after(record.parent_index.or(last), message, record.origin(flags));
                self.typed_prompts.add(PromptSource::Queued, uuid, place);
                self.answers.clear();
                place
            }
        };
        self.report_rest_lost(record.object, record.message);
        place
    }

    /// Adds the message that an attachment gives the model; returns its index.
    pub fn add_attachment(
        &mut self,
        message: Message,
        envelope: &Envelope,
        before: Option<usize>,
        place: Span,
    ) -> usize {
        let origin = RecordOrigin::from_place(place, envelope.timestamp.clone());
        let native = envelope.uuid.clone().unwrap_or(origin.native);
        self.talk.add_after(
            before,
            message,
            RecordOrigin { native, flags: build_flags(&["isMeta", "isAttached"]), ..origin },
        )
    }

    /// Marks the answer at this index as cut short.
    pub fn cut_short(&mut self, place: usize) {
        let message = &mut self.talk.drafts[place].message;
        message.partial |= message.role == Some(Role::Assistant);
    }

    /// True if the answer at this index says why it ended.
    pub fn is_finished(&self, place: usize) -> bool {
        let assistant = self.talk.drafts[place].message.assistant.as_ref();
        assistant.is_some_and(|assistant| assistant.finish_reason.is_some())
    }

    /// Skips a record whose message is there already.
    pub fn skip_repeated(&mut self, mut object: Object<'_>) {
        for flag in USER_FLAGS.iter().chain(ASSISTANT_FLAGS) {
            object.take_raw(flag);
        }
        object.report_rest_lost(&mut self.talk.losses, REASONS);
    }

    /// Notes the sub-agent that a tool result came from: `raw` is what Claude Code keeps of it for itself.
    pub fn note_agent(&mut self, raw: &str, place: usize) {
        let quiet = &mut Losses::default();
        let agent =
            Object::parse("", raw).ok().and_then(|mut result| result.take::<String>("agentId", quiet));
        let call = self.talk.drafts[place].message.tool.as_ref().map(|tool| tool.call_id.clone());
        self.agents.extend(agent.zip(call.filter(|call| !call.is_empty())));
    }

    /// Returns the call that began each sub-agent: by its name, else, for older versions, by the prompt it was given.
    pub fn calls_of_agents(&self) -> BTreeMap<String, String> {
        let mut calls = BTreeMap::new();
        for piece in self.talk.drafts.iter().flat_map(|draft| &draft.pieces) {
            if let AnswerPiece::Call(call) = piece
                && matches!(call.name.as_str(), "Task" | "Agent")
                && call.id.len() <= MAX_NAME_BYTES
                && let Ok(mut input) = Object::parse("", call.arguments.as_str())
                && let Some(prompt) = input.take::<String>("prompt", &mut Losses::default())
            {
                calls.insert(prompt, call.id.clone());
            }
        }
        calls.extend(self.agents.iter().cloned());
        calls
    }

    /// Sets the conversation's id in its source; returns its uuid in leftoff. `native` is the main one's id.
    pub fn set_source_id(&mut self, native: &str) -> String {
        self.talk.session.source_id = self.source_id(native);
        self.talk.id()
    }

    /// Returns the conversation with its ids. `caller` names the main one, `calls` the calls of sub-agents in it. What
    /// cannot be stored is added to the problems.
    pub fn finish(
        mut self,
        native: &str,
        caller: &str,
        calls: &BTreeMap<String, String>,
        problems: &mut Vec<Problem>,
    ) -> ImportedSession {
        self.set_source_id(native);
        let sub_agent = |(agent, call_id): &(String, String)| SubAgent {
            source_id: format!("{native}/{agent}"),
            call_id: call_id.clone(),
        };
        self.talk.session.sub_agents = self.agents.iter().map(sub_agent).collect();
        self.talk.session.parent = self.agent.as_ref().map(|agent| {
            let mut messages = self.talk.drafts.iter().map(|draft| &draft.message);
            let first = messages.find(|message| !message.has_source_mark("isMeta"));
            let first = first.map_or("", |message| message.content.as_str());
            let call_id = calls.get(agent).or_else(|| calls.get(first)).cloned();
            Parent { session: caller.into(), call_id }
        });
        self.talk.finish(problems)
    }

    fn source_id(&self, native: &str) -> String {
        self.agent.as_ref().map_or_else(|| native.into(), |agent| format!("{native}/{agent}"))
    }

    fn find_counterpart(
        &mut self,
        prompt_source: PromptSource,
        uuid: Option<&str>,
        message: &Message,
    ) -> Option<usize> {
        let drafts = &self.talk.drafts;
        self.typed_prompts.take_counterpart(prompt_source, uuid, |place| {
            let other = &drafts[place].message;
            (&other.content, &other.attachments) == (&message.content, &message.attachments)
        })
    }

    // The same prompt, or one of the same time, is a record written again.
    fn is_rewind(&self, before: Option<usize>, message: &Message, envelope: &Envelope) -> bool {
        let earlier = before.and_then(|before| self.prompts.get(&before));
        earlier.map(|earlier| &self.talk.drafts[*earlier].message).is_some_and(|earlier| {
            let same_time = envelope.timestamp.is_some() && earlier.timestamp == envelope.timestamp;
            earlier.content != message.content && !same_time
        })
    }

    fn report_rest_lost(&mut self, object: Object<'_>, mut message: Object<'_>) {
        message.take_raw("role");
        message.take_raw("type");
        message.report_rest_lost(&mut self.talk.losses, REASONS);
        object.report_rest_lost(&mut self.talk.losses, REASONS);
    }
}

// True if the call of this result was denied, or interrupted.
fn did_not_run(object: &mut Object<'_>) -> bool {
    let quiet = &mut Losses::default();
    let denial: Option<String> = object.take("toolDenialKind", quiet);
    let given = object.raw("toolUseResult").and_then(|raw| Object::parse("", raw).ok());
    denial.is_some() || given.is_some_and(|mut given| given.take("interrupted", quiet) == Some(true))
}
