//! Counts tokens: exactly if a vocabulary is loaded, else by an estimate, named as such.
//!
//! The counter is our own; tiktoken-rs is the reference in tests. In Wasm, tiktoken-rs took as long as npm's counters
//! at first and twice as long warm, was 330 KB of the download, and panics from a million blanks on. Natively the
//! crates `toktok-rs` (300 to 600 ms to load, 69 MB), `tiktoken` (70 ms; data of its own, 100 KB more) and `bpe` (16
//! MB of data, compressed) are as fast or faster, but each costs a page more than it may. So a scanner over eight
//! classes of characters follows the patterns without a regular expression; a piece of up to 15 bytes is looked up as
//! one or two machine words; and a piece that is no token is merged by pairs of ranks, the lowest first. Tokens are
//! only counted, no ids are made.

#[cfg(feature = "tokens")]
mod classes;
pub mod cost;
mod estimate;
pub(crate) mod images;
#[cfg(feature = "tokens")]
mod merge;
pub mod models;
#[cfg(feature = "tokens")]
mod pairs;
#[cfg(feature = "tokens")]
mod pieces;
pub mod prices;
mod units;
mod vocabulary;
#[cfg(feature = "tokens")]
mod words;

use alloc::format;

use serde::Serialize;

pub use estimate::estimate;
pub use images::Images;
pub use vocabulary::Vocabulary;

use crate::error::{Code, Error};
use crate::record::message::Message;

/// The encoding by which a text was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Encoding {
    /// OpenAI's o200k, exact.
    #[serde(rename = "o200k_base")]
    O200kBase,
    /// OpenAI's cl100k, exact.
    #[serde(rename = "cl100k_base")]
    Cl100kBase,
    /// The estimate, [`estimate`].
    #[serde(rename = "estimate-1")]
    Estimate1,
}

impl Encoding {
    /// Returns the stored name.
    pub fn as_str(self) -> &'static str {
        match self {
            Encoding::O200kBase => "o200k_base",
            Encoding::Cl100kBase => "cl100k_base",
            Encoding::Estimate1 => "estimate-1",
        }
    }

    /// Returns the encoding of this name. o200k_harmony differs from o200k_base only in special tokens, which a text
    /// has none of.
    pub fn parse(name: &str) -> Option<Encoding> {
        match name {
            "o200k_base" | "o200k_harmony" => Some(Encoding::O200kBase),
            "cl100k_base" => Some(Encoding::Cl100kBase),
            "estimate-1" => Some(Encoding::Estimate1),
            _ => None,
        }
    }
}

impl Encoding {
    /// Chooses the encoding: that of a name, else of a model, else o200k_base.
    ///
    /// # Errors
    /// `no_counter` for an unknown name or model.
    ///
    /// ```
    /// use leftoff::tokens::Encoding;
    ///
    /// assert_eq!(Encoding::resolve(None, Some("openai/gpt-4o"))?, Encoding::O200kBase);
    /// assert_eq!(Encoding::resolve(Some("estimate-1"), Some("gpt-4o"))?, Encoding::Estimate1);
    /// assert_eq!(Encoding::resolve(Some("morse"), None).map_err(|refused| refused.code.as_str()), Err("no_counter"));
    /// # Ok::<(), leftoff::error::Error>(())
    /// ```
    pub fn resolve(name: Option<&str>, model: Option<&str>) -> Result<Encoding, Error> {
        let unknown = match (name, model) {
            (None, None) => return Ok(Encoding::O200kBase),
            (Some(name), _) => match Encoding::parse(name) {
                Some(encoding) => return Ok(encoding),
                None => format!(
                    "expected the encoding \"o200k_base\", \"cl100k_base\" or \"estimate-1\", but found \"{name}\" instead"
                ),
            },
            (None, Some(model)) => match models::find_model(model) {
                Some(model) => return Ok(model.encoding),
                None => format!(
                    "unknown model \"{model}\": give an \"encoding\", such as o200k_base or estimate-1"
                ),
            },
        };
        Err(Error::new(Code::NoCounter, unknown))
    }
}

/// A count, and the encoding that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The number of tokens.
    pub tokens: u32,
    /// The encoding; for a sum, the estimate if any part is one.
    pub encoding: Encoding,
}

/// How a message is counted when it is stored.
#[derive(Clone, Copy, Debug)]
pub enum Counting<'a> {
    /// Not at all: readers do without.
    Off,
    /// By the estimate.
    Estimate,
    /// By a vocabulary.
    Exact(&'a Vocabulary),
}

impl<'a> Counting<'a> {
    /// Counts by the vocabulary if there is one, else by the estimate.
    pub fn with_vocabulary(vocabulary: Option<&'a Vocabulary>) -> Counting<'a> {
        vocabulary.map_or(Counting::Estimate, Counting::Exact)
    }

    /// Counts a message.
    pub fn count_message(self, message: &Message) -> Option<Count> {
        match self {
            Counting::Off => None,
            Counting::Estimate => Some(cost::message(message, None)),
            Counting::Exact(vocabulary) => Some(cost::message(message, Some(vocabulary))),
        }
    }
}

impl Count {
    /// Adds two counts.
    pub fn plus(self, other: Count) -> Count {
        Count {
            tokens: self.tokens.saturating_add(other.tokens),
            encoding: self.encoding.max(other.encoding),
        }
    }
}

/// Counts a text. Special tokens in it count as text. Without a vocabulary, the estimate is used.
pub fn count(text: &str, vocabulary: Option<&Vocabulary>) -> Count {
    match vocabulary {
        Some(vocabulary) => Count { tokens: vocabulary.count(text), encoding: vocabulary.encoding() },
        None => Count { tokens: estimate(text), encoding: Encoding::Estimate1 },
    }
}

#[cfg(all(test, feature = "o200k"))]
mod tests {
    use super::*;

    #[test]
    fn a_sum_with_an_estimate_in_it_is_an_estimate() {
        let exact = Count { tokens: u32::MAX, encoding: Encoding::O200kBase };
        let sum = exact.plus(count("word", None));
        assert_eq!(sum, Count { tokens: u32::MAX, encoding: Encoding::Estimate1 });
    }

    #[test]
    fn an_encoding_is_found_by_its_name() {
        for encoding in [Encoding::O200kBase, Encoding::Cl100kBase, Encoding::Estimate1] {
            assert_eq!(Encoding::parse(encoding.as_str()), Some(encoding));
        }
        assert_eq!(Encoding::parse("o200k_harmony"), Some(Encoding::O200kBase));
        assert_eq!(Encoding::parse("p50k_base"), None);
    }
}
