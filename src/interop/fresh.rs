//! What of an import a log does not hold yet.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use crate::session::message::{self, Message};
use crate::session::scan::{Found, Scanner};

/// The messages of an import, to be compared with those of a log, whose bytes are fed from its start on.
///
/// A message that the log holds is left out. An answer can have been imported while it was being written: where it has
/// grown since, it is given with the next revision. Where the source has another history behind a message than the log,
/// the log's stays, and what is new begins a branch.
#[derive(Debug)]
pub struct Fresh {
    scanner: Scanner,
    messages: Vec<Message>,
    // What the log holds of each, by its id.
    held: BTreeMap<String, Option<Held>>,
    // The message that came from the source last: what was said in leftoff since is no other history of the source.
    last: Option<String>,
    // Whether it goes on in the log with a conversation that was begun elsewhere.
    goes_on: bool,
}

// The highest revision in the log, and how much it says.
#[derive(Clone, Copy, Debug)]
struct Held {
    rev: u64,
    size: [u64; 4],
}

impl Fresh {
    /// Of these messages nothing is known yet.
    pub fn new(messages: Vec<Message>) -> Fresh {
        let held = messages.iter().map(|message| (message.id.clone(), None)).collect();
        Fresh { scanner: Scanner::forward(0), messages, held, last: None, goes_on: false }
    }

    /// The same of messages that go on with the log's conversation: what they follow in the source is not in the log,
    /// and the first of them is no branch.
    pub fn going_on(mut messages: Vec<Message>) -> Fresh {
        let ids: BTreeSet<String> = messages.iter().map(|message| message.id.clone()).collect();
        for message in &mut messages {
            if message.parent_id.as_ref().is_some_and(|parent| !ids.contains(parent)) {
                message.parent_id = None;
                message.branch = false;
            }
        }
        Fresh { goes_on: true, ..Fresh::new(messages) }
    }

    /// Takes the next bytes of the log.
    pub fn feed(&mut self, log: &[u8]) {
        self.scanner.feed(log);
        self.meet();
    }

    /// There are no more bytes. Gives the messages to append, in their order.
    pub fn finish(mut self) -> Vec<Message> {
        self.scanner.finish();
        self.meet();
        let Fresh { messages, held, last, goes_on, .. } = self;
        let mut fresh: Vec<Message> = Vec::new();
        // The message before it in the source, where the log holds that one.
        let mut before: Option<Option<String>> = (!goes_on).then_some(None);
        for mut message in messages {
            let id = message.id.clone();
            if let Some(held) = held.get(&id).copied().flatten() {
                // A file may also have lost something since.
                if has_grown(held.size, size(&message)) {
                    fresh.push(Message { rev: held.rev + 1, ..message });
                }
                before = Some(Some(id));
                continue;
            }
            message.branch |= before.take().is_some_and(|before| before != last);
            fresh.push(message);
        }
        fresh
    }

    fn meet(&mut self) {
        while let Some(found) = self.scanner.next() {
            let Found::Record(record) = found else { continue };
            let Some(stored) = message::read(&record).0 else { continue };
            if stored.rev == 0 && stored.source.is_some() {
                self.last = Some(stored.id.clone());
            }
            let Some(held) = self.held.get_mut(&stored.id) else { continue };
            if held.is_none_or(|held| stored.rev >= held.rev) {
                *held = Some(Held { rev: stored.rev, size: size(&stored) });
            }
        }
    }
}

// Texts in blobs have the size that their line says.
fn size(message: &Message) -> [u64; 4] {
    let assistant = message.assistant.as_ref();
    let reasoning = assistant.map_or(0, |assistant| assistant.reasoning.len());
    let is_finished = assistant.is_some_and(|assistant| assistant.finish_reason.is_some());
    let calls = message.tool_calls().len();
    [message.content.bytes(), reasoning as u64, calls as u64, u64::from(is_finished)]
}

fn has_grown(before: [u64; 4], now: [u64; 4]) -> bool {
    before != now && before.iter().zip(now).all(|(before, now)| *before <= now)
}
