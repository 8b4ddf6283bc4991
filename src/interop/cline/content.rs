//! Reads one message of a session or a task.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::interop::cline::table::REASONS;
use crate::interop::loss::{BYTES_ELSEWHERE, UNKNOWN_BLOCK};
use crate::interop::plain_content::PlainContent;
use crate::interop::{Losses, Object};
use crate::json::text::Text;
use crate::record::message::{Attachment, Message, Reasoning, Role, Tool, ToolCall};
use crate::shapes::answer_pieces::{AnswerPiece, TEXT_SEPARATOR};

/// A message's content, whoever says it: the pieces of an answer, or plain content and results with their calls.
#[derive(Default)]
pub(super) struct MessageContent {
    pub pieces: Vec<AnswerPiece>,
    pub plain: PlainContent,
    pub results: Vec<(Message, String)>,
}

// Adds a block of a kind that stands in messages and results alike; returns false for any other.
fn add_block(plain: &mut PlainContent, kind: &str, block: &mut Object<'_>, losses: &mut Losses) -> bool {
    match kind {
        "text" => plain.texts.extend(block.take("text", losses).filter(|text: &Text| !text.is_empty())),
        "image" => plain.attachments.extend(image(block, losses)),
        "file" => plain.attachments.push(file(block, losses)),
        _ => return false,
    }
    true
}

/// Reads a message's content.
pub(super) fn read_content(message: &mut Object<'_>, losses: &mut Losses) -> MessageContent {
    let mut content = MessageContent::default();
    if let Some(text) = take_string_content(message) {
        content.pieces.push(AnswerPiece::Text(text.clone()));
        content.plain.texts.extend(Some(text).filter(|text| !text.is_empty()));
    }
    for (kind, mut block) in message.take_blocks("content", losses) {
        match kind.as_str() {
            "thinking" => content.pieces.push(AnswerPiece::Reasoning(Reasoning {
                text: block.take("thinking", losses).unwrap_or_default(),
                signature: block.take("signature", losses),
                data: None,
            })),
            "redacted_thinking" => content.pieces.push(AnswerPiece::Reasoning(Reasoning {
                data: block.take("data", losses),
                ..Reasoning::default()
            })),
            "tool_use" => content.pieces.push(AnswerPiece::Call(ToolCall {
                id: block.take("id", losses).unwrap_or_default(),
                name: block.take("name", losses).unwrap_or_default(),
                arguments: block.take_arguments("input", losses),
            })),
            "tool_result" => content.results.push(result(&mut block, losses)),
            _ => {
                let before = content.plain.texts.len();
                if !add_block(&mut content.plain, &kind, &mut block, losses) {
                    losses.add(format!("message.content[{kind}]"), UNKNOWN_BLOCK);
                    continue;
                }
                content.pieces.extend(content.plain.texts[before..].iter().cloned().map(AnswerPiece::Text));
            }
        }
        block.report_rest_lost(losses, REASONS);
    }
    content
}

fn take_string_content(object: &mut Object<'_>) -> Option<Text> {
    let is_text = object.raw("content").is_some_and(|content| content.starts_with('"'));
    if is_text { object.take("content", &mut Losses::default()) } else { None }
}

fn result(block: &mut Object<'_>, losses: &mut Losses) -> (Message, String) {
    let call_id: String = block.take("tool_use_id", losses).unwrap_or_default();
    let mut tool = Tool {
        call_id: call_id.clone(),
        name: block.take("name", losses).unwrap_or_default(),
        is_error: block.take("is_error", losses).unwrap_or_default(),
        ..Tool::default()
    };
    let mut plain = PlainContent::default();
    plain.texts.extend(take_string_content(block));
    for (kind, mut item) in block.take_blocks("content", losses) {
        if kind.is_empty() {
            let outcome = outcome(&mut item, losses);
            tool.is_error |= outcome.1;
            plain.texts.push(outcome.0);
        } else if !add_block(&mut plain, &kind, &mut item, losses) {
            losses.add(format!("message.content[tool_result].content[{kind}]"), UNKNOWN_BLOCK);
            continue;
        }
        item.report_rest_lost(losses, REASONS);
    }
    (Message { tool: Some(tool), ..plain.into_message(Role::Tool) }, call_id)
}

// Reads the outcome of one of the things that a call asked for, and whether it failed.
fn outcome(item: &mut Object<'_>, losses: &mut Losses) -> (Text, bool) {
    let error: Option<Text> = item.take("error", losses);
    let failed = item.take("success", losses) == Some(false);
    let text = match item.raw("result") {
        Some(raw) if raw.starts_with('"') => item.take("result", losses).unwrap_or_default(),
        Some(_) => item.take_raw("result").unwrap_or_default().into(),
        None => Text::default(),
    };
    let text = match error {
        Some(error) if !text.as_str().contains(error.as_str()) => Text::join(
            Vec::from_iter([text, error].into_iter().filter(|text| !text.is_empty())),
            TEXT_SEPARATOR,
        ),
        Some(_) | None => text,
    };
    (text, failed)
}

// The SDK has the bytes in the block, older versions have the provider's form.
fn image(block: &mut Object<'_>, losses: &mut Losses) -> Option<Attachment> {
    let Some(mut source) = block.take_object("source", losses) else {
        let mime = block.take("mediaType", losses).unwrap_or_default();
        return Some(Attachment { mime, data: block.take("data", losses), ..Attachment::default() });
    };
    source.take_raw("type");
    let mime = source.take("media_type", losses).unwrap_or_default();
    let data: Option<String> = source.take("data", losses);
    source.report_rest_lost(losses, REASONS);
    if data.is_none() {
        block.report_lost("source", BYTES_ELSEWHERE, losses);
    }
    data.map(|data| Attachment { mime, data: Some(data), ..Attachment::default() })
}

fn file(block: &mut Object<'_>, losses: &mut Losses) -> Attachment {
    let path: Option<String> = block.take("path", losses);
    let text: Option<String> = block.take("content", losses);
    let data = text.map(|text| STANDARD.encode(text));
    Attachment { mime: "text/plain".into(), path, data, ..Attachment::default() }
}
