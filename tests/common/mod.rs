//! What the tests share: logs as leftoff writes them.

use leftoff::session::handle::Session;
use leftoff::session::message::{Assistant, Message, Role, Tool, ToolCall};
use leftoff::time::Stamp;

pub fn stamp(chance: u64) -> Stamp {
    let mut entropy = [0; 32];
    entropy[..8].copy_from_slice(&chance.to_le_bytes());
    Stamp { now_ms: 1_763_812_800_000, offset_minutes: 0, entropy }
}

pub fn said(role: Role, content: &str) -> Message {
    Message { role: Some(role), content: content.into(), ..Message::default() }
}

#[allow(dead_code)]
pub fn called(content: &str, calls: &[(&str, &str)]) -> Message {
    let call = |(id, name): &(&str, &str)| ToolCall {
        id: (*id).into(),
        name: (*name).into(),
        arguments: "{}".into(),
    };
    let assistant = Assistant { tool_calls: calls.iter().map(call).collect(), ..Assistant::default() };
    Message { assistant: Some(assistant), ..said(Role::Assistant, content) }
}

#[allow(dead_code)]
pub fn answered(id: &str, name: &str, content: &str) -> Message {
    let tool = Tool { call_id: id.into(), name: name.into(), ..Tool::default() };
    Message { tool: Some(tool), ..said(Role::Tool, content) }
}

/// Appends to a log and lets the session observe it.
#[allow(dead_code)]
pub fn append(session: &mut Session, log: &mut Vec<u8>, drafts: Vec<Message>) {
    // The length of a log that grows is never the same twice.
    let (bytes, _) =
        session.stage_messages(drafts, &stamp(log.len() as u64), None).expect("nothing else is staged");
    let end = log.len() as u64;
    log.extend(bytes);
    let found = session.messages().commit(end).expect("the log grew by the batch");
    assert_eq!(session.take_messages(found), []);
}
