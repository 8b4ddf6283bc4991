//! Questions to an agent that reads standard input, writes standard output and remembers nothing.
//!
//! Each conversation is a [`Transcript`], a Markdown file that a person can read, edit and keep. A host writes it with
//! the marks from here and a [`Recorder`] for the text between them, builds a [`prompt`], and starts an [`Engine`].

mod engine;
mod mark;
mod prompt;
mod recorder;
mod transcript;

pub(crate) use mark::MARK_BEGINNINGS;

pub use engine::{Engine, PRESETS};
pub use mark::{answer, end, name, question, title};
pub use prompt::{DEFAULT_PROMPT, prompt};
pub use recorder::Recorder;
pub use transcript::{End, Transcript, Turn, Voice};

/// The beginning of every file of `leftoff ask`.
pub(crate) const TITLE: &str = "# leftoff ask ";
