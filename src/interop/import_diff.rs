//! The import diff: the messages of an import that a log does not hold yet.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use crate::interop::QUEUED_KEY;
use crate::interop::vscode::PENDING_KEY;
use crate::record::batch::BatchLine;
use crate::record::message::{self, Message};
use crate::record::scan::{ScanItem, Scanner};

/// The messages of an import, compared with those of a log, whose bytes are fed from its start on.
///
/// A message that the log holds is left out. An answer can have been imported while it was being written: if it has
/// grown since, it is given as the next revision; where it is recorded as it is said, its end counts also if it is
/// shorter than what was said meanwhile. If the source has another history behind a message than the log, the
/// log's stays, and what is new begins a branch.
///
/// Others may import the same file meanwhile. So the log is fed on after each batch, the batch itself with it, and
/// asked for what is still missing, until that is nothing: then the log has all that this import has, whoever wrote it.
/// Each of them appends what follows the messages that it found, in the source's order; so the first lines of all
/// messages are in that order, whoever came first, and what comes again counts for nothing.
#[derive(Debug)]
pub struct ImportDiff {
    scanner: Scanner,
    messages: Vec<Message>,
    // The newest revision of each message in the log, by its id.
    stored_revisions: BTreeMap<String, StoredRevision>,
    // The last message that came from the source: messages said in leftoff since are no other history of the source.
    last_imported: Option<String>,
    // True if the import goes on, in the log, with a conversation that was begun elsewhere.
    is_continuation: bool,
    // True if the source itself gives the messages, as they are said.
    is_recording: bool,
    // True if the messages are all of the source's.
    is_whole: bool,
    // The next message to look at.
    next_index: usize,
    // The size of each message in the log at the time that it was returned.
    returned_sizes: BTreeMap<String, Option<[u64; 5]>>,
}

// The highest revision in the log, and its size. Of two lines of one revision the first counts.
#[derive(Clone, Copy, Debug)]
struct StoredRevision {
    rev: u64,
    size: [u64; 5],
}

impl ImportDiff {
    /// Begins with messages of which nothing is known yet.
    pub fn new(messages: Vec<Message>) -> ImportDiff {
        ImportDiff {
            scanner: Scanner::forward(0),
            messages,
            stored_revisions: BTreeMap::new(),
            last_imported: None,
            is_continuation: false,
            is_recording: false,
            is_whole: true,
            next_index: 0,
            returned_sizes: BTreeMap::new(),
        }
    }

    /// Begins with messages that go on with the log's conversation: what they follow in the source is not in the log,
    /// and the first of them is no branch.
    pub fn for_continuation(mut messages: Vec<Message>) -> ImportDiff {
        let ids: BTreeSet<String> = messages.iter().map(|message| message.id.clone()).collect();
        for message in &mut messages {
            if message.parent_id.as_ref().is_some_and(|parent| !ids.contains(parent)) {
                message.parent_id = None;
                message.branch = false;
            }
        }
        ImportDiff { is_continuation: true, ..ImportDiff::new(messages) }
    }

    /// Begins with a part of an agent's session. `is_continuation`: it goes on with the log's conversation.
    pub fn of_part(messages: Vec<Message>, is_continuation: bool) -> ImportDiff {
        if is_continuation { ImportDiff::for_continuation(messages) } else { ImportDiff::new(messages) }
    }

    /// Begins a recording, which is given the source's messages as they are said, by [`ImportDiff::set_messages`].
    pub fn for_recording() -> ImportDiff {
        ImportDiff { is_recording: true, ..ImportDiff::new(Vec::new()) }
    }

    /// Replaces the messages; what is known of the log stays. `is_whole`: they are all of the source's, else a few of
    /// them, of which new ones follow what the log has.
    pub fn set_messages(&mut self, mut messages: Vec<Message>, is_whole: bool) {
        if !is_whole {
            messages
                .iter_mut()
                .filter(|message| !message.branch)
                .for_each(|message| message.parent_id = None);
        }
        self.messages = messages;
        self.is_whole = is_whole;
        self.next_index = 0;
        self.returned_sizes.clear();
    }

    /// Takes the next bytes of the log.
    pub fn feed(&mut self, log: &[u8]) {
        self.scanner.feed(log);
        self.scan_log();
    }

    /// Returns the next messages to append, in their order, at most so many, when there are no more bytes for now; none
    /// if the log has them all.
    pub fn next_missing(&mut self, most: usize) -> Vec<Message> {
        let found = self.collect_missing(most);
        if !found.is_empty() || self.next_index == 0 {
            return found;
        }
        // Others may have written a shorter state of an answer meanwhile.
        self.next_index = 0;
        self.collect_missing(most)
    }

    /// Gives the messages back.
    pub fn into_messages(self) -> Vec<Message> {
        self.messages
    }

    /// Counts the messages to append.
    pub fn count_missing(&mut self) -> usize {
        let mut count = 0;
        loop {
            match self.next_missing(usize::MAX).len() {
                0 => return count,
                more => count += more,
            }
        }
    }

    fn collect_missing(&mut self, most: usize) -> Vec<Message> {
        let mut fresh: Vec<Message> = Vec::new();
        // The message before it in the source, if the log holds that one.
        let mut before = match self.next_index {
            0 => (!self.is_continuation).then_some(None),
            next => Some(Some(self.messages[next - 1].id.as_str())),
        };
        while let Some(message) = self.messages.get(self.next_index).filter(|_| fresh.len() < most) {
            self.next_index += 1;
            let held = self.stored_revisions.get(&message.id).copied();
            let size_held = held.map(|held| held.size);
            // A message that was returned and did not change the log would be returned for ever.
            let is_given = self.returned_sizes.get(&message.id) == Some(&size_held);
            if let Some(held) = held {
                before = Some(Some(&message.id));
                // A file may also have lost something since.
                let size = message_size(message);
                let has_ended = self.is_recording && was_cut(held.size) && !was_cut(size);
                if is_given || !has_ended && !has_grown(held.size, size) {
                    continue;
                }
                fresh.push(Message { rev: held.rev + 1, ..message.clone() });
            } else if is_given {
                continue;
            } else {
                let is_other =
                    self.is_whole && before.is_some_and(|before| before != self.last_imported.as_deref());
                // More was said since than this import knows.
                if is_other
                    && ["isTakenBack", PENDING_KEY, QUEUED_KEY]
                        .iter()
                        .any(|mark| message.has_source_mark(mark))
                {
                    continue;
                }
                before = None;
                fresh.push(Message { branch: message.branch || is_other, ..message.clone() });
            }
            self.returned_sizes.insert(message.id.clone(), size_held);
        }
        fresh
    }

    fn scan_log(&mut self) {
        while let Some(found) = self.scanner.next() {
            let ScanItem::Record(record) = found else { continue };
            // No import appends so; and only a reader of the whole session can say whether it counts.
            if BatchLine::of(&record.json).is_some() {
                continue;
            }
            let Some(stored) = message::read(&record).0 else { continue };
            let line = StoredRevision { rev: stored.rev, size: message_size(&stored) };
            let held = self.stored_revisions.get(&stored.id).copied();
            if held.is_none_or(|held| held.rev < line.rev) {
                self.stored_revisions.insert(stored.id.clone(), line);
            }
            // A revision that another process wrote says nothing of the source's order.
            if held.is_none() && stored.source.is_some() {
                self.last_imported = Some(stored.id);
            }
        }
    }
}

// Texts in blobs have the size that their line gives.
fn message_size(message: &Message) -> [u64; 5] {
    let assistant = message.assistant.as_ref();
    let reasoning = assistant.map_or(0, |assistant| assistant.reasoning.len());
    let is_finished = assistant.is_some_and(|assistant| assistant.finish_reason.is_some());
    let calls = message.tool_calls().len();
    [
        message.content.byte_len(),
        reasoning as u64,
        calls as u64,
        u64::from(is_finished),
        u64::from(message.partial),
    ]
}

fn was_cut([.., was_cut]: [u64; 5]) -> bool {
    was_cut > 0
}

// An answer that was cut short may have been read before it was whole: then there is more of it now.
fn has_grown(before: [u64; 5], now: [u64; 5]) -> bool {
    let ([before @ .., was_cut], [now @ .., is_cut]) = (before, now);
    let is_more = before != now && before.iter().zip(now).all(|(before, now)| *before <= now);
    is_more || before == now && was_cut < is_cut
}
