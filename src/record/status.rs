//! What a session may be, and become.

use alloc::vec::Vec;

use serde::Serialize;

use crate::json::fields::{BadValue, Field, reject};

/// What a session is; that it is archived stands beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Status {
    /// It goes on.
    #[default]
    Active,
    /// It was stopped, and can be taken up.
    Paused,
    /// It is done.
    Completed,
}

impl Status {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Active => "active",
            Status::Paused => "paused",
            Status::Completed => "completed",
        }
    }

    /// What a word stands for.
    pub fn from_name(name: &str) -> Option<Status> {
        [Status::Active, Status::Paused, Status::Completed].into_iter().find(|one| one.as_str() == name)
    }

    /// Whether a session may become this; a completed one is taken up only with an override.
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

/// What a scan of all of a session says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// Every byte is as it was written.
    Ok,
    /// Some bytes are not; what lies in them is lost, and no more.
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
