//! What a text costs, by whoever counts.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use crate::context::request::Counter;
use crate::session::message::Message;
use crate::tokens::{Encoding, Vocabulary, cost, estimate};

/// The counts that are known, and the texts whose count is wanted.
#[derive(Debug)]
pub(crate) struct Prices {
    counter: Counter,
    known: BTreeMap<String, u32>,
    wanted: BTreeSet<String>,
}

impl Prices {
    pub fn new(counter: Counter) -> Prices {
        Prices { counter, known: BTreeMap::new(), wanted: BTreeSet::new() }
    }

    /// The price of a text, if it can be told; else it is noted as wanted.
    pub fn text(&mut self, text: &str, vocabulary: Option<&Vocabulary>) -> Option<u32> {
        if text.is_empty() {
            return Some(0);
        }
        match (&self.counter, vocabulary) {
            (Counter::Core(Encoding::Estimate1), _) => return Some(estimate(text)),
            (Counter::Core(encoding), Some(exact)) if *encoding == exact.encoding() => {
                return Some(exact.count(text));
            }
            (Counter::Core(_) | Counter::Host(_), _) => {}
        }
        let known = self.known.get(text).copied();
        if known.is_none() {
            self.wanted.insert(text.into());
        }
        known
    }

    /// The price of a message, by its stored count where that was made by the same counter.
    pub fn message(&mut self, message: &Message, vocabulary: Option<&Vocabulary>) -> Option<u32> {
        let stored = message.tokens.as_ref();
        let stored = stored.filter(|tokens| tokens.by.as_deref() == Some(self.counter.as_str()));
        if let Some(tokens) = stored {
            return Some(tokens.count);
        }
        let mut sum = Some(cost::fixed(message));
        for text in cost::texts(message) {
            let price = self.text(text, vocabulary);
            sum = sum.zip(price).map(|(sum, price)| sum.saturating_add(price));
        }
        sum
    }

    /// The texts that are wanted; they are not wanted any more.
    pub fn take_wanted(&mut self) -> Vec<String> {
        core::mem::take(&mut self.wanted).into_iter().collect()
    }

    /// Takes a count from the host.
    pub fn learn(&mut self, text: String, tokens: u32) {
        self.known.insert(text, tokens);
    }
}
