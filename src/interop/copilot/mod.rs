//! Reads Copilot CLI's sessions: `session-state/<session>/events.jsonl`.
//!
//! Each line is an event, with its content in `data`. An answer names its calls; a tool's result stands in the event of
//! its end. A sub-agent's events name the call that began it (`parentToolCallId`): they are a session of their own.

mod table;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::Error;
use crate::interop::conversation::{ConversationBuilder, RecordOrigin, build_flags, unique_name};
use crate::interop::lines::{first_objects, new_problem, records, reject_empty, require_sessions};
use crate::interop::loss;
use crate::interop::object::{Losses, parse_blocks};
use crate::interop::{AgentName, Coverage, Import, Object};
use crate::json::text::Text;
use crate::record::event::Parent;
use crate::record::message::{Assistant, Attachment, Message, Reasoning, Role, Tool, ToolCall, Usage};
use crate::record::scan::{Problem, ProblemCode};
use crate::record::span::Span;
use crate::shapes::answer_pieces::AnswerPiece;
use crate::time;

use table::REASONS;

pub use table::COVERAGE;

const WITHOUT_TYPE: &str = "expected an event of copilot, but found an object without a type instead";
const NO_MESSAGE: &str = "the event is not a message";
const SESSION_START: &str = "session.start";
const USAGE_RECORD: &str = "session.usage_record";
const BINARY_ASSET: &str = "session.binary_asset";
const MESSAGE_KINDS: [&str; 5] =
    ["user.message", "assistant.message", "system.message", "system.notification", "tool.execution_complete"];

/// True if these bytes begin with an event of Copilot CLI.
pub(crate) fn can_read(bytes: &[u8]) -> bool {
    first_objects(bytes, 16).any(|mut object| {
        let kind: Option<String> = object.take("type", &mut Losses::default());
        kind.is_some_and(|kind| is_own(&kind))
            && ["data", "id", "timestamp"].iter().all(|key| object.has(key))
    })
}

/// True if an event of this type has content that is read.
fn has_content(kind: &str) -> bool {
    is_own(kind) || kind == USAGE_RECORD || kind == BINARY_ASSET
}

fn is_own(kind: &str) -> bool {
    kind == SESSION_START || MESSAGE_KINDS.contains(&kind)
}

/// Reads a session. `name` is the file's name, for the id of a session that gives none itself.
///
/// # Errors
/// `empty_file`, also if nothing was said; `unknown_format` if nothing in the bytes is Copilot CLI's; `line_too_long`
/// if all that there is is too long to be stored.
pub fn read(bytes: &[u8], name: &str) -> Result<Import, Error> {
    read_events(bytes, name, (AgentName::Copilot, COVERAGE))
}

/// Reads a session of an agent that writes these events, with what its own versions were tested by.
pub(super) fn read_events(
    bytes: &[u8],
    name: &str,
    (agent, coverage): (AgentName, Coverage),
) -> Result<Import, Error> {
    reject_empty(bytes, agent)?;
    let mut reader = Reader::new(agent, coverage);
    for record in records(bytes, agent) {
        match record {
            Ok((object, place)) => reader.read_event(object, place),
            Err(problem) => reader.problems.push(problem),
        }
    }
    let is_known = reader.is_known;
    require_sessions(reader.finish(name), bytes, agent, is_known)
}

struct Reader {
    tested_versions: &'static [&'static str],
    is_known: bool,
    main: ConversationBuilder,
    // The sub-agents' conversations by the calls that began them, and those that an earlier call of the same id began.
    side_conversations: BTreeMap<String, ConversationBuilder>,
    earlier_side_conversations: Vec<(String, ConversationBuilder)>,
    // The calls that have a result.
    answered_calls: BTreeSet<String>,
    // Token counts by the request's id: they stand before their answer.
    usage: BTreeMap<String, Usage>,
    // Bytes by the id of their asset: they stand before the events that show them.
    assets: BTreeMap<String, String>,
    problems: Vec<Problem>,
}

impl Reader {
    fn new(agent: AgentName, coverage: Coverage) -> Reader {
        Reader {
            tested_versions: coverage.tested_versions,
            is_known: false,
            main: ConversationBuilder::new(agent),
            side_conversations: BTreeMap::new(),
            earlier_side_conversations: Vec::new(),
            answered_calls: BTreeSet::new(),
            usage: BTreeMap::new(),
            assets: BTreeMap::new(),
            problems: Vec::new(),
        }
    }

    // Skips an event without content, but for the time when the session began, and for an answer that it cut short.
    fn skip_event(&mut self, kind: &str, timestamp: Option<&str>) {
        self.main.note_created(timestamp.and_then(time::parse));
        if kind == "abort" {
            self.main.cut_short();
        }
        self.main.losses.add(format!("record:{kind}"), NO_MESSAGE);
    }

    fn read_event(&mut self, mut object: Object<'_>, place: Span) {
        let kind: Option<String> = object.take("type", &mut Losses::default());
        let Some(kind) = kind else {
            return self.problems.push(new_problem(ProblemCode::Foreign, place, WITHOUT_TYPE));
        };
        self.is_known |= is_own(&kind);
        let mut losses = Losses::default();
        let mut object = object.with_path(kind.as_str());
        let timestamp = object.take_time("timestamp", &mut losses);
        let data = if has_content(&kind) { object.take_object("data", &mut losses) } else { None };
        let Some(mut data) = data else { return self.skip_event(&kind, timestamp.as_deref()) };
        let caller: Option<String> = data.take("parentToolCallId", &mut losses);
        let mut origin = RecordOrigin::from_place(place, timestamp);
        origin.native = object.take("id", &mut losses).unwrap_or(origin.native);
        let Reader {
            main,
            side_conversations: side,
            earlier_side_conversations: earlier,
            answered_calls: answered,
            usage: usages,
            assets,
            ..
        } = self;
        let usage = match data.take::<String>("apiCallId", &mut losses) {
            Some(id) if kind == "assistant.message" => usages.remove(&id),
            _ => None,
        };
        let mut called: Vec<String> = Vec::new();
        let flags = if kind == "system.notification" { build_flags(&["isMeta"]) } else { build_flags(&[]) };
        let talk = match caller {
            Some(call) => side.entry(call).or_insert_with(|| ConversationBuilder::new(main.agent)),
            None => main,
        };
        match kind.as_str() {
            SESSION_START => read_start(talk, self.tested_versions, &mut data, &origin, &mut losses),
            USAGE_RECORD => usages.extend(take_cost(&mut data, &mut losses)),
            BINARY_ASSET => {
                let id = data.take_name("assetId", &mut losses);
                assets.extend(id.zip(data.take("data", &mut losses)));
            }
            "assistant.message" => {
                let at = add_answer(talk, &mut data, origin, usage, &mut losses);
                called = call_ids(&talk.drafts[at].pieces);
            }
            "tool.execution_complete" => {
                let message = take_result(&mut data, assets, &mut losses);
                answered.extend(message.tool.as_ref().map(|tool| tool.call_id.clone()));
                talk.add(message, origin);
            }
            _ => {
                let message = take_message(&kind, &mut data, assets, &mut losses);
                talk.add(message, RecordOrigin { flags, ..origin });
            }
        }
        data.report_rest_lost(&mut losses, REASONS);
        object.report_rest_lost(&mut losses, REASONS);
        talk.losses.merge(losses);
        let again = called.iter().filter(|call| answered.remove(*call));
        earlier.extend(again.filter_map(|call| side.remove_entry(call)));
    }

    fn finish(mut self, name: &str) -> Import {
        let main = &mut self.main;
        if main.session.source_id.is_empty() {
            let name = name.strip_suffix("/events.jsonl").unwrap_or(name);
            main.session.source_id = name.rsplit('/').next().unwrap_or(name).into();
        }
        let (id, native) = (main.id(), main.session.source_id.clone());
        let mut sessions = Vec::from([self.main.finish(&mut self.problems)]);
        let mut known = BTreeMap::new();
        for (call, mut talk) in self.earlier_side_conversations.into_iter().chain(self.side_conversations) {
            talk.session.source_id = unique_name(&mut known, format!("{native}/{call}"));
            talk.session.parent = Some(Parent { session: id.clone(), call_id: Some(call) });
            sessions.push(talk.finish(&mut self.problems));
        }
        sessions.retain(|session| !session.messages.is_empty());
        self.problems.sort_by_key(|problem| problem.start);
        Import { sessions, problems: self.problems }
    }
}

fn call_ids(pieces: &[AnswerPiece]) -> Vec<String> {
    let calls = pieces.iter().filter_map(|piece| match piece {
        AnswerPiece::Call(call) => Some(call.id.clone()),
        AnswerPiece::Text(_) | AnswerPiece::Reasoning(_) => None,
    });
    calls.collect()
}

fn read_start(
    talk: &mut ConversationBuilder,
    tested_versions: &[&str],
    data: &mut Object<'_>,
    origin: &RecordOrigin,
    losses: &mut Losses,
) {
    let begun = data.take_time("startTime", losses);
    talk.note_created(begun.as_deref().or(origin.timestamp.as_deref()).and_then(time::parse));
    let id = data.take_name("sessionId", losses);
    if talk.session.source_id.is_empty() {
        talk.session.source_id = id.unwrap_or_default();
    }
    talk.note_version(data.take("copilotVersion", losses), tested_versions);
    talk.session.model = data.take("selectedModel", losses);
    if let Some(mut context) = data.take_object("context", losses) {
        talk.session.folder = context.take("cwd", losses);
        talk.session.git_branch = context.take("branch", losses);
        context.report_rest_lost(losses, REASONS);
    }
}

// Takes a message of the user, or of the client.
fn take_message(kind: &str, data: &mut Object<'_>, assets: &Assets, losses: &mut Losses) -> Message {
    let role = if kind == "system.message" { Role::System } else { Role::User };
    data.take_raw("role");
    let content: Text = data.take("content", losses).unwrap_or_default();
    let blocks = data.take_blocks("attachments", losses);
    let attached = |(_, block)| take_attachment(block, "displayName", assets, losses);
    let attachments = blocks.into_iter().filter_map(attached).collect();
    Message { role: Some(role), content, attachments, ..Message::default() }
}

type Assets = BTreeMap<String, String>;

// Takes a file whose bytes stand there, in an event before, or in a file.
fn take_attachment(
    mut block: Object<'_>,
    named: &str,
    assets: &Assets,
    losses: &mut Losses,
) -> Option<Attachment> {
    let asset: Option<String> = block.take("assetId", losses);
    let data = asset.as_ref().and_then(|asset| assets.get(asset)).cloned();
    let attachment = Attachment {
        mime: block.take("mimeType", losses).unwrap_or_default(),
        name: block.take(named, losses),
        path: block.take("path", losses),
        data: block.take("data", losses).or(data),
        ..Attachment::default()
    };
    block.take_raw("byteLength");
    let is_there = attachment.path.is_some() || attachment.data.is_some();
    if is_there {
        block.report_rest_lost(losses, REASONS);
    } else {
        block.report_whole_lost(loss::NO_BYTES, losses);
    }
    is_there.then_some(attachment)
}

fn add_answer(
    talk: &mut ConversationBuilder,
    data: &mut Object<'_>,
    origin: RecordOrigin,
    usage: Option<Usage>,
    losses: &mut Losses,
) -> usize {
    let output: Option<u64> = data.take("outputTokens", losses);
    let usage = usage.or(output.map(|output| Usage { output: Some(output), ..Usage::default() }));
    let assistant = Assistant { model: data.take("model", losses), usage, ..Assistant::default() };
    let message = Message { role: Some(Role::Assistant), assistant: Some(assistant), ..Message::default() };
    let text: Option<Text> = data.take("reasoningText", losses);
    let opaque: Option<String> = data.take("reasoningOpaque", losses);
    let mut pieces = Vec::new();
    if text.is_some() || opaque.is_some() {
        let text = text.unwrap_or_default();
        pieces.push(AnswerPiece::Reasoning(Reasoning { text, signature: None, data: opaque }));
    }
    pieces.push(AnswerPiece::Text(data.take("content", losses).unwrap_or_default()));
    for (_, mut call) in data.take_blocks("toolRequests", losses) {
        pieces.push(AnswerPiece::Call(ToolCall {
            id: call.take("toolCallId", losses).unwrap_or_default(),
            name: call.take("name", losses).unwrap_or_default(),
            arguments: call.take_arguments("arguments", losses),
        }));
        call.report_rest_lost(losses, REASONS);
    }
    let at = talk.add(message, origin);
    talk.extend(at, pieces, 0);
    at
}

// Takes a tool's result, or its error.
fn take_result(data: &mut Object<'_>, assets: &Assets, losses: &mut Losses) -> Message {
    let is_error = data.take("success", losses) == Some(false);
    let mut content: Option<Text> = None;
    let mut attachments = Vec::new();
    let mut tool = Tool { is_error, ..Tool::default() };
    for (field, key) in [("result", "content"), ("error", "message")] {
        let Some(mut given) = data.take_object(field, losses) else { continue };
        if content.is_none() {
            content = given.take(key, losses);
        }
        for (_, block) in given.take_blocks("binaryResultsForLlm", losses) {
            attachments.extend(take_attachment(block, "description", assets, losses));
        }
        let code: Option<String> = given.take("code", losses);
        tool.not_run |= code.is_some_and(|code| code == "denied" || code == "rejected");
        tool.exit_code = tool.exit_code.or_else(|| exit_code(&given));
        given.report_rest_lost(losses, REASONS);
    }
    tool.call_id = data.take("toolCallId", losses).unwrap_or_default();
    let content = content.unwrap_or_default();
    Message { role: Some(Role::Tool), content, attachments, tool: Some(tool), ..Message::default() }
}

// Takes a command's exit code: a shell's output is written once more, with its code.
fn exit_code(given: &Object<'_>) -> Option<i64> {
    let quiet = &mut Losses::default();
    let blocks = parse_blocks("", given.raw("contents")?, quiet);
    blocks.into_iter().find_map(|(_, mut block)| block.take("exitCode", quiet))
}

// Takes an answer's token counts, and the request that it answers; input includes the cached tokens.
fn take_cost(data: &mut Object<'_>, losses: &mut Losses) -> Option<(String, Usage)> {
    let mut counts = data.take_object("usage", losses)?;
    let id: Option<String> = counts.take("apiCallId", losses);
    let input: Option<u64> = counts.take("inputTokens", losses);
    let cache_read: Option<u64> = counts.take("cacheReadTokens", losses);
    let cache_write: Option<u64> = counts.take("cacheWriteTokens", losses);
    let cached = cache_read.unwrap_or_default().saturating_add(cache_write.unwrap_or_default());
    let usage = Usage {
        input: input.map(|input| input.saturating_sub(cached)),
        output: counts.take("outputTokens", losses),
        cache_read,
        cache_write,
        ..Usage::default()
    };
    counts.report_rest_lost(losses, REASONS);
    id.map(|id| (id, usage))
}
