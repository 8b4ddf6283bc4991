//! The host strategies' messages: accepted if they keep the laws, rejected by the law's name if they break one. A
//! strategy is not taken at its word: its counts are ignored, only the price of its messages counts.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::context::steps::Item;
use crate::record::message::{Message, Role};

/// The result of each host strategy, by its name.
#[derive(Debug, Default)]
pub(super) struct HostStrategies(BTreeMap<String, Result<Vec<Message>, String>>);

impl HostStrategies {
    /// Takes a strategy's result; its counts are not believed.
    pub fn insert_result(&mut self, name: &str, offered: Result<Vec<Message>, String>) {
        let uncounted = |message| Message { tokens: None, ..message };
        self.0.insert(name.into(), offered.map(|all| all.into_iter().map(uncounted).collect()));
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Returns the messages that a strategy made from these items.
    ///
    /// # Errors
    /// The reason why it made none, or the law that it broke.
    pub fn validate_messages(&self, name: &str, items: &[&Item]) -> Result<Vec<Message>, String> {
        let messages = self.0.get(name).cloned().ok_or("it was not asked")??;
        let broken = find_broken_pair(&messages).or_else(|| find_missing_message(&messages, items));
        broken.or_else(|| find_disorder(&messages, items)).map_or(Ok(messages), Err)
    }
}

// Every call must have its result after it, and every result its call before it.
fn find_broken_pair(messages: &[Message]) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        if message.role == Some(Role::Tool) {
            let call = message.tool.as_ref().map(|tool| tool.call_id.as_str()).unwrap_or_default();
            match open.iter().position(|id| *id == call) {
                Some(place) => open.swap_remove(place),
                None => return Some(format!("the result of {call:?} has no call before it")),
            };
        } else if !open.is_empty() {
            break;
        } else {
            open.extend(message.tool_calls().iter().map(|call| call.id.as_str()));
        }
    }
    open.first().map(|call| format!("the call {call:?} has no result behind it"))
}

// A message may be whole or shortened: it is recognized by its id, or by its text.
fn find_missing_message(messages: &[Message], items: &[&Item]) -> Option<String> {
    let is_there = |item: &&&Item| {
        let wanted = &item.message;
        messages.iter().any(|message| {
            let says_the_same = message.role == wanted.role && message.content == wanted.content;
            if message.id.is_empty() { says_the_same } else { message.id == wanted.id }
        })
    };
    let item = items.iter().filter(|item| item.is_required).find(|item| !is_there(item))?;
    Some(format!("the message {:?}, which has to be there, is missing", item.message.id))
}

// Each message may appear once, in the session's order.
fn find_disorder(messages: &[Message], items: &[&Item]) -> Option<String> {
    let places: BTreeMap<&str, usize> =
        items.iter().enumerate().map(|(place, item)| (item.message.id.as_str(), place)).collect();
    let mut last = None;
    for message in messages.iter().filter(|message| !message.id.is_empty()) {
        let place = places.get(message.id.as_str()).copied();
        if place.is_some() && place <= last {
            return Some(format!("the message {:?} is not where it stands in the session", message.id));
        }
        last = place.or(last);
    }
    None
}
