//! What stands in one record: its blocks as parts of a message.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::interop::Losses;
use crate::session::message::{Assistant, Attachment, Message, Part, Reasoning, Role, Tool, ToolCall, Usage};
use crate::text::{BadValue, Fields, FromFields, Text};

pub(crate) const NO_PLACE: &str = "leftoff has no place for it";
const BETWEEN_TEXTS: &str = "\n\n";

/// A block of a message's content, its fields not taken yet.
pub(crate) struct Block<'a> {
    kind: String,
    fields: Fields<'a>,
}

/// The content of a message: a string, or blocks.
pub(crate) fn blocks<'a>(content: Option<&'a str>, losses: &mut Losses) -> Vec<Block<'a>> {
    let Some(content) = content else { return Vec::new() };
    let items = crate::text::items(content).unwrap_or_else(|| Vec::from([content]));
    let mut blocks = Vec::new();
    for item in items {
        match Fields::parse(item) {
            Ok(mut fields) => {
                let kind = fields.take("type", &mut Vec::new()).unwrap_or_default();
                blocks.push(Block { kind, fields });
            }
            Err(_) if item.starts_with('"') => {
                blocks.push(Block { kind: "string".into(), fields: Fields::of("text", item) })
            }
            Err(_) => losses.add("message.content".into(), "neither a text nor a block"),
        }
    }
    blocks
}

/// Adds the blocks of an assistant's record to its message; one answer may be spread over several records.
pub(crate) fn add_to_answer(message: &mut Message, blocks: Vec<Block<'_>>, losses: &mut Losses) {
    let mut bad = Vec::new();
    let assistant = message.assistant.get_or_insert_default();
    for Block { kind, mut fields } in blocks {
        match kind.as_str() {
            "text" | "string" => {
                let text: Text = fields.take("text", &mut bad).unwrap_or_default();
                let span = join(&mut message.content, text);
                assistant.order.push(Part::Text(span.0, span.1));
            }
            "thinking" | "redacted_thinking" => {
                assistant.order.push(Part::Reasoning(assistant.reasoning.len() as u32));
                assistant.reasoning.push(Reasoning {
                    text: fields.take("thinking", &mut bad).unwrap_or_default(),
                    signature: fields.take("signature", &mut bad),
                    data: fields.take("data", &mut bad),
                });
            }
            "tool_use" => {
                assistant.order.push(Part::Call(assistant.tool_calls.len() as u32));
                assistant.tool_calls.push(ToolCall {
                    id: fields.take("id", &mut bad).unwrap_or_default(),
                    name: fields.take("name", &mut bad).unwrap_or_default(),
                    arguments: fields.take_raw("input").unwrap_or("{}").into(),
                });
            }
            _ => losses.add(format!("message.content[{kind}]"), NO_PLACE),
        }
        lost_fields(&format!("message.content[{kind}]"), fields, losses);
    }
    note(bad, losses);
}

/// The messages of a user's record: one for each tool result, then one for what the user said, if anything.
pub(crate) fn user_messages(
    blocks: Vec<Block<'_>>,
    names: &BTreeMap<String, String>,
    losses: &mut Losses,
) -> Vec<Message> {
    let mut bad = Vec::new();
    let mut results = Vec::new();
    let mut said = Message { role: Some(Role::User), ..Message::default() };
    let mut has_said = blocks.is_empty();
    for Block { kind, mut fields } in blocks {
        match kind.as_str() {
            "tool_result" => {
                let call_id: String = fields.take("tool_use_id", &mut bad).unwrap_or_default();
                let name = names.get(&call_id).cloned().unwrap_or_default();
                let is_error = fields.take("is_error", &mut bad).unwrap_or_default();
                let tool = Tool { call_id, name, is_error, ..Tool::default() };
                let mut result = Message { role: Some(Role::Tool), tool: Some(tool), ..Message::default() };
                for inner in self::blocks(fields.take_raw("content"), losses) {
                    add_plain(&mut result, inner, losses, &mut bad);
                }
                results.push(result);
                lost_fields("message.content[tool_result]", fields, losses);
            }
            _ => {
                has_said = true;
                add_plain(&mut said, Block { kind, fields }, losses, &mut bad);
            }
        }
    }
    note(bad, losses);
    results.extend(has_said.then_some(said));
    results
}

/// The counts of the provider.
pub(crate) fn usage(raw: &str, losses: &mut Losses) -> Option<Usage> {
    let mut fields = Fields::parse(raw).ok()?;
    let mut bad = Vec::new();
    let usage = Usage {
        input: fields.take("input_tokens", &mut bad),
        output: fields.take("output_tokens", &mut bad),
        cache_read: fields.take("cache_read_input_tokens", &mut bad),
        cache_write: fields.take("cache_creation_input_tokens", &mut bad),
        ..Usage::default()
    };
    lost_fields("message.usage", fields, losses);
    note(bad, losses);
    Some(usage)
}

/// Drops an order that says nothing: reasoning, then one text, then calls.
pub(crate) fn tidy_order(assistant: &mut Assistant) {
    let rank = |part: &Part| match part {
        Part::Reasoning(_) => 0,
        Part::Text(..) => 1,
        Part::Call(_) => 2,
    };
    let texts = assistant.order.iter().filter(|part| rank(part) == 1).count();
    if texts <= 1 && assistant.order.is_sorted_by_key(rank) {
        assistant.order.clear();
    }
}

/// Lists the fields that nobody took.
pub(crate) fn lost_fields(path: &str, fields: Fields<'_>, losses: &mut Losses) {
    for (key, _) in fields.rest().iter() {
        losses.add(format!("{path}.{}", key.trim_matches('"')), NO_PLACE);
    }
}

fn add_plain(message: &mut Message, block: Block<'_>, losses: &mut Losses, bad: &mut Vec<BadValue>) {
    let Block { kind, mut fields } = block;
    match kind.as_str() {
        "text" | "string" => {
            let text: Text = fields.take("text", bad).unwrap_or_default();
            join(&mut message.content, text);
        }
        "image" | "document" => match fields.take::<Source>("source", bad) {
            Some(Source(attachment)) => message.attachments.push(attachment),
            None => losses.add(format!("message.content[{kind}].source"), "neither inline nor at an address"),
        },
        _ => losses.add(format!("message.content[{kind}]"), NO_PLACE),
    }
    lost_fields(&format!("message.content[{kind}]"), fields, losses);
}

struct Source(Attachment);

impl FromFields for Source {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Source> {
        let attachment = Attachment {
            mime: fields.take("media_type", bad).unwrap_or_default(),
            data: fields.take("data", bad),
            path: fields.take("url", bad),
            ..Attachment::default()
        };
        (attachment.data.is_some() || attachment.path.is_some()).then_some(Source(attachment))
    }
}

// Where in the content the text came to lie, in bytes.
fn join(content: &mut Text, text: Text) -> (u32, u32) {
    if content.is_empty() {
        *content = text;
        return (0, content.as_str().len() as u32);
    }
    let start = content.as_str().len() + BETWEEN_TEXTS.len();
    *content = format!("{}{BETWEEN_TEXTS}{}", content.as_str(), text.as_str()).into();
    (start as u32, content.as_str().len() as u32)
}

fn note(bad: Vec<BadValue>, losses: &mut Losses) {
    for bad in bad {
        losses.add(bad.message, "a value of another kind");
    }
}
