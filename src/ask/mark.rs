//! Marks: the lines of a transcript that say who speaks.
//!
//! A mark is a line of its own. No line of spoken text is one: a [`Recorder`](super::Recorder) puts a backslash before
//! each line that begins like a mark, and the reader removes it.

use alloc::format;
use alloc::string::String;

use super::TITLE;
use crate::json::text::{Text, to_json};
use crate::time;

const QUESTION_HEADING: &str = "## Question ";
const ANSWER_HEADING: &str = "## Answer ";
const END_HEADING: &str = "## End ";

/// The beginnings of marks.
pub(crate) const MARK_BEGINNINGS: [&str; 4] = [TITLE, QUESTION_HEADING, ANSWER_HEADING, END_HEADING];

/// The text between a time and a folder in a mark.
const FOLDER_SEPARATOR: &str = " in ";
const ENGINE_SEPARATOR: &str = " by ";
const STOP_SEPARATOR: &str = ", stopped: ";

/// A parsed mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Title { name: String, folder: Option<String> },
    Question { at: String },
    Answer { at: String, engine: String },
    End { at: String, stopped: Option<String> },
}

/// Returns the name, without `.md`, of a transcript that begins now.
///
/// ```
/// assert_eq!(leftoff::ask::name(1_763_812_800_123), "session_2025-11-22T12-00-00-123Z");
/// ```
pub fn name(now_ms: i64) -> String {
    format!("session_{}", time::format(now_ms).replace([':', '.'], "-"))
}

/// Returns the first line of a transcript, with its name and its folder.
pub fn title(name: &str, folder: &str) -> String {
    format!("{TITLE}{name}{FOLDER_SEPARATOR}{}\n", to_json(folder))
}

/// Returns the mark before a question.
pub fn question(now_ms: i64) -> String {
    format!("\n{QUESTION_HEADING}{}\n\n", time::format(now_ms))
}

/// Returns the mark between a question and an engine's answer.
pub fn answer(now_ms: i64, engine: &str) -> String {
    format!("\n\n{ANSWER_HEADING}{}{ENGINE_SEPARATOR}{}\n\n", time::format(now_ms), to_json(engine))
}

/// Returns the mark after an answer; `stopped` says why it is incomplete.
pub fn end(now_ms: i64, stopped: Option<&str>) -> String {
    let why = stopped.map(|why| format!("{STOP_SEPARATOR}{}", to_json(why))).unwrap_or_default();
    format!("\n\n{END_HEADING}{}{why}\n", time::format(now_ms))
}

/// True if a line begins like a mark.
pub(super) fn is_like_mark(line: &str) -> bool {
    MARK_BEGINNINGS.iter().any(|beginning| line.starts_with(beginning))
}

impl Mark {
    /// Parses a line, without its line end, as a mark.
    pub(super) fn read(line: &str) -> Option<Mark> {
        let line = line.trim_end();
        if let Some(rest) = line.strip_prefix(TITLE) {
            let (name, folder) = split_at_word(rest, FOLDER_SEPARATOR)?;
            return is_name(name).then(|| Mark::Title { name: name.into(), folder });
        }
        if let Some(rest) = line.strip_prefix(QUESTION_HEADING) {
            return Some(Mark::Question { at: parse_time(rest)? });
        }
        if let Some(rest) = line.strip_prefix(ANSWER_HEADING) {
            let (time, engine) = split_at_word(rest, ENGINE_SEPARATOR)?;
            return Some(Mark::Answer { at: parse_time(time)?, engine: engine? });
        }
        let (time, stopped) = split_at_word(line.strip_prefix(END_HEADING)?, STOP_SEPARATOR)?;
        Some(Mark::End { at: parse_time(time)?, stopped })
    }
}

// Splits a mark at a word that is followed by a JSON string, and decodes that; the word may be absent.
fn split_at_word<'a>(rest: &'a str, word: &str) -> Option<(&'a str, Option<String>)> {
    let Some((before, json)) = rest.split_once(word) else { return Some((rest, None)) };
    Some((before, Some(Text::decode(json)?.as_str().into())))
}

fn parse_time(text: &str) -> Option<String> {
    time::parse(text).map(|_| text.into())
}

fn is_name(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    !name.is_empty() && name.len() <= 128 && name.chars().all(is_plain)
}
