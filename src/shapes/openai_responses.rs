//! The items of OpenAI's Responses.

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::fields::Fields;
use crate::json::text::Text;
use crate::record::message::{Reasoning, Role};
use crate::shapes::file::File;
use crate::shapes::json::JsonWriter;
use crate::shapes::message::{PLAIN_KEYS, ProviderKeys, read_answer_fields, read_role};
use crate::shapes::patterns::{Arguments, Forms, write_call, write_calls, write_content};
use crate::shapes::reading::{DraftReader, text_or_json};
use crate::shapes::reasoning::OutgoingPiece;
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
    other_types: &["text/", "application/json", "application/msword", "application/rtf", "application/vnd."],
    addresses: &["http://", "https://"],
    call: r#"{"type":"function_call","call_id":?0,"name":?1,"arguments":?2}"#,
    arguments: Arguments::Text,
};

pub(super) fn write(steps: &[Step<'_>], json: &mut JsonWriter) {
    for step in steps {
        match step.role {
            Role::System => write_message("system", &step.text_with_files(), &[], json),
            Role::User => write_message("user", step.text, &step.files, json),
            Role::Assistant => {
                if step.thoughts.is_empty() {
                    // An assistant's message takes no files.
                    write_message("assistant", &step.text_with_files(), &[], json);
                    write_calls(step, &FORMS, json);
                }
                for piece in step.pieces() {
                    match piece {
                        OutgoingPiece::Thought(thought) => write_reasoning(thought, json),
                        OutgoingPiece::Text(text) => write_message("assistant", text, &[], json),
                        OutgoingPiece::Call(one) => write_call(one, "", &FORMS, json),
                    }
                }
            }
            Role::Tool => {}
        }
        for (call, result) in step.results() {
            json.put(r#"{"type":"function_call_output","call_id":?0,"output":"#, &[&call.id]);
            write_body(result.text, &result.files, json);
        }
    }
}

// Encrypted reasoning needs no id: it is read from the request, not looked up.
fn write_reasoning(thought: &Reasoning, json: &mut JsonWriter) {
    json.put(r#"{"type":"reasoning","summary":["#, &[]);
    if !thought.text.is_empty() {
        json.put(r#"{"type":"summary_text","text":?0}"#, &[thought.text.as_str()]);
    }
    json.put("]", &[]);
    json.put(r#""encrypted_content":?0}"#, &[thought.data.as_deref().unwrap_or_default()]);
}

fn write_message(role: &str, text: &str, files: &[File<'_>], json: &mut JsonWriter) {
    if !text.is_empty() || !files.is_empty() {
        json.put(r#"{"role":?0,"content":"#, &[role]);
        write_body(text, files, json);
    }
}

// Writes the content, and closes the item.
fn write_body(text: &str, files: &[File<'_>], json: &mut JsonWriter) {
    if files.is_empty() {
        return json.put("?0}", &[text]);
    }
    json.put("[", &[]);
    write_content(text, files, &FORMS, json);
    json.put("]}", &[]);
}

const OPENAI_RESPONSES_KEYS: ProviderKeys = ProviderKeys {
    finish: "status",
    counts: ["input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "", "reasoning_tokens"],
    has_cached: true,
    ..PLAIN_KEYS
};

/// Reads an item, or a response with its output. The items of one answer become one message, which [`end_answer`] or
/// another speaker's item ends.
pub(super) fn read(mut fields: Fields<'_>, reading: &mut DraftReader) {
    if fields.has("call_id") || !fields.has("output") {
        return read_item(fields, reading);
    }
    end_answer(reading);
    for output in reading.inner_objects(&fields, "output") {
        read_item(output, reading);
    }
    read_answer_fields(&mut fields, &OPENAI_RESPONSES_KEYS, reading);
    // An answer without content is an answer all the same.
    reading.end_message(Role::Assistant);
}

/// Ends the answer whose items were collected.
pub(super) fn end_answer(reading: &mut DraftReader) {
    if !reading.is_empty() {
        reading.end_message(Role::Assistant);
    }
}

fn read_item(mut fields: Fields<'_>, reading: &mut DraftReader) {
    let kind = reading.take_word_or_empty(&mut fields, &["type"]);
    match kind.as_str() {
        "message" | "" => {
            let Some(role) = read_role(&fields, reading) else { return };
            if role != Role::Assistant {
                end_answer(reading);
            }
            reading.read_content(fields.raw("content"), "content");
            if role != Role::Assistant {
                reading.end_message(role);
            }
        }
        "reasoning" => {
            let mut texts = Vec::new();
            for key in ["summary", "content"] {
                for mut part in reading.inner_objects(&fields, key) {
                    texts.extend(reading.take_required_text(&mut part, "text"));
                }
            }
            let data = reading.take_word(&mut fields, &["encrypted_content"]);
            reading.add_reasoning(Text::join(texts, "\n\n"), None, data);
        }
        "function_call" | "custom_tool_call" => {
            let (id, name) = (
                reading.take_required_word(&mut fields, "call_id"),
                reading.take_required_word(&mut fields, "name"),
            );
            let arguments = fields.raw("arguments").or_else(|| fields.raw("input"));
            reading.add_call(id, name, arguments.map(text_or_json));
        }
        "function_call_output" | "custom_tool_call_output" => {
            end_answer(reading);
            let id = reading.take_required_word(&mut fields, "call_id");
            reading.add_result(id, String::new(), false, Text::default());
            reading.extend_result(&fields, "output");
            reading.end_message(Role::Tool);
        }
        kind => reading.add_unknown(kind, &fields),
    }
}
