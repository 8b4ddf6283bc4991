//! An append's options and its result.

use alloc::vec::Vec;

use crate::record::message::{self, Message};
use crate::record::scan::records;
use crate::shapes::Format;

/// How safe a message is when an append returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The disk has confirmed it.
    #[default]
    Durable,
    /// The system has it: it survives the end of this process, not that of the machine.
    Buffered,
}

/// The options of an append.
#[derive(Clone, Copy, Debug)]
pub struct AppendOptions {
    /// How safe the messages must be before the call returns; on the disk unless given.
    pub durability: Durability,
    /// The messages' shape: leftoff's own unless given; a provider's whole answer is recognized by itself.
    pub format: Option<Format>,
    /// Whether the append makes a paused session active again; it does unless given.
    pub revives: bool,
}

impl Default for AppendOptions {
    fn default() -> AppendOptions {
        AppendOptions { durability: Durability::Durable, format: None, revives: true }
    }
}

/// The result of an append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendResponse {
    pub(super) lines: Vec<u8>,
}

impl AppendResponse {
    /// The lines as written to the log, a JSON object each.
    pub fn lines(&self) -> &[u8] {
        &self.lines
    }

    /// The messages as stored. They are parsed from their lines only when asked for: most never are.
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
