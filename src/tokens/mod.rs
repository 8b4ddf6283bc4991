//! Counting tokens: exactly where a vocabulary is loaded, else by an estimate that says so.

pub mod cost;
mod estimate;
mod units;
mod vocabulary;

use serde::Serialize;

pub use estimate::estimate;
pub use vocabulary::Vocabulary;

use crate::session::message::Message;

/// By what a text was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Encoding {
    /// OpenAI's o200k, exactly.
    #[serde(rename = "o200k_base")]
    O200kBase,
    /// [`estimate`].
    #[serde(rename = "estimate-1")]
    Estimate1,
}

impl Encoding {
    /// The word as it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Encoding::O200kBase => "o200k_base",
            Encoding::Estimate1 => "estimate-1",
        }
    }

    /// The encoding of this name.
    pub fn parse(name: &str) -> Option<Encoding> {
        [Encoding::O200kBase, Encoding::Estimate1].into_iter().find(|encoding| encoding.as_str() == name)
    }
}

/// A count, and by what it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// How many tokens.
    pub tokens: u32,
    /// By what; of a sum, the estimate where any part is one.
    pub by: Encoding,
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
    pub fn by(vocabulary: Option<&'a Vocabulary>) -> Counting<'a> {
        vocabulary.map_or(Counting::Estimate, Counting::Exact)
    }

    /// What a message costs.
    pub fn of(self, message: &Message) -> Option<Count> {
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
        Count { tokens: self.tokens.saturating_add(other.tokens), by: self.by.max(other.by) }
    }
}

// Until the engine is one of our own: it panics on a million blanks in one run, and both its memory and its time for one
// run grow faster than the run. At this length a byte costs up to five times what it costs in prose.
const LONGEST_RUN: usize = 64 * 1024;

/// Counts a text. Special tokens in it are text. Without a vocabulary, and for a text with an unbroken run of more
/// than 64 KiB (all blank, or without a blank), it is the estimate.
pub fn count(text: &str, vocabulary: Option<&Vocabulary>) -> Count {
    match vocabulary {
        Some(vocabulary) if !has_long_run(text) => {
            Count { tokens: vocabulary.count(text), by: vocabulary.encoding() }
        }
        Some(_) | None => Count { tokens: estimate(text), by: Encoding::Estimate1 },
    }
}

fn has_long_run(text: &str) -> bool {
    if text.len() <= LONGEST_RUN {
        return false;
    }
    let (mut blank, mut start) = (false, 0);
    for (at, c) in text.char_indices() {
        if c.is_whitespace() != blank {
            (blank, start) = (!blank, at);
        }
        if at - start >= LONGEST_RUN {
            return true;
        }
    }
    false
}

#[cfg(all(test, feature = "o200k"))]
mod tests {
    use super::*;

    #[test]
    fn a_long_unbroken_run_is_counted_by_the_estimate_and_says_so() {
        let vocabulary = Vocabulary::o200k_base();
        for unit in ["a", " ", "-", "你", "🙂"] {
            let long = unit.repeat(10_000_000 / unit.len());
            assert_eq!(count(&long, Some(&vocabulary)).by, Encoding::Estimate1, "{unit}");
            let short = unit.repeat(LONGEST_RUN / unit.len());
            assert_eq!(count(&short, Some(&vocabulary)).by, Encoding::O200kBase, "{unit}");
        }
    }

    #[test]
    fn a_sum_with_an_estimate_in_it_is_an_estimate() {
        let exact = Count { tokens: u32::MAX, by: Encoding::O200kBase };
        let sum = exact.plus(count("word", None));
        assert_eq!(sum, Count { tokens: u32::MAX, by: Encoding::Estimate1 });
    }

    #[test]
    fn an_encoding_is_found_by_its_name() {
        assert_eq!(Encoding::parse("o200k_base"), Some(Encoding::O200kBase));
        assert_eq!(Encoding::parse("cl100k_base"), None);
    }
}
