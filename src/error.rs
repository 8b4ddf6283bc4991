//! The crate's one error type, and its codes.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use serde::Serialize;

/// What went wrong, as a stable word: texts may change between versions, codes do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "CoreCode"))]
pub enum Code {
    /// The item to create exists already.
    AlreadyExists,
    /// Several items match where exactly one is needed.
    Ambiguous,
    /// A batch is staged and neither committed, aborted nor given up.
    BatchOpen,
    /// The newest user message does not fit the budget, not even shortened.
    BudgetTooSmall,
    /// Other messages were appended after the one that this append expects to follow.
    Conflict,
    /// A file is damaged, and nothing of it can be used.
    Damaged,
    /// The file to read is empty.
    EmptyFile,
    /// A message to append has neither text nor a file.
    EmptyMessage,
    /// Git is running in the repository, or an operation of it (a merge, a rebase) is unfinished.
    GitBusy,
    /// Git refused; its own words are in the message.
    GitFailed,
    /// Git is not installed.
    GitMissing,
    /// An id has characters outside the allowed alphabet.
    InvalidId,
    /// Text that should be JSON is not.
    InvalidJson,
    /// A request or a draft has a value that cannot be used.
    InvalidRequest,
    /// A setting or its value does not exist, or a settings file cannot be used.
    InvalidSetting,
    /// The session's status may not change to the one requested.
    InvalidTransition,
    /// A summary is invalid, too long, or not written by a model.
    InvalidSummary,
    /// The bytes are no vocabulary.
    InvalidVocabulary,
    /// A bug in leftoff or in the host that drives it.
    Internal,
    /// A record would exceed the longest line allowed.
    LineTooLong,
    /// The log was replaced by another file after it was read.
    LogReplaced,
    /// A log has fewer bytes than were read from it.
    LogShrunk,
    /// A newer version wrote the session: it can be read, not written.
    NewerVersion,
    /// A commit, abort or unknown came without a staged batch.
    NoBatch,
    /// Neither the core nor the host can count by this encoding.
    NoCounter,
    /// Something other than a file stands at the path.
    NotAFile,
    /// The folder is in no git repository.
    NotARepository,
    /// The session is no longer where it was, and its new place is unknown.
    NotFound,
    /// Only a session in a workspace can be committed.
    NotInWorkspace,
    /// The log has grown, or may have, and its new bytes were not observed yet.
    ObserveFirst,
    /// Another process has the session open.
    OpenElsewhere,
    /// The operation id was used before, for other messages.
    OperationReused,
    /// A git ignore rule covers the session.
    SessionIgnored,
    /// An agent's file is nested deeper than the reader goes.
    TooDeep,
    /// No reader knows the file's format.
    UnknownFormat,
    /// A message to append names a parent that the session does not have.
    UnknownParent,
}

impl Code {
    /// The code as written everywhere: in JavaScript's `error.code`, in `--json` and in the documentation.
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
    /// The stable code.
    pub code: Code,
    /// The message for people.
    pub message: String,
    /// With `conflict`: the ids of the messages appended since, oldest first; only the newest of them if they are many.
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
