//! Renders Markdown in which each message is self-contained: whatever it leaves open swallows none of those after it.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::fields::Fields;
use crate::record::message::{Attachment, Message, Reasoning, Role};

/// Replaces reasoning that a provider encrypted.
const ENCRYPTED_REASONING: &str = "[reasoning that only its provider can read]";
/// HTML elements that begin a block without an end of its own, as comments and declarations do.
const OPEN_HTML_BLOCKS: [&str; 4] = ["script", "pre", "style", "textarea"];

/// Renders the title and the session's metadata.
pub(super) fn render_heading(mut metadata: Fields<'_>) -> String {
    let text =
        |fields: &mut Fields<'_>, key: &str| fields.take::<String>(key, &mut Vec::new()).unwrap_or_default();
    let inside = |outer: &str, key: &str| {
        let value = metadata.raw(outer).and_then(|raw| Fields::parse(raw).ok());
        value.map(|mut fields| text(&mut fields, key)).unwrap_or_default()
    };
    let [title, created, last, model] = [
        inside("display", "title"),
        inside("timestamps", "createdAt"),
        inside("timestamps", "lastMessageAt"),
        inside("provider", "model"),
    ];
    let stats = metadata.raw("stats").and_then(|raw| Fields::parse(raw).ok());
    let count =
        stats.and_then(|mut stats| stats.take::<u64>("messageCount", &mut Vec::new())).unwrap_or_default();
    let mut field_text = |key: &str| text(&mut metadata, key);
    let mut facts = format!(
        "- session: {}\n- type: {}, {}\n",
        field_text("id"),
        field_text("type"),
        field_text("lifecycle")
    );
    let summary = one_line(&field_text("summary"));
    let count = format!("{count}");
    for (name, value) in [
        ("created", &created),
        ("last active", &last),
        ("messages", &count),
        ("model", &model),
        ("summary", &summary),
    ] {
        if !value.is_empty() {
            facts.push_str(&format!("- {name}: {value}\n"));
        }
    }
    show_controls(&format!("# {}\n\n{facts}\n", one_line(&title)))
}

/// Renders a message: a heading with its speaker, and its content, ending with a line feed.
pub(super) fn render_section(message: &Message, is_elsewhere: bool) -> String {
    let Message { role, timestamp, content, tool, assistant, attachments, .. } = message;
    let mut text = format!("## {}", role.map_or("message", name_of));
    if let Some(tool) = tool {
        text.push_str(&format!(" {}{}", one_line(&tool.name), if tool.is_error { ", failed" } else { "" }));
    }
    if let Some(timestamp) = timestamp.as_ref().filter(|timestamp| !timestamp.is_empty()) {
        text.push_str(&format!(", {timestamp}"));
    }
    if is_elsewhere {
        text.push_str(", of another branch");
    }
    text.push_str("\n\n");
    let mut parts: Vec<String> = Vec::new();
    let content = without_carriage_returns(content.as_str());
    if let Some(assistant) = assistant {
        parts.extend(assistant.reasoning.iter().filter_map(readable_reasoning).map(quote_lines));
    }
    if !content.is_empty() {
        // The output of a tool is not Markdown.
        parts.push(if tool.is_some() { fence_text(&content, "") } else { close_blocks(&content) });
    }
    for call in message.tool_calls() {
        let arguments = without_carriage_returns(call.arguments.as_str());
        parts.push(format!("Calls `{}`:\n\n{}", one_line(&call.name), fence_text(&arguments, "json")));
    }
    parts.extend(attachments.iter().map(describe_attachment));
    text.push_str(&parts.join("\n\n"));
    text.push('\n');
    show_controls(&text)
}

fn name_of(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

/// Returns the readable text of a piece of reasoning.
fn readable_reasoning(reasoning: &Reasoning) -> Option<&str> {
    let Reasoning { text, data, .. } = reasoning;
    let is_encrypted = data.as_ref().is_some_and(|data| !data.is_empty());
    match text.as_str() {
        "" => is_encrypted.then_some(ENCRYPTED_REASONING),
        text => Some(text),
    }
}

fn describe_attachment(Attachment { name, path, mime, .. }: &Attachment) -> String {
    let called = name.as_ref().or(path.as_ref()).map(String::as_str).unwrap_or_default();
    format!("Attached: {} ({mime})", one_line(called))
}

fn quote_lines(text: &str) -> String {
    let text = close_blocks(&without_carriage_returns(text));
    text.split('\n').map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}

/// Puts a text into a fence that nothing inside can close.
fn fence_text(text: &str, language: &str) -> String {
    let (mut run, mut longest) = (0, 2);
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    let feed = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{feed}{fence}")
}

/// Closes what a message leaves open, so that it swallows none of those after it: a fence is closed, and the beginning
/// of an HTML block without an end of its own is escaped.
fn close_blocks(text: &str) -> String {
    let mut open = "";
    let mut all = String::with_capacity(text.len() + 8);
    for line in text.split_inclusive('\n') {
        let bare = line.strip_suffix('\n').unwrap_or(line);
        let inner = bare.trim_start_matches(' ');
        let is_code = bare.len() - inner.len() > 3;
        let run = if is_code { "" } else { leading_fence(inner) };
        let rest = inner.get(run.len()..).unwrap_or_default();
        if !open.is_empty() {
            if run.starts_with(open) && rest.chars().all(is_blank) {
                open = "";
            }
        } else if !run.is_empty() && (run.starts_with('~') || !rest.contains('`')) {
            open = run;
        } else if !is_code && begins_block(inner) {
            all.push_str(&line[..bare.len() - inner.len()]);
            all.push('\\');
            all.push_str(&line[bare.len() - inner.len()..]);
            continue;
        }
        all.push_str(line);
    }
    if !open.is_empty() {
        all.push('\n');
        all.push_str(open);
    }
    all
}

/// Returns the fence that a line begins with.
fn leading_fence(line: &str) -> &str {
    let sign = if line.starts_with('~') { '~' } else { '`' };
    let run = &line[..line.len() - line.trim_start_matches(sign).len()];
    if run.len() < 3 { "" } else { run }
}

fn begins_block(line: &str) -> bool {
    let Some(tag) = line.strip_prefix('<') else { return false };
    let name = tag.strip_prefix('/').unwrap_or(tag).as_bytes();
    let is_name = |block: &&str| {
        let is_longer =
            name.get(block.len()).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        name.get(..block.len()).is_some_and(|name| name.eq_ignore_ascii_case(block.as_bytes())) && !is_longer
    };
    tag.starts_with(['!', '?']) || OPEN_HTML_BLOCKS.iter().any(is_name)
}

fn one_line(text: &str) -> String {
    text.split(is_blank).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

// The byte order mark is invisible; the next-line character of old terminals is a control, and shown as one.
fn is_blank(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

fn without_carriage_returns(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n").into() } else { text.into() }
}

/// The file may be shown on a terminal, which stored text must not steer: control characters become pictures.
fn show_controls(text: &str) -> String {
    let text = without_carriage_returns(text);
    let (mut shown, mut done) = (String::with_capacity(text.len()), 0);
    for (at, control) in text.char_indices() {
        let picture = match control {
            '\t' | '\n' => continue,
            '\0'..' ' => char::from_u32(0x2400 + u32::from(control)).unwrap_or('\u{fffd}'),
            '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
            _ => continue,
        };
        shown.push_str(&text[done..at]);
        shown.push(picture);
        done = at + control.len_utf8();
    }
    shown.push_str(&text[done..]);
    shown
}
