//! Sessions on a local disk, for Rust programs: the feature `fs`, on Unix.
//!
//! It answers the core's needs with the system's files, and has no rule of its own: what is asked, what is answered and what
//! lies on the disk are those of the JavaScript package, and several programs of either kind may work at one home at once.
//! A store stays in the thread that opened it. Another thread opens one of its own: to the core, that is another process.
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
//! A file is reached from its root, folder by folder, and never through a link. What an append acknowledges as durable the
//! disk has confirmed; a file that is replaced is the old one or the new one, never a part.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "it is a host: what the core may not touch is touched here"
)]

mod agents;
mod appended;
mod clock;
mod disk;
mod git;
mod helpers;
mod host;
mod look;
mod pages;
mod process;
mod refusal;
mod request;
mod rules;
mod saying;
mod session;
mod store;
mod transcript;
mod tree;

pub use appended::{AppendOptions, Appended, Durability};
pub use clock::Clock;
pub use helpers::{Asked, Command, Count, Embed, Helpers, Progress, Strategy, Summarize, Summary};
pub use pages::{Followed, Pages};
pub use rules::Rules;
pub use session::{Compact, Resume, Session};
pub use store::{Conversation, Import, Options, Store, ToolOutputs, WriteForAgent};
pub use transcript::read_transcript;
