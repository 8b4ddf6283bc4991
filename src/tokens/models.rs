//! Looks up models by name: their encoding, window and image rule. The table `models.tsv` has the beginning of a name,
//! an encoding, a window in tokens, and an image rule in the form that [`Images`] parses; the longest matching
//! beginning counts. Windows are those of November 2026, by gpt-tokenizer 4.0.0 and ai-tokenizer 1.0.6; where these
//! differ, the smaller one.

use serde::Serialize;

use crate::tokens::{Encoding, Images};

const MODEL_TABLE: &str = include_str!("models.tsv");

/// The known properties of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Model {
    /// The encoding that counts: exact if the model's tokens are known, else the estimate.
    pub encoding: Encoding,
    /// The window, in tokens.
    pub window: u32,
    /// The rule for images, if the provider publishes one.
    #[serde(skip)]
    pub images: Option<Images>,
}

/// Returns the model of a name, with or without its provider: `openai/gpt-5`, `claude-sonnet-4-5`.
pub fn find_model(name: &str) -> Option<Model> {
    let name = name.rsplit('/').next()?;
    let (_, model) = rows().filter(|(beginning, _)| is_of(name, beginning)).max_by_key(|row| row.0.len())?;
    Some(model)
}

// `o1` is the beginning of `o1-2024-12-17`, but not of `o10`.
fn is_of(name: &str, beginning: &str) -> bool {
    let rest = name.get(..beginning.len()).filter(|found| found.eq_ignore_ascii_case(beginning));
    let follows = name.as_bytes().get(beginning.len());
    rest.is_some() && (beginning.ends_with('-') || follows.is_none_or(|byte| !byte.is_ascii_digit()))
}

fn rows() -> impl Iterator<Item = (&'static str, Model)> {
    MODEL_TABLE.lines().filter_map(|line| {
        let mut parts = line.split('\t');
        let (beginning, encoding, window) = (parts.next()?, parts.next()?, parts.next()?);
        let images = parts.next().and_then(Images::parse);
        Some((
            beginning,
            Model { encoding: Encoding::parse(encoding)?, window: window.parse().ok()?, images },
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_the_table_is_a_model() {
        assert_eq!(rows().count(), MODEL_TABLE.lines().count());
        assert!(MODEL_TABLE.lines().is_sorted());
        for (beginning, model) in rows() {
            assert_eq!(find_model(beginning), Some(model), "{beginning}");
        }
        // Every image rule in the table parses.
        let named = MODEL_TABLE.lines().filter(|line| line.split('\t').nth(3).is_some()).count();
        assert_eq!(rows().filter(|(_, model)| model.images.is_some()).count(), named);
    }

    #[test]
    fn the_longest_beginning_counts() {
        let window = |name| find_model(name).map(|model| model.window);
        assert_eq!(window("gpt-5.1-2025-11-13"), Some(400_000));
        assert_eq!(window("openai/gpt-5.4-mini"), Some(400_000));
        assert_eq!(window("GPT-4o-mini"), Some(128_000));
        assert_eq!(window("gpt-4-0613"), Some(8192));
        assert_eq!(window("anthropic/claude-opus-4.5"), Some(200_000));
        assert_eq!(
            [window("o10"), window("gpt-51"), window("gpt-40"), window(""), window("/"), window("über")],
            [None; 6]
        );
    }
}
