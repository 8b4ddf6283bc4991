//! One session in memory: its logs, its document, and the state folded from them.
//!
//! The host observes the events first, then the messages, from the start or from a checkpoint on. Where
//! [`Session::needs_whole_log`] says so, the checkpoint does not carry far enough, and the messages are observed
//! anew.

mod batches;
mod document_state;
mod log_intake;
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
use crate::session::branch::{BranchPath, Branches};
use crate::session::checkpoint::{Checkpoint, PinnedMessage};
use crate::session::context_source::{CompactionPoint, ContextSource};
use crate::session::folding::{FoldLine, FoldPass};
use crate::session::handle::document_state::DocumentState;
use crate::session::log::Log;
use crate::session::metadata::Metadata;
use crate::session::revisions::{LineContent, RevisionMap};
use crate::session::title::Titles;
use crate::time::Stamp;

/// A session in memory.
#[derive(Debug)]
pub struct Session {
    events: Log,
    messages: Log,
    tools: Log,
    // The calls with a recorded execution.
    executed_calls: BTreeSet<String>,
    // What the events add up to; `metadata` adds the document's unrecorded edits.
    recorded_metadata: Metadata,
    metadata: Metadata,
    event_history: Vec<Event>,
    document_state: DocumentState,
    // A line or the document is of a newer version.
    is_newer: bool,
    log_state: Checkpoint,
    branches: Branches,
    revision_map: RevisionMap,
    // The titles while they are made anew.
    titling: Option<(Titles, Option<FoldPass>)>,
    // The messages before the checkpoint were not read, so their places are not known.
    is_from_checkpoint: bool,
    // Time of the last message that the checkpoint covers.
    covered_ms: Option<i64>,
    needs_whole_log: bool,
    pinned_ids: BTreeSet<String>,
    leaf: Option<String>,
    compaction: Compaction,
    // Messages that an event accepted: their batches count, wherever they stand.
    accepted_ids: BTreeSet<String>,
    // The batch whose last line was not read yet.
    open_batch: Option<Open>,
    // The messages of the batch that is staged.
    staged_messages: Vec<Message>,
    record_count: u64,
    revision_count: u64,
    is_damaged: bool,
}

/// A batch of messages to append.
#[derive(Clone, Debug, PartialEq)]
pub struct StagedBatch {
    /// The bytes to append: a line for each message.
    pub bytes: Vec<u8>,
    /// Blobs that must be in their files, and confirmed by the disk, before the bytes are appended.
    pub blobs: Vec<Blob>,
}

impl Session {
    /// Makes a session of which nothing is observed yet, or its messages as far as a checkpoint covers them.
    pub fn new(checkpoint: Option<Checkpoint>) -> Session {
        let is_from_checkpoint = checkpoint.is_some();
        let known = checkpoint.unwrap_or_default();
        Session {
            events: Log::new(0),
            messages: Log::with_open_line(known.bytes, known.ends_line()),
            tools: Log::new(0),
            executed_calls: BTreeSet::new(),
            recorded_metadata: Metadata::default(),
            metadata: Metadata::default(),
            event_history: Vec::new(),
            document_state: DocumentState::default(),
            is_newer: false,
            branches: Branches::default(),
            revision_map: RevisionMap::with_digest(known.revised),
            titling: None,
            is_from_checkpoint,
            covered_ms: known.last_message_ms,
            needs_whole_log: false,
            pinned_ids: BTreeSet::new(),
            leaf: None,
            compaction: Compaction::default(),
            accepted_ids: BTreeSet::new(),
            open_batch: None,
            staged_messages: Vec::new(),
            record_count: 0,
            revision_count: 0,
            is_damaged: false,
            log_state: known,
        }
    }

    /// Sets the id that the place of the logs says; it holds unless an event says another.
    pub fn with_id(mut self, id: &str) -> Session {
        self.set_id(id);
        self
    }

    /// Sets the id of a session that was found without one.
    pub fn set_id(&mut self, id: &str) {
        self.recorded_metadata.id = id.into();
        self.metadata.id = id.into();
    }

    /// Sets the first heading of the conversation's Markdown: its title, where nobody gave one.
    pub fn set_heading(&mut self, heading: Option<String>) {
        self.recorded_metadata.heading.clone_from(&heading);
        self.metadata.heading = heading;
    }

    /// Begins with what a checkpoint covers; no message was observed before.
    pub fn begin_at(&mut self, checkpoint: Checkpoint) {
        let covered = Session::new(Some(checkpoint));
        self.messages = covered.messages;
        self.is_from_checkpoint = true;
        self.covered_ms = covered.covered_ms;
        self.revision_map = covered.revision_map;
        self.log_state = covered.log_state;
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

    /// Whether a call has a recorded execution, as far as the log was observed.
    pub fn has_executed(&self, call: &str) -> bool {
        self.executed_calls.contains(call)
    }

    /// Stages a tool execution and returns the bytes to append; see [`ToolExecution::from_json`].
    ///
    /// # Errors
    /// `invalid_request`; `newer_version`; those of [`Log`].
    pub fn stage_execution(&mut self, json: &str, stamp: &Stamp) -> Result<Vec<u8>, Error> {
        self.reject_newer()?;
        let execution = ToolExecution::from_json(json, self.executed_calls.len() as u64, stamp)?;
        self.tools.stage(&[execution])
    }

    /// The session's health, where both logs were observed from their start.
    pub fn health(&self) -> Health {
        match (self.is_damaged, self.record_count) {
            (false, _) => Health::Ok,
            (true, 0) => Health::Unreadable,
            (true, _) => Health::Damaged,
        }
    }

    /// Where the first line begins that is a revision or was not read yet.
    pub(crate) fn unrevised_end(&self) -> u64 {
        self.log_state.first_revision.unwrap_or(self.log_state.bytes).min(self.log_state.bytes)
    }

    /// How many revisions were read.
    pub(crate) fn revision_count(&self) -> u64 {
        self.revision_count
    }

    /// Whether the messages have to be observed from their start, since a checkpoint does not tell enough.
    pub fn needs_whole_log(&self) -> bool {
        let found = |id: &String| self.log_state.pins.iter().any(|pin| pin.id == *id);
        self.needs_whole_log || (self.is_from_checkpoint && !self.pinned_ids.iter().all(found))
    }

    /// The checkpoint to save. A log with branches has none, nor one that has to be observed anew or whose torn tail
    /// begins with a record. After a revision it is saved once that is folded.
    pub fn checkpoint(&self) -> Option<&Checkpoint> {
        let is_learned = self.revision_map.last_start.is_none_or(|last| last < self.log_state.learned.bytes);
        (self.has_checkpoint() && is_learned && !self.needs_titles()).then_some(&self.log_state)
    }

    /// Whether there is a checkpoint to save, once all is folded.
    pub(crate) fn has_checkpoint(&self) -> bool {
        !self.branches.is_branched()
            && !self.needs_whole_log
            && !self.messages.is_inside_line()
            && !self.is_newer
    }

    /// Whether the titles are to be found, which comes first.
    pub(crate) fn needs_titles(&self) -> bool {
        self.titling.is_some()
    }

    /// The state of the messages log.
    pub fn log_state(&self) -> &Checkpoint {
        &self.log_state
    }

    /// What the events and the document add up to.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// When it was last resumed or forked, where an event says so: that is activity, though nothing was said yet.
    pub fn reactivated_at(&self) -> Option<&str> {
        let is_edited = |change: &Change| matches!(change, Change::Edited(edited) if edited.status == Some(Status::Active));
        let is_active = |event: &&Event| {
            matches!(event.change, Change::Fork(_) | Change::Status { status: Status::Active, .. })
                || is_edited(&event.change)
        };
        self.event_history.iter().rev().find(is_active)?.timestamp.as_deref()
    }

    /// The event that last saved it: paused or completed it, and not because it was idle.
    pub fn last_save_event(&self) -> Option<&str> {
        let is_save = |event: &&Event| match &event.change {
            Change::Status { status, reason } => {
                *status != Status::Active && reason.as_deref() != Some("idle")
            }
            Change::Edited(edited) => edited.status.is_some_and(|status| status != Status::Active),
            _ => false,
        };
        self.event_history.iter().rev().find(is_save).map(|event| &*event.id)
    }

    /// Whether a newer version wrote to it: it can be read, not written.
    pub fn is_newer(&self) -> bool {
        self.is_newer
    }

    /// Rejects a session that a newer version wrote to, before a write to it or before another one is made of it.
    pub(crate) fn reject_newer(&self) -> Result<(), Error> {
        if !self.is_newer {
            return Ok(());
        }
        let message = format!(
            "a newer leftoff wrote to this session: this one writes version {} and can only read it",
            line::VERSION
        );
        Err(Error::new(Code::NewerVersion, message))
    }

    /// The bytes of the messages log that are not folded into the session state yet. They are given to
    /// [`Session::fold_bytes`], in order and in pieces of any size, until nothing is left.
    pub fn unfolded_span(&mut self) -> Option<Span> {
        if let Some((_, folding)) = &self.titling {
            let all = Span { start: 0, end: self.log_state.bytes };
            return Some(folding.as_ref().map_or(all, FoldPass::next_span));
        }
        let path = self.path(None);
        self.log_state.learned.next_span(self.log_state.bytes, path)
    }

    /// Folds the next bytes of the unfolded span.
    pub fn fold_bytes(&mut self, bytes: &[u8]) {
        let path = self.path(None);
        let (branches, revised, repeated) = (&self.branches, &self.revision_map, &self.log_state.repeated);
        let line = |message: &Message, at: u64| FoldLine {
            says: if Span::any_holds(repeated, at) {
                LineContent::Nothing
            } else {
                revised.line_content(message, at)
            },
            is_on_path: path.as_ref().is_none_or(|path| branches.is_on(path, &message.id)),
        };
        let Some((mut titles, folding)) = self.titling.take() else {
            if let Some(wanted) = self.log_state.learned.next_span(self.log_state.bytes, path.clone()) {
                self.log_state.learned.fold(wanted, bytes, line);
            }
            return;
        };
        let mut folding =
            folding.unwrap_or_else(|| FoldPass::of(Span { start: 0, end: self.log_state.bytes }));
        let hear = &mut |message: &Message, first, FoldLine { says, .. }| {
            if says == LineContent::All {
                titles.add_message(message, first);
            }
        };
        match folding.feed(bytes, &line, hear) {
            None if !titles.are_found() => self.titling = Some((titles, Some(folding))),
            // Messages that came meanwhile may have the title.
            Some(end) if !titles.are_found() && end < self.log_state.bytes => {
                self.titling =
                    Some((titles, Some(FoldPass::of(Span { start: end, end: self.log_state.bytes }))));
            }
            _ => self.log_state.titles.replace_with(titles),
        }
    }

    /// The path of this message of the log, else the current one, where the log has more than one.
    pub fn path(&self, leaf: Option<&str>) -> Option<BranchPath> {
        self.branches.is_branched().then(|| self.branches.path(leaf.or(self.leaf.as_deref())))
    }

    /// Whether a leaf may have been chosen that is not on the last line's branch.
    pub(crate) fn is_branched(&self) -> bool {
        self.branches.is_branched()
    }

    // The last message of the current path, where that is not the log's last one.
    fn current_last_id(&self) -> Option<String> {
        let last = self.path(None).map(|path| String::from(self.branches.last_id_of(&path)))?;
        Some(last).filter(|last| Some(last) != self.log_state.last_id.as_ref())
    }

    /// Whether a message lies on a path of the log.
    pub fn is_on(&self, path: &BranchPath, id: &str) -> bool {
        self.branches.is_on(path, id)
    }

    /// Whether it has a message, as far as its log was observed: not what a checkpoint covers.
    pub(crate) fn has_message(&self, id: &str) -> bool {
        self.branches.has_message(id) || self.log_state.last_id.as_deref() == Some(id)
    }

    /// The source that a context is built from.
    pub fn source(&self) -> ContextSource {
        let path = self.path(None).map(|path| (self.branches.clone(), path));
        let is_pinned = |pin: &&PinnedMessage| self.pinned_ids.contains(&pin.id);
        ContextSource {
            end: self.log_state.bytes,
            message_count: path
                .as_ref()
                .map_or(self.log_state.messages, |(branches, path)| branches.count_messages(path)),
            systems: self.log_state.systems.clone(),
            pins: self.log_state.pins.iter().filter(is_pinned).map(|pin| pin.span).collect(),
            newest_user: self.log_state.newest_user.filter(|_| path.is_none()),
            newest_user_first: self.log_state.newest_user_first.filter(|_| path.is_none()),
            skipped: self.log_state.repeated.clone(),
            firsts: self.log_state.firsts.clone(),
            path,
            state: self.log_state.learned.state.clone(),
            project: self.metadata.project.as_ref().map(|project| project.path.clone()).unwrap_or_default(),
            compaction: self.compaction_point(),
        }
    }

    /// Whether no message came since the summary was made.
    pub fn has_current_summary(&self) -> bool {
        self.metadata.has_current_summary(&self.log_state)
    }

    /// Derives a summary: the given one, and after it what the session state gained since.
    pub fn derive_summary(&self) -> Option<String> {
        let project = self.metadata.project.as_ref().map_or("", |project| &project.path);
        let line = self.log_state.learned.state.render_line(project)?;
        Some(match &self.metadata.given_summary {
            Some(given) => format!("{given}; since then: {line}"),
            None => capitalize(line),
        })
    }

    // A compaction of another branch says nothing of this one.
    fn compaction_point(&self) -> Option<CompactionPoint> {
        let (range, summary) = (self.compaction.range.as_ref()?, self.compaction.summary.as_ref());
        let through = range.end_message_id.clone();
        self.are_on_path([through.as_str()].into_iter())[0].then(|| CompactionPoint {
            last_message_id: through,
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

// ASCII is enough, the first word is one of ours: Unicode's tables of capitals would be a hundredth of all this code.
fn capitalize(mut line: String) -> String {
    if let Some(first) = line.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    line
}
