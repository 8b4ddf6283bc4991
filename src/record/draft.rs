//! Checks drafts before they become lines. A reader of logs is lenient, since what it reads is on the disk already; a
//! draft is rejected by name if a reader would not give it back as it was said.
//!
//! Rejected are: a `null` where leftoff knows the key, which would be read as if nothing stood there; a key that no
//! reader would give back; a key that stands there twice; a misspelled known key, or one that belongs to another place;
//! a lone surrogate where none is kept; blobs, which are leftoff's own. The kind of a value is checked by the reader of
//! its field. Unknown keys are kept where a record has place for them, and given back.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::Error;
use crate::json::fields::{BadValue, Field, Fields, kind_of, parse_items, reject};
use crate::json::request;
use crate::json::text::Text;
use crate::record::event::Agent;
use crate::record::message::OrderPart;

/// The kind of value that a key takes.
enum ValueSchema {
    /// A value that is no object, and its name in the error for a `null`.
    Plain(&'static str),
    /// A string whose lone surrogates are kept.
    Text,
    /// A string that cannot keep lone surrogates.
    Word,
    /// A string that must be given.
    Name,
    Object(&'static Schema),
    Objects(&'static Schema),
    /// The order of an answer's pieces.
    Order,
    /// Any value; it is given back unchanged.
    Any,
}

/// The keys of an object.
pub(crate) struct Schema {
    keys: &'static [(&'static str, ValueSchema)],
    unknown_keys: UnknownKeys,
}

/// The treatment of unknown keys.
enum UnknownKeys {
    /// Rejected: the record has no place for them.
    Refused,
    /// Kept, unless one looks like a misspelled known key.
    Kept,
    /// Kept, since somebody else defines them.
    Foreign,
}

const COUNT_VALUE: ValueSchema = ValueSchema::Plain("a whole number");
const FLAG_VALUE: ValueSchema = ValueSchema::Plain("true or false");
const ARRAY_VALUE: ValueSchema = ValueSchema::Plain("an array");

/// A message, as a caller gives it. The line's own fields, `v`, `crc`, `seq` and `tokens`, are made anew.
pub(crate) static MESSAGE_SCHEMA: Schema = Schema {
    keys: &[
        ("role", ValueSchema::Plain("\"system\", \"user\", \"assistant\" or \"tool\"")),
        ("content", ValueSchema::Text),
        ("id", ValueSchema::Name),
        ("parentId", ValueSchema::Name),
        ("timestamp", ValueSchema::Word),
        ("tool", ValueSchema::Object(&TOOL_SCHEMA)),
        ("assistant", ValueSchema::Object(&ASSISTANT_SCHEMA)),
        ("attachments", ValueSchema::Objects(&ATTACHMENT_SCHEMA)),
        ("rev", COUNT_VALUE),
        ("partial", FLAG_VALUE),
        ("branch", FLAG_VALUE),
        ("source", ValueSchema::Object(&SOURCE_SCHEMA)),
        ("seq", COUNT_VALUE),
        ("tokens", ValueSchema::Object(&TOKENS_SCHEMA)),
        ("v", COUNT_VALUE),
        ("crc", ValueSchema::Word),
    ],
    unknown_keys: UnknownKeys::Kept,
};
static TOOL_SCHEMA: Schema = Schema {
    keys: &[("callId", ValueSchema::Word), ("name", ValueSchema::Word), ("isError", FLAG_VALUE)],
    unknown_keys: UnknownKeys::Kept,
};
static ASSISTANT_SCHEMA: Schema = Schema {
    keys: &[
        ("model", ValueSchema::Word),
        ("toolCalls", ValueSchema::Objects(&CALL_SCHEMA)),
        ("finishReason", ValueSchema::Word),
        ("durationMs", COUNT_VALUE),
        ("reasoning", ValueSchema::Objects(&REASONING_SCHEMA)),
        ("usage", ValueSchema::Object(&USAGE_SCHEMA)),
        ("order", ValueSchema::Order),
    ],
    unknown_keys: UnknownKeys::Kept,
};
static CALL_SCHEMA: Schema = Schema {
    keys: &[("id", ValueSchema::Word), ("name", ValueSchema::Word), ("arguments", ValueSchema::Text)],
    unknown_keys: UnknownKeys::Refused,
};
static REASONING_SCHEMA: Schema = Schema {
    keys: &[("text", ValueSchema::Text), ("signature", ValueSchema::Word), ("data", ValueSchema::Word)],
    unknown_keys: UnknownKeys::Refused,
};
static USAGE_SCHEMA: Schema = Schema {
    keys: &[
        ("input", COUNT_VALUE),
        ("output", COUNT_VALUE),
        ("cacheRead", COUNT_VALUE),
        ("cacheWrite", COUNT_VALUE),
        ("cacheWriteHour", COUNT_VALUE),
        ("reasoning", COUNT_VALUE),
    ],
    unknown_keys: UnknownKeys::Kept,
};
static ATTACHMENT_SCHEMA: Schema = Schema {
    keys: &[
        ("mime", ValueSchema::Word),
        ("name", ValueSchema::Word),
        ("path", ValueSchema::Word),
        ("data", ValueSchema::Word),
    ],
    unknown_keys: UnknownKeys::Refused,
};
static SOURCE_SCHEMA: Schema = Schema {
    keys: &[("agent", ValueSchema::Word), ("id", ValueSchema::Word)],
    unknown_keys: UnknownKeys::Foreign,
};
static TOKENS_SCHEMA: Schema = Schema {
    keys: &[("count", COUNT_VALUE), ("cumulative", COUNT_VALUE), ("by", ValueSchema::Word)],
    unknown_keys: UnknownKeys::Refused,
};

/// An agent, as a caller gives it.
static AGENT_SCHEMA: Schema = Schema {
    keys: &[
        ("command", ValueSchema::Word),
        ("systemPromptHash", ValueSchema::Word),
        ("promptFile", ValueSchema::Word),
        ("model", ValueSchema::Word),
        ("tools", ARRAY_VALUE),
        ("provider", ValueSchema::Word),
        ("contextWindow", COUNT_VALUE),
        ("baseUrl", ValueSchema::Word),
    ],
    unknown_keys: UnknownKeys::Refused,
};

/// A tool execution, as a caller gives it.
static EXECUTION_SCHEMA: Schema = Schema {
    keys: &[
        ("call", ValueSchema::Object(&EXECUTED_CALL_SCHEMA)),
        ("result", ValueSchema::Object(&RESULT_SCHEMA)),
        ("durationMs", ValueSchema::Plain("milliseconds")),
        ("messageId", ValueSchema::Name),
    ],
    unknown_keys: UnknownKeys::Refused,
};
static EXECUTED_CALL_SCHEMA: Schema = Schema {
    keys: &[("id", ValueSchema::Name), ("name", ValueSchema::Name), ("arguments", ValueSchema::Any)],
    unknown_keys: UnknownKeys::Refused,
};
static RESULT_SCHEMA: Schema = Schema {
    keys: &[
        ("content", ValueSchema::Text),
        ("success", FLAG_VALUE),
        ("error", ValueSchema::Word),
        ("exitCode", COUNT_VALUE),
    ],
    unknown_keys: UnknownKeys::Refused,
};

/// Other programs' names for known keys, in the form that [`normalize_key`] gives.
const KEY_SYNONYMS: [(&str, &str); 12] = [
    ("text", "content"),
    ("part", "content"),
    ("toolcallid", "tool.callId"),
    ("toolname", "tool.name"),
    ("functioncall", "assistant.toolCalls"),
    ("call", "assistant.toolCalls"),
    ("thinking", "assistant.reasoning"),
    ("tokencount", "tokens.count"),
    ("cumulativetoken", "tokens.cumulative"),
    ("createdat", "timestamp"),
    ("file", "attachments"),
    ("image", "attachments"),
];

/// Adds to `bad` whatever in a draft no reader would give back.
pub(crate) fn check(draft: &Fields<'_>, shape: &'static Schema, path: &str, bad: &mut Vec<BadValue>) {
    let mut met: Vec<&str> = Vec::new();
    for (key, raw) in draft.decoded_entries() {
        let at = if path.is_empty() { key.to_owned() } else { [path, ".", key].concat() };
        if met.contains(&key) {
            bad.push(BadValue { message: format!("expected \"{at}\" once, but found it twice") });
        }
        met.push(key);
        match shape.keys.iter().find(|(known, _)| *known == key) {
            Some((_, value)) => check_value(value, raw, &at, bad),
            None => check_unknown(key, &at, shape, bad),
        }
    }
}

/// Parses the agent that a caller names.
pub(crate) fn parse_agent(raw: &str, bad: &mut Vec<BadValue>) -> Option<Agent> {
    let mut fields = Fields::parse_at("agent", raw, bad)?;
    check(&fields, &AGENT_SCHEMA, "agent", bad);
    Some(Agent::take(&mut fields, bad))
}

/// Checks a tool execution as a caller gives it.
///
/// # Errors
/// `invalid_request`, naming the field.
pub fn check_execution(json: &str) -> Result<(), Error> {
    let mut bad = Vec::new();
    if let Some(fields) = Fields::parse_at("execution", json, &mut bad) {
        check(&fields, &EXECUTION_SCHEMA, "", &mut bad);
    }
    request::reject_bad(&mut bad)
}

/// Checks a string that is given apart from any object.
pub(crate) fn check_word(raw: Option<&str>, path: &str, bad: &mut Vec<BadValue>) {
    if let Some(raw) = raw {
        check_value(&ValueSchema::Word, raw, path, bad);
    }
}

fn check_value(value: &'static ValueSchema, raw: &str, path: &str, bad: &mut Vec<BadValue>) {
    let expected = match value {
        ValueSchema::Plain(expected) => expected,
        ValueSchema::Text | ValueSchema::Word | ValueSchema::Name => "a string",
        ValueSchema::Object(_) => "an object",
        ValueSchema::Objects(_) | ValueSchema::Order => "an array",
        ValueSchema::Any => return,
    };
    let is_text = matches!(value, ValueSchema::Text | ValueSchema::Word | ValueSchema::Name);
    if raw == "null" || (is_text && !raw.starts_with('"')) {
        reject::<()>(raw, path, expected, bad);
    }
    match value {
        ValueSchema::Word | ValueSchema::Name => {
            if Text::decode(raw).is_some_and(|text| text.has_lone_surrogates()) {
                let message = format!(
                    "expected whole characters for \"{path}\", but found half of a surrogate pair instead"
                );
                bad.push(BadValue { message });
            }
            if matches!(value, ValueSchema::Name) && raw == "\"\"" {
                let message =
                    format!("expected a string that is not empty for \"{path}\", but found \"\" instead");
                bad.push(BadValue { message });
            }
        }
        ValueSchema::Object(shape) => {
            if let Ok(fields) = Fields::parse(raw) {
                check(&fields, shape, path, bad);
            }
        }
        ValueSchema::Objects(shape) => {
            for (place, raw) in parse_items(raw).unwrap_or_default().into_iter().enumerate() {
                let path = format!("{path}[{place}]");
                match Fields::parse(raw) {
                    Ok(fields) => check(&fields, shape, &path, bad),
                    Err(_) => return reject(raw, &path, "an object", bad).unwrap_or_default(),
                }
            }
        }
        ValueSchema::Order => {
            for (place, raw) in parse_items(raw).unwrap_or_default().into_iter().enumerate() {
                check_part(raw, &format!("{path}[{place}]"), bad);
            }
        }
        ValueSchema::Plain(_) | ValueSchema::Text | ValueSchema::Any => {}
    }
}

fn check_part(raw: &str, path: &str, bad: &mut Vec<BadValue>) {
    let is_one = Fields::parse(raw).is_ok_and(|fields| fields.iter().count() == 1);
    if !is_one || OrderPart::read(raw, path, &mut Vec::new()).is_none() {
        let expected = "{\"text\":[FROM,TO]}, {\"call\":PLACE} or {\"reasoning\":PLACE}";
        let found = if kind_of(raw) == "an object" { "another object" } else { kind_of(raw) };
        bad.push(BadValue {
            message: format!("expected {expected} for \"{path}\", but found {found} instead"),
        });
    }
}

fn check_unknown(key: &str, path: &str, shape: &'static Schema, bad: &mut Vec<BadValue>) {
    let meant = match shape.unknown_keys {
        UnknownKeys::Foreign => return,
        UnknownKeys::Kept | UnknownKeys::Refused => find_meant_key(key, shape),
    };
    if meant.is_none() && matches!(shape.unknown_keys, UnknownKeys::Kept) {
        return;
    }
    let known: Vec<&str> = shape.keys.iter().map(|(key, _)| *key).collect();
    let hint = match meant {
        Some(meant) => match meant.rsplit_once('.') {
            Some((place, key)) => format!(" (did you mean \"{key}\" in \"{place}\"?)"),
            None => format!(" (did you mean \"{meant}\"?)"),
        },
        None => format!(", where nothing but {} is kept", known.join(", ")),
    };
    bad.push(BadValue { message: format!("expected another key than \"{path}\"{hint}") });
}

/// Finds the known key that an unknown one misspells: of the same object, else of another place of the same draft.
fn find_meant_key(key: &str, shape: &'static Schema) -> Option<String> {
    let letters = normalize_key(key);
    let same = |known: &&(&'static str, ValueSchema)| is_near(&letters, known.0);
    if let Some((known, _)) = shape.keys.iter().find(same) {
        return Some((*known).to_owned());
    }
    let root = if core::ptr::eq(shape, &EXECUTION_SCHEMA) || core::ptr::eq(shape, &AGENT_SCHEMA) {
        shape
    } else {
        &MESSAGE_SCHEMA
    };
    let other =
        KEY_SYNONYMS.iter().find(|(other, _)| core::ptr::eq(root, &MESSAGE_SCHEMA) && *other == letters);
    other.map(|(_, known)| (*known).to_owned()).or_else(|| find_nested_key(&letters, root, ""))
}

fn find_nested_key(wanted: &str, shape: &'static Schema, path: &str) -> Option<String> {
    shape.keys.iter().find_map(|(key, value)| {
        let at = if path.is_empty() { (*key).to_owned() } else { [path, ".", key].concat() };
        if normalize_key(key) == wanted {
            return Some(at);
        }
        match value {
            ValueSchema::Object(inner) => find_nested_key(wanted, inner, &at),
            ValueSchema::Objects(inner) => find_nested_key(wanted, inner, &[&at, "[]"].concat()),
            ValueSchema::Plain(_)
            | ValueSchema::Text
            | ValueSchema::Word
            | ValueSchema::Name
            | ValueSchema::Order
            | ValueSchema::Any => None,
        }
    })
}

/// Finds the known key that differs only in case, separators or number.
pub(crate) fn find_same_letters(key: &str, known: &[&'static str]) -> Option<&'static str> {
    let wanted = normalize_key(key);
    if known.contains(&key) {
        None
    } else {
        known.iter().find(|known| normalize_key(known) == wanted).copied()
    }
}

/// Removes case, separators and plural from a key.
fn normalize_key(key: &str) -> String {
    let mut letters: String = key.chars().filter(|c| c.is_alphanumeric()).collect();
    letters.make_ascii_lowercase();
    if letters.len() > 2 && letters.ends_with('s') {
        letters.pop();
    }
    letters
}

/// True if the keys differ by at most one letter that is wrong, missing, too many or in its neighbor's place. A short key
/// is one letter from too many others.
fn is_near(typed: &str, known: &str) -> bool {
    const MIN_GUESSED_KEY_BYTES: usize = 5;
    let known = normalize_key(known);
    let (one, other) = (typed.as_bytes(), known.as_bytes());
    if one == other {
        return true;
    }
    let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[same..], &other[same..]);
    let is_swapped = one.len() > 1
        && other.len() > 1
        && one[0] == other[1]
        && one[1] == other[0]
        && one[2..] == other[2..];
    let rest = |bytes: &[u8]| bytes.get(1..).unwrap_or_default().to_owned();
    known.len() >= MIN_GUESSED_KEY_BYTES
        && (is_swapped || rest(one) == rest(other) || rest(one) == other || one == rest(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_problem(draft: &str) -> Option<String> {
        let mut bad = Vec::new();
        check(&Fields::parse(draft).unwrap(), &MESSAGE_SCHEMA, "", &mut bad);
        bad.into_iter().next().map(|bad| bad.message)
    }

    #[test]
    fn a_key_by_which_another_one_was_meant_is_refused_and_the_other_one_named() {
        for (key, meant) in [
            ("toolCalls", "toolCalls\" in \"assistant"),
            ("tool_calls", "toolCalls\" in \"assistant"),
            ("timestamps", "timestamp"),
            ("contents", "content"),
            ("contnet", "content"),
            ("contet", "content"),
            ("Role", "role"),
            ("parent_id", "parentId"),
            ("callId", "callId\" in \"tool"),
            ("tool_call_id", "callId\" in \"tool"),
            ("usage", "usage\" in \"assistant"),
            ("cache_read", "cacheRead\" in \"assistant.usage"),
            ("mime", "mime\" in \"attachments[]"),
            ("text", "content"),
        ] {
            let message = first_problem(&format!("{{\"{key}\":1}}")).expect(key);
            assert!(message.ends_with(&format!("(did you mean \"{meant}\"?)")), "{key}: {message}");
        }
        assert!(
            first_problem(r#"{"tool":{"call_id":"1"}}"#)
                .unwrap()
                .contains("\"tool.call_id\" (did you mean \"callId\"?)")
        );
        assert!(
            first_problem(r#"{"assistant":{"content":"1"}}"#).unwrap().contains("did you mean \"content\"")
        );
    }

    #[test]
    fn a_key_is_near_another_by_one_letter() {
        for typed in ["content", "contnt", "contennt", "contemt", "cotnent", "ocntent", "conten", "contents"]
        {
            assert!(is_near(typed, "content"), "{typed}");
        }
        for typed in ["cantemt", "conte", "contentss", "ocnetnt", "", "tentcon"] {
            assert!(!is_near(typed, "content"), "{typed}");
        }
        assert!(!is_near("rule", "role"), "a short one is one letter from too many");
    }

    #[test]
    fn a_key_that_nobody_knows_is_let_pass_where_it_is_kept() {
        for draft in
            [r#"{"mood":null}"#, r#"{"x":{"role":null}}"#, r#"{"tool":{"host":1}}"#, r#"{"id":"1","ids9":2}"#]
        {
            assert_eq!(first_problem(draft), None);
        }
        let closed = first_problem(r#"{"assistant":{"toolCalls":[{"mood":1}]}}"#).unwrap();
        assert_eq!(
            closed,
            "expected another key than \"assistant.toolCalls[0].mood\", where nothing but id, name, arguments is kept"
        );
    }

    #[test]
    fn what_would_be_read_as_something_else_is_refused_with_its_place() {
        for (draft, message) in [
            (
                r#"{"role":null}"#,
                "expected \"system\", \"user\", \"assistant\" or \"tool\" for \"role\", but found null instead",
            ),
            (r#"{"content":{"blob":"x"}}"#, "expected a string for \"content\", but found an object instead"),
            (r#"{"id":""}"#, "expected a string that is not empty for \"id\", but found \"\" instead"),
            (r#"{"id":"a","id":"b"}"#, "expected \"id\" once, but found it twice"),
            (
                r#"{"tool":{"name":"\ud83d"}}"#,
                "expected whole characters for \"tool.name\", but found half of a surrogate pair instead",
            ),
            (
                r#"{"assistant":{"order":[{"text":[2,1]}]}}"#,
                "expected {\"text\":[FROM,TO]}, {\"call\":PLACE} or {\"reasoning\":PLACE} for \"assistant.order[0]\", but found another object instead",
            ),
            (r#"{"attachments":[7]}"#, "expected an object for \"attachments[0]\", but found 7 instead"),
        ] {
            assert_eq!(first_problem(draft).as_deref(), Some(message), "{draft}");
        }
        assert_eq!(first_problem(r#"{"content":"\ud83d","x":"\ud83d"}"#), None);
    }
}
