//! How far a log was folded into what is known of the conversation.
//!
//! Appending folds nothing: that would cost each message. Whoever wants to know reads what came since, once.

use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Serialize, Serializer};

use crate::json::fields::{BadValue, Fields, FromFields};
use crate::record::blob;
use crate::record::message::{self, Message};
use crate::record::scan::{Found, Scanner};
use crate::record::span::Span;
use crate::session::branch::Path;
use crate::state::State;

/// What is known, and of which bytes.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FoldedState {
    /// What is known of the conversation.
    #[serde(serialize_with = "as_it_is")]
    pub state: Arc<State>,
    /// How many bytes of the log were folded.
    pub bytes: u64,
    // The path whose messages were folded, where the log has more than one.
    #[serde(skip)]
    path: Option<Path>,
    #[serde(skip)]
    folding: Option<Folding>,
}

// The scanner is made anew for each run to the end of the log.
#[derive(Clone, Debug)]
struct Folding {
    scanner: Scanner,
    fed: u64,
    end: u64,
}

// A run that is under way is no part of what is known.
impl PartialEq for FoldedState {
    fn eq(&self, other: &FoldedState) -> bool {
        (&self.state, self.bytes) == (&other.state, other.bytes)
    }
}

impl FoldedState {
    /// Takes the next message of the log, which was read for another reason.
    pub(crate) fn take(&mut self, message: &Message) {
        let state = Arc::make_mut(&mut self.state);
        if blob::named(message).is_empty() { state.take(message) } else { state.take(&blob::folded(message)) }
    }

    /// The log has more than one path: what was folded of all its messages is true of none.
    pub(crate) fn leave_file_order(&mut self) {
        if self.path.is_none() {
            *self = FoldedState::default();
        }
    }

    /// Whether the bytes from here on are the next ones.
    pub(crate) fn is_at(&self, at: u64) -> bool {
        self.bytes == at && self.folding.is_none()
    }

    /// What is to be read next, up to `end`. Of another path than before everything is folded anew.
    pub(crate) fn wanted(&mut self, end: u64, path: Option<Path>) -> Option<Span> {
        if self.path != path {
            *self = FoldedState { path, ..FoldedState::default() };
        }
        if let Some(folding) = &self.folding {
            return Some(Span { start: folding.fed, end: folding.end });
        }
        (self.bytes < end).then_some(Span { start: self.bytes, end })
    }

    /// Folds the next bytes of what is wanted; `is_on` says which messages lie on the path, of each with
    /// where its line begins.
    pub(crate) fn fold(&mut self, wanted: Span, bytes: &[u8], is_on: impl Fn(&Message, u64) -> bool) {
        let begun =
            || Folding { scanner: Scanner::forward(wanted.start), fed: wanted.start, end: wanted.end };
        let mut folding = self.folding.take().unwrap_or_else(begun);
        folding.scanner.feed(bytes);
        folding.fed += bytes.len() as u64;
        self.drain(&mut folding, &is_on);
        if folding.fed < folding.end && !bytes.is_empty() {
            self.folding = Some(folding);
            return;
        }
        folding.scanner.finish();
        self.drain(&mut folding, &is_on);
        self.bytes = folding.end;
    }

    // What is wrong with a line was said when it was observed.
    fn drain(&mut self, folding: &mut Folding, is_on: &impl Fn(&Message, u64) -> bool) {
        while let Some(found) = folding.scanner.next() {
            let Found::Record(record) = found else { continue };
            if let Some(message) = message::read(&record).0.filter(|message| is_on(message, record.start)) {
                self.take(&message);
            }
        }
    }
}

impl FromFields for FoldedState {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<FoldedState> {
        let state: State = fields.take("state", bad)?;
        Some(FoldedState { state: state.into(), bytes: fields.take("bytes", bad)?, ..FoldedState::default() })
    }
}

fn as_it_is<S: Serializer>(state: &Arc<State>, serializer: S) -> Result<S::Ok, S::Error> {
    state.serialize(serializer)
}
