//! Sessions on a local disk, for Rust programs: the feature `fs`, on Unix.
//!
//! It answers the core's requests with the system's files, and has no rule of its own: requests, answers and the files
//! on the disk are those of the JavaScript package, and several programs of either kind may work in one home at once. A
//! store stays in the thread that opened it. Another thread opens one of its own: to the core, that is another process.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let home = tempfile::tempdir()?;
//! use leftoff::fs::Store;
//!
//! let store = Store::open(home.path())?;
//! let session = store.create(r#"{"title":"The parser"}"#)?;
//! session.append(r#"{"role":"user","content":"Rename the parser's entry point."}"#, Default::default())?;
//! let context = session.context(r#"{"window":8000}"#, Default::default())?;
//! assert!(context.contains("Rename the parser's entry point."));
//! # Ok(())
//! # }
//! ```
//!
//! A file is reached from its root, folder by folder, and never through a link. The disk has confirmed what an append
//! acknowledges as durable; a replaced file is the old one or the new one, never a part.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "it is a host: what the core may not touch is touched here"
)]

mod agents;
mod append;
mod clock;
mod disk;
mod file_stat;
mod git;
mod helpers;
mod host;
mod pages;
mod process;
mod redaction;
mod refusal;
mod request;
mod session;
mod session_changes;
mod store;
mod transcript;
mod tree;

pub use append::{AppendOptions, AppendResponse, Durability};
pub use clock::Clock;
pub use helpers::{Command, Count, Embed, Helpers, Progress, Strategy, Summarize, Summary, SummaryPrompt};
pub use pages::{MessageFeed, Pages};
pub use redaction::Rules;
pub use session::{Compact, Resume, Session};
pub use store::{Conversation, Import, Importable, Options, Store, ToolOutputs, WriteForAgent};
pub use transcript::read_transcript;
