//! Guesses the provider's shape of a message that was given as leftoff's own.

use alloc::vec::Vec;

use super::Format;
use crate::json::fields::{Fields, parse_objects};

/// The kinds of parts and items that only one shape has.
const TELLING_KINDS: [(Format, &[&str]); 5] = [
    (Format::AiSdk, &["tool-call", "tool-result", "tool-approval-request", "tool-approval-response"]),
    (Format::AiSdkUi, &["step-start", "dynamic-tool"]),
    (Format::Anthropic, &["tool_use", "tool_result", "thinking", "redacted_thinking", "document"]),
    (Format::OpenaiChat, &["image_url", "input_audio", "refusal"]),
    (
        Format::OpenaiResponses,
        &["input_text", "output_text", "input_image", "input_file", "function_call", "function_call_output"],
    ),
];
/// The message keys that only OpenAI's chat completions have.
const CHAT_KEYS: [&str; 4] = ["tool_calls", "tool_call_id", "function_call", "reasoning_content"];

/// Returns the shapes that a message may have; none if nothing indicates one. Three shapes write texts in a list
/// alike.
pub(super) fn likely_formats(message: &Fields<'_>) -> Vec<Format> {
    if CHAT_KEYS.iter().any(|key| message.has(key)) {
        return Vec::from([Format::OpenaiChat]);
    }
    if let Some(parts) = message.raw("parts").and_then(parse_objects) {
        let is_on_screen = parts.iter().any(|part| part.has("type"));
        return Vec::from([if is_on_screen { Format::AiSdkUi } else { Format::Gemini }]);
    }
    let own = format_by_kind(message);
    let Some(parts) = message.raw("content").and_then(parse_objects) else { return Vec::from_iter(own) };
    match own.or_else(|| parts.iter().find_map(format_by_kind)) {
        Some(format) => Vec::from([format]),
        None => Vec::from([Format::OpenaiChat, Format::Anthropic, Format::AiSdk]),
    }
}

fn format_by_kind(fields: &Fields<'_>) -> Option<Format> {
    let kind = fields.raw("type")?.trim_matches('"');
    TELLING_KINDS.iter().find(|(_, kinds)| kinds.contains(&kind)).map(|(format, _)| *format)
}
