//! One session: its two logs, and what is known from them.
//!
//! The host observes the events first, then the messages, from the start or from a checkpoint on. Where
//! [`Session::needs_all`] says so, the checkpoint does not carry far enough, and the messages are observed anew.

mod batches;
mod document;
mod observed;
mod staging;

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::{Code, Error};
use crate::json::blob::Blob;
use crate::record::event::{Change, Compaction, Event};
use crate::record::line;
use crate::record::message::Message;
use crate::record::span::Span;
use crate::record::status::{Health, Status};
use crate::record::tool_execution::ToolExecution;
use crate::session::batch::Open;
use crate::session::branch::{Branches, Path};
use crate::session::checkpoint::{Checkpoint, Pinned};
use crate::session::folding::{Folding, Line};
use crate::session::handle::document::Beside;
use crate::session::log::Log;
use crate::session::metadata::Metadata;
use crate::session::revised::{Revised, Says};
use crate::session::source::{Compacted, Source};
use crate::session::title::Titles;
use crate::time::Stamp;

/// One session.
#[derive(Debug)]
pub struct Session {
    events: Log,
    messages: Log,
    tools: Log,
    // The calls whose execution is on record.
    executed: BTreeSet<String>,
    // What the events add up to; and the same with what the document says more.
    recorded: Metadata,
    metadata: Metadata,
    history: Vec<Event>,
    beside: Beside,
    // A line or the document is of a version that knows more.
    is_newer: bool,
    known: Checkpoint,
    branches: Branches,
    revised: Revised,
    // What it is called by, while that is made anew.
    titling: Option<(Titles, Option<Folding>)>,
    // The messages before the checkpoint were not seen, so their places are not known.
    is_from_checkpoint: bool,
    // When the last message was said that the checkpoint covers.
    covered_ms: Option<i64>,
    needs_all: bool,
    pinned: BTreeSet<String>,
    leaf: Option<String>,
    compaction: Compaction,
    // The messages whose batches count, wherever they stand.
    accepted: BTreeSet<String>,
    // The batch whose last line was not met yet.
    open: Option<Open>,
    // The messages of the batch that is on its way.
    staged: Vec<Message>,
    records: u64,
    revisions: u64,
    is_damaged: bool,
}

/// A batch of messages that is to be appended.
#[derive(Clone, Debug, PartialEq)]
pub struct Staged {
    /// The bytes to append: a line for each message.
    pub bytes: Vec<u8>,
    /// What must be in its files, and confirmed by the disk, before the bytes are appended.
    pub blobs: Vec<Blob>,
}

impl Session {
    /// A session of which nothing is observed yet, or its messages as far as a checkpoint covers them.
    pub fn new(checkpoint: Option<Checkpoint>) -> Session {
        let is_from_checkpoint = checkpoint.is_some();
        let known = checkpoint.unwrap_or_default();
        Session {
            events: Log::new(0),
            messages: Log::after(known.bytes, known.ends_line()),
            tools: Log::new(0),
            executed: BTreeSet::new(),
            recorded: Metadata::default(),
            metadata: Metadata::default(),
            history: Vec::new(),
            beside: Beside::default(),
            is_newer: false,
            branches: Branches::default(),
            revised: Revised::behind(known.revised),
            titling: None,
            is_from_checkpoint,
            covered_ms: known.last_message_ms,
            needs_all: false,
            pinned: BTreeSet::new(),
            leaf: None,
            compaction: Compaction::default(),
            accepted: BTreeSet::new(),
            open: None,
            staged: Vec::new(),
            records: 0,
            revisions: 0,
            is_damaged: false,
            known,
        }
    }

    /// The id that the place of the logs says; it is that of the session, unless an event says another.
    pub fn with_id(mut self, id: &str) -> Session {
        self.set_id(id);
        self
    }

    /// The id of a session that was found without one.
    pub fn set_id(&mut self, id: &str) {
        self.recorded.id = id.into();
        self.metadata.id = id.into();
    }

    /// The first heading of the conversation's Markdown: its title, where nobody gave one.
    pub fn set_heading(&mut self, heading: Option<String>) {
        self.recorded.heading.clone_from(&heading);
        self.metadata.heading = heading;
    }

    /// Begins with what a checkpoint covers; no message was observed before.
    pub fn begin_at(&mut self, checkpoint: Checkpoint) {
        let covered = Session::new(Some(checkpoint));
        self.messages = covered.messages;
        self.is_from_checkpoint = true;
        self.covered_ms = covered.covered_ms;
        self.revised = covered.revised;
        self.known = covered.known;
    }

    /// The events log.
    pub fn events(&mut self) -> &mut Log {
        &mut self.events
    }

    /// The messages log.
    pub fn messages(&mut self) -> &mut Log {
        &mut self.messages
    }

    /// The tool executions log.
    pub fn tools(&mut self) -> &mut Log {
        &mut self.tools
    }

    /// Whether the execution of a call is on record, as far as the log was observed.
    pub fn has_executed(&self, call: &str) -> bool {
        self.executed.contains(call)
    }

    /// The bytes that append a tool execution; see [`ToolExecution::from_json`].
    ///
    /// # Errors
    /// `invalid_request`; `newer_version`; those of [`Log`].
    pub fn stage_execution(&mut self, json: &str, stamp: &Stamp) -> Result<Vec<u8>, Error> {
        self.refuse_newer()?;
        let execution = ToolExecution::from_json(json, self.executed.len() as u64, stamp)?;
        self.tools.stage(&[execution])
    }

    /// What was observed says of the whole, where both logs were observed from their start.
    pub fn health(&self) -> Health {
        match (self.is_damaged, self.records) {
            (false, _) => Health::Ok,
            (true, 0) => Health::Unreadable,
            (true, _) => Health::Damaged,
        }
    }

    /// How many lines were met by which a message is said anew.
    pub(crate) fn revisions(&self) -> u64 {
        self.revisions
    }

    /// Whether the messages have to be observed from their start, since a checkpoint does not tell enough.
    pub fn needs_all(&self) -> bool {
        let found = |id: &String| self.known.pins.iter().any(|pin| pin.id == *id);
        self.needs_all || (self.is_from_checkpoint && !self.pinned.iter().all(found))
    }

    /// What is known of the messages, to be kept; a log with branches has none, nor one that has to be observed anew or
    /// whose torn tail begins with a record. Where a message was said anew that was not learned yet, it is kept once it was.
    pub fn checkpoint(&self) -> Option<&Checkpoint> {
        let is_learned = self.revised.last.is_none_or(|last| last < self.known.learned.bytes);
        (self.has_checkpoint() && is_learned && !self.needs_titles()).then_some(&self.known)
    }

    /// Whether there is one, once all was learned.
    pub(crate) fn has_checkpoint(&self) -> bool {
        !self.branches.is_branched() && !self.needs_all && !self.messages.is_inside_line() && !self.is_newer
    }

    /// Whether what it is called by is to be learned, which comes first.
    pub(crate) fn needs_titles(&self) -> bool {
        self.titling.is_some()
    }

    /// What is known of the messages.
    pub fn known(&self) -> &Checkpoint {
        &self.known
    }

    /// What the events add up to.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// When it was taken up last, or forked, where an event says so: that is activity, though nothing was said yet.
    pub fn taken_up_at(&self) -> Option<&str> {
        let is_edited = |change: &Change| matches!(change, Change::Edited(edited) if edited.status == Some(Status::Active));
        let is_active = |event: &&Event| {
            matches!(event.change, Change::Fork(_) | Change::Status { status: Status::Active, .. })
                || is_edited(&event.change)
        };
        self.history.iter().rev().find(is_active)?.timestamp.as_deref()
    }

    /// The event by which it was saved last: it was paused or completed, and not because it rested.
    pub fn saved_by(&self) -> Option<&str> {
        let is_save = |event: &&Event| match &event.change {
            Change::Status { status, reason } => {
                *status != Status::Active && reason.as_deref() != Some("idle")
            }
            Change::Edited(edited) => edited.status.is_some_and(|status| status != Status::Active),
            _ => false,
        };
        self.history.iter().rev().find(is_save).map(|event| &*event.id)
    }

    /// Whether a newer version wrote to it: it can be read, not written.
    pub fn is_newer(&self) -> bool {
        self.is_newer
    }

    /// Refuses one that a newer version wrote to, for whoever would write to it, or make another one of it.
    pub(crate) fn refuse_newer(&self) -> Result<(), Error> {
        if !self.is_newer {
            return Ok(());
        }
        let message = format!(
            "a newer leftoff wrote to this session: this one writes version {} and can only read it",
            line::VERSION
        );
        Err(Error::new(Code::NewerVersion, message))
    }

    /// The bytes of the messages log that were not folded yet into what is known of the conversation. They are given to
    /// [`Session::learn`], in order and in pieces of any size, until nothing is left.
    pub fn unlearned(&mut self) -> Option<Span> {
        if let Some((_, folding)) = &self.titling {
            let all = Span { start: 0, end: self.known.bytes };
            return Some(folding.as_ref().map_or(all, Folding::wanted));
        }
        let path = self.path(None);
        self.known.learned.wanted(self.known.bytes, path)
    }

    /// Folds the next bytes of those that are unlearned.
    pub fn learn(&mut self, bytes: &[u8]) {
        let path = self.path(None);
        let (branches, revised, repeated) = (&self.branches, &self.revised, &self.known.repeated);
        let line = |message: &Message, at: u64| Line {
            says: if Span::any_holds(repeated, at) { Says::Nothing } else { revised.says(message, at) },
            is_on_path: path.as_ref().is_none_or(|path| branches.is_on(path, &message.id)),
        };
        let Some((mut titles, folding)) = self.titling.take() else {
            if let Some(wanted) = self.known.learned.wanted(self.known.bytes, path.clone()) {
                self.known.learned.fold(wanted, bytes, line);
            }
            return;
        };
        let mut folding = folding.unwrap_or_else(|| Folding::of(Span { start: 0, end: self.known.bytes }));
        let hear = &mut |message: &Message, first, Line { says, .. }| {
            if says == Says::All {
                titles.hear(message, first);
            }
        };
        match folding.feed(bytes, &line, hear) {
            None if !titles.are_found() => self.titling = Some((titles, Some(folding))),
            // What came meanwhile may say it.
            Some(end) if !titles.are_found() && end < self.known.bytes => {
                self.titling = Some((titles, Some(Folding::of(Span { start: end, end: self.known.bytes }))));
            }
            _ => self.known.titles.become_those(titles),
        }
    }

    /// The path of this message of the log, else the current one, where the log has more than one.
    pub fn path(&self, leaf: Option<&str>) -> Option<Path> {
        self.branches.is_branched().then(|| self.branches.path(leaf.or(self.leaf.as_deref())))
    }

    /// Whether a leaf may have been chosen that is not on the last line's branch.
    pub(crate) fn is_branched(&self) -> bool {
        self.branches.is_branched()
    }

    // The message that the current path ends with, where that is another than the log's last one.
    fn chosen_last(&self) -> Option<String> {
        let last = self.path(None).map(|path| String::from(self.branches.last_of(&path)))?;
        Some(last).filter(|last| Some(last) != self.known.last_id.as_ref())
    }

    /// Whether a message of the log lies on a path of it.
    pub fn is_on(&self, path: &Path, id: &str) -> bool {
        self.branches.is_on(path, id)
    }

    /// Whether it has a message, as far as its log was observed: not what a checkpoint covers.
    pub(crate) fn has_message(&self, id: &str) -> bool {
        self.branches.has(id) || self.known.last_id.as_deref() == Some(id)
    }

    /// What a context is built from.
    pub fn source(&self) -> Source {
        let path = self.path(None).map(|path| (self.branches.clone(), path));
        let is_pinned = |pin: &&Pinned| self.pinned.contains(&pin.id);
        Source {
            end: self.known.bytes,
            message_count: path.as_ref().map_or(self.known.messages, |(branches, path)| branches.count(path)),
            systems: self.known.systems.clone(),
            pins: self.known.pins.iter().filter(is_pinned).map(|pin| pin.span).collect(),
            newest_user: self.known.newest_user.filter(|_| path.is_none()),
            newest_user_first: self.known.newest_user_first.filter(|_| path.is_none()),
            repeated: self.known.repeated.clone(),
            firsts: self.known.firsts.clone(),
            path,
            state: self.known.learned.state.clone(),
            project: self.metadata.project.as_ref().map(|project| project.path.clone()).unwrap_or_default(),
            compacted: self.compacted(),
        }
    }

    /// Whether nothing was said since it was put into words what it is about.
    pub fn is_summed_up(&self) -> bool {
        self.metadata.is_summed_up(&self.known)
    }

    /// What it came to, as far as was learned of it: what somebody said of it, and behind that what came since.
    pub fn summed_up(&self) -> Option<String> {
        let project = self.metadata.project.as_ref().map_or("", |project| &project.path);
        let line = self.known.learned.state.in_a_line(project)?;
        Some(match &self.metadata.given_summary {
            Some(given) => format!("{given}; since then: {line}"),
            None => capitalized(line),
        })
    }

    // What was compacted of another branch says nothing of this one.
    fn compacted(&self) -> Option<Compacted> {
        let (range, summary) = (self.compaction.range.as_ref()?, self.compaction.summary.as_ref());
        let through = range.end_message_id.clone();
        self.are_on_path([through.as_str()].into_iter())[0].then(|| Compacted {
            through,
            end_byte: range.end_byte,
            summary: summary.map(|summary| summary.content.clone()),
        })
    }

    /// The newest compaction.
    pub fn compaction(&self) -> &Compaction {
        &self.compaction
    }

    /// Which of these messages of the log lie on the current path.
    pub fn are_on_path<'a>(&self, ids: impl Iterator<Item = &'a str>) -> Vec<bool> {
        let path = self.path(None);
        ids.map(|id| path.as_ref().is_none_or(|path| self.is_on(path, id))).collect()
    }
}

// Its first word is one of ours: what Unicode says of capitals would be a hundredth of all this.
fn capitalized(mut line: String) -> String {
    if let Some(first) = line.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    line
}
