//! A session that Qwen Code resumes: `projects/<folder>/chats/<session>.jsonl`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Value, json};

use crate::interop::native::{UNKNOWN_MODEL, Writing, dashed, lines, parts, results};
use crate::interop::qwen::COVERAGE;
use crate::record::message::{Message, Reasoning, Role};
use crate::shapes::steps::Step;

/// The file's path, and the file.
pub(super) fn write(steps: &[Step<'_>], writing: &mut Writing<'_>) -> (String, String) {
    let mut chain = Chain { writing, before: Value::Null, records: Vec::new() };
    for step in steps {
        let shaped = chain.writing.shaped(step);
        let said = parts(&shaped);
        if step.role == Role::Assistant {
            chain.answer(step, said);
        } else {
            let message = json!({"role": "user", "parts": said});
            chain
                .record(step.message, json!({"type": "user", "provenance": "real_user", "message": message}));
        }
        for (call, answer, parts) in results(step, &shaped) {
            let status = if answer.is_error { "error" } else { "success" };
            let message = json!({"role": "user", "parts": parts});
            let outcome = json!({"callId": call.id, "status": status, "resultDisplay": answer.text});
            chain.record(
                answer.message,
                json!({"type": "tool_result", "message": message, "toolCallResult": outcome}),
            );
        }
    }
    chain.title();
    let Chain { records, writing, .. } = chain;
    let about = writing.about;
    let place = about.place.clone().unwrap_or_else(|| dashed(&about.folder));
    (format!("projects/{place}/chats/{}.jsonl", about.id), lines(&records))
}

// Records, each of which hangs from the one before.
struct Chain<'w, 'a> {
    writing: &'w mut Writing<'a>,
    before: Value,
    records: Vec<Value>,
}

impl Chain<'_, '_> {
    fn record(&mut self, message: Option<&Message>, more: Value) {
        let about = self.writing.about;
        let uuid = self.writing.uuid();
        let timestamp = self.writing.time(message);
        let mut record = json!({
            "uuid": uuid, "parentUuid": self.before, "sessionId": about.id, "timestamp": timestamp, "cwd": about.folder,
            "version": COVERAGE.tested.last(), "gitBranch": about.git_branch,
        });
        if let (Value::Object(record), Value::Object(more)) = (&mut record, more) {
            record.extend(more);
        }
        self.before = uuid.into();
        self.records.push(record);
    }

    fn answer(&mut self, step: &Step<'_>, said: Vec<Value>) {
        let reasoning = self.writing.reasoning(step).iter();
        let thought = |one: &Reasoning| {
            let mut part = json!({"text": one.text, "thought": true});
            if let Some(signature) = &one.signature {
                part["thoughtSignature"] = signature.as_str().into();
            }
            part
        };
        let parts: Vec<Value> = reasoning.map(thought).chain(said).collect();
        let model = self.writing.model(step).unwrap_or_else(|| UNKNOWN_MODEL.into());
        let message = json!({"role": "model", "parts": parts});
        self.record(step.message, json!({"type": "assistant", "model": model, "message": message}));
    }

    fn title(&mut self) {
        if let Some(title) = self.writing.about.title.clone() {
            let payload = json!({"customTitle": title, "titleSource": "manual"});
            let more = json!({"type": "system", "subtype": "custom_title", "systemPayload": payload});
            self.record(None, more);
        }
    }
}
