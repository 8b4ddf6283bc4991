//! Reads a request of a chat: what the user asked, and all that answers it.
//!
//! Copilot keeps what the model said and what its calls gave as rounds; then the response only displays it once more,
//! but for exit codes and denials. Requests to other participants, and those that haven't ended, have the response
//! alone.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::MAX_ID_BYTES;
use super::chat_log::RequestHistory;
use super::invocation::{Invocation, model_call_id, read_result};
use super::parts::{AnswerSegment, ResponseParts};
use super::table::{COVERAGE, REASONS};
use super::values::{take_text, uri_path};
use crate::interop::conversation::{ConversationBuilder, RecordOrigin, build_flags, set_flag};
use crate::interop::loss::{ANOTHER_KIND, BYTES_ELSEWHERE};
use crate::interop::{Losses, Object};
use crate::json::fields::Fields;
use crate::json::text::Text;
use crate::record::message::{Assistant, Attachment, Message, Reasoning, Role, ToolCall, Usage};
use crate::record::span::Span;
use crate::shapes::answer_pieces::AnswerPiece;
use crate::time;

const REPEATS_ROUNDS: &str = "repeats the rounds, as VS Code displays them";
const CONTEXT_OF_CLIENT: &str = "what VS Code adds to each message by itself";
const COPILOT_CHAT: &str = "\"github.copilot-chat\"";
/// The state of a response that ended: complete, cancelled or failed.
const CANCELLED_STATE: u64 = 2;
const FAILED_STATE: u64 = 3;
/// A mark of messages that are read from what is displayed, since their request hasn't ended: what the model said in
/// rounds comes later, under other ids.
pub(crate) const PENDING_KEY: &str = "isPending";

/// A request while it is read.
struct RequestReader<'t> {
    talk: &'t mut ConversationBuilder,
    // The name of the request, and of its messages if it hasn't ended.
    native: String,
    is_pending: bool,
    place: Span,
    model: Option<String>,
    usage: Option<Usage>,
    // When the response ended.
    end_ms: Option<i64>,
    // The answers so far, and the first draft that may be one.
    answer_count: usize,
    first_draft: usize,
}

/// What the model said in one go, the calls in it, and what the client told it then.
struct Round {
    id: Option<String>,
    pieces: Vec<AnswerPiece>,
    calls: Vec<ToolCall>,
    ms: Option<i64>,
    hook: Option<Text>,
    summary: Option<Text>,
}

/// How a request ended.
#[derive(Clone, Copy, Default)]
struct RequestEnd {
    is_cut: bool,
    is_known: bool,
}

/// Adds the messages of a request, called `native`; true if the user has hidden it to take it back. `is_last`: the chat
/// has none behind it.
pub(super) fn add_request(
    talk: &mut ConversationBuilder,
    history: &RequestHistory<'_>,
    native: String,
    is_last: bool,
    file_bytes: u64,
) -> bool {
    let json = history.json();
    let path = "session.requests[]";
    let Ok(mut request) = Object::parse(path, &json) else {
        talk.losses.add(path.into(), ANOTHER_KIND);
        return false;
    };
    let losses = &mut Losses::default();
    request.take_raw("requestId");
    let is_hidden = take_hidden(&mut request, losses);
    // Changes to it stand behind its first mention.
    let Span { start, end } = history.place;
    let place = Span { start, end: end.max(start + json.len() as u64).min(file_bytes) };
    let timestamp = request.take_ms("timestamp", losses);
    add_prompt(talk, &mut request, &native, timestamp, place, losses);
    note_agent(talk, &mut request, losses);
    let mut result = request.take_object("result", losses);
    let (end, end_ms) = take_end(&mut request, result.as_ref(), losses);
    let mut metadata = result.as_mut().and_then(|result| result.take_object("metadata", losses));
    let mut reader = RequestReader {
        native,
        is_pending: is_last && !end.is_known,
        place,
        model: take_model(&mut request, metadata.as_mut(), losses),
        usage: take_usage(&mut request, metadata.as_mut(), losses),
        end_ms,
        answer_count: 0,
        first_draft: talk.drafts.len(),
        talk: &mut *talk,
    };
    let rounds = metadata.as_mut().map(|data| take_rounds(data, losses)).unwrap_or_default();
    let has_response = request.has("response");
    if rounds.iter().any(|round| !round.pieces.is_empty()) {
        let parts = ResponseParts::read(&mut request, &mut Losses::default());
        if has_response {
            request.report_lost("response", REPEATS_ROUNDS, losses);
        }
        reader.add_rounds(rounds, metadata.as_mut(), &parts, losses);
        if end.is_cut {
            reader.add_rest(parts.segments);
        }
    } else {
        let parts = ResponseParts::read(&mut request, losses);
        reader.add_segments(parts.segments);
    }
    reader.end_answers(end.is_cut);
    for rest in [metadata, result].into_iter().flatten() {
        rest.report_rest_lost(losses, REASONS);
    }
    request.report_rest_lost(losses, REASONS);
    talk.losses.merge(core::mem::take(losses));
    is_hidden
}

// A request is hidden from the place on to which the user went back; only a part of it may be.
fn take_hidden(request: &mut Object<'_>, losses: &mut Losses) -> bool {
    let is_hidden = request.take("isHidden", losses) == Some(true);
    let mark = request.take_object("shouldBeRemovedOnSend", losses);
    is_hidden || mark.is_some_and(|mark| !mark.has("afterUndoStop"))
}

fn add_prompt(
    talk: &mut ConversationBuilder,
    request: &mut Object<'_>,
    native: &str,
    timestamp: Option<i64>,
    place: Span,
    losses: &mut Losses,
) {
    let content = match request.raw("message") {
        Some(raw) if raw.starts_with('{') => {
            request.take_object("message", losses).and_then(|mut message| {
                let text = message.take("text", losses);
                message.report_rest_lost(losses, REASONS);
                text
            })
        }
        _ => request.take("message", losses),
    };
    let mut attachments = Vec::new();
    if let Some(mut data) = request.take_object("variableData", losses) {
        for (_, variable) in data.take_objects("variables", losses) {
            attachments.extend(take_variable(variable, losses));
        }
        data.report_rest_lost(losses, REASONS);
    }
    let mut origin = RecordOrigin {
        native: native.into(),
        timestamp: timestamp.map(time::format),
        place,
        ..RecordOrigin::default()
    };
    // What a finished task told the model in the user's name.
    if request.take("isSystemInitiated", losses) == Some(true) {
        set_flag(&mut origin.flags, "isMeta");
    }
    let content: Text = content.unwrap_or_default();
    if !content.is_empty() || !attachments.is_empty() {
        talk.add(Message { role: Some(Role::User), content, attachments, ..Message::default() }, origin);
    }
}

// Takes what the user attached: bytes, a file's path, or a text.
fn take_variable(mut variable: Object<'_>, losses: &mut Losses) -> Option<Attachment> {
    let quiet = &mut Losses::default();
    let name: Option<String> = variable.take("name", losses);
    let mime: Option<String> = variable.take("mimeType", losses);
    let is_of_client = variable.take("automaticallyAdded", losses) == Some(true);
    let value = variable.take_raw("value").unwrap_or("null");
    let bytes: Option<String> =
        Object::parse("", value).ok().and_then(|mut value| value.take("$base64", quiet));
    let attachment = Attachment { name, mime: mime.unwrap_or_default(), ..Attachment::default() };
    let found = if is_of_client {
        variable.report_lost("value", CONTEXT_OF_CLIENT, losses);
        None
    } else if let Some(text) = Text::decode(value) {
        let data = Some(STANDARD.encode(text.as_str()));
        Some(Attachment { mime: "text/plain".into(), data, ..attachment })
    } else if bytes.is_some() {
        Some(Attachment { data: bytes, ..attachment })
    } else if let Some(path) = uri_path(value) {
        Some(Attachment { path: Some(path), ..attachment })
    } else {
        variable.report_lost("value", BYTES_ELSEWHERE, losses);
        None
    };
    variable.report_rest_lost(losses, REASONS);
    found
}

// Notes the version of Copilot Chat; other participants' versions say nothing of the format.
fn note_agent(talk: &mut ConversationBuilder, request: &mut Object<'_>, losses: &mut Losses) {
    let Some(mut agent) = request.take_object("agent", losses) else { return };
    let version = agent.take("extensionVersion", losses);
    let extension = agent.take_object("extensionId", losses);
    if extension.as_ref().is_some_and(|extension| extension.raw("_lower") == Some(COPILOT_CHAT)) {
        talk.note_version(version, COVERAGE.tested_versions);
    }
    extension.into_iter().for_each(|extension| extension.report_rest_lost(losses, REASONS));
    agent.report_rest_lost(losses, REASONS);
}

// Older versions only say that a response was cancelled.
fn take_end(
    request: &mut Object<'_>,
    result: Option<&Object<'_>>,
    losses: &mut Losses,
) -> (RequestEnd, Option<i64>) {
    let mut end_ms = None;
    let mut state: Option<u64> = None;
    if let Some(mut given) = request.take_object("modelState", losses) {
        state = given.take("value", losses);
        end_ms = given.take_ms("completedAt", losses);
        given.report_rest_lost(losses, REASONS);
    }
    let is_cancelled = request.take("isCanceled", losses) == Some(true);
    let has_failed = result.is_some_and(|result| result.has("errorDetails"));
    let is_cut = is_cancelled || has_failed || matches!(state, Some(CANCELLED_STATE | FAILED_STATE));
    let is_known = is_cut || result.is_some() || state == Some(1);
    (RequestEnd { is_cut, is_known }, end_ms)
}

// The model that answered; the chosen one may stand for any, and has its vendor before it.
fn take_model(
    request: &mut Object<'_>,
    metadata: Option<&mut Object<'_>>,
    losses: &mut Losses,
) -> Option<String> {
    let chosen = request.take_name("modelId", losses);
    let chosen =
        chosen.map(|model| model.split_once('/').map_or(model.as_str(), |(_, name)| name).to_owned());
    let resolved: Option<String> = metadata.and_then(|data| data.take_name("resolvedModel", losses));
    let is_short = |model: &String| !model.is_empty() && model.len() <= MAX_ID_BYTES;
    resolved.filter(is_short).or(chosen).filter(is_short)
}

fn take_usage(
    request: &mut Object<'_>,
    metadata: Option<&mut Object<'_>>,
    losses: &mut Losses,
) -> Option<Usage> {
    let mut usage = Usage::default();
    if let Some(mut counts) = request.take_object("usage", losses) {
        usage.input = counts.take("promptTokens", losses);
        usage.output = counts.take("completionTokens", losses);
        counts.report_rest_lost(losses, REASONS);
    }
    if let Some(data) = metadata {
        let (input, output) = (data.take("promptTokens", losses), data.take("outputTokens", losses));
        usage.input = usage.input.or(input);
        usage.output = usage.output.or(output);
    }
    Some(usage).filter(|usage| usage.input.is_some() || usage.output.is_some())
}

impl RequestReader<'_> {
    fn origin(&self, native: String, ms: Option<i64>) -> RecordOrigin {
        let flags = build_flags(if self.is_pending { &[PENDING_KEY] } else { &[] });
        RecordOrigin { native, timestamp: ms.map(time::format), place: self.place, flags }
    }

    fn add_answer(&mut self, pieces: Vec<AnswerPiece>, ms: Option<i64>) {
        self.answer_count += 1;
        let kind = if self.is_pending { "pending-" } else { "" };
        let origin = self.origin(format!("{}/{kind}{}", self.native, self.answer_count), ms);
        let assistant = Some(Assistant { model: self.model.clone(), ..Assistant::default() });
        let message = Message { role: Some(Role::Assistant), assistant, ..Message::default() };
        let at = self.talk.add(message, origin);
        self.talk.extend(at, pieces, 0);
    }

    fn add_result(&mut self, message: Message) {
        let call = message.tool.as_ref().map(|tool| tool.call_id.as_str()).unwrap_or_default();
        let origin = self.origin(format!("{}/result/{call}", self.native), None);
        self.talk.add(message, origin);
    }

    fn add_segments(&mut self, segments: Vec<AnswerSegment>) {
        for AnswerSegment { pieces, results } in segments {
            self.add_answer(pieces, None);
            results.into_iter().for_each(|result| self.add_result(result));
        }
    }

    fn add_rounds(
        &mut self,
        rounds: Vec<Round>,
        metadata: Option<&mut Object<'_>>,
        parts: &ResponseParts,
        losses: &mut Losses,
    ) {
        let mut results = None;
        let mut summaries = BTreeMap::new();
        if let Some(data) = metadata {
            results = data.take_raw("toolCallResults").and_then(|results| Fields::parse(results).ok());
            summaries = take_summaries(data, losses);
        }
        // Only newer versions display a call under the model's id.
        let call_count: usize = rounds.iter().map(|round| round.calls.len()).sum();
        let is_in_order = call_count == parts.invocations.len();
        let results: BTreeMap<&str, &str> = results
            .iter()
            .flat_map(|results| results.decoded_entries())
            .filter(|(_, raw)| *raw != "null")
            .collect();
        let shown_by_id: BTreeMap<&str, &Invocation> = parts
            .invocations
            .iter()
            .map(|shown| (shown.id(), shown))
            .filter(|(id, _)| !id.is_empty())
            .collect();
        let mut call_number = 0;
        for Round { id, pieces, calls, ms, hook, summary } in rounds {
            if !pieces.is_empty() {
                self.add_answer(pieces, ms);
            }
            for call in &calls {
                let by_order = parts.invocations.get(call_number).filter(|_| is_in_order);
                let by_id = [call.id.as_str(), model_call_id(&call.id)].into_iter();
                let by_id = by_id.filter_map(|id| shown_by_id.get(id).copied()).next();
                call_number += 1;
                let result = result_of(call, results.get(call.id.as_str()).copied(), by_id.or(by_order));
                result.into_iter().for_each(|result| self.add_result(result));
            }
            let summary = summary.or_else(|| summaries.remove(id.as_ref()?));
            self.add_note(hook, "isMeta", "hook");
            self.add_note(summary, "isCompactSummary", "summary");
        }
    }

    // Adds what the client told the model in the user's name.
    fn add_note(&mut self, text: Option<Text>, mark: &str, name: &str) {
        let Some(content) = text.filter(|text| !text.is_empty()) else { return };
        let mut origin = self.origin(format!("{}/{name}/{}", self.native, self.answer_count), None);
        set_flag(&mut origin.flags, mark);
        self.talk.add(Message { role: Some(Role::User), content, ..Message::default() }, origin);
    }

    // A round that was cut is in none of the rounds; only its words were displayed, behind those of others.
    fn add_rest(&mut self, segments: Vec<AnswerSegment>) {
        let Some(AnswerSegment { pieces, .. }) = segments.into_iter().next_back() else { return };
        let is_call = |piece: &AnswerPiece| matches!(piece, AnswerPiece::Call(_));
        let Some(text) = pieces.iter().find_map(text_of).filter(|_| !pieces.iter().any(is_call)) else {
            return;
        };
        let shown = text.as_str().trim();
        let mut rest = shown;
        for draft in &self.talk.drafts[self.first_draft..] {
            for said in draft.pieces.iter().filter_map(text_of) {
                let said = said.as_str().trim();
                rest = if said.contains(rest) {
                    ""
                } else {
                    rest.strip_prefix(said).unwrap_or(rest).trim_start()
                };
            }
        }
        let rest =
            if rest.len() == shown.len() { pieces } else { Vec::from([AnswerPiece::Text(rest.into())]) };
        if rest.iter().any(|piece| text_of(piece).is_some_and(|text| !text.is_empty())) {
            self.add_answer(rest, None);
        }
    }

    // The last answer has the tokens and the end of the request.
    fn end_answers(&mut self, is_cut: bool) {
        if (is_cut || self.is_pending) && self.answer_count > 0 {
            self.talk.cut_short();
        }
        let drafts = self.talk.drafts[self.first_draft..].iter_mut().map(|draft| &mut draft.message);
        let mut answers = drafts.filter(|message| message.role == Some(Role::Assistant));
        let Some(last) = answers.next_back() else { return };
        if last.timestamp.is_none() && !self.is_pending {
            last.timestamp = self.end_ms.map(time::format);
        }
        if let Some(assistant) = &mut last.assistant {
            assistant.usage = self.usage.take();
        }
    }
}

fn text_of(piece: &AnswerPiece) -> Option<&Text> {
    match piece {
        AnswerPiece::Text(text) => Some(text),
        AnswerPiece::Reasoning(_) | AnswerPiece::Call(_) => None,
    }
}

fn take_rounds(metadata: &mut Object<'_>, losses: &mut Losses) -> Vec<Round> {
    let mut rounds = Vec::new();
    for (_, mut round) in metadata.take_objects("toolCallRounds", losses) {
        let mut pieces = Vec::from_iter(take_thinking(&mut round, losses));
        let said: Text = round.take("response", losses).unwrap_or_default();
        pieces.extend(Some(said).filter(|said| !said.is_empty()).map(AnswerPiece::Text));
        let calls = take_calls(&mut round, losses);
        pieces.extend(calls.iter().cloned().map(AnswerPiece::Call));
        rounds.push(Round {
            id: round.take_name("id", losses),
            pieces,
            calls,
            ms: round.take_ms("timestamp", losses),
            hook: round.take("hookContext", losses),
            summary: round.take("summary", losses),
        });
        round.report_rest_lost(losses, REASONS);
    }
    rounds
}

fn take_calls(round: &mut Object<'_>, losses: &mut Losses) -> Vec<ToolCall> {
    let mut calls = Vec::new();
    for (_, mut call) in round.take_objects("toolCalls", losses) {
        calls.push(ToolCall {
            id: call.take_name("id", losses).unwrap_or_default(),
            name: call.take("name", losses).unwrap_or_default(),
            arguments: call.take_arguments("arguments", losses),
        });
        call.report_rest_lost(losses, REASONS);
    }
    calls
}

fn take_thinking(round: &mut Object<'_>, losses: &mut Losses) -> Option<AnswerPiece> {
    let mut thinking = round.take_object("thinking", losses)?;
    let text = take_text(&mut thinking, "text", losses).unwrap_or_default();
    let data: Option<String> = thinking.take("encrypted", losses);
    thinking.report_rest_lost(losses, REASONS);
    let is_said = !text.is_empty() || data.is_some();
    is_said.then_some(AnswerPiece::Reasoning(Reasoning { text, signature: None, data }))
}

// Takes what replaced older rounds in the model's context, by the round that it stands for.
fn take_summaries(metadata: &mut Object<'_>, losses: &mut Losses) -> BTreeMap<String, Text> {
    let path = "session.requests[].result.metadata.summaries[]";
    let mut all: Vec<Object<'_>> =
        metadata.take_objects("summaries", losses).into_iter().map(|(_, summary)| summary).collect();
    if let Some(single) = metadata.take_object("summary", losses).filter(|_| all.is_empty()) {
        all.push(single.with_path(path));
    }
    let take = |mut summary: Object<'_>| {
        let round = summary.take_name("toolCallRoundId", losses);
        let text = summary.take("text", losses);
        summary.report_rest_lost(losses, REASONS);
        round.zip(text)
    };
    all.into_iter().filter_map(take).collect()
}

// The result that the model was given; else, of a call that was cut, what was displayed.
fn result_of(call: &ToolCall, given: Option<&str>, shown: Option<&Invocation>) -> Option<Message> {
    let tool = shown.map(|shown| shown.tool(&call.id));
    let Some(given) = given else {
        let shown = shown.filter(|shown| shown.has_outcome())?;
        return shown.result_message().map(|message| Message { tool, ..message });
    };
    let (content, attachments) = read_result(given);
    let tool = Some(tool.unwrap_or_else(|| Invocation::default().tool(&call.id)));
    Some(Message { role: Some(Role::Tool), content, attachments, tool, ..Message::default() })
}
