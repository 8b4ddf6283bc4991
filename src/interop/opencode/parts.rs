//! Reads the parts of a message.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::interop::attachment_address::attachment_from_address;
use crate::interop::conversation::{ConversationBuilder, RecordOrigin, set_flag, set_flag_value};
use crate::interop::loss::{BYTES_ELSEWHERE, UNKNOWN_BLOCK};
use crate::interop::opencode::PROVIDER_KEY;
use crate::interop::opencode::table::{NO_TALK, REASONS};
use crate::interop::plain_content::PlainContent;
use crate::interop::{Losses, Object, SubAgent};
use crate::json::text::Text;
use crate::record::message::{Assistant, Attachment, Message, Reasoning, Role, Tool, ToolCall, Usage};
use crate::shapes::answer_pieces::AnswerPiece;
use crate::time;

type TypedParts<'a> = Vec<(String, Object<'a>)>;

/// The fields of a message beside its parts.
#[derive(Clone, Default)]
pub(super) struct Envelope {
    pub origin: RecordOrigin,
    pub created_ms: Option<i64>,
    pub completed_ms: Option<i64>,
}

/// Parts in one voice: the user's, or the client's in the user's name.
#[derive(Default)]
struct VoiceContent {
    marks: Vec<&'static str>,
    plain: PlainContent,
}

/// Adds a user's message.
pub(super) fn add_prompt(talk: &mut ConversationBuilder, envelope: &Envelope, parts: TypedParts<'_>) {
    let losses = &mut talk.losses;
    let mut voices: Vec<VoiceContent> = Vec::new();
    for (kind, mut part) in parts {
        // A file that the client read is one that the user named.
        let marks = if kind == "file" { Vec::new() } else { take_flags(&mut part, losses) };
        let (text, attachment) = match kind.as_str() {
            "text" => (part.take("text", losses), None),
            "subtask" => (part.take("prompt", losses), None),
            "file" => (None, file(&mut part, losses)),
            _ => {
                report_lost(&kind, losses);
                continue;
            }
        };
        report_rest_lost(part, losses);
        let text = text.filter(|text: &Text| !text.is_empty());
        if text.is_none() && attachment.is_none() {
            continue;
        }
        let place = voices.iter().position(|other| other.marks == marks).unwrap_or(voices.len());
        if place == voices.len() {
            voices.push(VoiceContent { marks, ..VoiceContent::default() });
        }
        voices[place].plain.texts.extend(text);
        voices[place].plain.attachments.extend(attachment);
    }
    if voices.is_empty() {
        losses.add("message.parts".into(), NO_TALK);
    }
    for VoiceContent { marks, plain } in voices {
        let mut origin = envelope.origin.clone();
        marks.iter().for_each(|name| set_flag(&mut origin.flags, name));
        talk.add(plain.into_message(Role::User), origin);
    }
}

fn take_flags(part: &mut Object<'_>, losses: &mut Losses) -> Vec<&'static str> {
    let names = [("synthetic", "isMeta"), ("ignored", "isIgnored")];
    names.into_iter().filter(|(key, _)| part.take(key, losses) == Some(true)).map(|(_, name)| name).collect()
}

fn report_lost(kind: &str, losses: &mut Losses) {
    let path = format!("message.parts[{kind}]");
    let known = REASONS.iter().find(|(field, _)| *field == path);
    losses.add(path, known.map_or(UNKNOWN_BLOCK, |(_, why)| why));
}

// The ids of a part only name its place.
fn report_rest_lost(mut part: Object<'_>, losses: &mut Losses) {
    for name in ["id", "sessionID", "messageID"] {
        part.take_raw(name);
    }
    part.report_rest_lost(losses, REASONS);
}

fn file(part: &mut Object<'_>, losses: &mut Losses) -> Option<Attachment> {
    let mime = part.take("mime", losses);
    let name = part.take("filename", losses);
    let address: String = part.take("url", losses)?;
    let file = attachment_from_address(&address, mime, name);
    if file.is_none() {
        part.report_lost("url", BYTES_ELSEWHERE, losses);
    }
    file
}

/// One call of the model.
#[derive(Default)]
struct ModelStep {
    pieces: Vec<AnswerPiece>,
    results: Vec<(Message, RecordOrigin)>,
    attachments: Vec<Attachment>,
    assistant: Assistant,
    is_finished: bool,
}

impl ModelStep {
    fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.attachments.is_empty()
    }
}

/// Adds an assistant's message: an answer for each of its steps, each with the results of its calls behind it.
pub(super) fn add_answers(
    talk: &mut ConversationBuilder,
    envelope: Envelope,
    mut info: Object<'_>,
    parts: TypedParts<'_>,
) {
    let losses = &mut talk.losses;
    let model = info.take_name("modelID", losses);
    let finish: Option<String> = info.take("finish", losses);
    // Whatever stopped it, it was not said to its end.
    let is_failed = info.raw("error").is_some_and(|error| error.starts_with('{'));
    // Nor was what is still being said, or was when the client was killed.
    let is_open = envelope.created_ms.is_some() && envelope.completed_ms.is_none() && finish.is_none();
    let counted = info.take_object("tokens", losses).and_then(|tokens| usage(tokens, losses));
    let provider = info.take_name("providerID", losses);
    let mut flags = envelope.origin.flags.clone();
    set_flag_value(&mut flags, PROVIDER_KEY, provider.as_deref());
    // Older versions keep an object here, with fields that the user's message has, too.
    if info.raw("summary") == Some("true") {
        info.take_raw("summary");
        set_flag(&mut flags, "isCompactSummary");
    }
    info.report_rest_lost(losses, REASONS);
    let mut steps: Vec<ModelStep> = Vec::from([ModelStep::default()]);
    for (kind, part) in parts {
        // Each list begins with one step, and steps are only added.
        let last = steps.len() - 1;
        if kind == "step-start" && !steps[last].is_empty() {
            steps.push(ModelStep::default());
        }
        let last = steps.len() - 1;
        read_part(talk, &mut steps[last], &kind, part, &envelope);
    }
    steps.retain(|step| !step.is_empty());
    if steps.is_empty() {
        talk.losses.add("message.parts".into(), NO_TALK);
    }
    let is_one = steps.len() == 1;
    let took = envelope.completed_ms.zip(envelope.created_ms).map(|(end, start)| end.saturating_sub(start));
    let end = steps.len();
    for (at, step) in steps.into_iter().enumerate() {
        let ModelStep { pieces, results, attachments, mut assistant, is_finished } = step;
        assistant.model = model.clone();
        assistant.duration_ms = took.filter(|_| is_one).and_then(|took| u64::try_from(took).ok());
        if !is_finished && at + 1 == end {
            assistant.finish_reason = finish.clone();
            assistant.usage = counted.clone();
        }
        let role = Some(Role::Assistant);
        let partial = at + 1 == end && (is_failed || is_open && !is_finished);
        let message =
            Message { role, assistant: Some(assistant), attachments, partial, ..Message::default() };
        let place = talk.add(message, RecordOrigin { flags: flags.clone(), ..envelope.origin.clone() });
        talk.extend(place, pieces, 0);
        for (message, origin) in results {
            talk.add(message, origin);
        }
    }
}

fn read_part(
    talk: &mut ConversationBuilder,
    step: &mut ModelStep,
    kind: &str,
    mut part: Object<'_>,
    envelope: &Envelope,
) {
    let losses = &mut talk.losses;
    match kind {
        "text" => step.pieces.push(AnswerPiece::Text(part.take("text", losses).unwrap_or_default())),
        "reasoning" => step.pieces.push(reasoning(&mut part, losses)),
        "file" => step.attachments.extend(file(&mut part, losses)),
        "tool" => read_tool(talk, step, &mut part, envelope),
        "step-start" => {}
        "step-finish" => {
            step.assistant.finish_reason = part.take("reason", losses);
            step.assistant.usage =
                part.take_object("tokens", losses).and_then(|tokens| usage(tokens, losses));
            step.is_finished = true;
        }
        _ => return report_lost(kind, losses),
    }
    report_rest_lost(part, &mut talk.losses);
}

fn reasoning(part: &mut Object<'_>, losses: &mut Losses) -> AnswerPiece {
    let mut reasoning =
        Reasoning { text: part.take("text", losses).unwrap_or_default(), ..Reasoning::default() };
    if let Some(mut metadata) = part.take_object("metadata", losses) {
        if let Some(mut anthropic) = metadata.take_object("anthropic", losses) {
            reasoning.signature = anthropic.take("signature", losses);
            reasoning.data = anthropic.take("redactedData", losses);
            anthropic.report_rest_lost(losses, REASONS);
        }
        if let Some(mut openai) = metadata.take_object("openai", losses) {
            reasoning.data = openai.take("reasoningEncryptedContent", losses).or(reasoning.data);
            openai.report_rest_lost(losses, REASONS);
        }
        metadata.report_rest_lost(losses, REASONS);
    }
    AnswerPiece::Reasoning(reasoning)
}

// Zeros stand for what was never counted.
fn usage(mut tokens: Object<'_>, losses: &mut Losses) -> Option<Usage> {
    let mut usage = Usage {
        input: tokens.take("input", losses),
        output: tokens.take("output", losses),
        reasoning: tokens.take("reasoning", losses),
        ..Usage::default()
    };
    if let Some(mut cache) = tokens.take_object("cache", losses) {
        usage.cache_read = cache.take("read", losses);
        usage.cache_write = cache.take("write", losses);
        cache.report_rest_lost(losses, REASONS);
    }
    tokens.report_rest_lost(losses, REASONS);
    let counts = [usage.input, usage.output, usage.reasoning, usage.cache_read, usage.cache_write];
    counts.iter().flatten().any(|count| *count > 0).then_some(usage)
}

// A call that waits or runs has no result yet; its arguments may still be on their way, as text.
fn read_tool(
    talk: &mut ConversationBuilder,
    step: &mut ModelStep,
    part: &mut Object<'_>,
    envelope: &Envelope,
) {
    let losses = &mut talk.losses;
    let native: Option<String> = part.take("id", losses);
    let id: Option<String> = part.take("callID", losses);
    let id = id.or_else(|| native.clone()).unwrap_or_default();
    let name = part.take("tool", losses).unwrap_or_default();
    let mut call = ToolCall { id: id.clone(), name, arguments: "{}".into() };
    let Some(mut state) = part.take_object("state", losses) else {
        return step.pieces.push(AnswerPiece::Call(call));
    };
    state.take_raw("status");
    let raw: Option<Text> = state.take("raw", losses);
    call.arguments = match (state.take_raw("input"), raw.filter(|raw| !raw.is_empty())) {
        (Some(input), None) if input != "null" => input.into(),
        (Some(input), Some(_)) if input != "null" && input != "{}" => input.into(),
        (_, raw) => raw.unwrap_or_else(|| "{}".into()),
    };
    let output: Option<Text> = state.take("output", losses);
    let error: Option<Text> = state.take("error", losses);
    let attachments = state.take_blocks("attachments", losses);
    let attachments = attachments.into_iter().filter_map(|(_, mut part)| {
        let file = file(&mut part, losses);
        report_rest_lost(part, losses);
        file
    });
    let attachments = attachments.collect();
    let mut origin = envelope.origin.clone();
    origin.native = native.unwrap_or_else(|| format!("{}/{id}", origin.native));
    if let Some(mut time) = state.take_object("time", losses) {
        let ended = time.take_ms("end", losses);
        origin.timestamp = ended.map(time::format).or(origin.timestamp);
        if time.take_raw("compacted").is_some_and(|compacted| compacted != "null") {
            set_flag(&mut origin.flags, "isPruned");
        }
        time.report_rest_lost(losses, REASONS);
    }
    let mut exit_code = None;
    if let Some(mut metadata) = state.take_object("metadata", losses) {
        exit_code = metadata.take("exit", losses);
        let child: Option<String> = metadata.take("sessionId", losses);
        let child = child.map(|source_id| SubAgent { source_id, call_id: id.clone() });
        talk.session.sub_agents.extend(child);
        metadata.report_rest_lost(losses, REASONS);
    }
    state.report_rest_lost(losses, REASONS);
    step.pieces.push(AnswerPiece::Call(call));
    let is_error = error.is_some();
    let Some(content) = error.or(output) else { return };
    let tool = Tool { call_id: id, is_error, exit_code, ..Tool::default() };
    let role = Some(Role::Tool);
    step.results
        .push((Message { role, content, tool: Some(tool), attachments, ..Message::default() }, origin));
}
