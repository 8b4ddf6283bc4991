//! Finds words in logs: in the raw bytes first, and in parsed messages only where the bytes match.
//!
//! The host feeds whole lines of a log, the newest first, receives the ranges of those that may have all words, and
//! matches each of them. Words match regardless of case and accents. Text in a blob is requested by
//! [`LineMatch::NeedsBlob`]. A separate call cuts a text to an excerpt, so that the host can redact the whole text
//! first.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt::Debug;
use core::ops::Range;

use memchr::memmem;
use nucleo_matcher::chars;
use serde::Serialize;
use unicode_normalization::char::decompose_canonical;

use crate::json::text::{grapheme_boundary, to_json};
use crate::record::blob::BlobRestoration;
use crate::record::message::{self, Message, Role};
use crate::record::scan::{ScanItem, Scanner};

// Lines with one of these must be matched whatever else they have: texts in blobs, and revised messages.
const BLOB_KEY: &[u8] = b"\"blob\":";
const REVISION_KEY: &[u8] = b"\"rev\":";
// How other writers escape letters beyond ASCII.
const ESCAPE_PREFIX: &[u8] = b"\\u";
// The first bytes of accented Latin letters, of combining accents, of ligatures, and of signs that are letters: `ﬁ`,
// `K`. No other letter folds to plain ASCII.
const ACCENT_LEAD_BYTES: [[u8; 3]; 3] = [[0xc3, 0xc4, 0xc5], [0xc6, 0xc7, 0xc8], [0xc9, 0xcc, 0xcd]];
const SIGN_LEAD_BYTES: [&[u8]; 4] = [b"\xe1", b"\xef\xac", b"\xe2\x84", b"\xe2\xb1"];
// The bytes of text shown before the first word, and after it.
const BYTES_BEFORE_WORD: usize = 60;
const BYTES_AFTER_WORD: usize = 140;

/// A search for words in logs.
#[derive(Debug)]
pub struct LogSearch {
    words: Vec<Vec<char>>,
    // The longest part of each word that a line contains literally, apart from ASCII case.
    plain: Vec<Vec<u8>>,
    // Messages whose newer revision was seen.
    revised_ids: BTreeSet<String>,
    // A message that waits for its blobs.
    unfolding: Option<BlobRestoration>,
    // The pattern to find instead of words.
    pattern: Option<Rc<dyn Pattern>>,
    // True if the host redacts messages before they may be found.
    is_outgoing: bool,
}

/// A pattern that can be searched for instead of words.
pub trait Pattern: Debug {
    /// Returns the first match in a text.
    fn find_first(&self, text: &str) -> Option<Range<usize>>;
}

/// The result of matching a line.
#[derive(Debug)]
pub enum LineMatch {
    /// No match.
    None,
    /// The bytes of a blob are needed: see [`LogSearch::take_blob`].
    NeedsBlob {
        /// The blob's id.
        blob: String,
    },
    /// All words match.
    Hit(MessageHit),
    /// A candidate that the host has to redact first: see [`LogSearch::for_outgoing`].
    Redactable(Box<Message>),
}

/// A message that has all words.
#[derive(Debug)]
pub struct MessageHit {
    /// The message's id.
    pub id: String,
    /// Its role.
    pub role: Option<Role>,
    /// Its time, RFC 3339.
    pub timestamp: Option<String>,
    /// The whole text with the first word: see [`LogSearch::excerpt`].
    pub text: String,
}

/// A hit with its excerpt.
#[derive(Debug, Serialize)]
pub struct ShownHit {
    /// The message's id.
    pub id: String,
    /// Its role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Its time, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// The text around the first word.
    pub excerpt: Vec<ExcerptPart>,
}

/// A part of an excerpt.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExcerptPart {
    /// The text.
    pub text: String,
    /// True if it is one of the words.
    pub is_hit: bool,
}

/// Searches messages that are not stored. Returns those that have all words, the newest first, as a JSON array of
/// `{"id","role","timestamp","excerpt"}`.
pub fn search_messages(words: &str, messages: &[Message]) -> String {
    let lines: String = messages.iter().map(|message| to_json(message) + "\n").collect();
    let mut search = LogSearch::new(words);
    let hits: Vec<_> =
        search.find_all(lines.as_bytes()).into_iter().map(|hit| search.to_shown_hit(hit)).collect();
    to_json(&hits)
}

impl LogSearch {
    /// Searches for words separated by white space; a quoted phrase counts as one. Without words nothing is found.
    pub fn new(words: &str) -> LogSearch {
        LogSearch::of_parts(split_parts(words))
    }

    /// Searches for each part literally.
    pub fn of_parts<'a>(parts: impl Iterator<Item = &'a str>) -> LogSearch {
        let words: Vec<Vec<char>> = parts.map(|word| normalize_letters(word).collect()).collect();
        let plain = words.iter().map(|word| longest_plain(word)).collect();
        LogSearch {
            words,
            plain,
            revised_ids: BTreeSet::new(),
            unfolding: None,
            pattern: None,
            is_outgoing: false,
        }
    }

    /// Searches for a pattern, for which every line must be matched.
    pub fn for_pattern(pattern: Rc<dyn Pattern>) -> LogSearch {
        LogSearch { pattern: Some(pattern), ..LogSearch::of_parts(core::iter::empty()) }
    }

    /// Lets the host redact each message before it may be found: see [`LogSearch::find_hit`].
    #[cfg(feature = "interop")]
    pub fn for_outgoing(self) -> LogSearch {
        LogSearch { is_outgoing: true, ..self }
    }

    /// Returns the pattern, if one is searched for.
    #[cfg(feature = "interop")]
    pub fn pattern(&self) -> Option<Rc<dyn Pattern>> {
        self.pattern.clone()
    }

    /// Returns the ranges of the lines that must be matched, the newest first. `bytes` are whole lines.
    pub fn candidate_lines(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        if self.pattern.is_some() {
            found.extend(lines_with(bytes, |_| Some(0)));
            found.reverse();
            return found;
        }
        let Some(rarest) = self.plain.iter().max_by_key(|word| word.len()) else { return found };
        let has_all = |line: &[u8]| self.plain.iter().all(|word| find_plain(line, word).is_some());
        found.extend(
            lines_with(bytes, |rest| find_plain(rest, rarest)).filter(|line| has_all(&bytes[line.clone()])),
        );
        let is_hit = |line: &Range<usize>| {
            let plain: String = normalize_letters(&String::from_utf8_lossy(&bytes[line.clone()])).collect();
            has_all(plain.as_bytes())
        };
        for [one, two, three] in ACCENT_LEAD_BYTES {
            let lines = lines_with(bytes, |rest| memchr::memchr3(one, two, three, rest));
            found.extend(lines.filter(is_hit));
        }
        for sign in SIGN_LEAD_BYTES {
            let finder = memmem::Finder::new(sign);
            found.extend(lines_with(bytes, |rest| finder.find(rest)).filter(is_hit));
        }
        for mark in [BLOB_KEY, REVISION_KEY] {
            let finder = memmem::Finder::new(mark);
            found.extend(lines_with(bytes, |rest| finder.find(rest)));
        }
        let escape = memmem::Finder::new(ESCAPE_PREFIX);
        let escaped =
            |rest: &[u8]| escape.find_iter(rest).find(|at| is_letter(&rest[at + ESCAPE_PREFIX.len()..]));
        found.extend(lines_with(bytes, escaped));
        found.sort_by_key(|line| Reverse(line.start));
        found.dedup();
        found
    }

    /// Matches a line.
    pub fn match_line(&mut self, line: &[u8]) -> LineMatch {
        let mut scanner = Scanner::forward(0);
        scanner.feed(line);
        scanner.finish();
        while let Some(found) = scanner.next() {
            let ScanItem::Record(record) = found else { continue };
            let Some(message) = message::read(&record).0 else { continue };
            if self.revised_ids.contains(&message.id) {
                return LineMatch::None;
            }
            if message.rev > 0 {
                self.revised_ids.insert(message.id.clone());
            }
            return self.match_message(BlobRestoration::new(message));
        }
        LineMatch::None
    }

    /// Returns all hits among these lines, the newest first, if no text lies in a blob.
    pub fn find_all(&mut self, lines: &[u8]) -> Vec<MessageHit> {
        let mut hits = Vec::new();
        for place in self.candidate_lines(lines) {
            let mut answer = self.match_line(&lines[place]);
            while let LineMatch::NeedsBlob { blob } = answer {
                answer = self.take_blob(&blob, None);
            }
            if let LineMatch::Hit(hit) = answer {
                hits.push(hit);
            }
        }
        hits
    }

    /// Takes a requested blob, or `None` if it is missing.
    pub fn take_blob(&mut self, id: &str, bytes: Option<&[u8]>) -> LineMatch {
        let Some(mut unfolding) = self.unfolding.take() else { return LineMatch::None };
        // Without it, the ends of its text are searched: doctor reports what is missing.
        let _ = unfolding.take(id, bytes);
        self.match_message(unfolding)
    }

    fn match_message(&mut self, unfolding: BlobRestoration) -> LineMatch {
        if let Some(blob) = unfolding.next_blob().map(ToString::to_string) {
            self.unfolding = Some(unfolding);
            return LineMatch::NeedsBlob { blob };
        }
        let message = unfolding.into_message();
        if self.is_outgoing {
            return LineMatch::Redactable(message.into());
        }
        self.find_hit(&message, &message).map_or(LineMatch::None, LineMatch::Hit)
    }

    /// Matches a message; the hit has the text of `shown`.
    pub fn find_hit(&self, message: &Message, shown: &Message) -> Option<MessageHit> {
        let texts = message_texts(message);
        let is_there = |word: &Vec<char>| texts.iter().any(|text| find_word(text, word).is_some());
        if !self.words.iter().all(is_there) {
            return None;
        }
        let place = texts.iter().position(|text| self.find_first(text).is_some())?;
        let Message { id, role, timestamp, .. } = message;
        let text = self::message_texts(shown).get(place).map(|text| String::from(*text))?;
        Some(MessageHit { id: id.clone(), role: *role, timestamp: timestamp.clone(), text })
    }

    // Returns the place of the first word, or of the pattern.
    fn find_first(&self, text: &str) -> Option<Range<usize>> {
        match &self.pattern {
            Some(pattern) => pattern.find_first(text),
            None => find_word(text, self.words.first()?),
        }
    }

    // Returns the first place of any word, or of the pattern.
    fn find_next(&self, text: &str) -> Option<Range<usize>> {
        let words = self.words.iter().filter_map(|word| find_word(text, word));
        let pattern = self.pattern.iter().filter_map(|pattern| pattern.find_first(text));
        words
            .chain(pattern)
            .filter(|range| !range.is_empty())
            .min_by_key(|range| (range.start, Reverse(range.end)))
    }

    /// Turns a hit into one with an excerpt.
    pub fn to_shown_hit(&self, MessageHit { id, role, timestamp, text, .. }: MessageHit) -> ShownHit {
        ShownHit { id, role, timestamp, excerpt: self.excerpt(&text) }
    }

    /// Returns the text around the first word, with the words marked; the beginning of the text if it has none.
    pub fn excerpt(&self, text: &str) -> Vec<ExcerptPart> {
        let word_range = |word: &Vec<char>| find_word(text, word);
        let at = self.find_first(text).or_else(|| self.words.iter().find_map(word_range)).unwrap_or(0..0);
        let shown = &text[grapheme_boundary(text, at.start.saturating_sub(BYTES_BEFORE_WORD), false)
            ..grapheme_boundary(text, at.end + BYTES_AFTER_WORD, true)];
        let mut parts = Vec::new();
        let mut done = 0;
        while let Some(next) = self.find_next(&shown[done..]) {
            let (from, to) = (done + next.start, done + next.end);
            parts.push(ExcerptPart { text: shown[done..from].into(), is_hit: false });
            parts.push(ExcerptPart { text: shown[from..to].into(), is_hit: true });
            done = to;
        }
        parts.push(ExcerptPart { text: shown[done..].into(), is_hit: false });
        parts.retain(|part| !part.text.is_empty());
        parts
    }
}

fn message_texts(message: &Message) -> Vec<&str> {
    let assistant = message.assistant.iter();
    let reasoning = assistant
        .clone()
        .flat_map(|assistant| &assistant.reasoning)
        .map(|reasoning_block| reasoning_block.text.as_str());
    let calls = assistant.flat_map(|assistant| &assistant.tool_calls).map(|call| call.arguments.as_str());
    core::iter::once(message.content.as_str()).chain(reasoning).chain(calls).collect()
}

/// True if these words have a quoted phrase, which is matched literally.
pub fn has_quotes(words: &str) -> bool {
    quoted_parts(words).any(|(_, is_quoted)| is_quoted)
}

/// Splits a search into its quoted phrases and its other words.
pub fn split_quoted(words: &str) -> (Vec<&str>, Vec<&str>) {
    let of = |is_wanted: bool| {
        let parts = quoted_parts(words).filter(move |(_, is_quoted)| *is_quoted == is_wanted);
        parts.map(|(part, _)| part).collect()
    };
    (of(true), of(false))
}

// Splits a search into words and quoted phrases.
fn split_parts(text: &str) -> impl Iterator<Item = &str> {
    quoted_parts(text).map(|(part, _)| part)
}

// Splits a text into parts, each with whether it is quoted.
fn quoted_parts(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = text;
    core::iter::from_fn(move || {
        rest = rest.trim_start();
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let found = split_leading_quote(rest);
        let is_quoted = found.is_some();
        let (part, behind) = found.unwrap_or_else(|| rest.split_at(end));
        rest = behind;
        (!part.is_empty()).then_some((part, is_quoted))
    })
}

// Splits off a leading quotation. A quote inside a word is one of its characters, as in JSON.
fn split_leading_quote(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('"')?;
    let is_last = |at: &usize| inside[at + 1..].chars().next().is_none_or(char::is_whitespace);
    let end = inside.match_indices('"').map(|(at, _)| at).find(is_last)?;
    let part = inside[..end].trim();
    (!part.is_empty()).then_some((part, &inside[end + 1..]))
}

// Folds case and drops accents; a combining accent becomes nothing.
fn normalize_letters(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|char| !is_accent(*char)).flat_map(base_letters)
}

// Folds case by both of Unicode's mappings: `ς` to `σ`, and `ß` to `ss`. Latin letters lose their accents by a
// table that goes beyond decompositions, as for `ø`; Greek letters, whose capitals have none, by the cases here.
fn base_letters(char: char) -> impl Iterator<Item = char> {
    let folded = char.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    folded.map(without_accents).filter(|char| !is_accent(*char))
}

fn without_accents(char: char) -> char {
    match char {
        '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => chars::normalize(char),
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => {
            let mut first = None;
            decompose_canonical(char, |part| first = first.or(Some(part)));
            first.unwrap_or(char)
        }
        _ => char,
    }
}

fn is_accent(char: char) -> bool {
    matches!(char, '\u{300}'..='\u{36f}')
}

// True if an escape with these digits is more than a control character or an ASCII letter.
fn is_letter(digits: &[u8]) -> bool {
    !digits.starts_with(b"00") || digits.get(2).is_some_and(|digit| *digit > b'7')
}

// Returns the first place of a folded word in a text.
fn find_word(text: &str, word: &[char]) -> Option<Range<usize>> {
    let head = word.first()?;
    // Nearly all letters of a text begin no match, and are ASCII.
    let is_head = |char: char| match char.is_ascii() {
        true => char.to_ascii_lowercase() == *head,
        false => base_letters(char).next() == Some(*head),
    };
    text.char_indices().filter(|(_, char)| is_head(*char)).find_map(|(start, _)| {
        let mut left = word.iter();
        let mut end = start;
        for char in text[start..].chars() {
            if !is_accent(char) {
                if left.len() == 0 {
                    break;
                }
                if !base_letters(char).all(|letter| left.next() == Some(&letter)) {
                    return None;
                }
            }
            end += char.len_utf8();
        }
        (left.len() == 0).then_some(start..end)
    })
}

// Returns the longest part that JSON contains literally, apart from ASCII case.
fn longest_plain(word: &[char]) -> Vec<u8> {
    let is_plain = |char: &char| {
        char.is_ascii_alphanumeric()
            || !char.is_ascii() && char.to_lowercase().eq([*char]) && char.to_uppercase().eq([*char])
    };
    let longest = word.split(|char| !is_plain(char)).max_by_key(|run| run.len()).unwrap_or_default();
    longest.iter().collect::<String>().into_bytes()
}

// Returns the lines with a match, each once.
fn lines_with(bytes: &[u8], find: impl Fn(&[u8]) -> Option<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut done = 0;
    core::iter::from_fn(move || {
        let at = done + find(bytes.get(done..).filter(|rest| !rest.is_empty())?)?;
        let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |feed| feed + 1);
        done = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |feed| at + feed + 1);
        Some(start..done)
    })
}

// Returns the first place of lowercase letters in a text, whatever its case.
fn find_plain(bytes: &[u8], word: &[u8]) -> Option<usize> {
    let Some((before, rare)) = word.iter().enumerate().min_by_key(|(_, byte)| frequency_rank(**byte)) else {
        return Some(0);
    };
    let starts =
        memchr::memchr2_iter(*rare, rare.to_ascii_uppercase(), bytes).filter_map(|at| at.checked_sub(before));
    let mut is_there = starts.filter(|start| {
        bytes.get(*start..*start + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word))
    });
    is_there.next()
}

// Ranks letters by frequency, the rarest first; any byte not listed is rarer still.
fn frequency_rank(byte: u8) -> usize {
    b"zqjx0123456789kvbpygwmufcldhsrniaote".iter().position(|rare| *rare == byte).map_or(0, |place| place + 1)
}
