//! Writes a session that pi resumes: `sessions/--<folder>--/<time>_<session>.jsonl`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Value, json};

use crate::interop::AgentName;
use crate::interop::native::{FilePlace, WriterState, render_lines, split_files};
use crate::interop::pi::MAKER_KEYS;
use crate::record::message::{Message, Role};
use crate::shapes::file::{File, FileSource};
use crate::shapes::steps::Step;
use crate::time;

// The name of an unknown provider.
const UNKNOWN_PROVIDER: &str = "unknown";

/// Returns the file's path and its text.
pub(super) fn write(steps: &[Step<'_>], writing: &mut WriterState<'_>) -> (String, String) {
    let about = writing.header;
    let now = time::format(about.now_ms);
    let head =
        json!({"type": "session", "version": 3, "id": about.id, "timestamp": now, "cwd": about.folder});
    let mut chain = Chain { writing, parent_id: Value::Null, records: Vec::from([head]) };
    for step in steps {
        let content = render_content(FilePlace::of_step(step), step.text, &step.files);
        match step.role {
            Role::Assistant => chain.add_answer(step, content),
            _ => chain.add_message(step.message, json!({"role": "user", "content": content})),
        }
        for (call, result) in step.results() {
            let content = self::render_content(FilePlace::of_result(result), result.text, &result.files);
            let record = json!({
                "role": "toolResult", "toolCallId": call.id, "toolName": call.name, "content": content,
                "isError": result.is_error,
            });
            chain.add_message(result.message, record);
        }
    }
    if let Some(title) = &about.title {
        chain.add_record(&now, json!({"type": "session_info", "name": title}));
    }
    let records = chain.records;
    let folder: String = about
        .folder
        .trim_start_matches(['/', '\\'])
        .chars()
        .map(|c| if matches!(c, '/' | '\\' | ':') { '-' } else { c })
        .collect();
    let clock = now.replace([':', '.'], "-");
    (format!("sessions/--{folder}--/{clock}_{}.jsonl", about.id), render_lines(&records))
}

fn render_content(place: FilePlace, text: &str, files: &[File<'_>]) -> Vec<Value> {
    let (shown_text, images) = split_files(AgentName::Pi, place, text, files);
    let mut content: Vec<Value> = Vec::new();
    if !shown_text.is_empty() {
        content.push(json!({"type": "text", "text": shown_text}));
    }
    for file in images {
        if let FileSource::Data(data) = file.source {
            content.push(json!({"type": "image", "data": data, "mimeType": file.mime}));
        }
    }
    content
}

// Records, each of which names the one before as its parent.
struct Chain<'w, 'a> {
    writing: &'w mut WriterState<'a>,
    parent_id: Value,
    records: Vec<Value>,
}

impl Chain<'_, '_> {
    fn add_record(&mut self, timestamp: &str, mut record: Value) {
        let id: String = self.writing.uuid().chars().take(8).collect();
        record["id"] = id.as_str().into();
        record["parentId"] = core::mem::replace(&mut self.parent_id, id.into());
        record["timestamp"] = timestamp.into();
        self.records.push(record);
    }

    fn add_message(&mut self, message: Option<&Message>, mut record: Value) {
        let timestamp = self.writing.time(message);
        record["timestamp"] = time::parse(&timestamp).into();
        self.add_record(&timestamp, json!({"type": "message", "message": record}));
    }

    fn add_answer(&mut self, step: &Step<'_>, content: Vec<Value>) {
        let reasoning = self.writing.reasoning(step).iter().map(|reasoning| {
            json!({"type": "thinking", "thinking": reasoning.text.as_str(), "thinkingSignature": reasoning.signature})
        });
        let calls = step.calls.iter().map(|call| {
            let arguments: Value = serde_json::from_str(&call.object()).unwrap_or_default();
            json!({"type": "toolCall", "id": call.id, "name": call.name, "arguments": arguments})
        });
        let content: Vec<Value> = reasoning.chain(content).chain(calls).collect();
        let cost = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0});
        let usage =
            json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0, "cost": cost});
        let model = self.writing.model(step);
        let [api, provider] = MAKER_KEYS.map(|name| self.writing.find_note(step, name));
        let record = json!({
            "role": "assistant", "content": content, "api": api.as_deref().unwrap_or("openai-completions"),
            "provider": provider.as_deref().unwrap_or(UNKNOWN_PROVIDER),
            "model": model.as_deref().unwrap_or(UNKNOWN_PROVIDER), "usage": usage,
            "stopReason": if step.calls.is_empty() { "stop" } else { "toolUse" },
        });
        self.add_message(step.message, record);
    }
}
