//! Reads messages, in the part common to all shapes: a message is collected piece by piece and ended with its role.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::fields::{BadValue, Field, Fields, describe_value, parse_items};
use crate::json::text::Text;
use crate::record::message::{Assistant, Attachment, Message, Reasoning, Role, Tool, ToolCall};
use crate::shapes::answer_pieces::{AnswerPiece, TEXT_SEPARATOR, assemble};
use crate::shapes::part::read_part;

/// The finished drafts, and the pieces of the next one.
#[derive(Default)]
pub(super) struct DraftReader {
    pub drafts: Vec<Message>,
    pub bad: Vec<BadValue>,
    /// The fields of an answer about itself.
    pub answer_fields: Option<Assistant>,
    /// The names of calls and results without an id, once for each.
    pub names_without_id: Vec<String>,
    /// True if the message answers whether a tool may run, which no model is told.
    pub has_approval: bool,
    pieces: Vec<AnswerPiece>,
    files: Vec<Attachment>,
    results: Vec<Message>,
}

impl DraftReader {
    #[inline(never)]
    pub fn add_text(&mut self, text: Option<Text>) {
        self.pieces.extend(text.filter(|text| !text.is_empty()).map(AnswerPiece::Text));
    }

    #[inline(never)]
    pub fn add_reasoning(&mut self, text: Text, signature: Option<String>, data: Option<String>) {
        if !text.is_empty() || signature.is_some() || data.is_some() {
            self.pieces.push(AnswerPiece::Reasoning(Reasoning { text, signature, data }));
        }
    }

    #[inline(never)]
    pub fn add_call(&mut self, id: String, name: String, arguments: Option<Text>) {
        let arguments = arguments.unwrap_or_else(|| "{}".into());
        self.pieces.push(AnswerPiece::Call(ToolCall { id, name, arguments }));
    }

    pub fn add_file(&mut self, file: Attachment) {
        self.files.push(file);
    }

    #[inline(never)]
    pub fn add_result(&mut self, call_id: String, name: String, is_error: bool, content: Text) {
        let tool = Tool { call_id, name, is_error, ..Tool::default() };
        self.results.push(Message {
            role: Some(Role::Tool),
            content,
            tool: Some(tool),
            ..Message::default()
        });
    }

    /// Returns the tool fields of the result that was read last.
    pub fn newest_tool(&mut self) -> Option<&mut Tool> {
        self.results.last_mut()?.tool.as_mut()
    }

    /// Extends the result that was read last by the text or the parts under this key.
    pub fn extend_result(&mut self, fields: &Fields<'_>, key: &str) {
        let (pieces, files) = (core::mem::take(&mut self.pieces), core::mem::take(&mut self.files));
        let at = self.results.len().saturating_sub(1);
        let before = self.results.last_mut().map(|result| core::mem::take(&mut result.content));
        self.add_text(before);
        self.read_content(fields.raw(key), &fields.path_to(key));
        let content = self.take_joined_text();
        let attachments = core::mem::replace(&mut self.files, files);
        self.pieces = pieces;
        match self.results.get_mut(at) {
            Some(result) => (result.content, result.attachments) = (content, attachments),
            // The answer's step ended, so no result is open.
            None => self.report_missing(fields, key, "texts and files"),
        }
    }

    /// Keeps a part of an unknown kind as text.
    pub fn add_unknown(&mut self, kind: &str, part: &Fields<'_>) {
        let mut said = format!("[{}] {{", if kind.is_empty() { "part" } else { kind });
        for (place, (key, value)) in part.iter().enumerate() {
            said.push_str(if place == 0 { "" } else { "," });
            said.extend([key, ":", value]);
        }
        said.push('}');
        self.add_text(Some(said.into()));
    }

    /// Reads a content: a text, or parts.
    pub fn read_content(&mut self, raw: Option<&str>, path: &str) {
        let Some(raw) = raw.filter(|raw| *raw != "null") else { return };
        if !raw.starts_with('[') {
            let text = Text::decode(raw);
            if text.is_none() {
                self.report_mismatch("a string or an array", path, raw);
            }
            return self.add_text(text);
        }
        for mut fields in self.parse_objects_at(raw, path) {
            let kind = self.take_word_or_empty(&mut fields, &["type"]);
            self.read_part(&kind, fields);
        }
    }

    /// Reads a part of a content.
    pub fn read_part(&mut self, kind: &str, mut fields: Fields<'_>) {
        if !read_part(self, kind, &mut fields) {
            self.add_unknown(kind, &fields);
        }
    }

    /// Ends a message. Results come before the user's text beside them, and after the answer that they belong to.
    pub fn end_message(&mut self, role: Role) {
        self.names_without_id.clear();
        let about = self.answer_fields.take().filter(|_| role == Role::Assistant);
        let is_said = about.is_some() || !self.pieces.is_empty() || !self.files.is_empty();
        let is_silent = about.is_none();
        let is_approval = core::mem::take(&mut self.has_approval) && !is_said && self.results.is_empty();
        if role == Role::Tool && is_approval {
            return;
        }
        if role == Role::Tool && (is_said || self.results.is_empty()) {
            let message = "expected results in what a tool says, but found something else".into();
            self.bad.push(BadValue { message });
        }
        let attachments = core::mem::take(&mut self.files);
        let mut message = Message { role: Some(role), attachments, assistant: about, ..Message::default() };
        if role == Role::Assistant {
            assemble(&mut message, core::mem::take(&mut self.pieces));
            message.assistant = message.assistant.filter(|said| {
                !(is_silent
                    && said.tool_calls.is_empty()
                    && said.reasoning.is_empty()
                    && said.order.is_empty())
            });
        } else {
            message.content = self.take_joined_text();
        }
        let message = (is_said || self.results.is_empty()).then_some(message);
        if role == Role::Assistant {
            self.drafts.extend(message);
            self.drafts.append(&mut self.results);
        } else {
            self.drafts.append(&mut self.results);
            self.drafts.extend(message);
        }
    }

    /// Adds a text unless the message already has it.
    pub fn add_text_once(&mut self, text: Option<Text>) {
        let is_it =
            |piece: &AnswerPiece| matches!(piece, AnswerPiece::Text(said) if Some(said) == text.as_ref());
        if !self.pieces.iter().any(is_it) {
            self.add_text(text);
        }
    }

    /// True if nothing was collected since the last message ended.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.files.is_empty() && self.results.is_empty()
    }

    // Fields that only answers have would be lost in another role's message.
    fn take_joined_text(&mut self) -> Text {
        let mut texts = Vec::new();
        for piece in core::mem::take(&mut self.pieces) {
            let found = match piece {
                AnswerPiece::Text(text) => {
                    texts.push(text);
                    continue;
                }
                AnswerPiece::Reasoning(_) => "reasoning",
                AnswerPiece::Call(_) => "a call of a tool",
            };
            let message = format!("expected {found} in what an assistant says alone, but found it elsewhere");
            self.bad.push(BadValue { message });
        }
        Text::join(texts, TEXT_SEPARATOR)
    }
}

/// Reads fields in the terms of any provider.
impl DraftReader {
    fn report_mismatch(&mut self, what: &str, path: &str, raw: &str) {
        let found = describe_value(raw, what);
        self.bad
            .push(BadValue { message: format!("expected {what} for \"{path}\", but found {found} instead") });
    }

    /// Reports that a required value is missing.
    #[cold]
    #[inline(never)]
    pub fn report_missing(&mut self, fields: &Fields<'_>, key: &str, what: &str) {
        let path = fields.path_to(key);
        match fields.raw(key).filter(|raw| *raw != "[]") {
            Some(raw) => self.report_mismatch(what, &path, raw),
            None => {
                self.bad.push(BadValue { message: format!("expected {what} for \"{path}\", but found none") })
            }
        }
    }

    /// Takes the string under the first of these keys that is present.
    #[inline(never)]
    pub fn take_text(&mut self, fields: &mut Fields<'_>, keys: &[&str]) -> Option<Text> {
        keys.iter().find_map(|key| fields.take(key, &mut self.bad))
    }

    /// Like [`DraftReader::take_text`], for a value that is not prose.
    #[inline(never)]
    pub fn take_word(&mut self, fields: &mut Fields<'_>, keys: &[&str]) -> Option<String> {
        let (key, text) =
            keys.iter().find_map(|key| Some((key, fields.take::<Text>(key, &mut self.bad)?)))?;
        Some(self.checked_string(&fields.path_to(key), &text))
    }

    /// Like [`DraftReader::take_word`], but leaves the field in place.
    pub fn peek_word(&mut self, fields: &Fields<'_>, keys: &[&str]) -> Option<String> {
        let (key, raw) =
            keys.iter().find_map(|key| Some((key, fields.raw(key).filter(|raw| *raw != "null")?)))?;
        let path = fields.path_to(key);
        let text = Text::read(raw, &path, &mut self.bad)?;
        Some(self.checked_string(&path, &text))
    }

    fn checked_string(&mut self, key: &str, text: &Text) -> String {
        if text.has_lone_surrogates() {
            let message = format!(
                "expected whole characters for \"{key}\", but found half of a surrogate pair instead"
            );
            self.bad.push(BadValue { message });
        }
        text.as_str().into()
    }

    /// Like [`DraftReader::take_word`], with an empty word if it is absent.
    pub fn take_word_or_empty(&mut self, fields: &mut Fields<'_>, keys: &[&str]) -> String {
        self.take_word(fields, keys).unwrap_or_default()
    }

    /// Takes the text under a required key.
    #[inline(never)]
    pub fn take_required_text(&mut self, fields: &mut Fields<'_>, key: &str) -> Option<Text> {
        let text = self.take_text(fields, &[key]);
        if text.is_none() {
            self.report_missing(fields, key, "a string");
        }
        text
    }

    /// Takes a word without which the call or the tool would be unknown.
    #[inline(never)]
    pub fn take_required_word(&mut self, fields: &mut Fields<'_>, key: &str) -> String {
        let is_there = fields.raw(key).is_some_and(|raw| raw.starts_with('"') && raw != "\"\"");
        if !is_there {
            self.report_missing(fields, key, "a string that is not empty");
        }
        self.take_word_or_empty(fields, &[key])
    }

    /// Returns the object under a key.
    #[inline(never)]
    pub fn inner_object<'a>(&mut self, fields: &Fields<'a>, key: &str) -> Option<Fields<'a>> {
        let raw = fields.raw(key).filter(|raw| *raw != "null")?;
        Fields::parse_at(&fields.path_to(key), raw, &mut self.bad)
    }

    /// Returns the objects of the array under a key.
    pub fn inner_objects<'a>(&mut self, fields: &Fields<'a>, key: &str) -> Vec<Fields<'a>> {
        let raw = fields.raw(key).filter(|raw| *raw != "null");
        raw.map(|raw| self.parse_objects_at(raw, &fields.path_to(key))).unwrap_or_default()
    }

    fn parse_objects_at<'a>(&mut self, raw: &'a str, path: &str) -> Vec<Fields<'a>> {
        let mut all = Vec::new();
        if !raw.starts_with('[') {
            self.report_mismatch("an array", path, raw);
        }
        for (place, raw) in parse_items(raw).unwrap_or_default().into_iter().enumerate() {
            all.extend(Fields::parse_at(&format!("{path}[{place}]"), raw, &mut self.bad));
        }
        all
    }
}

/// Returns a string's text, or else the JSON itself.
pub(super) fn text_or_json(raw: &str) -> Text {
    Text::decode(raw).unwrap_or_else(|| raw.into())
}

/// Gives results the names of their tools, which some shapes state only with the call.
pub(super) fn name_results(drafts: &mut [Message]) {
    for place in 0..drafts.len() {
        let (before, [draft, ..]) = drafts.split_at_mut(place) else { continue };
        let Some(tool) = draft.tool.as_mut().filter(|tool| tool.name.is_empty()) else { continue };
        let mut calls = before.iter().rev().flat_map(Message::tool_calls);
        if let Some(call) = calls.find(|call| call.id == tool.call_id) {
            tool.name = call.name.clone();
        }
    }
}
