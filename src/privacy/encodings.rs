//! Finds text in another form inside a text: base64, as files come in messages, and the strings of JSON, as arguments
//! of calls are written. Each has its place, its decoded text, and a way to write another text in its stead.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use crate::json::fields::end_of_string;
use crate::json::text::Text;

/// The shortest base64 that is read: a shorter one has no room for a secret.
const MIN_BASE64_CHARS: usize = 20;
/// The shortest line of base64, but the last one.
const MIN_LINE_CHARS: usize = 60;
/// The deepest indent of its lines.
const MAX_INDENT_CHARS: usize = 16;
/// A text of so many bytes that is base64 and nothing else is a file.
const MIN_FILE_BYTES: usize = 4096;
/// A shorter piece counts only if it can be a text: random bytes have more controls among so many characters than one.
const MIN_RANDOM_BYTES: usize = 1024;
const CHARS_PER_CONTROL: usize = 20;

/// A text inside another one.
#[derive(Debug)]
pub(super) struct EncodedText {
    pub place: Range<usize>,
    pub text: String,
    /// The key that the text stands under.
    pub key: String,
    pub coding: Coding,
}

/// The encoding of a text inside another one.
#[derive(Debug)]
pub(super) enum Coding {
    /// A string of JSON.
    Json,
    /// Base64; each of its bytes is taken as a character, so that every other byte comes back as it was.
    Base64(Base64),
}

#[derive(Debug)]
pub(super) struct Base64 {
    /// Characters before it that stay: a cut may have gone through a group of four.
    prefix: String,
    /// True if the bytes are UTF-16.
    is_wide: bool,
    is_of_urls: bool,
    is_padded: bool,
}

impl Coding {
    pub fn encode(&self, text: &str) -> String {
        let Coding::Base64(Base64 { prefix: before, is_wide, is_of_urls, is_padded }) = self else {
            return serde_json::to_string(text).expect("a text is written to memory");
        };
        let bytes: Vec<u8> = if *is_wide {
            text.encode_utf16().flat_map(u16::to_le_bytes).collect()
        } else {
            text.chars().map(|letter| letter as u8).collect()
        };
        let encoded = if *is_of_urls { URL_SAFE_NO_PAD.encode(bytes) } else { STANDARD.encode(bytes) };
        let kept = if *is_padded { &encoded } else { encoded.trim_end_matches('=') };
        [before, kept].concat()
    }
}

/// True if a text may be JSON that has strings.
pub(super) fn is_like_json(text: &str) -> bool {
    let bare = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    bare.starts_with(['{', '[', '"']) && bare.ends_with(['}', ']', '"'])
}

/// Returns the strings of a text that is JSON, or was meant to be; one that is not closed goes to the end. Without
/// `all`, only those whose decoded text differs from their literal.
pub(super) fn strings_in(text: &str, all: bool) -> Vec<EncodedText> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut key = String::new();
    let mut at = 0;
    while let Some(start) = memchr::memchr(b'"', &bytes[at..]).map(|found| at + found) {
        let end = end_of_string(bytes, start + 1);
        let literal = &text[start..end];
        let behind = text[end..].trim_start_matches([' ', '\t', '\r', '\n']);
        let is_key = behind.starts_with(':');
        let is_wanted = all || literal.contains('\\');
        if is_key || is_wanted {
            let decoded = decode_literal(literal);
            let name = if is_key { String::new() } else { key.clone() };
            if is_key {
                key.clone_from(&decoded);
            }
            if is_wanted {
                found.push(EncodedText { place: start..end, text: decoded, key: name, coding: Coding::Json });
            }
        }
        at = end;
    }
    found
}

/// Decodes a string; if its escapes are invalid, or it is not closed, returns it as it stands.
fn decode_literal(literal: &str) -> String {
    if let Some(text) = Text::decode(literal) {
        return text.into_shown();
    }
    let inner = literal.get(1..).unwrap_or_default();
    let is_closed = end_of_string(literal.as_bytes(), 1) == literal.len() && literal.ends_with('"');
    let inner = if is_closed { inner.strip_suffix('"').unwrap_or(inner) } else { inner };
    inner.to_owned()
}

/// Finds the base64 in a text.
pub(super) fn base64_in(text: &str) -> Vec<EncodedText> {
    if text.len() < MIN_BASE64_CHARS {
        return Vec::new();
    }
    if is_file(text) {
        return decode_base64(text, 0..text.len()).into_iter().collect();
    }
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = bytes[at..].iter().position(is_sign).map(|found| at + found) {
        let (first, end) = measure_run(bytes, start);
        if first >= MIN_BASE64_CHARS {
            found.extend(decode_base64(text, start..end));
        }
        at = end;
    }
    found
}

fn is_sign(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-')
}

fn signs_at(bytes: &[u8], start: usize) -> usize {
    bytes[start..].iter().take_while(|byte| is_sign(byte)).count()
}

/// Measures the first line that begins there, and finds the end of the last one: lines of one width, or one piece.
fn measure_run(bytes: &[u8], start: usize) -> (usize, usize) {
    let first = signs_at(bytes, start);
    let (mut line, mut end) = (first, start + first);
    while line >= MIN_LINE_CHARS {
        let feed = if bytes.get(end) == Some(&b'\r') { end + 1 } else { end };
        if bytes.get(feed) != Some(&b'\n') {
            break;
        }
        let blanks = bytes[feed + 1..]
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .take(MAX_INDENT_CHARS)
            .count();
        line = signs_at(bytes, feed + 1 + blanks);
        if line == 0 {
            break;
        }
        end = feed + 1 + blanks + line;
    }
    if first >= MIN_BASE64_CHARS {
        end += bytes[end..].iter().take(2).take_while(|byte| **byte == b'=').count();
    }
    (first, end)
}

/// True if all of the text is a file, in one line or in long ones: none of it is plain text.
fn is_file(text: &str) -> bool {
    let is_blank = |c: char| c.is_whitespace() || c == '\u{feff}';
    let is_of_file = |c: char| c == '=' || is_blank(c) || (c.is_ascii() && is_sign(&(c as u8)));
    if text.len() <= MIN_FILE_BYTES || !text.chars().all(is_of_file) {
        return false;
    }
    let begins = text
        .chars()
        .zip(text.chars().skip(1))
        .filter(|(one, next)| !is_blank(*one) && is_blank(*next))
        .count();
    begins + usize::from(text.starts_with(is_blank)) < text.len() / MIN_LINE_CHARS
}

fn decode_base64(text: &str, place: Range<usize>) -> Option<EncodedText> {
    let run = &text[place.clone()];
    let read = read_from_a_sign(run);
    let (skipped, bytes) =
        read.or_else(|| (run.len() >= MIN_RANDOM_BYTES).then(|| (0, decode_bytes(run))))?;
    let is_wide = is_wide(&bytes);
    let plain = if is_wide {
        let units = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        char::decode_utf16(units).map(|letter| letter.unwrap_or('\u{fffd}')).collect()
    } else {
        bytes.iter().map(|byte| char::from(*byte)).collect()
    };
    let is_of_urls = run.contains(['-', '_']);
    let is_padded = run.ends_with('=') || is_of_urls;
    let coding = Coding::Base64(Base64 { prefix: run[..skipped].into(), is_wide, is_of_urls, is_padded });
    Some(EncodedText { place, text: plain, key: String::new(), coding })
}

// A run that was cut may begin behind any character of four. Read from another one than the first, it may seem to be a
// text, too, but with letters beyond ASCII.
fn read_from_a_sign(run: &str) -> Option<(usize, Vec<u8>)> {
    let mut best: Option<(usize, usize, Vec<u8>)> = None;
    for skipped in 0..4 {
        let Some(rest) = run.get(skipped..) else { break };
        let bytes = decode_bytes(rest);
        if is_wide(&bytes) {
            return Some((skipped, bytes));
        }
        let beyond = bytes.iter().filter(|byte| !byte.is_ascii()).count();
        if is_text(&bytes) && best.as_ref().is_none_or(|(least, ..)| beyond < *least) {
            if beyond == 0 {
                return Some((skipped, bytes));
            }
            best = Some((beyond, skipped, bytes));
        }
    }
    best.map(|(_, skipped, bytes)| (skipped, bytes))
}

fn is_wide(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe])
}

fn is_text(bytes: &[u8]) -> bool {
    let is_control = |byte: &&u8| (**byte < 32 && !matches!(byte, 9 | 10 | 13 | 27)) || **byte == 127;
    bytes.iter().filter(is_control).count() * CHARS_PER_CONTROL <= bytes.len()
}

/// Decodes base64, in either alphabet, up to its padding. Any other characters are passed by, and so is half a byte at
/// the end.
fn decode_bytes(run: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(run.len() / 4 * 3 + 3);
    let (mut bits, mut held) = (0u32, 0);
    for sign in run.bytes() {
        let value = match sign {
            b'A'..=b'Z' => sign - b'A',
            b'a'..=b'z' => sign - b'a' + 26,
            b'0'..=b'9' => sign - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}
