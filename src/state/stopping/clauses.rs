//! Splits a message into clauses, and a clause into words.

use alloc::borrow::{Cow, ToOwned};
use alloc::string::String;
use alloc::vec::Vec;

/// The words of a message above which only its first and last clauses are examined: the rest tells of something.
const MAX_SHORT_MESSAGE_WORDS: usize = 40;

/// Words that are often typed with two letters swapped.
const MISTYPED_WORDS: [&str; 18] = [
    "stop", "pause", "wrap", "today", "tonight", "tomorrow", "later", "enough", "continue", "break", "night",
    "leave", "going", "let's", "need", "have", "finish", "resume",
];

/// Replaces each quotation by a word: quoted text is not said by the user.
pub(super) fn without_quotes(text: &str) -> Cow<'_, str> {
    let mut said = String::new();
    let (mut kept, mut at) = (0, 0);
    // Up to here, no `“` is closed on its line.
    let mut unclosed = 0;
    while let Some(found) = text[at..].find(['`', '"', '“']) {
        let start = at + found;
        let rest = &text[start..];
        let is_pair = rest.starts_with('“');
        let is_open = is_pair && start < unclosed;
        match if is_open { None } else { quotation_length(rest) } {
            Some(length) => {
                said.push_str(&text[kept..start]);
                said.push_str(" quoted ");
                at = start + length;
                kept = at;
            }
            None if is_pair => {
                unclosed = if is_open { unclosed } else { start + rest.find('\n').unwrap_or(rest.len()) };
                at = start + '“'.len_utf8();
            }
            None => at = start + 1,
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    said.push_str(&text[kept..]);
    Cow::Owned(said)
}

// Returns the length of a quotation with its marks.
fn quotation_length(text: &str) -> Option<usize> {
    if let Some(code) = text.strip_prefix("```") {
        return Some(code.find("```").map_or(text.len(), |end| end + 6));
    }
    let mark = text.chars().next()?;
    let closing = if mark == '“' { '”' } else { mark };
    let inside = &text[mark.len_utf8()..];
    let end = inside.find([closing, '\n']).filter(|end| inside[*end..].starts_with(closing))?;
    Some(mark.len_utf8() + end + closing.len_utf8())
}

/// Returns the clauses that are examined, trimmed.
pub(super) fn relevant_clauses(text: &str) -> Vec<&str> {
    let says = |clause: &&str| clause.contains(char::is_alphabetic);
    let clauses: Vec<&str> = split_clauses(text).into_iter().map(str::trim).filter(says).collect();
    let words: usize = clauses.iter().map(|clause| clause.split_whitespace().count()).sum();
    match &clauses[..] {
        [first, _, .., one, two] if words > MAX_SHORT_MESSAGE_WORDS => [*first, one, two].into(),
        _ => clauses,
    }
}

fn split_clauses(text: &str) -> Vec<&str> {
    const CLAUSE_MARKS: [char; 7] = ['.', '!', '?', ';', ':', '…', ','];
    let mut clauses = Vec::new();
    let (mut start, mut at) = (0, 0);
    // Up to here, marks stand inside a word and end no clause.
    let mut within = 0;
    while let Some(letter) = text[at..].chars().next() {
        let rest = &text[at..];
        let marks = if at < within { 0 } else { run(rest, |c| CLAUSE_MARKS.contains(&c)) };
        let ends = match letter {
            _ if marks > 0 && rest[marks..].chars().next().is_none_or(char::is_whitespace) => marks,
            '!' | '?' => run(rest, |c| matches!(c, '!' | '?')),
            '\n' => run(rest, |c| c == '\n'),
            '—' | '(' | ')' => letter.len_utf8(),
            _ if letter.is_whitespace() => dash(rest, letter),
            _ => 0,
        };
        within = within.max(at + marks);
        if ends > 0 {
            clauses.push(&text[start..at]);
            start = at + ends;
        }
        at += if ends > 0 { ends } else { letter.len_utf8() };
    }
    clauses.push(&text[start..]);
    clauses
}

// Returns the length of a dash with a blank on either side.
fn dash(rest: &str, blank: char) -> usize {
    let dashes = run(&rest[blank.len_utf8()..], |c| matches!(c, '-' | '–' | '—'));
    let behind = rest[blank.len_utf8() + dashes..].chars().next().filter(|c| dashes > 0 && c.is_whitespace());
    behind.map_or(0, |behind| blank.len_utf8() + dashes + behind.len_utf8())
}

fn run(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.len() - text.trim_start_matches(is_part).len()
}

/// Returns the words of a clause, lowercase and without the marks around them.
pub(super) fn words(clause: &str) -> Vec<String> {
    let mut words = Vec::new();
    for word in clause.split_whitespace() {
        let word: String = word.chars().map(plain).collect();
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let word = MISTYPED_WORDS.into_iter().find(|right| is_swapped(word, right)).unwrap_or(word);
        let parts = word.split('\'').filter(|part| !part.is_empty());
        words.extend(parts.map(|part| if is_tomorrow(part) { "tomorrow" } else { part }.to_owned()));
    }
    words
}

fn plain(letter: char) -> char {
    let letter = match letter {
        '’' | '‘' | '´' => '\'',
        // Full-width letters count as plain ones.
        '！'..='～' => char::from_u32(u32::from(letter) - 0xfee0).unwrap_or(letter),
        _ => letter,
    };
    letter.to_ascii_lowercase()
}

fn is_tomorrow(word: &str) -> bool {
    let behind = |rest: &'_ str, letter: char| run(rest, |c| c == letter);
    let Some(rest) = word.strip_prefix("to") else { return false };
    let Some(rest) = rest[behind(rest, 'm')..].strip_prefix('o').filter(|_| rest.starts_with('m')) else {
        return false;
    };
    rest.starts_with('r') && &rest[behind(rest, 'r')..] == "ow"
}

// True if two adjacent letters have changed places.
fn is_swapped(word: &str, right: &str) -> bool {
    let (word, right) = (word.as_bytes(), right.as_bytes());
    let first = word.iter().zip(right).position(|(a, b)| a != b);
    match first {
        Some(at) if word.len() == right.len() && at + 1 < word.len() => {
            word[at] == right[at + 1] && word[at + 1] == right[at] && word[at + 2..] == right[at + 2..]
        }
        _ => false,
    }
}
