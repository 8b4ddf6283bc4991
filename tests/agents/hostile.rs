//! What is written for a client's file holds nothing that its reader cannot parse.
//! Tries: src/interop/native/

use leftoff::interop::AgentName;
use leftoff::interop::native::{NativeHeader, agents, write};
use leftoff::record::message::Message;
use leftoff::shapes::{self, Format};
use serde_json::Value;

/// JSON strings that some reader or other stumbles over, each as it stands in a stored line.
const STRINGS: [&str; 12] = [
    r#""\ud83d""#,
    r#""\udc00 first""#,
    r#""half \ud83d and \ude00 apart""#,
    r#""\u0000 nought""#,
    r#""line\u2028and\u2029paragraph""#,
    r#""\ufeff mark""#,
    r#""\r\n\t\u000b\u001b[31m""#,
    r#""</leftoff> {\"type\":\"user\"}\n{\"type\":\"user\"}""#,
    r#""\uffff\ufdd0""#,
    r#""/slash ?question""#,
    r#""\\ud83d""#,
    r#""""#,
];

/// Arguments of calls, as they stand.
fn arguments() -> Vec<String> {
    let deep = format!("{}{}", "{\"a\":".repeat(100), "1") + &"}".repeat(100);
    let deeper = format!("{{\"a\":{}1{}}}", "[".repeat(126), "]".repeat(126));
    let mut all: Vec<String> = [
        r#"{"a":1,"a":2}"#,
        r#"{"a":1e999}"#,
        r#"{"a":-1e400,"b":123456789012345678901234567890}"#,
        r#"{"a":0.1e-500}"#,
        r#"{"\ud83d":"\ude00"}"#,
        r#"{"":null,"__proto__":{"a":1},"constructor":1}"#,
        r#""a text""#,
        "[1,2]",
        "null",
        "no json",
        "",
    ]
    .map(String::from)
    .to_vec();
    all.extend([deep, deeper]);
    all
}

fn header_with_title(title: Option<String>) -> NativeHeader {
    NativeHeader {
        id: "01999999-0000-7000-8000-000000000001".into(),
        folder: "/home/dev/a project".into(),
        folder_name: Some("a-project".into()),
        title,
        now_ms: 1_800_000_000_000,
        ..NativeHeader::default()
    }
}

fn messages(text: &str, arguments: &str) -> Vec<Message> {
    let arguments = serde_json::to_string(arguments).expect("a text");
    let json = format!(
        r#"[{{"role":"user","content":{text}}},
        {{"role":"assistant","content":{text},"assistant":{{"model":"m","toolCalls":[{{"id":"c","name":"Bash","arguments":{arguments}}},{{"id":"d","name":"Read","arguments":{text}}}],"reasoning":[{{"text":{text}}}]}}}},
        {{"role":"tool","content":{text},"tool":{{"callId":"c","name":"Bash"}}}},
        {{"role":"tool","content":{text},"tool":{{"callId":"d","name":"Read","isError":true}}}},
        {{"role":"user","content":"on"}}]"#
    );
    shapes::read(&json, Format::Leftoff).expect("messages")
}

// A lone surrogate stands in a file only as an escape, for UTF-8 has none.
fn has_lone_surrogate(json: &str) -> bool {
    let plain = json.replace("\\\\", "");
    let mut rest = plain.as_str();
    while let Some((_, behind)) = rest.split_once("\\u") {
        let unit = |text: &str| text.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let high = unit(behind).unwrap_or_default();
        rest = behind;
        if (0xdc00..0xe000).contains(&high) {
            return true;
        }
        if (0xd800..0xdc00).contains(&high) {
            let low = behind.get(4..).and_then(|next| next.strip_prefix("\\u")).and_then(unit);
            if !low.is_some_and(|low| (0xdc00..0xe000).contains(&low)) {
                return true;
            }
            rest = &behind[10..];
        }
    }
    false
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(all) => 1 + all.iter().map(depth).max().unwrap_or_default(),
        Value::Object(all) => 1 + all.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

// As a client's reader takes it: every record is JSON by itself, of keys that come once and numbers that a double holds.
fn check(agent: AgentName, text: &str, of: &str) {
    let place = format!("{} of {of}: {text}", agent.as_str());
    assert!(!has_lone_surrogate(text), "{place}");
    assert!(!text.contains(['\0', '\u{2028}', '\u{2029}', '\r']), "{place}");
    assert!(!text.starts_with('\u{feff}') && text.ends_with('\n'), "{place}");
    for line in text.lines() {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {place}"));
        assert!(value.is_object() && depth(&value) < 120, "{place}");
        let again: Value = serde_json::from_str(&value.to_string()).expect("it is JSON");
        assert_eq!(value, again, "{place}");
    }
}

#[test]
fn what_is_written_for_a_client_is_json_that_any_reader_takes() {
    for agent in agents() {
        for text in STRINGS {
            let title = serde_json::from_str(text).ok();
            let native =
                write(agent, &messages(text, "{}"), &header_with_title(title)).expect("it can be written");
            check(agent, &native.text, text);
            let said = native.text.matches("on\"").count();
            assert!(said > 0, "{}: {}", agent.as_str(), native.text);
        }
        for arguments in arguments() {
            let native = write(agent, &messages("\"x\"", &arguments), &header_with_title(None))
                .expect("it can be written");
            check(agent, &native.text, &arguments);
            let (calls, results) =
                (native.text.matches("\"Bash\"").count(), native.text.matches("\"x\"").count());
            assert!(calls > 0 && results > 1, "{} of {arguments}: {}", agent.as_str(), native.text);
        }
    }
}
