//! Reads one part of a content, of any shape: one function serves all, as the providers have the same parts under
//! other names.

use alloc::format;
use alloc::string::String;

use crate::json::fields::Fields;
use crate::json::text::Text;
use crate::record::message::{Attachment, Role};
use crate::shapes::file::{encode_base64, resolve_path};
use crate::shapes::gemini;
use crate::shapes::reading::{DraftReader, text_or_json};

/// The result of a call that a person denied without a reason.
pub(super) const DENIED_RESULT: &str = "[The tool was not allowed to run.]";

/// The AI SDK's fields for a call's id and its tool.
const CALL_KEYS: [&str; 2] = ["toolCallId", "toolName"];

/// Words in the type names of images and files.
const FILE_TYPE_WORDS: [&str; 6] = ["image", "file", "audio", "video", "document", "media"];

/// Reads a part by its kind; false if the kind is unknown.
pub(super) fn read_part(reading: &mut DraftReader, kind: &str, part: &mut Fields<'_>) -> bool {
    let (mut signature, mut data) = read_signatures(reading, part);
    let mut thought = None;
    let is_thought = matches!(kind, "thinking" | "redacted_thinking" | "reasoning");
    if is_thought {
        thought = reading.take_text(part, &["thinking", "text"]);
        signature = signature.or_else(|| reading.take_word(part, &["signature"]));
        data = data.or_else(|| reading.take_word(part, &["data"]));
        if thought.is_none() && signature.is_none() && data.is_none() {
            reading.report_missing(part, "text", "a string");
        }
    }
    reading.add_reasoning(thought.unwrap_or_default(), signature, data);
    match kind {
        _ if is_thought => {}
        "" => return gemini::read_part(reading, part),
        "text" | "input_text" | "output_text" | "refusal" => {
            let key = if kind == "refusal" { kind } else { "text" };
            let text = reading.take_required_text(part, key);
            reading.add_text(text);
        }
        "tool_use" | "tool-call" => {
            let [id, name] = if kind == "tool_use" { ["id", "name"] } else { CALL_KEYS };
            let (id, name) = (reading.take_required_word(part, id), reading.take_required_word(part, name));
            let input = part.raw("input").or_else(|| part.raw("args"));
            reading.add_call(id, name, input.map(Text::from));
        }
        "tool_result" => {
            let id = reading.take_required_word(part, "tool_use_id");
            let is_error = part.take("is_error", &mut reading.bad).unwrap_or_default();
            reading.add_result(id, String::new(), is_error, Text::default());
            reading.extend_result(part, "content");
        }
        "tool-result" => read_tool_result(reading, part),
        // Only an answer has steps.
        "step-start" if reading.is_empty() => {}
        "step-start" => reading.end_message(Role::Assistant),
        // Approval questions, and data for a screen, are not sent to a model.
        "tool-approval-request" => {}
        "tool-approval-response" => reading.has_approval = true,
        _ if kind.starts_with("data-") || kind.starts_with("source-") => {}
        _ if kind == "dynamic-tool" || kind.starts_with("tool-") => read_ui_call(reading, kind, part),
        _ if FILE_TYPE_WORDS.iter().any(|word| kind.contains(word)) => return read_file(reading, kind, part),
        _ => return false,
    }
    true
}

/// Reads a provider's signature and encrypted text, which the AI SDK keeps under the provider's name.
fn read_signatures(reading: &mut DraftReader, part: &mut Fields<'_>) -> (Option<String>, Option<String>) {
    let mut found = (None, None);
    for key in ["providerOptions", "providerMetadata", "callProviderMetadata"] {
        let Some(providers) = reading.inner_object(part, key) else { continue };
        for (name, _) in providers.decoded_entries() {
            let Some(mut said) = reading.inner_object(&providers, name) else { continue };
            let signature = reading.take_word(&mut said, &["signature", "thoughtSignature"]);
            let data = reading.take_word(&mut said, &["redactedData", "reasoningEncryptedContent"]);
            found = (found.0.or(signature), found.1.or(data));
        }
    }
    found
}

fn read_tool_result(reading: &mut DraftReader, part: &mut Fields<'_>) {
    let [id, name] = CALL_KEYS.map(|key| reading.take_required_word(part, key));
    if let Some(output) = reading.inner_object(part, "output") {
        return read_output(id, name, output, reading);
    }
    // The AI SDK before version 5.
    let is_error = part.raw("isError") == Some("true");
    match part.raw("result") {
        Some(value) => reading.add_result(id, name, is_error, text_or_json(value)),
        None => reading.report_missing(part, "output", "an object"),
    }
}

fn read_output(id: String, name: String, mut output: Fields<'_>, reading: &mut DraftReader) {
    let kind = reading.take_word_or_empty(&mut output, &["type"]);
    let not_run = kind == "execution-denied";
    let is_error = kind.starts_with("error") || not_run;
    let is_json = kind.ends_with("json");
    let value = output.raw(if not_run { "reason" } else { "value" });
    let text = match value {
        _ if kind == "content" => Text::default(),
        Some(value) if is_json => value.into(),
        Some(value) => text_or_json(value),
        None if not_run => DENIED_RESULT.into(),
        None => return reading.report_missing(&output, "value", "a value"),
    };
    reading.add_result(id, name, is_error, text);
    if kind == "content" {
        reading.extend_result(&output, "value");
    }
    if let Some(tool) = reading.newest_tool() {
        tool.not_run = not_run;
        tool.is_json = is_json && value.is_some();
    }
}

// Reads a call of the AI SDK's `UIMessage`, which contains its result.
fn read_ui_call(reading: &mut DraftReader, kind: &str, part: &mut Fields<'_>) {
    let [id, name] = CALL_KEYS;
    let id = reading.take_required_word(part, id);
    let name =
        kind.strip_prefix("tool-").map_or_else(|| reading.take_required_word(part, name), String::from);
    let state = reading.peek_word(part, &["state"]).unwrap_or_default();
    let input = part.raw("input").or_else(|| part.raw("rawInput"));
    reading.add_call(id.clone(), name.clone(), input.map(Text::from));
    let content: Option<Text> = match state.as_str() {
        "output-available" => part.raw("output").map(text_or_json),
        "output-error" => reading.take_required_text(part, "errorText"),
        "output-denied" => {
            let reason = reading
                .inner_object(part, "approval")
                .and_then(|mut said| reading.take_text(&mut said, &["reason"]));
            Some(reason.unwrap_or_else(|| DENIED_RESULT.into()))
        }
        state
            if (state.starts_with("input-") || state.starts_with("approval-"))
                && !part.has("output")
                && !part.has("errorText") =>
        {
            return;
        }
        // Any other state leaves open whether there is a result.
        _ => return reading.report_missing(part, "state", "a fitting state"),
    };
    reading.add_result(id, name, state != "output-available", content.unwrap_or_default());
    if let Some(tool) = reading.newest_tool() {
        tool.not_run = state == "output-denied";
        let is_value = |output: &&str| !output.starts_with('"');
        tool.is_json = state == "output-available" && part.raw("output").filter(is_value).is_some();
    }
}

/// Reads an image or a file from any field that locates it; false if none does.
pub(super) fn read_file(reading: &mut DraftReader, kind: &str, part: &mut Fields<'_>) -> bool {
    let usual = match kind {
        "document" => "application/pdf",
        "audio" => "audio/*",
        _ if kind.contains("image") => "image/*",
        _ => "",
    };
    let mut file = Attachment { mime: usual.into(), ..Attachment::default() };
    let is_known = read_file_fields(reading, part, &mut file);
    if is_known {
        reading.add_file(resolve_path(file));
        // A document's context for the model, and a sound's transcript.
        let text = reading.take_text(part, &["context", "transcript"]);
        reading.add_text(text);
    }
    is_known
}

// Reads type, name and place, from the part or one object deeper; false if there is no place.
fn read_file_fields(reading: &mut DraftReader, fields: &mut Fields<'_>, file: &mut Attachment) -> bool {
    const ADDRESS_KEYS: [&str; 13] = [
        "data",
        "file_data",
        "image",
        "url",
        "image_url",
        "file_url",
        "fileUri",
        "input_audio",
        "file",
        "source",
        "inlineData",
        "fileData",
        "text",
    ];
    if let Some(mime) = reading.peek_word(fields, &["mediaType", "media_type", "mimeType"]) {
        file.mime = mime;
    } else if let Some(format) = reading.peek_word(fields, &["format"]) {
        file.mime = format!("audio/{format}");
    }
    if let Some(name) = reading.peek_word(fields, &["filename", "title", "displayName"]) {
        file.name = Some(name);
    }
    let is_text = fields.raw("type") == Some("\"text\"");
    let is_there = |key: &&str| fields.raw(key).is_some_and(|raw| raw != "null");
    let Some(key) = ADDRESS_KEYS.into_iter().find(is_there) else { return false };
    if fields.raw(key).is_some_and(|raw| raw.starts_with('{')) {
        return reading
            .inner_object(fields, key)
            .is_some_and(|mut inside| read_file_fields(reading, &mut inside, file));
    }
    let place = reading.take_word_or_empty(fields, &[key]);
    file.path = Some(if is_text { encode_base64(&place) } else { place });
    true
}
