//! Searches by target, where words are not enough: a file that was read or changed, a command that was run, an error
//! that occurred. An error is known by its signature: its words without numbers, paths and addresses.

use alloc::string::String;
use alloc::vec::Vec;

use crate::record::message::{Message, Role, Tool, ToolCall};
use crate::state::call_details;

// The bytes of a result searched for an error, at its beginning and at its end.
const SEARCHED_END_BYTES: usize = 64 * 1024;
// The share of an error's words that a line must have, in hundredths, and the least number of words.
const MIN_SHARED_PERCENT: usize = 80;
const MIN_SHARED_WORDS: usize = 2;
// A line with one of these belongs to an error.
const ERROR_CUES: [&str; 12] = [
    "error",
    "exception",
    "panic",
    "fail",
    "fatal",
    "cannot",
    "undefined",
    "not found",
    "denied",
    "traceback",
    "expected",
    "unable",
];

/// The target of a search.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SearchTarget {
    /// A path, or the end of one.
    File(String),
    /// Words of a command line.
    Command(String),
    /// The printed error, or a part of it.
    Error(String),
}

/// A call that matches the target, and its result.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TargetHit {
    /// The message that has the call.
    pub id: String,
    /// Its time, RFC 3339.
    pub timestamp: Option<String>,
    /// The text of that message.
    pub message_text: String,
    /// The command line, the path, or the line of the error.
    pub text: String,
    /// How well it matches; higher is better.
    pub rank: usize,
    /// For a file: true if it was changed, false if it was read.
    pub is_changed: bool,
    /// The command that ran, if any.
    pub command: Option<String>,
    /// The command's exit code, if known.
    pub exit_code: Option<i64>,
    /// The later command that ran without the error.
    pub later_command: Option<LaterCommand>,
}

/// A command that ran later.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LaterCommand {
    /// The message that has the call.
    pub id: String,
    /// The command line.
    pub command: String,
    /// Its exit code, if known.
    pub exit_code: Option<i64>,
}

/// Collects the hits of a target in a conversation, message by message.
#[derive(Debug)]
pub(crate) struct TargetSearch<'a> {
    thing: &'a SearchTarget,
    signature: Vec<Vec<String>>,
    calls: Vec<PendingCall>,
    hits: Vec<TargetHit>,
}

// A call that waits for its result.
#[derive(Debug)]
struct PendingCall {
    message: String,
    timestamp: Option<String>,
    message_text: String,
    call: ToolCall,
}

impl SearchTarget {
    /// Returns a part of the target that a matching log line contains literally: a log without it need not be read.
    pub fn literal_part(&self) -> &str {
        let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
        let longest = |text: &'_ str| -> (usize, usize) {
            let mut best = (0, 0);
            let mut start = None;
            for (at, char) in text.char_indices().chain([(text.len(), ' ')]) {
                match (is_plain(char), start) {
                    (true, None) => start = Some(at),
                    (false, Some(from)) => {
                        if at - from > best.1 - best.0 {
                            best = (from, at);
                        }
                        start = None;
                    }
                    _ => {}
                }
            }
            best
        };
        let text = match self {
            SearchTarget::File(path) => {
                path.rsplit(['/', '\\']).find(|name| !name.is_empty()).unwrap_or(path)
            }
            SearchTarget::Command(words) => words,
            // Any word of an error may differ, so no part of it has to be there.
            SearchTarget::Error(_) => "",
        };
        let (from, to) = longest(text);
        &text[from..to]
    }
}

impl<'a> TargetSearch<'a> {
    pub fn new(thing: &'a SearchTarget) -> TargetSearch<'a> {
        let signature = if let SearchTarget::Error(text) = thing { signatures(text) } else { Vec::new() };
        TargetSearch { thing, signature, calls: Vec::new(), hits: Vec::new() }
    }

    /// Takes the next message.
    pub fn take(&mut self, message: &Message) {
        match message.role {
            Some(Role::Assistant) => {
                for call in message.tool_calls() {
                    let call = PendingCall {
                        message: message.id.clone(),
                        timestamp: message.timestamp.clone(),
                        message_text: message.content.as_str().into(),
                        call: call.clone(),
                    };
                    self.match_call(&call);
                    self.calls.push(call);
                }
            }
            Some(Role::Tool) => {
                let Some(tool) = &message.tool else { return };
                let place = self.calls.iter().rposition(|call| call.call.id == tool.call_id);
                let call = place.map(|place| self.calls.swap_remove(place));
                self.match_result(message, tool, call.as_ref());
            }
            Some(Role::User | Role::System) | None => {}
        }
    }

    /// Returns the hits: changes before reads, then the best first; of equal ones the newest first.
    pub fn into_hits(mut self) -> Vec<TargetHit> {
        self.hits.reverse();
        self.hits.sort_by_key(|hit| core::cmp::Reverse((hit.is_changed, hit.rank)));
        self.hits
    }

    fn match_call(&mut self, call: &PendingCall) {
        let met = |text: String, rank: usize| TargetHit {
            id: call.message.clone(),
            timestamp: call.timestamp.clone(),
            message_text: call.message_text.clone(),
            text,
            rank,
            command: call_details::command(&call.call),
            ..TargetHit::default()
        };
        match self.thing {
            SearchTarget::File(path) => {
                let touched = call_details::files(&call.call);
                let best = touched.iter().filter_map(|(file, is_changed)| {
                    match_path(file, path).map(|rank| (*is_changed, rank, file))
                });
                if let Some((is_changed, rank, file)) = best.max() {
                    self.hits.push(TargetHit { is_changed, ..met(file.clone(), rank) });
                }
            }
            SearchTarget::Command(words) => {
                let command = call_details::command(&call.call);
                if let Some(rank) = command.as_ref().and_then(|command| match_command(command, words)) {
                    self.hits.push(met(command.unwrap_or_default(), rank));
                }
            }
            SearchTarget::Error(_) => {}
        }
    }

    fn match_result(&mut self, message: &Message, tool: &Tool, call: Option<&PendingCall>) {
        let text = message.content.as_str();
        let exit_code = tool.exit_code.or_else(|| call_details::exit_code(tool, text));
        if let (SearchTarget::File(_) | SearchTarget::Command(_), Some(call)) = (self.thing, call) {
            let met = self.hits.iter_mut().rev().find(|met| met.id == call.message);
            let is_it = |met: &&mut TargetHit| met.command == call_details::command(&call.call);
            if let Some(met) = met.filter(is_it) {
                met.exit_code = exit_code;
            }
            return;
        }
        let SearchTarget::Error(_) = self.thing else { return };
        let command = call.and_then(|call| call_details::command(&call.call));
        let Some((rank, line)) = self.find_error_line(text) else {
            if let (Some(call), Some(command)) = (call, command) {
                self.add_later_command(call, command, exit_code);
            }
            return;
        };
        self.hits.push(TargetHit {
            id: message.id.clone(),
            timestamp: message.timestamp.clone(),
            message_text: String::new(),
            text: line.into(),
            rank,
            is_changed: false,
            command,
            exit_code,
            later_command: None,
        });
    }

    // Returns the line of a result that shows the same error.
    fn find_error_line<'t>(&self, text: &'t str) -> Option<(usize, &'t str)> {
        let ends = |text: &'t str| {
            let head = crate::json::text::grapheme_boundary(text, SEARCHED_END_BYTES.min(text.len()), false);
            let tail = crate::json::text::grapheme_boundary(
                text,
                text.len().saturating_sub(SEARCHED_END_BYTES).max(head),
                true,
            );
            [&text[..head], &text[tail..]]
        };
        let lines = ends(text).into_iter().flat_map(str::lines);
        let ranked = lines.filter_map(|line| {
            let words = signature(line);
            let best = self.signature.iter().filter_map(|wanted| match_error(&words, wanted)).max()?;
            Some((best, line))
        });
        ranked.max_by_key(|(rank, _)| *rank)
    }

    // Notes that the same command, judged by its first words, later ran without the error.
    fn add_later_command(&mut self, call: &PendingCall, command: String, exit_code: Option<i64>) {
        if exit_code.is_some_and(|code| code != 0) {
            return;
        }
        for met in self.hits.iter_mut().filter(|met| met.later_command.is_none()) {
            if met.command.as_deref().is_some_and(|before| has_same_start(before, &command)) {
                met.later_command =
                    Some(LaterCommand { id: call.message.clone(), command: command.clone(), exit_code });
            }
        }
    }
}

// Returns how many path components match from the end; the shorter path must be wholly within the longer.
fn match_path(one: &str, other: &str) -> Option<usize> {
    let parts = |path: &str| -> Vec<String> {
        path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").map(String::from).collect()
    };
    let (one, other) = (parts(one), parts(other));
    let shared = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    (shared > 0 && shared == one.len().min(other.len())).then_some(shared)
}

// Matches a command that has these words, next to each other or at least in their order.
fn match_command(command: &str, words: &str) -> Option<usize> {
    let split = |text: &'_ str| -> Vec<String> { text.split_whitespace().map(String::from).collect() };
    let (command, words) = (split(command), split(words));
    if words.is_empty() {
        return None;
    }
    if command.windows(words.len()).any(|some| some == words) {
        return Some(3);
    }
    if command.join(" ").contains(&words.join(" ")) {
        return Some(2);
    }
    let mut rest = command.iter();
    words.iter().all(|word| rest.any(|one| one.contains(word.as_str()))).then_some(1)
}

fn has_same_start(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    // `cd` says where, not what.
    let bare = |text: &str| -> Vec<String> {
        let behind = text.rsplit("&&").next().unwrap_or(text);
        behind.split_whitespace().take(2).map(String::from).collect()
    };
    let (one, other) = (bare(one), bare(other));
    !one.is_empty() && one == other
}

// Returns the signatures of the pasted lines that show an error; of all lines if none does.
fn signatures(text: &str) -> Vec<Vec<String>> {
    let of = |line: &str| Some(signature(line)).filter(|words| !words.is_empty());
    let telling = text.lines().filter(|line| {
        let line = line.to_ascii_lowercase();
        ERROR_CUES.iter().any(|word| line.contains(word))
    });
    let found: Vec<Vec<String>> = telling.filter_map(of).collect();
    if found.is_empty() { text.lines().filter_map(of).collect() } else { found }
}

/// Returns the words of a line without numbers, paths and addresses.
fn signature(line: &str) -> Vec<String> {
    let is_path = |word: &&str| {
        let inner =
            word.trim_matches(|char: char| !char.is_alphanumeric() && !matches!(char, '/' | '.' | '~'));
        !(inner.contains('/') || inner.contains('\\') || is_source_place(inner))
    };
    let words = line.split_whitespace().filter(is_path);
    let parts = words.flat_map(|word| word.split(|char: char| !char.is_alphanumeric() && char != '_'));
    let named = parts.filter(|part| {
        let digits = part.chars().filter(char::is_ascii_digit).count();
        // `E0308` is a name, `0x7f3a` and `1234` are not.
        part.chars().nth(1).is_some() && digits < part.chars().count() && !part.starts_with("0x")
    });
    named.map(str::to_lowercase).collect()
}

// True for `main.rs:12:5` and `a.py`.
fn is_source_place(word: &str) -> bool {
    let (name, rest) = word.split_once(':').unwrap_or((word, ""));
    let is_numbers = rest.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b','));
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_file = (1..=4).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_lowercase());
    is_numbers && is_file
}

// Scores a line by its share of the error's words, less for other words; `None` if it has too few of them.
fn match_error(line: &[String], wanted: &[String]) -> Option<usize> {
    let has = wanted.iter().filter(|word| line.contains(word)).count();
    let is_enough = has * 100 >= wanted.len() * MIN_SHARED_PERCENT
        && has >= MIN_SHARED_WORDS.min(wanted.len())
        && has > 0;
    // A line that says much more is about something else.
    let more = line.len().saturating_sub(has);
    is_enough.then(|| (1000 * has / wanted.len()).saturating_sub(more.min(500)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_the_end_of_another() {
        for (one, other, rank) in [
            ("/home/ann/app/src/a.rs", "src/a.rs", Some(2)),
            ("src/a.rs", "/home/ann/app/src/a.rs", Some(2)),
            ("./src/a.rs", "src\\a.rs", Some(2)),
            ("./src/a.rs", "/home/ann/./src/a.rs", Some(2)),
            ("src/a.rs", "a.rs", Some(1)),
            ("src/ba.rs", "a.rs", None),
            ("src/a.rs", "lib/a.rs", None),
            ("", "a.rs", None),
        ] {
            assert_eq!(match_path(one, other), rank, "{one} {other}");
        }
    }

    #[test]
    fn a_command_is_known_by_its_words() {
        assert_eq!(match_command("cd app && cargo test --lib", "cargo test"), Some(3));
        assert_eq!(match_command("npx jest-cli run", "jest"), Some(2));
        assert_eq!(match_command("cargo --offline test", "cargo test"), Some(1));
        assert_eq!(match_command("cargo build", "cargo test"), None);
        assert_eq!(match_command("cargo build", " "), None);
    }

    #[test]
    fn a_command_goes_on_where_its_first_words_are_the_same() {
        assert!(has_same_start("cd app && cargo test --lib", "cargo test"));
        assert!(has_same_start("make", "make"));
        assert!(!has_same_start("cargo build", "cargo test"));
        assert!(!has_same_start("make", "make all"));
        assert!(!has_same_start("a &&", "b &&"));
    }

    #[test]
    fn an_error_is_the_same_whatever_its_numbers_and_paths() {
        let same = |one: &str, other: &str| match_error(&signature(one), &signatures(other)[0]).is_some();
        assert!(same(
            "error[E0308]: mismatched types at src/main.rs:12:5",
            "error[E0308]: mismatched types at /home/ann/lib.rs:7:1"
        ));
        assert!(same(
            "TypeError: Cannot read properties of undefined (reading 'id') at 0x7f3a",
            "TypeError: Cannot read properties of undefined (reading 'id')"
        ));
        assert!(!same("error[E0382]: borrow of moved value", "error[E0308]: mismatched types"));
        assert!(!same("All tests passed", "TypeError: x is undefined"));
        assert_eq!(signatures("Traceback\n  File \"/a/b.py\", line 3\nKeyError: 'id'\n").len(), 2);
    }
}
