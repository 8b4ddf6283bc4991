//! Reads one entry.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::interop::loss::{UNKNOWN_BLOCK, UNKNOWN_MESSAGE};
use crate::interop::pi::MAKER_KEYS;
use crate::interop::pi::table::REASONS;
use crate::interop::plain_content::PlainContent;
use crate::interop::{Losses, Object};
use crate::json::fields::{Field, kind_of};
use crate::json::text::Text;
use crate::record::message::{Assistant, Attachment, Message, Reasoning, Role, Tool, ToolCall, Usage};
use crate::shapes::answer_pieces::AnswerPiece;

/// An entry's message, the pieces of an answer, and its marks.
pub(super) struct EntryContent {
    pub message: Message,
    pub pieces: Vec<AnswerPiece>,
    pub marks: Vec<&'static str>,
    /// The maker of an answer.
    pub notes: Vec<(&'static str, String)>,
}

impl EntryContent {
    fn from_role(role: Role, content: Text) -> EntryContent {
        EntryContent::from_message(Message { role: Some(role), content, ..Message::default() })
    }

    fn from_message(message: Message) -> EntryContent {
        EntryContent { message, pieces: Vec::new(), marks: Vec::new(), notes: Vec::new() }
    }

    fn with_flag(mut self, name: &'static str) -> EntryContent {
        self.marks.push(name);
        self
    }
}

/// Reads a `message` entry; `None` if its role is unknown, which is listed.
///
/// # Errors
/// What was expected if there is no message.
pub(super) fn read_message(
    entry: &mut Object<'_>,
    losses: &mut Losses,
) -> Result<Option<EntryContent>, String> {
    let raw = entry.take_raw("message");
    let message = raw.and_then(|raw| Object::parse("message.message", raw).ok());
    let wrong = || {
        let found = raw.map_or("nothing", kind_of);
        format!("expected an object for \"message\", but found {found} instead")
    };
    let mut message = message.ok_or_else(wrong)?;
    let role: Option<String> = message.take("role", losses);
    let role = role.ok_or_else(|| String::from("expected a message with a role, but found one without"))?;
    let mut message = message.with_path(role.as_str());
    message.take_raw("timestamp");
    let content = match role.as_str() {
        "user" => EntryContent::from_message(plain(&mut message, &role, losses).into_message(Role::User)),
        "assistant" => answer(&mut message, losses),
        "toolResult" => result(&mut message, losses),
        "bashExecution" => execution(&mut message, losses),
        "custom" | "hookMessage" => {
            EntryContent::from_message(plain(&mut message, &role, losses).into_message(Role::User))
                .with_flag("isMeta")
        }
        "compactionSummary" => EntryContent::from_role(Role::User, summary_of(&mut message, losses))
            .with_flag("isCompactSummary"),
        "branchSummary" => {
            EntryContent::from_role(Role::User, summary_of(&mut message, losses)).with_flag("isBranchSummary")
        }
        "system" => {
            losses.add("record:message/system".into(), "the client's own instructions");
            return Ok(None);
        }
        _ => {
            losses.add(format!("record:message/{role}"), UNKNOWN_MESSAGE);
            return Ok(None);
        }
    };
    message.report_rest_lost(losses, REASONS);
    Ok(Some(content))
}

/// Reads a message from an extension to the model in the user's name.
pub(super) fn read_custom(entry: &mut Object<'_>, losses: &mut Losses) -> Option<EntryContent> {
    Some(
        EntryContent::from_message(plain(entry, "custom_message", losses).into_message(Role::User))
            .with_flag("isMeta"),
    )
}

/// Reads a summary of a part of the conversation.
pub(super) fn read_summary(entry: &mut Object<'_>, kind: &str, losses: &mut Losses) -> Option<EntryContent> {
    let mark = if kind == "compaction" { "isCompactSummary" } else { "isBranchSummary" };
    let content = EntryContent::from_role(Role::User, summary_of(entry, losses));
    (!content.message.content.is_empty()).then(|| content.with_flag(mark))
}

fn summary_of(object: &mut Object<'_>, losses: &mut Losses) -> Text {
    object.take("summary", losses).unwrap_or_default()
}

fn answer(message: &mut Object<'_>, losses: &mut Losses) -> EntryContent {
    let mut content = EntryContent::from_role(Role::Assistant, Text::default());
    for (kind, mut block) in message.take_blocks("content", losses) {
        content.pieces.push(match kind.as_str() {
            "text" => AnswerPiece::Text(block.take("text", losses).unwrap_or_default()),
            "thinking" => AnswerPiece::Reasoning(thinking(&mut block, losses)),
            "toolCall" => AnswerPiece::Call(ToolCall {
                id: block.take("id", losses).unwrap_or_default(),
                name: block.take("name", losses).unwrap_or_default(),
                arguments: block.take_arguments("arguments", losses),
            }),
            _ => {
                losses.add(format!("assistant.content[{kind}]"), UNKNOWN_BLOCK);
                continue;
            }
        });
        block.report_rest_lost(losses, REASONS);
    }
    for name in MAKER_KEYS {
        content.notes.extend(message.take_name(name, losses).map(|value| (name, value)));
    }
    let counted = message.take_object("usage", losses);
    let finish_reason: Option<String> = message.take("stopReason", losses);
    content.message.partial = matches!(finish_reason.as_deref(), Some("aborted" | "error"));
    content.message.assistant = Some(Assistant {
        model: message.take("model", losses),
        finish_reason,
        usage: counted.map(|counted| usage(counted, losses)),
        duration_ms: message.take("durationMs", losses),
        ..Assistant::default()
    });
    content
}

fn thinking(block: &mut Object<'_>, losses: &mut Losses) -> Reasoning {
    let text = block.take("thinking", losses).unwrap_or_default();
    let signature = block.take("thinkingSignature", losses);
    match block.take("redacted", losses) {
        Some(true) => Reasoning { text, data: signature, signature: None },
        Some(false) | None => Reasoning { text, signature, data: None },
    }
}

fn usage(mut counts: Object<'_>, losses: &mut Losses) -> Usage {
    let usage = Usage {
        input: counts.take("input", losses),
        output: counts.take("output", losses),
        cache_read: counts.take("cacheRead", losses),
        cache_write: counts.take("cacheWrite", losses),
        ..Usage::default()
    };
    counts.report_rest_lost(losses, REASONS);
    usage
}

fn result(message: &mut Object<'_>, losses: &mut Losses) -> EntryContent {
    let mut content =
        EntryContent::from_message(plain(message, "toolResult", losses).into_message(Role::Tool));
    content.message.tool = Some(Tool {
        call_id: message.take("toolCallId", losses).unwrap_or_default(),
        name: message.take("toolName", losses).unwrap_or_default(),
        is_error: message.take("isError", losses).unwrap_or_default(),
        ..Tool::default()
    });
    content
}

// Reads a command of the user's own, in the words that the model gets.
fn execution(message: &mut Object<'_>, losses: &mut Losses) -> EntryContent {
    let command: String = message.take("command", losses).unwrap_or_default();
    let output: String = message.take("output", losses).unwrap_or_default();
    let code: Option<i64> = message.take("exitCode", losses);
    let cancelled = message.take("cancelled", losses) == Some(true);
    let is_hidden = message.take("excludeFromContext", losses) == Some(true);
    let output = if output.is_empty() { "(no output)".into() } else { format!("```\n{output}\n```") };
    let end = match code {
        _ if cancelled => "\n\n(command cancelled)".into(),
        Some(code) if code != 0 => format!("\n\nCommand exited with code {code}"),
        Some(_) | None => String::new(),
    };
    let content = EntryContent::from_role(Role::User, format!("Ran `{command}`\n{output}{end}").into())
        .with_flag("isBashExecution");
    if is_hidden { content.with_flag("isIgnored") } else { content }
}

fn plain(object: &mut Object<'_>, path: &str, losses: &mut Losses) -> PlainContent {
    let mut plain = PlainContent::default();
    let whole = object.raw("content").and_then(|content| Text::read(content, "", &mut Vec::new()));
    if whole.is_some() {
        object.take_raw("content");
    }
    plain.texts.extend(whole);
    for (kind, mut block) in object.take_blocks("content", losses) {
        match kind.as_str() {
            "text" => plain.texts.extend(block.take("text", losses).filter(|text: &Text| !text.is_empty())),
            "image" => plain.attachments.push(Attachment {
                mime: block.take("mimeType", losses).unwrap_or_default(),
                data: block.take("data", losses),
                ..Attachment::default()
            }),
            _ => {
                losses.add(format!("{path}.content[{kind}]"), UNKNOWN_BLOCK);
                continue;
            }
        }
        block.report_rest_lost(losses, REASONS);
    }
    plain
}
