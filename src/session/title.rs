//! Titles of sessions that nobody named: the first words that the user said.
//!
//! Agents put much into a user's messages that no user said: what a command is made of and what it printed, where the
//! work is done, reminders, summaries of what came before. One table tells that apart, for every agent:
//! `plain/wrapping.rs`. A slash command's own words count only where nothing else was said; but what is typed behind
//! one that begins a conversation of the workspace is its topic.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;
use unicode_segmentation::UnicodeSegmentation;

use crate::json::fields::{BadValue, Fields, FromFields};
use crate::layout::names::command_type;
use crate::plain::one_line;
use crate::plain::wrapping::{
    Block, BlockContent, MAX_BLOCKS, is_program_text, parse_tag, text_after_request,
};
use crate::record::message::{Message, Role};

/// A title has at most so many letters, as a reader counts them, with the ellipsis of its cut.
const MAX_TITLE_LETTERS: usize = 80;
/// No letter of any language has more marks; a longer one was made to be long and does not count.
const MAX_BYTES_PER_LETTER: usize = 64;
/// How many previous titles are kept.
const MAX_PREVIOUS_TITLES: usize = 16;
/// Default titles that agents give.
#[cfg(feature = "interop")]
const DEFAULT_TITLES: &[&str] =
    &["child session - ", "new chat", "new conversation", "new session", "untitled"];

/// Candidates for a title from the user's messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Titles {
    /// The first words that were said.
    said: Option<String>,
    /// The first command that was given.
    command: Option<String>,
    /// The first line of the first user message.
    line: Option<String>,
    /// Titles before a message was revised: a document may still have one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<String>,
    // How far into the log they were looked for.
    #[serde(skip)]
    searched_until: u64,
    // Ids of the messages they come from.
    #[serde(skip)]
    message_ids: Vec<String>,
}

impl Titles {
    /// The titles of a conversation that begins with this message.
    pub fn of(message: &str) -> Titles {
        let mut titles = Titles { line: first_line(message), ..Titles::default() };
        titles.add_text(message);
        titles
    }

    /// Takes the next message of the log, whose line begins at `at`.
    pub(crate) fn add_message(&mut self, message: &Message, at: u64) {
        if message.role != Some(Role::User) || self.are_found() {
            return;
        }
        self.searched_until = at;
        let known = |titles: &Titles| [&titles.line, &titles.said, &titles.command].map(Option::is_some);
        let before = known(self);
        if !message.has_source_mark("isMeta") {
            self.line = self.line.take().or_else(|| first_line(message.content.as_str()));
        }
        if !message.is_injected() {
            self.add_text(message.content.as_str());
        }
        if known(self) != before {
            self.message_ids.push(message.id.clone());
        }
    }

    /// Whether no later message can change them.
    pub(crate) fn are_found(&self) -> bool {
        self.said.is_some() && self.line.is_some()
    }

    /// Whether a revision of this message, whose first line begins at `first`, changes them.
    pub(crate) fn is_affected_by(&self, again: &Message, first: u64) -> bool {
        let is_early = !self.are_found() || first <= self.searched_until;
        (again.role == Some(Role::User) && is_early) || self.message_ids.contains(&again.id)
    }

    /// Forgets them after a revision of a message they come from: they are to be made anew.
    pub(crate) fn forget(&mut self, again: &str) {
        let again = Titles::of(again);
        for title in [self.said.take(), self.command.take(), again.said, again.command].into_iter().flatten()
        {
            if !self.before.contains(&title) {
                self.before.push(title);
            }
        }
        let too_many = self.before.len().saturating_sub(MAX_PREVIOUS_TITLES);
        *self = Titles { before: self.before.split_off(too_many), ..Titles::default() };
    }

    /// Replaces them with those made anew.
    pub(crate) fn replace_with(&mut self, made: Titles) {
        *self = Titles { before: core::mem::take(&mut self.before), ..made };
    }

    /// Whether this was the title before a message was revised, and is not now.
    pub(crate) fn was_previously(&self, title: &str) -> bool {
        let is_it = |one: &String| shorten_title(one) == title;
        self.before.iter().any(is_it) && !self.said.iter().chain(&self.command).any(is_it)
    }

    /// Takes a user's next message.
    pub(crate) fn add_text(&mut self, message: &str) {
        if self.said.is_some() {
            return;
        }
        let mut looking = TitleSearch { blocks_left: MAX_BLOCKS, ..TitleSearch::default() };
        looking.scan_text(text_after_request(message));
        while looking.words.is_none() && looking.command.is_none() {
            let Some(inner) = looking.unknown.take() else { break };
            looking.scan_text(inner);
        }
        self.said = looking.words;
        self.command = self.command.take().or(looking.command);
    }

    /// The title of the session.
    pub(crate) fn best(&self) -> Option<&str> {
        self.said.as_deref().or(self.command.as_deref())
    }

    /// All present and previous candidates.
    pub(crate) fn candidates(&self) -> impl Iterator<Item = &str> {
        let now = [self.said.as_deref(), self.command.as_deref()].into_iter().flatten();
        now.chain(self.before.iter().map(String::as_str))
    }

    /// The present candidates alone.
    pub(crate) fn without_previous(self) -> Titles {
        Titles { before: Vec::new(), ..self }
    }

    /// The first line of the first user message.
    pub fn first_line(&self) -> Option<&str> {
        self.line.as_deref()
    }
}

impl FromFields for Titles {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Titles> {
        Some(Titles {
            said: fields.take("said", bad),
            command: fields.take("command", bad),
            line: fields.take("line", bad),
            before: fields.take("before", bad).unwrap_or_default(),
            ..Titles::default()
        })
    }
}

/// Shortens a title to one line of 80 letters at most. It is cut between words, unless one of them is most of it.
pub fn shorten_title(title: &str) -> String {
    let line = one_line(title);
    let mut end = 0;
    for (count, (at, letter)) in line.grapheme_indices(true).enumerate() {
        if count == MAX_TITLE_LETTERS || letter.len() > MAX_BYTES_PER_LETTER {
            let between = if line[end..].starts_with(' ') { Some(end) } else { line[..end].rfind(' ') };
            let cut = between.filter(|between| between * 2 >= end).unwrap_or(end);
            return format!("{}…", line[..cut].trim_end());
        }
        if count + 1 < MAX_TITLE_LETTERS {
            end = at + letter.len();
        }
    }
    line
}

fn first_line(text: &str) -> Option<String> {
    const MAX_LINE_CHARS: usize = 400;
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(MAX_LINE_CHARS).collect())
}

/// Accepts the title that an agent's file gives, unless it is a default, or a command or a block in place of words.
#[cfg(feature = "interop")]
pub(crate) fn accept_given_title(title: String) -> Option<String> {
    let begins =
        |unnamed: &&str| title.get(..unnamed.len()).is_some_and(|head| head.eq_ignore_ascii_case(unnamed));
    if DEFAULT_TITLES.iter().any(|unnamed| begins(unnamed) && is_default(&title[unnamed.len()..])) {
        return None;
    }
    Titles::of(&title).said.map(|said| if said == shorten_title(&title) { title } else { said })
}

// "New session - 2026-11-20T…" and "Untitled Session" are defaults, "New session handling" is none.
#[cfg(feature = "interop")]
fn is_default(rest: &str) -> bool {
    let rest = rest.trim_start_matches([' ', '-', '#', '(']);
    rest.is_empty() || rest.eq_ignore_ascii_case("session") || rest.starts_with(|c: char| c.is_ascii_digit())
}

#[derive(Default)]
struct TitleSearch<'a> {
    words: Option<String>,
    command: Option<String>,
    // A block of an unknown name: its words are the user's, where there are no others.
    unknown: Option<&'a str>,
    blocks_left: usize,
}

impl<'a> TitleSearch<'a> {
    fn scan_text(&mut self, text: &'a str) {
        let mut rest = text.trim_start();
        if is_program_text(rest) {
            return;
        }
        let mut name = None;
        while !rest.is_empty() && self.words.is_none() && self.blocks_left > 0 {
            self.blocks_left -= 1;
            let Some(block) = Block::parse(rest) else {
                let (line, behind) = rest.split_once('\n').unwrap_or((rest, ""));
                self.scan_line(line);
                rest = behind.trim_start();
                continue;
            };
            rest = block.rest.trim_start();
            let inner = block.inner;
            match block.name {
                "command-name" => name = Some(shorten_title(inner)),
                // The topic of the conversation that the command begins.
                "command-args" if name.as_deref().is_some_and(|name| command_type(name).is_some()) => {
                    self.scan_text(inner)
                }
                "command-args" => name = name.map(|name| shorten_title(&format!("{name} {inner}"))),
                "bash-input" => self.command = self.command.take().or_else(|| Some(shorten_title(inner))),
                _ => match block.content() {
                    BlockContent::Words => self.scan_text(inner),
                    BlockContent::NoWords => {}
                    BlockContent::Anything => self.unknown = self.unknown.or(Some(inner)),
                },
            }
        }
        self.command = self.command.take().or(name);
    }

    fn scan_line(&mut self, line: &str) {
        let line = shorten_title(line);
        let title = match line.trim_start_matches(['#', '>']) {
            behind if behind.starts_with(' ') => behind.trim_start(),
            _ => &line,
        };
        let (word, behind) = title.split_once(' ').unwrap_or((title, ""));
        if command_type(word).is_some() && is_words(behind) {
            self.words = Some(behind.into());
        } else if is_command(title) || command_type(word).is_some() {
            self.command = self.command.take().or_else(|| Some(title.into()));
        } else if is_words(title) {
            self.words = Some(title.into());
        }
    }
}

// "/add src" and "!ls" are commands, "/home/me is full" is none.
fn is_command(line: &str) -> bool {
    let word = line.split(' ').next().unwrap_or_default();
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.');
    let name = word.strip_prefix('/').filter(|name| name.chars().all(is_of_name)).or(word.strip_prefix('!'));
    name.is_some_and(|name| name.starts_with(char::is_alphabetic))
}

// A rule, a code fence, a lone tag, and bracketed text in place of something are no words.
fn is_words(line: &str) -> bool {
    let is_mark = line.starts_with('[') && line.find(']') == Some(line.len() - 1);
    let is_tag = parse_tag(line).is_some_and(|(_, behind)| behind.is_empty());
    let says = |c: char| c.is_alphanumeric() || !c.is_ascii();
    line.contains(says) && !line.starts_with("```") && !is_mark && !is_tag
}

#[cfg(test)]
#[cfg(feature = "interop")]
mod tests {
    use super::*;

    fn best(messages: &[&str]) -> Option<String> {
        let mut titles = Titles::default();
        messages.iter().for_each(|message| titles.add_text(message));
        titles.best().map(String::from)
    }

    fn check(messages: &[&str], expected: Option<&str>) {
        assert_eq!(best(messages).as_deref(), expected, "{messages:?}");
    }

    #[test]
    fn a_title_is_what_was_said_and_not_what_stands_around_it() {
        for (message, expected) in [
            ("Fix the parser\n\nIt fails on tabs", "Fix the parser"),
            ("<user_input mode=\"act\">Fix the parser</user_input>", "Fix the parser"),
            (
                "<task>\nFix the parser\n</task>\n\n<environment_details>\n# Folder\n</environment_details>",
                "Fix the parser",
            ),
            ("<userRequest>\nFix the parser\n</userRequest>", "Fix the parser"),
            ("<system-reminder>\nbe kind\n</system-reminder>\nFix the parser", "Fix the parser"),
            ("<file name=\"a.png\"></file>\nFix the parser", "Fix the parser"),
            ("<attached_files>\n<file>x</file>\n</attached_files>\nFix the parser", "Fix the parser"),
            ("<div>\n<p>a</p>\n</div>\nFix the parser", "Fix the parser"),
            (
                "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nFix the parser\n",
                "Fix the parser",
            ),
            ("/clear\nFix the parser", "Fix the parser"),
            ("/ask what is this?\n what is this?", "what is this?"),
            ("[Image #1]\n---\n```\n<blank>\nFix the parser", "Fix the parser"),
            ("## Fix the parser", "Fix the parser"),
            ("\u{1b}[1mFix\u{1b}[0m the\tparser", "Fix the parser"),
            ("[x] Fix the parser", "[x] Fix the parser"),
            ("/home/me/parser.rs is broken", "/home/me/parser.rs is broken"),
            ("<T> is no tag, <b>this</b> one is", "<T> is no tag, <b>this</b> one is"),
            ("<b>Fix</b> the parser", "<b>Fix</b> the parser"),
            ("a < b\n", "a < b"),
            ("#123 fails", "#123 fails"),
            ("直してください", "直してください"),
        ] {
            check(&[message], Some(expected));
        }
    }

    #[test]
    fn what_no_user_said_is_no_title() {
        for message in [
            "",
            " \n\n",
            "Context summary:\n\n## Goal\nAlign the sidebar",
            "This session is being continued from a previous conversation that ran out of context.",
            "Caveat: The messages below were generated by the user while running local commands.",
            "<local-command-stdout>Set model to \u{1b}[1mopus\u{1b}[22m</local-command-stdout>",
            "<local-command-stdout>never closed",
            "<bash-stdout>3 passed</bash-stdout><bash-stderr></bash-stderr>",
            "<environment_context>\n  <cwd>/home/me</cwd>\n</environment_context>",
            "<SYSTEM_NOTICE>\nEarlier context was compacted.\n</SYSTEM_NOTICE>",
            "<conversation-summary>We did this.</conversation-summary>",
            "<session_context>\nThis is the Gemini CLI.\n</session_context>",
            "[Request interrupted by user for tool use]",
            "<blank>",
            "[RESUMED CONVERSATION]\nYou are continuing a previous conversation.",
        ] {
            check(&[message], None);
            check(&[message, "Fix the parser"], Some("Fix the parser"));
            assert_eq!(accept_given_title(message.into()), None);
        }
    }

    #[test]
    fn a_command_names_a_session_only_where_nothing_else_was_said() {
        let typed = "<command-message>review is running…</command-message>\n<command-name>/review</command-name>\n<command-args>src/a.rs</command-args>";
        for (command, expected) in [
            (typed, "/review src/a.rs"),
            (
                "<command-name>/clear</command-name>\n            <command-message>clear</command-message>\n            <command-args></command-args>",
                "/clear",
            ),
            ("/ex", "/ex"),
            ("/add src/a.rs", "/add src/a.rs"),
            ("!ls -l", "!ls -l"),
            ("<bash-input> cargo test</bash-input>", "cargo test"),
        ] {
            check(&[command], Some(expected));
            check(&[command, "/exit"], Some(expected));
            check(&[command, "Fix the parser"], Some("Fix the parser"));
            check(&["Fix the parser", command], Some("Fix the parser"));
        }
    }

    #[test]
    fn what_is_typed_behind_a_command_that_begins_a_conversation_is_its_topic() {
        let typed = |args: &str| {
            format!(
                "<command-message>workspace.plan</command-message>\n<command-name>/workspace.plan</command-name>\n<command-args>{args}</command-args>"
            )
        };
        for command in [&*typed("rate limits"), "/workspace.plan rate limits", "$workspace-plan rate limits"]
        {
            check(&[command], Some("rate limits"));
            check(&[command, "Requests for each key"], Some("rate limits"));
        }
        for command in [&*typed(""), "/workspace.plan", "$workspace-plan", "/workspace.resume 1"] {
            check(&[command, "Requests for each key"], Some("Requests for each key"));
        }
    }

    #[test]
    fn of_a_block_that_nobody_knows_the_words_count_where_there_are_no_others() {
        check(&["<my_block>Fix the parser</my_block>"], Some("Fix the parser"));
        check(
            &["<my_block>\n<other-block>Fix the parser</other-block>\n</my_block>"],
            Some("Fix the parser"),
        );
        check(&["<my_block>what is known</my_block>\nFix the parser"], Some("Fix the parser"));
    }

    #[test]
    fn a_given_title_stays_unless_it_is_none() {
        let long = "Fix ".repeat(40);
        for title in
            ["Fix the parser", "New session handling", "Untitled documents are lost", "#12 [x] Ü", &long]
        {
            assert_eq!(accept_given_title(title.into()).as_deref(), Some(title));
        }
        for title in [
            "New session - 2026-11-20T10:00:00.000Z",
            "Untitled Session",
            "new chat",
            "/review a",
            "Untitled 2",
        ] {
            assert_eq!(accept_given_title(title.into()), None, "{title}");
        }
        assert_eq!(accept_given_title("<user_input mode=\"act\">Fix".into()).as_deref(), Some("Fix"));
    }

    #[test]
    fn a_long_title_is_cut_between_words_to_80_letters_in_all() {
        let letters = |title: &str| title.graphemes(true).count();
        for title in [
            "word ".repeat(40),
            "👩‍👩‍👧‍👦".repeat(200),
            "日本語".repeat(100),
            format!("see {}", "x".repeat(200)),
            "é\u{301}".repeat(90),
        ] {
            let cut = shorten_title(&title);
            assert!(letters(&cut) <= MAX_TITLE_LETTERS && cut.ends_with('…'), "{cut}");
            assert_eq!(shorten_title(&cut), cut);
            let kept = cut.trim_end_matches('…');
            let whole = one_line(&title);
            let behind = whole.strip_prefix(kept).expect("a beginning of it");
            assert!(behind.starts_with(' ') || letters(&cut) == MAX_TITLE_LETTERS, "{cut}");
        }
        let fits = "x".repeat(80);
        assert_eq!(shorten_title(&fits), fits);
        assert_eq!(shorten_title(&format!("{} {}", "a".repeat(79), "b")), format!("{}…", "a".repeat(79)));
        assert_eq!(
            shorten_title(&format!("{} {}", "a".repeat(60), "b".repeat(60))),
            format!("{}…", "a".repeat(60))
        );
        assert!(shorten_title(&format!("a{}", "\u{301}".repeat(10_000))).len() < 10);
    }

    #[test]
    fn a_message_made_to_be_long_is_not_read_again_and_again() {
        let hostile = "<task>".repeat(1_000_000);
        check(&[&hostile], None);
        let unclosed = "<a_b ".repeat(1_000_000);
        assert!(best(&[&unclosed]).is_some());
    }

    #[test]
    fn what_it_was_called_by_is_known_once_each_until_it_is_called_so_again() {
        let mut titles = Titles::of("Mend the login.");
        for again in ["Mend the logout.", "Mend the logout.", "Mend both of them."] {
            titles.forget(again);
            titles.replace_with(Titles::of(again));
        }
        assert_eq!(titles.best(), Some("Mend both of them."));
        let were = ["Mend the login.", "Mend the logout.", "Mend both of them.", "Mend it."];
        assert_eq!(were.map(|title| titles.was_previously(title)), [true, true, false, false]);
        let mut all: Vec<&str> = titles.candidates().skip(1).collect();
        all.sort_unstable();
        assert_eq!(all, ["Mend both of them.", "Mend the login.", "Mend the logout."]);
    }
}
