//! Walks the texts of a JSON value, one after another: keys and values, each at its place. Nothing here recurses, so
//! that no depth of nesting fails.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use crate::json::fields::end_of_string;
use crate::json::text::Text;

/// The deepest nesting that is walked: no value of a message is nested so deep, and a deeper one is not let out.
pub(super) const MAX_WALK_DEPTH: usize = 500;
// Keys of signatures: providers check them, and refuse what was changed.
const SIGNATURE_KEYS: [&str; 7] = [
    "signature",
    "thoughtSignature",
    "thought_signature",
    "thinkingSignature",
    "encrypted_content",
    "reasoningEncryptedContent",
    "redactedData",
];
const THINKING_TYPES: [&str; 3] = ["thinking", "redacted_thinking", "reasoning"];
// Keys of a tool's input and output, in which any key may stand.
const TOOL_KEYS: [&str; 6] = ["arguments", "input", "args", "output", "result", "response"];

/// A text, or a value that is too deep to be walked.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WalkItem {
    /// A text: its range with the quotes, and its key.
    Text(Range<usize>, String),
    /// A value that is nested too deep.
    TooDeep(Range<usize>),
}

/// The state of a walk.
#[derive(Debug)]
pub(super) struct Walk {
    offset: usize,
    end: usize,
    open_values: Vec<OpenValue>,
}

/// An object or an array that has not ended.
#[derive(Debug)]
struct OpenValue {
    is_object: bool,
    /// True if a key comes next.
    wants_key: bool,
    /// Its key, or the key of the array that it is in.
    name: String,
    /// The newest key in it.
    key: String,
    /// True if signatures may stand in it.
    is_signed: bool,
    /// True if its newest type is reasoning.
    is_thinking: bool,
    /// True if its last type is reasoning, once that was looked for.
    thinks: Option<bool>,
}

impl Walk {
    /// Begins at a valid value that has this range of a text.
    pub fn new(place: Range<usize>) -> Walk {
        Walk { offset: place.start, end: place.end, open_values: Vec::new() }
    }

    pub fn next(&mut self, json: &str) -> Option<WalkItem> {
        let bytes = json.as_bytes().get(..self.end)?;
        loop {
            let start = self.offset;
            match bytes.get(start)? {
                b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' => self.offset += 1,
                b'"' => {
                    self.offset = end_of_string(bytes, start + 1);
                    if let Some(name) = self.text_name(json, start..self.offset) {
                        return Some(WalkItem::Text(start..self.offset, name));
                    }
                }
                b'{' | b'[' if self.open_values.len() == MAX_WALK_DEPTH => {
                    self.offset = end_of_value(bytes, start);
                    self.has_value();
                    return Some(WalkItem::TooDeep(start..self.offset));
                }
                sign @ (b'{' | b'[') => {
                    self.offset += 1;
                    self.begin(*sign == b'{');
                }
                b'}' | b']' => {
                    self.offset += 1;
                    self.open_values.pop();
                    self.has_value();
                }
                _ => {
                    self.offset = end_of_value(bytes, start);
                    self.has_value();
                }
            }
        }
    }

    fn begin(&mut self, is_object: bool) {
        let (name, is_signed) = match self.open_values.last() {
            None => (String::new(), true),
            Some(outer) if outer.is_object => {
                (outer.key.clone(), outer.is_signed && !TOOL_KEYS.contains(&outer.key.as_str()))
            }
            Some(outer) => (outer.name.clone(), outer.is_signed),
        };
        let key = String::new();
        let (wants_key, is_thinking, thinks) = (is_object, false, None);
        self.open_values.push(OpenValue { is_object, wants_key, name, key, is_signed, is_thinking, thinks });
    }

    fn has_value(&mut self) {
        if let Some(within) = self.open_values.last_mut() {
            within.wants_key = within.is_object;
            // If types repeat the last one counts, also if it is no string.
            within.is_thinking &= within.key != "type";
        }
    }

    /// Returns the key of a text to look at; `None` for a text that leaves as it is.
    fn text_name(&mut self, json: &str, place: Range<usize>) -> Option<String> {
        let Some(within) = self.open_values.last_mut() else { return Some(String::new()) };
        if !within.is_object {
            return Some(within.name.clone());
        }
        if within.wants_key {
            within.key = Text::decode(&json[place]).map(Text::into_shown).unwrap_or_default();
            within.wants_key = false;
            return Some(String::new());
        }
        within.wants_key = true;
        if within.key == "type" {
            within.is_thinking = says_thinking(&json[place.clone()]);
        }
        let is_signature = SIGNATURE_KEYS.contains(&within.key.as_str());
        let is_kept = within.is_signed
            && (is_signature || within.key == "data" && within.holds_reasoning(json, place.end));
        (!is_kept).then(|| within.key.clone())
    }
}

impl OpenValue {
    /// True if the object is reasoning: by its key, or by its last type, which may stand behind this place.
    fn holds_reasoning(&mut self, json: &str, at: usize) -> bool {
        let so_far = self.is_thinking;
        self.name == "reasoning" || *self.thinks.get_or_insert_with(|| last_type(json, at).unwrap_or(so_far))
    }
}

/// True if the last type of an object is reasoning; `None` if it has no type behind this place.
fn last_type(json: &str, mut at: usize) -> Option<bool> {
    let bytes = json.as_bytes();
    let mut found = None;
    loop {
        while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r' | b',')) {
            at += 1;
        }
        if bytes.get(at) != Some(&b'"') {
            return found;
        }
        let key = at..end_of_string(bytes, at + 1);
        at = key.end;
        while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r' | b':')) {
            at += 1;
        }
        let value = at..end_of_value(bytes, at);
        at = value.end;
        if Text::decode(&json[key]).is_some_and(|key| key.as_str() == "type") {
            found = Some(says_thinking(&json[value]));
        }
    }
}

fn says_thinking(literal: &str) -> bool {
    Text::decode(literal).is_some_and(|text| THINKING_TYPES.contains(&text.as_str()))
}

/// Finds the end of a value, whatever it holds.
fn end_of_value(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_string(bytes, at + 1),
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' if depth > 0 => {
                depth -= 1;
                at += 1;
            }
            b'}' | b']' | b',' | b':' | b' ' | b'\t' | b'\n' | b'\r' if depth == 0 => {
                return at.max(start + 1);
            }
            _ => {
                at += 1;
                continue;
            }
        }
        if depth == 0 {
            return at;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    fn texts(json: &str) -> Vec<(String, String)> {
        let mut walk = Walk::new(0..json.len());
        let mut all = Vec::new();
        while let Some(met) = walk.next(json) {
            all.push(match met {
                WalkItem::Text(place, name) => (json[place].trim_matches('"').into(), name),
                WalkItem::TooDeep(place) => (json[place].into(), "too deep".into()),
            });
        }
        all
    }

    fn values(json: &str) -> Vec<String> {
        texts(json).into_iter().filter(|(_, name)| !name.is_empty()).map(|(text, _)| text).collect()
    }

    #[test]
    fn each_key_and_each_text_is_met_with_the_name_that_it_has() {
        let json = r#" { "a" : ["x", 1, {"b":"y"}, ["z"]], "n": null, "c": "e\"d" } "#;
        let expected =
            [("a", ""), ("x", "a"), ("b", ""), ("y", "b"), ("z", "a"), ("n", ""), ("c", ""), ("e\\\"d", "c")];
        assert_eq!(texts(json), expected.map(|(text, name)| (text.into(), name.into())));
        assert_eq!(texts("\"alone\""), [("alone".into(), String::new())]);
        assert_eq!(texts("7"), []);
    }

    #[test]
    fn signatures_leave_as_they_are_but_not_in_what_a_tool_is_given() {
        for name in SIGNATURE_KEYS {
            assert_eq!(values(&format!(r#"{{"{name}":"s","x":"t"}}"#)), ["t"]);
            assert_eq!(values(&format!(r#"{{"args":[{{"{name}":"s"}}]}}"#)), ["s"]);
            assert_eq!(values(&format!(r#"{{"{name}":["s"]}}"#)), ["s"]);
        }
    }

    #[test]
    fn data_is_a_signature_of_reasoning_wherever_its_type_stands() {
        assert_eq!(values(r#"{"type":"thinking","data":"s"}"#), ["thinking"]);
        assert_eq!(
            values(r#"{"data":"s","x":{"type":"text"},"type":"redacted_thinking"}"#),
            ["text", "redacted_thinking"]
        );
        assert_eq!(values(r#"{"reasoning":[{"data":"s","type":"x"}]}"#), ["x"]);
        for (json, of_others) in [
            (r#"{"data":"s"}"#, &["s"][..]),
            (r#"{"type":"file","data":"s"}"#, &["file", "s"]),
            (r#"{"type":"thinking","data":"s","type":"file"}"#, &["thinking", "s", "file"]),
            (r#"{"type":"thinking","type":5,"data":"s"}"#, &["thinking", "s"]),
            (r#"{"x":{"type":"thinking"},"data":"s"}"#, &["thinking", "s"]),
            (r#"{"output":{"type":"thinking","data":"s"}}"#, &["thinking", "s"]),
        ] {
            assert_eq!(values(json), of_others, "{json}");
        }
    }

    #[test]
    fn what_is_nested_too_deep_is_met_as_a_whole() {
        let nested = |depth: usize| format!("[{}\"x\"{},\"beside\"]", "[".repeat(depth), "]".repeat(depth));
        let found = |depth| texts(&nested(depth)).into_iter().map(|(text, _)| text).collect::<Vec<_>>();
        assert_eq!(found(MAX_WALK_DEPTH - 1), ["x", "beside"]);
        assert_eq!(found(MAX_WALK_DEPTH), ["[\"x\"]", "beside"]);
        assert_eq!(found(100_000)[1], "beside");
    }
}
