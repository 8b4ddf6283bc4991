//! What a text costs, by whoever counts.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use crate::context::request::{Counter, Request};
use crate::context::shorten::with_content;
use crate::record::message::Message;
use crate::shapes;
use crate::shapes::{Format, Recipient};
use crate::tokens::{Encoding, Images, Vocabulary, cost, estimate};

/// The counts that are known, and the texts whose count is wanted.
#[derive(Debug)]
pub(crate) struct Prices {
    counter: Counter,
    format: Format,
    // The rule of the model, else that of the shape's provider; none where both may be anybody's.
    images: Option<Images>,
    // The model that goes on, and whether its reasoning has a secret in it.
    model: Option<String>,
    is_masked: bool,
    known: BTreeMap<String, u32>,
    wanted: BTreeSet<String>,
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
            known: BTreeMap::new(),
            wanted: BTreeSet::new(),
        }
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

    /// The price of a message: of its JSON in a provider's shape; in leftoff's own by its stored count, where that was
    /// made by the same counter. What files cost depends on the model.
    pub fn message(&mut self, message: &Message, vocabulary: Option<&Vocabulary>) -> Option<u32> {
        if self.format != Format::Leftoff {
            let (json, files) = shapes::counted_alone(message, self.format, self.images);
            return self.text(&json, vocabulary).map(|tokens| tokens.saturating_add(files));
        }
        let stored = message.tokens.as_ref().filter(|_| message.attachments.is_empty());
        let stored = stored.filter(|tokens| tokens.by.as_deref() == Some(self.counter.as_str()));
        if let Some(tokens) = stored {
            return Some(tokens.count);
        }
        self.with_content(message, message.content.as_str(), vocabulary)
    }

    /// The price of a message with this content.
    pub fn with_content(
        &mut self,
        message: &Message,
        content: &str,
        vocabulary: Option<&Vocabulary>,
    ) -> Option<u32> {
        if self.is_of_a_shape() {
            return self.message(&with_content(message, content), vocabulary);
        }
        let parts = cost::parts_with(message, content, self.images);
        let mut sum = Some(parts.fixed);
        for text in parts.texts {
            let price = self.text(&text, vocabulary);
            sum = sum.zip(price).map(|(sum, price)| sum.saturating_add(price));
        }
        sum
    }

    /// Messages are sent in a provider's shape.
    pub fn is_of_a_shape(&self) -> bool {
        self.format != Format::Leftoff
    }

    /// The price of messages as they are sent together: in a provider's shape that is not the sum of what each costs.
    pub fn together(&mut self, sent: &[Message], vocabulary: Option<&Vocabulary>) -> Option<u32> {
        if self.format != Format::Leftoff {
            let to = Recipient::of(self.model.as_deref(), self.is_masked);
            let (json, files) = shapes::counted(sent, self.format, to, self.images);
            return self.text(&json, vocabulary).map(|tokens| tokens.saturating_add(files));
        }
        let each = sent.iter().map(|message| self.message(message, vocabulary));
        each.reduce(|sum, price| Some(sum?.saturating_add(price?))).unwrap_or(Some(0))
    }

    /// Whether a count is missing.
    pub fn wants(&self) -> bool {
        !self.wanted.is_empty()
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
