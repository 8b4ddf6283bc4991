//! Prices texts and messages in tokens, whoever counts.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use crate::context::request::{Counter, Request};
use crate::context::shorten::with_content;
use crate::record::message::Message;
use crate::shapes;
use crate::shapes::{Format, Recipient};
use crate::tokens::{Encoding, Images, Vocabulary, cost, estimate};

/// The known counts, and the texts that wait for one.
#[derive(Debug)]
pub(crate) struct Prices {
    counter: Counter,
    format: Format,
    // The image rule of the model, else of the shape's provider; `None` if neither says whose it is.
    images: Option<Images>,
    // The model that continues, whether its reasoning has a secret, and since which message all of it is sent.
    model: Option<String>,
    is_masked: bool,
    reasoning_since: Option<String>,
    counts: BTreeMap<String, u32>,
    wanted_texts: BTreeSet<String>,
}

impl Prices {
    pub fn new(request: &Request) -> Prices {
        let Request { counter, format, images, model, masks_reasoning: is_masked, .. } = request;
        let (counter, format, images) = (counter.clone(), *format, images.or(format.images()));
        Prices {
            counter,
            format,
            images,
            model: model.clone(),
            is_masked: *is_masked,
            reasoning_since: None,
            counts: BTreeMap::new(),
            wanted_texts: BTreeSet::new(),
        }
    }

    /// Returns the price of a text; if unknown, requests a count of it.
    pub fn price_text(&mut self, text: &str, vocabulary: Option<&Vocabulary>) -> Option<u32> {
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
        let known = self.counts.get(text).copied();
        if known.is_none() {
            self.wanted_texts.insert(text.into());
        }
        known
    }

    /// Returns the price of a message: of its JSON in a provider's shape, else its stored count if the same counter
    /// made it. The price of files depends on the model.
    pub fn price_message(&mut self, message: &Message, vocabulary: Option<&Vocabulary>) -> Option<u32> {
        if self.format != Format::Leftoff {
            let (json, files) = shapes::render_alone_for_count(message, self.format, self.images);
            return self.price_text(&json, vocabulary).map(|tokens| tokens.saturating_add(files));
        }
        let stored = message.tokens.as_ref().filter(|_| message.attachments.is_empty());
        let stored = stored.filter(|tokens| tokens.by.as_deref() == Some(self.counter.as_str()));
        if let Some(tokens) = stored {
            return Some(tokens.count);
        }
        self.price_with_content(message, message.content.as_str(), vocabulary)
    }

    /// Returns the price of a message with this content instead.
    pub fn price_with_content(
        &mut self,
        message: &Message,
        content: &str,
        vocabulary: Option<&Vocabulary>,
    ) -> Option<u32> {
        if self.has_provider_shape() {
            return self.price_message(&with_content(message, content), vocabulary);
        }
        let parts = cost::parts_with(message, content, self.images);
        let mut sum = Some(parts.fixed_tokens);
        for text in parts.texts {
            let price = self.price_text(&text, vocabulary);
            sum = sum.zip(price).map(|(sum, price)| sum.saturating_add(price));
        }
        sum
    }

    /// True if messages are sent in a provider's shape.
    pub fn has_provider_shape(&self) -> bool {
        self.format != Format::Leftoff
    }

    /// Returns the price of messages sent together, which in a provider's shape is not the sum of their own.
    pub fn price_together(&mut self, sent: &[Message], vocabulary: Option<&Vocabulary>) -> Option<u32> {
        if self.format != Format::Leftoff {
            let to = Recipient::of(self.model.as_deref(), self.is_masked)
                .with_reasoning_since(self.reasoning_since.as_deref());
            let (json, files) = shapes::render_for_count(sent, self.format, to, self.images);
            return self.price_text(&json, vocabulary).map(|tokens| tokens.saturating_add(files));
        }
        let each = sent.iter().map(|message| self.price_message(message, vocabulary));
        each.reduce(|sum, price| Some(sum?.saturating_add(price?))).unwrap_or(Some(0))
    }

    /// Takes down what reasoning is sent: none, or all from this message on.
    pub fn set_reasoning(&mut self, is_masked: bool, since: Option<String>) {
        (self.is_masked, self.reasoning_since) = (is_masked, since);
    }

    /// True if a count is missing.
    pub fn has_wanted(&self) -> bool {
        !self.wanted_texts.is_empty()
    }

    /// Takes the texts that wait for a count.
    pub fn take_wanted(&mut self) -> Vec<String> {
        core::mem::take(&mut self.wanted_texts).into_iter().collect()
    }

    /// Adds a count from the host.
    pub fn insert_count(&mut self, text: String, tokens: u32) {
        self.counts.insert(text, tokens);
    }
}
