//! Finding words in what was said: in raw bytes first, and in messages only where these have them.
//!
//! The host feeds whole lines of a log, the newest first, gets the places of those that may have all words, and asks of
//! each what it says. Words are found whatever their case and accents. What lies in a blob is asked for by [`LineMatch::NeedsBlob`]. A text is
//! cut to what is shown by a call of its own, so that the host can take out first what must not be.

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

// Lines with these have to be looked at, whatever they say: texts elsewhere, and messages that were written again.
const BLOB: &[u8] = b"\"blob\":";
const REVISION: &[u8] = b"\"rev\":";
// Letters beyond ASCII stand in lines of others' making like this.
const ESCAPE: &[u8] = b"\\u";
// How letters begin that are Latin ones with accents, and the accents that stand alone; ligatures, and signs that are letters:
// `ﬁ`, `K`. No other letter is plain once it is folded.
const ACCENTS: [[u8; 3]; 3] = [[0xc3, 0xc4, 0xc5], [0xc6, 0xc7, 0xc8], [0xc9, 0xcc, 0xcd]];
const SIGNS: [&[u8]; 4] = [b"\xe1", b"\xef\xac", b"\xe2\x84", b"\xe2\xb1"];
// How much of a text is shown before the first word, and behind it, in bytes.
const BEFORE: usize = 60;
const BEHIND: usize = 140;

/// Words that are looked for in logs.
#[derive(Debug)]
pub struct LogSearch {
    words: Vec<Vec<char>>,
    // The longest part of each that stands in a line as it is, but for the case of ASCII.
    plain: Vec<Vec<u8>>,
    // Messages of which a newer revision was seen.
    revised_ids: BTreeSet<String>,
    // A message that waits for its blobs.
    unfolding: Option<BlobRestoration>,
    // What is looked for in place of words.
    pattern: Option<Rc<dyn Pattern>>,
    // What may not leave is not to be found.
    is_outgoing: bool,
}

/// What is looked for in texts, beside words.
pub trait Pattern: Debug {
    /// Where it stands first in a text.
    fn find_first(&self, text: &str) -> Option<Range<usize>>;
}

/// What a line has of the words.
#[derive(Debug)]
pub enum LineMatch {
    /// Nothing.
    None,
    /// Only the host can tell: the bytes of the blob are wanted, see [`LogSearch::take_blob`].
    NeedsBlob {
        /// Its id.
        blob: String,
    },
    /// All of them.
    Hit(MessageHit),
    /// This, of which the host says what may leave: see [`LogSearch::for_outgoing`].
    Redactable(Box<Message>),
}

/// A message that has all words.
#[derive(Debug)]
pub struct MessageHit {
    /// The message's id.
    pub id: String,
    /// Its role.
    pub role: Option<Role>,
    /// RFC 3339.
    pub timestamp: Option<String>,
    /// The text in which the first word stands, whole: see [`LogSearch::excerpt`].
    pub text: String,
}

/// A hit as it is shown.
#[derive(Debug, Serialize)]
pub struct ShownHit {
    /// The message's id.
    pub id: String,
    /// Its role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// What stands around the first word.
    pub excerpt: Vec<ExcerptPart>,
}

/// A piece of a text.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExcerptPart {
    /// The piece.
    pub text: String,
    /// Whether it is one of the words.
    pub is_hit: bool,
}

/// Of messages that are nowhere stored those that have all of these words, the newest first: a JSON array of `{"id","role",
/// "timestamp","excerpt"}`.
pub fn search_messages(words: &str, messages: &[Message]) -> String {
    let lines: String = messages.iter().map(|message| to_json(message) + "\n").collect();
    let mut search = LogSearch::new(words);
    let hits: Vec<_> =
        search.find_all(lines.as_bytes()).into_iter().map(|hit| search.to_shown_hit(hit)).collect();
    to_json(&hits)
}

impl LogSearch {
    /// Looks for these words, which are apart by white space; what stands between two quotes is one. Without any, nothing is
    /// found.
    pub fn new(words: &str) -> LogSearch {
        LogSearch::of_parts(split_parts(words))
    }

    /// Looks for each of these as it stands there.
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

    /// Looks for a pattern: every line has to be looked at.
    pub fn for_pattern(pattern: Rc<dyn Pattern>) -> LogSearch {
        LogSearch { pattern: Some(pattern), ..LogSearch::of_parts(core::iter::empty()) }
    }

    /// The same, where the host looks at what a line says before it may be found: see [`LogSearch::find_hit`].
    #[cfg(feature = "interop")]
    pub fn for_outgoing(self) -> LogSearch {
        LogSearch { is_outgoing: true, ..self }
    }

    /// The pattern, where one is looked for.
    #[cfg(feature = "interop")]
    pub fn pattern(&self) -> Option<Rc<dyn Pattern>> {
        self.pattern.clone()
    }

    /// The places of the lines that have to be looked at, the newest first. `bytes` are whole lines.
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
        for [one, two, three] in ACCENTS {
            let lines = lines_with(bytes, |rest| memchr::memchr3(one, two, three, rest));
            found.extend(lines.filter(is_hit));
        }
        for sign in SIGNS {
            let finder = memmem::Finder::new(sign);
            found.extend(lines_with(bytes, |rest| finder.find(rest)).filter(is_hit));
        }
        for mark in [BLOB, REVISION] {
            let finder = memmem::Finder::new(mark);
            found.extend(lines_with(bytes, |rest| finder.find(rest)));
        }
        let escape = memmem::Finder::new(ESCAPE);
        let escaped = |rest: &[u8]| escape.find_iter(rest).find(|at| is_letter(&rest[at + ESCAPE.len()..]));
        found.extend(lines_with(bytes, escaped));
        found.sort_by_key(|line| Reverse(line.start));
        found.dedup();
        found
    }

    /// What a line says.
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

    /// All of these lines that have the words, the newest first, where no text lies elsewhere.
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

    /// Takes a blob that was wanted; nothing where there is none.
    pub fn take_blob(&mut self, id: &str, bytes: Option<&[u8]>) -> LineMatch {
        let Some(mut unfolding) = self.unfolding.take() else { return LineMatch::None };
        // Without it, the ends of its text are searched: doctor says what is missing.
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

    /// What a message has of the words; told is what it says as it is shown.
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

    // Where the first word stands, or the pattern.
    fn find_first(&self, text: &str) -> Option<Range<usize>> {
        match &self.pattern {
            Some(pattern) => pattern.find_first(text),
            None => find_word(text, self.words.first()?),
        }
    }

    // Where one of the words stands first, or the pattern.
    fn find_next(&self, text: &str) -> Option<Range<usize>> {
        let words = self.words.iter().filter_map(|word| find_word(text, word));
        let pattern = self.pattern.iter().filter_map(|pattern| pattern.find_first(text));
        words.chain(pattern).filter(|one| !one.is_empty()).min_by_key(|one| (one.start, Reverse(one.end)))
    }

    /// A hit, with what stands around the first word.
    pub fn to_shown_hit(&self, MessageHit { id, role, timestamp, text, .. }: MessageHit) -> ShownHit {
        ShownHit { id, role, timestamp, excerpt: self.excerpt(&text) }
    }

    /// The words in their place, and what stands around the first; the beginning of a text that has none.
    pub fn excerpt(&self, text: &str) -> Vec<ExcerptPart> {
        let one = |word: &Vec<char>| find_word(text, word);
        let at = self.find_first(text).or_else(|| self.words.iter().find_map(one)).unwrap_or(0..0);
        let shown = &text[grapheme_boundary(text, at.start.saturating_sub(BEFORE), false)
            ..grapheme_boundary(text, at.end + BEHIND, true)];
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
    let reasoning = assistant.clone().flat_map(|assistant| &assistant.reasoning).map(|one| one.text.as_str());
    let calls = assistant.flat_map(|assistant| &assistant.tool_calls).map(|call| call.arguments.as_str());
    core::iter::once(message.content.as_str()).chain(reasoning).chain(calls).collect()
}

/// Whether something in these words stands in quotes, so that it is looked for as it stands there.
pub fn has_quotes(words: &str) -> bool {
    quoted_parts(words).any(|(_, is_quoted)| is_quoted)
}

/// What stands in quotes in these words, and the other words.
pub fn split_quoted(words: &str) -> (Vec<&str>, Vec<&str>) {
    let of = |is_wanted: bool| {
        let parts = quoted_parts(words).filter(move |(_, is_quoted)| *is_quoted == is_wanted);
        parts.map(|(part, _)| part).collect()
    };
    (of(true), of(false))
}

// What a text is looked for by: its words, and what is quoted.
fn split_parts(text: &str) -> impl Iterator<Item = &str> {
    quoted_parts(text).map(|(part, _)| part)
}

// Each with whether it is quoted.
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

// What is quoted at the front, and the rest. A quote within a word is a letter of it, as in JSON.
fn split_leading_quote(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('"')?;
    let is_last = |at: &usize| inside[at + 1..].chars().next().is_none_or(char::is_whitespace);
    let end = inside.match_indices('"').map(|(at, _)| at).find(is_last)?;
    let part = inside[..end].trim();
    (!part.is_empty()).then_some((part, &inside[end + 1..]))
}

// Letters without case and accents; an accent that stands alone is none.
fn normalize_letters(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|char| !is_accent(*char)).flat_map(base_letters)
}

// Case is folded as Unicode says, by both of its mappings: `ς` is `σ`, and `ß` is `ss`. Latin letters lose their accents by a
// table that knows more than decompositions, as `ø`; Greek ones, which capitals have none of, by these.
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

// Whether an escape of these digits is more than a control or a letter of ASCII.
fn is_letter(digits: &[u8]) -> bool {
    !digits.starts_with(b"00") || digits.get(2).is_some_and(|digit| *digit > b'7')
}

// Where a word, folded, stands first in a text.
fn find_word(text: &str, word: &[char]) -> Option<Range<usize>> {
    let head = word.first()?;
    // Nearly all letters of a text are no beginning, and of ASCII.
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
                if !base_letters(char).all(|one| left.next() == Some(&one)) {
                    return None;
                }
            }
            end += char.len_utf8();
        }
        (left.len() == 0).then_some(start..end)
    })
}

// What stands in JSON as it is, or in another case of ASCII.
fn longest_plain(word: &[char]) -> Vec<u8> {
    let is_plain = |char: &char| {
        char.is_ascii_alphanumeric()
            || !char.is_ascii() && char.to_lowercase().eq([*char]) && char.to_uppercase().eq([*char])
    };
    let longest = word.split(|char| !is_plain(char)).max_by_key(|run| run.len()).unwrap_or_default();
    longest.iter().collect::<String>().into_bytes()
}

// The lines in which something is found, each once.
fn lines_with(bytes: &[u8], find: impl Fn(&[u8]) -> Option<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut done = 0;
    core::iter::from_fn(move || {
        let at = done + find(bytes.get(done..).filter(|rest| !rest.is_empty())?)?;
        let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |feed| feed + 1);
        done = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |feed| at + feed + 1);
        Some(start..done)
    })
}

// Where the letters, in lower case, stand first, whatever their case there.
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

// Letters by how often they are met, the rarest first; what is none of these is rarer.
fn frequency_rank(byte: u8) -> usize {
    b"zqjx0123456789kvbpygwmufcldhsrniaote".iter().position(|one| *one == byte).map_or(0, |place| place + 1)
}
