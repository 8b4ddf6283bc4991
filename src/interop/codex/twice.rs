//! What is written twice, in an item and in an event.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;

use crate::record::message::Role;

/// Who wrote it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum By {
    Item,
    Event,
}

impl By {
    fn other(self) -> By {
        match self {
            By::Item => By::Event,
            By::Event => By::Item,
        }
    }
}

/// What was said once so far, with the message that it became.
#[derive(Default)]
pub(super) struct Twice(BTreeMap<(By, Role, String), VecDeque<usize>>);

impl Twice {
    /// The message that the other one wrote, if it says the same.
    pub fn meet(&mut self, by: By, role: Role, text: &str) -> Option<usize> {
        self.0.get_mut(&(by.other(), role, text.into()))?.pop_front()
    }

    /// Notes a message that the other one has not written.
    pub fn note(&mut self, by: By, role: Role, text: String, at: usize) {
        self.0.entry((by, role, text)).or_default().push_back(at);
    }

    /// Forgets what this role said: what is said from now on belongs to another turn.
    pub fn forget(&mut self, role: Role) {
        self.0.retain(|(_, by, _), _| *by != role);
    }
}
