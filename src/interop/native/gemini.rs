//! Writes a session that Gemini CLI resumes: `tmp/<project>/chats/session-<minute>-<eight letters>.jsonl`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Value, json};

use crate::interop::native::{
    NativeHeader, UNKNOWN_MODEL, WriterState, first_parts, render_lines, results_with_parts,
};
use crate::json::hash::sha256;
use crate::record::message::Role;
use crate::shapes::steps::Step;
use crate::time;

const NO_SIGNATURES: &str = "the client doesn't send signatures from earlier turns";
// First characters of a user's words that the client takes for a command, or for its own, and does not send.
const COMMAND_CHARS: [char; 2] = ['/', '?'];
const HOOK_TAG: &str = "<hook_context>";

/// Returns the file's path and its text.
pub(super) fn write(steps: &[Step<'_>], writing: &mut WriterState<'_>) -> (String, String) {
    let about = writing.header;
    let now = time::format(about.now_ms);
    let mut head = json!({
        "sessionId": about.id, "projectHash": sha256(about.folder.as_bytes()), "startTime": now, "lastUpdated": now,
        "kind": "main",
    });
    if let Some(title) = &about.title {
        head["summary"] = title.as_str().into();
    }
    let mut records = Vec::from([head]);
    for step in steps {
        let record = match step.role {
            Role::Assistant => answer_record(step, writing),
            _ => {
                let content = ensure_sent(first_parts(&writing.shape_step(step)));
                json!({"type": "user", "content": content})
            }
        };
        records.push(with_id_and_time(record, step, writing));
    }
    (chat_path(about, &now), render_lines(&records))
}

// Resumed in a later minute, the client begins an empty file named by the id's first letters, and when it cleans up it
// deletes whatever is named by these: so this file is named by the last ones.
fn chat_path(about: &NativeHeader, now: &str) -> String {
    let place = about.folder_name.as_deref().unwrap_or("project");
    let minute = now.get(..16).unwrap_or_default().replace(':', "-");
    let letters: Vec<char> = about.id.chars().filter(char::is_ascii_alphanumeric).collect();
    let last = letters.len().saturating_sub(8);
    let last: String = letters[last..].iter().collect();
    format!("tmp/{place}/chats/session-{minute}-{last}.jsonl")
}

fn with_id_and_time(mut record: Value, step: &Step<'_>, writing: &mut WriterState<'_>) -> Value {
    record["id"] = writing.uuid().into();
    record["timestamp"] = writing.time(step.message).into();
    record
}

// A part that says that it is no thought is sent, whatever it begins with.
fn ensure_sent(mut content: Vec<Value>) -> Vec<Value> {
    let texts: Vec<&str> = content.iter().filter_map(|part| part["text"].as_str()).collect();
    let text = texts.concat();
    let text = text.trim_start();
    if text.starts_with(COMMAND_CHARS) || text.starts_with(HOOK_TAG) {
        content[0]["thought"] = false.into();
    }
    content
}

// Calls hold their results; the client sends both.
fn answer_record(step: &Step<'_>, writing: &mut WriterState<'_>) -> Value {
    let shaped = writing.shape_step(step);
    let mut content = first_parts(&shaped);
    content.retain(|part| part["functionCall"].is_null());
    let texts: Vec<&str> = content.iter().filter_map(|part| part["text"].as_str()).collect();
    let content: Value = match texts.len() == content.len() {
        true => texts.concat().into(),
        false => content.into(),
    };
    let mut thoughts = Vec::new();
    for reasoning in writing.reasoning(step) {
        if reasoning.signature.is_some() || reasoning.data.is_some() {
            writing.losses.add("assistant.reasoning.signature".into(), NO_SIGNATURES);
        }
        if !reasoning.text.is_empty() {
            let timestamp = writing.time(step.message);
            thoughts.push(json!({"subject": "", "description": reasoning.text, "timestamp": timestamp}));
        }
    }
    let mut results = results_with_parts(step, &shaped);
    let mut calls = Vec::new();
    for call in &step.calls {
        let Some(at) = results.iter().position(|(one, ..)| one.id == call.id) else { continue };
        let (_, answer, result) = results.remove(at);
        let args: Value = serde_json::from_str(&call.object()).unwrap_or_default();
        let status = if answer.is_error { "error" } else { "success" };
        let timestamp = writing.time(answer.message);
        calls.push(json!({
            "id": call.id, "name": call.name, "args": args, "result": result, "status": status, "timestamp": timestamp,
        }));
    }
    let model = writing.model(step).unwrap_or_else(|| UNKNOWN_MODEL.into());
    let mut record = json!({"type": "gemini", "content": content, "thoughts": thoughts, "model": model});
    if !calls.is_empty() {
        record["toolCalls"] = calls.into();
    }
    record
}
