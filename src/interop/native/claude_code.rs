//! Writes a transcript that Claude Code resumes: `projects/<folder>/<session>.jsonl`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Value, json};

use crate::interop::claude_code::COVERAGE;
use crate::interop::native::{UNKNOWN_MODEL, WriterState, dash_path, render_lines};
use crate::record::message::{Message, Role};
use crate::shapes::steps::Step;

// The longest folder name made of a path; for longer paths the client adds a hash that is its own.
const MAX_FOLDER_NAME_UNITS: usize = 200;

/// Returns the file's path and its text.
pub(super) fn write(steps: &[Step<'_>], writing: &mut WriterState<'_>) -> (String, String) {
    let mut chain = Chain { writing, parent_id: Value::Null, records: Vec::new() };
    for step in steps {
        let shaped = chain.writing.shape_step(step);
        for (place, message) in shaped.into_iter().enumerate() {
            if place == 0 && step.role == Role::Assistant {
                chain.add_answer(step, message);
            } else if place == 0 {
                chain.add_record("user", step.message, json!({"message": message}));
            } else {
                chain.add_results(step, message);
            }
        }
    }
    let Chain { records, .. } = chain;
    let about = writing.header;
    let mut folder = dash_path(&about.folder);
    folder.truncate(MAX_FOLDER_NAME_UNITS);
    let mut text = render_lines(&records);
    if let Some(title) = &about.title {
        text +=
            &render_lines(&[json!({"type": "custom-title", "customTitle": title, "sessionId": about.id})]);
    }
    (format!("projects/{folder}/{}.jsonl", about.id), text)
}

// Records, each of which names the one before as its parent.
struct Chain<'w, 'a> {
    writing: &'w mut WriterState<'a>,
    parent_id: Value,
    records: Vec<Value>,
}

impl Chain<'_, '_> {
    fn add_record(&mut self, kind: &str, message: Option<&Message>, more: Value) {
        let about = self.writing.header;
        let uuid = self.writing.uuid();
        let timestamp = self.writing.time(message);
        let mut record = json!({
            "type": kind, "uuid": uuid, "parentUuid": self.parent_id, "sessionId": about.id, "timestamp": timestamp,
            "cwd": about.folder, "gitBranch": about.git_branch.as_deref().unwrap_or_default(),
            "version": COVERAGE.tested_versions.last(), "userType": "external", "isSidechain": false,
        });
        if let (Value::Object(record), Value::Object(more)) = (&mut record, more) {
            record.extend(more);
            for mark in ["isMeta", "isCompactSummary", "isVisibleInTranscriptOnly"] {
                if message.is_some_and(|message| message.has_source_mark(mark)) {
                    record.insert(mark.into(), true.into());
                }
            }
        }
        self.parent_id = uuid.into();
        self.records.push(record);
    }

    fn add_answer(&mut self, step: &Step<'_>, mut message: Value) {
        let mut content: Vec<Value> = Vec::new();
        for reasoning in self.writing.reasoning(step) {
            // The provider refuses what it has not signed.
            match (&reasoning.signature, &reasoning.data) {
                (Some(signature), _) => content.push(
                    json!({"type": "thinking", "thinking": reasoning.text.as_str(), "signature": signature}),
                ),
                (None, Some(data)) => content.push(json!({"type": "redacted_thinking", "data": data})),
                (None, None) => {}
            }
        }
        if let Some(parts) = message["content"].as_array() {
            content.extend(parts.iter().cloned());
        }
        let has_calls = !step.calls.is_empty();
        message["content"] = content.into();
        message["id"] = format!("msg_{}", self.writing.uuid().replace('-', "")).into();
        message["type"] = "message".into();
        message["model"] = self.writing.model(step).unwrap_or_else(|| UNKNOWN_MODEL.into()).into();
        message["stop_reason"] = if has_calls { "tool_use" } else { "end_turn" }.into();
        message["stop_sequence"] = Value::Null;
        message["usage"] = json!({"input_tokens": 0, "output_tokens": 0});
        self.add_record("assistant", step.message, json!({"message": message}));
    }

    // Each result is a record of its own.
    fn add_results(&mut self, step: &Step<'_>, message: Value) {
        let Some(blocks) = message["content"].as_array() else { return };
        for (block, (_, result)) in blocks.iter().zip(step.results()) {
            let message = json!({"role": "user", "content": [block]});
            self.add_record("user", result.message, json!({"message": message}));
        }
    }
}
