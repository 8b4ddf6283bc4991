//! What is asked of the host.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::record::span::Span;

/// What the core wants from its host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum InputRequest {
    /// A summary that somebody wrote, if there is one, of the messages in a region of the log.
    Summary {
        /// What it may stand for: up to the end of this, or to any later message.
        range: Span,
        /// It stands for all that lies before this byte, at least.
        least: u64,
        /// How many tokens it may have.
        tokens: u32,
    },
    /// The bytes of a blob.
    Blob {
        /// Its SHA-256, hex.
        id: String,
    },
    /// Bytes of the messages log.
    Bytes {
        /// Which.
        range: Span,
    },
    /// What a strategy of the host's makes of the session.
    Strategy {
        /// Its name.
        name: String,
        /// How many tokens it may use.
        budget: u32,
    },
    /// A vector of each text, all of one length: the nearer in meaning two texts are, the smaller the angle between theirs. The first
    /// text is what is asked. They are given as bytes: of each how many numbers it has, and these, all of 32 bits, little-endian.
    Vectors {
        /// The texts.
        texts: Vec<String>,
    },
    /// The token count of each text, by the encoding asked for; or, for o200k_base, its vocabulary.
    Counts {
        /// The name of the encoding.
        encoding: String,
        /// The texts.
        texts: Vec<String>,
    },
}
