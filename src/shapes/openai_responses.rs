//! The items of OpenAI's Responses.

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::fields::Fields;
use crate::json::text::Text;
use crate::record::message::{Reasoning, Role};
use crate::shapes::file::File;
use crate::shapes::forms::{Arguments, Forms, call, calls, content};
use crate::shapes::json::Json;
use crate::shapes::message::{PLAIN, Words, about, role};
use crate::shapes::reading::{Reading, text_or_json};
use crate::shapes::reasoning::Piece;
use crate::shapes::steps::Step;

const IMAGE: &str = r#"{"type":"input_image","detail":"auto","image_url":?2}"#;
const FILE: [&str; 2] =
    [r#"{"type":"input_file","filename":?3,"file_data":?2}"#, r#"{"type":"input_file","file_url":?2}"#];
const FORMS: Forms = Forms {
    text: r#"{"type":"input_text","text":?0}"#,
    image: [IMAGE, IMAGE],
    pdf: FILE,
    sound: "",
    other: FILE,
    others: &["text/", "application/json", "application/msword", "application/rtf", "application/vnd."],
    addresses: &["http://", "https://"],
    call: r#"{"type":"function_call","call_id":?0,"name":?1,"arguments":?2}"#,
    arguments: Arguments::Text,
};

pub(super) fn write(steps: &[Step<'_>], json: &mut Json) {
    for step in steps {
        match step.role {
            Role::System => say("system", &step.said(), &[], json),
            Role::User => say("user", step.text, &step.files, json),
            Role::Assistant => {
                if step.thoughts.is_empty() {
                    // What is a model's own takes no file.
                    say("assistant", &step.said(), &[], json);
                    calls(step, &FORMS, json);
                }
                for piece in step.pieces() {
                    match piece {
                        Piece::Thought(thought) => write_reasoning(thought, json),
                        Piece::Text(text) => say("assistant", text, &[], json),
                        Piece::Call(one) => call(one, "", &FORMS, json),
                    }
                }
            }
            Role::Tool => {}
        }
        for (call, result) in step.results() {
            json.put(r#"{"type":"function_call_output","call_id":?0,"output":"#, &[&call.id]);
            said(result.text, &result.files, json);
        }
    }
}

// Encrypted, it needs no id: it is read from what is sent, not looked up.
fn write_reasoning(thought: &Reasoning, json: &mut Json) {
    json.put(r#"{"type":"reasoning","summary":["#, &[]);
    if !thought.text.is_empty() {
        json.put(r#"{"type":"summary_text","text":?0}"#, &[thought.text.as_str()]);
    }
    json.put("]", &[]);
    json.put(r#""encrypted_content":?0}"#, &[thought.data.as_deref().unwrap_or_default()]);
}

fn say(role: &str, text: &str, files: &[File<'_>], json: &mut Json) {
    if !text.is_empty() || !files.is_empty() {
        json.put(r#"{"role":?0,"content":"#, &[role]);
        said(text, files, json);
    }
}

// The content, and the end of what has it.
fn said(text: &str, files: &[File<'_>], json: &mut Json) {
    if files.is_empty() {
        return json.put("?0}", &[text]);
    }
    json.put("[", &[]);
    content(text, files, &FORMS, json);
    json.put("]}", &[]);
}

const WORDS: Words = Words {
    finish: "status",
    counts: ["input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens"],
    has_cached: true,
    ..PLAIN
};

/// An item, or a response with its output. What a model says in one go becomes one message, ended by [`finish`] or by
/// what others say.
pub(super) fn read(mut fields: Fields<'_>, reading: &mut Reading) {
    if fields.has("call_id") || !fields.has("output") {
        return item(fields, reading);
    }
    finish(reading);
    for output in reading.objects(&fields, "output") {
        item(output, reading);
    }
    about(&mut fields, &WORDS, reading);
    // An answer that says nothing is one all the same.
    reading.end(Role::Assistant);
}

/// Ends the answer that items were gathered for.
pub(super) fn finish(reading: &mut Reading) {
    if !reading.is_between() {
        reading.end(Role::Assistant);
    }
}

fn item(mut fields: Fields<'_>, reading: &mut Reading) {
    let kind = reading.word(&mut fields, &["type"]);
    match kind.as_str() {
        "message" | "" => {
            let Some(role) = role(&fields, reading) else { return };
            if role != Role::Assistant {
                finish(reading);
            }
            reading.content(fields.raw("content"), "content");
            if role != Role::Assistant {
                reading.end(role);
            }
        }
        "reasoning" => {
            let mut texts = Vec::new();
            for key in ["summary", "content"] {
                for mut part in reading.objects(&fields, key) {
                    texts.extend(reading.needed_text(&mut part, "text"));
                }
            }
            let data = reading.some_word(&mut fields, &["encrypted_content"]);
            reading.reasoning(Text::join(texts, "\n\n"), None, data);
        }
        "function_call" | "custom_tool_call" => {
            let (id, name) = (reading.needed(&mut fields, "call_id"), reading.needed(&mut fields, "name"));
            let arguments = fields.raw("arguments").or_else(|| fields.raw("input"));
            reading.call(id, name, arguments.map(text_or_json));
        }
        "function_call_output" | "custom_tool_call_output" => {
            finish(reading);
            let id = reading.needed(&mut fields, "call_id");
            reading.result(id, String::new(), false, Text::default());
            reading.more_of_result(&fields, "output");
            reading.end(Role::Tool);
        }
        kind => reading.unknown(kind, &fields),
    }
}
