//! The providers' shapes: whatever the messages, what is written has no result without its call nor the reverse, and
//! read again it says the same.
//! Tries: src/shapes/
#![cfg(feature = "interop")]
#![allow(missing_docs)]
#![cfg(not(target_arch = "wasm32"))]

mod files;
mod limits;
mod reader;
mod reasoning;

use std::collections::{BTreeMap, BTreeSet};

use leftoff::record::message::{Assistant, Message, Role, Tool, ToolCall};
use leftoff::shapes::Format;
use leftoff::shapes::{read, render_alone_for_count, write};
use proptest::prelude::*;
use reader::{PartContent, said_in};
use serde_json::{Value, json};

const SHAPES: [Format; 6] = [
    Format::OpenaiChat,
    Format::OpenaiResponses,
    Format::Anthropic,
    Format::Gemini,
    Format::AiSdk,
    Format::AiSdkUi,
];
const INTERRUPTED_RESULT: &str = "[No result was recorded: the call was interrupted.]";

/// An answer that makes one call.
fn calling(id: &str, name: &str) -> Message {
    let call = ToolCall { id: id.into(), name: name.into(), arguments: "{}".into() };
    Message {
        role: Some(Role::Assistant),
        assistant: Some(Assistant { tool_calls: vec![call], ..Assistant::default() }),
        ..Message::default()
    }
}

/// What a list of messages says, once its calls and results are paired: written from the law, not from the code. Results
/// stand in the order that they came in, or where call and result are one part in that of the calls.
fn expected_parts(messages: &[Message], is_by_call: bool) -> Vec<PartContent> {
    let mut said = Vec::new();
    let mut results: BTreeMap<usize, Vec<Option<&Message>>> = BTreeMap::new();
    let mut open: Vec<(&str, &str, usize, usize)> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        if message.role == Some(Role::Tool) {
            let Tool { call_id, name, .. } = message.tool.as_ref().expect("every result here names a call");
            let newest = open.iter().filter(|(id, ..)| id == call_id).map(|(.., step, _)| *step).max();
            let meant: Vec<_> = open
                .iter()
                .filter(|(id, _, step, _)| id == call_id && Some(*step) == newest)
                .copied()
                .collect();
            if let Some(one) = meant.iter().find(|(_, called, ..)| called == name).or(meant.first()) {
                open.retain(|other| other != one);
                results.get_mut(&one.2).expect("a step that calls")[one.3] = Some(message);
            }
            continue;
        }
        results.insert(at, vec![None; message.tool_calls().len()]);
        for (place, call) in message.tool_calls().iter().enumerate() {
            open.push((&call.id, &call.name, at, place));
        }
    }
    for (at, message) in messages.iter().enumerate() {
        let text = message.content.as_str();
        if let Some(role) = message.role.filter(|role| *role != Role::Tool && !text.trim().is_empty()) {
            said.push(PartContent::Text(role, text.into()));
        }
        said.extend(message.tool_calls().iter().map(|call| PartContent::Call {
            id: String::new(),
            arguments: serde_json::from_str(call.arguments.as_str()).unwrap_or_else(|_| {
                if call.arguments.is_empty() { json!({}) } else { call.arguments.as_str().into() }
            }),
        }));
        let mut results = results.remove(&at).unwrap_or_default();
        if !is_by_call {
            results.sort_by_key(|result| {
                messages
                    .iter()
                    .position(|message| result.is_some_and(|result| std::ptr::eq(result, message)))
                    .unwrap_or(usize::MAX)
            });
        }
        for result in results {
            let is_error = result.is_none_or(|result| result.tool.as_ref().is_some_and(|tool| tool.is_error));
            let text = result.map_or(INTERRUPTED_RESULT, |result| result.content.as_str());
            said.push(PartContent::Result { id: String::new(), text: text.into(), is_error });
        }
    }
    said
}

/// Without what a shape cannot say: which role, ids, blanks, whether a result is an error, what it is wrapped in.
fn comparable(said: Vec<PartContent>, format: Format) -> Vec<PartContent> {
    let has_errors = !matches!(format, Format::OpenaiChat | Format::OpenaiResponses);
    let has_objects = matches!(format, Format::Anthropic | Format::Gemini);
    let mut all: Vec<PartContent> = Vec::new();
    for one in said {
        let one = match one {
            PartContent::Text(Role::System, text) if has_objects => {
                PartContent::Text(Role::User, format!("[System message]\n{text}"))
            }
            PartContent::Text(role, text) => PartContent::Text(role, text),
            PartContent::Call { arguments, .. } => {
                let arguments = if has_objects && !arguments.is_object() {
                    json!({ "arguments": arguments })
                } else {
                    arguments
                };
                PartContent::Call { id: String::new(), arguments }
            }
            PartContent::Result { text, is_error, .. } => {
                let text = if text.trim().is_empty() { String::new() } else { text };
                PartContent::Result { id: String::new(), text, is_error: is_error && has_errors }
            }
        };
        // Neighbors of one speaker may become one message.
        match (all.last_mut(), one) {
            (Some(PartContent::Text(before, all)), PartContent::Text(role, text)) if *before == role => {
                *all += &format!("\n\n{text}")
            }
            (_, one) => all.push(one),
        }
    }
    // Blanks at the end of what is to be continued are cut.
    if let Some(PartContent::Text(Role::Assistant, text)) = all.last_mut() {
        *text = text.trim_end().into();
    }
    let begun = PartContent::Text(Role::User, "[The conversation began before this.]".into());
    if all.first() == Some(&begun) {
        all.remove(0);
    }
    if let Some(PartContent::Text(Role::User, text)) = all.first_mut() {
        *text = text.replace("[The conversation began before this.]\n\n", "");
    }
    all
}

/// Every result names the call right before it that is still open, every call is closed before anybody else speaks, and
/// no id comes twice.
fn check_pairs(said: &[PartContent], what: &str) {
    let (mut open, mut met) = (BTreeSet::new(), BTreeSet::new());
    for one in said {
        match one {
            PartContent::Text(role, _) => {
                assert!(open.is_empty() || *role == Role::Assistant, "a call without its result: {what}");
            }
            PartContent::Call { id, .. } => {
                assert!(met.insert(id.clone()), "an id that comes twice, {id:?}: {what}");
                open.insert(id);
            }
            PartContent::Result { id, .. } => {
                assert!(open.remove(id), "a result without its call, {id:?}: {what}")
            }
        }
    }
    assert!(open.is_empty(), "a call without its result at the end: {what}");
}

fn said_by(drafts: &[Message]) -> Vec<PartContent> {
    let mut said = Vec::new();
    for draft in drafts {
        if let Some(tool) = &draft.tool {
            let (id, text) = (tool.call_id.clone(), draft.content.as_str().into());
            said.push(PartContent::Result { id, text, is_error: tool.is_error });
            continue;
        }
        if !draft.content.is_empty() {
            said.push(PartContent::Text(
                draft.role.expect("a draft has a role"),
                draft.content.as_str().into(),
            ));
        }
        said.extend(draft.tool_calls().iter().map(|call| PartContent::Call {
            id: call.id.clone(),
            arguments:
                serde_json::from_str(call.arguments.as_str()).unwrap_or(call.arguments.as_str().into()),
        }));
    }
    said
}

fn check(messages: &[Message]) {
    for format in SHAPES {
        let written = write(messages, format);
        let value: Value = serde_json::from_str(&written.json).expect("valid JSON");
        let said = said_in(&value, format);
        let what = format!("{format:?} {}", written.json);
        check_pairs(&said, &what);
        let law = comparable(expected_parts(messages, format == Format::AiSdkUi), format);
        assert_eq!(comparable(said, format), law, "written: {what}");
        let drafts = read(&written.json, format).unwrap_or_else(|error| panic!("{error}: {what}"));
        assert_eq!(comparable(said_by(&drafts), format), law, "read again: {what}");
        let results = messages.iter().filter(|message| message.role == Some(Role::Tool)).count();
        let kept = law.iter().filter(|said| matches!(said, PartContent::Result { .. })).count();
        let calls: usize = messages.iter().map(|message| message.tool_calls().len()).sum();
        assert_eq!(kept, calls, "{what}");
        assert!(results - written.orphaned_results.len() <= calls, "{what}");
        for message in messages {
            let one: Value =
                serde_json::from_str(&render_alone_for_count(message, format, None).0).expect("valid JSON");
            assert!(one.as_array().is_some_and(|all| all.len() <= 1 + message.tool_calls().len()), "{one}");
        }
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,8}( [a-zß🙂]{1,5}){0,3}",
        1 => Just(String::new()),
        1 => Just(" \n\t".into()),
        1 => Just("quote \" back \\ line\n sep \u{2028} nul \u{0} end ".into()),
        1 => Just("[DONE] {\"role\":\"user\"}".into()),
    ]
}

// Few ids, so that they repeat, miss and cross; some that no provider takes.
fn id() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => (0..5u8).prop_map(|n| format!("call_{n}")),
        1 => Just(String::new()),
        1 => Just("functions.read:0 ü".into()),
        1 => Just("functions_read_0__".into()),
        1 => Just("x".repeat(200)),
        1 => Just("x".repeat(41)),
    ]
}

fn arguments() -> impl Strategy<Value = String> {
    let all = [
        "{}",
        "",
        r#"{"path": "a\nb", "n": [1, 2]}"#,
        "[1]",
        "\"text\"",
        "{\"cut\": ",
        "7",
        r#" {"a":{"b":null}} "#,
    ];
    prop::sample::select(all.to_vec()).prop_map(String::from)
}

fn message() -> impl Strategy<Value = Message> {
    let plain = |role| {
        text().prop_map(move |content| Message {
            role: Some(role),
            content: content.into(),
            ..Message::default()
        })
    };
    let call = (id(), "[a-z.]{0,70}", arguments()).prop_map(|(id, name, arguments)| ToolCall {
        id,
        name,
        arguments: arguments.into(),
    });
    let answer = (text(), prop::collection::vec(call, 0..4)).prop_map(|(content, tool_calls)| Message {
        role: Some(Role::Assistant),
        content: content.into(),
        assistant: Some(Assistant { tool_calls, ..Assistant::default() }),
        ..Message::default()
    });
    let result = (id(), text(), any::<bool>()).prop_map(|(call_id, content, is_error)| Message {
        role: Some(Role::Tool),
        content: content.into(),
        tool: Some(Tool { call_id, name: "t".into(), is_error, ..Tool::default() }),
        ..Message::default()
    });
    prop_oneof![1 => plain(Role::System), 3 => plain(Role::User), 4 => answer, 5 => result]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_shape_has_a_result_without_its_call_nor_the_reverse(messages in prop::collection::vec(message(), 0..12)) {
        check(&messages);
    }
}

// Another value, or none, somewhere in the JSON.
fn spoil_value(value: &mut Value, steps: &[u8], with: &Value) {
    let [step, rest @ ..] = steps else { return *value = with.clone() };
    let at = usize::from(*step);
    let inner = match value {
        Value::Array(all) if !all.is_empty() => {
            all.len().checked_sub(1).map(|last| &mut all[at % (last + 1)])
        }
        Value::Object(all) if !all.is_empty() => {
            let many = all.len();
            all.values_mut().nth(at % many)
        }
        _ => None,
    };
    match inner {
        Some(inner) => spoil_value(inner, rest, with),
        None => *value = with.clone(),
    }
}

proptest! {
    #[test]
    fn whatever_is_read_can_be_written_in_pairs(
        messages in prop::collection::vec(message(), 0..8),
        steps in prop::collection::vec(any::<u8>(), 1..6),
        with in prop::sample::select(vec![json!(null), json!(7), json!("x"), json!([]), json!({}), json!([[1]]), json!({"type": "x", "role": "tool"})]),
    ) {
        for format in SHAPES {
            let mut value: Value = serde_json::from_str(&write(&messages, format).json).expect("valid JSON");
            spoil_value(&mut value, &steps, &with);
            match read(&value.to_string(), format) {
                Ok(drafts) => {
                    let again = write(&drafts, format).json;
                    check_pairs(&said_in(&serde_json::from_str(&again).expect("valid JSON"), format), &again);
                }
                Err(error) => assert!(error.message.starts_with("message "), "{error}"),
            }
        }
    }
}

#[test]
fn results_that_name_no_call_are_told() {
    let result = |id: &str| Message {
        role: Some(Role::Tool),
        tool: Some(Tool { call_id: id.into(), ..Tool::default() }),
        ..Message::default()
    };
    for format in SHAPES {
        let written = write(&[result("gone"), result("lost")], format);
        assert_eq!(
            (written.json.as_str(), written.orphaned_results),
            ("[]", vec!["gone".into(), "lost".into()])
        );
    }
}

#[test]
fn results_of_one_id_answer_their_calls_by_name_and_else_in_order() {
    let call = |name: &str| ToolCall { id: "c".into(), name: name.into(), arguments: "{}".into() };
    let answer = |calls: [&str; 2]| Message {
        role: Some(Role::Assistant),
        assistant: Some(Assistant { tool_calls: calls.map(call).into(), ..Assistant::default() }),
        ..Message::default()
    };
    let result = |name: &str, text: &str| Message {
        role: Some(Role::Tool),
        content: text.into(),
        tool: Some(Tool { call_id: "c".into(), name: name.into(), ..Tool::default() }),
        ..Message::default()
    };
    for (calls, results) in [
        (["alpha", "beta"], [result("alpha", "first"), result("beta", "second")]),
        (["alpha", "beta"], [result("beta", "second"), result("alpha", "first")]),
        (["alpha", "alpha"], [result("alpha", "first"), result("alpha", "second")]),
        (["alpha", "alpha"], [result("", "first"), result("", "second")]),
    ] {
        let [one, other] = results;
        let json: Value =
            serde_json::from_str(&write(&[answer(calls), one, other], Format::OpenaiChat).json).unwrap();
        let said = |id: &Value| {
            let answers = json.as_array().unwrap().iter();
            answers.clone().find(|one| one["tool_call_id"] == *id).unwrap()["content"].clone()
        };
        let ids = json[0]["tool_calls"].as_array().unwrap();
        assert_eq!([said(&ids[0]["id"]), said(&ids[1]["id"])], ["first", "second"], "{json}");
    }
}

#[test]
fn half_of_a_surrogate_pair_is_sent_as_the_replacement() {
    let stored = r#"[{"role":"user","content":"a \ud83d b"},{"role":"assistant","content":"","assistant":{"toolCalls":[
        {"id":"c","name":"t","arguments":"{\"a\":\"\\ud83d\\ude00 \\udc00 \\\\ud83d\"}"}]}}]"#;
    let messages = read(stored, Format::Leftoff).unwrap();
    for format in SHAPES {
        let json = write(&messages, format).json;
        let value: Value = serde_json::from_str(&json).expect("serde takes no half of a pair");
        let Some(PartContent::Call { arguments, .. }) = said_in(&value, format).into_iter().nth(1) else {
            panic!("{json}")
        };
        assert_eq!(arguments, json!({ "a": "😀 \u{fffd} \\ud83d" }), "{json}");
        assert!(json.contains("a \u{fffd} b"), "{json}");
    }
}

#[test]
fn what_a_tool_answered_comes_back_from_the_ai_sdk_as_what_it_was() {
    let called = |output: &Value| {
        json!([
            {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "1", "toolName": "t", "input": {}}]},
            {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "1", "toolName": "t", "output": output}]},
        ])
    };
    for output in [
        json!({"type": "text", "value": "{\"a\":1}"}),
        json!({"type": "json", "value": {"a": [1, null, "\u{1F642}"]}}),
        json!({"type": "json", "value": [1]}),
        json!({"type": "json", "value": 7}),
        json!({"type": "json", "value": null}),
        json!({"type": "json", "value": "a text"}),
        json!({"type": "error-text", "value": "no"}),
        json!({"type": "error-json", "value": {"code": 3}}),
        json!({"type": "execution-denied", "reason": "not now"}),
        json!({"type": "execution-denied"}),
        json!({"type": "content", "value": [{"type": "text", "text": "see"},
            {"type": "file-data", "data": "iVBORw0KGgo=", "mediaType": "image/png"}]}),
    ] {
        let given = called(&output);
        let drafts = read(&given.to_string(), Format::AiSdk).expect("it can be read");
        let again: Value = serde_json::from_str(&write(&drafts, Format::AiSdk).json).expect("JSON");
        assert_eq!(again, given);
        let tool = drafts[1].tool.as_ref().expect("a result");
        assert_eq!(tool.not_run, output["type"] == "execution-denied", "{output}");
        // In leftoff's own shape nothing is lost of it.
        let stored = write(&drafts, Format::Leftoff).json;
        let kept = write(&read(&stored, Format::Leftoff).expect("its own"), Format::AiSdk).json;
        assert_eq!(serde_json::from_str::<Value>(&kept).expect("JSON"), given);
        // An image is nothing that is said.
        let all = SHAPES.iter().filter(|_| output["type"] != "content");
        all.for_each(|format| {
            let json: Value = serde_json::from_str(&write(&drafts, *format).json).expect("JSON");
            check_pairs(&said_in(&json, *format), &json.to_string());
        });
    }
}

#[test]
fn what_a_tool_answered_comes_back_from_its_screen_as_what_it_was() {
    let part = |output: Value| {
        json!([{"id": "message-0", "role": "assistant", "parts": [{"type": "step-start"}, {"type": "dynamic-tool",
            "toolName": "t", "toolCallId": "1", "state": "output-available", "input": {}, "output": output}]}])
    };
    for output in [json!({"a": 1}), json!("{\"a\":1}"), json!([null]), json!(0.5), json!(true)] {
        let drafts = read(&part(output.clone()).to_string(), Format::AiSdkUi).expect("it can be read");
        let again: Value = serde_json::from_str(&write(&drafts, Format::AiSdkUi).json).expect("JSON");
        assert_eq!(again, part(output));
    }
}

#[test]
fn what_a_tool_answered_comes_back_from_gemini_as_what_it_was() {
    let answered = |response: Value| {
        json!([
            {"role": "user", "parts": [{"text": "go"}]},
            {"role": "model", "parts": [{"functionCall": {"id": "1", "name": "t", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"id": "1", "name": "t", "response": response}}]},
        ])
    };
    for response in [
        json!({"temp": 20}),
        json!({"output": "x"}),
        json!({"error": "x"}),
        json!({"output": {"a": 1}}),
        json!({}),
    ] {
        let drafts = read(&answered(response.clone()).to_string(), Format::Gemini).expect("it can be read");
        let again: Value = serde_json::from_str(&write(&drafts, Format::Gemini).json).expect("JSON");
        assert_eq!(again, answered(response));
    }
}

// A value that was shortened to fit is a text.
#[test]
fn a_value_that_is_whole_no_longer_is_sent_as_a_text() {
    let answer = calling("1", "t");
    let cut = Message {
        role: Some(Role::Tool),
        content: "{\"a\":[1, ...".into(),
        tool: Some(Tool { call_id: "1".into(), is_json: true, ..Tool::default() }),
        ..Message::default()
    };
    for format in SHAPES {
        let json = write(&[answer.clone(), cut.clone()], format).json;
        let said = said_in(&serde_json::from_str(&json).expect("valid JSON"), format);
        assert!(
            said.iter()
                .any(|one| matches!(one, PartContent::Result { text, .. } if text == "{\"a\":[1, ...")),
            "{json}"
        );
    }
}

// Anthropic refuses a result that is an error and has anything but text.
