//! Writes a session that Copilot CLI resumes: `session-state/<session>/events.jsonl`.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::interop::AgentName;
use crate::interop::copilot::COVERAGE;
use crate::interop::native::{FilePlace, WriterState, render_lines, split_files};
use crate::json::hash::sha256;
use crate::record::message::{Message, Role};
use crate::shapes::file::{File, FileSource};
use crate::shapes::steps::{Call, Step, ToolAnswer};
use crate::time;

/// Returns the file's path and its text.
pub(super) fn write(steps: &[Step<'_>], writing: &mut WriterState<'_>) -> (String, String) {
    let about = writing.header;
    let mut chain = Chain { writing, parent_id: Value::Null, records: Vec::new(), assets: BTreeSet::new() };
    let start = json!({
        "sessionId": about.id, "version": 1, "producer": "copilot-agent", "copilotVersion": COVERAGE.tested_versions.last(),
        "startTime": time::format(about.now_ms), "context": {"cwd": about.folder, "branch": about.git_branch},
    });
    chain.add_event("session.start", None, start);
    for step in steps {
        if step.role == Role::Assistant {
            chain.add_answer(step);
        } else {
            chain.add_prompt(step);
        }
        for (call, answer) in step.results() {
            chain.add_result(call, answer);
        }
    }
    (format!("session-state/{}/events.jsonl", about.id), render_lines(&chain.records))
}

// Events, each of which names the one before as its parent.
struct Chain<'w, 'a> {
    writing: &'w mut WriterState<'a>,
    parent_id: Value,
    records: Vec<Value>,
    // The ids of the assets that were written, each once.
    assets: BTreeSet<String>,
}

impl Chain<'_, '_> {
    fn add_event(&mut self, kind: &str, message: Option<&Message>, data: Value) {
        let id = self.writing.uuid();
        let timestamp = self.writing.time(message);
        let record = json!({
            "type": kind, "data": data, "id": id, "timestamp": timestamp, "parentId": self.parent_id,
        });
        self.parent_id = id.into();
        self.records.push(record);
    }

    fn add_prompt(&mut self, step: &Step<'_>) {
        let (shown_text, images) = split_files(AgentName::Copilot, FilePlace::Prompt, step.text, &step.files);
        let attachments: Vec<Value> =
            images.iter().map(|file| self.add_asset(file, "blob", "displayName", step.message)).collect();
        let data =
            json!({"content": shown_text, "transformedContent": shown_text, "attachments": attachments});
        self.add_event("user.message", step.message, data);
    }

    fn add_result(&mut self, call: &Call<'_>, answer: &ToolAnswer<'_>) {
        let (shown_text, images) =
            split_files(AgentName::Copilot, FilePlace::of_result(answer), answer.text, &answer.files);
        let images: Vec<Value> =
            images.iter().map(|file| self.add_asset(file, "image", "description", answer.message)).collect();
        let mut data =
            json!({"toolCallId": call.id, "success": !answer.is_error, "result": {"content": shown_text}});
        if !images.is_empty() {
            data["result"]["binaryResultsForLlm"] = images.into();
        }
        if answer.is_error {
            let is_denied = answer.tool().is_some_and(|tool| tool.not_run);
            let code = if is_denied { "denied" } else { "failure" };
            data["error"] = json!({"message": shown_text, "code": code});
        }
        self.add_event("tool.execution_complete", answer.message, data);
    }

    // Adds a file's bytes as an event of their own, before whatever shows them.
    fn add_asset(&mut self, file: &File<'_>, kind: &str, named: &str, of: Option<&Message>) -> Value {
        let FileSource::Data(data) = file.source else { return Value::Null };
        let bytes = STANDARD.decode(data).unwrap_or_default();
        let asset = format!("sha256:{}", sha256(&bytes));
        if self.assets.insert(asset.clone()) {
            let made = json!({
                "assetId": asset, "byteLength": bytes.len(), "data": data, "mimeType": file.mime, "type": "image",
            });
            self.add_event("session.binary_asset", of, made);
        }
        let mut reference =
            json!({"type": kind, "assetId": asset, "byteLength": bytes.len(), "mimeType": file.mime});
        if let Some(name) = file.name {
            reference[named] = name.into();
        }
        reference
    }

    fn add_answer(&mut self, step: &Step<'_>) {
        let mut calls = Vec::new();
        for call in &step.calls {
            let arguments: Value = serde_json::from_str(&call.object()).unwrap_or_default();
            calls.push(json!({
                "toolCallId": call.id, "name": call.name, "arguments": arguments, "type": "function",
            }));
        }
        let id = self.writing.uuid();
        let mut data = json!({"messageId": id, "content": step.text_with_files(), "toolRequests": calls});
        if let Some(model) = self.writing.model(step) {
            data["model"] = model.into();
        }
        // An event has room for one piece of reasoning.
        let reasoning = self.writing.reasoning(step);
        let texts: Vec<&str> = reasoning.iter().map(|one| one.text.as_str()).collect();
        let texts = texts.join("\n\n");
        if !texts.is_empty() {
            data["reasoningText"] = texts.into();
        }
        if let Some(opaque) = reasoning.iter().rev().find_map(|one| one.data.as_deref()) {
            data["reasoningOpaque"] = opaque.into();
        }
        self.add_event("assistant.message", step.message, data);
    }
}
