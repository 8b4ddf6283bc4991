//! Records tool executions: the result is a message, and `tools.jsonl` has how it went; both are joined by the call's
//! id.
//!
//! A call that no message makes is added to the assistant's newest one, as a revision: some chat handlers never say
//! which calls an answer made.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::append::{AppendRequest, CountingMode, Drafts};
use super::checkpoint_cache::parse_single_message;
use super::logs::LogName;
use super::messages::MessageStream;
use super::session_files::SessionFiles;
use super::{Io, Operation, Trouble};
use crate::error::Code;
use crate::json::fields::Fields;
use crate::json::request;
use crate::json::text::{Text, to_json, to_open_json};
use crate::record::id;
use crate::record::message::{self, Message, Role, ToolCall};
use crate::record::scan::records;
use crate::record::tool_execution::execution_draft::ExecutionDraft;
use crate::record::tool_execution::{self, ToolExecution};
use crate::session::batch::{AppendConditions, TOOL_OPERATION_PREFIX};
use crate::shapes::Format;

/// Attempts while others add the executions of calls of the same answer.
const MAX_ATTEMPTS: u32 = 50;
/// How many messages back an answered call may lie.
const MAX_MESSAGES_BACK: usize = 2000;

/// The messages around a call.
#[derive(Default)]
struct CallMessages {
    /// The assistant's message that makes it; where none does, its newest one.
    owner: Option<Message>,
    /// The call's result.
    result: Option<Message>,
    /// The result of another call with the same id.
    other_result: Option<Message>,
    newest_answer: Option<Message>,
}

impl SessionFiles {
    /// Lists every tool execution with its result, oldest first. Returns a JSON array.
    pub fn tools(self: &Rc<SessionFiles>) -> Operation<'static, String> {
        let files = self.clone();
        Operation::new(|io| async move {
            files.follow_moves(&io).await?;
            files.executions_json(&io).await
        })
    }

    /// Records a tool execution, once for each call:
    /// `{"call":{"id","name","arguments"},"result":{"content","success",
    /// "error","exitCode"},"durationMs","messageId"}`. A call that no message makes is added to the assistant's
    /// newest one. Returns `{"execution","isNew","lines"}`, JSON.
    pub fn append_tool(
        self: &Rc<SessionFiles>,
        execution: String,
        counts: CountingMode,
    ) -> Operation<'static, String> {
        let files = self.clone();
        Operation::new(|io| async move {
            let draft = ExecutionDraft::from_json(&execution)?;
            files.follow_moves(&io).await?;
            files.record_execution(&io, draft, &counts).await
        })
    }

    /// Copies the executions of another session, whose messages were copied before: each a [`ToolExecution`], JSON.
    #[cfg(feature = "interop")]
    pub(super) async fn copy_executions(&self, io: &Io, executions: &[String]) -> Result<(), Trouble> {
        for json in executions {
            let bytes = self.with_session(|session| session.stage_execution(json, &io.stamp()))?;
            self.append(io, LogName::Tools, bytes, (false, false)).await?;
        }
        self.confirm(io, LogName::Tools, true).await
    }

    async fn executions_json(&self, io: &Io) -> Result<String, Trouble> {
        let executed = self.executions_with_results(io).await?.into_iter().map(|(_, json)| json);
        Ok(["[", &executed.collect::<Vec<_>>().join(","), "]"].concat())
    }

    /// Each execution, and the same with its result, as JSON.
    pub(super) async fn executions_with_results(
        &self,
        io: &Io,
    ) -> Result<Vec<(ToolExecution, String)>, Trouble> {
        let recorded = self.read_executions(io).await?;
        if recorded.is_empty() {
            return Ok(Vec::new());
        }
        self.retry_after_move(io, &|| Box::pin(self.observe_logs(io))).await?;
        let mut answers = ToolResults::default();
        let mut messages =
            MessageStream::oldest_first(self, io, self.size(io, LogName::Messages).await?).await?;
        while let Some(some) = messages.next().await? {
            answers.add_messages(&some);
        }
        let joined = recorded.into_iter().map(|execution| {
            let of = |owner| answers.result_of(owner, &execution.tool_call_id);
            let json =
                execution_with_result(&execution, of(execution.message_id.as_deref()).or_else(|| of(None)));
            (execution, json)
        });
        Ok(joined.collect())
    }

    async fn record_execution(
        &self,
        io: &Io,
        mut execution: ExecutionDraft,
        counts: &CountingMode,
    ) -> Result<String, Trouble> {
        let (mut lines, mut is_behind) = (Vec::new(), false);
        for round in 0..MAX_ATTEMPTS {
            let CallMessages { owner, result: answer, other_result: other, .. } =
                self.find_call_messages(io, &execution).await?;
            self.ensure_open(io).await?;
            self.observe(io, LogName::Tools).await?;
            // A result without a call belongs to the message that was the newest one then.
            let makes_it = |owner: &&Message| {
                answer.is_none() || execution.message_id.is_some() || has_call(owner, &execution.id)
            };
            let maker = owner.as_ref().filter(makes_it).map(|owner| &*owner.id);
            if let Some(known) = self.find_execution(io, &execution, maker).await? {
                // The result may have come after it was looked for.
                if answer.is_none() && round == 0 {
                    continue;
                }
                let content = answer.as_ref().or(other.as_ref()).map(|answer| &answer.content);
                return Ok(render_tool_response(&known, content, false, &String::from_utf8_lossy(&lines)));
            }
            // A result whose call no message makes would be in no context. Imported messages stay as their source has
            // them.
            let is_silent = |owner: &&Message| owner.source.is_none() && !has_call(owner, &execution.id);
            if let Some(again) = owner.as_ref().filter(is_silent).map(|owner| with_call(owner, &execution)) {
                let of = ["call", &again.id, &again.rev.to_string()];
                let draft = Drafts::Messages(Vec::from([again.clone()]));
                let Some(line) = self.append_unless_others(io, of, draft, counts).await? else { continue };
                lines.extend(line);
            }
            let owner = owner.map(|owner| owner.id).or_else(|| execution.message_id.clone());
            // If another process wrote the result first, its outcome is recorded.
            if let Some(tool) = answer.as_ref().and_then(|answer| answer.tool.as_ref()).filter(|_| is_behind)
            {
                execution = execution.with_outcome_of(tool);
            }
            // Whoever wrote the result may have died before it recorded the execution.
            let (answer, content) = match answer {
                Some(answer) => (Some(answer.clone()), answer.content),
                None => {
                    let of = ["result", owner.as_deref().unwrap_or_default(), &execution.id];
                    let draft = Drafts::Json(execution.render_result_draft(), Some(Format::Leftoff));
                    let Some(line) = self.append_unless_others(io, of, draft, counts).await? else {
                        is_behind = true;
                        continue;
                    };
                    let answer = parse_single_message(&line);
                    lines.extend(line);
                    (answer, execution.content())
                }
            };
            let tokens = answer.as_ref().and_then(|answer| answer.tokens.as_ref()).map(|tokens| tokens.count);
            let (written, is_new) = self.append_execution(io, &execution, owner.as_deref(), tokens).await?;
            // An execution alone, without a message, takes no lease: the session does not count as open by it.
            if !lines.is_empty() {
                self.acquire_lease(io).await?;
            }
            let lines = String::from_utf8_lossy(&lines);
            return Ok(render_tool_response(&written, Some(&content), is_new, &lines));
        }
        let message =
            format!("expected to add what a tool did, but found others that did so {MAX_ATTEMPTS} times");
        Err(Trouble::new(Code::Conflict, message))
    }

    // Appends a message as an operation named after its purpose: others may do so at the same time, and the first
    // counts. `None` if another one's did; the log then tells what it was.
    async fn append_unless_others(
        &self,
        io: &Io,
        of: [&str; 3],
        drafts: Drafts,
        counts: &CountingMode,
    ) -> Result<Option<Vec<u8>>, Trouble> {
        let operation = format!("{TOOL_OPERATION_PREFIX}{}", id::from_parts(&of.map(str::as_bytes)));
        let once = AppendConditions { operation: Some(operation), expected: None };
        let appending = AppendRequest { drafts, is_durable: true, revives: true, counts: counts.clone() };
        match Box::pin(self.append_if_new(io, &appending, once)).await {
            Err(trouble) if trouble.code() == Code::OperationReused.as_str() => Ok(None),
            lines => lines.map(Some),
        }
    }

    // Appends the execution unless one is on record; returns the recorded one, and whether it is this one: others may
    // have recorded theirs since the log was observed.
    async fn append_execution(
        &self,
        io: &Io,
        draft: &ExecutionDraft,
        owner: Option<&str>,
        tokens: Option<u32>,
    ) -> Result<(ToolExecution, bool), Trouble> {
        self.observe(io, LogName::Tools).await?;
        if let Some(known) = self.find_execution(io, draft, owner).await? {
            return Ok((known, false));
        }
        let from = self.end(LogName::Tools);
        let record = draft.render_record(owner, tokens);
        let bytes = self.with_session(|session| session.stage_execution(&record, &io.stamp()))?;
        let alone = from + bytes.len() as u64;
        let written = parse_executions(&bytes).into_iter().next();
        let written = written
            .ok_or_else(|| Trouble::internal("expected the execution that was staged, but found none"))?;
        self.append(io, LogName::Tools, bytes, (true, false)).await?;
        if self.end(LogName::Tools) == alone {
            return Ok((written, true));
        }
        let since = io.read(&self.log_file(LogName::Tools), from, None).await?.unwrap_or_default();
        let call = |execution: &ToolExecution| (execution.message_id.clone(), execution.tool_call_id.clone());
        let first = parse_executions(&since).into_iter().find(|execution| call(execution) == call(&written));
        let is_new = first.as_ref().is_none_or(|first| first.id == written.id);
        Ok((first.unwrap_or(written), is_new))
    }

    // Finds the recorded execution of this call.
    async fn find_execution(
        &self,
        io: &Io,
        draft: &ExecutionDraft,
        owner: Option<&str>,
    ) -> Result<Option<ToolExecution>, Trouble> {
        if !self.with_session(|session| session.has_executed(&draft.id)) {
            return Ok(None);
        }
        let is_it = |execution: &ToolExecution| {
            let is_of = |owner: &str| execution.message_id.as_ref().is_none_or(|id| id == owner);
            execution.tool_call_id == draft.id && owner.is_none_or(is_of)
        };
        Ok(self.read_executions(io).await?.into_iter().rfind(is_it))
    }

    async fn find_call_messages(&self, io: &Io, draft: &ExecutionDraft) -> Result<CallMessages, Trouble> {
        self.retry_after_move(io, &|| Box::pin(self.observe_logs(io))).await?;
        let mut found = CallMessages::default();
        let mut messages = MessageStream::newest_first(self, io, self.size(io, LogName::Messages).await?);
        let mut far = 0;
        'log: while let Some(some) = messages.next().await? {
            for message in some {
                far += 1;
                found.add_message(message, draft, &|id| {
                    self.with_session(|session| session.are_on_path([id].into_iter())[0])
                });
                if found.owner.is_some() || far == MAX_MESSAGES_BACK {
                    break 'log;
                }
            }
        }
        if draft.message_id.is_some() {
            if found.owner.as_ref().is_some_and(|owner| owner.role != Some(Role::Assistant)) {
                let message = "expected the assistant's message as \"messageId\", but found another's";
                return Err(request::error(message).into());
            }
            return Ok(found);
        }
        // Some providers reuse ids. Where a client's calls had to be added, another result behind another answer
        // belongs to another call.
        let CallMessages { owner, result: answer, newest_answer: newest, .. } = found;
        let is_newest = |owner: &Message| newest.as_ref().is_some_and(|newest| newest.id == owner.id);
        let content = draft.content();
        let is_other_answer = answer.as_ref().is_some_and(|answer| answer.content != content);
        let is_other =
            owner.as_ref().is_none_or(|owner| owner.rev > 0 && !is_newest(owner)) && is_other_answer;
        let (answer, other) = if is_other { (None, answer) } else { (answer, None) };
        Ok(match owner {
            Some(owner) if !is_other => CallMessages {
                owner: Some(owner),
                result: answer,
                newest_answer: newest,
                other_result: other,
            },
            _ => CallMessages { owner: newest, result: answer, newest_answer: None, other_result: other },
        })
    }

    // Reads the executions, each once: some were appended twice, since nobody could say whether the first attempt was
    // written, or by two processes.
    async fn read_executions(&self, io: &Io) -> Result<Vec<ToolExecution>, Trouble> {
        let size = self.size(io, LogName::Tools).await?;
        let bytes = io.read_range(&self.log_file(LogName::Tools), 0, size).await?;
        let mut met = BTreeSet::new();
        let mut recorded = parse_executions(&bytes);
        recorded.retain(|execution| {
            let owner = execution.message_id.clone().filter(|id| !id.is_empty());
            let by_message = owner.map(|owner| (owner, execution.tool_call_id.clone()));
            let own = if execution.id.is_empty() { &execution.tool_call_id } else { &execution.id };
            met.insert(by_message.unwrap_or_else(|| (String::new(), own.clone())))
        });
        Ok(recorded)
    }
}

/// The results of a session's calls.
#[derive(Default)]
pub(super) struct ToolResults {
    // For each call, the message that made it last so far.
    owners: BTreeMap<String, String>,
    contents: BTreeMap<String, Text>,
}

impl ToolResults {
    /// Takes the next messages, oldest first.
    pub fn add_messages(&mut self, messages: &[Message]) {
        for message in messages {
            for call in message.tool_calls() {
                self.owners.insert(call.id.clone(), message.id.clone());
            }
            let Some(tool) = &message.tool else { continue };
            let owner = self.owners.get(&tool.call_id).map_or("", String::as_str);
            for owner in [None, Some(owner)] {
                self.contents.insert(result_key(owner, &tool.call_id), message.content.clone());
            }
        }
    }

    /// Finds the result of a call of this message (`""`: of no message); of any message unless given.
    pub fn result_of(&self, owner: Option<&str>, call: &str) -> Option<&Text> {
        self.contents.get(&result_key(owner, call))
    }
}

fn result_key(owner: Option<&str>, call: &str) -> String {
    to_json(&owner) + call
}

impl CallMessages {
    fn add_message(&mut self, message: Message, draft: &ExecutionDraft, is_on_path: &dyn Fn(&str) -> bool) {
        let answers = |tool: &message::Tool| tool.call_id == draft.id;
        let is_answer = message.role == Some(Role::Tool) && message.tool.as_ref().is_some_and(answers);
        let is_owner = match &draft.message_id {
            Some(id) => message.id == *id,
            None => has_call(&message, &draft.id),
        };
        let is_newest =
            self.newest_answer.is_none() && message.role == Some(Role::Assistant) && is_on_path(&message.id);
        if is_newest {
            self.newest_answer = Some(message.clone());
        }
        if is_owner {
            self.owner = Some(message);
        } else if is_answer && self.result.is_none() {
            self.result = Some(message);
        }
    }
}

fn has_call(message: &Message, id: &str) -> bool {
    message.tool_calls().iter().any(|call| call.id == id)
}

// A revision of the message with the call added.
fn with_call(owner: &Message, draft: &ExecutionDraft) -> Message {
    let mut again = owner.clone();
    again.role = Some(Role::Assistant);
    again.rev += 1;
    let call = ToolCall {
        id: draft.id.clone(),
        name: draft.name.clone(),
        arguments: draft.arguments.as_str().into(),
    };
    again.assistant.get_or_insert_default().tool_calls.push(call);
    again
}

fn parse_executions(log: &[u8]) -> Vec<ToolExecution> {
    records(log).filter_map(|record| tool_execution::read(&record).0).collect()
}

fn render_tool_response(
    execution: &ToolExecution,
    content: Option<&Text>,
    is_new: bool,
    lines: &str,
) -> String {
    let execution = execution_with_result(execution, content);
    format!("{{\"execution\":{execution},\"isNew\":{is_new},\"lines\":{}}}", to_json(lines))
}

// Adds the result's text, which is a message's content.
fn execution_with_result(execution: &ToolExecution, content: Option<&Text>) -> String {
    let json = to_open_json(execution);
    let Some(content) = content else { return json };
    let result = to_json(&execution.result);
    let whole = format!("{},\"content\":{}}}", &result[..result.len() - 1], to_json(content));
    let fields = Fields::parse(&json).expect("an execution is written as an object");
    let fields = fields.iter().map(|(key, value)| {
        let value = if key == "\"result\"" { &whole } else { value };
        format!("{key}:{value}")
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}
