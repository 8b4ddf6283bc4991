//! Operations: the work that a host asks for that takes more than one look at its files.
//!
//! An [`Operation`] gives its result, or the requests that it needs answered first. [`Operation::begin`] takes the
//! time and gives the first [`Step`]; [`Operation::next`] takes the responses to the last requests, in their order,
//! and gives the next step. A host that responds to [`HostRequest`]s drives every operation there is, and knows none
//! of them. Inside, an operation is an `async fn` that waits for nothing but these responses: the compiler writes the
//! state machine. It has no waker, no executor and no callback.

mod host_protocol;
mod io;

mod append;
mod append_once;
mod cache_marks;
mod checkpoint_cache;
mod compact;
mod context;
mod context_build;
mod context_recall;
#[cfg(feature = "interop")]
mod export;
mod frames;
mod git;
mod health;
mod join;
mod lease;
#[cfg(feature = "interop")]
mod log_search;
mod logs;
mod message_pages;
mod messages;
mod moves;
#[cfg(feature = "interop")]
mod newest_messages;
mod outgoing;
mod outgoing_context;
#[cfg(feature = "interop")]
mod outgoing_pieces;
mod redaction_response;
mod resume;
mod sent_context;
mod session_document;
mod session_events;
mod session_files;
#[cfg(feature = "interop")]
mod session_packing;
mod store;
mod stored_summaries;
mod summary_writing;
mod tool_executions;
mod unstored_context;
mod vectors;

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

use serde::Serialize;

pub use append::{AppendRequest, CountingMode, Drafts};
#[cfg(feature = "interop")]
pub use host_protocol::AgentDocument;
pub use host_protocol::{
    Failure, FileId, FileKind, FolderEntry, GitRun, HostRequest, HostResponse, Stat, TEXT_SEPARATOR,
};
pub(crate) use io::{HostExchange, Io};
pub use outgoing::{OutgoingGate, OutgoingRedactor, RedactMode, RedactedValue};
pub use session_files::SessionFiles;
#[cfg(feature = "interop")]
pub use store::{ImportableList, LiveRecording, count_quiet_turns};
pub use store::{SessionCandidate, Setup, Store, find_candidate, place_json};
pub use unstored_context::context_of;

use crate::error::{Code, Error};
use crate::time::{self, Stamp};

/// Why an operation ended without a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Trouble {
    /// The core rejected the request.
    Refused(Box<Error>),
    /// The host failed.
    Failed(Box<Failure>),
}

impl Trouble {
    /// The error code.
    pub fn code(&self) -> &str {
        match self {
            Trouble::Refused(error) => error.code.as_str(),
            Trouble::Failed(failure) => &failure.code,
        }
    }

    /// The message, a sentence.
    pub fn message(&self) -> &str {
        match self {
            Trouble::Refused(error) => &error.message,
            Trouble::Failed(failure) => &failure.message,
        }
    }

    /// For an append that failed, how many bytes got into the file, where that is known.
    pub(crate) fn written_bytes(&self) -> Option<u64> {
        match self {
            Trouble::Refused(_) => None,
            Trouble::Failed(failure) => failure.written,
        }
    }

    /// Number of the host's own error: the host throws that very one, with its cause.
    pub fn origin(&self) -> Option<u32> {
        match self {
            Trouble::Refused(_) => None,
            Trouble::Failed(failure) => failure.origin,
        }
    }

    /// Whether it is a bug: it says nothing about the files or the request at hand.
    pub(crate) fn is_bug(&self) -> bool {
        self.code() == Code::Internal.as_str()
    }

    /// Makes the error for a bug: of leftoff, or of the host that drives it.
    pub fn internal(message: impl Into<String>) -> Trouble {
        Trouble::new(Code::Internal, message)
    }

    pub(crate) fn new(code: Code, message: impl Into<String>) -> Trouble {
        Trouble::Refused(Box::new(Error::new(code, message)))
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message(), self.code())
    }
}

impl core::error::Error for Trouble {}

impl From<Error> for Trouble {
    fn from(error: Error) -> Trouble {
        Trouble::Refused(error.into())
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Trouble {
        Trouble::Failed(failure.into())
    }
}

/// What an operation gives when it is polled.
#[derive(Debug)]
pub enum Step<T> {
    /// Requests to respond to; then [`Operation::next`] takes the responses in this order. None depends on another: a
    /// host may work on all of them at once.
    Requests(Vec<HostRequest>),
    /// The operation has ended.
    Done(Result<T, Trouble>),
}

pub(crate) type Work<'a, T> = Pin<Box<dyn Future<Output = Result<T, Trouble>> + 'a>>;

/// An operation under way. Dropped before its end, it leaves its session as a failed one does: the next operation
/// looks at the files before it writes.
pub struct Operation<'a, T> {
    desk: Rc<RefCell<HostExchange>>,
    work: Option<Work<'a, T>>,
}

impl<'a, T> Operation<'a, T> {
    pub(crate) fn new<F: Future<Output = Result<T, Trouble>> + 'a>(work: impl FnOnce(Io) -> F) -> Self {
        let desk = Rc::new(RefCell::new(HostExchange::default()));
        let work = work(Io(desk.clone()));
        Operation { desk, work: Some(Box::pin(work)) }
    }

    /// Converts the result.
    pub fn map<U>(self, to: impl FnOnce(T) -> U + 'a) -> Operation<'a, U>
    where
        T: 'a,
    {
        let work = self.work.map(|work| Box::pin(async { Ok(to(work.await?)) }) as Work<'a, U>);
        Operation { desk: self.desk, work }
    }

    /// Begins the operation and returns its first step. `stamp` is the time, and all the random bytes that the
    /// operation has. Refused with `invalid_request` for a time outside the years 0 to 9999, and where something is
    /// to be stored with the random bytes of the last operation that stored something in this session.
    pub fn begin(&mut self, stamp: Stamp) -> Step<T> {
        self.desk.borrow_mut().stamp = Some(stamp);
        self.next(stamp.now_ms, Vec::new())
    }

    /// Continues with the responses to all requests of the last step, and returns the next one. `now_ms` is the time.
    pub fn next(&mut self, now_ms: i64, answers: Vec<HostResponse>) -> Step<T> {
        let Some(work) = &mut self.work else { return invalid_step("it has ended already") };
        if let Err(refused) = time::check(now_ms) {
            self.work = None;
            return Step::Done(Err(refused.into()));
        }
        self.desk.borrow_mut().accept_responses(now_ms, answers);
        match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => {
                self.work = None;
                Step::Done(done)
            }
            Poll::Pending => match core::mem::take(&mut self.desk.borrow_mut().requests) {
                needs if needs.is_empty() => invalid_step("it waits for nothing that it asked for"),
                needs => Step::Requests(needs),
            },
        }
    }
}

impl<T> fmt::Debug for Operation<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation").field("has_ended", &self.work.is_none()).finish_non_exhaustive()
    }
}

/// For work that may fail without a loss: turns a refusal or failure into `None`. A bug stays an error.
pub(crate) fn unless_bug<T>(done: Result<T, Trouble>) -> Result<Option<T>, Trouble> {
    match done {
        Err(trouble) if trouble.is_bug() => Err(trouble),
        done => Ok(done.ok()),
    }
}

/// For a path where something else than a file may lie, which is never read: as good as absent.
pub(crate) fn unless_other<T>(found: Result<Option<T>, Trouble>) -> Result<Option<T>, Trouble> {
    match found {
        Err(trouble) if matches!(trouble.code(), "not_a_file" | "not_a_folder" | "outside_store") => Ok(None),
        found => found,
    }
}

fn invalid_step<T>(why: &str) -> Step<T> {
    let message = alloc::format!("expected an operation under way, but found that {why}");
    Step::Done(Err(Trouble::internal(message)))
}
