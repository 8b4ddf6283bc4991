//! The one error of the crate.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use serde::Serialize;

/// What went wrong, as a stable word. Texts may change between versions, codes do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "CoreCode"))]
pub enum Code {
    /// Something is there already.
    AlreadyExists,
    /// Several are meant by what should mean one.
    Ambiguous,
    /// A batch is staged and neither committed, aborted nor given up.
    BatchOpen,
    /// The newest user message does not fit the budget, not even shortened.
    BudgetTooSmall,
    /// Something came since the message that an append was to follow.
    Conflict,
    /// A file is not what it should be, and nothing of it can be used.
    Damaged,
    /// Nothing to read.
    EmptyFile,
    /// A message to append that says nothing and has no file.
    EmptyMessage,
    /// Git is at work in the repository, or something is under way there.
    GitBusy,
    /// Git refused; its own words are in the message.
    GitFailed,
    /// There is no git.
    GitMissing,
    /// An id outside the allowed alphabet.
    InvalidId,
    /// Not JSON, where JSON was asked for.
    InvalidJson,
    /// A request or a draft with a value that cannot be used.
    InvalidRequest,
    /// No setting, or no value of it, or a file of them that cannot be used.
    InvalidSetting,
    /// A status that the session's may not become.
    InvalidTransition,
    /// A summary that is none, or is too long, or that no model wrote.
    InvalidSummary,
    /// Vocabulary bytes that are none.
    InvalidVocabulary,
    /// A bug: of leftoff, or of what drives it.
    Internal,
    /// A record that would be longer than a line may be.
    LineTooLong,
    /// In the place of a log that was read there is another one.
    LogReplaced,
    /// A log has fewer bytes than were read of it.
    LogShrunk,
    /// A session that a newer version wrote: it can be read, not written.
    NewerVersion,
    /// A commit, abort or unknown without a batch.
    NoBatch,
    /// Nobody counts by this encoding.
    NoCounter,
    /// Something else stands where a file is wanted.
    NotAFile,
    /// No repository has the folder.
    NotARepository,
    /// A session does not lie where it lay, and nobody knows where it lies now.
    NotFound,
    /// Only a session of a workspace can be committed.
    NotInWorkspace,
    /// The log has grown, or may have, and its new bytes were not observed yet.
    ObserveFirst,
    /// Another process has the session open.
    OpenElsewhere,
    /// An operation that appended other messages before.
    OperationReused,
    /// A rule has git ignore the session.
    SessionIgnored,
    /// An agent's file that is nested deeper than is read.
    TooDeep,
    /// A format that no reader knows.
    UnknownFormat,
    /// A message to append that follows one which the session does not have.
    UnknownParent,
}

impl Code {
    /// The word as it is written everywhere: in JavaScript's `error.code`, in `--json` and in the documentation.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::AlreadyExists => "already_exists",
            Code::Ambiguous => "ambiguous",
            Code::BatchOpen => "batch_open",
            Code::BudgetTooSmall => "budget_too_small",
            Code::Conflict => "conflict",
            Code::Damaged => "damaged",
            Code::EmptyFile => "empty_file",
            Code::EmptyMessage => "empty_message",
            Code::GitBusy => "git_busy",
            Code::GitFailed => "git_failed",
            Code::GitMissing => "git_missing",
            Code::InvalidId => "invalid_id",
            Code::InvalidJson => "invalid_json",
            Code::InvalidRequest => "invalid_request",
            Code::InvalidSetting => "invalid_setting",
            Code::InvalidSummary => "invalid_summary",
            Code::InvalidTransition => "invalid_transition",
            Code::InvalidVocabulary => "invalid_vocabulary",
            Code::Internal => "internal",
            Code::LineTooLong => "line_too_long",
            Code::LogReplaced => "log_replaced",
            Code::LogShrunk => "log_shrunk",
            Code::NewerVersion => "newer_version",
            Code::NoBatch => "no_batch",
            Code::NoCounter => "no_counter",
            Code::NotAFile => "not_a_file",
            Code::NotARepository => "not_a_repository",
            Code::NotFound => "not_found",
            Code::NotInWorkspace => "not_in_workspace",
            Code::ObserveFirst => "observe_first",
            Code::OpenElsewhere => "open_elsewhere",
            Code::OperationReused => "operation_reused",
            Code::SessionIgnored => "session_ignored",
            Code::TooDeep => "too_deep",
            Code::UnknownFormat => "unknown_format",
            Code::UnknownParent => "unknown_parent",
        }
    }
}

/// An error: what was expected, what was found, and where; lower case, without a full stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Error {
    /// The stable word.
    pub code: Code,
    /// The sentence.
    pub message: String,
    /// With `conflict`: the ids of the messages that came since, oldest first, or the newest of them where they are many.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub came: Vec<String>,
}

impl Error {
    #[doc(hidden)]
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        Error { code, message: message.into(), came: Vec::new() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code.as_str())
    }
}

impl core::error::Error for Error {}
