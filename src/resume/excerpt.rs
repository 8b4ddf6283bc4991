//! Excerpts a text around the words of a question: the part that has most of them, and what follows.

use alloc::vec::Vec;
use core::ops::Range;

use super::log_match::ExcerptPart;
use crate::json::text::grapheme_boundary;
use crate::recall::terms::{Field, TermAnalyzer, strip_signs};

// Words within this many bytes stand together.
const MAX_CLUSTER_BYTES: usize = 200;
// The bytes shown before the first of them, and from there on.
const LEAD_BYTES: usize = 60;
const EXCERPT_BYTES: usize = 240;

/// The searched words of a text, with the term of each.
#[derive(Debug)]
pub(crate) struct MarkedText<'a> {
    text: &'a str,
    // The places of the words, with a bit for each term.
    words: Vec<(Range<usize>, u64)>,
}

impl<'a> MarkedText<'a> {
    /// Marks the words of a text. `number` returns the number, below 64, of a searched term.
    pub fn new(
        text: &'a str,
        number: &dyn Fn(&str) -> Option<usize>,
        analysis: &mut TermAnalyzer,
    ) -> MarkedText<'a> {
        let mut words = Vec::new();
        for word in text.split_whitespace() {
            let mut terms = 0;
            analysis.for_each_term(word, Field::Said, &mut |term| {
                terms |= number(term).map_or(0, |number| 1 << number);
            });
            if terms != 0 {
                let inner = strip_signs(word);
                let start = inner.as_ptr() as usize - text.as_ptr() as usize;
                words.push((start..start + inner.len(), terms));
            }
        }
        MarkedText { text, words }
    }

    /// Returns the terms in the text, a bit for each.
    pub fn found_terms(&self) -> u64 {
        self.words.iter().fold(0, |all, (_, terms)| all | terms)
    }

    /// Returns the shortest word of a term.
    #[cfg(feature = "interop")]
    pub fn find_word(&self, term: usize) -> Option<&'a str> {
        let having = self.words.iter().filter(|(_, terms)| terms >> term & 1 == 1);
        having.map(|(place, _)| &self.text[place.clone()]).min_by_key(|word| word.len())
    }

    /// Returns the excerpt with its words marked, from where the most valuable terms stand together. `worth` has the
    /// weight of each term.
    pub fn excerpt(&self, worth: &[f32]) -> Vec<ExcerptPart> {
        let best = self.best_word(worth);
        let at = best.map_or(0, |nth| self.words[nth].0.start);
        let start = self.excerpt_start(at);
        let end = grapheme_boundary(self.text, start + EXCERPT_BYTES, true);
        let mut parts = Vec::new();
        let mut done = start;
        for (place, _) in self.words.iter().filter(|(place, _)| start <= place.start && place.end <= end) {
            parts.push(ExcerptPart { text: self.text[done..place.start].into(), is_hit: false });
            parts.push(ExcerptPart { text: self.text[place.clone()].into(), is_hit: true });
            done = place.end;
        }
        parts.push(ExcerptPart { text: self.text[done..end].trim_end().into(), is_hit: false });
        parts.retain(|part| !part.text.is_empty());
        parts
    }

    // Returns the first word of the group with the highest weight.
    fn best_word(&self, worth: &[f32]) -> Option<usize> {
        let mut best = None;
        let mut most = 0.0;
        for (nth, (place, _)) in self.words.iter().enumerate() {
            let together = self.words[nth..]
                .iter()
                .take_while(|(other, _)| other.end <= place.start + MAX_CLUSTER_BYTES);
            let terms = together.fold(0, |all, (_, terms)| all | terms);
            let sum: f32 = worth
                .iter()
                .enumerate()
                .filter(|(term, _)| terms >> term & 1 == 1)
                .map(|(_, worth)| worth)
                .sum();
            if sum > most {
                (best, most) = (Some(nth), sum);
            }
        }
        best
    }

    // Returns the beginning of the line or the sentence, unless that is far.
    fn excerpt_start(&self, at: usize) -> usize {
        let near = grapheme_boundary(self.text, at.saturating_sub(LEAD_BYTES), false);
        let before = &self.text[near..at];
        let line = before.rfind('\n').map(|feed| feed + 1);
        let sentence = before.rfind(". ").map(|stop| stop + 2);
        near + line.or(sentence).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;

    use super::*;

    fn check(text: &str, sought: &[&str], expected: &str) {
        let mut words = TermAnalyzer::default();
        let number = |term: &str| sought.iter().position(|one| *one == term);
        let marked = MarkedText::new(text, &number, &mut words);
        let shown: String = marked
            .excerpt(&[1.0; 8])
            .iter()
            .map(|part| if part.is_hit { format!("<{}>", part.text) } else { part.text.clone() })
            .collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn words_are_marked_in_all_their_forms_and_as_parts_of_names() {
        check("Ran the parsers, twice.", &["parser", "run"], "<Ran> the <parsers>, twice.");
        check("fn parseConfig() {}", &["config"], "fn <parseConfig>() {}");
        check("cafe\u{301}, bar", &["cafe"], "<cafe\u{301}>, bar");
        check("Nothing here", &["parser"], "Nothing here");
        check("", &["parser"], "");
    }

    #[test]
    fn what_is_shown_begins_where_most_words_stand_together() {
        let far = "word ".repeat(100);
        let text = format!("The parser is old. {far}\nThe parser needs a config.\nIt is in config.toml now.");
        check(
            &text,
            &["parser", "config", "need"],
            "The <parser> <needs> a <config>.\nIt is in <config.toml> now.",
        );
    }
}
