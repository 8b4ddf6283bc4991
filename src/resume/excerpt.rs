//! What of a text is shown where it was found by the words of a question: the part that has most of them, and what follows.

use alloc::vec::Vec;
use core::ops::Range;

use super::search::Part;
use crate::json::text::boundary;
use crate::recall::words::{Field, Words, inner};

// In so many bytes words stand together.
const TOGETHER: usize = 200;
// So much is shown before the first of them, and from there on.
const BEFORE: usize = 60;
const SHOWN: usize = 240;

/// The words of a text that are sought, and what each stands for.
#[derive(Debug)]
pub(crate) struct Marked<'a> {
    text: &'a str,
    // Where they stand, with a bit for each term.
    words: Vec<(Range<usize>, u64)>,
}

impl<'a> Marked<'a> {
    /// `number`: of a term that is sought, its number below 64.
    pub fn new(text: &'a str, number: &dyn Fn(&str) -> Option<usize>, analysis: &mut Words) -> Marked<'a> {
        let mut words = Vec::new();
        for word in text.split_whitespace() {
            let mut terms = 0;
            analysis.terms(word, Field::Said, &mut |term| {
                terms |= number(term).map_or(0, |number| 1 << number);
            });
            if terms != 0 {
                let inner = inner(word);
                let start = inner.as_ptr() as usize - text.as_ptr() as usize;
                words.push((start..start + inner.len(), terms));
            }
        }
        Marked { text, words }
    }

    /// The terms that it has, a bit for each.
    pub fn has(&self) -> u64 {
        self.words.iter().fold(0, |all, (_, terms)| all | terms)
    }

    /// The shortest word that has a term.
    #[cfg(feature = "interop")]
    pub fn find_word(&self, term: usize) -> Option<&'a str> {
        let having = self.words.iter().filter(|(_, terms)| terms >> term & 1 == 1);
        having.map(|(place, _)| &self.text[place.clone()]).min_by_key(|word| word.len())
    }

    /// The words in their place, from where most of what is sought stands together. `worth`: of each term.
    pub fn excerpt(&self, worth: &[f32]) -> Vec<Part> {
        let best = self.best(worth);
        let at = best.map_or(0, |nth| self.words[nth].0.start);
        let start = self.start(at);
        let end = boundary(self.text, start + SHOWN, true);
        let mut parts = Vec::new();
        let mut done = start;
        for (place, _) in self.words.iter().filter(|(place, _)| start <= place.start && place.end <= end) {
            parts.push(Part { text: self.text[done..place.start].into(), is_hit: false });
            parts.push(Part { text: self.text[place.clone()].into(), is_hit: true });
            done = place.end;
        }
        parts.push(Part { text: self.text[done..end].trim_end().into(), is_hit: false });
        parts.retain(|part| !part.text.is_empty());
        parts
    }

    // The first word of those that stand together and are worth most.
    fn best(&self, worth: &[f32]) -> Option<usize> {
        let mut best = None;
        let mut most = 0.0;
        for (nth, (place, _)) in self.words.iter().enumerate() {
            let together =
                self.words[nth..].iter().take_while(|(other, _)| other.end <= place.start + TOGETHER);
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

    // Where the line begins, or the sentence, unless that is far.
    fn start(&self, at: usize) -> usize {
        let near = boundary(self.text, at.saturating_sub(BEFORE), false);
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
        let mut words = Words::default();
        let number = |term: &str| sought.iter().position(|one| *one == term);
        let marked = Marked::new(text, &number, &mut words);
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
