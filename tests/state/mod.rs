//! What is known of a conversation: from the tools of each agent, from what was said, and the same however it was read.
//! Tries: src/state/
#![cfg(feature = "interop")]
#![allow(missing_docs)]
#![cfg(not(target_arch = "wasm32"))]

mod bounds;
mod sentences;
mod shell;
mod tasks;

use crate::common;
use common::{append, learn, result_message, text_message};
use leftoff::context::{SummaryInput, extract_summary};
use leftoff::record::message::{Assistant, Message, Role, Tool, ToolCall};
use leftoff::session::checkpoint::Checkpoint;
use leftoff::session::handle::Session;
use leftoff::state::{FactKind, State};
use leftoff::tokens::estimate;
use proptest::prelude::*;

fn call(id: &str, name: &str, arguments: &str) -> Message {
    let call = ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() };
    let assistant = Assistant { tool_calls: vec![call], ..Assistant::default() };
    Message { assistant: Some(assistant), ..text_message(Role::Assistant, "") }
}

fn failed_result(id: &str, name: &str, content: &str) -> Message {
    let tool = Tool { call_id: id.into(), name: name.into(), is_error: true, ..Tool::default() };
    Message { tool: Some(tool), ..text_message(Role::Tool, content) }
}

fn fold_messages(messages: &[Message]) -> State {
    let mut state = State::default();
    messages.iter().for_each(|message| state.take_message(message));
    state
}

fn texts(state: &State, is_it: impl Fn(FactKind) -> bool) -> Vec<String> {
    let facts = state.facts().filter(|fact| is_it(fact.kind));
    facts.map(|fact| format!("{} {}", fact.kind.as_str(), fact.text)).collect()
}

// Of one call that went well, with this result.
fn check(name: &str, arguments: &str, result: &str, expected: &[&str]) {
    let state = fold_messages(&[call("1", name, arguments), result_message("1", name, result)]);
    assert_eq!(texts(&state, |kind| kind != FactKind::Status), expected, "{name} {arguments}");
}

#[test]
fn each_agents_tools_say_which_files_they_change() {
    let created = "File created successfully at: /p/a.rs";
    check("Write", r#"{"file_path":"/p/a.rs","content":"x"}"#, created, &["created /p/a.rs"]);
    check("Write", r#"{"file_path":"/p/a.rs"}"#, "The file /p/a.rs has been updated.", &["modified /p/a.rs"]);
    check("Edit", r#"{"file_path":"/p/a.rs","old_string":"x","new_string":"y"}"#, "", &["modified /p/a.rs"]);
    check("NotebookEdit", r#"{"notebook_path":"/p/n.ipynb"}"#, "", &["modified /p/n.ipynb"]);
    check("edit", r#"{"filePath":"/p/a.rs"}"#, "", &["modified /p/a.rs"]);
    check("replace", r#"{"file_path":"/p/a.rs"}"#, "", &["modified /p/a.rs"]);
    check("write_file", r#"{"file_path":"/p/a"}"#, "Successfully overwrote file: /p/a", &["modified /p/a"]);
    check("string_replace", r#"{"path":"a.rs"}"#, "", &["modified a.rs"]);
    check("delete_file", r#"{"path":"a.rs"}"#, "", &["deleted a.rs"]);
    check("move_file", r#"{"source":"a.rs","destination":"b.rs"}"#, "", &["deleted a.rs", "created b.rs"]);
    check("renameFile", r#"{"from":"a.rs","to":"b.rs"}"#, "", &["deleted a.rs", "created b.rs"]);
    check("str_replace_editor", r#"{"command":"view","path":"a.rs"}"#, "", &[]);
    check("str_replace_editor", r#"{"command":"create","path":"a.rs"}"#, "", &["created a.rs"]);
    check("Read", r#"{"file_path":"/p/a.rs"}"#, "", &[]);
}

#[test]
fn arguments_that_end_too_early_since_the_rest_lies_in_a_blob_still_name_the_file() {
    check("Write", r#"{"file_path":"/p/a.rs","content":"xxxxx"#, "", &["created /p/a.rs"]);
    check("Write", r#"{"content_type":"t","file_path" : "/p/no.rs"#, "", &[]);
    check("Write", r#"{"file_path":  "/p/a \"b\" \\","content":"x"#, "", &[r#"created /p/a "b" \"#]);
    check("Write", r#"{"file_path":"/p/cut-o"#, "", &[]);
    check("Write", r#"{"content":"xxxxx"#, "", &[]);
}

#[test]
fn a_patch_names_its_files() {
    let patch = "*** Begin Patch\n*** Add File: new.rs\n+x\n*** Update File: old.rs\n*** Move to: moved.rs\n@@\n*** Delete File: gone.rs\n*** End Patch";
    let all = ["created new.rs", "deleted old.rs", "created moved.rs", "deleted gone.rs"];
    check("apply_patch", patch, "Success", &all);
    let json = format!("{{\"input\":{}}}", serde_json::to_string(patch).unwrap());
    check("apply_patch", &json, "Success", &all);
    let command = format!("apply_patch <<'EOF'\n{patch}\nEOF");
    let shell = format!("{{\"command\":[\"bash\",\"-lc\",{}]}}", serde_json::to_string(&command).unwrap());
    check("shell", &shell, "Success", &all);
    let unified = "--- a/src/x.rs\t2025\n+++ b/src/x.rs\t2025\n@@ -1 +1 @@\n--- /dev/null\n+++ b/made.rs\n--- a/lost.rs\n+++ /dev/null\n";
    check("patch", unified, "", &["modified src/x.rs", "created made.rs", "deleted lost.rs"]);
    check("patch", "--- app.rs\n+++ app.rs\n@@ -1 +1 @@\n", "", &["modified app.rs"]);
}

#[test]
fn what_failed_or_was_never_answered_changes_no_file() {
    let write = call("1", "Write", r#"{"file_path":"a"}"#);
    assert_eq!(
        texts(&fold_messages(&[write.clone(), failed_result("1", "Write", "denied")]), FactKind::is_file),
        [""; 0]
    );
    assert_eq!(texts(&fold_messages(&[write]), FactKind::is_file), [""; 0]);
}

#[test]
fn what_became_of_a_file_in_the_end_counts() {
    let did = |id: &str, name: &str, path: &str| {
        [call(id, name, &format!("{{\"path\":\"{path}\"}}")), result_message(id, name, "")]
    };
    let all = [
        did("1", "create_file", "a"),
        did("2", "edit", "a"),
        did("3", "edit", "b"),
        did("4", "delete_file", "b"),
    ];
    assert_eq!(texts(&fold_messages(&all.concat()), FactKind::is_file), ["created a", "deleted b"]);
}

#[test]
fn a_command_that_failed_is_known_until_it_passes_and_then_as_one_that_did() {
    let run = |id: &str, result: Message| [call(id, "Bash", r#"{"command":"npm  test\n"}"#), result];
    let fails = |id: &str| run(id, failed_result(id, "Bash", "Exit code 1\nno"));
    let passes = |id: &str| run(id, result_message(id, "Bash", "ok"));
    assert_eq!(texts(&fold_messages(&passes("1")), FactKind::is_command), [""; 0]);
    let twice = fold_messages(&[fails("1"), fails("2")].concat());
    assert_eq!(texts(&twice, FactKind::is_command), ["failed npm test"]);
    assert_eq!(twice.first_fact(FactKind::Failed).map(|fact| fact.weight), Some(2));
    assert_eq!(
        texts(&fold_messages(&[fails("1"), passes("2")].concat()), FactKind::is_command),
        ["passed npm test"]
    );
    assert_eq!(
        texts(&fold_messages(&[passes("0"), fails("1")].concat()), FactKind::is_command),
        ["failed npm test"]
    );
    for (all, has_passed) in [([fails("1"), passes("2")], true), ([passes("1"), fails("2")], false)] {
        let state = fold_messages(&all.concat());
        let shown: Vec<_> = state
            .to_session_state("")
            .failed_commands
            .iter()
            .map(|one| (one.command, one.has_passed))
            .collect();
        assert_eq!(shown, [("npm test", has_passed)]);
    }
}

#[test]
fn how_a_command_ended_is_read_from_its_result_where_that_says_so() {
    for (result, expected) in [
        (r#"{"output":"x","metadata":{"exit_code":101}}"#, &["failed make"][..]),
        ("Output: x\nExit Code: 1\nSignal: 0", &["failed make"]),
        ("EXIT_CODE: 0\nthe test failed", &[]),
        ("Process exited with code 2", &["failed make"]),
        ("the exit code of a program tells how it ended", &[]),
        ("3 suites ran, exit code 1 was what it should be", &[]),
    ] {
        let state = fold_messages(&[
            call("1", "exec_command", r#"{"cmd":"make"}"#),
            result_message("1", "exec_command", result),
        ]);
        assert_eq!(texts(&state, FactKind::is_command), expected, "{result}");
    }
}

// Beside the result: whoever has a code says it there, and whoever did not run says nothing of the command.
#[test]
fn a_command_failed_if_it_ran_and_its_code_is_not_nought_and_nothing_else_did() {
    let ended = |tool: &str, exit_code: Option<i64>, is_error: bool, not_run: bool| {
        let made =
            Tool { call_id: "1".into(), name: tool.into(), exit_code, is_error, not_run, ..Tool::default() };
        let result = Message { tool: Some(made), ..text_message(Role::Tool, "the exit code: 7 is printed") };
        texts(&fold_messages(&[call("1", tool, r#"{"command":"rm a.txt"}"#), result]), |kind| {
            !matches!(kind, FactKind::Status | FactKind::Error)
        })
    };
    for tool in ["Bash", "bash", "shell", "run_shell_command"] {
        assert_eq!(ended(tool, Some(3), false, false), ["failed rm a.txt"], "{tool}");
        assert_eq!(ended(tool, Some(0), false, false), ["deleted a.txt"], "{tool}");
        assert_eq!(ended(tool, None, true, true), [""; 0], "{tool}");
        assert_eq!(ended(tool, Some(3), true, true), [""; 0], "{tool}");
    }
}

#[test]
fn what_did_not_run_or_did_not_succeed_has_no_effect() {
    let todo = r#"{"todos":[{"content":"a","status":"pending"}]}"#;
    let patch = "*** Begin Patch\n*** Update File: a.rs\n*** End Patch";
    for (tool, arguments) in [("Write", r#"{"file_path":"a"}"#), ("apply_patch", patch), ("TodoWrite", todo)]
    {
        for (exit_code, is_error, not_run) in
            [(None, true, true), (None, false, true), (Some(1), false, false), (None, true, false)]
        {
            let made = Tool { call_id: "1".into(), exit_code, is_error, not_run, ..Tool::default() };
            let result = Message { tool: Some(made), ..text_message(Role::Tool, "") };
            let state = fold_messages(&[call("1", tool, arguments), result]);
            assert_eq!(
                texts(&state, |kind| kind != FactKind::Status),
                [""; 0],
                "{tool} {exit_code:?} {is_error} {not_run}"
            );
        }
    }
}

#[test]
fn what_a_command_of_claude_code_prints_about_codes_says_nothing_of_its_own() {
    let call = call("1", "Bash", r#"{"command":"make"}"#);
    let ended = |result| texts(&fold_messages(&[call.clone(), result]), FactKind::is_command);
    assert_eq!(ended(result_message("1", "Bash", "exit code: 3")), [""; 0]);
    assert_eq!(ended(failed_result("1", "Bash", "exit code: 0")), ["failed make"]);
}

#[test]
fn a_file_that_a_command_names_from_the_project_is_that_which_others_name_whole() {
    let all = [
        [call("1", "Write", r#"{"file_path":"/p/src/a.rs"}"#), result_message("1", "Write", "")],
        [call("2", "Bash", r#"{"command":"sed -i 's/a/b/' src/a.rs"}"#), result_message("2", "Bash", "")],
        [call("3", "Bash", r#"{"command":"rm b.rs"}"#), result_message("3", "Bash", "")],
    ];
    let state = fold_messages(&all.concat());
    let files: Vec<_> = state
        .to_session_state("/p")
        .modified_files
        .iter()
        .map(|file| (file.path.to_owned(), file.action))
        .collect();
    assert_eq!(files, [("/p/src/a.rs".to_owned(), "created"), ("b.rs".to_owned(), "deleted")]);
    let summary = extract_summary(SummaryInput { state: &state, project: "/p", pins: &[] }, 500, &estimate);
    assert!(summary.contains("- src/a.rs (created)") && summary.contains("- b.rs (deleted)"), "{summary}");
}

#[test]
fn many_commands_are_cut_so_that_each_is_named() {
    let run = |n: usize| {
        let command = format!(
            "cargo test -- part_{n} --workspace --features every,single,one {}",
            "--nocapture ".repeat(20)
        );
        let arguments = format!("{{\"command\":{}}}", serde_json::to_string(&command).unwrap());
        [call(&n.to_string(), "Bash", &arguments), failed_result(&n.to_string(), "Bash", "Exit code 1")]
    };
    let edit = [call("e", "Edit", r#"{"file_path":"/p/a.rs"}"#), result_message("e", "Edit", "")];
    let all: Vec<Message> = edit.into_iter().chain((0..30).flat_map(run)).collect();
    let summary = extract_summary(
        SummaryInput { state: &fold_messages(&all), project: "/p", pins: &[] },
        1800,
        &estimate,
    );
    let named = (0..30).filter(|n| summary.contains(&format!("-- part_{n} ")));
    assert_eq!(
        (named.count(), summary.matches("` each failed, has not passed since").count()),
        (30, 8),
        "{summary}"
    );
    assert!(summary.contains("- a.rs (modified)"), "{summary}");
}

#[test]
fn open_tasks_are_those_of_the_newest_list() {
    let list = |id: &str, name: &str, json: &str| [call(id, name, json), result_message(id, name, "")];
    let first = list(
        "1",
        "TodoWrite",
        r#"{"todos":[{"content":"a","status":"pending"},{"content":"b","status":"in_progress"}]}"#,
    );
    let second = list(
        "2",
        "update_plan",
        r#"{"plan":[{"step":"a","status":"completed"},{"step":"c","status":"pending"}]}"#,
    );
    let is_open = |kind| kind == FactKind::Open;
    assert_eq!(texts(&fold_messages(&first), is_open), ["open a", "open b"]);
    assert_eq!(texts(&fold_messages(&[first.clone(), second].concat()), is_open), ["open c"]);
    let none = list("3", "write_todos", r#"{"todos":[{"description":"a","status":"cancelled"},"broken"]}"#);
    assert_eq!(texts(&fold_messages(&[first, none].concat()), is_open), [""; 0]);
    let made = [
        call("1", "TaskCreate", r#"{"subject":"a"}"#),
        result_message("1", "TaskCreate", "Task #7 created: a"),
    ];
    let done = [
        call("2", "TaskUpdate", r#"{"taskId":"7","status":"completed"}"#),
        result_message("2", "TaskUpdate", ""),
    ];
    assert_eq!(texts(&fold_messages(&made), is_open), ["open a"]);
    assert_eq!(texts(&fold_messages(&[made, done].concat()), is_open), [""; 0]);
}

#[test]
fn the_task_is_what_the_user_said_first_not_what_an_agent_put_around_it() {
    let first = [
        "<environment_context>\n<cwd>/p</cwd>\n</environment_context>",
        "# AGENTS.md instructions for /p",
        "<system-reminder>be kind</system-reminder>\nMend the login.",
        "And then the logout.",
    ];
    let state = fold_messages(&first.map(|text| text_message(Role::User, text)));
    assert_eq!(texts(&state, |kind| kind == FactKind::Task), ["task Mend the login."]);
}

#[test]
fn what_is_code_or_data_is_no_sentence_worth_keeping() {
    let text = "We decided to use src/a.rs, never src/b.rs.\n12→We must never use src/c.rs because of 3 bugs.\n\
        ```\nWe must never use src/d.rs because of 3 bugs.\n```\n{\"error\":\"We must never use src/e.rs\"}\n\
        The answer was {\"error\":\"We must never use src/f.rs\"} again.";
    let state = fold_messages(&[text_message(Role::User, text)]);
    assert_eq!(
        texts(&state, FactKind::is_sentence),
        ["decision We decided to use src/a.rs, never src/b.rs."]
    );
}

#[test]
fn a_branch_is_known_by_what_lies_on_its_path() {
    let change = |id: &str, path: &str| {
        [call(id, "Edit", &format!("{{\"file_path\":\"{path}\"}}")), result_message(id, "Edit", "")]
    };
    let (mut session, mut log) = (Session::new(None), Vec::new());
    let root = Message { id: "root".into(), ..text_message(Role::User, "go") };
    append(&mut session, &mut log, [vec![root], change("1", "kept").to_vec()].concat());
    append(&mut session, &mut log, change("2", "left").to_vec());
    learn(&mut session, &log);
    assert_eq!(texts(&session.source().state, FactKind::is_file), ["modified kept", "modified left"]);
    let parent = log.split(|byte| *byte == b'\n').nth(2).and_then(|line| {
        let line = String::from_utf8_lossy(line).into_owned();
        Some(line.split("\"id\":\"").nth(1)?.split('"').next()?.to_owned())
    });
    let branch = Message {
        id: "b".into(),
        parent_id: parent,
        branch: true,
        ..text_message(Role::User, "no, otherwise")
    };
    append(&mut session, &mut log, vec![branch]);
    append(&mut session, &mut log, change("3", "branch").to_vec());
    learn(&mut session, &log);
    assert_eq!(texts(&session.source().state, FactKind::is_file), ["modified kept", "modified branch"]);
}

// What the rules look for, beside anything else.
fn any_text() -> impl Strategy<Value = String> {
    let marks = [
        "```",
        "exit code: ",
        "Exit Code 3",
        "*** Add File: ",
        "*** Move to: ",
        "--- a\n",
        "+++ ",
        "<a>",
        "</a>",
        "- [ ] ",
        "1. ",
        "we must never ",
        "because ",
        "é",
        "\u{1f468}\u{200d}\u{1f469}",
        "\u{301}",
        "`x.rs`",
        ". ",
        "? ",
        "\n",
        "#12",
        " > a",
        " && rm ",
        "<<EOF\n",
        "$(",
        "'",
        "\"",
        "\\",
    ];
    let piece = prop_oneof![
        prop::sample::select(marks.to_vec()).prop_map(String::from),
        any::<String>(),
        "[a-zA-Z ]{1,40}"
    ];
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

fn any_message() -> impl Strategy<Value = Message> {
    let names =
        prop::sample::select(vec!["Write", "Bash", "TodoWrite", "apply_patch", "TaskCreate", "other"]);
    let ids = prop::sample::select(vec!["1", "2", "3"]);
    let arguments = prop_oneof![
        any_text(),
        any_text().prop_map(|text| format!(
            "{{\"file_path\":{0},\"command\":{0}}}",
            serde_json::to_string(&text).unwrap()
        )),
        any_text().prop_map(|text| format!(
            "{{\"todos\":[{{\"content\":{}}}]}}",
            serde_json::to_string(&text).unwrap()
        )),
    ];
    prop_oneof![
        any_text().prop_map(|text| text_message(Role::User, &text)),
        any_text().prop_map(|text| text_message(Role::Assistant, &text)),
        (ids.clone(), names.clone(), arguments).prop_map(|(id, name, arguments)| call(id, name, &arguments)),
        (ids.clone(), names.clone(), any_text()).prop_map(|(id, name, text)| result_message(id, name, &text)),
        (ids, names, any_text()).prop_map(|(id, name, text)| failed_result(id, name, &text)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn it_is_the_same_however_the_log_was_read(
        messages in prop::collection::vec(any_message(), 1..30),
        piece in 1..200usize,
    ) {
        let (mut session, mut log) = (Session::new(None), Vec::new());
        append(&mut session, &mut log, messages);
        while let Some(span) = session.unfolded_span() {
            let end = log.len().min(span.start as usize + piece);
            session.fold_bytes(&log[span.start as usize..end]);
        }
        let mut whole = Session::new(None);
        let found = whole.messages().observe(&log, 0).unwrap();
        whole.take_messages(found);
        prop_assert_eq!(whole.unfolded_span(), None, "what was read is known");
        prop_assert_eq!(&session.source().state, &whole.source().state);
        let kept = session.checkpoint().expect("a log without branches has one").to_json();
        let kept = Checkpoint::from_json(kept.as_bytes()).unwrap();
        prop_assert_eq!(&kept.learned.state, &whole.source().state);
    }

    #[test]
    fn a_summary_has_at_most_the_tokens_it_may_have(
        messages in prop::collection::vec(any_message(), 1..60),
        tokens in 0..2000u32,
    ) {
        let summary = extract_summary(SummaryInput { state: &fold_messages(&messages), project: "/p", pins: &[] }, tokens, &estimate);
        prop_assert!(summary.is_empty() || estimate(&summary) <= tokens);
    }
}
