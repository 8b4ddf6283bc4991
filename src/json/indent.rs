//! Indents JSON for people, each value on its own line. It decodes nothing: numbers, escapes and repeated keys stay as
//! they were stored.

use alloc::string::String;

/// Indents a valid value that stands `depth` levels deep; its first line gets no indent.
pub(crate) fn indent_json(json: &str, mut depth: usize) -> String {
    let mut text = String::with_capacity(json.len() + json.len() / 2);
    let mut rest = json;
    while let Some(sign) = rest.chars().next() {
        let (token, behind) = rest.split_at(end_of_token(rest));
        rest = behind;
        match sign {
            ' ' | '\t' | '\n' | '\r' => {}
            '{' | '[' => {
                let inside = rest.trim_start();
                text.push(sign);
                if inside.starts_with(['}', ']']) {
                    text.push_str(&inside[..1]);
                    rest = &inside[1..];
                } else {
                    depth += 1;
                    begin_line(&mut text, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                begin_line(&mut text, depth);
                text.push(sign);
            }
            ',' => {
                text.push(sign);
                begin_line(&mut text, depth);
            }
            ':' => text.push_str(": "),
            _ => text.push_str(token),
        }
    }
    text
}

fn begin_line(text: &mut String, depth: usize) {
    text.push('\n');
    for _ in 0..depth {
        text.push_str("  ");
    }
}

/// Finds the end of the first token: a string, a number, a word, or one sign.
fn end_of_token(json: &str) -> usize {
    let bytes = json.as_bytes();
    if bytes.first() != Some(&b'"') {
        let ends = |byte: &u8| {
            matches!(byte, b',' | b':' | b'{' | b'}' | b'[' | b']' | b'"') || byte.is_ascii_whitespace()
        };
        return bytes.iter().position(ends).unwrap_or(bytes.len()).max(1);
    }
    let mut at = 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[at..]) {
        at += found + 1;
        if bytes[at - 1] == b'"' {
            return at;
        }
        at = (at + 1).min(bytes.len());
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_has_a_line_and_stays_as_it_was() {
        let json = r#"{"a":[1,{"b":"x\"]y\\"},[],{ }],"n":1e400,"n":-0,"s":"\ud83d\u2028 ü"}"#;
        let expected = "{\n    \"a\": [\n      1,\n      {\n        \"b\": \"x\\\"]y\\\\\"\n      },\n      [],\n      {}\n    ],\n    \
                        \"n\": 1e400,\n    \"n\": -0,\n    \"s\": \"\\ud83d\\u2028 ü\"\n  }";
        assert_eq!(indent_json(json, 1), expected);
        // Indenting again changes nothing.
        assert_eq!(indent_json(expected, 1), expected);
    }

    #[test]
    fn a_value_that_is_none_is_walked_to_its_end() {
        for bad in ["\"open", "\"open\\", "]]}", "{\"a\"", "[", "\u{feff}ü\"", "\\"] {
            indent_json(bad, 0);
        }
    }
}
