//! Reads what a task showed: `ui_messages.json`.
//!
//! The first text is the task, the others are the model's. An answer begins where a request to the provider begins, or
//! after the user or a tool has spoken; the tools and commands that it shows are calls, which have no ids here.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::interop::attachment_address::attachment_from_address;
use crate::interop::cline::table::REASONS;
use crate::interop::conversation::{ConversationBuilder, RecordOrigin};
use crate::interop::lines::span_of;
use crate::interop::{Losses, Object};
use crate::json::text::{Text, to_json};
use crate::record::message::{Assistant, Attachment, Message, Reasoning, Role, Tool, ToolCall, Usage};
use crate::shapes::answer_pieces::AnswerPiece;
use crate::time;

/// Reads the entries that were shown.
pub(super) fn read(talk: &mut ConversationBuilder, entries: &[&str], bytes: &[u8]) {
    let mut shown = UiReader { answer: None, usage: None, command: None };
    let kinds: Vec<String> = entries.iter().map(|json| entry_kind(json)).collect();
    for (at, json) in entries.iter().enumerate() {
        let Ok(mut object) = Object::parse("shown", json) else {
            talk.losses.add("shown".into(), "the item is not an object");
            continue;
        };
        let losses = &mut talk.losses;
        let kind = kinds[at].as_str();
        // A piece of a text that stands again behind it, longer.
        let is_piece = object.take::<bool>("partial", losses) == Some(true)
            && kinds.get(at + 1).is_some_and(|next| next == kind);
        if is_piece || !is_read_kind(kind) {
            let why = if is_piece { "a beginning of the next text" } else { "the record is not a message" };
            losses.add(format!("record:{kind}"), why);
            continue;
        }
        let ts = object.take_ms("ts", losses);
        for name in ["type", "say", "ask"] {
            object.take_raw(name);
        }
        let place = span_of(bytes, json);
        let native = ts.map_or_else(|| format!("byte-{}", place.start), |ts| format!("{ts}"));
        let origin = RecordOrigin { native, ..RecordOrigin::from_place(place, ts.map(time::format)) };
        let text: Text = object.take("text", losses).unwrap_or_default();
        let attachments = images(&mut object, losses);
        object.report_rest_lost(losses, REASONS);
        let is_first = talk.is_empty();
        shown.read_entry(talk, UiEntry { kind, text, attachments, origin, is_first });
    }
}

fn entry_kind(json: &str) -> String {
    let quiet = &mut Losses::default();
    let Ok(mut object) = Object::parse("", json) else { return String::new() };
    let way: String = object.take("type", quiet).unwrap_or_default();
    let what: String = object.take(&way, quiet).unwrap_or_default();
    format!("{way}/{what}")
}

fn is_read_kind(kind: &str) -> bool {
    matches!(
        kind,
        "say/text"
            | "say/task"
            | "say/user_feedback"
            | "say/user_feedback_diff"
            | "say/reasoning"
            | "say/completion_result"
            | "say/tool"
            | "ask/tool"
            | "say/command"
            | "ask/command"
            | "say/command_output"
            | "ask/command_output"
            | "ask/followup"
            | "ask/plan_mode_respond"
            | "say/api_req_started"
    )
}

fn images(object: &mut Object<'_>, losses: &mut Losses) -> Vec<Attachment> {
    let images: Vec<String> = object.take("images", losses).unwrap_or_default();
    images.iter().filter_map(|address| attachment_from_address(address, None, None)).collect()
}

struct UiEntry<'a> {
    kind: &'a str,
    text: Text,
    attachments: Vec<Attachment>,
    origin: RecordOrigin,
    is_first: bool,
}

struct UiReader {
    // The answer that is being read.
    answer: Option<usize>,
    usage: Option<Usage>,
    // The last command, until its output is there.
    command: Option<String>,
}

impl UiReader {
    fn read_entry(&mut self, talk: &mut ConversationBuilder, entry: UiEntry<'_>) {
        let UiEntry { kind, text, attachments, origin, is_first } = entry;
        match kind {
            "say/api_req_started" => {
                self.answer = None;
                self.usage = usage(text.as_str());
            }
            "say/text" if !is_first => self.add_piece(talk, AnswerPiece::Text(text), origin),
            "say/text" | "say/task" | "say/user_feedback" | "say/user_feedback_diff" => {
                self.answer = None;
                if !text.is_empty() || !attachments.is_empty() {
                    let role = Some(Role::User);
                    talk.add(Message { role, content: text, attachments, ..Message::default() }, origin);
                }
            }
            "say/reasoning" => {
                self.add_piece(
                    talk,
                    AnswerPiece::Reasoning(Reasoning { text, ..Reasoning::default() }),
                    origin,
                );
            }
            "say/tool" | "ask/tool" => {
                let name = string_field(text.as_str(), "tool").unwrap_or_default();
                self.add_call(talk, ToolCall { id: String::new(), name, arguments: text }, origin);
            }
            "say/command" | "ask/command" => {
                let arguments = format!("{{\"command\":{}}}", to_json(&text)).into();
                let id = format!("command-{}", origin.native);
                self.command = Some(id.clone());
                self.add_call(talk, ToolCall { id, name: "execute_command".into(), arguments }, origin);
            }
            "say/command_output" | "ask/command_output" => self.add_output(talk, text, origin),
            "ask/followup" | "ask/plan_mode_respond" => {
                let question = string_field(text.as_str(), "question")
                    .or_else(|| string_field(text.as_str(), "response"));
                self.add_piece(talk, AnswerPiece::Text(question.map_or(text, Text::from)), origin);
            }
            _ => self.add_piece(talk, AnswerPiece::Text(text), origin),
        }
    }

    fn add_piece(&mut self, talk: &mut ConversationBuilder, piece: AnswerPiece, origin: RecordOrigin) {
        let bytes = origin.place.end - origin.place.start;
        let (at, more) = match self.answer {
            Some(at) => (at, bytes),
            None => {
                let assistant = Assistant { usage: self.usage.take(), ..Assistant::default() };
                let role = Some(Role::Assistant);
                (talk.add(Message { role, assistant: Some(assistant), ..Message::default() }, origin), 0)
            }
        };
        self.answer = Some(at);
        talk.extend(at, Vec::from([piece]), more);
    }

    // A call without an id has no result here, and must not take another's.
    fn add_call(&mut self, talk: &mut ConversationBuilder, mut call: ToolCall, origin: RecordOrigin) {
        if call.id.is_empty() {
            call.id = format!("tool-{}", origin.native);
        }
        self.add_piece(talk, AnswerPiece::Call(call), origin);
    }

    // The output comes in pieces, each an entry.
    fn add_output(&mut self, talk: &mut ConversationBuilder, text: Text, origin: RecordOrigin) {
        if text.is_empty() {
            return;
        }
        self.answer = None;
        let call_id = self.command.clone().unwrap_or_default();
        let tool = Some(Tool { call_id, name: "execute_command".into(), ..Tool::default() });
        talk.add(Message { role: Some(Role::Tool), content: text, tool, ..Message::default() }, origin);
    }
}

fn string_field(json: &str, key: &str) -> Option<String> {
    Object::parse("", json).ok()?.take(key, &mut Losses::default())
}

fn usage(json: &str) -> Option<Usage> {
    let quiet = &mut Losses::default();
    let mut counts = Object::parse("", json).ok()?;
    let usage = Usage {
        input: counts.take("tokensIn", quiet),
        output: counts.take("tokensOut", quiet),
        cache_read: counts.take("cacheReads", quiet),
        cache_write: counts.take("cacheWrites", quiet),
        ..Usage::default()
    };
    (usage.input.is_some() || usage.output.is_some()).then_some(usage)
}
