//! Writes a rollout that Codex resumes: `sessions/<year>/<month>/<day>/rollout-<time>-<session>.jsonl`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Value, json};

use crate::interop::AgentName;
use crate::interop::codex::{BY_PROVIDER_KEY, COVERAGE, CUSTOM_KEY, TOOL_SEARCH_KEY};
use crate::interop::native::{FilePlace, NativeHeader, WriterState, render_lines, source_agent, split_files};
use crate::record::message::Role;
use crate::shapes::file::{File, FileSource};
use crate::shapes::steps::{Call, Step, ToolAnswer};
use crate::time;

/// Returns the file's path and its text.
pub(super) fn write(steps: &[Step<'_>], writing: &mut WriterState<'_>) -> (String, String) {
    let about = writing.header;
    let now = time::format(about.now_ms);
    let version = COVERAGE.tested_versions.last();
    let git = about.git_branch.as_ref().map(|branch| json!({ "branch": branch }));
    let head = json!({
        "id": about.id, "session_id": about.id, "timestamp": now, "cwd": about.folder, "originator": "codex_cli_rs",
        "cli_version": version, "source": "cli", "git": git,
    });
    let mut records = Vec::from([record_line(&now, "session_meta", head)]);
    for (place, step) in steps.iter().enumerate() {
        let timestamp = writing.time(step.message);
        if step.role == Role::Assistant {
            let before = place.checked_sub(1).map(|before| &steps[before]);
            if before.is_some_and(|before| before.role == Role::Assistant && before.calls.is_empty()) {
                // The token count between two answers tells where one ends and the next begins.
                records.push(record_line(
                    &timestamp,
                    "event_msg",
                    json!({"type": "token_count", "info": null}),
                ));
            }
            if let Some(model) = writing.model(step) {
                records.push(record_line(
                    &timestamp,
                    "turn_context",
                    json!({"cwd": about.folder, "model": model}),
                ));
            }
            for reasoning in writing.reasoning(step) {
                let summary = json!([{"type": "summary_text", "text": reasoning.text.as_str()}]);
                let item =
                    json!({"type": "reasoning", "summary": summary, "encrypted_content": reasoning.data});
                records.push(record_line(&timestamp, "response_item", item));
            }
        }
        push_message(step, &timestamp, writing.agent, &mut records);
        let is_own = step.message.is_some_and(|message| source_agent(message) == AgentName::Codex.as_str());
        let kinds: Vec<(&str, CallKind)> =
            step.calls.iter().map(|call| (call.id.as_str(), call_kind(call, is_own))).collect();
        for (call, (_, kind)) in step.calls.iter().zip(&kinds) {
            records.push(record_line(&timestamp, "response_item", call_item(call, *kind)));
        }
        for (call, answer) in step.results() {
            let timestamp = writing.time(answer.message);
            let kind =
                kinds.iter().find(|(id, _)| *id == call.id).map_or(CallKind::Function, |(_, kind)| *kind);
            let item = result_item(call, answer, kind);
            records.extend(item.map(|item| record_line(&timestamp, "response_item", item)));
            if answer.is_error {
                records.push(record_line(&timestamp, "event_msg", failure_event(call, answer, about)));
            }
        }
    }
    let day = now.get(..10).unwrap_or_default();
    let clock = now.get(11..19).unwrap_or_default().replace(':', "-");
    let folder = day.replace('-', "/");
    (format!("sessions/{folder}/rollout-{day}T{clock}-{}.jsonl", about.id), render_lines(&records))
}

fn record_line(timestamp: &str, kind: &str, payload: Value) -> Value {
    json!({"timestamp": timestamp, "type": kind, "payload": payload})
}

// Adds the item, and the event by which the client shows and lists it.
fn push_message(step: &Step<'_>, timestamp: &str, agent: AgentName, records: &mut Vec<Value>) {
    let (text, images) = split_files(agent, FilePlace::of_step(step), step.text, &step.files);
    let (role, kind, event) = match step.role {
        Role::Assistant => ("assistant", "output_text", "agent_message"),
        _ => ("user", "input_text", "user_message"),
    };
    let content = content_parts(kind, &text, &images);
    if !content.is_empty() {
        let item = json!({"type": "message", "role": role, "content": content});
        records.push(record_line(timestamp, "response_item", item));
        records.push(record_line(timestamp, "event_msg", json!({"type": event, "message": text})));
    }
}

fn content_parts(kind: &str, text: &str, images: &[&File<'_>]) -> Vec<Value> {
    let text = Some(text).filter(|text| !text.is_empty()).map(|text| json!({"type": kind, "text": text}));
    let images =
        images.iter().map(|file| json!({"type": "input_image", "detail": "auto", "image_url": file.url()}));
    text.into_iter().chain(images).collect()
}

/// A call's kind in the client, which looks for the result of each kind under a name of its own, and tells its model
/// that a call without one was aborted.
#[derive(Clone, Copy, PartialEq)]
enum CallKind {
    Function,
    /// A tool that takes any text.
    Custom,
    Shell,
    /// The client's own search for tools.
    Tools,
    /// A search by the provider, which has no result.
    Search,
    Picture,
}

fn call_kind(call: &Call<'_>, is_own: bool) -> CallKind {
    let message = call.result.as_ref().and_then(|answer| answer.message);
    let is_marked = |mark: &str| is_own && message.is_some_and(|message| message.has_source_mark(mark));
    let arguments: Result<Value, _> = serde_json::from_str(&call.arguments);
    let Ok(arguments) = arguments else { return CallKind::Custom };
    match &*call.name {
        _ if is_marked(CUSTOM_KEY) => CallKind::Custom,
        "web_search" if is_marked(BY_PROVIDER_KEY) => CallKind::Search,
        "image_generation" if is_marked(BY_PROVIDER_KEY) => CallKind::Picture,
        "tool_search" if is_marked(TOOL_SEARCH_KEY) && found_tools(call).is_some() => CallKind::Tools,
        "local_shell" if is_own && arguments["command"].is_array() => CallKind::Shell,
        _ => CallKind::Function,
    }
}

// Returns the tools that a search for tools found.
fn found_tools(call: &Call<'_>) -> Option<Value> {
    let found: Value = serde_json::from_str(call.result.as_ref()?.text).ok()?;
    Some(found).filter(Value::is_array)
}

fn call_item(call: &Call<'_>, kind: CallKind) -> Value {
    let (id, name) = (&call.id, &call.name);
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    let status = call.result.as_ref().map_or("", |answer| answer.text);
    match kind {
        CallKind::Function => {
            json!({"type": "function_call", "call_id": id, "name": name, "arguments": call.arguments})
        }
        CallKind::Custom => {
            json!({"type": "custom_tool_call", "call_id": id, "name": name, "input": call.arguments})
        }
        CallKind::Shell => {
            json!({"type": "local_shell_call", "call_id": id, "status": "completed", "action": arguments})
        }
        CallKind::Tools => {
            json!({"type": "tool_search_call", "call_id": id, "execution": "client", "arguments": arguments})
        }
        CallKind::Search => {
            json!({"type": "web_search_call", "id": id, "status": status, "action": arguments})
        }
        CallKind::Picture => {
            let files = call.result.iter().flat_map(|answer| &answer.files);
            let pictures = files.filter_map(|file| match file.source {
                FileSource::Data(data) => Some(data),
                FileSource::Url(_) | FileSource::Away(_) => None,
            });
            json!({
                "type": "image_generation_call", "id": id, "status": status, "revised_prompt": arguments["prompt"],
                "result": pictures.into_iter().next().unwrap_or_default(),
            })
        }
    }
}

fn result_item(call: &Call<'_>, answer: &ToolAnswer<'_>, kind: CallKind) -> Option<Value> {
    let (text, images) =
        split_files(AgentName::Codex, FilePlace::of_result(answer), answer.text, &answer.files);
    let output = match images.is_empty() {
        true => text.as_str().into(),
        false => Value::from(content_parts("input_text", &text, &images)),
    };
    let given = |name: &str| json!({"type": name, "call_id": call.id, "output": output});
    match kind {
        CallKind::Function | CallKind::Shell => Some(given("function_call_output")),
        CallKind::Custom => Some(given("custom_tool_call_output")),
        CallKind::Tools => Some(json!({
            "type": "tool_search_output", "call_id": call.id, "status": "completed", "execution": "client",
            "tools": found_tools(call),
        })),
        CallKind::Search | CallKind::Picture => None,
    }
}

// A result does not say that the tool failed; the end of a command does.
fn failure_event(call: &Call<'_>, answer: &ToolAnswer<'_>, about: &NativeHeader) -> Value {
    let tool = answer.tool();
    let status = if tool.is_some_and(|tool| tool.not_run) { "declined" } else { "failed" };
    let code = tool.and_then(|tool| tool.exit_code).filter(|code| *code != 0).unwrap_or(-1);
    json!({
        "type": "exec_command_end", "call_id": call.id, "turn_id": "", "command": [call.name], "cwd": about.folder,
        "parsed_cmd": [], "source": "agent", "stdout": "", "stderr": "", "aggregated_output": "", "exit_code": code,
        "duration": {"secs": 0, "nanos": 0}, "formatted_output": "", "status": status,
    })
}
