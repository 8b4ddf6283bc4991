//! What a summary without a model says, line by line.
#![cfg(feature = "interop")]
#![cfg(not(target_arch = "wasm32"))]

use crate::common;

use common::{answered, said};
use leftoff::context::{Known, extract};
use leftoff::record::message::{Assistant, Message, Role, Tool, ToolCall};
use leftoff::state::State;
use leftoff::tokens::estimate;

fn call(id: &str, name: &str, arguments: &str) -> Message {
    let call = ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() };
    let assistant = Assistant { tool_calls: vec![call], ..Assistant::default() };
    Message { assistant: Some(assistant), ..said(Role::Assistant, "") }
}

fn edited(path: &str) -> [Message; 2] {
    [call(path, "Edit", &format!("{{\"file_path\":\"{path}\"}}")), answered(path, "Edit", "")]
}

fn ran(id: &str, command: &str, is_error: bool) -> [Message; 2] {
    let tool = Tool { call_id: id.into(), name: "Bash".into(), is_error, ..Tool::default() };
    let result = Message { tool: Some(tool), ..said(Role::Tool, "") };
    [call(id, "Bash", &serde_json::json!({ "command": command }).to_string()), result]
}

fn summary(messages: &[Message], pins: &[String], tokens: u32) -> String {
    let mut state = State::default();
    messages.iter().for_each(|message| state.take(message));
    extract(Known { state: &state, project: "/p", pins }, tokens, &estimate)
}

#[test]
fn each_section_has_its_title_once_and_its_lines_behind() {
    let todo = r#"{"todos":[{"content":"write the docs","status":"pending"}]}"#;
    let all = [
        vec![said(Role::User, "Mend the login.")],
        edited("/p/src/a.rs").to_vec(),
        edited("/p/src/b.rs").to_vec(),
        edited("/p/README.md").to_vec(),
        edited("/elsewhere/c.rs").to_vec(),
        ran("1", "npm test", true).to_vec(),
        ran("2", "cargo test", true).to_vec(),
        ran("3", "make", true).to_vec(),
        ran("4", "make", false).to_vec(),
        vec![call("5", "TodoWrite", todo), answered("5", "TodoWrite", "")],
        vec![said(Role::User, "We decided to use src/a.rs, never src/b.rs.")],
        vec![said(Role::Assistant, "The login works.")],
    ];
    let expected = "PROJECT: /p

ORIGINAL TASK: Mend the login.

PINNED MESSAGES:
- keep this

OPEN TASKS:
- write the docs

FILES MODIFIED THIS SESSION:
- /elsewhere/c.rs (modified)
- README.md (modified)
- src/: b.rs, a.rs (modified)

COMMANDS THAT FAILED:
- `make` failed, passed when it was run again
- `cargo test`, `npm test` each failed, has not passed since

KEY DECISIONS MADE:
- We decided to use src/a.rs, never src/b.rs.

CURRENT STATUS: The login works.";
    assert_eq!(summary(&all.concat(), &["keep this".into()], 2000), expected);
}

#[test]
fn a_sentence_that_says_what_another_says_is_left_out() {
    let decided = |text: &str| said(Role::User, &format!("We decided to use {text}."));
    let first = "the crate memchr for searching because it is 5 times as fast";
    // Two words of a dozen are others; and half of them.
    let same = "the crate memchr for searching because it was 6 times as fast";
    let other = "a table of src/classes.rs instead of 12 regular expressions";
    let of = |texts: &[&str]| {
        let mut all = vec![said(Role::User, "Go.")];
        all.extend(texts.iter().map(|text| decided(text)));
        let summary = summary(&all, &[], 2000);
        summary.lines().filter(|line| line.starts_with("- We decided")).count()
    };
    assert_eq!((of(&[first]), of(&[first, other])), (1, 2));
    assert_eq!((of(&[first, same]), of(&[first, same, other])), (1, 2));
}

#[test]
fn commands_share_a_fifth_of_what_a_summary_may_have() {
    let long = |name: &str| format!("{name} {}", "step ".repeat(50)).trim_end().to_owned();
    let commands = ["one", "two"].map(long);
    let told = |count: usize, tokens: u32| {
        let mut all = vec![said(Role::User, "Go.")];
        all.extend(commands[..count].iter().flat_map(|command| ran(command, command, true)));
        let told = summary(&all, &[], tokens);
        commands.iter().filter(|command| told.contains(&format!("`{command}`"))).count()
    };
    // Four bytes a token: a fifth of 400 tokens are 320 bytes, in which one of these has room, and not two.
    assert_eq!(commands.each_ref().map(String::len), [253; 2]);
    assert_eq!([told(1, 400), told(2, 400), told(2, 700), told(1, 200)], [1, 0, 2, 0]);
}

#[test]
fn a_long_command_is_shown_by_its_beginning_and_its_end() {
    let command = format!("begin {} end", "middle ".repeat(60));
    let told =
        summary(&[vec![said(Role::User, "Go.")], ran("1", &command, true).to_vec()].concat(), &[], 300);
    let line = told.lines().find(|line| line.starts_with("- `")).expect("a command");
    let shown = line.split('`').nth(1).expect("the command");
    assert!(shown.starts_with("begin middle") && shown.contains(" ... "), "{line}");
    // Of what runs on, the record has the first 300 bytes.
    assert!(command[..300].trim_end().ends_with(shown.rsplit(" ... ").next().unwrap_or_default()), "{line}");
    let short = "x".repeat(60);
    let told = summary(&[vec![said(Role::User, "Go.")], ran("1", &short, true).to_vec()].concat(), &[], 300);
    assert!(told.contains(&format!("`{short}`")), "{told}");
}
