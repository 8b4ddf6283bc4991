//! A session's status, and the changes it allows.

use alloc::vec::Vec;

use serde::Serialize;

use crate::json::fields::{BadValue, Field, reject};

/// A session's status; whether it is archived stands beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Status {
    /// The session goes on.
    #[default]
    Active,
    /// The session was stopped, and can be taken up.
    Paused,
    /// The session is done.
    Completed,
}

impl Status {
    /// Returns the word for the status.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Active => "active",
            Status::Paused => "paused",
            Status::Completed => "completed",
        }
    }

    /// Returns the status that a word names.
    pub fn from_name(name: &str) -> Option<Status> {
        [Status::Active, Status::Paused, Status::Completed].into_iter().find(|one| one.as_str() == name)
    }

    /// True if the status may change to `next`; a completed session is taken up only with an override.
    pub fn may_become(self, next: Status, has_override: bool) -> bool {
        match (self, next) {
            (Status::Active, Status::Paused | Status::Completed) => true,
            (Status::Paused, Status::Active | Status::Completed) => true,
            (Status::Completed, Status::Active) => has_override,
            (Status::Completed, Status::Paused) => false,
            (Status::Active, Status::Active)
            | (Status::Paused, Status::Paused)
            | (Status::Completed, Status::Completed) => false,
        }
    }
}

/// The state of a session's bytes, by a scan of all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// Every byte is as it was written.
    Ok,
    /// Some bytes are damaged; what lies in them is lost, and no more.
    Damaged,
    /// Nothing of it can be read.
    Unreadable,
}

impl Field for Status {
    fn read(raw: &str, path: &str, bad: &mut Vec<BadValue>) -> Option<Status> {
        match raw {
            // Damage is health, not status; archived is a date.
            "\"active\"" | "\"corrupted\"" | "\"archived\"" => Some(Status::Active),
            "\"paused\"" => Some(Status::Paused),
            "\"completed\"" => Some(Status::Completed),
            _ => reject(raw, path, "\"active\", \"paused\" or \"completed\"", bad),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transitions_are_those_of_the_table() {
        use Status::{Active, Completed, Paused};
        let all = [Active, Paused, Completed];
        let may = |over: bool| {
            let pairs = all.iter().flat_map(|from| all.iter().map(move |to| (*from, *to)));
            pairs.filter(|(from, to)| from.may_become(*to, over)).collect::<Vec<_>>()
        };
        let table = [(Active, Paused), (Active, Completed), (Paused, Active), (Paused, Completed)];
        assert_eq!(may(false), table);
        assert_eq!(may(true), [&table[..], &[(Completed, Active)]].concat());
    }
}
