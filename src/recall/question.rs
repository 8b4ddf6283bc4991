//! Questions: the terms to look for, and whether a text asks for anything at all.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use crate::json::text::grapheme_boundary;
use crate::plain::wrapping;
use crate::recall::english::{MONTHS, is_filler, is_order};
use crate::recall::terms::{Field, TermAnalyzer, ordinal_number, strip_signs};
use crate::time;

// The question in a long message, such as a pasted log, is at its ends.
const HEAD_BYTES: usize = 4096;
const TAIL_BYTES: usize = 1024;
/// The most terms in a question: each is one bit of a `u64`.
pub(crate) const MAX_TERMS: usize = 64;

// `summarize`, `summary`, `overview`, `recap` as terms.
const OVERVIEW_TERMS: [&str; 5] = ["summar", "summari", "summaris", "overview", "recap"];

/// A text to look for, as terms.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Question {
    /// The terms, each once, in the order of the text.
    pub terms: Vec<Term>,
    /// The text itself.
    pub text: String,
    /// True if the text is an order; then only messages with one of its names are of use.
    pub is_order: bool,
    // The parts of a date that the text names.
    dates: Vec<DatePart>,
    // The indexes of the terms, sorted by their texts.
    sorted_terms: Vec<usize>,
}

/// A term of a question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    /// The term as the analysis returns it.
    pub text: String,
    /// The word that it comes from, as written.
    pub word: String,
    /// Its weight among the terms: how often the question has it, less if it only resembles a word of the question.
    pub weight: f32,
    /// True if it names something: an identifier, a file, a person, a place.
    pub is_name: bool,
    /// Why it is looked for.
    pub reason: TermReason,
}

// A part of a date.
#[derive(Clone, Debug, PartialEq)]
struct DatePart {
    // The range of this part in a stored time.
    place: Range<usize>,
    number: u32,
}

const YEAR: Range<usize> = 0..4;
const MONTH: Range<usize> = 5..7;
const DAY: Range<usize> = 8..10;

/// Why a term is looked for, from the best reason to the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TermReason {
    /// It is a word of the question.
    Word,
    /// It begins with a word of the question that no message has.
    #[cfg(feature = "interop")]
    Prefix,
    /// Its spelling is that of a word that no message has, or close to it.
    #[cfg(feature = "interop")]
    Spelling,
}

impl Question {
    /// Reads a user's message in a conversation, without what a client put around it and without small talk that asks
    /// for nothing. A question without terms matches nothing.
    pub fn new(message: &str, words: &mut TermAnalyzer) -> Question {
        let mut question = Question::default();
        let passage: Vec<&str> = wrapping::user_words(message).into_iter().flat_map(head_and_tail).collect();
        question.text = message.trim().into();
        question.is_order = passage.first().is_some_and(|text| begins_with_order(text));
        let is_meant = |word: &str| !is_filler(word.trim_matches(|char: char| !char.is_alphanumeric()));
        passage.into_iter().for_each(|text| question.add_text(text, is_meant, words));
        question
    }

    /// Reads a typed search: whoever types one means every word, and all words equally.
    #[cfg(feature = "interop")]
    pub fn from_query(text: &str, words: &mut TermAnalyzer) -> Question {
        let mut question = Question { text: text.trim().into(), ..Question::default() };
        head_and_tail(text).into_iter().for_each(|text| question.add_text(text, |_| true, words));
        question.terms.iter_mut().for_each(|term| term.weight = 1.0);
        question
    }

    /// Returns a term's index.
    pub fn find_term(&self, term: &str) -> Option<usize> {
        let found = self.sorted_terms.binary_search_by(|place| self.terms[*place].text.as_str().cmp(term));
        found.ok().map(|at| self.sorted_terms[at])
    }

    /// Returns the share of the question's date that a time matches, from 0 to 1; the time is in seconds since 1970. A
    /// month or a day counts only together with the other.
    pub fn nearness_in_time(&self, seconds: u32) -> f32 {
        if self.dates.is_empty() {
            return 0.0;
        }
        let time = time::format(i64::from(seconds) * 1000);
        let is_then =
            |date: &&DatePart| time.get(date.place.clone()).and_then(parse_number) == Some(date.number);
        let near = self.dates.iter().filter(is_then).count();
        near as f32 / self.dates.len() as f32
    }

    /// Adds terms that stand for others, as many as there is room for.
    #[cfg(feature = "interop")]
    pub fn add_terms(&mut self, terms: Vec<Term>) {
        terms.into_iter().for_each(|term| self.add_term(term));
    }

    fn add_text(&mut self, text: &str, is_meant: impl Fn(&str) -> bool, words: &mut TermAnalyzer) {
        let mut is_first = true;
        let has = |place| text.split_whitespace().filter_map(parse_date_part).any(|date| date.place == place);
        let is_dated = has(MONTH) && has(DAY);
        for word in text.split_whitespace() {
            let date = parse_date_part(word).filter(|date| is_dated || date.place == YEAR);
            // A message from a date seldom names that date.
            let is_name = date.is_none() && names_something(word, is_first);
            self.dates.extend(date);
            is_first = word.ends_with(['.', '!', '?', ':']);
            if !is_meant(word) {
                continue;
            }
            let written = strip_signs(word);
            words.for_each_term(word, Field::Said, &mut |text| {
                let (text, word) = (text.into(), written.into());
                self.add_term(Term { text, word, weight: 1.0, is_name, reason: TermReason::Word });
            });
        }
    }

    fn add_term(&mut self, term: Term) {
        match self.sorted_terms.binary_search_by(|place| self.terms[*place].text.cmp(&term.text)) {
            Ok(at) => {
                let known = &mut self.terms[self.sorted_terms[at]];
                known.weight += term.weight;
                known.is_name |= term.is_name;
            }
            Err(_) if self.terms.len() == MAX_TERMS => {}
            Err(at) => {
                self.sorted_terms.insert(at, self.terms.len());
                self.terms.push(term);
            }
        }
    }
}

fn head_and_tail(text: &str) -> Vec<&str> {
    if text.len() <= HEAD_BYTES + TAIL_BYTES {
        return Vec::from([text]);
    }
    Vec::from([
        &text[..grapheme_boundary(text, HEAD_BYTES, false)],
        &text[grapheme_boundary(text, text.len() - TAIL_BYTES, true)..],
    ])
}

// True if a text begins with an order. `Can you run it?` does; `Did you run it?` asks.
fn begins_with_order(text: &str) -> bool {
    let letters = |word: &str| word.trim_matches(|char: char| !char.is_alphanumeric()).to_lowercase();
    let mut words = text.split_whitespace().map(letters).filter(|word| !is_filler(word));
    words.next().is_some_and(|first| is_order(&first))
}

// Reads a word as a part of a date.
fn parse_date_part(word: &str) -> Option<DatePart> {
    let word = strip_signs(word);
    let month = MONTHS.iter().position(|name| *name == word).map(|month| month as u32 + 1);
    match (month, parse_number(word)) {
        (Some(number), _) => Some(DatePart { place: MONTH, number }),
        (_, Some(number @ 2000..2100)) => Some(DatePart { place: YEAR, number }),
        (_, Some(number @ 1..32)) => Some(DatePart { place: DAY, number }),
        _ => None,
    }
}

// Reads `8` or `8th`.
fn parse_number(word: &str) -> Option<u32> {
    ordinal_number(word).unwrap_or(word).parse().ok()
}

// True if a word names something: by a capital inside a sentence, or by letters and signs as in code.
fn names_something(word: &str, is_first: bool) -> bool {
    let inner = word.trim_matches(|char: char| !char.is_alphanumeric());
    let is_quoted = word.starts_with(['`', '"', '\'']);
    let has = |is: fn(char) -> bool| inner.chars().any(is);
    let is_capital = inner.starts_with(char::is_uppercase) && inner.chars().nth(1).is_some();
    let is_mixed = inner.chars().skip(1).any(char::is_uppercase);
    let is_code =
        has(|char| matches!(char, '_' | '/' | '.' | ':' | '(')) || has(|char| char.is_ascii_digit());
    is_quoted || is_code || is_mixed || is_capital && !is_first
}

/// True if somebody asks for a summary of the conversation, not for one thing.
pub(crate) fn seeks_overview(terms: &[Term]) -> bool {
    terms.iter().any(|term| OVERVIEW_TERMS.contains(&&*term.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_says_first_what_is_to_be_done_whatever_is_said_for_courtesy() {
        for order in ["Fix the parser.", "Please fix the parser.", "Can you please run it?", "ok, now run it"]
        {
            assert!(begins_with_order(order), "{order}");
        }
        for question in
            ["Did you run it?", "Which parser is it, please?", "Where does the fix stand?", "please"]
        {
            assert!(!begins_with_order(question), "{question}");
        }
    }
}
