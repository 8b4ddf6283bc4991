//! Counting tokens: exactly where a vocabulary is loaded, else by an estimate that says so.

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

/// By what a text was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Encoding {
    /// OpenAI's o200k, exactly.
    #[serde(rename = "o200k_base")]
    O200kBase,
    /// OpenAI's cl100k, exactly.
    #[serde(rename = "cl100k_base")]
    Cl100kBase,
    /// [`estimate`].
    #[serde(rename = "estimate-1")]
    Estimate1,
}

impl Encoding {
    /// The word as it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Encoding::O200kBase => "o200k_base",
            Encoding::Cl100kBase => "cl100k_base",
            Encoding::Estimate1 => "estimate-1",
        }
    }

    /// The encoding of this name. o200k_harmony has other special tokens than o200k_base, which in a text are none.
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
    /// By what somebody wants to have a text counted: the encoding of a name, else that of a model, else o200k_base.
    ///
    /// # Errors
    /// `no_counter` for a name or a model that is not known.
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

/// A count, and by what it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// How many tokens.
    pub tokens: u32,
    /// By what; of a sum, the estimate where any part is one.
    pub encoding: Encoding,
}

/// Whether a message is counted when it is stored, and by whom.
#[derive(Clone, Copy, Debug)]
pub enum Counting<'a> {
    /// It is not: readers do without.
    Off,
    /// By the estimate.
    Estimate,
    /// By a vocabulary.
    Exact(&'a Vocabulary),
}

impl<'a> Counting<'a> {
    /// By a vocabulary where there is one, else by the estimate.
    pub fn with_vocabulary(vocabulary: Option<&'a Vocabulary>) -> Counting<'a> {
        vocabulary.map_or(Counting::Estimate, Counting::Exact)
    }

    /// What a message costs.
    pub fn count_message(self, message: &Message) -> Option<Count> {
        match self {
            Counting::Off => None,
            Counting::Estimate => Some(cost::message(message, None)),
            Counting::Exact(vocabulary) => Some(cost::message(message, Some(vocabulary))),
        }
    }
}

impl Count {
    /// The sum of two counts.
    pub fn plus(self, other: Count) -> Count {
        Count {
            tokens: self.tokens.saturating_add(other.tokens),
            encoding: self.encoding.max(other.encoding),
        }
    }
}

/// Counts a text. Special tokens in it are text. Without a vocabulary it is the estimate.
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
