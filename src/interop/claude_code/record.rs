//! What a record says of itself, beside what was said.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::fields::Fields;
use crate::interop::{ANOTHER_KIND, Losses, Object};
use crate::session::checkpoint::Span;
use crate::text::Extra;
use crate::time;

/// What a record with a uuid means for those that hang from it.
pub(super) struct Linked {
    pub thread: usize,
    /// The message it became, or else the one before it.
    pub message: Option<usize>,
}

/// What a record says of itself.
pub(super) struct Envelope {
    pub uuid: Option<String>,
    pub parent: Option<String>,
    pub timestamp: Option<String>,
}

// Marks that tell what a message is good for; they go with its source.
pub(super) const USER_FLAGS: &[&str] = &["isMeta", "isCompactSummary", "isVisibleInTranscriptOnly"];
pub(super) const ASSISTANT_FLAGS: &[&str] = &["isApiErrorMessage"];

impl Envelope {
    pub fn take(object: &mut Object<'_>, losses: &mut Losses) -> Envelope {
        let uuid = object.take("uuid", losses);
        let parent = object.take("parentUuid", losses);
        let written: Option<String> = object.take("timestamp", losses);
        let is_time = written.as_deref().is_none_or(|written| time::parse(written).is_some());
        if !is_time {
            object.lose("timestamp", ANOTHER_KIND, losses);
        }
        Envelope {
            uuid,
            parent: parent.or_else(|| object.take("logicalParentUuid", losses)),
            timestamp: written.filter(|_| is_time),
        }
    }

    /// Its time, in milliseconds since 1970.
    pub fn ms(&self) -> Option<i64> {
        self.timestamp.as_deref().and_then(time::parse)
    }
}

/// A record that says something.
pub(super) struct Record<'a> {
    pub object: Object<'a>,
    pub message: Object<'a>,
    pub content: &'a str,
    pub envelope: Envelope,
    /// The uuid, or the place for want of one.
    pub native: String,
    /// The message it follows.
    pub before: Option<usize>,
    /// Where it lies in the file.
    pub place: Span,
}

/// The marks of a record that are set.
pub(super) fn flags(object: &mut Object<'_>, names: &[&str], losses: &mut Losses) -> Extra {
    let mut set = Vec::new();
    for name in names {
        if object.take(name, losses) == Some(true) {
            set.push(format!("\"{name}\":true"));
        }
    }
    Fields::parse(&format!("{{{}}}", set.join(","))).map(Fields::rest).unwrap_or_default()
}
