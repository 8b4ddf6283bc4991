//! Writes a session as `opencode import` takes it: the document that `opencode export` gives.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Value, json};

use crate::interop::native::{FilePlace, WriterState, split_files};
use crate::interop::opencode::COVERAGE;
use crate::interop::{AgentName, opencode};
use crate::record::message::{Message, Reasoning, Role};
use crate::shapes::file::File;
use crate::shapes::steps::{Call, Step, ToolAnswer};
use crate::time;

// The name of an unknown provider.
const UNKNOWN_PROVIDER: &str = "unknown";

/// Returns the file's path and its text.
pub(super) fn write(steps: &[Step<'_>], writing: &mut WriterState<'_>) -> (String, String) {
    let about = writing.header;
    let session = make_id("ses", about.now_ms, 0, &writing.uuid());
    let mut document =
        ExportDocument { writing, session, id_count: 0, newest_ms: 0, newest_prompt: Value::Null };
    let messages: Vec<Value> = steps.iter().map(|step| document.message(step)).collect();
    let ExportDocument { session, .. } = document;
    let info = json!({
        "id": session, "slug": "leftoff", "projectID": "global", "directory": about.folder,
        "title": about.title.as_deref().unwrap_or("A conversation from elsewhere"), "version": COVERAGE.tested_versions.last(),
        "time": {"created": about.now_ms, "updated": about.now_ms},
    });
    writing.native_id = Some(session.clone());
    (format!("{session}.json"), format!("{}\n", json!({"info": info, "messages": messages})))
}

// Ids sort by time; those made in one millisecond, by number.
fn make_id(kind: &str, ms: i64, number: u64, uuid: &str) -> String {
    let time = ((ms.max(0) as u64) << 12).wrapping_add(number) & 0xffff_ffff_ffff;
    let chance: String = uuid.chars().filter(char::is_ascii_alphanumeric).take(14).collect();
    format!("{kind}_{time:012x}{chance}")
}

struct ExportDocument<'w, 'a> {
    writing: &'w mut WriterState<'a>,
    session: String,
    id_count: u64,
    newest_ms: i64,
    // The id of the newest prompt.
    newest_prompt: Value,
}

impl ExportDocument<'_, '_> {
    fn next_id(&mut self, kind: &str) -> String {
        self.id_count += 1;
        make_id(kind, self.writing.header.now_ms, self.id_count, &self.writing.uuid())
    }

    // Adds a part's place to it; a file in a result has one, too.
    fn set_place(&mut self, part: &mut Value, message: &str) {
        part["id"] = self.next_id("prt").into();
        part["sessionID"] = self.session.as_str().into();
        part["messageID"] = message.into();
    }

    fn ms(&mut self, message: Option<&Message>) -> i64 {
        let time = self.writing.time(message);
        time::parse(&time).unwrap_or_default()
    }

    fn message(&mut self, step: &Step<'_>) -> Value {
        let message = self.next_id("msg");
        // The client sorts messages by their time, whatever their ids say, also those that are said there later.
        let ms = self.ms(step.message).min(self.writing.header.now_ms).max(self.newest_ms);
        self.newest_ms = ms;
        let mut parts: Vec<Value> = Vec::new();
        if step.role == Role::Assistant {
            parts.extend(self.writing.reasoning(step).iter().map(|one| reasoning(one, ms)));
        }
        let (shown_text, images) =
            split_files(AgentName::OpenCode, FilePlace::of_step(step), step.text, &step.files);
        if !shown_text.is_empty() {
            parts.push(json!({"type": "text", "text": shown_text}));
        }
        parts.extend(images.iter().map(|file| picture(file)));
        // A part is the call and its result, so parts stand in the order of the calls.
        let made = step.calls.iter().filter_map(|call| Some((call, call.result.as_ref()?)));
        for (call, result) in made {
            let end = self.ms(result.message);
            parts.push(tool(call, result, [ms, end]));
        }
        for part in &mut parts {
            self.set_place(part, &message);
            for file in part["state"]["attachments"].as_array_mut().into_iter().flatten() {
                self.set_place(file, &message);
            }
        }
        let mut info = self.info(step, &message, ms);
        info["id"] = message.into();
        info["sessionID"] = self.session.as_str().into();
        json!({"info": info, "parts": parts})
    }

    // Returns a message's fields without its parts.
    fn info(&mut self, step: &Step<'_>, message: &str, ms: i64) -> Value {
        let model = self.writing.model(step);
        let provider = self.writing.find_note(step, opencode::PROVIDER_KEY);
        match step.role {
            Role::Assistant => json!({
                "role": "assistant", "parentID": self.newest_prompt, "mode": "build", "agent": "build", "cost": 0,
                "path": {"cwd": self.writing.header.folder, "root": self.writing.header.folder},
                "tokens": {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}},
                "modelID": model.as_deref().unwrap_or(UNKNOWN_PROVIDER), "providerID": provider.as_deref().unwrap_or(UNKNOWN_PROVIDER),
                "time": {"created": ms, "completed": ms},
                "finish": if step.calls.is_empty() { "stop" } else { "tool-calls" },
            }),
            _ => {
                self.newest_prompt = message.into();
                // The client goes on with the model that the newest prompt names.
                let named_model =
                    self.writing.header.model.as_deref().and_then(|model| model.split_once('/'));
                let (provider, model) = named_model.unwrap_or((UNKNOWN_PROVIDER, UNKNOWN_PROVIDER));
                let model = json!({"providerID": provider, "modelID": model});
                json!({"role": "user", "agent": "build", "model": model, "time": {"created": ms}})
            }
        }
    }
}

fn reasoning(reasoning: &Reasoning, ms: i64) -> Value {
    let time = json!({"start": ms, "end": ms});
    let mut part = json!({"type": "reasoning", "text": reasoning.text.as_str(), "time": time});
    if let Some(signature) = &reasoning.signature {
        part["metadata"]["anthropic"]["signature"] = signature.as_str().into();
    }
    match &reasoning.data {
        // Its provider is not named; reasoning that Anthropic hides has no text.
        Some(data) if reasoning.text.is_empty() => {
            part["metadata"]["anthropic"]["redactedData"] = data.as_str().into();
        }
        Some(data) => {
            part["metadata"]["openai"]["reasoningEncryptedContent"] = data.as_str().into();
        }
        None => {}
    }
    part
}

fn tool(call: &Call<'_>, result: &ToolAnswer<'_>, [start, end]: [i64; 2]) -> Value {
    let input: Value = serde_json::from_str(&call.object()).unwrap_or_default();
    let time = json!({"start": start, "end": end});
    let (output, images) =
        split_files(AgentName::OpenCode, FilePlace::of_result(result), result.text, &result.files);
    let state = if result.is_error {
        json!({"status": "error", "input": input, "error": output, "time": time})
    } else {
        let attachments: Vec<Value> = images.iter().map(|file| picture(file)).collect();
        let code = result.tool().and_then(|tool| tool.exit_code);
        let metadata = code.map_or_else(|| json!({}), |code| json!({ "exit": code }));
        json!({
            "status": "completed", "input": input, "output": output, "title": "", "metadata": metadata, "time": time,
            "attachments": attachments,
        })
    };
    json!({"type": "tool", "callID": call.id, "tool": call.name, "state": state})
}

// The client rejects an empty name.
fn picture(file: &File<'_>) -> Value {
    let mut picture = json!({"type": "file", "mime": file.mime, "url": file.url()});
    if let Some(name) = file.name {
        picture["filename"] = name.into();
    }
    picture
}
