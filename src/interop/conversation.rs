//! The conversation builder: gathers an agent's records into messages that can be stored.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::interop::object::MAX_NAME_BYTES;
use crate::interop::refusal::is_refusal;
use crate::interop::version::newer_than;
use crate::interop::{AgentName, ImportedSession, Loss, Losses};
use crate::json::text::{Extra, to_json};
use crate::record::blob;
use crate::record::event;
use crate::record::id;
use crate::record::line::{self, MAX_LINE};
use crate::record::message::{LineOrigin, Message, Role};
use crate::record::scan::{Problem, ProblemCode};
use crate::record::span::Span;
use crate::shapes::answer_pieces::{AnswerPiece, assemble};
use crate::time;

/// A message that is being gathered.
pub(super) struct MessageDraft {
    pub message: Message,
    /// The pieces of an answer, in their order.
    pub pieces: Vec<AnswerPiece>,
    native: String,
    parent_index: Option<usize>,
    // Where its first record begins, and how many bytes its records have.
    place: Span,
    bytes: u64,
}

/// The record that a message comes from.
#[derive(Clone, Debug, Default)]
pub(super) struct RecordOrigin {
    /// The record's native name: an id, or a place that never changes.
    pub native: String,
    /// When it was written, RFC 3339.
    pub timestamp: Option<String>,
    /// The record's place in the file.
    pub place: Span,
    /// The record's marks.
    pub flags: Extra,
}

impl RecordOrigin {
    /// Makes the origin of a record that has no id: its place names it.
    pub fn from_place(place: Span, timestamp: Option<String>) -> RecordOrigin {
        RecordOrigin { native: format!("byte-{}", place.start), timestamp, place, flags: Extra::default() }
    }
}

/// Makes the flags of a record from the marks that are set.
pub(super) fn build_flags(names: &[&str]) -> Extra {
    let mut marks = Extra::default();
    names.iter().for_each(|name| set_flag(&mut marks, name));
    marks
}

/// Sets a mark for the use of a message; it is kept with its source.
pub(super) fn set_flag(flags: &mut Extra, name: &str) {
    flags.0.push((format!("\"{name}\"").into(), "true".into()));
}

/// Keeps a value that only the same client understands; it is kept with its source.
pub(super) fn set_flag_value(flags: &mut Extra, name: &str, value: Option<&str>) {
    flags.0.extend(value.map(|value| (format!("\"{name}\"").into(), to_json(value).into())));
}

/// One conversation of a file, while it is read.
pub(super) struct ConversationBuilder {
    /// Whose it is.
    pub agent: AgentName,
    /// The fields of the whole session; its id, its last time and its messages come at the end.
    pub session: ImportedSession,
    pub losses: Losses,
    pub drafts: Vec<MessageDraft>,
    native_id_counts: BTreeMap<String, u32>,
    // The tools' names by the ids of their calls.
    tool_names: BTreeMap<String, String>,
    // Calls that have no id, and no result yet.
    unnamed_calls: VecDeque<String>,
    call_count: u64,
    // The message that the next one follows, and whether that one leaves the order of the file.
    last_index: Option<usize>,
    is_branch: bool,
    // Set after something was taken back, until something new is said: the message before the part taken back.
    taken_back_to: Option<Option<usize>>,
    // The newest version beyond those tested, whether the last record's is such a one, and how many records' are.
    newest_untested: Option<([u64; 3], String)>,
    is_untested: bool,
    untested_records: u64,
}

impl ConversationBuilder {
    pub fn new(agent: AgentName) -> ConversationBuilder {
        ConversationBuilder {
            agent,
            session: ImportedSession { agent: agent.as_str().into(), ..ImportedSession::default() },
            losses: Losses::default(),
            drafts: Vec::new(),
            native_id_counts: BTreeMap::new(),
            tool_names: BTreeMap::new(),
            unnamed_calls: VecDeque::new(),
            call_count: 0,
            last_index: None,
            is_branch: false,
            taken_back_to: None,
            newest_untested: None,
            is_untested: false,
            untested_records: 0,
        }
    }

    /// Notes a time of the conversation; the first is its beginning.
    pub fn note_created(&mut self, ms: Option<i64>) {
        self.session.created_ms = self.session.created_ms.or(ms);
    }

    /// Notes the version of the client that wrote a record.
    pub fn note_version(&mut self, version: Option<String>, tested: &[&str]) {
        let Some(version) = version else { return };
        // Nearly always that of the record before.
        if self.session.version.as_ref() != Some(&version) {
            let number = newer_than(tested, &version);
            self.is_untested = number.is_some();
            self.newest_untested =
                self.newest_untested.take().max(number.map(|number| (number, version.clone())));
            self.session.version = Some(version);
        }
        self.untested_records += u64::from(self.is_untested);
    }

    /// Adds a message behind the one that was added last; returns its index.
    pub fn add(&mut self, message: Message, origin: RecordOrigin) -> usize {
        let branch = message.branch || core::mem::take(&mut self.is_branch);
        self.add_after(self.last_index, Message { branch, ..message }, origin)
    }

    /// Adds a message behind another one; returns its index.
    pub fn add_after(&mut self, before: Option<usize>, mut message: Message, origin: RecordOrigin) -> usize {
        let RecordOrigin { native, timestamp, place, flags } = origin;
        self.note_created(timestamp.as_deref().and_then(time::parse));
        if let Some(tool) = &mut message.tool
            && tool.call_id.is_empty()
        {
            tool.call_id = self.unnamed_calls.pop_front().unwrap_or_default();
        }
        // A later call may have the same id.
        if let Some(tool) = &mut message.tool
            && tool.name.is_empty()
        {
            tool.name = self.tool_name(&tool.call_id);
        }
        let source = LineOrigin { agent: self.agent.as_str().into(), id: native.clone(), extra: flags };
        let message = Message { timestamp, source: Some(source), ..message };
        // An id names the record; several messages of it, and records that share one, are told apart by number.
        let native = if native.is_empty() { RecordOrigin::from_place(place, None).native } else { native };
        let native = unique_name(&mut self.native_id_counts, native);
        let bytes = place.end - place.start;
        self.drafts.push(MessageDraft {
            message,
            pieces: Vec::new(),
            native,
            parent_index: before,
            place,
            bytes,
        });
        self.taken_back_to = None;
        self.last_index = Some(self.drafts.len() - 1);
        self.drafts.len() - 1
    }

    /// Adds a message before another one, or behind all.
    pub fn insert(&mut self, at: Option<usize>, message: Message, origin: RecordOrigin) {
        let last = self.drafts.len().checked_sub(1);
        let before = at.map_or(last, |at| self.drafts[at].parent_index);
        self.add_after(before, message, origin);
        if let Some(at) = at
            && let Some(new) = self.drafts.pop()
        {
            for draft in &mut self.drafts {
                draft.parent_index =
                    draft.parent_index.map(|before| if before >= at { before + 1 } else { before });
            }
            self.drafts[at].parent_index = Some(at);
            self.drafts.insert(at, new);
            self.last_index = self.drafts.len().checked_sub(1);
        }
    }

    fn tool_name(&self, call: &str) -> String {
        self.tool_names.get(call).filter(|name| name.len() <= MAX_NAME_BYTES).cloned().unwrap_or_default()
    }

    /// Adds pieces to an answer, from a record of `bytes` bytes beyond its first. A call without an id gets one, so
    /// that its result can be paired with it.
    pub fn extend(&mut self, at: usize, mut pieces: Vec<AnswerPiece>, bytes: u64) {
        for piece in &mut pieces {
            if let AnswerPiece::Call(call) = piece {
                self.call_count += 1;
                if call.id.is_empty() {
                    call.id = format!("call-{}", self.call_count);
                    self.unnamed_calls.push_back(call.id.clone());
                }
                self.tool_names.insert(call.id.clone(), call.name.clone());
            }
        }
        self.drafts[at].bytes += bytes;
        self.drafts[at].pieces.extend(pieces);
    }

    /// Marks the message at `at` and all behind it as taken back. They stay; what follows begins a branch.
    pub fn rewind(&mut self, at: usize) {
        let Some(draft) = self.drafts.get(at) else { return };
        self.last_index = draft.parent_index;
        self.is_branch = true;
        self.taken_back_to = Some(self.last_index);
    }

    /// Marks all behind a message as taken back.
    pub fn rewind_after(&mut self, at: usize) {
        if at + 1 < self.drafts.len() {
            (self.last_index, self.is_branch, self.taken_back_to) = (Some(at), true, Some(Some(at)));
        }
    }

    /// Marks the newest answer as cut short: by the user, or by an error.
    pub fn cut_short(&mut self) {
        let last = self.drafts.last_mut().filter(|draft| draft.message.role == Some(Role::Assistant));
        if let Some(draft) = last {
            draft.message.partial = true;
        }
    }

    // If the file ends with something taken back, the path ends before that: an added message says so, and begins a
    // branch there. If all was taken back, nothing was said.
    fn end_before_taken_back(&mut self) {
        match self.taken_back_to.take() {
            None => {}
            Some(None) => self.drafts.clear(),
            Some(Some(before)) => {
                let last = self.drafts.last().map_or("", |draft| draft.native.as_str());
                let native = format!("taken-back/{last}/{}", self.drafts[before].native);
                let content = "[What was said after this was taken back.]".into();
                let message = Message { role: Some(Role::User), content, branch: true, ..Message::default() };
                let origin = RecordOrigin {
                    native,
                    flags: build_flags(&["isMeta", "isTakenBack"]),
                    ..RecordOrigin::default()
                };
                self.add_after(Some(before), message, origin);
            }
        }
    }

    /// Marks all that was read so far as part of another session, which this one began as.
    pub fn mark_fork(&mut self) {
        let session = self.id();
        let mut ms = self.session.created_ms.unwrap_or_default();
        for draft in &self.drafts {
            ms = draft.message.timestamp.as_deref().and_then(time::parse).unwrap_or(ms);
        }
        let last = self.drafts.last();
        self.session.fork = last.map(|last| {
            let native = &last.native;
            let message_id = id::from_source(self.agent.as_str(), &self.session.source_id, native, ms);
            event::ForkOrigin { session, message_id }
        });
        self.session.title = None;
        self.session.created_ms = None;
    }

    /// Sets the session that this one began as a copy of; the message at `last` is the last that was taken over.
    pub fn set_fork_origin(&mut self, source_id: &str, created_ms: i64, last: usize) {
        let agent = self.agent.as_str();
        let times = self.drafts[..=last].iter().rev().filter_map(|draft| draft.message.timestamp.as_deref());
        let ms = times.filter_map(time::parse).next().unwrap_or(created_ms);
        let session = id::from_source(agent, source_id, "", created_ms);
        let message_id = id::from_source(agent, source_id, &self.drafts[last].native, ms);
        self.session.fork = Some(event::ForkOrigin { session, message_id });
    }

    /// True if nothing was said.
    pub fn is_empty(&self) -> bool {
        self.drafts.is_empty()
    }

    /// Returns the uuid of this conversation in leftoff.
    pub fn id(&self) -> String {
        let created_ms = self.session.created_ms.unwrap_or_default();
        id::from_source(self.agent.as_str(), &self.session.source_id, "", created_ms)
    }

    /// Returns the conversation with its ids, and adds what cannot be stored to the problems.
    pub fn finish(mut self, problems: &mut Vec<Problem>) -> ImportedSession {
        self.end_before_taken_back();
        let id = self.id();
        let messages = self.finish_messages(problems);
        let mut losses = self.losses.into_list();
        let why = "imported, but this version is newer than those tested";
        let untested = self.newest_untested.map(|(_, version)| format!("version:{version}"));
        losses.extend(untested.map(|field| Loss::new(field, self.untested_records, why)));
        let times = messages.iter().filter_map(|message| message.timestamp.as_deref());
        let last_ms = times.filter_map(time::parse).max();
        let models = messages.iter().rev().filter_map(|message| message.assistant.as_ref()?.model.as_ref());
        let model = models.into_iter().find(|model| *model != "<synthetic>").cloned();
        let mut tools: BTreeSet<String> = core::mem::take(&mut self.session.tools).into_iter().collect();
        for call in messages.iter().flat_map(Message::tool_calls) {
            if !tools.contains(&call.name) {
                tools.insert(call.name.clone());
            }
        }
        ImportedSession {
            id,
            last_ms: last_ms.or(self.session.last_ms),
            model: model.or(self.session.model),
            tools: tools.into_iter().collect(),
            messages,
            losses,
            ..self.session
        }
    }

    // A message that no line can hold is a problem; the next one hangs from the message before it.
    fn finish_messages(&mut self, problems: &mut Vec<Problem>) -> Vec<Message> {
        let drafts = core::mem::take(&mut self.drafts);
        let mut messages: Vec<Message> = Vec::with_capacity(drafts.len());
        let mut refused = BTreeSet::new();
        let mut ms = self.session.created_ms.unwrap_or_default();
        for MessageDraft { mut message, pieces, native, parent_index: before, place, bytes } in drafts {
            ms = message.timestamp.as_deref().and_then(time::parse).unwrap_or(ms);
            message.id = id::from_source(self.agent.as_str(), &self.session.source_id, &native, ms);
            message.parent_id = match before.and_then(|before| messages.get(before)) {
                Some(parent) if refused.contains(&parent.id) => parent.parent_id.clone(),
                Some(parent) => Some(parent.id.clone()),
                None => None,
            };
            if message.role == Some(Role::Assistant) {
                assemble(&mut message, pieces);
            }
            if let Some(tool) = &mut message.tool
                && tool.name.is_empty()
            {
                tool.name = self.tool_name(&tool.call_id);
            }
            if let Some(tool) = &mut message.tool
                && is_refusal(self.agent, tool.is_error, message.content.as_str())
            {
                (tool.is_error, tool.not_run) = (true, true);
            }
            let Span { start, end } = place;
            if let Some(call) = message.tool_calls().iter().find(|call| call.name.is_empty()) {
                let message =
                    format!("expected the name of a tool for the call {:?}, but found none", call.id);
                problems.push(Problem { code: ProblemCode::BadValue, start, end, message });
            }
            if let Some(found) = describe_too_long(&message, bytes) {
                problems.push(Problem { code: ProblemCode::LineTooLong, start, end, message: found });
                refused.insert(message.id.clone());
            }
            messages.push(message);
        }
        messages.retain(|message| !refused.contains(&message.id));
        messages
    }
}

/// Makes a name unique: from the second use on it gets a number. `known` counts how often each was met.
pub(super) fn unique_name(known: &mut BTreeMap<String, u32>, name: String) -> String {
    let Some(mut count) = known.get(&name).copied() else {
        known.insert(name.clone(), 1);
        return name;
    };
    loop {
        count += 1;
        let own = format!("{name}#{count}");
        // Another name may read like this already.
        if !known.contains_key(&own) {
            known.extend([(name, count), (own.clone(), 1)]);
            return own;
        }
    }
}

// The bytes that a log's line has beside the file's: its number, its tokens, its checksum.
const LINE_OVERHEAD_BYTES: u64 = 1024;

// A smaller message surely fits: a call's arguments are escaped once more in a line, and each span of an answer is
// listed.
const SURELY_FITTING_BYTES: u64 = MAX_LINE as u64 / 8;

fn describe_too_long(message: &Message, bytes: u64) -> Option<String> {
    if bytes <= SURELY_FITTING_BYTES {
        return None;
    }
    let mut stored = message.clone();
    blob::move_to_blobs(&mut stored);
    match line::write(&stored) {
        Ok(line) if line.len() as u64 + LINE_OVERHEAD_BYTES <= MAX_LINE as u64 => None,
        Ok(line) => Some(format!(
            "expected a line of at most {MAX_LINE} bytes, but found {} bytes and more instead",
            line.len()
        )),
        Err(error) => Some(error.message),
    }
}
