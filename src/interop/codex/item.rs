//! Reads items: the messages to the model, and its answers.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::interop::attachment_address::attachment_from_address;
use crate::interop::codex::duplicates::RecordSource;
use crate::interop::codex::table::REASONS;
use crate::interop::codex::{BY_PROVIDER_KEY, CUSTOM_KEY, Reader, Record, TOOL_SEARCH_KEY};
use crate::interop::conversation::{RecordOrigin, build_flags};
use crate::interop::loss::{ANOTHER_KIND, BYTES_ELSEWHERE, UNKNOWN_BLOCK};
use crate::interop::plain_content::PlainContent;
use crate::interop::{Losses, Object};
use crate::json::fields::Field;
use crate::json::text::Text;
use crate::plain::wrapping::is_about_place;
use crate::record::message::{Attachment, Message, Reasoning, Role, Tool, ToolCall};
use crate::shapes::answer_pieces::{AnswerPiece, TEXT_SEPARATOR};

impl Reader {
    /// Reads an item; returns false if it was listed as lost as a whole.
    pub(super) fn read_item(&mut self, record: Record<'_>, kind: &str, path: &str) -> bool {
        match kind {
            "message" => self.read_message(record),
            "reasoning" => self.read_reasoning(record),
            "function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call" | "tool_call" => {
                self.read_call(record, kind);
            }
            "function_call_output"
            | "custom_tool_call_output"
            | "tool_search_output"
            | "tool_result"
            | "function_result" => self.read_result(record, kind),
            "web_search_call" => self.read_search(record),
            "image_generation_call" => self.read_picture(record),
            "agent_message" => self.read_agent_message(record),
            _ => return self.report_lost_record(path),
        }
        true
    }

    fn read_message(&mut self, record: Record<'_>) {
        let Record { mut payload, mut origin } = record;
        let losses = &mut self.talk.losses;
        let role: Option<String> = payload.take("role", losses);
        self.model = payload.take_name("model", losses).or(self.model.take());
        let parts = first_non_empty(
            take_plain_content(&mut payload, "content", losses),
            take_plain_content(&mut payload, "message", losses),
        );
        payload.report_rest_lost(losses, REASONS);
        let role = match role.as_deref() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("system") => Role::System,
            Some("developer") => {
                origin.flags = build_flags(&["isDeveloper"]);
                Role::System
            }
            _ => return losses.add("response_item/message.payload.role".into(), ANOTHER_KIND),
        };
        if role == Role::Assistant {
            for text in parts.texts {
                self.add_item_answer(text, origin.clone());
            }
            return;
        }
        let text: String = Text::join(parts.texts, TEXT_SEPARATOR).as_str().into();
        if let Some(at) = self.duplicates.take_duplicate(RecordSource::Item, role, &text) {
            self.talk.drafts[at].message.attachments = parts.attachments;
            return;
        }
        let content = text.as_str().into();
        let message =
            Message { role: Some(role), content, attachments: parts.attachments, ..Message::default() };
        let at = if role == Role::System {
            self.add_message(message, origin)
        } else if is_about_place(&text) || text.starts_with("<user_shell_command") {
            self.add_message(message, RecordOrigin { flags: build_flags(&["isMeta"]), ..origin })
        } else {
            self.add_prompt(message, origin)
        };
        self.duplicates.note_message(RecordSource::Item, role, text, at);
    }

    fn add_item_answer(&mut self, text: Text, origin: RecordOrigin) {
        let key = String::from(text.as_str());
        if text.is_empty()
            || self.duplicates.take_duplicate(RecordSource::Item, Role::Assistant, &key).is_some()
        {
            return;
        }
        let at = self.add_answer_piece(AnswerPiece::Text(text), origin);
        self.duplicates.note_message(RecordSource::Item, Role::Assistant, key, at);
    }

    fn read_reasoning(&mut self, record: Record<'_>) {
        let Record { mut payload, origin } = record;
        let losses = &mut self.talk.losses;
        let summary = take_plain_content(&mut payload, "summary", losses);
        let content = first_non_empty(take_plain_content(&mut payload, "content", losses), summary);
        let data = payload.take("encrypted_content", losses);
        payload.report_rest_lost(losses, REASONS);
        let text = Text::join(content.texts, TEXT_SEPARATOR);
        if !text.is_empty() || data.is_some() {
            self.add_answer_piece(AnswerPiece::Reasoning(Reasoning { text, signature: None, data }), origin);
        }
    }

    fn read_call(&mut self, record: Record<'_>, kind: &str) {
        let Record { mut payload, origin } = record;
        let losses = &mut self.talk.losses;
        let id = take_id(&mut payload, losses);
        self.apply_earlier_end(&id);
        let losses = &mut self.talk.losses;
        // The first versions named the function inside an object.
        let function = payload.take_object("function", losses);
        let inner = function.and_then(|mut function| {
            let name = function.take("name", losses);
            function.report_rest_lost(losses, REASONS);
            name
        });
        let name: Option<String> = payload.take("name", losses).or(inner);
        let (name, key) = match kind {
            "local_shell_call" => ("local_shell".into(), "action"),
            "tool_search_call" => ("tool_search".into(), "arguments"),
            "custom_tool_call" => (name.unwrap_or_default(), "input"),
            _ => (name.unwrap_or_default(), "arguments"),
        };
        let arguments = payload.take_arguments(key, losses);
        payload.report_rest_lost(losses, REASONS);
        self.add_answer_piece(AnswerPiece::Call(ToolCall { id, name, arguments }), origin);
    }

    fn read_result(&mut self, record: Record<'_>, kind: &str) {
        let Record { mut payload, mut origin } = record;
        match kind {
            "custom_tool_call_output" => origin.flags = build_flags(&[CUSTOM_KEY]),
            "tool_search_output" => origin.flags = build_flags(&[TOOL_SEARCH_KEY]),
            _ => {}
        }
        let losses = &mut self.talk.losses;
        let call_id = take_id(&mut payload, losses);
        let name = payload.take("name", losses).unwrap_or_default();
        let mut is_error = false;
        let mut content = PlainContent::default();
        for key in ["output", "result", "tools"] {
            let inner = payload.raw(key).filter(|raw| raw.starts_with('{'));
            let mut inner = inner.and_then(|raw| Object::parse("", raw).ok());
            is_error |= inner
                .as_mut()
                .is_some_and(|inner| inner.take::<bool>("success", &mut Losses::default()) == Some(false));
            content = first_non_empty(take_output(&mut payload, key, losses), content);
        }
        payload.report_rest_lost(losses, REASONS);
        let tool = Tool { call_id, name, is_error, ..Tool::default() };
        self.add_message(Message { tool: Some(tool), ..content.into_message(Role::Tool) }, origin);
    }

    // The provider searches by itself: what it found is not recorded, only that it did.
    fn read_search(&mut self, record: Record<'_>) {
        let Record { mut payload, origin } = record;
        let losses = &mut self.talk.losses;
        let id: String = payload.take("id", losses).unwrap_or_else(|| origin.native.clone());
        let arguments = payload.take_arguments("action", losses);
        let status: Text = payload.take("status", losses).unwrap_or_default();
        payload.report_rest_lost(losses, REASONS);
        let content = PlainContent { texts: Vec::from([status]), ..PlainContent::default() };
        self.add_provider_call(ToolCall { id, name: "web_search".into(), arguments }, content, origin);
    }

    fn read_picture(&mut self, record: Record<'_>) {
        let Record { mut payload, origin } = record;
        let losses = &mut self.talk.losses;
        let id: String = payload.take("id", losses).unwrap_or_else(|| origin.native.clone());
        let prompt: String = payload.take("revised_prompt", losses).unwrap_or_default();
        let status: Text = payload.take("status", losses).unwrap_or_default();
        let data: Option<String> = payload.take("result", losses);
        payload.report_rest_lost(losses, REASONS);
        let data = data.filter(|data| !data.is_empty() && data.bytes().all(is_base64));
        let picture =
            |data| Attachment { mime: "image/png".into(), data: Some(data), ..Attachment::default() };
        let content =
            PlainContent { texts: Vec::from([status]), attachments: data.map(picture).into_iter().collect() };
        let arguments = serde_json::json!({ "prompt": prompt });
        let arguments = Text::from(format!("{arguments}"));
        self.add_provider_call(ToolCall { id, name: "image_generation".into(), arguments }, content, origin);
    }

    fn add_provider_call(&mut self, call: ToolCall, content: PlainContent, origin: RecordOrigin) {
        let tool = Tool { call_id: call.id.clone(), name: call.name.clone(), ..Tool::default() };
        self.add_answer_piece(AnswerPiece::Call(call), origin.clone());
        let origin = RecordOrigin { flags: build_flags(&[BY_PROVIDER_KEY]), ..origin };
        self.add_message(Message { tool: Some(tool), ..content.into_message(Role::Tool) }, origin);
    }

    // Reads a message from another agent.
    fn read_agent_message(&mut self, record: Record<'_>) {
        let Record { mut payload, origin } = record;
        let losses = &mut self.talk.losses;
        let content = take_plain_content(&mut payload, "content", losses);
        payload.report_rest_lost(losses, REASONS);
        self.add_message(
            content.into_message(Role::User),
            RecordOrigin { flags: build_flags(&["isMeta"]), ..origin },
        );
    }

    /// Adds a user's message; a turn begins with it.
    pub(super) fn add_prompt(&mut self, message: Message, origin: RecordOrigin) -> usize {
        let at = self.add_message(message, origin);
        self.prompts.push(at);
        self.duplicates.forget(Role::Assistant);
        at
    }
}

fn take_id(payload: &mut Object<'_>, losses: &mut Losses) -> String {
    payload.take("call_id", losses).or_else(|| payload.take("id", losses)).unwrap_or_default()
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

fn first_non_empty(one: PlainContent, other: PlainContent) -> PlainContent {
    if one.is_empty() { other } else { one }
}

// Takes a string, a block or blocks.
fn take_plain_content(payload: &mut Object<'_>, key: &str, losses: &mut Losses) -> PlainContent {
    let mut plain = PlainContent::default();
    match payload.raw(key) {
        Some(raw) if raw.starts_with('"') => plain.texts.extend(payload.take(key, losses)),
        Some(raw) if raw.starts_with('[') => {
            for (kind, block) in payload.take_blocks(key, losses) {
                add_block(&mut plain, &kind, block, losses);
            }
        }
        Some(raw) if raw.starts_with('{') => {
            if let Some(mut block) = payload.take_object(key, losses) {
                let kind: String = block.take("type", losses).unwrap_or_default();
                add_block(&mut plain, &kind, block, losses);
            }
        }
        Some(_) => drop(payload.take_raw(key)),
        None => {}
    }
    plain
}

// Takes a tool's output: a block, blocks, a text, or JSON of its own.
fn take_output(payload: &mut Object<'_>, key: &str, losses: &mut Losses) -> PlainContent {
    let raw = payload.raw(key).filter(|raw| *raw != "null");
    let is_typed = |raw: &str| Object::parse("", raw).is_ok_and(|object| object.has("type"));
    let is_known = raw.is_none_or(|raw| {
        raw.starts_with('"') || is_typed(raw) || (raw.starts_with('[') && raw.contains("\"input_"))
    });
    if is_known {
        return take_plain_content(payload, key, losses);
    }
    payload.take_raw(key);
    let content = raw.and_then(|raw| Object::parse("", raw).ok()).and_then(|object| {
        let content = object.raw("content")?;
        Text::read(content, "", &mut Vec::new())
    });
    let texts = content.or_else(|| raw.map(Text::from)).into_iter().collect();
    PlainContent { texts, ..PlainContent::default() }
}

fn add_block(plain: &mut PlainContent, kind: &str, mut block: Object<'_>, losses: &mut Losses) {
    match kind {
        "input_text" | "output_text" | "text" | "summary_text" | "reasoning_text" => {
            let text = block.take("text", losses);
            plain.texts.extend(text.filter(|text: &Text| !text.is_empty()));
        }
        "input_image" => {
            let url: Option<String> = block.take("image_url", losses);
            match url.as_deref().map(inline_attachment) {
                Some(Some(picture)) => plain.attachments.push(picture),
                Some(None) => block.report_lost("image_url", BYTES_ELSEWHERE, losses),
                None => {}
            }
        }
        _ => return block.report_whole_lost(UNKNOWN_BLOCK, losses),
    }
    block.report_rest_lost(losses, REASONS);
}

// Only bytes that stand in the file itself.
fn inline_attachment(url: &str) -> Option<Attachment> {
    attachment_from_address(url, None, None).filter(|file| file.data.is_some())
}
