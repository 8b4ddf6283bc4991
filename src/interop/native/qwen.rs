//! Writes a session that Qwen Code resumes: `projects/<folder>/chats/<session>.jsonl`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Value, json};

use crate::interop::native::{
    UNKNOWN_MODEL, WriterState, dash_path, first_parts, render_lines, results_with_parts,
};
use crate::interop::qwen::COVERAGE;
use crate::record::message::{Message, Reasoning, Role};
use crate::shapes::steps::Step;

/// Returns the file's path and its text.
pub(super) fn write(steps: &[Step<'_>], writing: &mut WriterState<'_>) -> (String, String) {
    let mut chain = Chain { writing, parent_id: Value::Null, records: Vec::new() };
    for step in steps {
        let shaped = chain.writing.shape_step(step);
        let parts = first_parts(&shaped);
        if step.role == Role::Assistant {
            chain.add_answer(step, parts);
        } else {
            let message = json!({"role": "user", "parts": parts});
            chain.add_record(
                step.message,
                json!({"type": "user", "provenance": "real_user", "message": message}),
            );
        }
        for (call, answer, parts) in results_with_parts(step, &shaped) {
            let status = if answer.is_error { "error" } else { "success" };
            let message = json!({"role": "user", "parts": parts});
            let outcome = json!({"callId": call.id, "status": status, "resultDisplay": answer.text});
            chain.add_record(
                answer.message,
                json!({"type": "tool_result", "message": message, "toolCallResult": outcome}),
            );
        }
    }
    chain.add_title();
    let Chain { records, writing, .. } = chain;
    let about = writing.header;
    let place = about.folder_name.clone().unwrap_or_else(|| dash_path(&about.folder));
    (format!("projects/{place}/chats/{}.jsonl", about.id), render_lines(&records))
}

// Records, each of which names the one before as its parent.
struct Chain<'w, 'a> {
    writing: &'w mut WriterState<'a>,
    parent_id: Value,
    records: Vec<Value>,
}

impl Chain<'_, '_> {
    fn add_record(&mut self, message: Option<&Message>, more: Value) {
        let about = self.writing.header;
        let uuid = self.writing.uuid();
        let timestamp = self.writing.time(message);
        let mut record = json!({
            "uuid": uuid, "parentUuid": self.parent_id, "sessionId": about.id, "timestamp": timestamp, "cwd": about.folder,
            "version": COVERAGE.tested_versions.last(), "gitBranch": about.git_branch,
        });
        if let (Value::Object(record), Value::Object(more)) = (&mut record, more) {
            record.extend(more);
        }
        self.parent_id = uuid.into();
        self.records.push(record);
    }

    fn add_answer(&mut self, step: &Step<'_>, content: Vec<Value>) {
        let reasoning = self.writing.reasoning(step).iter();
        let thought = |one: &Reasoning| {
            let mut part = json!({"text": one.text, "thought": true});
            if let Some(signature) = &one.signature {
                part["thoughtSignature"] = signature.as_str().into();
            }
            part
        };
        let parts: Vec<Value> = reasoning.map(thought).chain(content).collect();
        let model = self.writing.model(step).unwrap_or_else(|| UNKNOWN_MODEL.into());
        let message = json!({"role": "model", "parts": parts});
        self.add_record(step.message, json!({"type": "assistant", "model": model, "message": message}));
    }

    fn add_title(&mut self) {
        if let Some(title) = self.writing.header.title.clone() {
            let payload = json!({"customTitle": title, "titleSource": "manual"});
            let more = json!({"type": "system", "subtype": "custom_title", "systemPayload": payload});
            self.add_record(None, more);
        }
    }
}
