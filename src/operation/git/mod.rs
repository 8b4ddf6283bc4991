//! Runs git through the host: its arguments and environment, and how its output is read.
//!
//! Reading runs no code that a repository chooses, asks nobody, and reaches no network. A commit is the user's own:
//! with their name, their hooks, their filters and their signature. Nothing is fetched and nothing is pushed.

mod aliases;
#[cfg(feature = "interop")]
mod commit;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::{GitRun, HostRequest, Io, Work};

pub(super) use aliases::read_aliases;
#[cfg(feature = "interop")]
pub(super) use commit::commit;

const READ_LIMIT_MS: u32 = 10_000;

/// Removed from the environment: in a hook, git sets these to its repository and index; here the folder decides.
const REMOVED_VARIABLES: [&str; 16] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
];

const NO_PROMPTS: (&str, &str) = ("GIT_TERMINAL_PROMPT", "0");

/// Environment for reading: git must not ask, lock, fetch what a partial clone lacks, replace commits, or speak
/// another language. For a git too old for `NO_LAZY_FETCH`: no transport has the name of the next one.
const READ_ENVIRONMENT: [(&str, &str); 6] = [
    NO_PROMPTS,
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("LC_ALL", "C"),
];

/// Git in a folder.
struct Git<'a> {
    io: &'a Io,
    /// The folder's path as shown to people.
    folder: &'a str,
}

/// How git is run.
struct RunOptions {
    variables: &'static [(&'static str, &'static str)],
    input: Vec<u8>,
    limit_ms: u32,
}

impl Git<'_> {
    /// Runs git; `None` where there is none. Boxed, as all that is built on it: a caller with six queries would hold
    /// six futures.
    fn run<'a>(&'a self, arguments: &[&str], how: RunOptions) -> Work<'a, Option<GitRun>> {
        let RunOptions { variables, input, limit_ms } = how;
        let arguments = arguments.iter().map(|one| String::from(*one)).collect();
        let (folder, without) = (self.folder.into(), &REMOVED_VARIABLES);
        let request = HostRequest::Git { folder, arguments, variables, without, bytes: input, limit_ms };
        Box::pin(self.io.git(request))
    }

    /// Runs a query; `input`: its standard input.
    fn try_query<'a>(&'a self, arguments: &[&str], input: &[u8]) -> Work<'a, Option<GitRun>> {
        let before = ["--no-pager", "-c", "core.fsmonitor=false"];
        let how = RunOptions { variables: &READ_ENVIRONMENT, input: input.into(), limit_ms: READ_LIMIT_MS };
        self.run(&[&before, arguments].concat(), how)
    }
}

fn decode_lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
