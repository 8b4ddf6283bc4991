//! One conversation of a transcript, the main one or a sub-agent's: its messages and how they hang together.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::interop::claude_code::AGENT;
use crate::interop::claude_code::content::{answer_pieces, describe, prompt_messages, queued_message};
use crate::interop::claude_code::finish::{Draft, finish_messages};
use crate::interop::claude_code::record::{ASSISTANT_FLAGS, Envelope, Record, USER_FLAGS, flags};
use crate::interop::claude_code::table::{UNTESTED, newer_than_tested, why_lost};
use crate::interop::pieces::Piece;
use crate::interop::{ImportedSession, Loss, Losses, Object, SubAgent};
use crate::session::checkpoint::Span;
use crate::session::event::Parent;
use crate::session::id;
use crate::session::message::{Message, Role, Source};
use crate::session::scan::Problem;
use crate::text::Extra;
use crate::time;

const CHANGES: &str = "it changes within the session";

#[derive(Default)]
pub(super) struct Thread {
    pub losses: Losses,
    // The sub-agent, for a conversation that is not the main one.
    agent: Option<String>,
    drafts: Vec<Draft>,
    answers: BTreeMap<String, usize>,
    // The newest prompt behind each message.
    prompts: BTreeMap<usize, usize>,
    natives: BTreeMap<String, u32>,
    tools: BTreeMap<String, String>,
    // Calls that have no id, and no result yet.
    unnamed: VecDeque<String>,
    calls: u64,
    agents: Vec<(String, String)>,
    folder: Option<String>,
    git_branch: Option<String>,
    version: Option<String>,
    // The newest version that is newer than those tested, and how many records are of such.
    untested: Option<([u64; 3], String)>,
    untested_records: u64,
    created_ms: Option<i64>,
    said: Said,
}

/// Who says something: the user's own record, or a prompt that was queued.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Told {
    Now,
    Queued,
}

// What was typed may stand twice, as a queued prompt and as a record of its own.
#[derive(Default)]
struct Said {
    // By the uuid that the record of its own has.
    named: BTreeMap<(Told, String), usize>,
    // Since the newest answer.
    unanswered: Vec<(Told, usize)>,
}

impl Said {
    fn add(&mut self, told: Told, uuid: Option<String>, place: usize) {
        self.named.extend(uuid.map(|uuid| ((told, uuid), place)));
        self.unanswered.push((told, place));
    }

    // The message that was told in the other way.
    fn other(&mut self, told: Told, uuid: Option<&str>, is_same: impl Fn(usize) -> bool) -> Option<usize> {
        let other = match told {
            Told::Now => Told::Queued,
            Told::Queued => Told::Now,
        };
        let named = uuid.and_then(|uuid| self.named.get(&(other, uuid.into()))).copied();
        let is_it = |(told, place): &(Told, usize)| {
            *told == other && named.map_or_else(|| is_same(*place), |named| named == *place)
        };
        let at = self.unanswered.iter().position(is_it);
        // A message is told twice at most.
        at.map(|at| self.unanswered.remove(at).1).or(named)
    }
}

impl Thread {
    pub fn of_agent(agent: String) -> Thread {
        Thread { agent: Some(agent), ..Thread::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.drafts.is_empty()
    }

    /// Notes when the conversation began.
    pub fn begun(&mut self, envelope: &Envelope) {
        self.created_ms = self.created_ms.or(envelope.ms());
    }

    /// Takes what a record says of the whole conversation.
    pub fn describe(&mut self, object: &mut Object<'_>, kind: &str, envelope: &Envelope) {
        self.begun(envelope);
        let losses = &mut self.losses;
        let folder = object.take("cwd", losses);
        let git_branch = object.take("gitBranch", losses);
        let version = object.take("version", losses);
        let changes =
            |old: &Option<String>, new: &Option<String>| old.is_some() && new.is_some() && old != new;
        for (field, changed) in [
            ("cwd", changes(&self.folder, &folder)),
            ("gitBranch", changes(&self.git_branch, &git_branch)),
            ("version", changes(&self.version, &version)),
        ] {
            if changed {
                losses.add(format!("{kind}.{field}"), CHANGES);
            }
        }
        if let Some((number, version)) = version.as_deref().and_then(newer_than_tested).zip(version.clone()) {
            self.untested_records += 1;
            self.untested = self.untested.take().max(Some((number, version)));
        }
        self.folder = self.folder.take().or(folder);
        self.git_branch = git_branch.or(self.git_branch.take());
        self.version = version.or(self.version.take());
    }

    /// Adds an assistant's record; the place of the message it belongs to.
    pub fn answer(&mut self, record: Record<'_>) -> usize {
        let Record { mut object, mut message, content, envelope, native, before, place: span } = record;
        self.said.unanswered.clear();
        let mut pieces = answer_pieces(content, &mut self.losses);
        self.name_calls(&mut pieces);
        let flags = flags(&mut object, ASSISTANT_FLAGS, &mut self.losses);
        let answer: Option<String> = message.take("id", &mut self.losses);
        let known = answer.as_ref().and_then(|answer| self.answers.get(answer)).copied();
        let place = known.unwrap_or_else(|| {
            let message = Message { role: Some(Role::Assistant), ..Message::default() };
            self.draft(message, &envelope, native, flags, before, span)
        });
        if let Some(answer) = answer {
            self.answers.insert(answer, place);
        }
        let draft = &mut self.drafts[place];
        draft.bytes += if known.is_some() { span.end - span.start } else { 0 };
        draft.pieces.extend(pieces);
        describe(draft.message.assistant.get_or_insert_default(), &mut message, &mut self.losses);
        self.leave(object, message);
        place
    }

    /// Adds a user's record; the place of its last message.
    pub fn prompt(&mut self, record: Record<'_>) -> usize {
        let Record { mut object, message, content, envelope, native, before, place: span } = record;
        let is_own = |flag: &&str| object.raw(flag) == Some("true");
        let mut is_prompt = !["isMeta", "isCompactSummary"].iter().any(is_own);
        let flags = flags(&mut object, USER_FLAGS, &mut self.losses);
        let messages = prompt_messages(content, &mut self.losses);
        if let [said] = &messages[..]
            && said.tool.is_none()
            && let Some(place) = self.told_before(Told::Now, envelope.uuid.as_deref(), said)
        {
            self.leave(object, message);
            return place;
        }
        let mut last = before;
        for mut said in messages {
            let is_said = said.tool.is_none();
            if let Some(tool) = &mut said.tool {
                is_prompt = false;
                if tool.call_id.is_empty() {
                    tool.call_id = self.unnamed.pop_front().unwrap_or_default();
                }
            }
            said.branch = is_prompt && self.is_rewind(last, &said, &envelope);
            let place = self.draft(said, &envelope, native.clone(), flags.clone(), last, span);
            if is_said {
                self.said.add(Told::Now, envelope.uuid.clone(), place);
            }
            if is_prompt && let Some(last) = last {
                self.prompts.insert(last, place);
            }
            last = Some(place);
        }
        self.leave(object, message);
        self.drafts.len() - 1
    }

    /// Adds what was typed while the agent was at work; the place of its message. It replaces no other prompt.
    pub fn queued(&mut self, record: Record<'_>) -> usize {
        let Record { object, message: mut prompt, content, envelope, native, before, place } = record;
        prompt.take_raw("commandMode");
        let uuid: Option<String> = prompt.take("source_uuid", &mut self.losses);
        let flags = flags(&mut prompt, USER_FLAGS, &mut self.losses);
        let said = queued_message(content, &mut self.losses);
        let place = match self.told_before(Told::Queued, uuid.as_deref(), &said) {
            Some(place) => place,
            None => {
                // Where it names no parent, it follows what was said last.
                let last = self.drafts.len().checked_sub(1).filter(|_| envelope.parent.is_none());
                let place = self.draft(said, &envelope, native, flags, before.or(last), place);
                self.said.add(Told::Queued, uuid, place);
                place
            }
        };
        self.leave(object, prompt);
        place
    }

    /// Passes by a record whose message is there already.
    pub fn repeat(&mut self, mut object: Object<'_>) {
        for flag in USER_FLAGS.iter().chain(ASSISTANT_FLAGS) {
            object.take_raw(flag);
        }
        object.leave(&mut self.losses, why_lost);
    }

    /// Notes which sub-agent a tool result came from: `raw` is what Claude Code keeps of it for itself.
    pub fn note_agent(&mut self, raw: &str, place: usize) {
        let quiet = &mut Losses::default();
        let agent =
            Object::parse("", raw).ok().and_then(|mut result| result.take::<String>("agentId", quiet));
        let call = self.drafts[place].message.tool.as_ref().map(|tool| tool.call_id.clone());
        self.agents.extend(agent.zip(call.filter(|call| !call.is_empty())));
    }

    /// Which call began a sub-agent: by its name, else, for older versions, by the prompt it was given.
    pub fn calls_of_agents(&self) -> BTreeMap<String, String> {
        let mut calls = BTreeMap::new();
        for piece in self.drafts.iter().flat_map(|draft| &draft.pieces) {
            if let Piece::Call(call) = piece
                && matches!(call.name.as_str(), "Task" | "Agent")
                && let Ok(mut input) = Object::parse("", call.arguments.as_str())
                && let Some(prompt) = input.take::<String>("prompt", &mut Losses::default())
            {
                calls.insert(prompt, call.id.clone());
            }
        }
        calls.extend(self.agents.iter().cloned());
        calls
    }

    /// The uuid of this conversation in leftoff.
    pub fn id(&self, native: &str) -> String {
        id::imported(AGENT, &self.source_id(native), "", self.created_ms.unwrap_or_default())
    }

    /// The conversation with its ids. `caller` names the main one, `calls` the calls of sub-agents in it. What cannot
    /// be stored is added to the problems.
    pub fn finish(
        self,
        native: &str,
        caller: &str,
        calls: &BTreeMap<String, String>,
        problems: &mut Vec<Problem>,
    ) -> ImportedSession {
        let (id, source_id) = (self.id(native), self.source_id(native));
        let sub_agent = |(agent, call_id): &(String, String)| SubAgent {
            source_id: format!("{native}/{agent}"),
            call_id: call_id.clone(),
        };
        let sub_agents = self.agents.iter().map(sub_agent).collect();
        let parent = self.agent.as_ref().map(|agent| {
            let first = self.drafts.first().map_or("", |draft| draft.message.content.as_str());
            let call_id = calls.get(agent).or_else(|| calls.get(first)).cloned();
            Parent { session: caller.into(), call_id }
        });
        let messages = finish_messages(self.drafts, &self.tools, &source_id, self.created_ms, problems);
        let mut losses = self.losses.list();
        losses.extend(self.untested.map(|(_, version)| Loss {
            field: format!("version:{version}"),
            count: self.untested_records,
            why: UNTESTED,
        }));
        let times = messages.iter().filter_map(|message| message.timestamp.as_deref());
        let last_ms = times.filter_map(time::parse).max();
        let models = messages.iter().rev().filter_map(|message| message.assistant.as_ref()?.model.as_ref());
        let model = models.into_iter().find(|model| *model != "<synthetic>").cloned();
        ImportedSession {
            id,
            agent: AGENT,
            source_id,
            parent,
            sub_agents,
            title: None,
            folder: self.folder,
            git_branch: self.git_branch,
            model,
            version: self.version,
            created_ms: self.created_ms,
            last_ms,
            messages,
            losses,
        }
    }

    fn source_id(&self, native: &str) -> String {
        self.agent.as_ref().map_or_else(|| native.into(), |agent| format!("{native}/{agent}"))
    }

    fn draft(
        &mut self,
        message: Message,
        envelope: &Envelope,
        native: String,
        flags: Extra,
        before: Option<usize>,
        place: Span,
    ) -> usize {
        let source = Source { agent: AGENT.into(), id: native.clone(), extra: flags };
        let timestamp = envelope.timestamp.clone();
        let message = Message { timestamp, source: Some(source), ..message };
        // The uuid names the record; several messages of it, and records that share one, are told apart by number.
        let count = self.natives.entry(native.clone()).or_default();
        *count += 1;
        let native = if *count == 1 { native } else { format!("{native}#{count}") };
        let bytes = place.end - place.start;
        self.drafts.push(Draft { message, pieces: Vec::new(), native, before, place, bytes });
        self.drafts.len() - 1
    }

    // A call without an id gets one, so that its result can be paired with it.
    fn name_calls(&mut self, pieces: &mut [Piece]) {
        for piece in pieces {
            if let Piece::Call(call) = piece {
                self.calls += 1;
                if call.id.is_empty() {
                    call.id = format!("call-{}", self.calls);
                    self.unnamed.push_back(call.id.clone());
                }
                self.tools.insert(call.id.clone(), call.name.clone());
            }
        }
    }

    fn told_before(&mut self, told: Told, uuid: Option<&str>, said: &Message) -> Option<usize> {
        let drafts = &self.drafts;
        self.said.other(told, uuid, |place| {
            let other = &drafts[place].message;
            (&other.content, &other.attachments) == (&said.content, &said.attachments)
        })
    }

    // The same prompt, or one of the same time, is a record written again.
    fn is_rewind(&self, before: Option<usize>, said: &Message, envelope: &Envelope) -> bool {
        let earlier = before.and_then(|before| self.prompts.get(&before));
        earlier.map(|earlier| &self.drafts[*earlier].message).is_some_and(|earlier| {
            let same_time = envelope.timestamp.is_some() && earlier.timestamp == envelope.timestamp;
            earlier.content != said.content && !same_time
        })
    }

    fn leave(&mut self, object: Object<'_>, mut message: Object<'_>) {
        message.take_raw("role");
        message.take_raw("type");
        message.leave(&mut self.losses, why_lost);
        object.leave(&mut self.losses, why_lost);
    }
}
