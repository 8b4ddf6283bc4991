//! Finds where a text stops being JSON, for an error message. No depth of nesting makes it fail.

use alloc::vec::Vec;

/// The first place where a text is not JSON: the beginning of the wrong word or string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The line, from 1 on.
    pub line: usize,
    /// The column, from 1 on, in units of UTF-16, as editors count them.
    pub column: usize,
    /// The character there; `None` at the end of the text.
    pub found_char: Option<char>,
}

#[derive(Clone, Copy, PartialEq)]
enum ExpectedToken {
    Value,
    // A value, or the end of the array.
    FirstValue,
    Key,
    // A key, or the end of the object.
    FirstKey,
    Colon,
    CommaOrEnd,
    Nothing,
}

/// Finds where a text stops being JSON; `None` if all of it is.
pub fn find_syntax_error(text: &str) -> Option<SyntaxError> {
    let mut open: Vec<u8> = Vec::new();
    let mut wants = ExpectedToken::Value;
    let mut at = 0;
    loop {
        at += text[at..].len() - text[at..].trim_start_matches([' ', '\t', '\r', '\n']).len();
        let rest = &text.as_bytes()[at..];
        let Some(&sign) = rest.first() else {
            return (wants != ExpectedToken::Nothing).then(|| locate_error(text, at));
        };
        let is_value = matches!(wants, ExpectedToken::Value | ExpectedToken::FirstValue);
        let is_key = matches!(wants, ExpectedToken::Key | ExpectedToken::FirstKey);
        let ends = match wants {
            ExpectedToken::CommaOrEnd => true,
            ExpectedToken::FirstKey => sign == b'}',
            ExpectedToken::FirstValue => sign == b']',
            _ => false,
        };
        let read = match sign {
            b'"' if is_value || is_key => string_len(rest),
            b'{' | b'[' if is_value => Some(1),
            sign if ends && open.last() == Some(&sign) => Some(1),
            b',' if wants == ExpectedToken::CommaOrEnd => Some(1),
            b':' if wants == ExpectedToken::Colon => Some(1),
            _ if is_value => word_len(rest),
            _ => None,
        };
        let Some(length) = read else { return Some(locate_error(text, at)) };
        wants = match sign {
            b'"' if is_key => ExpectedToken::Colon,
            b'{' => open_bracket(&mut open, b'}', ExpectedToken::FirstKey),
            b'[' => open_bracket(&mut open, b']', ExpectedToken::FirstValue),
            b',' if open.last() == Some(&b'}') => ExpectedToken::Key,
            b',' | b':' => ExpectedToken::Value,
            b'}' | b']' => {
                open.pop();
                expected_after_value(&open)
            }
            _ => expected_after_value(&open),
        };
        at += length;
    }
}

fn open_bracket(open: &mut Vec<u8>, end: u8, wants: ExpectedToken) -> ExpectedToken {
    open.push(end);
    wants
}

fn expected_after_value(open: &[u8]) -> ExpectedToken {
    if open.is_empty() { ExpectedToken::Nothing } else { ExpectedToken::CommaOrEnd }
}

// Returns the length of a string with its quotes.
fn string_len(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => match bytes.get(at + 1)? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
                b'u' if bytes.get(at + 2..at + 6)?.iter().all(u8::is_ascii_hexdigit) => 6,
                _ => return None,
            },
            0..=0x1f => return None,
            _ => 1,
        };
    }
}

// Returns the length of a number, `true`, `false` or `null`; the caller looks at what follows.
fn word_len(bytes: &[u8]) -> Option<usize> {
    if let Some(word) = [&b"true"[..], b"false", b"null"].into_iter().find(|word| bytes.starts_with(word)) {
        return Some(word.len());
    }
    let digits =
        |from: usize| bytes.get(from..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count();
    let sign = usize::from(bytes.first() == Some(&b'-'));
    let whole = if bytes.get(sign) == Some(&b'0') { 1 } else { digits(sign) };
    let mut end = Some(sign + whole).filter(|_| whole > 0)?;
    if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        end += if exponent > 0 { 1 + sign + exponent } else { 0 };
    }
    Some(end)
}

fn locate_error(text: &str, at: usize) -> SyntaxError {
    let (before, rest) = text.split_at(at);
    let line = before.rsplit('\n').next().unwrap_or_default();
    SyntaxError {
        line: before.matches('\n').count() + 1,
        column: line.encode_utf16().count() + 1,
        found_char: rest.chars().next(),
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use proptest::prelude::*;
    use serde_json::{Value, json, value::RawValue};

    use super::*;

    fn check(text: &str, line: usize, column: usize, found: Option<char>) {
        assert_eq!(find_syntax_error(text), Some(SyntaxError { line, column, found_char: found }), "{text}");
    }

    #[test]
    fn the_place_is_the_beginning_of_what_is_none() {
        check("", 1, 1, None);
        check("x = 7", 1, 1, Some('x'));
        check("{\n  \"a\": 1,\n}", 3, 1, Some('}'));
        check(r#"{"a":"b}"#, 1, 6, Some('"'));
        check(r#"{"ü😀":"\q"}"#, 1, 8, Some('"'));
        check(r#"{"a":01}"#, 1, 7, Some('1'));
        check(r#"{"a":fal"#, 1, 6, Some('f'));
        check("[1]]", 1, 4, Some(']'));
        check("[1}", 1, 3, Some('}'));
        check("[1.e5]", 1, 3, Some('.'));
    }

    #[test]
    fn no_depth_fails() {
        let deep = ["[".repeat(1_000_000), "]".repeat(1_000_000)].concat();
        assert_eq!(find_syntax_error(&deep), None);
        check(&deep[..1_000_000], 1, 1_000_001, None);
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!(null)),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,6}".prop_map(Value::from)
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((".{0,4}", inner), 0..4)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_text_has_a_flaw_just_where_the_parser_refuses_it(
            value in values(),
            is_pretty: bool,
            at: prop::sample::Index,
            put in prop::sample::select(vec!["", ",", "}", "]", "\"", ":", "\\", "\n", "0", "-", "e", ".", "nul", "\u{1}"]),
            less in 0..4_usize,
        ) {
            let json = if is_pretty { serde_json::to_string_pretty(&value).expect("JSON") } else { value.to_string() };
            let letters: Vec<char> = json.chars().collect();
            let place = at.index(letters.len() + 1);
            let end = letters.len().min(place + less);
            let text: String = letters[..place].iter().chain(&put.chars().collect::<Vec<_>>()).chain(&letters[end..]).collect();
            prop_assert_eq!(find_syntax_error(&text).is_none(), serde_json::from_str::<&RawValue>(&text).is_ok(), "{}", text);
        }
    }
}
