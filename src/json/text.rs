//! Strings as they were stored, and objects as they are written.
//!
//! A `String` cannot hold a lone surrogate; [`Text`] can. Fields that leftoff does not know stay the slices they were
//! read as, and are written back unchanged.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{Deserializer, Visitor};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use unicode_segmentation::GraphemeCursor;

use crate::json::blob::{Blob, BlobId};
use crate::json::fields::{BadValue, Field, Fields, FromFields, reject};

/// A string from JSON: the text to show and, if a lone surrogate stood in it, the literal it was read from.
///
/// It is written back as it was: `"\ud83d"` stays `"\ud83d"`, though it is shown as U+FFFD.
///
/// A text that is too large for its line lies in a blob. Until it is put back, its beginning and its end are shown.
#[derive(Clone, Default, PartialEq, Eq)]
#[cfg_attr(
    test,
    derive(ts_rs::TS),
    ts(type = "string | { blob: string, bytes: number, json?: boolean, head: string, tail: string }")
)]
pub struct Text {
    display: String,
    raw: Option<Box<str>>,
    excerpt: Option<Box<BlobExcerpt>>,
}

/// The part of a blob's text that its line keeps.
#[derive(Clone, PartialEq, Eq, Serialize)]
struct BlobExcerpt {
    blob: String,
    bytes: u64,
    /// True if the blob holds the text as JSON, because a lone surrogate stands in it.
    #[serde(skip_serializing_if = "is_default")]
    json: bool,
    head: String,
    tail: String,
}

// The bytes of a text's beginning, and of its end, that a line keeps: more than any shortening rule leaves of prose.
const KEPT_END_BYTES: usize = 4096;

impl Text {
    /// Returns the text as valid Unicode; a lone surrogate becomes U+FFFD.
    pub fn as_str(&self) -> &str {
        &self.display
    }

    /// True if half of a surrogate pair stands in it, which is shown as U+FFFD.
    pub(crate) fn has_lone_surrogates(&self) -> bool {
        self.raw.is_some()
    }

    /// Turns it into the string that is shown.
    pub(crate) fn into_shown(self) -> String {
        self.display
    }

    /// True if the text is empty.
    pub fn is_empty(&self) -> bool {
        self.display.is_empty()
    }

    /// Returns the id of the blob that the text lies in.
    pub fn blob(&self) -> Option<&str> {
        self.excerpt.as_ref().map(|apart| apart.blob.as_str())
    }

    /// Returns its length in bytes, wherever it lies.
    pub fn byte_len(&self) -> u64 {
        self.excerpt.as_ref().map_or(self.display.len() as u64, |apart| apart.bytes)
    }

    /// Copies the shown part as a text of its own.
    pub(crate) fn as_shown(&self) -> Text {
        Text::from(self.as_str())
    }

    /// Moves a text of more than `limit` bytes into a blob.
    pub(crate) fn move_to_blob(&mut self, limit: usize) -> Option<Blob> {
        if self.display.len() <= limit || self.excerpt.is_some() {
            return None;
        }
        let json = self.raw.is_some();
        let bytes = self.raw.take().map_or_else(|| self.display.clone(), String::from).into_bytes();
        let blob = Blob::new(bytes);
        let head = self.display[..grapheme_boundary(&self.display, KEPT_END_BYTES, false)].into();
        let tail = self.display
            [grapheme_boundary(&self.display, self.display.len() - KEPT_END_BYTES, true)..]
            .into();
        *self = Text::from_excerpt(BlobExcerpt {
            blob: blob.id.clone(),
            bytes: self.display.len() as u64,
            json,
            head,
            tail,
        });
        Some(blob)
    }

    /// Puts the text back from the bytes of its blob, whose hash the caller has checked.
    pub(crate) fn restore_from_blob(&mut self, bytes: &[u8]) -> bool {
        let Some(apart) = &self.excerpt else { return true };
        let text = core::str::from_utf8(bytes).ok();
        let whole =
            text.and_then(|text| if apart.json { Text::decode(text) } else { Some(Text::from(text)) });
        match whole {
            Some(whole) => *self = whole,
            None => return false,
        }
        true
    }

    fn from_excerpt(apart: BlobExcerpt) -> Text {
        let left_out = apart.bytes.saturating_sub((apart.head.len() + apart.tail.len()) as u64);
        let shown = format!("{}\n[... {left_out} bytes left out ...]\n{}", apart.head, apart.tail);
        Text { display: shown, raw: None, excerpt: Some(apart.into()) }
    }

    /// Joins texts. `between` is not empty, so that two lone surrogates never meet and become a pair.
    pub(crate) fn join(mut parts: Vec<Text>, between: &str) -> Text {
        if parts.len() < 2 {
            return parts.pop().unwrap_or_default();
        }
        let shown = parts.iter().map(Text::as_str).collect::<Vec<_>>().join(between);
        if parts.iter().all(|part| part.raw.is_none()) {
            return Text::from(shown);
        }
        let inner = |literal: &str| literal.get(1..literal.len() - 1).unwrap_or_default().to_owned();
        let literals = parts.iter().map(|part| inner(&to_json(part))).collect::<Vec<_>>();
        let raw = format!("\"{}\"", literals.join(&inner(&to_json(between))));
        Text { display: shown, raw: Some(raw.into()), excerpt: None }
    }

    pub(crate) fn decode(raw: &str) -> Option<Text> {
        let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
        if let Some(plain) = unescape(inner) {
            return Some(Text::from(plain));
        }
        let mut json = serde_json::Deserializer::from_str(raw);
        let bytes = json.deserialize_bytes(BytesVisitor).ok()?;
        Some(match String::from_utf8(bytes) {
            Ok(shown) => Text::from(shown),
            Err(wrong) => Text {
                display: without_lone_surrogates(wrong.as_bytes()),
                raw: Some(raw.to_owned().into()),
                excerpt: None,
            },
        })
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text::from(text.to_owned())
    }
}

impl From<String> for Text {
    fn from(shown: String) -> Text {
        Text { display: shown, raw: None, excerpt: None }
    }
}

impl Field for Text {
    fn read(raw: &str, path: &str, bad: &mut Vec<BadValue>) -> Option<Text> {
        if raw.starts_with('{') && Fields::parse(raw).is_ok_and(|fields| fields.has("blob")) {
            return BlobExcerpt::read(raw, path, bad).map(Text::from_excerpt);
        }
        Text::decode(raw).or_else(|| reject(raw, path, "a string", bad))
    }
}

impl FromFields for BlobExcerpt {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<BlobExcerpt> {
        Some(BlobExcerpt {
            blob: fields.take::<BlobId>("blob", bad)?.0,
            bytes: fields.take("bytes", bad).unwrap_or_default(),
            json: fields.take("json", bad).unwrap_or_default(),
            head: fields.take("head", bad).unwrap_or_default(),
            tail: fields.take("tail", bad).unwrap_or_default(),
        })
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.raw {
            Some(raw) => f.write_str(raw),
            None => self.display.fmt(f),
        }
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (&self.raw, &self.excerpt) {
            (Some(raw), _) => raw_value(raw).serialize(serializer),
            (None, Some(apart)) => apart.serialize(serializer),
            (None, None) => serializer.serialize_str(&self.display),
        }
    }
}

// Decodes a valid literal between its quotes; `None` if a `\u` stands in it, which is rare and has more rules.
fn unescape(inner: &str) -> Option<String> {
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        text.push_str(&rest[..at]);
        text.push(match rest.as_bytes().get(at + 1)? {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            plain @ (b'"' | b'\\' | b'/') => char::from(*plain),
            _ => return None,
        });
        rest = &rest[at + 2..];
    }
    text.push_str(rest);
    Some(text)
}

/// The fields of an object that leftoff does not know, in their order, as they were read.
#[derive(Clone, Default)]
pub struct Extra(pub(crate) Vec<(Box<str>, Box<str>)>);

impl Extra {
    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns key and value of each field, both as JSON.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (&**key, &**value))
    }
}

impl PartialEq for Extra {
    fn eq(&self, other: &Extra) -> bool {
        self.0 == other.0
    }
}

impl fmt::Debug for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// An object with fields that leftoff does not know, beside those that its `Serialize` writes.
pub(crate) trait Open: Serialize {
    fn extra(&self) -> &Extra;
}

/// Writes a value as JSON on one line, whatever blanks stand in its raw slices.
#[doc(hidden)]
pub fn to_json(value: &(impl Serialize + ?Sized)) -> String {
    let json = serde_json::to_string(value).expect("every type here has string keys and writes to memory");
    on_one_line(json)
}

/// Writes an [`Open`] object as JSON: its known fields, then the unknown ones.
pub(crate) fn to_open_json(value: &impl Open) -> String {
    with_extra(to_json(value), value.extra())
}

fn with_extra(mut json: String, extra: &Extra) -> String {
    if !extra.is_empty() {
        json.pop();
        for (key, field) in extra.iter() {
            let comma = if json.ends_with('{') { "" } else { "," };
            json.push_str(&on_one_line(format!("{comma}{key}:{field}")));
        }
        json.push('}');
    }
    json
}

/// Writes an [`Open`] object as JSON for people, each field on its own line.
pub(crate) fn to_pretty_json(value: &impl Open) -> String {
    let json = to_open_json(value);
    let fields = Fields::parse(&json).expect("what it holds was read as an object's fields, or is no object");
    let lines: Vec<String> = fields.iter().map(|(key, value)| format!("  {key}: {value}")).collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

/// `serialize_with` for an [`Open`] object inside another.
pub(crate) fn open<T: Open, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    raw_value(&to_open_json(value)).serialize(serializer)
}

/// `serialize_with` for an [`Open`] object inside another, where it may be absent.
pub(crate) fn open_option<T: Open, S: Serializer>(
    value: &Option<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => open(value, serializer),
        None => serializer.serialize_none(),
    }
}

/// `serialize_with` for [`Open`] objects inside another.
pub(crate) fn open_all<T: Open, S: Serializer>(values: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(|value| raw_value(&to_open_json(value))))
}

fn raw_value(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).expect("slices of parsed JSON and our own output are valid JSON")
}

/// Removes the blanks between the parts of a JSON text.
pub(crate) fn compact_json(json: &str) -> String {
    let (mut is_inside, mut is_escaped) = (false, false);
    let is_meant = |c: &char| {
        if is_inside {
            is_inside = *c != '"' || is_escaped;
            is_escaped = *c == '\\' && !is_escaped;
            return true;
        }
        is_inside = *c == '"';
        !c.is_ascii_whitespace()
    };
    json.chars().filter(is_meant).collect()
}

// Line breaks stand only between the tokens of a slice, never in a string; the three separators only in strings.
pub(crate) fn on_one_line(json: String) -> String {
    let bytes = json.as_bytes();
    let ends = |at: usize| bytes[at] != 0xe2 || matches!(bytes[at + 1..], [0x80, 0xa8 | 0xa9, ..]);
    let is_next = |at: usize| bytes.get(at + 1) == Some(&0x85);
    let has_breaks = memchr::memchr3_iter(b'\n', b'\r', 0xe2, bytes).any(ends);
    if !has_breaks && !memchr::memchr_iter(0xc2, bytes).any(is_next) {
        return json;
    }
    let mut line = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match c {
            '\n' | '\r' => line.push(' '),
            '\u{85}' => line.push_str("\\u0085"),
            '\u{2028}' => line.push_str("\\u2028"),
            '\u{2029}' => line.push_str("\\u2029"),
            other => line.push(other),
        }
    }
    line
}

/// Returns the grapheme boundary at a byte, or else the nearest one before or behind it.
pub(crate) fn grapheme_boundary(text: &str, at: usize, behind: bool) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at = if behind { at + 1 } else { at - 1 };
    }
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    if cursor.is_boundary(text, 0).unwrap_or(true) {
        return at;
    }
    let near = if behind { cursor.next_boundary(text, 0) } else { cursor.prev_boundary(text, 0) };
    near.ok().flatten().unwrap_or(if behind { text.len() } else { 0 })
}

/// True if a field has its default value, which is as good as absent.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

// serde_json writes a lone surrogate into the bytes as three bytes, 0xED first.
fn without_lone_surrogates(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        match core::str::from_utf8(rest) {
            Ok(valid) => {
                shown.push_str(valid);
                break;
            }
            Err(wrong) => {
                let (valid, surrogate) = rest.split_at(wrong.valid_up_to());
                shown.push_str(core::str::from_utf8(valid).expect("from_utf8 said so"));
                shown.push('\u{fffd}');
                rest = surrogate.get(3..).unwrap_or_default();
            }
        }
    }
    shown
}

struct BytesVisitor;

impl<'de> Visitor<'de> for BytesVisitor {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_go_but_those_within_strings() {
        for (json, expected) in [
            ("{\n  \"a b\": [1, 2 ],\r\n\t\"c\" : {} }", r#"{"a b":[1,2],"c":{}}"#),
            (r#"{"a": "\\", "b": "\" , "}"#, r#"{"a":"\\","b":"\" , "}"#),
            ("", ""),
        ] {
            assert_eq!(compact_json(json), expected);
        }
    }

    #[test]
    fn one_text_alone_stays_what_it_is_wherever_it_lies() {
        let mut long = Text::from("x".repeat(3 * KEPT_END_BYTES));
        let blob = long.move_to_blob(2 * KEPT_END_BYTES).expect("a blob");
        let joined = Text::join([long].into(), "\n");
        assert_eq!((joined.blob(), joined.byte_len()), (Some(&*blob.id), 3 * KEPT_END_BYTES as u64));
        assert_eq!(Text::join(Vec::new(), "\n"), Text::default());
    }

    #[test]
    fn every_escape_is_read_as_serde_json_reads_it() {
        for inner in
            ["", "plain ü", r#"\"\\\/\b\f\n\r\t"#, r"\\n", r"a\nb", r"\u0041\n", r"\ud83d\ude00\t", r"ü\"]
        {
            let literal = format!("\"{inner}\"");
            let expected: Option<String> = serde_json::from_str(&literal).ok();
            assert_eq!(Text::decode(&literal).map(|text| text.display), expected, "{literal}");
        }
    }
}
