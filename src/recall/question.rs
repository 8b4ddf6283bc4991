//! What is asked: the terms of a question, and whether it asks for anything at all.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::text::boundary;
use crate::plain::wrapping;
use crate::recall::english::{MONTHS, is_filler, is_order};
use crate::recall::words::{Field, Words, inner, ordinal};
use crate::time;

// Of a long message, as a pasted log, what is asked stands at its ends.
const HEAD: usize = 4096;
const TAIL: usize = 1024;
/// So many terms are looked for: a bit each.
pub(crate) const MOST_TERMS: usize = 64;

/// What is looked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Question {
    /// Its terms, each once, in the order in which they are asked.
    pub terms: Vec<Term>,
    /// What was said.
    pub said: String,
    /// It tells somebody to do something: only what has one of its names is of use.
    pub is_order: bool,
    // What a time has, as it is written, that it names one by: `2023-`, `-05-`, `-08T`.
    times: Vec<String>,
    // The places of the terms, sorted by their texts.
    sorted: Vec<usize>,
}

/// A term of a question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    /// As the analysis gives it.
    pub text: String,
    /// The word that it comes from, as it was written.
    pub word: String,
    /// What it is worth beside the others: how often it is asked, less where it only resembles what was.
    pub weight: f32,
    /// It names something: an identifier, a file, a person, a place.
    pub is_name: bool,
    /// Why it is looked for.
    pub how: How,
}

/// Why a term is looked for, from the best reason to the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum How {
    /// It is a word of the question.
    Word,
    /// It begins as one that nobody said.
    #[cfg(feature = "interop")]
    Prefix,
    /// It is spelt as one that nobody said, or nearly.
    #[cfg(feature = "interop")]
    Spelling,
}

impl Question {
    /// Of a user's message in a conversation, without what a client put around it, and without what people say to each other
    /// that asks for nothing. A question without terms matches nothing.
    pub fn new(message: &str, words: &mut Words) -> Question {
        let mut question = Question::default();
        let said: Vec<&str> = wrapping::said(message).into_iter().flat_map(ends).collect();
        question.said = message.trim().into();
        question.is_order = said.first().is_some_and(|text| tells(text));
        let is_meant = |word: &str| !is_filler(word.trim_matches(|char: char| !char.is_alphanumeric()));
        said.into_iter().for_each(|text| question.ask(text, is_meant, words));
        question
    }

    /// Of what somebody typed to find something: who does that means every word, and no word more than another.
    #[cfg(feature = "interop")]
    pub fn typed(text: &str, words: &mut Words) -> Question {
        let mut question = Question { said: text.trim().into(), ..Question::default() };
        question.ask(text, |_| true, words);
        question.terms.iter_mut().for_each(|term| term.weight = 1.0);
        question
    }

    /// The place of a term.
    pub fn find(&self, term: &str) -> Option<usize> {
        let found = self.sorted.binary_search_by(|place| self.terms[*place].text.as_str().cmp(term));
        found.ok().map(|at| self.sorted[at])
    }

    /// How much of the time that it names is that one, in seconds since 1970: from 0 to 1.
    pub fn nearness(&self, seconds: u32) -> f32 {
        let time = time::format(i64::from(seconds) * 1000);
        let near = self.times.iter().filter(|named| time.contains(named.as_str())).count();
        near as f32 / self.times.len().max(1) as f32
    }

    /// Takes terms in that stand for others, as many as there is room for.
    #[cfg(feature = "interop")]
    pub fn extend(&mut self, terms: Vec<Term>) {
        terms.into_iter().for_each(|term| self.push(term));
    }

    fn ask(&mut self, text: &str, is_meant: impl Fn(&str) -> bool, words: &mut Words) {
        let mut is_first = true;
        let has = |is: fn(&str) -> bool| text.split_whitespace().map(inner).any(is);
        let is_dated = has(|word| month(word).is_some()) && has(|word| number(word).is_some());
        for word in text.split_whitespace() {
            let time = time_of(inner(word), is_dated);
            // What was said then seldom says when it was.
            let is_name = time.is_none() && names(word, is_first);
            self.times.extend(time);
            is_first = word.ends_with(['.', '!', '?', ':']);
            if !is_meant(word) {
                continue;
            }
            let written = inner(word);
            words.terms(word, Field::Said, &mut |text| {
                let (text, word) = (text.into(), written.into());
                self.push(Term { text, word, weight: 1.0, is_name, how: How::Word });
            });
        }
    }

    fn push(&mut self, term: Term) {
        match self.sorted.binary_search_by(|place| self.terms[*place].text.cmp(&term.text)) {
            Ok(at) => {
                let known = &mut self.terms[self.sorted[at]];
                known.weight += term.weight;
                known.is_name |= term.is_name;
            }
            Err(_) if self.terms.len() == MOST_TERMS => {}
            Err(at) => {
                self.sorted.insert(at, self.terms.len());
                self.terms.push(term);
            }
        }
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

// What a time has that a word names: a year; a month or a day where there is one of the other, too.
fn time_of(word: &str, is_dated: bool) -> Option<String> {
    if let Some(month) = month(word) {
        return is_dated.then(|| format!("-{month:02}-"));
    }
    let number = number(word)?;
    match number.len() {
        4 if number.starts_with("20") => Some(format!("{number}-")),
        1 | 2 if is_dated => Some(format!("-{number:0>2}T")),
        _ => None,
    }
}

fn month(word: &str) -> Option<usize> {
    MONTHS.iter().position(|name| *name == word).map(|month| month + 1)
}

// `8`, `8th`.
fn number(word: &str) -> Option<&str> {
    let number = ordinal(word).unwrap_or(word);
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
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
