//! Reads events, which the client shows. In most versions their messages stand in items, too.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::interop::codex::duplicates::RecordSource;
use crate::interop::codex::table::REASONS;
use crate::interop::codex::{CallEnd, Reader, Record};
use crate::interop::conversation::RecordOrigin;
use crate::interop::object::MAX_NAME_BYTES;
use crate::interop::servers::tool_prefix;
use crate::interop::{Losses, Object};
use crate::json::text::Text;
use crate::record::message::{Message, Role, Usage};
use crate::shapes::answer_pieces::{AnswerPiece, TEXT_SEPARATOR};

impl Reader {
    /// Reads an event; returns false if it was listed as lost as a whole.
    pub(super) fn read_event(&mut self, record: Record<'_>, kind: &str, path: &str) -> bool {
        let Record { mut payload, origin } = record;
        let losses = &mut self.talk.losses;
        match kind {
            "user_message" | "agent_message" => {
                let text: String = payload.take("message", losses).unwrap_or_default();
                let role = if kind == "user_message" { Role::User } else { Role::Assistant };
                payload.report_rest_lost(losses, REASONS);
                self.add_event_message(role, text, origin);
            }
            "item_completed" => return self.read_completed_item(Record { payload, origin }, path),
            "token_count" => {
                if let Some(mut info) = payload.take_object("info", losses) {
                    let counted = info.take_object("last_token_usage", losses);
                    let counted = counted.map(|counts| usage(counts, losses));
                    info.report_rest_lost(losses, REASONS);
                    self.set_usage(counted);
                }
                payload.report_rest_lost(&mut self.talk.losses, REASONS);
                self.answer = None;
            }
            "thread_rolled_back" => {
                let turns: u64 = payload.take("num_turns", losses).unwrap_or_default();
                payload.report_rest_lost(losses, REASONS);
                self.roll_back(turns);
            }
            "thread_name_updated" => {
                let title = payload.take("thread_name", losses);
                self.talk.session.title = title.or(self.talk.session.title.take());
                payload.report_rest_lost(&mut self.talk.losses, REASONS);
            }
            _ => {
                match kind {
                    "exec_command_end" | "patch_apply_end" => self.note_end(&mut payload, "call_id"),
                    "turn_aborted" => self.talk.cut_short(),
                    "mcp_tool_call_end" => {
                        let call = payload.raw("invocation").and_then(|raw| Object::parse("", raw).ok());
                        self.note_tool(call);
                    }
                    _ => {}
                }
                return self.report_lost_record(path);
            }
        }
        true
    }

    // Notes the tool of an MCP server that was called, by its full name.
    fn note_tool(&mut self, call: Option<Object<'_>>) {
        let Some(mut call) = call else { return };
        let quiet = &mut Losses::default();
        let (server, tool): (Option<String>, Option<String>) =
            (call.take("server", quiet), call.take("tool", quiet));
        if let (Some(server), Some(tool)) = (server, tool) {
            let name = format!("{}__{tool}", tool_prefix(&server));
            let tools = &mut self.talk.session.tools;
            if name.len() <= MAX_NAME_BYTES && !tools.contains(&name) {
                tools.push(name);
            }
        }
    }

    // Reads the event in which newer versions repeat each complete item.
    fn read_completed_item(&mut self, record: Record<'_>, path: &str) -> bool {
        let Record { mut payload, origin } = record;
        let quiet = &mut Losses::default();
        let Some(mut item) = payload.raw("item").and_then(|raw| Object::parse("", raw).ok()) else {
            return self.report_lost_record(path);
        };
        let kind: String = item.take("type", quiet).unwrap_or_default();
        let role = match kind.as_str() {
            "UserMessage" => Role::User,
            "AgentMessage" => Role::Assistant,
            _ => {
                if kind == "McpToolCall" {
                    self.note_tool(payload.raw("item").and_then(|raw| Object::parse("", raw).ok()));
                }
                self.note_end(&mut item, "id");
                return self.report_lost_record(&[path, "/", &kind].concat());
            }
        };
        payload.take_raw("item");
        let losses = &mut self.talk.losses;
        let mut item = item.with_path(format!("{path}.payload.item"));
        let mut texts: Vec<Text> = Vec::new();
        for (_, mut block) in item.take_blocks("content", losses) {
            texts.extend(block.take("text", losses));
            block.report_rest_lost(losses, REASONS);
        }
        item.report_rest_lost(losses, REASONS);
        payload.report_rest_lost(losses, REASONS);
        let text = Text::join(texts, TEXT_SEPARATOR).as_str().into();
        self.add_event_message(role, text, origin);
        true
    }

    // Adds the message of an event, unless an item gave it.
    fn add_event_message(&mut self, role: Role, text: String, origin: RecordOrigin) {
        if text.is_empty() || self.duplicates.take_duplicate(RecordSource::Event, role, &text).is_some() {
            return;
        }
        let at = if role == Role::Assistant {
            self.add_answer_piece(AnswerPiece::Text(text.as_str().into()), origin)
        } else {
            let message = Message { role: Some(role), content: text.as_str().into(), ..Message::default() };
            self.add_prompt(message, origin)
        };
        self.duplicates.note_message(RecordSource::Event, role, text, at);
    }

    // Notes how something ended that the client ran, or would have run.
    fn note_end(&mut self, object: &mut Object<'_>, key: &str) {
        let quiet = &mut Losses::default();
        let status: Option<String> = object.take("status", quiet);
        let exit_code: Option<i64> = object.take("exit_code", quiet);
        let is_unsuccessful = object.take("success", quiet) == Some(false);
        let not_run = status.as_deref() == Some("declined");
        let end = CallEnd {
            // The client writes a negative code if there is none.
            exit_code: exit_code.filter(|code| *code >= 0 && !not_run),
            not_run,
            is_error: not_run
                || is_unsuccessful
                || status.as_deref() == Some("failed")
                || exit_code.is_some_and(|code| code != 0),
        };
        let id: Option<String> = object.take(key, quiet);
        self.call_ends.extend(id.map(|id| (id, end)));
    }

    fn roll_back(&mut self, turns: u64) {
        let kept = self.prompts.len().saturating_sub(usize::try_from(turns).unwrap_or(usize::MAX));
        if let Some(first) = self.prompts.get(kept).copied() {
            self.prompts.truncate(kept);
            self.answer = None;
            self.talk.rewind(first);
        }
    }

    /// Reads the token count of an answer; the answer ends with it.
    pub(super) fn read_usage_record(&mut self, mut payload: Object<'_>) -> bool {
        let losses = &mut self.talk.losses;
        let counted = payload.take_object("usage", losses).map(|counts| usage(counts, losses));
        payload.report_rest_lost(losses, REASONS);
        self.set_usage(counted);
        self.answer = None;
        true
    }

    // Newer versions count an answer twice.
    fn set_usage(&mut self, usage: Option<Usage>) {
        let newest = self.talk.drafts.iter_mut().rfind(|draft| draft.message.role == Some(Role::Assistant));
        if let Some(assistant) = newest.and_then(|draft| draft.message.assistant.as_mut()) {
            assistant.usage = assistant.usage.take().or(usage);
        }
    }
}

// The cached tokens are counted in the input there, and beside it here.
fn usage(mut counts: Object<'_>, losses: &mut Losses) -> Usage {
    let input: Option<u64> = counts.take("input_tokens", losses);
    let cache_read: Option<u64> = counts.take("cached_input_tokens", losses);
    let usage = Usage {
        input: input.map(|input| input.saturating_sub(cache_read.unwrap_or_default())),
        output: counts.take("output_tokens", losses),
        cache_read,
        cache_write: counts.take("cache_write_input_tokens", losses),
        reasoning: counts.take("reasoning_output_tokens", losses),
        ..Usage::default()
    };
    counts.report_rest_lost(losses, REASONS);
    usage
}
