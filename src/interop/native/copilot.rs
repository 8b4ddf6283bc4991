//! A session that Copilot CLI resumes: `session-state/<session>/events.jsonl`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Value, json};

use crate::interop::copilot::COVERAGE;
use crate::interop::messages::steps::Step;
use crate::interop::native::{Writing, lines};
use crate::session::message::{Message, Role};
use crate::time;

/// The file's path, and the file.
pub(super) fn write(steps: &[Step<'_>], writing: &mut Writing<'_>) -> (String, String) {
    let about = writing.about;
    let mut chain = Chain { writing, before: Value::Null, records: Vec::new() };
    let start = json!({
        "sessionId": about.id, "version": 1, "producer": "copilot-agent", "copilotVersion": COVERAGE.tested.last(),
        "startTime": time::format(about.now_ms), "context": {"cwd": about.folder, "branch": about.git_branch},
    });
    chain.event("session.start", None, start);
    for step in steps {
        if step.role == Role::Assistant {
            chain.answer(step);
        } else {
            let said = step.said();
            let data = json!({"content": said, "transformedContent": said, "attachments": []});
            chain.event("user.message", step.message, data);
        }
        for (call, answer) in step.results() {
            let said = answer.said();
            let mut data =
                json!({"toolCallId": call.id, "success": !answer.is_error, "result": {"content": said}});
            if answer.is_error {
                data["error"] = json!({"message": said, "code": "failure"});
            }
            chain.event("tool.execution_complete", answer.message, data);
        }
    }
    (format!("session-state/{}/events.jsonl", about.id), lines(&chain.records))
}

// Events, each of which hangs from the one before.
struct Chain<'w, 'a> {
    writing: &'w mut Writing<'a>,
    before: Value,
    records: Vec<Value>,
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
