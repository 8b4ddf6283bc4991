//! A small reader of each shape, which knows nothing of leftoff's.

use leftoff::record::message::Role;
use leftoff::shapes::Format;
use serde_json::Value;

/// What one part says.
#[derive(Clone, Debug, PartialEq)]
pub enum PartContent {
    Text(Role, String),
    Call { id: String, arguments: Value },
    Result { id: String, text: String, is_error: bool },
}

pub fn said_in(messages: &Value, format: Format) -> Vec<PartContent> {
    let mut said = Vec::new();
    for message in messages.as_array().expect("an array") {
        match format {
            Format::OpenaiChat => openai_chat(message, &mut said),
            Format::OpenaiResponses => openai_responses(message, &mut said),
            Format::Anthropic => anthropic(message, &mut said),
            Format::Gemini => gemini(message, &mut said),
            Format::AiSdk => ai_sdk(message, &mut said),
            Format::AiSdkUi => ai_sdk_ui(message, &mut said),
            Format::Leftoff => panic!("leftoff's own shape is no provider's"),
        }
    }
    said
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("a string, not {value}")).into()
}

// What a tool answered with may be any value.
fn answer_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), Into::into)
}

fn role(message: &Value) -> Role {
    match message["role"].as_str() {
        Some("system") => Role::System,
        Some("user") => Role::User,
        Some("assistant" | "model") => Role::Assistant,
        other => panic!("no role: {other:?}"),
    }
}

fn call(id: &Value, arguments: Value) -> PartContent {
    PartContent::Call { id: string(id), arguments }
}

// A text of arguments, as the model wrote it.
fn parse_arguments(arguments: &Value) -> Value {
    let text = string(arguments);
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

fn openai_chat(message: &Value, said: &mut Vec<PartContent>) {
    if message["role"] == "tool" {
        let id = string(&message["tool_call_id"]);
        return said.push(PartContent::Result { id, text: string(&message["content"]), is_error: false });
    }
    match &message["content"] {
        Value::Null => assert!(message["tool_calls"].is_array(), "an answer that says nothing"),
        content => said.push(PartContent::Text(role(message), string(content))),
    }
    for called in message["tool_calls"].as_array().into_iter().flatten() {
        let (id, name) = (string(&called["id"]), string(&called["function"]["name"]));
        assert!(
            (1..=40).contains(&id.len())
                && is_plain(&id)
                && (1..=64).contains(&name.len())
                && is_plain(&name)
        );
        said.push(call(&called["id"], parse_arguments(&called["function"]["arguments"])));
    }
}

fn is_plain(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

fn openai_responses(item: &Value, said: &mut Vec<PartContent>) {
    said.push(match item["type"].as_str() {
        Some("function_call") => {
            assert!(string(&item["call_id"]).len() <= 64 && is_plain(&string(&item["name"])));
            call(&item["call_id"], parse_arguments(&item["arguments"]))
        }
        Some("function_call_output") => PartContent::Result {
            id: string(&item["call_id"]),
            text: answer_text(&item["output"]),
            is_error: false,
        },
        None => PartContent::Text(role(item), string(&item["content"])),
        Some(other) => panic!("no kind of item: {other}"),
    });
}

fn anthropic(message: &Value, said: &mut Vec<PartContent>) {
    let is_answer = message["role"] == "assistant";
    assert!(is_answer || message["role"] == "user");
    assert!(is_answer || !said.is_empty() || message["role"] == "user", "the user begins");
    let mut is_past_results = false;
    let blocks = message["content"].as_array().expect("blocks");
    assert!(!blocks.is_empty());
    for block in blocks {
        let kind = block["type"].as_str().expect("a type");
        assert!(kind != "tool_result" || !is_past_results, "a result behind something else");
        is_past_results |= kind != "tool_result";
        match kind {
            "text" => {
                assert!(!string(&block["text"]).trim().is_empty(), "a text of blanks");
                said.push(PartContent::Text(role(message), string(&block["text"])));
            }
            "tool_use" => {
                assert!(is_answer && block["input"].is_object() && is_plain(&string(&block["id"])));
                said.push(call(&block["id"], block["input"].clone()));
            }
            "tool_result" => {
                let text =
                    block["content"].as_array().map_or(String::new(), |blocks| string(&blocks[0]["text"]));
                let is_error = block["is_error"] == true;
                said.push(PartContent::Result { id: string(&block["tool_use_id"]), text, is_error });
            }
            other => panic!("no kind of block: {other}"),
        }
    }
}

fn gemini(content: &Value, said: &mut Vec<PartContent>) {
    let parts = content["parts"].as_array().expect("parts");
    assert!(!parts.is_empty());
    assert!(!said.is_empty() || content["role"] == "user", "the user begins");
    for part in parts {
        let (called, answered) = (&part["functionCall"], &part["functionResponse"]);
        if called.is_object() {
            assert!(content["role"] == "model" && called["args"].is_object());
            said.push(call(&called["id"], called["args"].clone()));
        } else if answered.is_object() {
            assert_eq!(content["role"], "user");
            let response = answered["response"].as_object().expect("an object");
            let only = response.iter().next().filter(|_| response.len() == 1);
            let (is_error, text) = match only {
                Some((key, Value::String(text))) if key == "output" || key == "error" => {
                    (key == "error", text.clone())
                }
                // A value of the function's own.
                _ => (false, answered["response"].to_string()),
            };
            said.push(PartContent::Result { id: string(&answered["id"]), text, is_error });
        } else {
            assert!(!string(&part["text"]).is_empty());
            said.push(PartContent::Text(role(content), string(&part["text"])));
        }
    }
}

fn ai_sdk(message: &Value, said: &mut Vec<PartContent>) {
    let Some(parts) = message["content"].as_array() else {
        return said.push(PartContent::Text(role(message), string(&message["content"])));
    };
    for part in parts {
        let id = &part["toolCallId"];
        said.push(match part["type"].as_str() {
            Some("text") => PartContent::Text(role(message), string(&part["text"])),
            // It is no one's call and no one's result.
            Some("file") => continue,
            Some("tool-call") => call(id, part["input"].clone()),
            Some("tool-result") => {
                assert_eq!(message["role"], "tool");
                let kind = string(&part["output"]["type"]);
                let is_denied = kind == "execution-denied";
                let text = answer_text(&part["output"][if is_denied { "reason" } else { "value" }]);
                PartContent::Result { id: string(id), text, is_error: is_denied || kind.starts_with("error") }
            }
            other => panic!("no kind of part: {other:?}"),
        });
    }
}

// Calls and results are one part; in the order of things, a step's calls come before all of their results.
fn ai_sdk_ui(message: &Value, said: &mut Vec<PartContent>) {
    let mut results = Vec::new();
    for part in message["parts"].as_array().expect("parts") {
        match part["type"].as_str() {
            Some("step-start") => said.append(&mut results),
            Some("text") => said.push(PartContent::Text(role(message), string(&part["text"]))),
            // What was spoilt may be read as one.
            Some("file") => {}
            Some("dynamic-tool") => {
                said.push(call(&part["toolCallId"], part["input"].clone()));
                let is_error = part["state"] == "output-error";
                let text = answer_text(&part[if is_error { "errorText" } else { "output" }]);
                results.push(PartContent::Result { id: string(&part["toolCallId"]), text, is_error });
            }
            other => panic!("no kind of part: {other:?}"),
        }
    }
    said.append(&mut results);
}
