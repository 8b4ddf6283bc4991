//! What strategies of the host's make of a session: taken where it keeps the laws, refused by name where it breaks one.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::context::Context;
use crate::context::build::Build;
use crate::context::choose::Choosing;
use crate::context::report::{Action, Decision};
use crate::context::turns::Item;
use crate::record::message::{Message, Role};

/// What each strategy of the host's made, by its name.
#[derive(Debug, Default)]
pub(super) struct Offered(BTreeMap<String, Result<Vec<Message>, String>>);

impl Offered {
    /// Counts that a strategy gives are not believed.
    pub fn take(&mut self, name: &str, offered: Result<Vec<Message>, String>) {
        let uncounted = |message| Message { tokens: None, ..message };
        self.0.insert(name.into(), offered.map(|all| all.into_iter().map(uncounted).collect()));
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

impl Choosing<'_> {
    /// The context that a strategy of the host's made.
    pub(super) fn offered(&self, name: &str, build: &mut Build) -> Result<Context, String> {
        let messages = build.offered.0.get(name).cloned().ok_or("it was not asked")??;
        let items: Vec<&Item> = self.material.steps.iter().flat_map(|step| &step.items).collect();
        let is_broken = broken_pair(&messages)
            .or_else(|| missing(&messages, &items))
            .or_else(|| disorder(&messages, &items));
        if let Some(law) = is_broken {
            return Err(law);
        }
        let used =
            build.prices.together(&messages, self.vocabulary).ok_or("what it sends could not be counted")?;
        if used > self.budget.available_tokens {
            return Err(format!(
                "its messages have {used} tokens, the budget {}",
                self.budget.available_tokens
            ));
        }
        let mut report = self.report(build);
        let there: BTreeSet<&str> = messages.iter().map(|message| message.id.as_str()).collect();
        for item in items.into_iter().filter(|item| item.start.is_some()) {
            let is_there = there.contains(item.message.id.as_str());
            let action = if is_there { Action::Kept } else { Action::Dropped };
            let id = item.message.id.clone();
            report.messages.push(Decision { id, action, rule: "strategy", tokens: item.whole() });
        }
        let included = messages.iter().filter(|message| !message.id.is_empty()).count() as u64;
        let context = self.finished(name, messages, (included, 0), report, build);
        Ok(Context { tokens_used: used, ..context })
    }
}

// Every call has its result behind it, and every result its call before it.
fn broken_pair(messages: &[Message]) -> Option<String> {
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

// Whole or shortened: by its id, or as the same text.
fn missing(messages: &[Message], items: &[&Item]) -> Option<String> {
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

// Each message once, in the order of the session.
fn disorder(messages: &[Message], items: &[&Item]) -> Option<String> {
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
