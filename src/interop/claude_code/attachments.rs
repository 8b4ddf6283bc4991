//! Reads Claude Code's attachments to a conversation: files that the user named, hooks' output, changes meanwhile. The
//! model is told them in the user's name, so each is a message of the user's with a mark.
//!
//! Newer versions keep the words that the model got (`rendered`); for older ones they are made from the texts and the
//! name that the attachment has. What the client says of itself, of its tools and of its limits is no part of a
//! conversation.

use alloc::format;
use alloc::string::String;

use crate::interop::plain_content::PlainContent;
use crate::interop::{Losses, Object};
use crate::json::fields::parse_items;
use crate::json::text::Text;
use crate::record::message::{Attachment, Message, Role};

/// Attachments about the client itself, its tools and its limits.
const CLIENT_KINDS: &[&str] = &[
    "agent_listing_delta",
    "auto_mode",
    "auto_mode_exit",
    "batching_reminder_sent",
    "budget_usd",
    "command_permissions",
    "credential_org",
    "date",
    "date_change",
    "deferred_tools_delta",
    "deferred_tools_record",
    "dynamic_skill",
    "environment",
    "mcp_instructions_delta",
    "model",
    "output_style",
    "prompt_snapshot",
    "remote_session_change",
    "silent_turn_reminder",
    "skill_listing",
    "task_reminder",
    "todo_reminder",
    "token_usage",
    "total_tokens_reminder",
    "ultra_effort_enter",
    "ultra_effort_exit",
];
/// Attachments that only the user is shown.
const USER_NOTICE_KINDS: &[&str] = &["hook_cancelled", "hook_non_blocking_error", "hook_system_message"];

/// Keys that may hold a text, and the key that names what it belongs to.
const TEXT_KEYS: &[&str] = &[
    "content",
    "file",
    "text",
    "snippet",
    "prompt",
    "banner",
    "planContent",
    "blockingError",
    "skills",
    "message",
    "source",
];
const NAME_KEYS: &[&str] = &["displayPath", "filename", "filePath", "path", "name"];
// The deepest place of a text.
const MAX_TEXT_DEPTH: usize = 6;

/// Returns why an attachment of this kind is left out, though it holds words.
pub(super) fn skip_reason(kind: &str) -> Option<&'static str> {
    if CLIENT_KINDS.contains(&kind) {
        return Some("the client's notes on itself, its tools and its limits");
    }
    USER_NOTICE_KINDS.contains(&kind).then_some("shown to the user, not sent to the model")
}

/// Makes the message that an attachment gave the model; `None` if it holds no words. `rendered`: the words as given.
pub(super) fn attachment_message(attachment: &str, rendered: Option<&str>) -> Option<Message> {
    let mut plain = PlainContent::default();
    gather_texts(rendered.unwrap_or_default(), (MAX_TEXT_DEPTH, true), &mut plain);
    if plain.is_empty() {
        gather_texts(attachment, (MAX_TEXT_DEPTH, false), &mut plain);
    }
    (!plain.is_empty()).then(|| plain.into_message(Role::User))
}

// `is_named`: the thing that the text belongs to was named already.
fn gather_texts(raw: &str, (depth, is_named): (usize, bool), into: &mut PlainContent) {
    if depth == 0 {
        return;
    }
    if let Some(text) = Text::decode(raw) {
        return into.texts.extend(Some(text).filter(|text| !text.is_empty()));
    }
    let within = (depth - 1, is_named);
    if raw.starts_with('[') {
        return parse_items(raw)
            .unwrap_or_default()
            .into_iter()
            .for_each(|item| gather_texts(item, within, into));
    }
    let Ok(mut object) = Object::parse("", raw) else { return };
    let quiet = &mut Losses::default();
    let mut name = NAME_KEYS.iter().find_map(|name| object.take::<String>(name, quiet));
    name = name.filter(|name| !is_named && !name.is_empty());
    let within = (depth - 1, is_named || name.is_some());
    let mut own = PlainContent::default();
    TEXT_KEYS
        .iter()
        .filter_map(|text| object.raw(text))
        .for_each(|text| gather_texts(text, within, &mut own));
    // A notebook's cells, as they stand.
    own.texts.extend(object.raw("cells").map(Text::from));
    own.attachments.extend(take_bytes(&mut object));
    if let Some(name) = name.filter(|_| !own.texts.is_empty()) {
        own.texts.insert(0, format!("{name}:").into());
    }
    into.texts.append(&mut own.texts);
    into.attachments.append(&mut own.attachments);
}

// Takes a picture, or a PDF, whose type is not given.
fn take_bytes(file: &mut Object<'_>) -> Option<Attachment> {
    let quiet = &mut Losses::default();
    let data = file.take("base64", quiet).or_else(|| file.take("data", quiet))?;
    let mime: Option<String> = file.take("media_type", quiet).or_else(|| file.take("type", quiet));
    let mime = mime.unwrap_or_else(|| "application/pdf".into());
    Some(Attachment { mime, data: Some(data), ..Attachment::default() })
}
