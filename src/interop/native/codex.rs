//! A rollout that Codex resumes: `sessions/<year>/<month>/<day>/rollout-<time>-<session>.jsonl`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Value, json};

use crate::interop::AgentName;
use crate::interop::codex::{BY_PROVIDER, COVERAGE, CUSTOM, TOOLS_FOUND};
use crate::interop::native::{About, Place, Writing, divided, lines, source};
use crate::record::message::Role;
use crate::shapes::file::{File, Source};
use crate::shapes::steps::{Answer, Call, Step};
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
        said(step, &timestamp, writing.agent, &mut records);
        let is_own = step.message.is_some_and(|message| source(message) == AgentName::Codex.as_str());
        let kinds: Vec<(&str, Kind)> =
            step.calls.iter().map(|call| (call.id.as_str(), kind(call, is_own))).collect();
        for (call, (_, kind)) in step.calls.iter().zip(&kinds) {
            records.push(line(&timestamp, "response_item", called(call, *kind)));
        }
        for (call, answer) in step.results() {
            let timestamp = writing.time(answer.message);
            let kind = kinds.iter().find(|(id, _)| *id == call.id).map_or(Kind::Function, |(_, kind)| *kind);
            let item = answered(call, answer, kind);
            records.extend(item.map(|item| line(&timestamp, "response_item", item)));
            if answer.is_error {
                records.push(line(&timestamp, "event_msg", failed(call, answer, about)));
            }
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

// The item, and the event by which the client shows and lists it.
fn said(step: &Step<'_>, timestamp: &str, agent: AgentName, records: &mut Vec<Value>) {
    let (text, images) = divided(agent, Place::of(step), step.text, &step.files);
    let (role, kind, event) = match step.role {
        Role::Assistant => ("assistant", "output_text", "agent_message"),
        _ => ("user", "input_text", "user_message"),
    };
    let content = parts(kind, &text, &images);
    if !content.is_empty() {
        let item = json!({"type": "message", "role": role, "content": content});
        records.push(line(timestamp, "response_item", item));
        records.push(line(timestamp, "event_msg", json!({"type": event, "message": text})));
    }
}

fn parts(kind: &str, text: &str, images: &[&File<'_>]) -> Vec<Value> {
    let text = Some(text).filter(|text| !text.is_empty()).map(|text| json!({"type": kind, "text": text}));
    let images =
        images.iter().map(|file| json!({"type": "input_image", "detail": "auto", "image_url": file.url()}));
    text.into_iter().chain(images).collect()
}

/// What a call is to the client, which looks for the result of each kind under a name of its own, and tells its model
/// that a call without one was aborted.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Function,
    /// Of a tool that takes any text.
    Custom,
    Shell,
    /// The client's own search for tools.
    Tools,
    /// What the provider does by itself has no result.
    Search,
    Picture,
}

fn kind(call: &Call<'_>, is_own: bool) -> Kind {
    let message = call.result.as_ref().and_then(|answer| answer.message);
    let is_marked = |mark: &str| is_own && message.is_some_and(|message| message.is_marked(mark));
    let arguments: Result<Value, _> = serde_json::from_str(&call.arguments);
    let Ok(arguments) = arguments else { return Kind::Custom };
    match &*call.name {
        _ if is_marked(CUSTOM) => Kind::Custom,
        "web_search" if is_marked(BY_PROVIDER) => Kind::Search,
        "image_generation" if is_marked(BY_PROVIDER) => Kind::Picture,
        "tool_search" if is_marked(TOOLS_FOUND) && tools(call).is_some() => Kind::Tools,
        "local_shell" if is_own && arguments["command"].is_array() => Kind::Shell,
        _ => Kind::Function,
    }
}

// What a search for tools gave.
fn tools(call: &Call<'_>) -> Option<Value> {
    let found: Value = serde_json::from_str(call.result.as_ref()?.text).ok()?;
    Some(found).filter(Value::is_array)
}

fn called(call: &Call<'_>, kind: Kind) -> Value {
    let (id, name) = (&call.id, &call.name);
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    let status = call.result.as_ref().map_or("", |answer| answer.text);
    match kind {
        Kind::Function => {
            json!({"type": "function_call", "call_id": id, "name": name, "arguments": call.arguments})
        }
        Kind::Custom => {
            json!({"type": "custom_tool_call", "call_id": id, "name": name, "input": call.arguments})
        }
        Kind::Shell => {
            json!({"type": "local_shell_call", "call_id": id, "status": "completed", "action": arguments})
        }
        Kind::Tools => {
            json!({"type": "tool_search_call", "call_id": id, "execution": "client", "arguments": arguments})
        }
        Kind::Search => json!({"type": "web_search_call", "id": id, "status": status, "action": arguments}),
        Kind::Picture => {
            let files = call.result.iter().flat_map(|answer| &answer.files);
            let pictures = files.filter_map(|file| match file.source {
                Source::Data(data) => Some(data),
                Source::Url(_) | Source::Away(_) => None,
            });
            json!({
                "type": "image_generation_call", "id": id, "status": status, "revised_prompt": arguments["prompt"],
                "result": pictures.into_iter().next().unwrap_or_default(),
            })
        }
    }
}

fn answered(call: &Call<'_>, answer: &Answer<'_>, kind: Kind) -> Option<Value> {
    let (text, images) = divided(AgentName::Codex, Place::of_result(answer), answer.text, &answer.files);
    let output = match images.is_empty() {
        true => text.as_str().into(),
        false => Value::from(parts("input_text", &text, &images)),
    };
    let given = |name: &str| json!({"type": name, "call_id": call.id, "output": output});
    match kind {
        Kind::Function | Kind::Shell => Some(given("function_call_output")),
        Kind::Custom => Some(given("custom_tool_call_output")),
        Kind::Tools => Some(json!({
            "type": "tool_search_output", "call_id": call.id, "status": "completed", "execution": "client",
            "tools": tools(call),
        })),
        Kind::Search | Kind::Picture => None,
    }
}

// A result does not say that the tool failed; the end of a command does.
fn failed(call: &Call<'_>, answer: &Answer<'_>, about: &About) -> Value {
    let tool = answer.tool();
    let status = if tool.is_some_and(|tool| tool.not_run) { "declined" } else { "failed" };
    let code = tool.and_then(|tool| tool.exit_code).filter(|code| *code != 0).unwrap_or(-1);
    json!({
        "type": "exec_command_end", "call_id": call.id, "turn_id": "", "command": [call.name], "cwd": about.folder,
        "parsed_cmd": [], "source": "agent", "stdout": "", "stderr": "", "aggregated_output": "", "exit_code": code,
        "duration": {"secs": 0, "nanos": 0}, "formatted_output": "", "status": status,
    })
}
