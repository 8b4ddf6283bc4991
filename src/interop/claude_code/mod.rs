//! Claude Code's transcripts: `<projects>/<folder>/<session>.jsonl`.
//!
//! One answer is spread over several records of one `message.id`; the results of parallel calls are records of their own.
//! A record hangs from another by `parentUuid`, through records that are no messages. Two prompts that hang from the same
//! record are a rewind: the later begins a branch. A compact boundary begins a chain anew, and the history before it
//! stays. Sub-agents' records, `isSidechain`, are sessions of their own. Tested with files of versions 1.0 to 2.1.329.

mod content;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::interop::{AgentName, Import, ImportedSession, Losses};
use crate::session::event::Parent;
use crate::session::id;
use crate::session::message::{Assistant, Message, Role, Source};
use crate::session::scan::{Problem, ProblemCode};
use crate::text::{Extra, Fields};
use crate::time;

use content::{NO_PLACE, add_to_answer, blocks, lost_fields, tidy_order, usage, user_messages};

const AGENT: AgentName = AgentName::ClaudeCode;

// Fields that say where a record stands; they are taken over in what they mean, or said by leftoff in its own way.
const ENVELOPE: [&str; 3] = ["type", "isSidechain", "agentId"];

/// Reads a transcript; nothing where the bytes are none: no record of a user or an assistant is in them.
pub(crate) fn read(bytes: &[u8], name: &str) -> Option<Import> {
    let mut reader = Reader { name: name.into(), ..Reader::default() };
    let mut start = 0;
    for line in bytes.split(|byte| *byte == b'\n') {
        reader.line(line, start);
        start += line.len() as u64 + 1;
    }
    (!reader.threads.is_empty()).then(|| reader.finish())
}

#[derive(Default)]
struct Reader {
    name: String,
    session_id: Option<String>,
    title: Option<(u8, String)>,
    // The main conversation under the empty name, those of sub-agents under theirs.
    threads: BTreeMap<String, Thread>,
    problems: Vec<Problem>,
    losses: Losses,
    seen: BTreeSet<String>,
    records: u64,
    thread_of: BTreeMap<String, String>,
}

#[derive(Default)]
struct Thread {
    messages: Vec<Message>,
    // What a record means for those that hang from it: the message it became, or the one before it.
    message_of: BTreeMap<String, Option<String>>,
    answers: BTreeMap<String, usize>,
    prompted: BTreeSet<String>,
    tools: BTreeMap<String, String>,
    folder: Option<String>,
    losses: Losses,
    session_id: Option<String>,
}

// What every record of a conversation has.
struct Envelope {
    uuid: String,
    parent: Option<String>,
    timestamp: Option<String>,
}

impl Reader {
    fn line(&mut self, line: &[u8], start: u64) {
        let line = line.trim_ascii();
        if line.is_empty() {
            return;
        }
        self.records += 1;
        let fields = core::str::from_utf8(line).ok().and_then(|json| Fields::parse(json).ok());
        match fields {
            Some(fields) => self.record(fields),
            None => self.problems.push(Problem {
                code: ProblemCode::Damaged,
                start,
                end: start + line.len() as u64,
                message:
                    "expected a record of claude-code, but found something that is no JSON object instead"
                        .into(),
            }),
        }
    }

    fn record(&mut self, mut fields: Fields<'_>) {
        let mut bad = Vec::new();
        let kind: String = fields.take("type", &mut bad).unwrap_or_default();
        let is_conversation = matches!(kind.as_str(), "user" | "assistant") && fields.has("message");
        let envelope = Envelope {
            uuid: fields.take("uuid", &mut bad).unwrap_or_else(|| format!("record-{}", self.records)),
            parent: fields
                .take("parentUuid", &mut bad)
                .or_else(|| fields.take("logicalParentUuid", &mut bad)),
            timestamp: fields
                .take::<String>("timestamp", &mut bad)
                .filter(|written| time::parse(written).is_some()),
        };
        if !is_conversation {
            return self.other_record(&kind, envelope, fields);
        }
        // A resumed session may repeat the records of the one before it.
        if !self.seen.insert(envelope.uuid.clone()) {
            return self.losses.add("record:repeated".into(), "the same record stands earlier in the file");
        }
        let thread = self.thread_name(&mut fields, &envelope);
        self.thread_of.insert(envelope.uuid.clone(), thread.clone());
        let native: Option<String> = fields.take("sessionId", &mut bad);
        if self.session_id.is_none() {
            self.session_id.clone_from(&native);
        }
        let thread = self.threads.entry(thread).or_default();
        thread.session_id = thread.session_id.take().or(native);
        thread.folder = fields.take("cwd", &mut bad).or(thread.folder.take());
        for key in ENVELOPE {
            fields.take_raw(key);
        }
        let message = fields.take_raw("message").unwrap_or("{}");
        match kind.as_str() {
            "assistant" => thread.answer(message, envelope),
            _ => thread.prompt(message, envelope),
        }
        lost_fields(&kind, fields, &mut thread.losses);
    }

    fn other_record(&mut self, kind: &str, envelope: Envelope, mut fields: Fields<'_>) {
        let mut bad = Vec::new();
        let title = match kind {
            "custom-title" => fields.take("customTitle", &mut bad).map(|title| (3, title)),
            "ai-title" => fields.take("aiTitle", &mut bad).map(|title| (2, title)),
            "summary" => fields.take("summary", &mut bad).map(|title| (1, title)),
            _ => None,
        };
        let why = if title.is_some() { "taken over as the title" } else { NO_PLACE };
        let known = self.title.as_ref().map_or(0, |(rank, _)| *rank);
        self.title = title.filter(|(rank, _)| *rank >= known).or(self.title.take());
        let kind = if kind.is_empty() { "(none)" } else { kind };
        self.losses.add(format!("record:{kind}"), why);
        let name = self.thread_name(&mut fields, &envelope);
        self.thread_of.insert(envelope.uuid.clone(), name.clone());
        if let Some(thread) = self.threads.get_mut(&name) {
            let before = thread.before(&envelope);
            thread.message_of.insert(envelope.uuid, before);
        }
    }

    // A sub-agent's record says so, and by which agent; older versions leave the agent out, then its chain tells.
    fn thread_name(&self, fields: &mut Fields<'_>, envelope: &Envelope) -> String {
        let mut bad = Vec::new();
        if fields.take::<bool>("isSidechain", &mut bad) != Some(true) {
            return String::new();
        }
        let agent = fields.take::<String>("agentId", &mut bad).filter(|agent| !agent.is_empty());
        let parent = envelope
            .parent
            .as_ref()
            .and_then(|parent| self.thread_of.get(parent))
            .filter(|name| !name.is_empty());
        agent.or_else(|| parent.cloned()).unwrap_or_else(|| envelope.uuid.clone())
    }

    fn finish(self) -> Import {
        let native = self.session_id.clone().unwrap_or_else(|| self.name.clone());
        let main = self.threads.get("").map(|thread| thread.uuid(&native, ""));
        let mut sessions = Vec::new();
        let mut shared = Some((self.losses, self.title));
        for (name, thread) in self.threads {
            let (losses, title) = shared.take().unwrap_or_default();
            let parent = (!name.is_empty()).then(|| Parent {
                session: main.clone().unwrap_or_else(|| format!("{}/{native}", AGENT.as_str())),
                call_id: None,
            });
            sessions.push(thread.finish(&native, &name, parent, losses, title.map(|(_, title)| title)));
        }
        Import { sessions, problems: self.problems }
    }
}

impl Thread {
    fn before(&self, envelope: &Envelope) -> Option<String> {
        let parent = envelope.parent.as_ref()?;
        self.message_of.get(parent).cloned().flatten()
    }

    fn answer(&mut self, raw: &str, envelope: Envelope) {
        let Ok(mut fields) = Fields::parse(raw) else {
            return self.losses.add("message".into(), "no object");
        };
        let mut bad = Vec::new();
        let answer: String = fields.take("id", &mut bad).unwrap_or_else(|| envelope.uuid.clone());
        let blocks = blocks(fields.take_raw("content"), &mut self.losses);
        let place = match self.answers.get(&answer) {
            Some(place) => *place,
            None => {
                self.answers.insert(answer, self.messages.len());
                let message = Message { role: Some(Role::Assistant), ..Message::default() };
                self.push(message, &envelope, &envelope.uuid, false);
                self.messages.len() - 1
            }
        };
        let message = &mut self.messages[place];
        add_to_answer(message, blocks, &mut self.losses);
        let assistant = message.assistant.get_or_insert_default();
        assistant.model = fields.take("model", &mut bad).or(assistant.model.take());
        assistant.finish_reason = fields.take("stop_reason", &mut bad).or(assistant.finish_reason.take());
        let counted = fields.take_raw("usage").and_then(|raw| usage(raw, &mut self.losses));
        assistant.usage = counted.or(assistant.usage.take());
        for call in &assistant.tool_calls {
            self.tools.insert(call.id.clone(), call.name.clone());
        }
        let id = message.id.clone();
        self.message_of.insert(envelope.uuid, Some(id));
        fields.take_raw("role");
        lost_fields("message", fields, &mut self.losses);
    }

    fn prompt(&mut self, raw: &str, envelope: Envelope) {
        let Ok(mut fields) = Fields::parse(raw) else {
            return self.losses.add("message".into(), "no object");
        };
        let blocks = blocks(fields.take_raw("content"), &mut self.losses);
        let messages = user_messages(blocks, &self.tools, &mut self.losses);
        let parent = envelope.parent.clone().unwrap_or_default();
        for (place, message) in messages.into_iter().enumerate() {
            let is_prompt = message.role == Some(Role::User);
            let is_rewind = is_prompt && !parent.is_empty() && !self.prompted.insert(parent.clone());
            let native =
                if place == 0 { envelope.uuid.clone() } else { format!("{}#{place}", envelope.uuid) };
            self.push(message, &envelope, &native, is_rewind);
            let last = self.messages.last().map(|message| message.id.clone());
            self.message_of.insert(envelope.uuid.clone(), last);
        }
        fields.take_raw("role");
        lost_fields("message", fields, &mut self.losses);
    }

    fn push(&mut self, mut message: Message, envelope: &Envelope, native: &str, is_rewind: bool) {
        let ms = envelope.timestamp.as_deref().and_then(time::parse).unwrap_or_default();
        message.id = id::imported(AGENT.as_str(), self.session_id.as_deref().unwrap_or_default(), native, ms);
        let own = self.message_of.get(&envelope.uuid).cloned().flatten();
        message.parent_id = own.or_else(|| self.before(envelope));
        message.timestamp.clone_from(&envelope.timestamp);
        message.branch = is_rewind && message.parent_id.is_some();
        message.source =
            Some(Source { agent: AGENT.as_str().into(), id: native.to_string(), extra: Extra::default() });
        self.messages.push(message);
    }

    fn uuid(&self, native: &str, name: &str) -> String {
        let first =
            self.messages.iter().filter_map(|message| message.timestamp.as_deref()).find_map(time::parse);
        id::imported(AGENT.as_str(), native, name, first.unwrap_or_default())
    }

    fn finish(
        mut self,
        native: &str,
        name: &str,
        parent: Option<Parent>,
        mut losses: Losses,
        title: Option<String>,
    ) -> ImportedSession {
        let id = self.uuid(native, name);
        self.messages.iter_mut().filter_map(|message| message.assistant.as_mut()).for_each(tidy_order);
        let model = |assistant: &Assistant| assistant.model.clone();
        losses.merge(self.losses);
        ImportedSession {
            id,
            agent: AGENT.as_str(),
            source_id: if name.is_empty() { native.into() } else { format!("{native}/{name}") },
            parent,
            title,
            folder: self.folder,
            model: self.messages.iter().rev().find_map(|message| message.assistant.as_ref().and_then(model)),
            messages: self.messages,
            losses: losses.list(),
        }
    }
}
