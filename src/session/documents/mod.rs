//! The documents about a session as they lie on disk: wire structs with exactly the field names of their documents.
//!
//! Both say the same. What one of the two documents has no field for stands in an additional one, so that a session
//! goes from one placement to the other and back without loss. Fields that this version does not know are kept, in
//! nested objects too. A bad value costs its field.
//!
//! One thing comes back otherwise: `metadata.json` has a title in every case, so a session whose title was made from
//! its first message has it as a given one once it was read from that document alone. `session.json` has no title
//! that nobody gave: one made from the first message changes, and would look like an edit.

pub(crate) mod metadata_json;
pub(crate) mod session_json;

pub use metadata_json::MetadataJson;
pub use session_json::SessionJson;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Serialize, Serializer};

use crate::error::{Code, Error};
use crate::json::fields::{BadValue, Fields, FromFields};
use crate::json::text::{Extra, Open, open};
use crate::record::event::{ForkOrigin, ImportOrigin, Parent, Project};
use crate::record::id;
use crate::session::checkpoint::Checkpoint;
use crate::session::document_claims::DocumentClaims;
use crate::session::metadata::Metadata;

/// The name of one of the two documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentName {
    /// `session.json`, in the workspace placement.
    SessionJson,
    /// `metadata.json`, in the home placement.
    MetadataJson,
}

/// A document as it was found on disk.
#[derive(Clone, Debug, PartialEq)]
pub enum Document {
    /// `session.json`.
    SessionJson(Box<SessionJson>),
    /// `metadata.json`.
    MetadataJson(Box<MetadataJson>),
}

impl Document {
    /// Reads a document, and reports the values that could not be read.
    ///
    /// # Errors
    /// `invalid_json` where it is no object.
    pub fn read(name: DocumentName, json: &[u8]) -> Result<(Document, Vec<String>), Error> {
        Ok(match name {
            DocumentName::SessionJson => {
                let (document, bad) = SessionJson::read(json)?;
                (Document::SessionJson(Box::new(document)), bad)
            }
            DocumentName::MetadataJson => {
                let (document, bad) = MetadataJson::read(json)?;
                (Document::MetadataJson(Box::new(document)), bad)
            }
        })
    }

    /// Renders the document of a session, with the fields of an older one that this version does not know.
    pub fn write(
        name: DocumentName,
        metadata: &Metadata,
        known: &Checkpoint,
        old: Option<&Document>,
    ) -> String {
        match name {
            DocumentName::SessionJson => match (SessionJson::new(metadata, known), old) {
                (new, Some(Document::SessionJson(old))) => new.keeping(old).to_json(),
                (new, _) => new.to_json(),
            },
            DocumentName::MetadataJson => match (MetadataJson::new(metadata, known), old) {
                (new, Some(Document::MetadataJson(old))) => new.keeping(old).to_json(),
                (new, _) => new.to_json(),
            },
        }
    }

    /// Which of the two it is.
    pub fn name(&self) -> DocumentName {
        match self {
            Document::SessionJson(_) => DocumentName::SessionJson,
            Document::MetadataJson(_) => DocumentName::MetadataJson,
        }
    }

    /// The session's metadata as the document has it.
    pub fn metadata(&self) -> Metadata {
        match self {
            Document::SessionJson(document) => document.metadata(),
            Document::MetadataJson(document) => document.metadata(),
        }
    }

    /// What it says of the session, with `None` where it is silent.
    pub fn claims(&self) -> DocumentClaims {
        match self {
            Document::SessionJson(document) => document.claims(),
            Document::MetadataJson(document) => document.claims(),
        }
    }

    /// Its title, which may be one that nobody gave.
    pub(crate) fn title(&self) -> Option<&str> {
        match self {
            Document::SessionJson(_) => None,
            Document::MetadataJson(document) => Some(document.title()),
        }
    }

    /// Its summary.
    pub(crate) fn summary(&self) -> Option<&str> {
        match self {
            Document::SessionJson(document) => document.summary(),
            Document::MetadataJson(document) => document.summary(),
        }
    }

    /// The id by which events name this state of the document: the event that it was written from, else a hash of its
    /// bytes.
    pub(crate) fn document_id(&self) -> String {
        let json = || match self {
            Document::SessionJson(document) => document.to_json(),
            Document::MetadataJson(document) => document.to_json(),
        };
        self.claims().as_of.unwrap_or_else(|| id::from_parts(&[json().as_bytes()]))
    }

    /// Whether a newer version of leftoff wrote it.
    pub fn is_newer(&self) -> bool {
        match self {
            Document::SessionJson(document) => document.is_newer(),
            Document::MetadataJson(document) => document.is_newer(),
        }
    }
}

/// An object of a document, and the fields in it that this version does not know.
#[derive(Clone, Debug, Default, PartialEq)]
struct WithExtra<T> {
    value: T,
    extra: Extra,
}

/// Takes the known fields out of an object, so that the unknown ones are left.
trait TakeFields: Sized {
    fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Self>;
}

// Serialized as the known object, with the other fields after it.
#[derive(Serialize)]
#[serde(transparent)]
struct WithExtraRef<'a, T: Serialize> {
    known: &'a T,
    #[serde(skip)]
    extra: &'a Extra,
}

impl<T: Serialize> Open for WithExtraRef<'_, T> {
    fn extra(&self) -> &Extra {
        self.extra
    }
}

impl<T> From<T> for WithExtra<T> {
    fn from(known: T) -> WithExtra<T> {
        WithExtra { value: known, extra: Extra::default() }
    }
}

impl<T> WithExtra<T> {
    /// Adds the unknown fields of an older document.
    fn keeping(&mut self, old: &WithExtra<T>) {
        self.extra = old.extra.clone();
    }
}

/// The same for an object that may be absent.
fn keep_extra<T>(new: &mut Option<WithExtra<T>>, old: &Option<WithExtra<T>>) {
    if let (Some(new), Some(old)) = (new, old) {
        new.keeping(old);
    }
}

impl<T: Serialize> Serialize for WithExtra<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        open(&WithExtraRef { known: &self.value, extra: &self.extra }, serializer)
    }
}

impl<T: TakeFields> FromFields for WithExtra<T> {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<WithExtra<T>> {
        let known = T::take(&mut fields, bad)?;
        Some(WithExtra { value: known, extra: fields.rest() })
    }
}

impl TakeFields for Project {
    fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Project> {
        Project::take(fields, bad)
    }
}

impl TakeFields for Parent {
    fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Parent> {
        Parent::take(fields, bad)
    }
}

impl TakeFields for ForkOrigin {
    fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<ForkOrigin> {
        ForkOrigin::take(fields, bad)
    }
}

impl TakeFields for ImportOrigin {
    fn take(fields: &mut Fields<'_>, bad: &mut Vec<BadValue>) -> Option<ImportOrigin> {
        ImportOrigin::take(fields, bad)
    }
}

/// Finds the first heading of a conversation's Markdown: not one inside a code block or the front matter.
pub fn find_heading(markdown: &str) -> Option<&str> {
    let mut fence = None;
    let mut previous = "";
    let mut lines = markdown.lines().peekable();
    if lines.next_if(|line| line.trim() == "---").is_some() {
        lines.find(|line| line.trim() == "---");
    }
    for line in lines {
        let text = line.trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| text.starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, None) => {
                let title = text.trim_start_matches('#');
                let depth = text.len() - title.len();
                if (1..=6).contains(&depth) && title.starts_with(' ') {
                    return Some(title.trim().trim_end_matches('#').trim()).filter(|title| !title.is_empty());
                }
                let is_underline =
                    !text.is_empty() && (text.bytes().all(|b| b == b'=') || text.bytes().all(|b| b == b'-'));
                if is_underline && !previous.is_empty() {
                    return Some(previous);
                }
            }
        }
        previous = text;
    }
    None
}

/// Reads a document; `name` is its file's, for messages.
fn parse_document<T: TakeFields>(json: &[u8], name: &str) -> Result<(WithExtra<T>, Vec<String>), Error> {
    let wrong = |found: &str| {
        let message = format!("expected an object in {name}, but found {found} instead");
        Error::new(Code::InvalidJson, message)
    };
    let json = core::str::from_utf8(json).map_err(|_| wrong("bytes that are no UTF-8"))?;
    let json = json.strip_prefix('\u{feff}').unwrap_or(json);
    let fields = Fields::parse(json).map_err(|not| wrong(&format!("{not}")))?;
    let mut bad = Vec::new();
    let read = WithExtra::from_fields(fields, &mut bad).ok_or_else(|| wrong("another object"))?;
    Ok((read, bad.into_iter().map(|bad| bad.message).collect()))
}

fn non_empty(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}
