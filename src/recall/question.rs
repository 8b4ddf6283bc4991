//! What is asked: the terms of a question, and whether it asks for anything at all.

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::text::boundary;
use crate::plain::wrapping;
use crate::recall::english::{is_filler, is_order};
use crate::recall::words::{Field, Words};

// Of a long message, as a pasted log, what is asked stands at its ends.
const HEAD: usize = 4096;
const TAIL: usize = 1024;
const MOST_TERMS: usize = 64;

/// The terms that are looked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Question {
    /// Each once, sorted.
    pub terms: Vec<Term>,
    /// What was said.
    pub said: String,
    /// It tells somebody to do something: only what has one of its names is of use.
    pub is_order: bool,
}

/// A term of a question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    /// As the analysis gives it.
    pub text: String,
    /// The word that it comes from, as it was written.
    pub word: String,
    /// How often it stands there.
    pub weight: f32,
    /// It names something: an identifier, a file, a person, a place.
    pub is_name: bool,
}

impl Question {
    /// Of a user's message, without what a client put around it. A question without terms matches nothing.
    pub fn new(message: &str, words: &mut Words) -> Question {
        let mut question = Question::default();
        let said: Vec<&str> = wrapping::said(message).into_iter().flat_map(ends).collect();
        question.said = message.trim().into();
        question.is_order = said.first().is_some_and(|text| tells(text));
        for text in said {
            let mut is_first = true;
            for word in text.split_whitespace() {
                question.take(word, is_first, words);
                is_first = word.ends_with(['.', '!', '?', ':']);
            }
        }
        question
    }

    /// The place of a term.
    pub fn find(&self, term: &str) -> Option<usize> {
        self.terms.binary_search_by(|one| one.text.as_str().cmp(term)).ok()
    }

    fn take(&mut self, word: &str, is_first: bool, words: &mut Words) {
        if is_filler(word.trim_matches(|char: char| !char.is_alphanumeric())) {
            return;
        }
        let is_name = names(word, is_first);
        let written = word.trim_matches(|char: char| !char.is_alphanumeric());
        let term_of = |term: &str| Term { text: term.into(), word: written.into(), weight: 1.0, is_name };
        words.terms(word, Field::Said, &mut |term| match self
            .terms
            .binary_search_by(|one| one.text.as_str().cmp(term))
        {
            Ok(place) => {
                self.terms[place].weight += 1.0;
                self.terms[place].is_name |= is_name;
            }
            Err(_) if self.terms.len() == MOST_TERMS => {}
            Err(place) => self.terms.insert(place, term_of(term)),
        });
    }
}

fn ends(text: &str) -> Vec<&str> {
    if text.len() <= HEAD + TAIL {
        return Vec::from([text]);
    }
    Vec::from([&text[..boundary(text, HEAD, false)], &text[boundary(text, text.len() - TAIL, true)..]])
}

// Whether it begins with what somebody is to do. `Can you run it?` does; `Did you run it?` asks.
fn tells(text: &str) -> bool {
    let letters = |word: &str| word.trim_matches(|char: char| !char.is_alphanumeric()).to_lowercase();
    let mut words = text.split_whitespace().map(letters).filter(|word| !is_filler(word));
    words.next().is_some_and(|first| is_order(&first))
}

// Whether a word names something: by a capital that begins no sentence, or by letters and signs as code has them.
fn names(word: &str, is_first: bool) -> bool {
    let inner = word.trim_matches(|char: char| !char.is_alphanumeric());
    let is_quoted = word.starts_with(['`', '"', '\'']);
    let has = |is: fn(char) -> bool| inner.chars().any(is);
    let is_capital = inner.starts_with(char::is_uppercase) && inner.chars().nth(1).is_some();
    let is_mixed = inner.chars().skip(1).any(char::is_uppercase);
    let is_code =
        has(|char| matches!(char, '_' | '/' | '.' | ':' | '(')) || has(|char| char.is_ascii_digit());
    is_quoted || is_code || is_mixed || is_capital && !is_first
}
