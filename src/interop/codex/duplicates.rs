//! Messages that Codex writes twice, in an item and in an event.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;

use crate::record::message::Role;

/// The kind of record that a message stands in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RecordSource {
    Item,
    Event,
}

impl RecordSource {
    fn counterpart(self) -> RecordSource {
        match self {
            RecordSource::Item => RecordSource::Event,
            RecordSource::Event => RecordSource::Item,
        }
    }
}

/// The messages that stand in one kind of record so far, with their indexes.
#[derive(Default)]
pub(super) struct DuplicateTracker(BTreeMap<(RecordSource, Role, String), VecDeque<usize>>);

impl DuplicateTracker {
    /// Takes the message that the other kind of record gave, if it says the same.
    pub fn take_duplicate(&mut self, by: RecordSource, role: Role, text: &str) -> Option<usize> {
        self.0.get_mut(&(by.counterpart(), role, text.into()))?.pop_front()
    }

    /// Notes a message that the other kind of record has not given.
    pub fn note_message(&mut self, by: RecordSource, role: Role, text: String, at: usize) {
        self.0.entry((by, role, text)).or_default().push_back(at);
    }

    /// Forgets this role's messages: what is said from now on belongs to another turn.
    pub fn forget(&mut self, role: Role) {
        self.0.retain(|(_, by, _), _| *by != role);
    }
}
