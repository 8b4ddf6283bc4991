//! One part of a content, of whatever shape: the providers have the same parts under names of their own.

use alloc::format;
use alloc::string::String;

use crate::json::fields::Fields;
use crate::json::text::Text;
use crate::record::message::{Attachment, Role};
use crate::shapes::file::{encoded, resolved};
use crate::shapes::gemini;
use crate::shapes::reading::{Reading, text_or_json};

/// What stands in the place of a result where a person did not let the tool run, and gave no reason.
pub(super) const DENIED: &str = "[The tool was not allowed to run.]";

/// Takes one part by its kind; whether the kind is known.
pub(super) fn part(reading: &mut Reading, kind: &str, part: &mut Fields<'_>) -> bool {
    match kind {
        "" => return gemini::part(reading, part),
        "text" | "input_text" | "output_text" | "refusal" => {
            let text = reading.text_in(part, &["text", "refusal"]);
            reading.text(text);
        }
        "thinking" | "redacted_thinking" | "reasoning" => {
            let text = reading.text_in(part, &["thinking", "text"]).unwrap_or_default();
            let (signature, data) =
                (reading.some_word(part, &["signature"]), reading.some_word(part, &["data"]));
            reading.reasoning(text, signature, data);
        }
        "tool_use" | "tool-call" => {
            let (id, name) = reading.identity(part);
            let input = part.raw("input").or_else(|| part.raw("args"));
            reading.call(id, name, input.map(Text::from));
        }
        "tool_result" => {
            let (id, name) = reading.identity(part);
            let is_error = part.raw("is_error") == Some("true");
            reading.result_of(id, name, is_error, part.raw("content"), "content[].content");
        }
        "tool-result" => {
            let (id, name) = reading.identity(part);
            match reading.inner(part, "output") {
                Some(output) => result(id, name, output, reading),
                // The AI SDK's before its fifth version.
                None => match part.raw("result") {
                    Some(value) => {
                        reading.result(id, name, part.raw("isError") == Some("true"), text_or_json(value))
                    }
                    None => reading.lacks("output"),
                },
            }
        }
        // Only an answer has steps.
        "step-start" if reading.is_between() => {}
        "step-start" => reading.end(Role::Assistant),
        // What was asked of a person, and what is for a screen beside the conversation, is not sent to a model either.
        "tool-approval-request" | "tool-approval-response" => {}
        _ if kind.starts_with("data-") || kind.starts_with("source-") => {}
        _ if kind == "dynamic-tool" || kind.starts_with("tool-") => called(reading, kind, part),
        _ => return file(reading, kind, part),
    }
    true
}

fn result(id: String, name: String, mut output: Fields<'_>, reading: &mut Reading) {
    let kind = reading.word(&mut output, &["type"]);
    let not_run = kind == "execution-denied";
    let is_error = kind.starts_with("error") || not_run;
    let is_json = kind.ends_with("json");
    let value = output.raw("value").or_else(|| output.raw("reason"));
    match value {
        _ if kind == "content" => reading.result_of(id, name, is_error, value, "output.value"),
        Some(value) if is_json => reading.result(id, name, is_error, value.into()),
        Some(value) => reading.result(id, name, is_error, text_or_json(value)),
        None => reading.result(id, name, is_error, if is_error { DENIED } else { "" }.into()),
    }
    if let Some(tool) = reading.newest() {
        tool.not_run = not_run;
        tool.is_json = is_json && value.is_some();
    }
}

// A call of the AI SDK's `UIMessage`, which has its result in it.
fn called(reading: &mut Reading, kind: &str, part: &mut Fields<'_>) {
    let (id, name) = reading.identity(part);
    let name = kind.strip_prefix("tool-").map_or(name, String::from);
    let state = reading.word(part, &["state"]);
    let input = part.raw("input").or_else(|| part.raw("rawInput"));
    reading.call(id.clone(), name.clone(), input.map(Text::from));
    let content: Option<Text> = match state.as_str() {
        "output-available" => part.raw("output").map(text_or_json),
        "output-error" => reading.text_in(part, &["errorText"]),
        "output-denied" => {
            let reason =
                reading.inner(part, "approval").and_then(|mut said| reading.text_in(&mut said, &["reason"]));
            Some(reason.unwrap_or_else(|| DENIED.into()))
        }
        // Not answered yet.
        _ => return,
    };
    reading.result(id, name, state != "output-available", content.unwrap_or_default());
    if let Some(tool) = reading.newest() {
        tool.not_run = state == "output-denied";
        let is_value = |output: &&str| !output.starts_with('"');
        tool.is_json = state == "output-available" && part.raw("output").filter(is_value).is_some();
    }
}

/// Takes an image or a file, wherever the part says where it is; whether it says so.
pub(super) fn file(reading: &mut Reading, kind: &str, part: &mut Fields<'_>) -> bool {
    let usual = match kind {
        "document" => "application/pdf",
        _ if kind.contains("image") => "image/*",
        _ => "",
    };
    let mut file = Attachment { mime: usual.into(), ..Attachment::default() };
    let is_known = describe(reading, part, &mut file);
    if is_known {
        reading.file(resolved(file));
    }
    is_known
}

// Type, name and place, which are the part's own or stand an object deeper; whether there is a place.
fn describe(reading: &mut Reading, fields: &mut Fields<'_>, file: &mut Attachment) -> bool {
    const PLACES: [&str; 13] = [
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
    if let Some(mime) = reading.seen_word(fields, &["mediaType", "media_type", "mimeType"]) {
        file.mime = mime;
    } else if let Some(format) = reading.seen_word(fields, &["format"]) {
        file.mime = format!("audio/{format}");
    }
    if let Some(name) = reading.seen_word(fields, &["filename", "title", "displayName"]) {
        file.name = Some(name);
    }
    let is_text = fields.raw("type") == Some("\"text\"");
    let is_there = |key: &&str| fields.raw(key).is_some_and(|raw| raw != "null");
    let Some(key) = PLACES.into_iter().find(is_there) else { return false };
    if fields.raw(key).is_some_and(|raw| raw.starts_with('{')) {
        return reading.inner(fields, key).is_some_and(|mut inside| describe(reading, &mut inside, file));
    }
    let place = reading.word(fields, &[key]);
    file.path = Some(if is_text { encoded(&place) } else { place });
    true
}
