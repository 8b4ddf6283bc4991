//! How messages are appended, and what that wrote.

use alloc::vec::Vec;

use crate::record::message::{self, Message};
use crate::record::scan::records;
use crate::shapes::Format;

/// How safe a message is once an append has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The disk has confirmed it.
    #[default]
    Durable,
    /// The system has it: it survives the end of this process, not that of the machine.
    Buffered,
}

/// How messages are appended.
#[derive(Clone, Copy, Debug)]
pub struct AppendOptions {
    /// How safe they are to be before the call ends; on the disk unless given.
    pub durability: Durability,
    /// In whose shape they are given. Unless given it is leftoff's own; what is a provider's whole answer tells its own.
    pub format: Option<Format>,
    /// A paused session is active again with them; it is unless given.
    pub revives: bool,
}

impl Default for AppendOptions {
    fn default() -> AppendOptions {
        AppendOptions { durability: Durability::Durable, format: None, revives: true }
    }
}

/// What an append wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendResponse {
    pub(super) lines: Vec<u8>,
}

impl AppendResponse {
    /// The lines as they are in the log, a JSON object each.
    pub fn lines(&self) -> &[u8] {
        &self.lines
    }

    /// The messages as they are stored. They are read from their lines when they are asked for: most never are.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// let appended = session.append(r#"{"role":"user","content":"Hello"}"#, Default::default())?;
    /// assert_eq!(appended.messages()[0].content.as_str(), "Hello");
    /// # Ok(())
    /// # }
    /// ```
    pub fn messages(&self) -> Vec<Message> {
        records(&self.lines).filter_map(|record| message::read(&record).0).collect()
    }
}
