//! How far a log was folded into what is known of the conversation.
//!
//! Appending folds nothing: that would cost each message. Whoever wants to know reads what came since, once.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Serialize, Serializer};

use crate::json::fields::{BadValue, Fields, FromFields};
use crate::record::blob;
use crate::record::message::{self, Message, Role};
use crate::record::scan::{Found, Record, Scanner};
use crate::record::span::Span;
use crate::session::branch::Path;
use crate::session::revised::Says;
use crate::session::title::Titles;
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
    // The newest answer, as it was folded.
    #[serde(skip)]
    newest: Answer,
    // What the session is called by, where that is to be made anew.
    #[serde(skip)]
    titles: Option<Titles>,
    #[serde(skip)]
    folding: Option<Folding>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Answer {
    id: String,
    rev: u64,
    calls: usize,
}

/// A line, to whoever folds the log.
pub(crate) struct Line {
    /// What it says.
    pub says: Says,
    /// Whether its message lies on the path.
    pub is_on_path: bool,
}

// The scanner is made anew for each run to the end of the log.
#[derive(Clone, Debug)]
struct Folding {
    scanner: Scanner,
    fed: u64,
    end: u64,
    is_finished: bool,
    // A line that lies behind the one it belongs to, and what was read of it; whether it is on the path.
    later: Option<(Span, Vec<u8>, bool)>,
}

// A run that is under way is no part of what is known.
impl PartialEq for FoldedState {
    fn eq(&self, other: &FoldedState) -> bool {
        (&self.state, self.bytes) == (&other.state, other.bytes)
    }
}

impl FoldedState {
    /// Takes the next line of the log, which was read for another reason.
    pub(crate) fn take(&mut self, message: &Message, says: Says) {
        let state = Arc::make_mut(&mut self.state);
        let folded = (!blob::named(message).is_empty()).then(|| blob::folded(message));
        let whole = folded.as_ref().unwrap_or(message);
        let calls = whole.tool_calls();
        match says {
            Says::All => state.take(whole),
            Says::Calls if message.id == self.newest.id && message.rev > self.newest.rev => {
                state.take_calls(calls.get(self.newest.calls..).unwrap_or_default());
            }
            Says::Calls | Says::Later(_) | Says::Nothing => return,
        }
        if message.role == Some(Role::Assistant) {
            self.newest = Answer { id: message.id.clone(), rev: message.rev, calls: calls.len() };
        }
    }

    /// What was folded is not what the log says now: it is folded from its start. Where `is_titling`, what the session is
    /// called by is made anew, too.
    pub(crate) fn begin_anew(&mut self, path: Option<Path>, is_titling: bool) {
        let titles = (is_titling || self.titles.is_some()).then(Titles::default);
        *self = FoldedState { path, titles, ..FoldedState::default() };
    }

    /// Whether a line that begins there may have been folded.
    pub(crate) fn has_met(&self, at: u64) -> bool {
        at < self.bytes || self.folding.is_some()
    }

    /// Whether what the session is called by is to be made anew.
    pub(crate) fn is_titling(&self) -> bool {
        self.titles.is_some()
    }

    /// What it is called by, once all was folded up to `end` from which that is made.
    pub(crate) fn titled(&mut self, end: u64) -> Option<Titles> {
        if self.is_at(end) { self.titles.take() } else { None }
    }

    /// The log has more than one path: what was folded of all its messages is true of none.
    pub(crate) fn leave_file_order(&mut self) {
        if self.path.is_none() {
            self.begin_anew(None, false);
        }
    }

    /// Whether the bytes from here on are the next ones.
    pub(crate) fn is_at(&self, at: u64) -> bool {
        self.bytes == at && self.folding.is_none()
    }

    /// What is to be read next, up to `end`. Of another path than before everything is folded anew.
    pub(crate) fn wanted(&mut self, end: u64, path: Option<Path>) -> Option<Span> {
        if self.path != path {
            self.begin_anew(path, false);
        }
        if let Some(folding) = &self.folding {
            let later = folding.later.as_ref();
            let later = later.map(|(line, read, _)| Span { start: line.start + read.len() as u64, ..*line });
            return Some(later.unwrap_or(Span { start: folding.fed, end: folding.end }));
        }
        (self.bytes < end).then_some(Span { start: self.bytes, end })
    }

    /// Folds the next bytes of what is wanted; `line` says of each message what its line means, and where that begins.
    pub(crate) fn fold(&mut self, wanted: Span, bytes: &[u8], line: impl Fn(&Message, u64) -> Line) {
        let begun = || Folding {
            scanner: Scanner::forward(wanted.start),
            fed: wanted.start,
            end: wanted.end,
            is_finished: false,
            later: None,
        };
        let mut folding = self.folding.take().unwrap_or_else(begun);
        if folding.later.is_some() {
            self.take_later(&mut folding, bytes);
        } else {
            folding.scanner.feed(bytes);
            folding.fed = if bytes.is_empty() { folding.end } else { folding.fed + bytes.len() as u64 };
        }
        self.drain(&mut folding, &line);
        if folding.fed >= folding.end && folding.later.is_none() && !folding.is_finished {
            folding.is_finished = true;
            folding.scanner.finish();
            self.drain(&mut folding, &line);
        }
        if folding.fed < folding.end || folding.later.is_some() {
            self.folding = Some(folding);
        } else {
            self.bytes = folding.end;
        }
    }

    // What is wrong with a line was said when it was observed.
    fn drain(&mut self, folding: &mut Folding, line: &impl Fn(&Message, u64) -> Line) {
        while folding.later.is_none()
            && let Some(found) = folding.scanner.next()
        {
            let Found::Record(record) = found else { continue };
            let Some(message) = message::read(&record).0 else { continue };
            let Line { says, is_on_path } = line(&message, record.start);
            match says {
                Says::Later(later) => folding.later = Some((later, Vec::new(), is_on_path)),
                says => self.take_line(&message, record.start, says, is_on_path),
            }
        }
    }

    fn take_later(&mut self, folding: &mut Folding, bytes: &[u8]) {
        let Some((line, read, is_on_path)) = &mut folding.later else { return };
        read.extend_from_slice(bytes);
        if line.start + (read.len() as u64) < line.end && !bytes.is_empty() {
            return;
        }
        let record = Record::at(line.start, String::from_utf8_lossy(read).trim_end().into());
        if let Some(message) = message::read(&record).0 {
            self.take_line(&message, record.start, Says::All, *is_on_path);
        }
        folding.later = None;
    }

    fn take_line(&mut self, message: &Message, start: u64, says: Says, is_on_path: bool) {
        if let Some(titles) = self.titles.as_mut().filter(|_| says == Says::All) {
            titles.hear(message, start);
        }
        if is_on_path {
            self.take(message, says);
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
