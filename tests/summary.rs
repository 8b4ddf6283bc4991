//! What a summary without a model says, line by line.
//! Tries: src/context/summary.rs
#![cfg(feature = "interop")]
#![cfg(not(target_arch = "wasm32"))]

use crate::common;

use common::{result_message, text_message};
use leftoff::context::{SummaryInput, extract_summary};
use leftoff::record::message::{Assistant, Message, Role, Tool, ToolCall};
use leftoff::state::State;
use leftoff::tokens::estimate;

fn call(id: &str, name: &str, arguments: &str) -> Message {
    let call = ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() };
    let assistant = Assistant { tool_calls: vec![call], ..Assistant::default() };
    Message { assistant: Some(assistant), ..text_message(Role::Assistant, "") }
}

fn edit_step(path: &str) -> [Message; 2] {
    [call(path, "Edit", &format!("{{\"file_path\":\"{path}\"}}")), result_message(path, "Edit", "")]
}

fn command_step(id: &str, command: &str, is_error: bool) -> [Message; 2] {
    let tool = Tool { call_id: id.into(), name: "Bash".into(), is_error, ..Tool::default() };
    let result = Message { tool: Some(tool), ..text_message(Role::Tool, "") };
    [call(id, "Bash", &serde_json::json!({ "command": command }).to_string()), result]
}

fn summary(messages: &[Message], pins: &[String], tokens: u32) -> String {
    let mut state = State::default();
    messages.iter().for_each(|message| state.take_message(message));
    extract_summary(SummaryInput { state: &state, project: "/p", pins }, tokens, &estimate)
}

#[test]
fn each_section_has_its_title_once_and_its_lines_behind() {
    let todo = r#"{"todos":[{"content":"write the docs","status":"pending"}]}"#;
    let all = [
        vec![text_message(Role::User, "Mend the login.")],
        edit_step("/p/src/a.rs").to_vec(),
        edit_step("/p/src/b.rs").to_vec(),
        edit_step("/p/README.md").to_vec(),
        edit_step("/elsewhere/c.rs").to_vec(),
        command_step("1", "npm test", true).to_vec(),
        command_step("2", "cargo test", true).to_vec(),
        command_step("3", "make", true).to_vec(),
        command_step("4", "make", false).to_vec(),
        vec![call("5", "TodoWrite", todo), result_message("5", "TodoWrite", "")],
        vec![text_message(Role::User, "We decided to use src/a.rs, never src/b.rs.")],
        vec![text_message(Role::Assistant, "The login works.")],
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

/// Which of these decisions a summary tells.
fn told_of(decisions: &[String], tokens: u32) -> usize {
    let mut all = vec![text_message(Role::User, "Go.")];
    all.extend(decisions.iter().map(|text| text_message(Role::User, text)));
    let summary = summary(&all, &[], tokens);
    decisions
        .iter()
        .filter(|text| summary.contains(&format!("- {text}\n")) || summary.ends_with(&**text))
        .count()
}

#[test]
fn what_says_the_same_in_other_small_words_is_told_once_and_what_is_alike_while_there_is_room() {
    let decided = |text: &str| format!("We decided to use {text}.");
    let first = decided("the crate memchr for searching because it is 5 times as fast");
    let same = decided("the crate memchr for searching because it was 5 times as fast");
    let alike = decided("the crate memchr for searching because it is 5 times as good");
    let other = decided("a table of src/classes.rs instead of 12 regular expressions");
    let of = |texts: &[&String], tokens| {
        told_of(&texts.iter().map(|text| (*text).clone()).collect::<Vec<_>>(), tokens)
    };
    assert_eq!(of(&[&first, &other], 2000), 2);
    assert_eq!(of(&[&first, &same], 2000), 1);
    assert_eq!(of(&[&first, &alike, &other], 2000), 3);
    // What is alike is the first to go.
    let all = [first, alike.clone(), other];
    let tight = (1..2000).rev().find(|tokens| told_of(&all, *tokens) == 2).expect("a budget for two");
    assert_eq!(told_of(&[alike], tight), 1);
    assert_eq!(told_of(&[all[0].clone(), all[2].clone()], tight), 2);
}

#[test]
fn sentences_that_differ_in_a_number_a_version_a_name_a_path_or_a_quoted_word_are_two() {
    let pairs = [
        ("We decided that the timeout of it is {}", ["30 seconds", "60 seconds for uploads"]),
        ("We decided to pin the package {}", ["croniter to 1.4", "httpx to 0.27"]),
        ("We decided to pin the package httpx to {}", ["0.27", "0.28"]),
        ("We decided to name the queue of it {}", ["billing-events", "shipping-events"]),
        ("We decided that the service listens on {}", ["port 8080", "port 8081"]),
        ("We decided that the database lies on {}", ["db1.example.org", "db2.example.org"]),
        ("We decided that all of it goes to {}", ["src/a.rs", "src/b.rs"]),
        ("We decided that the button says {} to everybody", ["\"send\"", "\"post\""]),
        ("We decided that the button says {} to everybody", ["“send it”", "“post it”"]),
        ("We decided that the release is made by {}", ["Anna", "Berta"]),
        ("We decided that the flag is called {} in there", ["`force`", "`hard`"]),
        ("Wir haben entschieden, dass die Wartezeit {} Sekunden beträgt", ["30", "60"]),
        ("Hemos decidido que el servidor escuche en el puerto {}", ["8080", "8081"]),
    ];
    for (text, values) in pairs {
        let decisions = values.map(|value| text.replace("{}", value));
        assert_eq!(told_of(&decisions, 2000), 2, "{decisions:?}");
    }
    let twelve: Vec<String> = (1..=12).map(|number| format!("We decided to keep number {number}")).collect();
    assert_eq!(told_of(&twelve, 2000), 12);
}

#[test]
fn decisions_in_other_languages_are_decisions() {
    let decisions = [
        "Wir haben entschieden, dass die Wartezeit 30 Sekunden beträgt",
        "Das Team hat beschlossen, Port 8080 zu nehmen",
        "Nous avons décidé de garder la version 1.4 de croniter",
        "Hemos decidido que el servidor escuche en el puerto 8080",
        "Abbiamo deciso di usare PostgreSQL 16 per tutto",
        "A equipa decidiu manter a porta 8080 para a API",
        "We hebben besloten om httpx 0.27 te gebruiken",
        "Мы решили оставить порт 8080 для сервера",
        "Zdecydowaliśmy, że serwer działa na porcie 8080",
    ];
    for decision in decisions {
        let summary =
            summary(&[text_message(Role::User, "Go."), text_message(Role::User, decision)], &[], 2000);
        assert!(summary.contains(&format!("KEY DECISIONS MADE:\n- {decision}")), "{summary}");
    }
}

#[test]
fn wishes_are_the_users_own_words_and_errors_those_of_results_that_failed() {
    let rule = "You must never change src/a.rs, always run `make check` before it.";
    let script = "The guide says that `deploy.sh` failed with exit code 3, because the bug was missing.";
    let tool = Tool { call_id: "1".into(), name: "Bash".into(), is_error: true, ..Tool::default() };
    let printed = "Exit code 2\necho \"deploy failed\"\nmake: *** [Makefile:3: all] Error 2";
    let all = [
        vec![
            text_message(Role::User, "Go."),
            text_message(Role::Assistant, rule),
            text_message(Role::Assistant, script),
        ],
        vec![call("1", "Bash", r#"{"command":"make all"}"#)],
        vec![Message { tool: Some(tool), ..text_message(Role::Tool, printed) }],
        vec![text_message(Role::User, "Please never touch src/b.rs again.")],
    ];
    let summary = summary(&all.concat(), &[], 2000);
    let section = |title: &str| {
        let lines = summary.lines().skip_while(|line| *line != title).skip(1);
        lines.take_while(|line| !line.is_empty()).map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(section("WHAT THE USER WANTS:"), ["- Please never touch src/b.rs again."], "{summary}");
    assert_eq!(section("ERRORS:"), ["- make: *** [Makefile:3: all] Error 2"], "{summary}");
}

#[test]
fn paths_are_told_byte_for_byte_and_only_what_reads_as_a_marker_is_changed() {
    for path in [
        "s/<task>.md",
        "s/<task-id>.md",
        "app/[id]/[...rest]/page.tsx",
        "a[0].RS",
        "b/(x)/【y】.md",
        "x/<T>.h",
    ] {
        let text = format!("Please look at {path} and write docs/{path} anew.");
        let all = [
            vec![
                text_message(Role::User, &text),
                text_message(Role::Assistant, &format!("We decided to keep {path} as it is.")),
            ],
            edit_step(&format!("/p/{path}")).to_vec(),
            command_step("1", &format!("cat {path}"), true).to_vec(),
        ];
        let summary = summary(&all.concat(), &[], 2000);
        assert!(summary.contains(&text), "{summary}");
        assert!(summary.contains(&format!("keep {path} as")), "{summary}");
        assert!(summary.contains(&format!("`cat {path}`")), "{summary}");
        let name = path.rsplit('/').next().unwrap_or(path);
        assert!(summary.contains(&format!("{name} (modified)")), "{summary}");
    }
}

#[test]
fn commands_share_a_fifth_of_what_a_summary_may_have() {
    let long = |name: &str| format!("{name} {}", "step ".repeat(50)).trim_end().to_owned();
    let commands = ["one", "two"].map(long);
    let told = |count: usize, tokens: u32| {
        let mut all = vec![text_message(Role::User, "Go.")];
        all.extend(commands[..count].iter().flat_map(|command| command_step(command, command, true)));
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
    let told = summary(
        &[vec![text_message(Role::User, "Go.")], command_step("1", &command, true).to_vec()].concat(),
        &[],
        300,
    );
    let line = told.lines().find(|line| line.starts_with("- `")).expect("a command");
    let shown = line.split('`').nth(1).expect("the command");
    assert!(shown.starts_with("begin middle") && shown.contains(" ... "), "{line}");
    // Of what runs on, the record has the first 300 bytes.
    assert!(command[..300].trim_end().ends_with(shown.rsplit(" ... ").next().unwrap_or_default()), "{line}");
    let short = "x".repeat(60);
    let told = summary(
        &[vec![text_message(Role::User, "Go.")], command_step("1", &short, true).to_vec()].concat(),
        &[],
        300,
    );
    assert!(told.contains(&format!("`{short}`")), "{told}");
}
