//! Reads the parts of a content, as Gemini's API has them: Gemini CLI and the clients derived from it store these.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::interop::loss::{ANOTHER_KIND, BYTES_ELSEWHERE};
use crate::interop::object::{LossReasons, Losses, Object};
use crate::json::fields::parse_items;
use crate::json::text::Text;
use crate::record::message::{Attachment, Message, Reasoning, Role, Tool, ToolCall};
use crate::shapes::answer_pieces::{AnswerPiece, TEXT_SEPARATOR};
use crate::shapes::gemini::parse_response;

/// The parts of one content.
#[derive(Default)]
pub(super) struct ContentParts {
    /// Texts, thoughts and calls, in their order.
    pub pieces: Vec<AnswerPiece>,
    /// The answers of functions.
    pub answers: Vec<FunctionAnswer>,
    /// Images and files that belong to no answer.
    pub attachments: Vec<Attachment>,
}

/// A function's answer, and the images and files behind it.
#[derive(Clone, Default)]
pub(super) struct FunctionAnswer {
    pub id: String,
    pub name: String,
    pub is_error: bool,
    pub is_json: bool,
    pub not_run: bool,
    pub exit_code: Option<i64>,
    pub content: Text,
    pub attachments: Vec<Attachment>,
}

impl FunctionAnswer {
    /// Makes the tool message of the answer.
    pub fn into_message(self) -> Message {
        let FunctionAnswer { id, name, is_error, is_json, not_run, exit_code, content, attachments } = self;
        let tool = Tool { call_id: id, name, is_error, is_json, not_run, exit_code, ..Tool::default() };
        let tool = Some(tool);
        Message { role: Some(Role::Tool), content, attachments, tool, ..Message::default() }
    }
}

impl ContentParts {
    /// True if nothing was said.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.answers.is_empty() && self.attachments.is_empty()
    }

    /// Takes the texts, joined; thoughts and calls are left.
    pub fn take_text(&mut self) -> Text {
        let (mut texts, mut rest) = (Vec::new(), Vec::new());
        for piece in core::mem::take(&mut self.pieces) {
            match piece {
                AnswerPiece::Text(text) if text.is_empty() => {}
                AnswerPiece::Text(text) => texts.push(text),
                AnswerPiece::Reasoning(_) | AnswerPiece::Call(_) => rest.push(piece),
            }
        }
        self.pieces = rest;
        Text::join(texts, TEXT_SEPARATOR)
    }
}

/// Parses a content: a text, a part, or an array of both.
pub(super) fn parse_parts(
    path: &str,
    raw: Option<&str>,
    losses: &mut Losses,
    reasons: LossReasons,
) -> ContentParts {
    let mut parts = ContentParts::default();
    match raw {
        None | Some("null") => {}
        Some(raw) if raw.starts_with('[') => {
            let path = format!("{path}[]");
            match parse_items(raw) {
                Some(items) => {
                    items.into_iter().for_each(|item| parts.take_part(&path, item, losses, reasons))
                }
                None => losses.add(path, ANOTHER_KIND),
            }
        }
        Some(raw) => parts.take_part(path, raw, losses, reasons),
    }
    parts
}

impl ContentParts {
    fn take_part(&mut self, path: &str, raw: &str, losses: &mut Losses, reasons: LossReasons) {
        if let Some(text) = Text::decode(raw) {
            return self.pieces.push(AnswerPiece::Text(text));
        }
        let Ok(mut part) = Object::parse(path, raw) else { return losses.add(path.into(), ANOTHER_KIND) };
        self.take_pieces(&mut part, losses);
        if let Some(call) = part.take_object("functionCall", losses) {
            self.pieces.push(AnswerPiece::Call(take_call(call, losses, reasons)));
        }
        if let Some(answer) = part.take_object("functionResponse", losses) {
            self.answers.push(take_answer(answer, losses, reasons));
        }
        for key in ["inlineData", "fileData"] {
            let Some(file) = part.take_object(key, losses) else { continue };
            let attachment = take_attachment(file, key, losses, reasons);
            let into = match self.answers.last_mut() {
                Some(answer) => &mut answer.attachments,
                None => &mut self.attachments,
            };
            into.extend(attachment);
        }
        part.report_rest_lost(losses, reasons);
    }

    // A signature may stand at any part, for the thought before it.
    fn take_pieces(&mut self, part: &mut Object<'_>, losses: &mut Losses) {
        let is_thought = part.take("thought", losses) == Some(true);
        let signature: Option<String> = part.take("thoughtSignature", losses);
        let text: Option<Text> = part.take("text", losses);
        let (thought, text) = if is_thought { (text, None) } else { (None, text) };
        if thought.is_some() || signature.is_some() {
            let text = thought.unwrap_or_default();
            self.pieces.push(AnswerPiece::Reasoning(Reasoning { text, signature, data: None }));
        }
        self.pieces.extend(text.map(AnswerPiece::Text));
    }
}

fn take_call(mut call: Object<'_>, losses: &mut Losses, reasons: LossReasons) -> ToolCall {
    let called = ToolCall {
        id: call.take("id", losses).unwrap_or_default(),
        name: call.take("name", losses).unwrap_or_default(),
        arguments: call.take_raw("args").filter(|raw| *raw != "null").unwrap_or("{}").into(),
    };
    call.report_rest_lost(losses, reasons);
    called
}

fn take_answer(mut answer: Object<'_>, losses: &mut Losses, reasons: LossReasons) -> FunctionAnswer {
    let (is_error, is_json, content) = parse_response(answer.take_raw("response").unwrap_or("{}"));
    let mut answered = FunctionAnswer {
        id: answer.take("id", losses).unwrap_or_default(),
        name: answer.take("name", losses).unwrap_or_default(),
        is_error,
        is_json,
        content,
        ..FunctionAnswer::default()
    };
    for (_, mut part) in answer.take_objects("parts", losses) {
        for key in ["inlineData", "fileData"] {
            let file = part.take_object(key, losses);
            answered.attachments.extend(file.and_then(|file| take_attachment(file, key, losses, reasons)));
        }
        part.report_rest_lost(losses, reasons);
    }
    answer.report_rest_lost(losses, reasons);
    answered
}

// Takes bytes that stand in the file itself, or a path: an address would make a viewer ask the network.
fn take_attachment(
    mut file: Object<'_>,
    key: &str,
    losses: &mut Losses,
    reasons: LossReasons,
) -> Option<Attachment> {
    let mime = file.take("mimeType", losses).unwrap_or_default();
    let name = file.take("displayName", losses);
    let is_inline = key == "inlineData";
    let source = if is_inline { "data" } else { "fileUri" };
    let place: Option<String> = file.take(source, losses);
    let found = match place {
        Some(place) if !is_inline && place.contains("://") => {
            file.report_lost(source, BYTES_ELSEWHERE, losses);
            None
        }
        Some(data) if is_inline => Some(Attachment { mime, name, data: Some(data), ..Attachment::default() }),
        Some(path) => Some(Attachment { mime, name, path: Some(path), ..Attachment::default() }),
        None => None,
    };
    file.report_rest_lost(losses, reasons);
    found
}
