//! Reads a record's blocks as parts of a message.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::interop::claude_code::table::REASONS;
use crate::interop::loss::{ANOTHER_KIND, BYTES_ELSEWHERE, UNKNOWN_BLOCK};
use crate::interop::object::{Losses, Object, parse_blocks, parse_object};
use crate::interop::plain_content::PlainContent;
use crate::json::fields::Field;
use crate::json::text::Text;
use crate::record::message::{Assistant, Attachment, Message, Reasoning, Role, Tool, ToolCall, Usage};
use crate::shapes::answer_pieces::AnswerPiece;

/// Reads the blocks of an assistant's record.
pub(super) fn answer_pieces(content: &str, losses: &mut Losses) -> Vec<AnswerPiece> {
    let mut pieces = Vec::new();
    if let Some(text) = Text::read(content, "", &mut Vec::new()) {
        pieces.push(AnswerPiece::Text(text));
    }
    for (kind, mut block) in parse_blocks("assistant.message.content", content, losses) {
        let piece = match kind.as_str() {
            "text" => AnswerPiece::Text(block.take("text", losses).unwrap_or_default()),
            "thinking" => AnswerPiece::Reasoning(Reasoning {
                text: block.take("thinking", losses).unwrap_or_default(),
                signature: block.take("signature", losses),
                data: None,
            }),
            "redacted_thinking" => {
                AnswerPiece::Reasoning(Reasoning { data: block.take("data", losses), ..Reasoning::default() })
            }
            "tool_use" => AnswerPiece::Call(ToolCall {
                id: block.take("id", losses).unwrap_or_default(),
                name: block.take("name", losses).unwrap_or_default(),
                arguments: block.take_raw("input").unwrap_or("{}").into(),
            }),
            _ => {
                losses.add(format!("assistant.message.content[{kind}]"), UNKNOWN_BLOCK);
                continue;
            }
        };
        block.report_rest_lost(losses, REASONS);
        pieces.push(piece);
    }
    pieces
}

/// Reads the messages of a user's record: one for each tool result, then one for the words beside them, if any.
pub(super) fn prompt_messages(content: &str, losses: &mut Losses) -> Vec<Message> {
    let mut results = Vec::new();
    let mut parts = PlainContent::default();
    if let Some(text) = Text::read(content, "", &mut Vec::new()) {
        parts.texts.push(text);
    }
    for (kind, mut block) in parse_blocks("user.message.content", content, losses) {
        match kind.as_str() {
            "tool_result" => {
                let tool = Tool {
                    call_id: block.take("tool_use_id", losses).unwrap_or_default(),
                    is_error: block.take("is_error", losses).unwrap_or_default(),
                    ..Tool::default()
                };
                let content = read_plain_content(block.take_raw("content"), losses);
                results.push(Message { tool: Some(tool), ..content.into_message(Role::Tool) });
                block.report_rest_lost(losses, REASONS);
            }
            _ => add_block(&mut parts, "user.message.content", &kind, block, losses),
        }
    }
    if results.is_empty() || !parts.is_empty() {
        results.push(parts.into_message(Role::User));
    }
    results
}

/// The path of a queued prompt's text.
const QUEUED_PROMPT_PATH: &str = "attachment/queued_command.attachment.prompt";

/// Makes the message of a prompt that was typed while the agent was at work.
pub(super) fn queued_message(prompt: &str, losses: &mut Losses) -> Message {
    let mut content = PlainContent::default();
    content.texts.extend(Text::read(prompt, "", &mut Vec::new()));
    for (kind, block) in parse_blocks(QUEUED_PROMPT_PATH, prompt, losses) {
        add_block(&mut content, QUEUED_PROMPT_PATH, &kind, block, losses);
    }
    content.into_message(Role::User)
}

/// Reads the provider's token counts.
pub(super) fn usage(raw: &str, losses: &mut Losses) -> Option<Usage> {
    let mut counts = parse_object("assistant.message.usage".into(), raw, losses)?;
    let details = counts.take_raw("output_tokens_details");
    let mut details = details
        .and_then(|raw| parse_object("assistant.message.usage.output_tokens_details".into(), raw, losses));
    let written = counts.take_raw("cache_creation");
    let mut written =
        written.and_then(|raw| parse_object("assistant.message.usage.cache_creation".into(), raw, losses));
    let hour: Option<u64> =
        written.as_mut().and_then(|times| times.take("ephemeral_1h_input_tokens", losses));
    let usage = Usage {
        input: counts.take("input_tokens", losses),
        output: counts.take("output_tokens", losses),
        cache_read: counts.take("cache_read_input_tokens", losses),
        cache_write: counts.take("cache_creation_input_tokens", losses),
        cache_write_hour: hour.filter(|tokens| *tokens > 0),
        reasoning: details.as_mut().and_then(|details| details.take("thinking_tokens", losses)),
        ..Usage::default()
    };
    counts.report_rest_lost(losses, REASONS);
    for details in details.into_iter().chain(written) {
        details.report_rest_lost(losses, REASONS);
    }
    Some(usage)
}

/// Takes the fields of an assistant's message that are not content; the newest record of an answer wins.
pub(super) fn describe_assistant(assistant: &mut Assistant, message: &mut Object<'_>, losses: &mut Losses) {
    assistant.model = message.take("model", losses).or(assistant.model.take());
    assistant.finish_reason = message.take("stop_reason", losses).or(assistant.finish_reason.take());
    let counted = message.take_raw("usage").and_then(|raw| usage(raw, losses));
    assistant.usage = counted.or(assistant.usage.take());
}

fn add_block(plain: &mut PlainContent, path: &str, kind: &str, mut block: Object<'_>, losses: &mut Losses) {
    match kind {
        "text" => plain.texts.extend(block.take("text", losses).filter(|text: &Text| !text.is_empty())),
        "image" | "document" => {
            let name = if kind == "document" { block.take("title", losses) } else { None };
            let path = format!("{path}[{kind}].source");
            let inline = block.take_raw("source").and_then(|raw| inline_attachment(path, raw, losses));
            plain.attachments.extend(inline.map(|attachment| Attachment { name, ..attachment }));
        }
        _ => return losses.add(format!("{path}[{kind}]"), UNKNOWN_BLOCK),
    }
    block.report_rest_lost(losses, REASONS);
}

fn read_plain_content(content: Option<&str>, losses: &mut Losses) -> PlainContent {
    const RESULT_CONTENT_PATH: &str = "user.message.content[tool_result].content";
    let mut plain = PlainContent::default();
    let Some(content) = content else { return plain };
    match Text::read(content, "", &mut Vec::new()) {
        Some(text) => plain.texts.push(text),
        None if !content.starts_with('[') && content != "null" => {
            losses.add(RESULT_CONTENT_PATH.into(), ANOTHER_KIND)
        }
        None => {}
    }
    for (kind, block) in parse_blocks(RESULT_CONTENT_PATH, content, losses) {
        add_block(&mut plain, RESULT_CONTENT_PATH, &kind, block, losses);
    }
    plain
}

// Takes only bytes that stand in the file itself: an address would make a viewer ask the network.
fn inline_attachment(path: String, raw: &str, losses: &mut Losses) -> Option<Attachment> {
    let mut source = parse_object(path.clone(), raw, losses)?;
    let kind: Option<String> = source.take("type", losses);
    if kind.as_deref() != Some("base64") {
        losses.add(path, BYTES_ELSEWHERE);
        return None;
    }
    let mime = source.take("media_type", losses).unwrap_or_default();
    let data = source.take("data", losses);
    source.report_rest_lost(losses, REASONS);
    Some(Attachment { mime, data, ..Attachment::default() })
}
