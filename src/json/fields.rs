//! The fields of an object, each read by itself.
//!
//! A parser that builds numbers rejects `1e400`, serde's `String` rejects lone surrogates, and one bad value would cost
//! the whole record. So the fields of an object are read as raw slices first, each known one is then decoded by itself,
//! and a value that cannot be decoded costs its field. Reading never recurses: depth is limited to [`MAX_DEPTH`].

use alloc::borrow::{Cow, ToOwned};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::json::text::{Extra, Text};

/// The deepest nesting of arrays and objects that is read.
pub const MAX_DEPTH: usize = 128;

/// A value of the wrong kind in a known field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadValue {
    pub message: String,
}

/// Why bytes are no object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectError {
    /// Not JSON.
    Invalid,
    /// Nested deeper than [`MAX_DEPTH`].
    TooDeep,
    /// JSON of another kind, which is named here.
    Other(&'static str),
}

impl fmt::Display for ObjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ObjectError::Invalid => f.write_str("invalid JSON"),
            ObjectError::TooDeep => write!(f, "an object nested deeper than {MAX_DEPTH}"),
            ObjectError::Other(kind) => f.write_str(kind),
        }
    }
}

/// The fields of one object, each a slice of the JSON it stands in; callers take them one by one.
pub(crate) struct Fields<'a> {
    entries: Vec<Entry<'a>>,
    path: String,
}

struct Entry<'a> {
    key: Cow<'a, str>,
    raw_key: &'a str,
    value: &'a str,
}

impl<'a> Fields<'a> {
    /// Splits an object into its fields. Of a repeated key the last wins.
    pub fn parse(json: &'a str) -> Result<Fields<'a>, ObjectError> {
        if is_too_deep(json) {
            return Err(ObjectError::TooDeep);
        }
        match serde_json::from_str(json) {
            Ok(RawObject(entries)) => Ok(Fields { entries, path: String::new() }),
            Err(_) => Err(Fields::check(json).err().unwrap_or(ObjectError::Invalid)),
        }
    }

    /// Splits a field that is itself an object into its fields.
    pub fn parse_at(path: &str, json: &'a str, bad: &mut Vec<BadValue>) -> Option<Fields<'a>> {
        match Fields::parse(json) {
            Ok(fields) => Some(Fields { path: path.to_owned(), ..fields }),
            Err(_) => reject(json, path, "an object", bad),
        }
    }

    /// Checks that a text is an object; cheaper than splitting it.
    pub fn check(json: &str) -> Result<(), ObjectError> {
        if is_too_deep(json) {
            return Err(ObjectError::TooDeep);
        }
        match serde_json::from_str::<&RawValue>(json) {
            Err(_) => Err(ObjectError::Invalid),
            Ok(value) if value.get().starts_with('{') => Ok(()),
            Ok(value) => Err(ObjectError::Other(kind_of(value.get()))),
        }
    }

    /// True if the object has this field, whatever its value.
    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key)
    }

    /// Returns the value of the second field, if it has this key.
    pub fn second(&self, key: &str) -> Option<&'a str> {
        self.entries.get(1).filter(|entry| entry.key == key).map(|entry| entry.value)
    }

    /// Removes the second field.
    pub fn drop_second(&mut self) {
        self.entries.remove(1);
    }

    /// Takes a field out and decodes it. A value of another kind is reported and costs the field; `null` is absence.
    pub fn take<T: Field>(&mut self, key: &str, bad: &mut Vec<BadValue>) -> Option<T> {
        let value = self.take_raw(key).filter(|value| *value != "null")?;
        T::read(value, &self.path_to(key), bad)
    }

    /// Returns the path of a field, as errors name it.
    pub fn path_to<'k>(&self, key: &'k str) -> Cow<'k, str> {
        if self.path.is_empty() { key.into() } else { [&self.path, ".", key].concat().into() }
    }

    /// Returns a field's raw slice, and leaves the field in place.
    pub fn raw(&self, key: &str) -> Option<&'a str> {
        self.entries.iter().rev().find(|entry| entry.key == key).map(|entry| entry.value)
    }

    /// Takes a field out as its raw slice.
    pub fn take_raw(&mut self, key: &str) -> Option<&'a str> {
        let last = self.entries.iter().rposition(|entry| entry.key == key)?;
        let value = self.entries.remove(last).value;
        // Rarely, the same key stands before it, too.
        for at in (0..last).rev() {
            if self.entries[at].key == key {
                self.entries.remove(at);
            }
        }
        Some(value)
    }

    /// Returns key and value of each field that nobody took, both as JSON.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|entry| (entry.raw_key, entry.value))
    }

    /// Returns the decoded key and the value of each field that nobody took.
    pub fn decoded_entries(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.entries.iter().map(|entry| (&*entry.key, entry.value))
    }

    /// Returns the keys of the fields that nobody took.
    #[cfg(feature = "interop")]
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| &*entry.key)
    }

    /// Returns the fields that nobody took.
    pub fn rest(self) -> Extra {
        let mut met = BTreeSet::new();
        let mut kept = Vec::new();
        for entry in self.entries.iter().rev().filter(|entry| met.insert(&*entry.key)) {
            kept.push((entry.raw_key.into(), entry.value.into()));
        }
        kept.reverse();
        Extra(kept)
    }
}

/// A type that a field can be decoded as.
pub(crate) trait Field: Sized {
    fn read(raw: &str, path: &str, bad: &mut Vec<BadValue>) -> Option<Self>;
}

/// A type that is decoded from the fields of its own object.
pub(crate) trait FromFields: Sized {
    fn from_fields(fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Self>;
}

impl<T: FromFields> Field for T {
    fn read(raw: &str, path: &str, bad: &mut Vec<BadValue>) -> Option<T> {
        let fields = Fields::parse_at(path, raw, bad)?;
        T::from_fields(fields, bad)
    }
}

impl Field for String {
    fn read(raw: &str, path: &str, bad: &mut Vec<BadValue>) -> Option<String> {
        Text::decode(raw).map(Text::into_shown).or_else(|| reject(raw, path, "a string", bad))
    }
}

impl Field for bool {
    fn read(raw: &str, path: &str, bad: &mut Vec<BadValue>) -> Option<bool> {
        match raw {
            "true" => Some(true),
            "false" => Some(false),
            _ => reject(raw, path, "true or false", bad),
        }
    }
}

impl Field for u64 {
    fn read(raw: &str, path: &str, bad: &mut Vec<BadValue>) -> Option<u64> {
        without_zero_sign(raw).parse().ok().or_else(|| reject(raw, path, "a whole number", bad))
    }
}

impl Field for i64 {
    fn read(raw: &str, path: &str, bad: &mut Vec<BadValue>) -> Option<i64> {
        raw.parse().ok().or_else(|| reject(raw, path, "a whole number", bad))
    }
}

impl Field for u32 {
    fn read(raw: &str, path: &str, bad: &mut Vec<BadValue>) -> Option<u32> {
        without_zero_sign(raw)
            .parse()
            .ok()
            .or_else(|| reject(raw, path, "a whole number below 4294967296", bad))
    }
}

// A host may write a number that it rounded from below as zero with a sign.
fn without_zero_sign(raw: &str) -> &str {
    if raw == "-0" { "0" } else { raw }
}

impl<T: Field> Field for Vec<T> {
    fn read(raw: &str, path: &str, bad: &mut Vec<BadValue>) -> Option<Vec<T>> {
        let mut read = Vec::new();
        for (path, item) in parse_array(raw, path, bad)? {
            read.extend(T::read(item, &path, bad));
        }
        Some(read)
    }
}

/// Splits an array into its items, each with its path.
fn parse_array<'a>(raw: &'a str, path: &str, bad: &mut Vec<BadValue>) -> Option<Vec<(String, &'a str)>> {
    let Ok(RawArray(items)) = serde_json::from_str(raw) else {
        return reject(raw, path, "an array", bad);
    };
    Some(items.into_iter().enumerate().map(|(i, item)| (format!("{path}[{i}]"), item)).collect())
}

/// Splits an array into its raw items; `None` if the JSON is no array.
pub(crate) fn parse_items(json: &str) -> Option<Vec<&str>> {
    if is_too_deep(json) || !json.starts_with('[') {
        return None;
    }
    serde_json::from_str(json).ok().map(|RawArray(items)| items)
}

/// Splits an array of objects into their fields; `None` if the JSON is anything else.
pub(crate) fn parse_objects(json: &str) -> Option<Vec<Fields<'_>>> {
    if is_too_deep(json) {
        return None;
    }
    let objects: Vec<RawObject<'_>> = serde_json::from_str(json).ok()?;
    Some(objects.into_iter().map(|RawObject(entries)| Fields { entries, path: String::new() }).collect())
}

/// Reports a value of the wrong kind; always returns `None`.
pub(crate) fn reject<T>(raw: &str, path: &str, expected: &str, bad: &mut Vec<BadValue>) -> Option<T> {
    report_rejected(raw, path, expected, bad);
    None
}

// A function of its own, so that its code is not copied into each type's `reject`.
#[cold]
#[inline(never)]
fn report_rejected(raw: &str, path: &str, expected: &str, bad: &mut Vec<BadValue>) {
    let found = describe_value(raw, expected);
    bad.push(BadValue { message: format!("expected {expected} for \"{path}\", but found {found} instead") });
}

/// Describes a value in an error: as it stands, if it is short and can be no part of a conversation; else by its kind.
pub(crate) fn describe_value<'a>(raw: &'a str, expected: &str) -> &'a str {
    const MAX_SHOWN_BYTES: usize = 40;
    let is_plain = match raw.as_bytes().first() {
        Some(b'{' | b'[') => false,
        // A text given where parts are wanted holds somebody's words.
        Some(b'"') => !matches!(expected, "an array" | "an object"),
        _ => true,
    };
    if is_plain && !raw.is_empty() && raw.len() <= MAX_SHOWN_BYTES { raw } else { kind_of(raw) }
}

/// Names the kind of a JSON value, for messages.
pub(crate) fn kind_of(raw: &str) -> &'static str {
    match raw.as_bytes().first() {
        Some(b'"') => "a string",
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b't') => "true",
        Some(b'f') => "false",
        Some(b'n') => "null",
        Some(_) => "a number",
        None => "nothing",
    }
}

/// True if a text is nested deeper than [`MAX_DEPTH`].
pub(crate) fn is_too_deep(json: &str) -> bool {
    // Nearly no line has so many brackets at all.
    if memchr::memchr2_iter(b'{', b'[', json.as_bytes()).nth(MAX_DEPTH).is_none() {
        return false;
    }
    let bytes = json.as_bytes();
    let (mut depth, mut at) = (0usize, 0);
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => at = end_of_string(bytes, at),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return true;
        }
    }
    false
}

// Nearly all of a line is strings; most of them are passed by in one search.
pub(crate) fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found + 1;
        if bytes[at - 1] == b'"' {
            return at;
        }
        at += 1;
    }
    bytes.len()
}

struct RawObject<'a>(Vec<Entry<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for RawObject<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor;
        impl<'de> Visitor<'de> for EntriesVisitor {
            type Value = Vec<Entry<'de>>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some((key, value)) = map.next_entry::<&RawValue, &RawValue>()? {
                    let raw_key = key.get();
                    let plain = raw_key.get(1..raw_key.len() - 1).filter(|inner| !inner.contains('\\'));
                    let key = match plain {
                        Some(plain) => Cow::Borrowed(plain),
                        None => Text::decode(raw_key).unwrap_or_default().as_str().to_owned().into(),
                    };
                    entries.push(Entry { key, raw_key, value: value.get() });
                }
                Ok(entries)
            }
        }
        deserializer.deserialize_map(EntriesVisitor).map(RawObject)
    }
}

struct RawArray<'a>(Vec<&'a str>);

impl<'de: 'a, 'a> Deserialize<'de> for RawArray<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ItemsVisitor;
        impl<'de> Visitor<'de> for ItemsVisitor {
            type Value = Vec<&'de str>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element::<&RawValue>()? {
                    items.push(item.get());
                }
                Ok(items)
            }
        }
        deserializer.deserialize_seq(ItemsVisitor).map(RawArray)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::text::{Open, to_open_json};
    use serde::Serialize;

    #[derive(Serialize)]
    struct TestObject {
        a: Text,
        #[serde(skip)]
        extra: Extra,
    }

    impl Open for TestObject {
        fn extra(&self) -> &Extra {
            &self.extra
        }
    }

    fn read(json: &str) -> (TestObject, Vec<BadValue>) {
        let mut bad = Vec::new();
        let mut fields = Fields::parse(json).expect("an object");
        let a = fields.take("a", &mut bad).unwrap_or_default();
        (TestObject { a, extra: fields.rest() }, bad)
    }

    fn check(json: &str) {
        let (known, bad) = read(json);
        assert_eq!(bad, []);
        assert_eq!(to_open_json(&known), json);
    }

    #[test]
    fn what_is_not_known_is_written_back_as_it_was() {
        check(r#"{"a":"x","n":1e400,"big":12345678901234567890,"deep":{"b":[1, 2 ,{"c":"\ud83d"}]}}"#);
        check(r#"{"a":"x","\ud83d":1,"\u0061b":2}"#);
        check(r#"{"a":""}"#);
    }

    #[test]
    fn a_lone_surrogate_is_shown_as_replacement_and_written_as_it_was() {
        check(r#"{"a":"before \ud83d after \udc00"}"#);
        assert_eq!(read(r#"{"a":"b \ud83d a \udc00"}"#).0.a.as_str(), "b \u{fffd} a \u{fffd}");
        assert_eq!(read(r#"{"a":"\ud83d\ude00"}"#).0.a.as_str(), "😀");
    }

    #[test]
    fn joined_texts_keep_their_lone_surrogates() {
        let text = |json: &str| Text::decode(json).expect("a string");
        let joined = Text::join(vec![text(r#""a\ud83d""#), text(r#""\ude00\"b""#)], "\n");
        assert_eq!(joined.as_str(), "a\u{fffd}\n\u{fffd}\"b");
        assert_eq!(crate::json::text::to_json(&joined), r#""a\ud83d\n\ude00\"b""#);
        assert_eq!(
            crate::json::text::to_json(&Text::join(vec![text(r#""a""#), text(r#""b""#)], "\n")),
            r#""a\nb""#
        );
        assert_eq!(crate::json::text::to_json(&Text::join(vec![text(r#""\ud83d""#)], "\n")), r#""\ud83d""#);
    }

    #[test]
    fn of_a_repeated_key_the_last_wins() {
        let (known, _) = read(r#"{"a":"1","x":1,"a":"2","x":2}"#);
        assert_eq!(to_open_json(&known), r#"{"a":"2","x":2}"#);
    }

    #[test]
    fn a_bad_value_costs_its_field_and_says_what_was_expected() {
        let (known, bad) = read(r#"{"a":5,"x":2}"#);
        assert_eq!(to_open_json(&known), r#"{"a":"","x":2}"#);
        assert_eq!(bad[0].message, "expected a string for \"a\", but found 5 instead");
    }

    #[test]
    fn a_line_holds_no_separator_that_a_reader_could_split_at() {
        let known = TestObject { a: Text::from("\u{85}\u{2028}\u{2029}\n"), extra: Extra::default() };
        assert_eq!(to_open_json(&known), r#"{"a":"\u0085\u2028\u2029\n"}"#);
        let (known, _) = read("{\"a\":\"\",\"x\":[1,\n2]}");
        assert_eq!(to_open_json(&known), r#"{"a":"","x":[1, 2]}"#);
    }

    #[test]
    fn depth_is_limited_and_a_bracket_in_a_string_is_no_depth() {
        let nested = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(Fields::parse(&nested(MAX_DEPTH - 1)).is_ok());
        assert!(matches!(Fields::parse(&nested(MAX_DEPTH)), Err(ObjectError::TooDeep)));
        assert!(matches!(Fields::parse(&nested(1_000_000)), Err(ObjectError::TooDeep)));
        assert!(Fields::parse(&format!("{{\"a\":\"{}\"}}", "[".repeat(1000))).is_ok());
    }

    #[test]
    fn what_is_no_object_is_told_apart_from_what_is_no_json() {
        assert!(matches!(Fields::parse("[1]"), Err(ObjectError::Other("an array"))));
        assert!(matches!(Fields::parse(" 12 "), Err(ObjectError::Other("a number"))));
        assert!(matches!(Fields::parse("{\"a\":1,}"), Err(ObjectError::Invalid)));
        assert!(matches!(Fields::parse("{\"a\":1} x"), Err(ObjectError::Invalid)));
        assert!(matches!(Fields::parse(""), Err(ObjectError::Invalid)));
    }
}
