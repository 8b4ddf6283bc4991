//! Questions to an agent that answers from standard input to standard output, and remembers nothing.
//!
//! Each conversation is a [`Transcript`], a Markdown file that a person reads, edits and keeps. A host writes it with the marks
//! that are made here and a [`Recorder`] for the words between them, asks with a [`prompt`], and starts what [`Engine`] says.

mod engine;
mod mark;
mod prompt;
mod recorder;
mod transcript;

pub(crate) use mark::BEGINNINGS;

pub use engine::{Engine, PRESETS};
pub use mark::{answer, end, name, question, title};
pub use prompt::{DEFAULT_PROMPT, prompt};
pub use recorder::Recorder;
pub use transcript::{End, Transcript, Turn, Voice};

/// What every file of `leftoff ask` begins with.
pub(crate) const TITLE: &str = "# leftoff ask ";
