//! A session that Copilot CLI resumes: `session-state/<session>/events.jsonl`.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::interop::AgentName;
use crate::interop::copilot::COVERAGE;
use crate::interop::native::{Place, Writing, divided, lines};
use crate::json::hash::sha256;
use crate::record::message::{Message, Role};
use crate::shapes::file::{File, Source};
use crate::shapes::steps::{Answer, Call, Step};
use crate::time;

/// The file's path, and the file.
pub(super) fn write(steps: &[Step<'_>], writing: &mut Writing<'_>) -> (String, String) {
    let about = writing.about;
    let mut chain = Chain { writing, before: Value::Null, records: Vec::new(), assets: BTreeSet::new() };
    let start = json!({
        "sessionId": about.id, "version": 1, "producer": "copilot-agent", "copilotVersion": COVERAGE.tested.last(),
        "startTime": time::format(about.now_ms), "context": {"cwd": about.folder, "branch": about.git_branch},
    });
    chain.event("session.start", None, start);
    for step in steps {
        if step.role == Role::Assistant {
            chain.answer(step);
        } else {
            chain.prompt(step);
        }
        for (call, answer) in step.results() {
            chain.result(call, answer);
        }
    }
    (format!("session-state/{}/events.jsonl", about.id), lines(&chain.records))
}

// Events, each of which hangs from the one before.
struct Chain<'w, 'a> {
    writing: &'w mut Writing<'a>,
    before: Value,
    records: Vec<Value>,
    // The bytes that stand there, each once.
    assets: BTreeSet<String>,
}

impl Chain<'_, '_> {
    fn event(&mut self, kind: &str, message: Option<&Message>, data: Value) {
        let id = self.writing.uuid();
        let timestamp = self.writing.time(message);
        let record = json!({
            "type": kind, "data": data, "id": id, "timestamp": timestamp, "parentId": self.before,
        });
        self.before = id.into();
        self.records.push(record);
    }

    fn prompt(&mut self, step: &Step<'_>) {
        let (said, images) = divided(AgentName::Copilot, Place::Prompt, step.text, &step.files);
        let attachments: Vec<Value> =
            images.iter().map(|file| self.reference(file, "blob", "displayName", step.message)).collect();
        let data = json!({"content": said, "transformedContent": said, "attachments": attachments});
        self.event("user.message", step.message, data);
    }

    fn result(&mut self, call: &Call<'_>, answer: &Answer<'_>) {
        let (said, images) =
            divided(AgentName::Copilot, Place::of_result(answer), answer.text, &answer.files);
        let images: Vec<Value> =
            images.iter().map(|file| self.reference(file, "image", "description", answer.message)).collect();
        let mut data =
            json!({"toolCallId": call.id, "success": !answer.is_error, "result": {"content": said}});
        if !images.is_empty() {
            data["result"]["binaryResultsForLlm"] = images.into();
        }
        if answer.is_error {
            let is_denied = answer.tool().is_some_and(|tool| tool.not_run);
            let code = if is_denied { "denied" } else { "failure" };
            data["error"] = json!({"message": said, "code": code});
        }
        self.event("tool.execution_complete", answer.message, data);
    }

    // The bytes stand in an event of their own, before whatever shows them.
    fn reference(&mut self, file: &File<'_>, kind: &str, named: &str, of: Option<&Message>) -> Value {
        let Source::Data(data) = file.source else { return Value::Null };
        let bytes = STANDARD.decode(data).unwrap_or_default();
        let asset = format!("sha256:{}", sha256(&bytes));
        if self.assets.insert(asset.clone()) {
            let made = json!({
                "assetId": asset, "byteLength": bytes.len(), "data": data, "mimeType": file.mime, "type": "image",
            });
            self.event("session.binary_asset", of, made);
        }
        let mut reference =
            json!({"type": kind, "assetId": asset, "byteLength": bytes.len(), "mimeType": file.mime});
        if let Some(name) = file.name {
            reference[named] = name.into();
        }
        reference
    }

    fn answer(&mut self, step: &Step<'_>) {
        let mut calls = Vec::new();
        for call in &step.calls {
            let arguments: Value = serde_json::from_str(&call.object()).unwrap_or_default();
            calls.push(json!({
                "toolCallId": call.id, "name": call.name, "arguments": arguments, "type": "function",
            }));
        }
        let id = self.writing.uuid();
        let mut data = json!({"messageId": id, "content": step.said(), "toolRequests": calls});
        if let Some(model) = self.writing.model(step) {
            data["model"] = model.into();
        }
        // An event has room for one.
        let reasoning = self.writing.reasoning(step);
        let texts: Vec<&str> = reasoning.iter().map(|one| one.text.as_str()).collect();
        let texts = texts.join("\n\n");
        if !texts.is_empty() {
            data["reasoningText"] = texts.into();
        }
        if let Some(opaque) = reasoning.iter().rev().find_map(|one| one.data.as_deref()) {
            data["reasoningOpaque"] = opaque.into();
        }
        self.event("assistant.message", step.message, data);
    }
}
