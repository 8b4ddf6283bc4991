//! The session state folded from a log, and how far.
//!
//! Appending folds nothing: that would cost each message. Whoever wants to know reads what came since, once.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Serialize, Serializer};

use crate::json::fields::{BadValue, Fields, FromFields};
use crate::record::blob;
use crate::record::message::{Message, Role};
use crate::record::span::Span;
use crate::session::branch::BranchPath;
use crate::session::folding::{FoldLine, FoldPass};
use crate::session::revisions::LineContent;
use crate::state::State;

/// A session state, and the bytes it was folded from.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FoldedState {
    /// The session state.
    #[serde(serialize_with = "as_it_is")]
    pub state: Arc<State>,
    /// How many bytes of the log were folded.
    pub bytes: u64,
    // The path whose messages were folded, where the log has more than one.
    #[serde(skip)]
    path: Option<BranchPath>,
    // The newest answer, as it was folded.
    #[serde(skip)]
    newest_answer: FoldedAnswer,
    #[serde(skip)]
    folding: Option<FoldPass>,
}

#[derive(Clone, Debug, Default)]
struct FoldedAnswer {
    id: String,
    rev: u64,
    calls: usize,
    // The state before it, and where its first line begins; kept for an answer that seems likely to be revised soon.
    state_before: Option<(Arc<State>, u64)>,
}

// A pass under way is not part of the state.
impl PartialEq for FoldedState {
    fn eq(&self, other: &FoldedState) -> bool {
        (&self.state, self.bytes) == (&other.state, other.bytes)
    }
}

impl FoldedState {
    /// Folds the next line of the log, which begins at `start`.
    pub(crate) fn fold_message(&mut self, message: &Message, start: u64, says: LineContent) {
        let is_answer = message.role == Some(Role::Assistant);
        let is_restless = is_answer && says == LineContent::All && (message.partial || message.rev > 0);
        let before = is_restless.then(|| (self.state.clone(), start));
        let state = Arc::make_mut(&mut self.state);
        let folded = (!blob::blob_ids(message).is_empty()).then(|| blob::truncate_blobs(message));
        let whole = folded.as_ref().unwrap_or(message);
        let calls = whole.tool_calls();
        match says {
            LineContent::All => state.take_message(whole),
            LineContent::Calls
                if message.id == self.newest_answer.id && message.rev > self.newest_answer.rev =>
            {
                state.take_calls(calls.get(self.newest_answer.calls..).unwrap_or_default());
            }
            LineContent::Calls | LineContent::Later(_) | LineContent::Nothing => return,
        }
        if is_answer {
            let kept = self.newest_answer.state_before.take().filter(|_| says == LineContent::Calls);
            let before = before.or(kept);
            self.newest_answer = FoldedAnswer {
                id: message.id.clone(),
                rev: message.rev,
                calls: calls.len(),
                state_before: before,
            };
        }
    }

    /// Rewinds to the message whose first line begins at `first`, since it was revised: folding continues from there
    /// where the state is known, else from the start. Returns whether it was known.
    pub(crate) fn rewind_to(&mut self, first: u64) -> bool {
        let known = self.newest_answer.state_before.take().filter(|(_, at)| *at == first);
        let path = self.path.take();
        let is_known = known.is_some();
        let (state, bytes) = known.unwrap_or_default();
        *self = FoldedState { state, bytes, path, ..FoldedState::default() };
        is_known
    }

    /// Whether a line that begins there may have been folded.
    pub(crate) fn has_folded(&self, at: u64) -> bool {
        at < self.bytes || self.folding.is_some()
    }

    /// Drops the state when the log gets a second path: folded from all messages, it holds for neither.
    pub(crate) fn reset_for_branches(&mut self) {
        if self.path.is_none() {
            *self = FoldedState::default();
        }
    }

    /// Whether the bytes from here on are the next ones.
    pub(crate) fn is_folded_to(&self, at: u64) -> bool {
        self.bytes == at && self.folding.is_none()
    }

    /// The next bytes to read, up to `end`. For another path than before, everything is folded anew.
    pub(crate) fn next_span(&mut self, end: u64, path: Option<BranchPath>) -> Option<Span> {
        if self.path != path {
            *self = FoldedState { path, ..FoldedState::default() };
        }
        match &self.folding {
            Some(folding) => Some(folding.next_span()),
            None => (self.bytes < end).then_some(Span { start: self.bytes, end }),
        }
    }

    /// Folds the next bytes of the wanted span; `line` tells for each message what its line means, and where that
    /// begins.
    pub(crate) fn fold(&mut self, wanted: Span, bytes: &[u8], line: impl Fn(&Message, u64) -> FoldLine) {
        let mut folding = self.folding.take().unwrap_or_else(|| FoldPass::of(wanted));
        let take = &mut |message: &Message, start, FoldLine { says, is_on_path }| {
            if is_on_path {
                self.fold_message(message, start, says);
            }
        };
        match folding.feed(bytes, &line, take) {
            Some(end) => self.bytes = end,
            None => self.folding = Some(folding),
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
