//! Takes what scans found in the logs into the session.

use alloc::vec::Vec;

use crate::error::Error;
use crate::record::batch::BatchLine;
use crate::record::event::{self, Change, Event};
use crate::record::line;
use crate::record::message::{self, Message};
use crate::record::scan::{Problem, Record, ScanItem};
use crate::record::tool_execution;
use crate::session::handle::Session;
use crate::session::handle::batches::ScannedLine;
use crate::session::revisions::LineContent;
use crate::time;

impl Session {
    /// Takes what a scan of the tool executions log found; returns the problems.
    pub fn take_tools(&mut self, found: Vec<ScanItem>) -> Vec<Problem> {
        let mut problems = Vec::new();
        for found in found {
            match found {
                ScanItem::Problem(problem) => problems.push(problem),
                ScanItem::Record(record) => {
                    self.is_newer |= line::version(&record.json) > line::VERSION;
                    let (execution, bad) = tool_execution::read(&record);
                    problems.extend(bad);
                    self.executed_calls.extend(execution.map(|execution| execution.tool_call_id));
                }
            }
        }
        self.is_damaged |= problems.iter().any(|problem| problem.code.is_damage());
        problems
    }

    /// Takes what a scan of the events log found; returns the problems.
    pub fn take_events(&mut self, found: Vec<ScanItem>) -> Vec<Problem> {
        let mut problems = Vec::new();
        for found in found {
            match found {
                ScanItem::Problem(problem) => problems.push(problem),
                ScanItem::Record(record) => {
                    let (event, bad) = event::read(&record);
                    problems.extend(bad);
                    self.is_newer |= line::version(&record.json) > line::VERSION;
                    if let Some(event) = event {
                        self.record_count += 1;
                        self.apply_event(event);
                    }
                }
            }
        }
        self.is_damaged |= problems.iter().any(|problem| problem.code.is_damage());
        self.compare_document();
        problems
    }

    fn apply_event(&mut self, event: Event) {
        self.recorded_metadata.apply(&event);
        match &event.change {
            Change::Pin(subject) => {
                // The message's place was not noted when it was read.
                let is_known = self.log_state.pins.iter().any(|pin| pin.id == subject.message_id);
                self.needs_whole_log |= self.messages.covered_end() > 0 && !is_known;
                self.pinned_ids.insert(subject.message_id.clone());
            }
            Change::Unpin(subject) => {
                self.pinned_ids.remove(&subject.message_id);
            }
            Change::Leaf(subject) => self.leaf = Some(subject.message_id.clone()),
            Change::Accepted(subject) => {
                self.accepted_ids.insert(subject.message_id.clone());
            }
            Change::Compaction(compaction) => self.compaction = (**compaction).clone(),
            Change::Created(_)
            | Change::Title { .. }
            | Change::Status { .. }
            | Change::Summary { .. }
            | Change::Archived
            | Change::Unarchived
            | Change::Agent(_)
            | Change::Imported(_)
            | Change::Fork(_)
            | Change::Relocated { .. }
            | Change::Edited(_)
            | Change::Other(_) => {}
        }
        self.event_history.push(event);
    }

    /// Takes what a scan of the messages log found; returns the problems.
    pub fn take_messages(&mut self, found: Vec<ScanItem>) -> Vec<Problem> {
        self.take_records(found, Vec::new())
    }

    /// Notes that the staged messages are in the log; see [`Log::commit`](crate::session::log::Log::commit). Returns
    /// the problems.
    ///
    /// # Errors
    /// Those of [`Log::commit`](crate::session::log::Log::commit).
    pub fn commit_messages(&mut self, offset: u64) -> Result<Vec<Problem>, Error> {
        let found = self.messages.commit(offset)?;
        let staged = core::mem::take(&mut self.staged_messages);
        // If something else was found, a line that was open before them, the scan has the messages itself.
        let is_own =
            found.len() == staged.len() && found.iter().all(|one| matches!(one, ScanItem::Record(_)));
        Ok(self.take_records(found, if is_own { staged } else { Vec::new() }))
    }

    // `known` are the messages of the first records.
    fn take_records(&mut self, found: Vec<ScanItem>, known: Vec<Message>) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut is_folded = known.is_empty() && self.log_state.learned.is_folded_to(self.log_state.bytes);
        let mut known = known.into_iter();
        for found in found {
            match found {
                ScanItem::Problem(problem) => problems.push(problem),
                ScanItem::Record(record) => {
                    self.is_newer |= line::version(&record.json) > line::VERSION;
                    let line = (record, known.next());
                    match BatchLine::of(&line.0.json) {
                        None => {
                            self.skip_open_batch();
                            self.take_line(line, &mut is_folded, &mut problems);
                        }
                        Some(part) => {
                            for line in self.take_batch_line(part, line) {
                                self.take_line(line, &mut is_folded, &mut problems);
                            }
                        }
                    }
                }
            }
        }
        self.log_state.problems += problems.len() as u64;
        self.log_state.bytes = self.decided_end();
        if is_folded {
            self.log_state.learned.bytes = self.log_state.bytes;
        }
        if self.branches.is_branched() {
            self.log_state.learned.reset_for_branches();
        }
        self.is_damaged |= problems.iter().any(|problem| problem.code.is_damage());
        problems
    }

    fn take_line(
        &mut self,
        (record, message): ScannedLine,
        is_folded: &mut bool,
        problems: &mut Vec<Problem>,
    ) {
        let (message, bad) = match message {
            Some(message) => (Some(message), Vec::new()),
            None => message::read(&record),
        };
        problems.extend(bad);
        let Some(message) = message else { return };
        self.record_count += 1;
        let start = record.start;
        let is_again = self.take_message(record, &message, is_folded, problems);
        *is_folded &= !self.branches.is_branched();
        if *is_folded && !is_again {
            self.log_state.learned.fold_message(
                &message,
                start,
                self.revision_map.line_content(&message, start),
            );
        }
    }

    // Returns whether the message only repeats an earlier line.
    fn take_message(
        &mut self,
        record: Record,
        message: &Message,
        is_folded: &mut bool,
        problems: &mut Vec<Problem>,
    ) -> bool {
        if message.rev > 0 {
            self.revision_count += 1;
            let first = self.log_state.first_revision.unwrap_or(record.start);
            self.log_state.first_revision = Some(first.min(record.start));
        }
        let mut placed = self.branches.add_message(message, &record);
        if self.is_from_checkpoint {
            // If its first line lies before the checkpoint, the place of a revision is not known, nor that of a line
            // that was written again; such a message is no younger than what the checkpoint covers.
            let said_ms = message.timestamp.as_deref().and_then(time::parse);
            // For imported messages the time may be unknown.
            let may_be_old = said_ms.map_or(message.source.is_some(), |ms| Some(ms) <= self.covered_ms);
            let is_old = message.rev > 0 || may_be_old;
            self.needs_whole_log |= message.branch || (is_old && !placed.is_repeated);
            // Its parent may be there unread, too.
            placed.parent_is_missing = false;
        }
        problems.extend(placed.problems(&record));
        if message.rev > 0 && !placed.is_repeated {
            self.log_state.firsts.push(record.span());
        }
        if placed.is_repetition {
            self.log_state.skip_lines(record.start, record);
        } else {
            let first = self.branches.first_line_of(&message.id).unwrap_or(record.start);
            if self.revision_map.add_line(message, record.span(), first) {
                self.undo_folded(first, message, is_folded);
            }
            if self.log_state.revised != self.revision_map.digest {
                self.log_state.revised = self.revision_map.digest;
                self.compare_document();
            }
            let is_other =
                placed.is_double && self.revision_map.line_content(message, record.start) == LineContent::All;
            let is_new = !placed.is_repeated || is_other;
            self.log_state.add_message(record, message, is_new, self.pinned_ids.contains(&message.id));
        }
        placed.is_repetition
    }

    // The state folded from the line that begins there is outdated.
    fn undo_folded(&mut self, first: u64, again: &Message, is_folded: &mut bool) {
        if *is_folded || self.log_state.learned.has_folded(first) {
            let is_known = self.log_state.learned.rewind_to(first);
            self.needs_whole_log |= self.is_from_checkpoint && !is_known;
            *is_folded = false;
        }
        if self.needs_titles() || self.log_state.titles.is_affected_by(again, first) {
            self.log_state.titles.forget(again.content.as_str());
            self.titling = Some(Default::default());
            self.needs_whole_log |= self.is_from_checkpoint;
        }
    }
}
