//! What is written twice, in an item and in an event.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;

use crate::record::message::Role;

/// Who wrote it.
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

/// What was said once so far, with the message that it became.
#[derive(Default)]
pub(super) struct DuplicateTracker(BTreeMap<(RecordSource, Role, String), VecDeque<usize>>);

impl DuplicateTracker {
    /// The message that the other one wrote, if it says the same.
    pub fn take_duplicate(&mut self, by: RecordSource, role: Role, text: &str) -> Option<usize> {
        self.0.get_mut(&(by.counterpart(), role, text.into()))?.pop_front()
    }

    /// Notes a message that the other one has not written.
    pub fn note_message(&mut self, by: RecordSource, role: Role, text: String, at: usize) {
        self.0.entry((by, role, text)).or_default().push_back(at);
    }

    /// Forgets what this role said: what is said from now on belongs to another turn.
    pub fn forget(&mut self, role: Role) {
        self.0.retain(|(_, by, _), _| *by != role);
    }
}
