//! The documents about a session as they lie on disk: wire structs with exactly the field names of their documents.
//!
//! Both say the same. What one of the two documents has no field for stands in an additional one, so that a session goes
//! from one placement to the other and back without loss. Fields that this version does not know are kept, in nested
//! objects too. A bad value costs its field.
//!
//! One thing comes back otherwise: both have a title in every case, so a session whose title was made from its first
//! message has it as a given one once it was read from a document.

pub(crate) mod metadata_json;
pub(crate) mod session_json;

pub use metadata_json::MetadataJson;
pub use session_json::SessionJson;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Serialize, Serializer};

use crate::error::{Code, Error};
use crate::fields::{BadValue, Fields, FromFields};
use crate::session::event::{Agent, Imported, Parent, Project};
use crate::text::{Extra, Open, open};

/// An object of a document, and the fields in it that this version does not know.
#[derive(Clone, Debug, Default, PartialEq)]
struct Kept<T> {
    known: T,
    extra: Extra,
}

/// An object whose known fields are taken out, so that the others are left.
trait Take: Sized {
    fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Self>;
}

// What is written is the known object with the others behind.
#[derive(Serialize)]
#[serde(transparent)]
struct Whole<'a, T: Serialize> {
    known: &'a T,
    #[serde(skip)]
    extra: &'a Extra,
}

impl<T: Serialize> Open for Whole<'_, T> {
    fn extra(&self) -> &Extra {
        self.extra
    }
}

impl<T> From<T> for Kept<T> {
    fn from(known: T) -> Kept<T> {
        Kept { known, extra: Extra::default() }
    }
}

impl<T> Kept<T> {
    /// The same with what an older document had that nobody knew.
    fn keeping(&mut self, old: &Kept<T>) {
        self.extra = old.extra.clone();
    }
}

/// The same for what may be absent.
fn keep<T>(new: &mut Option<Kept<T>>, old: &Option<Kept<T>>) {
    if let (Some(new), Some(old)) = (new, old) {
        new.keeping(old);
    }
}

impl<T: Serialize> Serialize for Kept<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        open(&Whole { known: &self.known, extra: &self.extra }, serializer)
    }
}

impl<T: Take> FromFields for Kept<T> {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Kept<T>> {
        let known = T::take(&mut fields, bad)?;
        Some(Kept { known, extra: fields.rest() })
    }
}

impl Take for Project {
    fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Project> {
        Project::take(fields, bad)
    }
}

impl Take for Parent {
    fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Parent> {
        Parent::take(fields, bad)
    }
}

impl Take for Imported {
    fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Imported> {
        Imported::take(fields, bad)
    }
}

impl Take for Agent {
    fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Agent> {
        Some(Agent::take(fields, bad))
    }
}

/// Reads a document; `name` is its file's, for messages.
fn read<T: Take>(json: &[u8], name: &str) -> Result<(Kept<T>, Vec<String>), Error> {
    let wrong = |found: &str| {
        let message = format!("expected an object in {name}, but found {found} instead");
        Error::new(Code::InvalidJson, message)
    };
    let json = core::str::from_utf8(json).map_err(|_| wrong("bytes that are no UTF-8"))?;
    let json = json.strip_prefix('\u{feff}').unwrap_or(json);
    let fields = Fields::parse(json).map_err(|not| wrong(&format!("{not}")))?;
    let mut bad = Vec::new();
    let read = Kept::from_fields(fields, &mut bad).ok_or_else(|| wrong("another object"))?;
    Ok((read, bad.into_iter().map(|bad| bad.message).collect()))
}

fn non_empty(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}
