//! Prompts that the user typed and the client only queued. A delivered one stands in a record of its own; one that the
//! client did not deliver before it ended stands nowhere else.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use crate::interop::claude_code::content::prompt_messages;
use crate::interop::conversation::{ConversationBuilder, RecordOrigin, build_flags};
use crate::interop::typed_prompts::{QUEUED_KEY, holds, is_command};
use crate::interop::{Losses, Object};
use crate::record::message::{Message, Role};
use crate::record::span::Span;

/// The beginning of a text that the client queues by itself.
const CLIENT_PROMPT_PREFIX: &str = "<task-notification>";

/// A prompt that was queued.
struct QueuedPrompt {
    message: Message,
    origin: RecordOrigin,
    /// How many messages came before it was queued, before one was taken out to be delivered, and before the user took
    /// all back.
    drafts_when_queued: usize,
    drafts_when_dequeued: Option<usize>,
    drafts_when_taken_back: Option<usize>,
}

impl QueuedPrompt {
    fn text(&self) -> &str {
        self.message.content.as_str().trim()
    }

    fn is_contained_in(&self, message: &Message) -> bool {
        let queued_text = self.text().trim_start_matches('!').trim_start();
        let message_text = message.content.as_str().trim();
        if queued_text.is_empty() {
            return message_text.is_empty() && message.attachments.len() == self.message.attachments.len();
        }
        holds(message_text, queued_text)
    }
}

/// The prompts that were queued.
#[derive(Default)]
pub(super) struct Queue(Vec<QueuedPrompt>);

impl Queue {
    /// Applies an operation to the queue; returns true if a prompt was queued. `said`: the number of messages so far.
    pub fn apply_operation(&mut self, object: &mut Object<'_>, place: Span, draft_count: usize) -> bool {
        let quiet = &mut Losses::default();
        match object.take::<String>("operation", quiet).as_deref() {
            Some("enqueue") => {}
            Some("popAll") => {
                self.0.iter_mut().for_each(|queued| {
                    queued.drafts_when_taken_back = queued.drafts_when_taken_back.or(Some(draft_count))
                });
                return false;
            }
            _ => {
                self.0.iter_mut().for_each(|queued| {
                    queued.drafts_when_dequeued = queued.drafts_when_dequeued.or(Some(draft_count))
                });
                return false;
            }
        }
        let content = object.raw("content").filter(|content| content.starts_with(['"', '[']));
        let message = content.and_then(|content| prompt_messages(content, quiet).pop());
        let Some(message) = message.filter(|message| message.tool.is_none()) else { return false };
        let text = message.content.as_str();
        if text.starts_with(CLIENT_PROMPT_PREFIX)
            || (text.trim().is_empty() && message.attachments.is_empty())
        {
            return false;
        }
        let timestamp = object.take_time("timestamp", quiet);
        let origin =
            RecordOrigin { flags: build_flags(&[QUEUED_KEY]), ..RecordOrigin::from_place(place, timestamp) };
        self.0.push(QueuedPrompt {
            message,
            origin,
            drafts_when_queued: draft_count,
            drafts_when_dequeued: None,
            drafts_when_taken_back: None,
        });
        true
    }

    /// Adds the prompts that were not delivered: before the first prompt that the client was given later, else last.
    pub fn add_undelivered(self, talk: &mut ConversationBuilder) {
        let mut delivered = BTreeSet::new();
        let mut open = Vec::new();
        for queued in self.0 {
            let known = delivered.clone();
            let is_it = |at: &usize| !known.contains(at) && queued.is_contained_in(&talk.drafts[*at].message);
            match prompts_from(talk, queued.drafts_when_queued).find(is_it) {
                Some(at) => drop(delivered.insert(at)),
                None => open.push((known, queued)),
            }
        }
        open.retain(|(_, queued)| {
            let mut later =
                queued.drafts_when_dequeued.into_iter().flat_map(|dequeued| prompts_from(talk, dequeued));
            // It was delivered in other words.
            let other = later.find(|at| !delivered.contains(at));
            delivered.extend(other);
            let is_taken_back =
                queued.drafts_when_taken_back.is_some_and(|at| prompts_from(talk, at).next().is_some());
            let is_done = is_command(queued.text()) && queued.drafts_when_dequeued.is_some();
            other.is_none() && !is_taken_back && !is_done
        });
        for (known, queued) in open.into_iter().rev() {
            let next = prompts_from(talk, queued.drafts_when_queued).find(|at| !known.contains(at));
            talk.insert(next, queued.message, queued.origin);
        }
    }
}

// Returns the user's messages, from one on.
fn prompts_from(talk: &ConversationBuilder, from: usize) -> impl Iterator<Item = usize> {
    let is_prompt =
        |message: &Message| message.role == Some(Role::User) && !message.has_source_mark("isAttached");
    let drafts = talk.drafts.iter().enumerate().skip(from);
    drafts.filter(move |(_, draft)| is_prompt(&draft.message)).map(|(at, _)| at)
}
