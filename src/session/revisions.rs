//! Revisions of messages, and what each line contributes to a fold.
//!
//! A fold takes each message once, at its first line and as its highest revision. An answer that merely adds calls,
//! which is how calls come that are told one by one, is folded as it grows.

use alloc::collections::{BTreeMap, BTreeSet};

use xxhash_rust::xxh64::Xxh64;

use crate::record::message::{Message, Role, ToolCall};
use crate::record::span::Span;
use crate::session::branch::hash_text;

/// The revised messages of a log, as far as it was read from its start.
#[derive(Clone, Debug, Default)]
pub(crate) struct RevisionMap {
    highest: BTreeMap<u64, HighestRevision>,
    newest: Option<NewestAnswer>,
    partial: BTreeSet<u64>,
    /// The sum of the hashes of the messages that say something else than before, each with its revision. A summary that
    /// leftoff made names by it the messages that were revised until then: unlike a count, it tells one revision from
    /// another, and the order in which a merge puts lines does not matter. Times would be those of the messages, which
    /// an edit often keeps.
    pub digest: u32,
    /// Start of the last line that is a revision.
    pub last_start: Option<u64>,
}

// The highest revision of a message, and where its first line begins.
#[derive(Clone, Copy, Debug)]
struct HighestRevision {
    rev: u64,
    line: Span,
    first: u64,
    is_grown: bool,
    in_digest: u32,
}

// The newest answer, hashed: its content, its calls, and those with results since.
#[derive(Clone, Debug)]
struct NewestAnswer {
    key: u64,
    content_hash: u64,
    calls: usize,
    calls_hash: u64,
    results: BTreeSet<u64>,
    // Whether it is folded as it grows.
    is_folded: bool,
}

/// What a line contributes to a fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineContent {
    /// The message as this line has it.
    All,
    /// The calls that its message adds.
    Calls,
    /// The revision at this later place.
    Later(Span),
    /// Nothing: another line has the content.
    Nothing,
}

impl RevisionMap {
    /// For a log whose first messages have that digest.
    pub fn with_digest(digest: u32) -> RevisionMap {
        RevisionMap { digest, ..RevisionMap::default() }
    }

    /// Takes a line; `first`: where the first line of its message begins. Returns whether the message was folded with
    /// other content.
    pub fn add_line(&mut self, message: &Message, line: Span, first: u64) -> bool {
        let key = hash_text(&message.id);
        let known = self.highest.get(&key).copied();
        let is_first = first == line.start;
        if !is_first {
            self.last_start = Some(line.start);
        }
        let says_more = self.extends_answer(key, message);
        let is_grown =
            known.is_none_or(|known| known.is_grown) && says_more && self.is_folded_as_it_grows(message);
        let highest = known.map_or(0, |known| known.rev);
        if !is_first && message.rev < highest {
            return false;
        }
        let was_partial = self.partial.remove(&key);
        if message.partial {
            self.partial.insert(key);
        }
        if message.role == Some(Role::Assistant)
            || self.newest.as_ref().is_some_and(|newest| newest.key == key)
        {
            let results = self.newest.take().filter(|_| !is_first).map(|newest| newest.results);
            let answer = NewestAnswer::of(key, message, results.unwrap_or_default());
            self.newest = Some(NewestAnswer { is_folded: is_first || is_grown, ..answer });
        } else if let (Some(newest), Some(tool)) = (&mut self.newest, &message.tool) {
            newest.results.insert(self::hash_text(&tool.call_id));
        }
        match known {
            // Two of one revision stand each in its place: neither has the content that was folded while the answer
            // grew.
            Some(known) if message.rev == highest => {
                self.highest.insert(key, HighestRevision { is_grown: false, ..known });
                known.is_grown
            }
            _ if message.rev > highest => {
                let is_grown = is_grown && !is_first;
                let before = known.map_or(0, |known| known.in_digest);
                let is_other = !is_first && !says_more && !was_partial;
                let in_digest = if is_other { digest_of(key, message.rev) } else { before };
                self.digest = self.digest.wrapping_sub(before).wrapping_add(in_digest);
                self.highest
                    .insert(key, HighestRevision { rev: message.rev, line, first, is_grown, in_digest });
                !is_first && !is_grown
            }
            _ => false,
        }
    }

    // Whether it revises the newest answer with the same content, perhaps with more calls.
    fn extends_answer(&self, key: u64, message: &Message) -> bool {
        let is_of = |newest: &NewestAnswer| {
            newest.key == key
                && newest.content_hash == hash_message_content(message)
                && message
                    .tool_calls()
                    .get(..newest.calls)
                    .is_some_and(|calls| hash_calls(calls) == newest.calls_hash)
        };
        message.role == Some(Role::Assistant) && self.newest.as_ref().is_some_and(is_of)
    }

    fn is_folded_as_it_grows(&self, message: &Message) -> bool {
        let is_so = |newest: &NewestAnswer| {
            // A result that stands before its call does not count.
            let has_result = |call: &ToolCall| newest.results.contains(&hash_text(&call.id));
            newest.is_folded && !message.tool_calls()[newest.calls..].iter().any(has_result)
        };
        self.newest.as_ref().is_some_and(is_so)
    }

    /// What the line that begins there contributes.
    pub fn line_content(&self, message: &Message, start: u64) -> LineContent {
        let Some(highest) = self.highest.get(&hash_text(&message.id)) else { return LineContent::All };
        let is_first = highest.first == start;
        match highest.is_grown {
            true if is_first => LineContent::All,
            true => LineContent::Calls,
            false if message.rev < highest.rev && is_first => LineContent::Later(highest.line),
            false if message.rev < highest.rev => LineContent::Nothing,
            // It was taken at its message's first line.
            false if highest.line.start == start && !is_first => LineContent::Nothing,
            false => LineContent::All,
        }
    }
}

impl NewestAnswer {
    fn of(key: u64, message: &Message, results: BTreeSet<u64>) -> NewestAnswer {
        let calls = message.tool_calls();
        NewestAnswer {
            key,
            content_hash: hash_message_content(message),
            calls: calls.len(),
            calls_hash: hash_calls(calls),
            results,
            is_folded: false,
        }
    }
}

fn digest_of(key: u64, rev: u64) -> u32 {
    let mut hash = Xxh64::new(rev);
    hash.update(&key.to_le_bytes());
    hash.digest() as u32
}

fn hash_message_content(message: &Message) -> u64 {
    let mut hash = Xxh64::new(0);
    hash.update(message.content.as_str().as_bytes());
    hash.update(message.content.blob().unwrap_or_default().as_bytes());
    hash.digest()
}

fn hash_calls(calls: &[ToolCall]) -> u64 {
    let mut hash = Xxh64::new(0);
    for call in calls {
        let arguments = &call.arguments;
        for part in [&call.id, &call.name, arguments.as_str(), arguments.blob().unwrap_or_default()] {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
    }
    hash.digest()
}
