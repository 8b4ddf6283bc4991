//! Nothing that a caller appends in a provider's shape is dropped without a word: it is in the records, or the whole is
//! refused, with its place.
//! Tries: src/shapes/reading.rs, src/shapes/message.rs
#![cfg(feature = "interop")]
#![allow(missing_docs)]
#![cfg(not(target_arch = "wasm32"))]

use leftoff::error::Code;
use leftoff::record::message::Message;
use leftoff::shapes::{Format, read_drafts, write};
use proptest::prelude::*;
use serde_json::{Value, json};

/// What differs from every other text of a sample, so that it can be looked for. It is base64, too.
#[derive(Default)]
struct Marks(u32);

impl Marks {
    fn next(&mut self, kind: &str) -> String {
        self.0 += 1;
        format!("{kind}{:04}", self.0)
    }

    /// Something that is sent to a model again.
    fn next_mark(&mut self) -> Value {
        self.next("mark").into()
    }

    /// What is kept, and not sent in every shape: reasoning, what is signed, names of files.
    fn next_hush(&mut self) -> Value {
        self.next("hush").into()
    }

    /// The bytes of a file: where its kind is spoiled, its name is sent.
    fn file(&mut self) -> Value {
        self.next("file").into()
    }

    fn url(&mut self) -> Value {
        format!("https://example.com/{}", self.next("file")).into()
    }
}

fn marks(text: &str) -> impl Iterator<Item = &str> {
    let found = ["mark", "hush", "file"].into_iter().flat_map(|kind| text.match_indices(kind));
    found
        .filter_map(|(at, _)| text.get(at..at + 8))
        .filter(|mark| mark[4..].bytes().all(|b| b.is_ascii_digit()))
}

/// The call of a tool in a turn.
struct CallParts {
    id: Value,
    name: Value,
    arguments: Value,
}

/// A turn of each shape, with all that its documentation has a model be sent, and what is signed.
fn turn(format: Format, m: &mut Marks) -> Vec<Value> {
    let (id, name) = (m.next_mark(), m.next_mark());
    let call = CallParts { id, name, arguments: json!({ "a": m.next_mark() }) };
    let all = match format {
        Format::OpenaiChat => openai_chat(m, call),
        Format::OpenaiResponses => openai_responses(m, call),
        Format::Anthropic => anthropic(m, call),
        Format::Gemini => gemini(m, call),
        Format::AiSdk => ai_sdk(m, call),
        Format::AiSdkUi => ai_sdk_ui(m, call),
        Format::Leftoff => leftoff(m, call),
    };
    all.as_array().expect("messages").clone()
}

fn openai_chat(m: &mut Marks, CallParts { id, name, arguments }: CallParts) -> Value {
    json!([
        {"role": "developer", "content": m.next_mark()},
        {"role": "user", "content": [
            {"type": "text", "text": m.next_mark()},
            {"type": "image_url", "image_url": {"url": m.url()}},
            {"type": "input_audio", "input_audio": {"data": m.file(), "format": "wav"}},
            {"type": "file", "file": {"filename": m.next_hush(), "file_data": format!("data:application/pdf;base64,{}", m.next("file"))}},
        ]},
        {"role": "assistant", "content": m.next_mark(), "reasoning_content": m.next_hush(), "tool_calls": [
            {"id": id, "type": "function", "function": {"name": name, "arguments": arguments.to_string()}}]},
        {"role": "tool", "tool_call_id": id, "content": m.next_mark()},
        {"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "refusal": m.next_mark(), "content": null}}]},
    ])
}

fn openai_responses(m: &mut Marks, CallParts { id, name, arguments }: CallParts) -> Value {
    json!([
        {"role": "user", "content": [{"type": "input_text", "text": m.next_mark()}, {"type": "input_image", "image_url": m.url()},
            {"type": "input_file", "filename": m.next_hush(), "file_url": m.url()}]},
        {"output": [
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": m.next_hush()}],
                "content": [{"type": "reasoning_text", "text": m.next_hush()}], "encrypted_content": m.next_hush()},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": m.next_mark()}]},
            {"type": "function_call", "id": "fc_1", "call_id": id, "name": name, "arguments": arguments.to_string()},
        ]},
        {"type": "function_call_output", "call_id": id, "output": [{"type": "input_text", "text": m.next_mark()}]},
        {"type": "web_search_call", "id": m.next_mark(), "action": {"type": "search", "query": m.next_mark()}},
    ])
}

fn anthropic(m: &mut Marks, CallParts { id, name, arguments }: CallParts) -> Value {
    json!([
        {"role": "user", "content": [
            {"type": "text", "text": m.next_mark()},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": m.file()}},
            {"type": "document", "context": m.next_mark(), "source": {"type": "url", "url": m.url()}},
            {"type": "search_result", "source": m.url(), "title": m.next_mark(), "content": [{"type": "text", "text": m.next_mark()}]},
        ]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": m.next_hush(), "signature": m.next_hush()},
            {"type": "redacted_thinking", "data": m.next_hush()},
            {"type": "text", "text": m.next_mark()},
            {"type": "tool_use", "id": id, "name": name, "input": arguments},
        ]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "is_error": false, "content": [
            {"type": "text", "text": m.next_mark()}, {"type": "image", "source": {"type": "url", "url": m.url()}}]}]},
        {"role": "assistant", "content": m.next_mark()},
    ])
}

fn gemini(m: &mut Marks, CallParts { id, name, arguments }: CallParts) -> Value {
    json!([
        {"role": "user", "parts": [{"text": m.next_mark()}, {"inlineData": {"mimeType": "image/png", "data": m.file()}},
            {"fileData": {"mimeType": "video/mp4", "fileUri": m.url()}}]},
        {"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [
            {"thought": true, "text": m.next_hush()},
            {"text": m.next_mark(), "thoughtSignature": m.next_hush()},
            {"functionCall": {"id": id, "name": name, "args": arguments}, "thoughtSignature": m.next_hush()},
        ]}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": id, "name": name, "response": {"output": m.next_mark()},
            "parts": [{"inlineData": {"mimeType": "image/png", "data": m.file()}}]}}]},
        {"role": "model", "parts": [{"executableCode": {"language": "PYTHON", "code": m.next_mark()}}]},
    ])
}

fn ai_sdk(m: &mut Marks, CallParts { id, name, arguments }: CallParts) -> Value {
    json!([
        {"role": "user", "content": [{"type": "text", "text": m.next_mark()}, {"type": "image", "image": m.url()},
            {"type": "file", "mediaType": "application/pdf", "filename": m.next_hush(), "data": m.file()}]},
        {"role": "assistant", "content": [
            {"type": "reasoning", "text": m.next_hush(), "providerOptions": {"anthropic": {"signature": m.next_hush()}}},
            {"type": "reasoning", "text": "", "providerOptions": {"openai": {"reasoningEncryptedContent": m.next_hush()}}},
            {"type": "reasoning", "text": "", "providerOptions": {"bedrock": {"redactedData": m.next_hush()}}},
            {"type": "text", "text": m.next_mark(), "providerOptions": {"google": {"thoughtSignature": m.next_hush()}}},
            {"type": "tool-call", "toolCallId": id, "toolName": name, "input": arguments,
                "providerOptions": {"google": {"thoughtSignature": m.next_hush()}}},
        ]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": id, "toolName": name, "output": {"type": "content",
            "value": [{"type": "text", "text": m.next_mark()}, {"type": "file-data", "mediaType": "image/png", "data": m.file()}]}}]},
        {"role": "assistant", "content": m.next_mark()},
    ])
}

fn ai_sdk_ui(m: &mut Marks, CallParts { id, name, arguments }: CallParts) -> Value {
    json!([
        {"id": "1", "role": "user", "parts": [{"type": "text", "text": m.next_mark()},
            {"type": "file", "mediaType": "image/png", "filename": m.next_hush(), "url": m.url()}]},
        {"id": "2", "role": "assistant", "parts": [
            {"type": "step-start"},
            {"type": "reasoning", "text": m.next_hush(), "providerMetadata": {"anthropic": {"signature": m.next_hush()}}},
            {"type": "text", "text": m.next_mark()},
            {"type": "dynamic-tool", "toolName": name, "toolCallId": id, "state": "output-available", "input": arguments,
                "output": {"b": m.next_mark()}, "callProviderMetadata": {"google": {"thoughtSignature": m.next_hush()}}},
            {"type": "tool-search", "toolCallId": m.next_mark(), "state": "output-error", "input": {}, "errorText": m.next_mark()},
            {"type": "tool-search", "toolCallId": m.next_mark(), "state": "output-denied", "input": {}, "approval": {"reason": m.next_mark()}},
        ]},
    ])
}

fn leftoff(m: &mut Marks, CallParts { id, name, arguments }: CallParts) -> Value {
    json!([
        {"role": "user", "content": m.next_mark(), "attachments": [{"mime": "image/png", "name": m.next_hush(), "data": m.file()}]},
        {"role": "assistant", "content": m.next_mark(), "assistant": {"toolCalls": [{"id": id, "name": name, "arguments": arguments.to_string()}],
            "reasoning": [{"text": m.next_hush(), "signature": m.next_hush(), "data": m.next_hush()}]}},
        {"role": "tool", "content": m.next_mark(), "tool": {"callId": id, "name": name}},
    ])
}

/// The pointer of every value inside.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    let inside: Vec<(String, &Value)> = match value {
        Value::Array(all) => all.iter().enumerate().map(|(place, one)| (place.to_string(), one)).collect(),
        Value::Object(all) => all.iter().map(|(key, one)| (key.clone(), one)).collect(),
        _ => return,
    };
    for (key, one) in inside {
        let at = format!("{at}/{key}");
        pointers(one, &at, found);
        found.push(at);
    }
}

/// The same without the value there, or with another one.
fn spoil_at(all: &Value, pointer: &str, with: Option<&Value>) -> Value {
    let mut all = all.clone();
    let (above, key) = pointer.rsplit_once('/').expect("a pointer");
    match (all.pointer_mut(above).expect("what is above it"), with) {
        (Value::Object(fields), Some(with)) => drop(fields.insert(key.into(), with.clone())),
        (Value::Object(fields), None) => drop(fields.remove(key)),
        (Value::Array(items), Some(with)) => items[key.parse::<usize>().expect("a place")] = with.clone(),
        (Value::Array(items), None) => drop(items.remove(key.parse::<usize>().expect("a place"))),
        (other, _) => panic!("nothing is inside {other}"),
    }
    all
}

/// What is given is in the records, and what a model is sent of it in the messages of the same shape, or it is refused.
fn check(given: &Value, format: Format) -> Option<Vec<Message>> {
    let json = given.to_string();
    let drafts = match read_drafts(&json, format) {
        Ok(drafts) => drafts,
        Err(error) => {
            let text = &error.message;
            if error.code == Code::EmptyMessage {
                return None;
            }
            assert_eq!(error.code, Code::InvalidRequest, "{text}: {json}");
            assert!(text.starts_with("message ") && text.contains(": expected "), "{text}: {json}");
            assert!(text.contains("but found ") || text.contains("did you mean"), "{text}: {json}");
            return None;
        }
    };
    assert!(!drafts.is_empty() || given == &json!([]), "acknowledged without a record: {json}");
    let records = serde_json::to_string(&drafts).expect("they are JSON");
    for mark in marks(&json) {
        assert!(records.contains(mark), "{format:?}: {mark} is lost of {json}\nin {records}");
    }
    for draft in &drafts {
        let tool = draft.tool.as_ref().map(|tool| &tool.call_id);
        let words = draft.tool_calls().iter().flat_map(|call| [&call.id, &call.name]).chain(tool);
        assert!(
            format == Format::Leftoff || words.into_iter().all(|word| !word.is_empty()),
            "{json}\nin {records}"
        );
    }
    let written = write(&drafts, format);
    // A result that nobody asked for is told by its id, and is in the records.
    let is_sent = |draft: &&Message| {
        draft.tool.as_ref().is_none_or(|tool| !written.orphaned_results.contains(&tool.call_id))
    };
    let mut sent: Vec<Message> = drafts.iter().filter(is_sent).cloned().collect();
    // With a result the name is sent that its call has.
    sent.iter_mut().filter_map(|draft| draft.tool.as_mut()).for_each(|tool| tool.name.clear());
    let sent = serde_json::to_string(&sent).expect("they are JSON");
    let is_told = written.json.contains("[Not sent: ");
    for mark in marks(&sent).filter(|mark| mark.starts_with("mark") || (mark.starts_with("file") && !is_told))
    {
        assert!(written.json.contains(mark), "{format:?}: {mark} is not sent of {json}\nin {}", written.json);
    }
    Some(drafts)
}

fn other_values() -> Vec<Option<Value>> {
    let values = [
        json!(null),
        json!(7),
        json!(true),
        json!("x"),
        json!(""),
        json!([]),
        json!({}),
        json!(["x"]),
        json!([{}]),
    ];
    values.into_iter().map(Some).chain([None]).collect()
}

#[test]
fn what_is_given_in_any_shape_is_kept_or_refused_whatever_lacks_and_whatever_is_of_another_kind() {
    for format in Format::ALL {
        let given = Value::from(turn(format, &mut Marks::default()));
        let drafts = check(&given, format).expect("it is as it is documented");
        assert!(!write(&drafts, format).json.contains("[Not sent: "), "{format:?} takes all of these files");
        let mut places = Vec::new();
        pointers(&given, "", &mut places);
        for place in &places {
            for with in other_values() {
                check(&spoil_at(&given, place, with.as_ref()), format);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    // Several turns, each of them spoiled in more than one place.
    #[test]
    fn so_it_is_where_more_than_one_thing_is_wrong(
        turns in 1..3usize,
        wrong in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..4),
    ) {
        for format in Format::ALL {
            let mut m = Marks::default();
            let mut given = Value::from((0..turns).flat_map(|_| turn(format, &mut m)).collect::<Vec<_>>());
            for (place, with) in &wrong {
                let mut places = Vec::new();
                pointers(&given, "", &mut places);
                if !places.is_empty() {
                    given = spoil_at(&given, &places[place.index(places.len())], other_values()[with.index(other_values().len())].as_ref());
                }
            }
            check(&given, format);
        }
    }
}

fn expect_refusal(json: &str, format: Format) -> String {
    read_drafts(json, format).expect_err("it lacks something").message
}

#[test]
fn what_lacks_is_named_with_its_place() {
    let chat = r#"{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"a"}},{"id":"2"}]}"#;
    assert_eq!(
        expect_refusal(chat, Format::OpenaiChat),
        "message 0: expected an object for \"tool_calls[1].function\", but found none"
    );
    assert_eq!(
        expect_refusal(r#"{"candidates":[]}"#, Format::Gemini),
        "message 0: expected an answer for \"candidates\", but found none"
    );
    assert_eq!(
        expect_refusal(
            r#"[{"type":"function_call","call_id":"1","arguments":"{}"}]"#,
            Format::OpenaiResponses
        ),
        "message 0: expected a string that is not empty for \"name\", but found none"
    );
    let part = r#"{"role":"assistant","parts":[{"type":"text","text":"x"},{"type":"tool-a","state":"input-available"}]}"#;
    assert_eq!(
        expect_refusal(part, Format::AiSdkUi),
        "message 0: expected a string that is not empty for \"parts[1].toolCallId\", but found none"
    );
    assert_eq!(
        expect_refusal(
            r#"{"choices":[{"message":{"role":"assistant"}},{"message":{"role":"assistant"}}]}"#,
            Format::OpenaiChat
        ),
        "message 0: expected one answer, but found several"
    );
}
