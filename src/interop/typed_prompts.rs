//! Prompts that the user typed, as a client writes them down at once, for all sessions in one file: Codex's
//! `history.jsonl`, and `logs.json` of a project in Gemini CLI. In Codex, a prompt typed while a tool runs reaches the
//! session's own file once the tool is done; in Gemini CLI, a prompt does once it is known which model gets it. If the
//! client is killed before that, the prompt is here alone.
//!
//! A prompt counts as missing if it was typed after all that the session's file has of the user. An earlier one that is
//! not in the file was taken back, or sent in other words.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::interop::conversation::{build_flags, unique_name};
use crate::interop::lines::lines;
use crate::interop::{ImportedSession, Losses, Object};
use crate::json::fields::parse_items;
use crate::json::hash::sha256;
use crate::plain::wrapping::is_client_remark;
use crate::record::id;
use crate::record::message::{LineOrigin, Message, Role};
use crate::time;

/// The most prompts of a session that are kept: nobody types more ahead.
const MAX_PROMPTS: usize = 64;
/// The longest line of a prompt.
const MAX_LINE_BYTES: usize = 1 << 24;
/// The file has seconds, and is written beside the session's own.
const SECOND_MS: i64 = 1000;
/// The first character of input for the client's shell.
const SHELL_PREFIX: char = '!';
/// Behind these commands Gemini CLI is in another session, and writes prompts down as typed in the one before.
const LEAVING_COMMANDS: [&str; 4] = ["/chat", "/clear", "/new", "/resume"];

/// The mark of a prompt that the client did not deliver.
pub const QUEUED_KEY: &str = "isQueued";

/// A prompt, and when it was typed.
#[derive(Debug, PartialEq, Eq)]
struct Prompt {
    ms: i64,
    text: String,
}

/// The prompts of all sessions, as far as the file was read, from its end backward.
#[derive(Debug, Default)]
pub struct TypedPrompts {
    // Each session's prompts, the newest first.
    prompts: BTreeMap<String, Vec<Prompt>>,
    // The end of a line that begins farther before.
    rest: Vec<u8>,
    oldest_ms: Option<i64>,
}

impl TypedPrompts {
    /// Takes the bytes right before those taken last; `is_first` if the file begins with them.
    pub fn take_before(&mut self, bytes: &[u8], is_first: bool) {
        let rest = core::mem::take(&mut self.rest);
        let begin = bytes.iter().position(|byte| *byte == b'\n').filter(|_| !is_first);
        if begin.is_none() && !is_first {
            // A line that is too long is no prompt, whatever comes before it.
            let keeps = bytes.len() + rest.len() <= MAX_LINE_BYTES;
            self.rest = if keeps { [bytes, &rest].concat() } else { Vec::from([0]) };
            return;
        }
        let (head, whole) = bytes.split_at(begin.unwrap_or(0));
        self.rest = head.into();
        let whole: Cow<'_, [u8]> =
            if rest.is_empty() { Cow::Borrowed(whole) } else { Cow::Owned([whole, &rest].concat()) };
        for (_, line) in lines(&whole).collect::<Vec<_>>().into_iter().rev() {
            self.line(line);
        }
    }

    fn line(&mut self, line: &[u8]) {
        let quiet = &mut Losses::default();
        let json = core::str::from_utf8(line).ok().map(str::trim);
        let Some(mut object) = json.and_then(|json| Object::parse("", json).ok()) else { return };
        let seconds: Option<i64> = object.take("ts", quiet);
        let ms = seconds.and_then(|seconds| seconds.checked_mul(SECOND_MS));
        let Some(ms) = ms.filter(|ms| time::parse(&time::format(*ms)) == Some(*ms)) else { return };
        self.oldest_ms = Some(self.oldest_ms.map_or(ms, |oldest| oldest.min(ms)));
        let Some(session) = object.take_name("session_id", quiet) else { return };
        let known = self.prompts.entry(session).or_default();
        if known.len() < MAX_PROMPTS
            && let Some(text) = object.take::<String>("text", quiet).filter(|text| is_prompt(text))
        {
            known.push(Prompt { ms, text });
        }
    }

    /// Takes all of a `logs.json`.
    pub fn take_log(&mut self, bytes: &[u8]) {
        let json = core::str::from_utf8(bytes).unwrap_or_default().trim_start_matches('\u{feff}').trim();
        let mut left = BTreeSet::new();
        for entry in parse_items(json).unwrap_or_default() {
            let Some((session, prompt)) = entry_of(entry) else { continue };
            let is_leaving = |word: &str| LEAVING_COMMANDS.contains(&word);
            if prompt.text.split_whitespace().next().is_some_and(is_leaving) {
                left.insert(session);
            } else if !left.contains(&session) && is_prompt(&prompt.text) {
                self.prompts.entry(session).or_default().push(prompt);
            }
        }
        for prompts in self.prompts.values_mut() {
            prompts.reverse();
            prompts.truncate(MAX_PROMPTS);
        }
    }

    /// True if all prompts typed since then were taken.
    pub fn reaches(&self, ms: i64) -> bool {
        self.oldest_ms.is_some_and(|oldest| oldest < ms.saturating_sub(SECOND_MS))
    }

    /// Adds to a session the prompts typed in it that were not delivered.
    pub fn deliver(&self, session: &mut ImportedSession) {
        // Nobody types in a sub-agent's session.
        if session.parent.is_some() {
            return;
        }
        let typed = self.prompts.get(&session.source_id).map(Vec::as_slice).unwrap_or_default();
        let is_open = |prompt: &&Prompt| !session.messages.iter().any(|message| prompt.is_before(message));
        let open: Vec<&Prompt> = typed.iter().take_while(is_open).collect();
        let mut natives = BTreeMap::new();
        for prompt in open.into_iter().rev() {
            let native = format!("typed-{}-{}", prompt.ms, &sha256(prompt.text.as_bytes())[..16]);
            let native = unique_name(&mut natives, native);
            session.messages.push(prompt.message(session, native));
            session.last_ms = session.last_ms.max(Some(prompt.ms));
        }
    }
}

impl Prompt {
    // True if it was typed before the user's message, or is that message.
    fn is_before(&self, message: &Message) -> bool {
        let text = message.content.as_str();
        let is_said = message.role == Some(Role::User) && !message.is_injected() && !is_client_remark(text);
        let is_it = || holds(text, self.text.trim());
        is_said
            && match message.timestamp.as_deref().and_then(time::parse) {
                Some(ms) => ms > self.ms - SECOND_MS || ms > self.ms - 2 * SECOND_MS && is_it(),
                None => is_it(),
            }
    }

    fn message(&self, session: &ImportedSession, native: String) -> Message {
        Message {
            id: id::from_source(&session.agent, &session.source_id, &native, self.ms),
            parent_id: session.messages.last().map(|last| last.id.clone()),
            role: Some(Role::User),
            content: self.text.clone().into(),
            timestamp: Some(time::format(self.ms)),
            source: Some(LineOrigin {
                agent: session.agent.clone(),
                id: native,
                extra: build_flags(&[QUEUED_KEY]),
            }),
            ..Message::default()
        }
    }
}

fn entry_of(json: &str) -> Option<(String, Prompt)> {
    let quiet = &mut Losses::default();
    let mut entry = Object::parse("", json).ok()?;
    let is_users = entry.take::<String>("type", quiet).as_deref() == Some("user");
    let session = entry.take_name("sessionId", quiet).filter(|_| is_users)?;
    let ms = entry.take_time("timestamp", quiet).as_deref().and_then(time::parse)?;
    Some((session, Prompt { ms, text: entry.take("message", quiet)? }))
}

fn is_prompt(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && !text.starts_with(SHELL_PREFIX) && !is_command(text)
}

/// True for a client's command: it is carried out, and stands in the conversation under another name, or not at all.
pub(super) fn is_command(text: &str) -> bool {
    let word = text.split_whitespace().next().unwrap_or_default();
    word.strip_prefix('/').is_some_and(|name| !name.is_empty() && !name.contains(['/', '.']))
}

/// True if a message has all lines that were typed: several prompts may be delivered as one, amid other text.
pub(super) fn holds(text: &str, typed: &str) -> bool {
    text.match_indices(typed).any(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + typed.len()..]);
        (before.is_empty() || before.ends_with(['\n', '>']))
            && (behind.is_empty() || behind.starts_with(['\r', '\n', '<']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompts(history: &[u8], sizes: &[usize]) -> TypedPrompts {
        let (mut typed, mut end) = (TypedPrompts::default(), history.len());
        for size in sizes.iter().cycle() {
            let start = end.saturating_sub(*size);
            typed.take_before(&history[start..end], start == 0);
            end = start;
            if end == 0 {
                break;
            }
        }
        typed
    }

    #[test]
    fn a_history_says_the_same_in_pieces_of_any_size() {
        let history = "\u{feff}{\"session_id\":\"a\",\"ts\":1772355600,\"text\":\"one\"}\n\n\
            no JSON\n{\"session_id\":\"b\",\"ts\":1772355601,\"text\":\"zwei 🏁\"}\r\n\
            {\"session_id\":\"a\",\"ts\":9e99,\"text\":\"never\"}\n{\"session_id\":\"a\",\"ts\":1772355603,\"text\":\"three\"}"
            .as_bytes();
        let whole = prompts(history, &[history.len()]);
        let of = |session: &str| -> Vec<&str> {
            whole.prompts[session].iter().map(|prompt| prompt.text.as_str()).collect()
        };
        assert_eq!((of("a"), of("b")), (Vec::from(["three", "one"]), Vec::from(["zwei 🏁"])));
        assert_eq!(whole.oldest_ms, Some(1_772_355_600_000));
        for first in 1..=history.len() {
            for second in [1, 7, 64] {
                assert_eq!(prompts(history, &[first, second]).prompts, whole.prompts, "{first}, {second}");
            }
        }
    }

    #[test]
    fn a_command_is_named_behind_a_slash_and_a_path_is_none() {
        assert!(["/status", "/review the diff", " /compact"].iter().all(|text| is_command(text)));
        assert!(["/srv/app is it", "/notes.md", "/", "and /status", ""].iter().all(|text| !is_command(text)));
    }
}
