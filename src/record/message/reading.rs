//! Reads the fields of messages: a value of the wrong kind is reported, an unknown field is kept.

use alloc::vec::Vec;

use super::{
    Assistant, Attachment, LineOrigin, Message, OrderPart, Reasoning, Role, Tokens, Tool, ToolCall, Usage,
    drop_line_keys, take_timestamp,
};
use crate::json::blob::BlobId;
use crate::json::fields::{BadValue, Field, Fields, FromFields, reject};

impl FromFields for Message {
    fn from_fields(fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Message> {
        fields.has("role").then(|| Message::parse_fields(fields, bad))
    }
}

impl Message {
    /// Builds a message from its fields; the role may be missing.
    fn parse_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Message {
        drop_line_keys(&mut fields);
        Message {
            id: fields.take("id", bad).unwrap_or_default(),
            seq: fields.take("seq", bad),
            parent_id: fields.take("parentId", bad),
            timestamp: take_timestamp(&mut fields, bad),
            role: fields.take("role", bad),
            content: fields.take("content", bad).unwrap_or_default(),
            tokens: fields.take("tokens", bad),
            tool: fields.take("tool", bad),
            assistant: fields.take("assistant", bad),
            attachments: fields.take("attachments", bad).unwrap_or_default(),
            rev: fields.take("rev", bad).unwrap_or_default(),
            partial: fields.take("partial", bad).unwrap_or_default(),
            branch: fields.take("branch", bad).unwrap_or_default(),
            source: fields.take("source", bad),
            extra: fields.rest(),
        }
    }

    /// Builds a message that was read from one log for another log, also if leftoff does not know its role.
    pub(crate) fn parse_copy(fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Message {
        let mut message = Message::parse_fields(fields, bad);
        if message.role.is_none() {
            // Readers recognize a message line by its role.
            message.extra.0.push(("\"role\"".into(), "null".into()));
        }
        message
    }
}

impl Field for Role {
    fn read(raw: &str, path: &str, bad: &mut Vec<BadValue>) -> Option<Role> {
        match raw {
            "\"system\"" => Some(Role::System),
            "\"user\"" => Some(Role::User),
            "\"assistant\"" => Some(Role::Assistant),
            "\"tool\"" => Some(Role::Tool),
            _ => reject(raw, path, "\"system\", \"user\", \"assistant\" or \"tool\"", bad),
        }
    }
}

impl FromFields for Tokens {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Tokens> {
        Some(Tokens {
            count: fields.take("count", bad)?,
            cumulative: fields.take("cumulative", bad),
            by: fields.take("by", bad),
            extra: fields.rest(),
        })
    }
}

impl FromFields for Tool {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Tool> {
        Some(Tool {
            call_id: fields.take("callId", bad).unwrap_or_default(),
            name: fields.take("name", bad).unwrap_or_default(),
            is_error: fields.take("isError", bad).unwrap_or_default(),
            not_run: fields.take("notRun", bad).unwrap_or_default(),
            exit_code: fields.take("exitCode", bad),
            is_json: fields.take("isJson", bad).unwrap_or_default(),
            extra: fields.rest(),
        })
    }
}

impl FromFields for Assistant {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Assistant> {
        Some(Assistant {
            model: fields.take("model", bad),
            tool_calls: fields.take("toolCalls", bad).unwrap_or_default(),
            finish_reason: fields.take("finishReason", bad),
            duration_ms: fields.take("durationMs", bad),
            reasoning: fields.take("reasoning", bad).unwrap_or_default(),
            usage: fields.take("usage", bad),
            order: fields.take("order", bad).unwrap_or_default(),
            extra: fields.rest(),
        })
    }
}

impl FromFields for ToolCall {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<ToolCall> {
        Some(ToolCall {
            id: fields.take("id", bad).unwrap_or_default(),
            name: fields.take("name", bad).unwrap_or_default(),
            arguments: fields.take("arguments", bad).unwrap_or_default(),
        })
    }
}

impl FromFields for Reasoning {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Reasoning> {
        Some(Reasoning {
            text: fields.take("text", bad).unwrap_or_default(),
            signature: fields.take("signature", bad),
            data: fields.take("data", bad),
        })
    }
}

impl FromFields for Usage {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Usage> {
        Some(Usage {
            input: fields.take("input", bad),
            output: fields.take("output", bad),
            cache_read: fields.take("cacheRead", bad),
            cache_write: fields.take("cacheWrite", bad),
            cache_write_hour: fields.take("cacheWriteHour", bad),
            reasoning: fields.take("reasoning", bad),
            extra: fields.rest(),
        })
    }
}

impl FromFields for OrderPart {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<OrderPart> {
        if let Some(span) = fields.take::<Vec<u32>>("text", bad) {
            return match span[..] {
                [start, end] if start <= end => Some(OrderPart::Text(start, end)),
                _ => None,
            };
        }
        let call = fields.take("call", bad).map(OrderPart::Call);
        call.or_else(|| fields.take("reasoning", bad).map(OrderPart::Reasoning))
    }
}

impl FromFields for Attachment {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Attachment> {
        Some(Attachment {
            mime: fields.take("mime", bad).unwrap_or_default(),
            name: fields.take("name", bad),
            path: fields.take("path", bad),
            data: fields.take("data", bad),
            blob: fields.take::<BlobId>("blob", bad).map(|id| id.0),
            bytes: fields.take("bytes", bad),
        })
    }
}

impl FromFields for LineOrigin {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<LineOrigin> {
        Some(LineOrigin {
            agent: fields.take("agent", bad).unwrap_or_default(),
            id: fields.take("id", bad).unwrap_or_default(),
            extra: fields.rest(),
        })
    }
}
