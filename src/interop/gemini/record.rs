//! Reads one message of a session.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::interop::content_parts::{FunctionAnswer, parse_parts};
use crate::interop::gemini::table::REASONS;
use crate::interop::loss;
use crate::interop::object::{Losses, Object};
use crate::json::text::Text;
use crate::record::message::{Assistant, Attachment, Reasoning, ToolCall, Usage};
use crate::record::span::Span;
use crate::shapes::answer_pieces::{AnswerPiece, TEXT_SEPARATOR};

/// A message as it stands there.
#[derive(Default)]
pub(super) struct Record {
    /// The message's id; absent if the record has none, or it is no string.
    pub id: Option<String>,
    pub timestamp: Option<String>,
    pub place: Span,
    pub is_answer: bool,
    /// A user's words.
    pub text: Text,
    pub pieces: Vec<AnswerPiece>,
    pub attachments: Vec<Attachment>,
    /// Results, each with its own time, if it has one, and its path in the record.
    pub results: Vec<(FunctionAnswer, Option<String>, &'static str)>,
    pub assistant: Assistant,
    /// Sub-agents, each with the id of its call.
    pub agents: Vec<(String, String)>,
}

impl Record {
    /// Returns its words in a form that is the same however the client writes them: without the blanks around a text,
    /// and without the ids of calls.
    pub fn key(&self) -> Rc<str> {
        let mut texts: Vec<&str> = Vec::new();
        let mut calls = String::new();
        for piece in &self.pieces {
            match piece {
                AnswerPiece::Text(text) => texts.push(text.as_str()),
                AnswerPiece::Call(call) => calls += &format!("\0{}", call.name),
                AnswerPiece::Reasoning(_) => {}
            }
        }
        texts.push(self.text.as_str());
        texts.retain(|text| !text.is_empty());
        let said = texts.join(TEXT_SEPARATOR);
        match said.trim() {
            "" if calls.is_empty() => Rc::default(),
            said => format!("{said}{calls}").into(),
        }
    }

    /// True if it says more than tools' results.
    pub fn says_something(&self) -> bool {
        self.is_answer || self.results.is_empty() || !self.text.is_empty() || !self.attachments.is_empty()
    }
}

/// Reads a user's message.
pub(super) fn read_prompt(object: &mut Object<'_>, losses: &mut Losses) -> Record {
    const RESULT_PATH: &str = "user.content[].functionResponse.response";
    let mut content = parse_parts("user.content", object.take_raw("content"), losses, REASONS);
    let text = content.take_text();
    for piece in &content.pieces {
        let field = match piece {
            AnswerPiece::Reasoning(_) => "user.content[].thought",
            AnswerPiece::Call(_) | AnswerPiece::Text(_) => "user.content[].functionCall",
        };
        losses.add(field.into(), loss::INVALID_IN_USER_MESSAGE);
    }
    let results = content.answers.into_iter().map(|answer| (answer, None, RESULT_PATH)).collect();
    Record { text, attachments: content.attachments, results, ..Record::default() }
}

/// Reads an answer: thoughts, text, and the calls, which newer versions write into the content as well.
pub(super) fn read_answer(object: &mut Object<'_>, id: &str, losses: &mut Losses) -> Record {
    let mut record = Record { is_answer: true, ..Record::default() };
    let thoughts = thoughts(object, losses);
    let content = parse_parts("gemini.content", object.take_raw("content"), losses, REASONS);
    let mut calls = tool_calls(object, id, &mut record, losses);
    let has_thoughts = !thoughts.is_empty();
    record.pieces.extend(thoughts);
    for piece in content.pieces {
        match piece {
            AnswerPiece::Call(call) => {
                let is_it = |one: &ToolCall| {
                    if call.id.is_empty() { one.name == call.name } else { one.id == call.id }
                };
                let known = calls.iter().position(is_it);
                record.pieces.push(AnswerPiece::Call(known.map_or(call, |known| calls.remove(known))));
            }
            // The thoughts stand beside the content, too.
            AnswerPiece::Reasoning(one) if has_thoughts && one.signature.is_none() => {}
            AnswerPiece::Reasoning(one) if has_thoughts => {
                record.pieces.push(AnswerPiece::Reasoning(Reasoning { text: Text::default(), ..one }));
            }
            piece => record.pieces.push(piece),
        }
    }
    record.pieces.extend(calls.into_iter().map(AnswerPiece::Call));
    record.attachments = content.attachments;
    for _ in content.answers {
        losses.add("gemini.content[].functionResponse".into(), loss::INVALID_IN_ANSWER);
    }
    record.assistant.model = object.take("model", losses);
    record.assistant.usage = usage(object, losses);
    record
}

fn thoughts(object: &mut Object<'_>, losses: &mut Losses) -> Vec<AnswerPiece> {
    let mut pieces = Vec::new();
    for (_, mut thought) in object.take_objects("thoughts", losses) {
        let subject: String = thought.take("subject", losses).unwrap_or_default();
        let description: Text = thought.take("description", losses).unwrap_or_default();
        thought.report_rest_lost(losses, REASONS);
        let text = match subject.is_empty() {
            true => description,
            false => Text::join(Vec::from([subject.as_str().into(), description]), "\n"),
        };
        pieces.push(AnswerPiece::Reasoning(Reasoning { text, ..Reasoning::default() }));
    }
    pieces
}

fn tool_calls(
    object: &mut Object<'_>,
    message: &str,
    record: &mut Record,
    losses: &mut Losses,
) -> Vec<ToolCall> {
    const RESULT_PATH: &str = "gemini.toolCalls[].result";
    let mut calls = Vec::new();
    for (place, (_, mut call)) in object.take_objects("toolCalls", losses).into_iter().enumerate() {
        let id: Option<String> = call.take("id", losses);
        let id = id.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("{message}/{place}"));
        let name: String = call.take("name", losses).unwrap_or_default();
        let arguments = call.take_raw("args").filter(|raw| *raw != "null").unwrap_or("{}").into();
        let status: Option<String> = call.take("status", losses);
        let timestamp = call.take_time("timestamp", losses);
        let agent: Option<String> = call.take("agentId", losses);
        record.agents.extend(agent.map(|agent| (agent, id.clone())));
        let result = parse_parts(RESULT_PATH, call.take_raw("result"), losses, REASONS);
        call.report_rest_lost(losses, REASONS);
        let failed = matches!(status.as_deref(), Some("error" | "cancelled"));
        for mut answer in answers(result, &id, &name, failed) {
            answer.not_run = answer.id == id && status.as_deref() == Some("cancelled");
            record.results.push((answer, timestamp.clone(), RESULT_PATH));
        }
        calls.push(ToolCall { id, name, arguments });
    }
    calls
}

// Takes a call's result: its function's answer and what stands beside that; the answers of neighboring calls may stand
// there, too.
fn answers(
    mut result: crate::interop::content_parts::ContentParts,
    id: &str,
    name: &str,
    failed: bool,
) -> Vec<FunctionAnswer> {
    if result.is_empty() {
        return Vec::new();
    }
    let beside = result.take_text();
    let mut answers = result.answers;
    let is_own = |answer: &FunctionAnswer| answer.id.is_empty() || answer.id == id;
    let own = answers.iter().position(is_own).unwrap_or_else(|| {
        answers.insert(0, FunctionAnswer::default());
        0
    });
    let own = &mut answers[own];
    own.id = id.to_string();
    own.name = name.to_string();
    own.is_error |= failed;
    own.attachments.extend(result.attachments);
    if !beside.is_empty() {
        let texts = [core::mem::take(&mut own.content), beside];
        let texts = texts.into_iter().filter(|text| !text.is_empty()).collect();
        own.content = Text::join(texts, TEXT_SEPARATOR);
        own.is_json = false;
    }
    answers
}

// The client's own names for the API's counts: input includes the cached tokens, output excludes thoughts.
fn usage(object: &mut Object<'_>, losses: &mut Losses) -> Option<Usage> {
    let mut counts = object.take_object("tokens", losses)?;
    let input: Option<u64> = counts.take("input", losses);
    let output: Option<u64> = counts.take("output", losses);
    let cached: Option<u64> = counts.take("cached", losses);
    let thoughts: Option<u64> = counts.take("thoughts", losses);
    counts.report_rest_lost(losses, REASONS);
    Some(Usage {
        input: input.map(|input| input.saturating_sub(cached.unwrap_or_default())),
        output: output.map(|output| output.saturating_add(thoughts.unwrap_or_default())),
        cache_read: cached,
        reasoning: thoughts,
        ..Usage::default()
    })
}
