//! Outlines a conversation, for finding a place in it: each question, and the work it led to.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::listing::cut_to_columns;
use crate::plain::harmless::harmless;
use crate::record::message::{Message, Role};

/// The most terminal columns of a title.
const MAX_TITLE_COLUMNS: usize = 80;

/// A turn: a user message and everything until the next one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// The index of its first message.
    pub start: usize,
    /// The id of its first message.
    pub id: String,
    /// The first line of the user message, cut to 80 columns; empty if the turn has none.
    pub title: String,
    /// The time of its first message, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// The number of its messages.
    pub message_count: usize,
    /// The tools called, in the order of their first calls.
    pub tools: Vec<ToolCount>,
    /// The number of results that say that the tool failed.
    pub failed: usize,
}

/// A tool, and the number of its calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolCount {
    /// The tool's name.
    pub name: String,
    /// The number of calls.
    pub count: usize,
}

/// Splits a conversation into turns, oldest first. A user message begins one, and so does the first message of all.
pub fn outline(messages: &[Message]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        let is_asked = message.role == Some(Role::User);
        if is_asked || turns.is_empty() {
            turns.push(new_turn(place, message, is_asked));
        }
        let Some(turn) = turns.last_mut() else { continue };
        turn.message_count += 1;
        turn.failed += usize::from(message.tool.as_ref().is_some_and(|tool| tool.is_error));
        for call in message.tool_calls() {
            match turn.tools.iter_mut().find(|used| used.name == call.name) {
                Some(used) => used.count += 1,
                None => turn.tools.push(ToolCount { name: call.name.clone(), count: 1 }),
            }
        }
    }
    turns
}

fn new_turn(start: usize, message: &Message, is_asked: bool) -> Turn {
    let question = if is_asked { message.content.as_str() } else { "" };
    let line = question.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let title = cut_to_columns(&harmless(line), MAX_TITLE_COLUMNS);
    Turn { start, id: message.id.clone(), title, timestamp: message.timestamp.clone(), ..Turn::default() }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::shapes::{self, Format};

    fn messages(json: &str) -> Vec<Message> {
        shapes::read(json, Format::Leftoff).unwrap()
    }

    #[test]
    fn each_message_is_in_one_turn_and_each_question_begins_one() {
        let messages = messages(
            r#"[{"id":"0","role":"system","content":"Be brief."},
            {"id":"1","role":"user","content":"\n  Fix the parser.\nIt is broken."},
            {"id":"2","role":"assistant","content":"","assistant":{"toolCalls":[{"id":"a","name":"Read","arguments":"{}"},
            {"id":"b","name":"Bash","arguments":"{}"},{"id":"c","name":"Read","arguments":"{}"}]}},
            {"id":"3","role":"tool","content":"no","tool":{"callId":"b","name":"Bash","isError":true}},
            {"id":"4","role":"user","content":"Thanks."}]"#,
        );
        let turns = outline(&messages);
        let outlined: Vec<_> = turns
            .iter()
            .map(|turn| (turn.start, turn.title.as_str(), turn.message_count, turn.failed))
            .collect();
        assert_eq!(outlined, [(0, "", 1, 0), (1, "Fix the parser.", 3, 1), (4, "Thanks.", 1, 0)]);
        let tools: Vec<_> = turns[1].tools.iter().map(|used| (used.name.to_string(), used.count)).collect();
        assert_eq!(tools, [("Read".into(), 2), ("Bash".into(), 1)]);
        assert_eq!(turns.iter().map(|turn| turn.message_count).sum::<usize>(), messages.len());
        assert_eq!(outline(&[]), []);
    }
}
