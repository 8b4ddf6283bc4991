//! One conversation of a transcript, the main one or a sub-agent's: its messages and how they hang together.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::fields::Fields;
use crate::interop::claude_code::AGENT;
use crate::interop::claude_code::content::{Piece, answer_pieces, assemble, describe, prompt_messages};
use crate::interop::claude_code::table::why_lost;
use crate::interop::{ANOTHER_KIND, ImportedSession, Losses, Object, SubAgent};
use crate::session::event::Parent;
use crate::session::id;
use crate::session::message::{Message, Role, Source};
use crate::text::Extra;
use crate::time;

const CHANGES: &str = "it changes within the session";

/// What a record with a uuid means for those that hang from it.
pub(super) struct Linked {
    pub thread: usize,
    /// The message it became, or else the one before it.
    pub message: Option<usize>,
}

/// What a record says of itself.
pub(super) struct Envelope {
    pub uuid: Option<String>,
    pub parent: Option<String>,
    timestamp: Option<String>,
}

// Marks that tell what a message is good for; they go with its source.
const USER_FLAGS: &[&str] = &["isMeta", "isCompactSummary", "isVisibleInTranscriptOnly"];
const ASSISTANT_FLAGS: &[&str] = &["isApiErrorMessage"];

impl Envelope {
    pub fn take(object: &mut Object<'_>, losses: &mut Losses) -> Envelope {
        let uuid = object.take("uuid", losses);
        let parent = object.take("parentUuid", losses);
        let written: Option<String> = object.take("timestamp", losses);
        let is_time = written.as_deref().is_none_or(|written| time::parse(written).is_some());
        if !is_time {
            object.lose("timestamp", ANOTHER_KIND, losses);
        }
        Envelope {
            uuid,
            parent: parent.or_else(|| object.take("logicalParentUuid", losses)),
            timestamp: written.filter(|_| is_time),
        }
    }

    fn ms(&self) -> Option<i64> {
        self.timestamp.as_deref().and_then(time::parse)
    }
}

/// A record of a user or an assistant.
pub(super) struct Record<'a> {
    pub object: Object<'a>,
    pub message: Object<'a>,
    pub content: &'a str,
    pub envelope: Envelope,
    /// The uuid, or the place for want of one.
    pub native: String,
    /// The message it follows.
    pub before: Option<usize>,
}

struct Draft {
    message: Message,
    pieces: Vec<Piece>,
    native: String,
    before: Option<usize>,
}

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
    created_ms: Option<i64>,
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
        self.folder = self.folder.take().or(folder);
        self.git_branch = git_branch.or(self.git_branch.take());
        self.version = version.or(self.version.take());
    }

    /// Adds an assistant's record; the place of the message it belongs to.
    pub fn answer(&mut self, record: Record<'_>) -> usize {
        let Record { mut object, mut message, content, envelope, native, before } = record;
        let mut pieces = answer_pieces(content, &mut self.losses);
        self.name_calls(&mut pieces);
        let flags = flags(&mut object, ASSISTANT_FLAGS, &mut self.losses);
        let answer: Option<String> = message.take("id", &mut self.losses);
        let known = answer.as_ref().and_then(|answer| self.answers.get(answer)).copied();
        let place = known.unwrap_or_else(|| {
            let message = Message { role: Some(Role::Assistant), ..Message::default() };
            self.draft(message, &envelope, native, flags, before)
        });
        if let Some(answer) = answer {
            self.answers.insert(answer, place);
        }
        let draft = &mut self.drafts[place];
        draft.pieces.extend(pieces);
        describe(draft.message.assistant.get_or_insert_default(), &mut message, &mut self.losses);
        self.leave(object, message);
        place
    }

    /// Adds a user's record; the place of its last message.
    pub fn prompt(&mut self, record: Record<'_>) -> usize {
        let Record { mut object, message, content, envelope, native, before } = record;
        let is_own = |flag: &&str| object.raw(flag) == Some("true");
        let mut is_prompt = !["isMeta", "isCompactSummary"].iter().any(is_own);
        let flags = flags(&mut object, USER_FLAGS, &mut self.losses);
        let mut last = before;
        for mut said in prompt_messages(content, &mut self.losses) {
            if let Some(tool) = &mut said.tool {
                is_prompt = false;
                if tool.call_id.is_empty() {
                    tool.call_id = self.unnamed.pop_front().unwrap_or_default();
                }
            }
            said.branch = is_prompt && self.is_rewind(last, &said, &envelope);
            let place = self.draft(said, &envelope, native.clone(), flags.clone(), last);
            if is_prompt && let Some(last) = last {
                self.prompts.insert(last, place);
            }
            last = Some(place);
        }
        self.leave(object, message);
        self.drafts.len() - 1
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

    /// The conversation with its ids. `caller` names the main one, `calls` the calls of sub-agents in it.
    pub fn finish(self, native: &str, caller: &str, calls: &BTreeMap<String, String>) -> ImportedSession {
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
        let messages = finish_messages(self.drafts, &self.tools, &source_id, self.created_ms);
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
            losses: self.losses.list(),
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
    ) -> usize {
        let source = Source { agent: AGENT.into(), id: native.clone(), extra: flags };
        let timestamp = envelope.timestamp.clone();
        let message = Message { timestamp, source: Some(source), ..message };
        // The uuid names the record; several messages of it, and records that share one, are told apart by number.
        let count = self.natives.entry(native.clone()).or_default();
        *count += 1;
        let native = if *count == 1 { native } else { format!("{native}#{count}") };
        self.drafts.push(Draft { message, pieces: Vec::new(), native, before });
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

fn flags(object: &mut Object<'_>, names: &[&str], losses: &mut Losses) -> Extra {
    let mut set = Vec::new();
    for name in names {
        if object.take(name, losses) == Some(true) {
            set.push(format!("\"{name}\":true"));
        }
    }
    Fields::parse(&format!("{{{}}}", set.join(","))).map(Fields::rest).unwrap_or_default()
}

fn finish_messages(
    drafts: Vec<Draft>,
    tools: &BTreeMap<String, String>,
    source_id: &str,
    created_ms: Option<i64>,
) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::with_capacity(drafts.len());
    let mut ms = created_ms.unwrap_or_default();
    for Draft { mut message, pieces, native, before } in drafts {
        ms = message.timestamp.as_deref().and_then(time::parse).unwrap_or(ms);
        message.id = id::imported(AGENT, source_id, &native, ms);
        message.parent_id = before.and_then(|before| messages.get(before)).map(|before| before.id.clone());
        if message.role == Some(Role::Assistant) {
            assemble(&mut message, pieces);
        }
        if let Some(tool) = &mut message.tool {
            tool.name = tools.get(&tool.call_id).cloned().unwrap_or_default();
        }
        messages.push(message);
    }
    messages
}
