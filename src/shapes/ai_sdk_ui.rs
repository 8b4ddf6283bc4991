//! Vercel AI SDK's `UIMessage`, versions 6 and 7.

use alloc::format;
use alloc::string::String;

use crate::record::message::Role;
use crate::shapes::json::JsonWriter;
use crate::shapes::message::{PLAIN_KEYS, ProviderKeys};
use crate::shapes::patterns::{Arguments, Forms, write_content};
use crate::shapes::steps::{Call, Step};

const FILE: &str = r#"{"type":"file","mediaType":?1,"url":?2,"filename":?3}"#;
const FORMS: Forms = Forms {
    text: r#"{"type":"text","text":?0}"#,
    image: [FILE, FILE],
    pdf: [FILE, FILE],
    sound: "",
    other: [FILE, FILE],
    other_types: &[""],
    addresses: &[""],
    // A call contains its result.
    call: "",
    arguments: Arguments::Value,
};

/// Writes all steps between two user messages as one message.
pub(super) fn write(steps: &[Step<'_>], json: &mut JsonWriter) {
    let mut is_answer = false;
    for (place, step) in steps.iter().enumerate() {
        let role = match step.role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant | Role::Tool => "assistant",
        };
        if !(is_answer && role == "assistant") {
            if place > 0 {
                json.put("]}", &[]);
            }
            // Messages have unique ids there.
            let id = step.message.map_or("", |message| &*message.id);
            let id = if id.is_empty() { free_id(place, steps) } else { id.into() };
            json.put(r#"{"id":?0,"role":?1,"parts":["#, &[&id, role]);
        }
        is_answer = role == "assistant";
        if is_answer {
            json.put(r#"{"type":"step-start"}"#, &[]);
        }
        write_content(step.text, &step.files, &FORMS, json);
        step.calls.iter().for_each(|call| write_tool_call(call, json));
    }
    if !steps.is_empty() {
        json.put("]}", &[]);
    }
}

fn write_tool_call(call: &Call<'_>, json: &mut JsonWriter) {
    let (state, key) = match &call.result {
        None => ("input-available", ""),
        Some(result) if result.is_error => ("output-error", "errorText"),
        Some(_) => ("output-available", "output"),
    };
    let words = [&*call.name, &call.id, state, &call.value()];
    json.put(r#"{"type":"dynamic-tool","toolName":?0,"toolCallId":?1,"state":?2,"input":!3"#, &words);
    if let Some(result) = &call.result {
        match result.value().filter(|_| result.files.is_empty()) {
            Some(value) => json.put(if result.is_error { "?0:?1" } else { "?0:!1" }, &[key, &value]),
            None => json.put("?0:?1", &[key, &result.text_with_files()]),
        }
    }
    json.put("}", &[]);
}

pub(super) const AI_SDK_UI_KEYS: ProviderKeys = ProviderKeys { content: "parts", ..PLAIN_KEYS };

// Returns an id for a message without one, which no other message has.
fn free_id(place: usize, steps: &[Step<'_>]) -> String {
    let mut id = format!("message-{place}");
    while steps.iter().any(|step| step.message.is_some_and(|message| message.id == id)) {
        id.push('-');
    }
    id
}
