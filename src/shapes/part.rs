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

/// By what the AI SDK names a call and its tool.
const CALL: [&str; 2] = ["toolCallId", "toolName"];

/// What is in the names of parts that are images and files.
const FILES: [&str; 6] = ["image", "file", "audio", "video", "document", "media"];

/// Takes one part by its kind; whether the kind is known.
pub(super) fn part(reading: &mut Reading, kind: &str, part: &mut Fields<'_>) -> bool {
    let (mut signature, mut data) = signed(reading, part);
    let mut thought = None;
    let is_thought = matches!(kind, "thinking" | "redacted_thinking" | "reasoning");
    if is_thought {
        thought = reading.text_in(part, &["thinking", "text"]);
        signature = signature.or_else(|| reading.some_word(part, &["signature"]));
        data = data.or_else(|| reading.some_word(part, &["data"]));
        if thought.is_none() && signature.is_none() && data.is_none() {
            reading.lacks(part, "text", "a string");
        }
    }
    reading.reasoning(thought.unwrap_or_default(), signature, data);
    match kind {
        _ if is_thought => {}
        "" => return gemini::part(reading, part),
        "text" | "input_text" | "output_text" | "refusal" => {
            let key = if kind == "refusal" { kind } else { "text" };
            let text = reading.needed_text(part, key);
            reading.text(text);
        }
        "tool_use" | "tool-call" => {
            let [id, name] = if kind == "tool_use" { ["id", "name"] } else { CALL };
            let (id, name) = (reading.needed(part, id), reading.needed(part, name));
            let input = part.raw("input").or_else(|| part.raw("args"));
            reading.call(id, name, input.map(Text::from));
        }
        "tool_result" => {
            let id = reading.needed(part, "tool_use_id");
            let is_error = part.take("is_error", &mut reading.bad).unwrap_or_default();
            reading.result(id, String::new(), is_error, Text::default());
            reading.more_of_result(part, "content");
        }
        "tool-result" => answered(reading, part),
        // Only an answer has steps.
        "step-start" if reading.is_between() => {}
        "step-start" => reading.end(Role::Assistant),
        // What was asked of a person, and what is for a screen beside the conversation, is not sent to a model either.
        "tool-approval-request" => {}
        "tool-approval-response" => reading.has_approval = true,
        _ if kind.starts_with("data-") || kind.starts_with("source-") => {}
        _ if kind == "dynamic-tool" || kind.starts_with("tool-") => called(reading, kind, part),
        _ if FILES.iter().any(|word| kind.contains(word)) => return file(reading, kind, part),
        _ => return false,
    }
    true
}

/// What a provider signed and what it encrypted of an answer: the AI SDK hands both on under the provider's name.
fn signed(reading: &mut Reading, part: &mut Fields<'_>) -> (Option<String>, Option<String>) {
    let mut found = (None, None);
    for key in ["providerOptions", "providerMetadata", "callProviderMetadata"] {
        let Some(providers) = reading.inner(part, key) else { continue };
        for (name, _) in providers.named() {
            let Some(mut said) = reading.inner(&providers, name) else { continue };
            let signature = reading.some_word(&mut said, &["signature", "thoughtSignature"]);
            let data = reading.some_word(&mut said, &["redactedData", "reasoningEncryptedContent"]);
            found = (found.0.or(signature), found.1.or(data));
        }
    }
    found
}

fn answered(reading: &mut Reading, part: &mut Fields<'_>) {
    let [id, name] = CALL.map(|key| reading.needed(part, key));
    if let Some(output) = reading.inner(part, "output") {
        return result(id, name, output, reading);
    }
    // The AI SDK's before its fifth version.
    let is_error = part.raw("isError") == Some("true");
    match part.raw("result") {
        Some(value) => reading.result(id, name, is_error, text_or_json(value)),
        None => reading.lacks(part, "output", "an object"),
    }
}

fn result(id: String, name: String, mut output: Fields<'_>, reading: &mut Reading) {
    let kind = reading.word(&mut output, &["type"]);
    let not_run = kind == "execution-denied";
    let is_error = kind.starts_with("error") || not_run;
    let is_json = kind.ends_with("json");
    let value = output.raw(if not_run { "reason" } else { "value" });
    let text = match value {
        _ if kind == "content" => Text::default(),
        Some(value) if is_json => value.into(),
        Some(value) => text_or_json(value),
        None if not_run => DENIED.into(),
        None => return reading.lacks(&output, "value", "a value"),
    };
    reading.result(id, name, is_error, text);
    if kind == "content" {
        reading.more_of_result(&output, "value");
    }
    if let Some(tool) = reading.newest() {
        tool.not_run = not_run;
        tool.is_json = is_json && value.is_some();
    }
}

// A call of the AI SDK's `UIMessage`, which has its result in it.
fn called(reading: &mut Reading, kind: &str, part: &mut Fields<'_>) {
    let [id, name] = CALL;
    let id = reading.needed(part, id);
    let name = kind.strip_prefix("tool-").map_or_else(|| reading.needed(part, name), String::from);
    let state = reading.seen_word(part, &["state"]).unwrap_or_default();
    let input = part.raw("input").or_else(|| part.raw("rawInput"));
    reading.call(id.clone(), name.clone(), input.map(Text::from));
    let content: Option<Text> = match state.as_str() {
        "output-available" => part.raw("output").map(text_or_json),
        "output-error" => reading.needed_text(part, "errorText"),
        "output-denied" => {
            let reason =
                reading.inner(part, "approval").and_then(|mut said| reading.text_in(&mut said, &["reason"]));
            Some(reason.unwrap_or_else(|| DENIED.into()))
        }
        state
            if (state.starts_with("input-") || state.starts_with("approval-"))
                && !part.has("output")
                && !part.has("errorText") =>
        {
            return;
        }
        // Whether there is an answer, nobody can tell.
        _ => return reading.lacks(part, "state", "a fitting state"),
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
        "audio" => "audio/*",
        _ if kind.contains("image") => "image/*",
        _ => "",
    };
    let mut file = Attachment { mime: usual.into(), ..Attachment::default() };
    let is_known = describe(reading, part, &mut file);
    if is_known {
        reading.file(resolved(file));
        // What a document is about, for the model, and what is heard.
        let said = reading.text_in(part, &["context", "transcript"]);
        reading.text(said);
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
