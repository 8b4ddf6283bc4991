//! A rollout that Codex resumes: `sessions/<year>/<month>/<day>/rollout-<time>-<session>.jsonl`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Value, json};

use crate::interop::codex::COVERAGE;
use crate::interop::messages::steps::{Call, Step};
use crate::interop::native::{About, Writing, lines};
use crate::session::message::{Message, Role};
use crate::time;

/// The file's path, and the file.
pub(super) fn write(steps: &[Step<'_>], writing: &mut Writing<'_>) -> (String, String) {
    let about = writing.about;
    let now = time::format(about.now_ms);
    let version = COVERAGE.tested.last();
    let git = about.git_branch.as_ref().map(|branch| json!({ "branch": branch }));
    let head = json!({
        "id": about.id, "session_id": about.id, "timestamp": now, "cwd": about.folder, "originator": "codex_cli_rs",
        "cli_version": version, "source": "cli", "git": git,
    });
    let mut records = Vec::from([line(&now, "session_meta", head)]);
    for (place, step) in steps.iter().enumerate() {
        let timestamp = writing.time(step.message);
        if step.role == Role::Assistant {
            let before = place.checked_sub(1).map(|before| &steps[before]);
            if before.is_some_and(|before| before.role == Role::Assistant && before.calls.is_empty()) {
                // Where one answer ends and the next begins is told by the count between them.
                records.push(line(&timestamp, "event_msg", json!({"type": "token_count", "info": null})));
            }
            if let Some(model) = writing.model(step) {
                records.push(line(&timestamp, "turn_context", json!({"cwd": about.folder, "model": model})));
            }
            for reasoning in writing.reasoning(step) {
                let summary = json!([{"type": "summary_text", "text": reasoning.text.as_str()}]);
                let item =
                    json!({"type": "reasoning", "summary": summary, "encrypted_content": reasoning.data});
                records.push(line(&timestamp, "response_item", item));
            }
        }
        let mut results = step.results().into_iter().peekable();
        for mut item in writing.shaped(step) {
            let is_result = item["type"] == "function_call_output";
            let result = results.next_if(|_| is_result);
            let message: Option<&Message> = match &result {
                Some((_, answer)) => answer.message,
                None => step.message,
            };
            let timestamp = writing.time(message);
            if item["type"].is_null() {
                item["type"] = "message".into();
            }
            // The provider takes a text; the client takes only parts.
            if let Some(text) = item["content"].as_str() {
                let kind = if step.role == Role::Assistant { "output_text" } else { "input_text" };
                item["content"] = json!([{"type": kind, "text": text}]);
            }
            let shown = shown(&item);
            records.push(line(&timestamp, "response_item", custom(item)));
            let failed = result.filter(|(_, answer)| answer.is_error).map(|(call, _)| failed(call, about));
            records.extend(shown.or(failed).map(|event| line(&timestamp, "event_msg", event)));
        }
    }
    let day = now.get(..10).unwrap_or_default();
    let clock = now.get(11..19).unwrap_or_default().replace(':', "-");
    let folder = day.replace('-', "/");
    (format!("sessions/{folder}/rollout-{day}T{clock}-{}.jsonl", about.id), lines(&records))
}

fn line(timestamp: &str, kind: &str, payload: Value) -> Value {
    json!({"timestamp": timestamp, "type": kind, "payload": payload})
}

// A result does not say that the tool failed; the end of a command does.
fn failed(call: &Call<'_>, about: &About) -> Value {
    json!({
        "type": "exec_command_end", "call_id": call.id, "turn_id": "", "command": [call.name], "cwd": about.folder,
        "parsed_cmd": [], "source": "agent", "stdout": "", "stderr": "", "aggregated_output": "", "exit_code": 1,
        "duration": {"secs": 0, "nanos": 0}, "formatted_output": "",
    })
}

// What is no JSON was written for a tool that takes any text.
fn custom(item: Value) -> Value {
    let arguments = item["arguments"].as_str().filter(|_| item["type"] == "function_call");
    let is_json = |text: &str| serde_json::from_str::<Value>(text).is_ok();
    match arguments.filter(|text| !is_json(text)) {
        Some(input) => {
            json!({"type": "custom_tool_call", "call_id": item["call_id"], "name": item["name"], "input": input})
        }
        None => item,
    }
}

// The client shows, and lists, what an event says.
fn shown(item: &Value) -> Option<Value> {
    let parts = item["content"].as_array()?.iter();
    let texts: Vec<&str> = parts.filter_map(|part| part["text"].as_str()).collect();
    let kind = match item["role"].as_str()? {
        "user" => "user_message",
        _ => "agent_message",
    };
    Some(json!({"type": kind, "message": texts.join("\n\n")}))
}
