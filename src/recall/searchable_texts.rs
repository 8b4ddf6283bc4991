//! The searchable texts of a message, each as said, done or shown.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::fields::end_of_string;
use crate::json::text::{Text, grapheme_boundary};
use crate::plain::wrapping;
use crate::recall::terms::Field;
use crate::record::message::{Message, Role, ToolCall};

// The bytes indexed of a text: its beginning, and its end, where its conclusion stands.
const SAID_BYTES: (usize, usize) = (64 * 1024, 16 * 1024);
const SHOWN_BYTES: (usize, usize) = (2 * 1024, 1024);
const DONE_BYTES: usize = 1024;

/// Returns the searchable texts of a message. What a client put around a user's words is none; nor are instructions to
/// the model, which every context has.
pub(crate) fn searchable_texts(message: &Message) -> Vec<(Field, Cow<'_, str>)> {
    let content = message.content.as_str();
    match message.role {
        Some(Role::User) if message.is_injected() => Vec::new(),
        Some(Role::User) => wrapping::user_words(content)
            .into_iter()
            .flat_map(|text| head_and_tail(Field::Said, text, SAID_BYTES))
            .collect(),
        Some(Role::Assistant) => {
            let calls = message.tool_calls().iter().map(|call| (Field::Done, Cow::Owned(render_call(call))));
            head_and_tail(Field::Said, content, SAID_BYTES).chain(calls).collect()
        }
        Some(Role::Tool) => head_and_tail(Field::Shown, content, SHOWN_BYTES).collect(),
        Some(Role::System) | None => Vec::new(),
    }
}

fn head_and_tail(
    field: Field,
    text: &str,
    (head, tail): (usize, usize),
) -> impl Iterator<Item = (Field, Cow<'_, str>)> {
    let is_whole = text.len() <= head + tail;
    let head = if is_whole { text.len() } else { grapheme_boundary(text, head, false) };
    let tail = if is_whole { text.len() } else { grapheme_boundary(text, text.len() - tail, true) };
    let parts = [&text[..head], &text[tail..]].into_iter().filter(|part| !part.is_empty());
    parts.map(move |part| (field, Cow::Borrowed(part)))
}

/// Renders a call as text: the tool, then the values of its arguments, one per line. The arguments' names are the
/// tool's and say nothing.
pub(crate) fn render_call(call: &ToolCall) -> String {
    let mut text = call.name.clone();
    let json = call.arguments.as_str();
    let mut at = 0;
    while let Some(start) = json.get(at..).and_then(|rest| rest.find('"')).filter(|_| text.len() < DONE_BYTES)
    {
        let literal = at + start..end_of_string(json.as_bytes(), at + start + 1);
        at = literal.end;
        let is_key = json[at..].trim_ascii_start().starts_with(':');
        if let Some(value) = Text::decode(&json[literal]).filter(|_| !is_key) {
            let room = DONE_BYTES.saturating_sub(text.len());
            text.push('\n');
            text.push_str(&value.as_str()[..grapheme_boundary(value.as_str(), room, false)]);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::message;
    use crate::record::scan::Record;

    fn check(json: &str, expected: &[(Field, &str)]) {
        let message = message::read(&Record::from_line(0, json.into())).0.expect("it is a message");
        let found = searchable_texts(&message);
        let found: Vec<(Field, &str)> = found.iter().map(|(field, text)| (*field, text.as_ref())).collect();
        assert_eq!(found, expected, "{json}");
    }

    #[test]
    fn each_part_of_a_message_is_found_as_what_it_is() {
        check(r#"{"role":"user","content":"Run it."}"#, &[(Field::Said, "Run it.")]);
        check(
            r#"{"role":"assistant","content":"I do.","assistant":{"toolCalls":[{"id":"a","name":"Bash","arguments":"{\"command\":\"ls \\\"x\\\"\",\"timeout\":5,\"deep\":{\"more\":[\"y\"]}}"}]}}"#,
            &[(Field::Said, "I do."), (Field::Done, "Bash\nls \"x\"\ny")],
        );
        check(
            r#"{"role":"tool","content":"a\nb","tool":{"callId":"a","name":"Bash"}}"#,
            &[(Field::Shown, "a\nb")],
        );
    }

    #[test]
    fn what_nobody_said_is_not_found() {
        check(r#"{"role":"system","content":"Be brief."}"#, &[]);
        check(
            r#"{"role":"user","content":"Go on.\n<system-reminder>\nBe brief.\n</system-reminder>"}"#,
            &[(Field::Said, "Go on.")],
        );
        check(r#"{"role":"user","content":"[EARLIER CONVERSATION 1]\nOf 9 messages"}"#, &[]);
        check(
            r#"{"role":"user","content":"x","source":{"agent":"claude-code","id":"1","isMeta":true}}"#,
            &[],
        );
    }

    #[test]
    fn arguments_that_are_no_json_are_looked_at_all_the_same() {
        for arguments in [r#"{\"path\":\"a.rs"#, r#"{\"path\":\"a.rs\\"#, r#"\""#, ""] {
            let json = alloc::format!(
                r#"{{"role":"assistant","content":"","assistant":{{"toolCalls":[{{"id":"a","name":"T","arguments":"{arguments}"}}]}}}}"#
            );
            let message = message::read(&Record::from_line(0, json)).0.expect("it is a message");
            assert!(searchable_texts(&message)[0].1.starts_with('T'), "{arguments}");
        }
    }

    #[test]
    fn of_long_texts_the_ends_are_found() {
        let text = alloc::format!("first{}last", "é".repeat(100_000));
        let message = Message { role: Some(Role::Tool), content: text.as_str().into(), ..Message::default() };
        let found = searchable_texts(&message);
        assert!(found.len() == 2 && found[0].1.starts_with("first") && found[1].1.ends_with("last"));
        assert!(found[0].1.len() <= SHOWN_BYTES.0 && found[1].1.len() <= SHOWN_BYTES.1);
    }
}
