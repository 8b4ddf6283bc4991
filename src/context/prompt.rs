//! The prompt for a model that writes a summary. It shows the names of calls and the beginnings of their arguments,
//! else the model could not know which files were changed.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::record::message::{Message, Role};
use crate::state::cut_text;

// The bytes shown of a tool result, and of a call's arguments.
const GLIMPSE_BYTES: usize = 200;

const SYSTEM_PROMPT: &str = "You are summarizing a coding conversation for context continuity.
The summary will be injected into a future conversation so the AI can continue helping.

PRESERVE in your summary:
- The original task/goal the user requested
- Key technical decisions and their rationale
- Files that were created, modified, or deleted
- Current state of the work (what's done, what's pending)
- Any errors encountered and how they were resolved
- Important constraints or preferences the user mentioned

DO NOT include:
- Greetings, pleasantries, or filler
- Full file contents (just note what files were involved)
- Detailed tool outputs (just outcomes)
- Redundant information

Write as a concise narrative paragraph, not bullet points.";

/// Returns the system and the user prompt that ask for a summary of about `tokens` tokens. `previous` is the summary
/// of what came before, which the new one extends. `conversation` is each message by [`render_message`].
pub fn summary_prompt(conversation: &str, previous: Option<&str>, tokens: u32) -> [String; 2] {
    let previous =
        previous.map(|text| format!("SUMMARY SO FAR, TO BE EXTENDED:\n\n{text}\n\n")).unwrap_or_default();
    let user_prompt = format!(
        "Target length: approximately {tokens} tokens.\n\n{previous}CONVERSATION TO SUMMARIZE:\n\n{conversation}"
    );
    [SYSTEM_PROMPT.into(), user_prompt]
}

/// Renders a message for the summarizing model, with only a glimpse of tool results and call arguments.
pub fn render_message(message: &Message) -> String {
    let content = message.content.as_str();
    let speaker = match message.role {
        Some(Role::System) => "SYSTEM",
        Some(Role::User) => "USER",
        Some(Role::Assistant) => "ASSISTANT",
        Some(Role::Tool) => {
            let name = message.tool.as_ref().map(|tool| tool.name.as_str()).unwrap_or_default();
            return format!("TOOL: [Tool {name}: {}]", cut_glimpse(content));
        }
        None => return String::new(),
    };
    let calls = message.tool_calls().iter();
    let calls: Vec<String> = calls
        .map(|call| format!("\n[Calls {}: {}]", call.name, cut_glimpse(call.arguments.as_str())))
        .collect();
    format!("{speaker}: {content}{}", calls.concat())
}

fn cut_glimpse(text: &str) -> String {
    let shown = cut_text(text, GLIMPSE_BYTES);
    if shown.len() < text.len() { format!("{shown}...") } else { shown.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::message::{Assistant, Tool, ToolCall};

    #[test]
    fn of_a_call_and_of_its_result_a_glimpse_is_told() {
        for length in [1, GLIMPSE_BYTES, GLIMPSE_BYTES + 1, 1000] {
            let text = "x".repeat(length);
            let shown = if length > GLIMPSE_BYTES {
                format!("{}...", "x".repeat(GLIMPSE_BYTES))
            } else {
                text.clone()
            };
            let call = ToolCall { id: "1".into(), name: "Read".into(), arguments: text.as_str().into() };
            let assistant = Assistant { tool_calls: [call.clone(), call].into(), ..Assistant::default() };
            let message = Message {
                role: Some(Role::Assistant),
                content: "I look.".into(),
                assistant: Some(assistant),
                ..Message::default()
            };
            assert_eq!(
                render_message(&message),
                format!("ASSISTANT: I look.{}", format!("\n[Calls Read: {shown}]").repeat(2))
            );
            let tool = Some(Tool { call_id: "1".into(), name: "Read".into(), ..Tool::default() });
            let content = text.as_str().into();
            let result = Message { role: Some(Role::Tool), content, tool, ..Message::default() };
            assert_eq!(render_message(&result), format!("TOOL: [Tool Read: {shown}]"));
        }
    }
}
