//! Reads Continue's sessions: `<sessions>/<id>.json`, one document each.
//!
//! Its messages have no ids and no times: an id is made from the place and the words of a message. The results of calls
//! stand in the states beside an answer, or in messages of their own; if both are there, the messages are read.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::error::{Code, Error};
use crate::interop::attachment_address::attachment_from_address;
use crate::interop::conversation::{ConversationBuilder, RecordOrigin, set_flag};
use crate::interop::lines::{reject_empty, require_sessions, span_of};
use crate::interop::loss::{BYTES_ELSEWHERE, UNKNOWN_BLOCK, UNKNOWN_MESSAGE};
use crate::interop::{AgentName, Coverage, Import, LossReasons, Losses, Object};
use crate::json::hash::sha256;
use crate::json::text::Text;
use crate::record::message::{Assistant, Attachment, Message, Reasoning, Role, Tool, ToolCall, Usage};
use crate::shapes::answer_pieces::{AnswerPiece, TEXT_SEPARATOR};

/// The reader's coverage.
pub const COVERAGE: Coverage = Coverage {
    tested_versions: &["1.5.47"],
    mapped_fields: &[
        "session.sessionId",
        "session.title",
        "session.workspaceDirectory",
        "session.history",
        "session.history[]",
        "session.history[].message",
        "session.history[].message.role",
        "session.history[].message.content",
        "session.history[].message.content[text]",
        "session.history[].message.content[text].type",
        "session.history[].message.content[text].text",
        "session.history[].message.content[imageUrl]",
        "session.history[].message.content[imageUrl].type",
        "session.history[].message.content[imageUrl].imageUrl",
        "session.history[].message.content[imageUrl].imageUrl.url",
        "session.history[].message.signature",
        "session.history[].message.redactedThinking",
        "session.history[].message.toolCallId",
        "session.history[].message.toolCalls",
        "session.history[].message.toolCalls[function]",
        "session.history[].message.toolCalls[function].id",
        "session.history[].message.toolCalls[function].type",
        "session.history[].message.toolCalls[function].function",
        "session.history[].message.toolCalls[function].function.name",
        "session.history[].message.toolCalls[function].function.arguments",
        "session.history[].message.usage",
        "session.history[].message.usage.model",
        "session.history[].message.usage.prompt_tokens",
        "session.history[].message.usage.completion_tokens",
        "session.history[].message.usage.prompt_tokens_details",
        "session.history[].message.usage.prompt_tokens_details.cached_tokens",
        "session.history[].contextItems",
        "session.history[].contextItems[]",
        "session.history[].contextItems[].name",
        "session.history[].contextItems[].content",
        "session.history[].contextItems[].uri",
        "session.history[].contextItems[].uri.value",
        "session.history[].reasoning",
        "session.history[].reasoning.text",
        "session.history[].conversationSummary",
        "session.history[].toolCallState",
        "session.history[].toolCallStates",
        "session.history[].toolCallStates[]",
        "session.history[].toolCallStates[].toolCallId",
        "session.history[].toolCallStates[].status",
        "session.history[].toolCallStates[].output",
        "session.history[].toolCallStates[].output[]",
        "session.history[].toolCallStates[].output[].content",
    ],
    whole_fields: &[],
};

const DISPLAY_ONLY: &str = "only says how it is displayed";

const REASONS: LossReasons = &[
    ("session.usage", "follows from other fields"),
    ("session.history[].editorState", "repeats the message, as typed"),
    ("session.history[].promptLogs", "repeats the request and the answer"),
    ("session.history[].message.usage.total_tokens", "follows from other fields"),
    ("session.history[].toolCallStates[].toolCall", "repeats the call"),
    ("session.history[].toolCallStates[].parsedArgs", "repeats the call's arguments"),
    ("session.history[].toolCallStates[].output[].name", DISPLAY_ONLY),
    ("session.history[].toolCallStates[].output[].description", DISPLAY_ONLY),
    ("session.history[].contextItems[].description", DISPLAY_ONLY),
];

/// True if these bytes are a session of Continue.
pub(crate) fn can_read(bytes: &[u8]) -> bool {
    Object::parse_document("", bytes).is_some_and(|document| is_session(&document))
}

fn is_session(document: &Object<'_>) -> bool {
    let is_list = document.raw("history").is_some_and(|history| history.starts_with('['));
    is_list && document.has("sessionId") && document.has("workspaceDirectory")
}

/// Reads a session.
///
/// # Errors
/// `empty_file`, also if nothing was said; `unknown_format` if it is no session of Continue.
pub fn read(bytes: &[u8]) -> Result<Import, Error> {
    reject_empty(bytes, AgentName::Continue)?;
    let document = Object::parse_document("session", bytes).filter(is_session);
    let mut document = document.ok_or_else(|| {
        let message = "expected a session of continue, but found something else instead";
        Error::new(Code::UnknownFormat, message)
    })?;
    let mut reader = Reader {
        talk: ConversationBuilder::new(AgentName::Continue),
        answered_calls: BTreeSet::new(),
        thoughts: Vec::new(),
    };
    let ConversationBuilder { session, losses, .. } = &mut reader.talk;
    session.source_id = document.take("sessionId", losses).unwrap_or_default();
    session.title = document.take("title", losses);
    let folder: Option<String> = document.take("workspaceDirectory", losses);
    session.folder =
        folder.and_then(|folder| attachment_from_address(&folder, None, None)).and_then(|folder| folder.path);
    let history = document.take_objects("history", losses);
    document.report_rest_lost(losses, REASONS);
    for (_, item) in &history {
        let quiet = &mut Losses::default();
        let message = item.raw("message").and_then(|raw| Object::parse("", raw).ok());
        reader
            .answered_calls
            .extend(message.and_then(|mut message| message.take::<String>("toolCallId", quiet)));
    }
    for (at, (json, item)) in history.into_iter().enumerate() {
        let message_json = item.raw("message").unwrap_or_default();
        let origin = RecordOrigin {
            native: format!("{at}/{}", sha256(message_json.as_bytes())),
            ..RecordOrigin::from_place(span_of(bytes, json), None)
        };
        reader.read_item(item, origin);
    }
    reader.flush_thoughts(&RecordOrigin { native: "thoughts".into(), ..RecordOrigin::default() });
    let mut problems = Vec::new();
    let session = reader.talk.finish(&mut problems);
    let sessions = Vec::from_iter(Some(session).filter(|session| !session.messages.is_empty()));
    require_sessions(Import { sessions, problems }, bytes, AgentName::Continue, true)
}

struct Reader {
    talk: ConversationBuilder,
    // The calls whose results are messages of their own.
    answered_calls: BTreeSet<String>,
    // Reasoning that stands before the answer that it belongs to.
    thoughts: Vec<AnswerPiece>,
}

impl Reader {
    fn read_item(&mut self, mut item: Object<'_>, origin: RecordOrigin) {
        let losses = &mut self.talk.losses;
        let Some(mut message) = item.take_object("message", losses) else {
            return item.report_rest_lost(losses, REASONS);
        };
        let role: String = message.take("role", losses).unwrap_or_default();
        let (content, mut attachments) = take_content(&mut message, losses);
        attachments.extend(take_context_items(&mut item, losses));
        if let Some(mut reasoning) = item.take_object("reasoning", losses) {
            let text = reasoning.take("text", losses).unwrap_or_default();
            self.thoughts.push(AnswerPiece::Reasoning(Reasoning { text, ..Reasoning::default() }));
            reasoning.report_rest_lost(losses, REASONS);
        }
        let summary: Option<Text> = item.take("conversationSummary", losses);
        if role != "assistant" && role != "thinking" {
            self.flush_thoughts(&origin);
        }
        let losses = &mut self.talk.losses;
        let plain =
            |role| Message { role: Some(role), content: content.clone(), attachments, ..Message::default() };
        match role.as_str() {
            "user" => drop(self.talk.add(plain(Role::User), origin.clone())),
            "system" => drop(self.talk.add(plain(Role::System), origin.clone())),
            "tool" => {
                let call_id = message.take("toolCallId", losses).unwrap_or_default();
                let tool = Some(Tool { call_id, ..Tool::default() });
                self.talk.add(Message { tool, ..plain(Role::Tool) }, origin.clone());
            }
            "thinking" => self.thoughts.push(AnswerPiece::Reasoning(Reasoning {
                text: content,
                signature: message.take("signature", losses),
                data: message.take("redactedThinking", losses),
            })),
            "assistant" => {
                let message = &mut message;
                self.read_answer(message, content, &origin);
            }
            _ => losses.add(format!("record:{role}"), UNKNOWN_MESSAGE),
        }
        message.report_rest_lost(&mut self.talk.losses, REASONS);
        self.read_call_states(&mut item, &origin);
        item.report_rest_lost(&mut self.talk.losses, REASONS);
        if let Some(content) = summary {
            let mut origin = RecordOrigin { native: format!("{}/summary", origin.native), ..origin };
            set_flag(&mut origin.flags, "isCompactSummary");
            self.talk.add(Message { role: Some(Role::User), content, ..Message::default() }, origin);
        }
    }

    fn read_answer(&mut self, message: &mut Object<'_>, content: Text, origin: &RecordOrigin) {
        let losses = &mut self.talk.losses;
        let mut pieces = core::mem::take(&mut self.thoughts);
        pieces.push(AnswerPiece::Text(content));
        for (kind, mut call) in message.take_blocks("toolCalls", losses) {
            let Some(mut function) = call.take_object("function", losses) else {
                losses.add(format!("session.history[].message.toolCalls[{kind}]"), UNKNOWN_BLOCK);
                continue;
            };
            pieces.push(AnswerPiece::Call(ToolCall {
                id: call.take("id", losses).unwrap_or_default(),
                name: function.take("name", losses).unwrap_or_default(),
                arguments: function.take_arguments("arguments", losses),
            }));
            function.report_rest_lost(losses, REASONS);
            call.report_rest_lost(losses, REASONS);
        }
        let mut assistant = Assistant::default();
        if let Some(mut counts) = message.take_object("usage", losses) {
            assistant.model = counts.take("model", losses);
            assistant.usage = Some(usage(&mut counts, losses));
            counts.report_rest_lost(losses, REASONS);
        }
        let message =
            Message { role: Some(Role::Assistant), assistant: Some(assistant), ..Message::default() };
        let at = self.talk.add(message, origin.clone());
        self.talk.extend(at, pieces, 0);
    }

    // A state without an output belongs to a call that waits or runs. Older versions have one state, not a list.
    fn read_call_states(&mut self, item: &mut Object<'_>, origin: &RecordOrigin) {
        let losses = &mut self.talk.losses;
        let mut states: Vec<Object<'_>> =
            item.take_objects("toolCallStates", losses).into_iter().map(|(_, state)| state).collect();
        let single = item.take_object("toolCallState", losses);
        states.extend(single.map(|state| state.with_path("session.history[].toolCallStates[]")));
        for mut state in states {
            let losses = &mut self.talk.losses;
            let call_id: String = state.take("toolCallId", losses).unwrap_or_default();
            let status: Option<String> = state.take("status", losses);
            let mut texts: Vec<Text> = Vec::new();
            let mut has_output = false;
            for (_, mut output) in state.take_objects("output", losses) {
                has_output = true;
                texts.extend(output.take("content", losses));
                output.report_rest_lost(losses, REASONS);
            }
            state.report_rest_lost(losses, REASONS);
            let status = status.unwrap_or_default();
            let is_error = matches!(status.as_str(), "errored" | "canceled");
            if (!has_output && !is_error && status != "done") || self.answered_calls.contains(&call_id) {
                continue;
            }
            let origin = RecordOrigin { native: format!("result/{call_id}"), ..origin.clone() };
            let not_run = status == "canceled";
            let tool = Some(Tool { call_id, is_error, not_run, ..Tool::default() });
            let content = Text::join(texts, TEXT_SEPARATOR);
            self.talk.add(Message { role: Some(Role::Tool), content, tool, ..Message::default() }, origin);
        }
    }

    // Reasoning that no answer follows becomes an answer of its own.
    fn flush_thoughts(&mut self, origin: &RecordOrigin) {
        let pieces = core::mem::take(&mut self.thoughts);
        if pieces.is_empty() {
            return;
        }
        let message = Message { role: Some(Role::Assistant), ..Message::default() };
        let native = format!("{}/thoughts", origin.native);
        let at = self.talk.add(message, RecordOrigin { native, ..origin.clone() });
        self.talk.extend(at, pieces, 0);
    }
}

fn take_content(message: &mut Object<'_>, losses: &mut Losses) -> (Text, Vec<Attachment>) {
    if message.raw("content").is_some_and(|content| content.starts_with('"')) {
        return (message.take("content", losses).unwrap_or_default(), Vec::new());
    }
    let (mut texts, mut attachments) = (Vec::new(), Vec::new());
    for (kind, mut block) in message.take_blocks("content", losses) {
        match kind.as_str() {
            "text" => texts.extend(block.take("text", losses).filter(|text: &Text| !text.is_empty())),
            "imageUrl" => {
                let mut image = block.take_object("imageUrl", losses);
                let address = image.as_mut().and_then(|image| image.take::<String>("url", losses));
                let file = address.and_then(|address| attachment_from_address(&address, None, None));
                if file.is_none() {
                    block.report_lost("imageUrl", BYTES_ELSEWHERE, losses);
                }
                attachments.extend(file);
            }
            _ => {
                losses.add(format!("session.history[].message.content[{kind}]"), UNKNOWN_BLOCK);
                continue;
            }
        }
        block.report_rest_lost(losses, REASONS);
    }
    (Text::join(texts, TEXT_SEPARATOR), attachments)
}

// Takes the items that were named beside the text, with their content at that time.
fn take_context_items(item: &mut Object<'_>, losses: &mut Losses) -> Vec<Attachment> {
    let items = item.take_objects("contextItems", losses).into_iter().map(|(_, mut item)| {
        let name = item.take("name", losses);
        let text: Option<String> = item.take("content", losses);
        let path = item.take_object("uri", losses).and_then(|mut uri| {
            let address: Option<String> = uri.take("value", losses);
            uri.report_rest_lost(losses, REASONS);
            attachment_from_address(&address?, None, None)?.path
        });
        item.report_rest_lost(losses, REASONS);
        let data = text.map(|text| STANDARD.encode(text));
        Attachment { mime: "text/plain".into(), name, path, data, ..Attachment::default() }
    });
    items.collect()
}

fn usage(counts: &mut Object<'_>, losses: &mut Losses) -> Usage {
    let input: Option<u64> = counts.take("prompt_tokens", losses);
    let output = counts.take("completion_tokens", losses);
    let cache_read = counts.take_object("prompt_tokens_details", losses).and_then(|mut details| {
        let cached = details.take("cached_tokens", losses);
        details.report_rest_lost(losses, REASONS);
        cached
    });
    let input = input.map(|input| input.saturating_sub(cache_read.unwrap_or_default()));
    Usage { input, output, cache_read, ..Usage::default() }
}
