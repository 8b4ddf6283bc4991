//! Hints of a secret, beside the words of the rules: a token's prefix, a name, an address, a command. All their words
//! are found in one pass, together with those of the rules.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::addresses::{COMMANDS, Command, SCHEME_SEPARATORS, find_in_address};
use super::names::{Names, STEMS};
use super::tokens::{Token, prefixes};
use crate::privacy::SecretSpan;

#[derive(Clone, Copy, Debug)]
pub(super) enum Hint {
    Token(&'static str, &'static Token),
    Name,
    Address,
    Command(&'static Command),
}

impl Hint {
    /// Returns all hints, each with its word in lower case.
    pub(super) fn all_with_words() -> impl Iterator<Item = (String, Hint)> {
        let tokens = prefixes().map(|(prefix, token)| (prefix, Hint::Token(prefix, token)));
        let names = STEMS.iter().map(|stem| (*stem, Hint::Name));
        let addresses = SCHEME_SEPARATORS.iter().map(|sign| (*sign, Hint::Address));
        let commands = COMMANDS.iter().map(|command| (command.name(), Hint::Command(command)));
        let all = tokens.chain(names).chain(addresses).chain(commands);
        all.map(|(word, hint)| (word.to_ascii_lowercase(), hint))
    }
}

/// Looks for secrets at the hints of a text, from its beginning on.
#[derive(Debug)]
pub(super) struct Hints<'a> {
    text: &'a str,
    names: Names,
    spans: Vec<SecretSpan>,
}

impl<'a> Hints<'a> {
    pub(super) fn new(text: &'a str) -> Hints<'a> {
        Hints { text, names: Names::default(), spans: Vec::new() }
    }

    /// Finds the secret of a hint whose word stands there, in either case.
    pub(super) fn find_secret(&mut self, hint: Hint, word: Range<usize>) {
        let text = self.text;
        match hint {
            Hint::Token(prefix, token) if text[word.clone()] == *prefix => {
                self.spans.extend(token.find_at(text, word));
            }
            Hint::Token(..) => {}
            Hint::Name => self.names.find_at(text, word, &mut self.spans),
            Hint::Address => self.spans.extend(find_in_address(text, word)),
            Hint::Command(command) => self.spans.extend(command.find_at(text, word)),
        }
    }

    pub(super) fn into_spans(self) -> Vec<SecretSpan> {
        self.spans
    }
}
