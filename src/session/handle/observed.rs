//! What was found in the logs, taken into what is known of the session.

use alloc::vec::Vec;

use crate::error::Error;
use crate::record::batch::Part;
use crate::record::event::{self, Change, Event};
use crate::record::line;
use crate::record::message::{self, Message};
use crate::record::scan::{Found, Problem, Record};
use crate::record::tool_execution;
use crate::session::handle::Session;
use crate::session::handle::batches::Line;
use crate::session::revised::Says;
use crate::time;

impl Session {
    /// Takes what a scan of the tool executions log found; gives the problems.
    pub fn take_tools(&mut self, found: Vec<Found>) -> Vec<Problem> {
        let mut problems = Vec::new();
        for found in found {
            match found {
                Found::Problem(problem) => problems.push(problem),
                Found::Record(record) => {
                    self.is_newer |= line::version(&record.json) > line::VERSION;
                    let (execution, bad) = tool_execution::read(&record);
                    problems.extend(bad);
                    self.executed.extend(execution.map(|execution| execution.tool_call_id));
                }
            }
        }
        self.is_damaged |= problems.iter().any(|problem| problem.code.is_damage());
        problems
    }

    /// Takes what a scan of the events log found; gives the problems.
    pub fn take_events(&mut self, found: Vec<Found>) -> Vec<Problem> {
        let mut problems = Vec::new();
        for found in found {
            match found {
                Found::Problem(problem) => problems.push(problem),
                Found::Record(record) => {
                    let (event, bad) = event::read(&record);
                    problems.extend(bad);
                    self.is_newer |= line::version(&record.json) > line::VERSION;
                    if let Some(event) = event {
                        self.records += 1;
                        self.apply(event);
                    }
                }
            }
        }
        self.is_damaged |= problems.iter().any(|problem| problem.code.is_damage());
        self.hold_against_document();
        problems
    }

    fn apply(&mut self, event: Event) {
        self.recorded.apply(&event);
        match &event.change {
            Change::Pin(subject) => {
                // Where the message lies was not noted when it was met.
                let is_known = self.known.pins.iter().any(|pin| pin.id == subject.message_id);
                self.needs_all |= self.messages.covered() > 0 && !is_known;
                self.pinned.insert(subject.message_id.clone());
            }
            Change::Unpin(subject) => {
                self.pinned.remove(&subject.message_id);
            }
            Change::Leaf(subject) => self.leaf = Some(subject.message_id.clone()),
            Change::Accepted(subject) => {
                self.accepted.insert(subject.message_id.clone());
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
        self.history.push(event);
    }

    /// Takes what a scan of the messages log found; gives the problems.
    pub fn take_messages(&mut self, found: Vec<Found>) -> Vec<Problem> {
        self.take_known(found, Vec::new())
    }

    /// The staged messages are in the log; see [`Log::commit`](crate::session::log::Log::commit). Gives the problems.
    ///
    /// # Errors
    /// Those of [`Log::commit`](crate::session::log::Log::commit).
    pub fn commit_messages(&mut self, offset: u64) -> Result<Vec<Problem>, Error> {
        let found = self.messages.commit(offset)?;
        let staged = core::mem::take(&mut self.staged);
        // Where something else was found, a line that was open before them, it tells itself what it is.
        let is_own = found.len() == staged.len() && found.iter().all(|one| matches!(one, Found::Record(_)));
        Ok(self.take_known(found, if is_own { staged } else { Vec::new() }))
    }

    // `known` are the messages of the first records.
    fn take_known(&mut self, found: Vec<Found>, known: Vec<Message>) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut is_folded = known.is_empty() && self.known.learned.is_at(self.known.bytes);
        let mut known = known.into_iter();
        for found in found {
            match found {
                Found::Problem(problem) => problems.push(problem),
                Found::Record(record) => {
                    self.is_newer |= line::version(&record.json) > line::VERSION;
                    let line = (record, known.next());
                    match Part::of(&line.0.json) {
                        None => {
                            self.pass_open();
                            self.take_line(line, &mut is_folded, &mut problems);
                        }
                        Some(part) => {
                            for line in self.counting(part, line) {
                                self.take_line(line, &mut is_folded, &mut problems);
                            }
                        }
                    }
                }
            }
        }
        self.known.problems += problems.len() as u64;
        self.known.bytes = self.decided();
        if is_folded {
            self.known.learned.bytes = self.known.bytes;
        }
        if self.branches.is_branched() {
            self.known.learned.leave_file_order();
        }
        self.is_damaged |= problems.iter().any(|problem| problem.code.is_damage());
        problems
    }

    fn take_line(&mut self, (record, message): Line, is_folded: &mut bool, problems: &mut Vec<Problem>) {
        let (message, bad) = match message {
            Some(message) => (Some(message), Vec::new()),
            None => message::read(&record),
        };
        problems.extend(bad);
        let Some(message) = message else { return };
        self.records += 1;
        let start = record.start;
        let is_again = self.meet(record, &message, is_folded, problems);
        *is_folded &= !self.branches.is_branched();
        if *is_folded && !is_again {
            self.known.learned.take(&message, start, self.revised.says(&message, start));
        }
    }

    // Whether it only says again what was said before.
    fn meet(
        &mut self,
        record: Record,
        message: &Message,
        is_folded: &mut bool,
        problems: &mut Vec<Problem>,
    ) -> bool {
        self.revisions += u64::from(message.rev > 0);
        let mut placed = self.branches.take(message, &record);
        if self.is_from_checkpoint {
            // Where its first line lies before the checkpoint, the place of a revision is not known, nor that of a line
            // that was written again; such a one is no younger than what the checkpoint covers.
            let said_ms = message.timestamp.as_deref().and_then(time::parse);
            // Of what comes from elsewhere nobody may know when it was said.
            let may_be_old = said_ms.map_or(message.source.is_some(), |ms| Some(ms) <= self.covered_ms);
            let is_old = message.rev > 0 || may_be_old;
            self.needs_all |= message.branch || (is_old && !placed.is_repeated);
            // There may be a parent that was not seen, too.
            placed.parent_is_missing = false;
        }
        problems.extend(placed.problems(&record));
        if message.rev > 0 && !placed.is_repeated {
            self.known.firsts.push(record.span());
        }
        if placed.is_again {
            self.known.pass(record.start, record);
        } else {
            let first = self.branches.first_of(&message.id).unwrap_or(record.start);
            if self.revised.take(message, record.span(), first) {
                self.unsay(first, message, is_folded);
            }
            if self.known.revised != self.revised.digest {
                self.known.revised = self.revised.digest;
                self.hold_against_document();
            }
            let is_other = placed.is_double && self.revised.says(message, record.start) == Says::All;
            let is_new = !placed.is_repeated || is_other;
            self.known.take(record, message, is_new, self.pinned.contains(&message.id));
        }
        placed.is_again
    }

    // What was said where that line begins is not what it says now.
    fn unsay(&mut self, first: u64, again: &Message, is_folded: &mut bool) {
        if *is_folded || self.known.learned.has_met(first) {
            let is_known = self.known.learned.take_back(first);
            self.needs_all |= self.is_from_checkpoint && !is_known;
            *is_folded = false;
        }
        if self.needs_titles() || self.known.titles.hang_on(again, first) {
            self.known.titles.forget(again.content.as_str());
            self.titling = Some(Default::default());
            self.needs_all |= self.is_from_checkpoint;
        }
    }
}
