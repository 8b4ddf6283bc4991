//! The fields of a record around its message.

use alloc::string::String;
use alloc::vec::Vec;

use crate::interop::conversation::{RecordOrigin, build_flags};
use crate::interop::{Losses, Object};
use crate::json::text::Extra;
use crate::record::span::Span;
use crate::time;

/// A record with a uuid, as others name it as their parent.
pub(super) struct RecordLink {
    pub thread: usize,
    /// The message it became, or else the one before it.
    pub message_index: Option<usize>,
}

/// The fields that every record has.
pub(super) struct Envelope {
    pub uuid: Option<String>,
    pub parent: Option<String>,
    pub timestamp: Option<String>,
}

// Marks for the use of a message; they are kept with its source.
pub(super) const USER_FLAGS: &[&str] = &["isMeta", "isCompactSummary", "isVisibleInTranscriptOnly"];
pub(super) const ASSISTANT_FLAGS: &[&str] = &["isApiErrorMessage"];

impl Envelope {
    pub fn take(object: &mut Object<'_>, losses: &mut Losses) -> Envelope {
        let uuid = object.take_name("uuid", losses).filter(|uuid| !uuid.is_empty());
        let parent = object.take("parentUuid", losses);
        let timestamp = object.take_time("timestamp", losses);
        let parent = parent.or_else(|| object.take("logicalParentUuid", losses));
        Envelope { uuid, parent, timestamp }
    }

    /// Returns its time, in milliseconds since 1970.
    pub fn ms(&self) -> Option<i64> {
        self.timestamp.as_deref().and_then(time::parse)
    }
}

/// A record with a message.
pub(super) struct Record<'a> {
    pub object: Object<'a>,
    pub message: Object<'a>,
    pub content: &'a str,
    pub envelope: Envelope,
    /// The message it follows.
    pub parent_index: Option<usize>,
    /// Its place in the file.
    pub place: Span,
}

impl Record<'_> {
    /// Returns the record's origin, named by its uuid, or else by its place.
    pub fn origin(&self, flags: Extra) -> RecordOrigin {
        let origin = RecordOrigin::from_place(self.place, self.envelope.timestamp.clone());
        RecordOrigin { native: self.envelope.uuid.clone().unwrap_or(origin.native), flags, ..origin }
    }
}

/// Takes the marks of a record that are set.
pub(super) fn take_flags(object: &mut Object<'_>, names: &[&str], losses: &mut Losses) -> Extra {
    let set: Vec<&str> =
        names.iter().copied().filter(|name| object.take(name, losses) == Some(true)).collect();
    build_flags(&set)
}
