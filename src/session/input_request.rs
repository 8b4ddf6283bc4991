//! The inputs that a context build or a message reader requests.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::record::span::Span;

/// A requested input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum InputRequest {
    /// A written summary, if there is one, of the messages in a region of the log.
    Summary {
        /// What it may stand for: up to the end of this, or to any later message.
        range: Span,
        /// It stands for all that lies before this byte, at least.
        least: u64,
        /// Its token limit.
        tokens: u32,
    },
    /// The bytes of a blob.
    Blob {
        /// Its SHA-256, hex.
        id: String,
    },
    /// Bytes of the messages log.
    Bytes {
        /// The range.
        range: Span,
    },
    /// The messages that a strategy of the host's chooses.
    Strategy {
        /// Its name.
        name: String,
        /// How many tokens it may use.
        budget: u32,
    },
    /// A vector for each text, all of one length: the nearer in meaning two texts are, the smaller the angle between
    /// theirs. The first text is the question. They are given as bytes: for each vector its length and its numbers,
    /// all of 32 bits, little-endian.
    Vectors {
        /// The texts.
        texts: Vec<String>,
    },
    /// The token count of each text, in the wanted encoding; or, for o200k_base, its vocabulary.
    Counts {
        /// The name of the encoding.
        encoding: String,
        /// The texts.
        texts: Vec<String>,
    },
}
