//! What of an import a log does not hold yet.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::session::message::{self, Message};
use crate::session::scan::{Found, Scanner};

/// The messages of an import, to be compared with those of a log, whose bytes are fed from its start on.
///
/// A message that the log holds is left out. An answer can have been imported while it was being written: where it has
/// grown since, it is given with the next revision.
#[derive(Debug)]
pub struct Fresh {
    scanner: Scanner,
    messages: Vec<Message>,
    // What the log holds of each, by its id.
    held: BTreeMap<String, Option<Held>>,
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
        Fresh { scanner: Scanner::forward(0), messages, held }
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
        let Fresh { messages, held, .. } = self;
        let fresh =
            messages.into_iter().filter_map(|message| match held.get(&message.id).copied().flatten() {
                // A file may also have lost something since.
                Some(held) => {
                    has_grown(held.size, size(&message)).then(|| Message { rev: held.rev + 1, ..message })
                }
                None => Some(message),
            });
        fresh.collect()
    }

    fn meet(&mut self) {
        while let Some(found) = self.scanner.next() {
            let Found::Record(record) = found else { continue };
            let Some(stored) = message::read(&record).0 else { continue };
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
