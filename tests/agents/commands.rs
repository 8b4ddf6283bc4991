//! Slash commands: which text is which command's, and with what it was called.
//! Tries: src/interop/commands.rs

use leftoff::interop::AgentName;
use leftoff::interop::commands::{
    Command, current_command, fill_arguments, find_arguments, find_starting_command, parse_arguments,
    read_command,
};
use proptest::prelude::*;

fn command(name: &str, text: &str) -> Command {
    read_command(AgentName::OpenCode, name, text.as_bytes(), None).expect("it is a command")
}

proptest! {
    // What follows may stand in the arguments, too: then they are longer or shorter, and it is this command all the same.
    #[test]
    fn what_a_command_was_called_with_is_read_back_from_its_text(
        before in "[^$`!@{}]{0,30}",
        given in "[^$`!@{}]{0,30}",
        behind in "[^$`!@{}]{0,30}",
        place in prop::sample::select(vec!["$ARGUMENTS", "{{args}}"]),
    ) {
        let text = format!("{before}{place}{behind}");
        let found = parse_arguments(&text, &fill_arguments(&text, given.trim()));
        prop_assert!(found.is_some());
        if behind.is_empty() && !before.ends_with(char::is_whitespace) {
            prop_assert_eq!(found.as_deref(), Some(given.trim()));
        }
    }

    #[test]
    fn no_text_is_too_odd_for_a_command(text in ".{0,60}", said in ".{0,60}") {
        parse_arguments(&text, &said);
        fill_arguments(&text, &said);
    }
}

#[test]
fn another_text_is_not_this_commands() {
    let text = "Ask one question. Topic: $ARGUMENTS\nEnd.";
    assert_eq!(parse_arguments(text, "Ask one question. Topic: REST\nEnd.").as_deref(), Some("REST"));
    for other in [
        "Ask one question.",
        "Topic: REST\nEnd.",
        "Ask one question. Topic: REST",
        "Ask one question. Topic: REST\nEnd. And more.",
    ] {
        assert_eq!(parse_arguments(text, other), None, "{other}");
    }
}

#[test]
fn a_command_may_be_called_with_nothing() {
    for text in ["Plan: $ARGUMENTS", "$ARGUMENTS is the plan", "Plan: {{args}}\n"] {
        let said = fill_arguments(text, "");
        for said in [said.trim(), &said] {
            assert_eq!(parse_arguments(text, said).as_deref(), Some(""), "{text}");
        }
    }
    assert_eq!(parse_arguments("Plan: $ARGUMENTS", "Plans").as_deref(), None);
}

#[test]
fn what_a_client_fills_in_by_itself_nobody_knows() {
    for text in [
        "Say !`date` and $ARGUMENTS",
        "Say !{date} and $ARGUMENTS",
        "Say @{a.md} and {{args}}",
        "Say $1 and $ARGUMENTS",
    ] {
        assert_eq!(parse_arguments(text, "Say Monday and go").as_deref(), Some("go"), "{text}");
    }
}

#[test]
fn only_a_command_of_the_workspace_is_known_by_its_text() {
    let all = [command("other.md", "Say: $ARGUMENTS"), command("workspace.plan.md", "Plan: $ARGUMENTS")];
    let name = |said: &str| {
        find_starting_command(AgentName::OpenCode, &["<env>", said], &all).map(|began| began.name)
    };
    assert_eq!(name("Plan: the API").as_deref(), Some("/workspace.plan"));
    assert_eq!(name("Say: the API"), None);
    assert_eq!(find_arguments(AgentName::OpenCode, &all[1], &["<env>", "Plan: the API"]), "the API");
}

#[test]
fn a_client_that_names_the_command_is_believed() {
    let all = [command("workspace.plan.md", "Plan: $ARGUMENTS")];
    let said = "<command-name>/workspace.plan</command-name>\n<command-args>the API</command-args>";
    let found = find_starting_command(AgentName::ClaudeCode, &[said], &all).expect("it is named");
    assert_eq!((found.name.as_str(), found.hash), ("/workspace.plan", Some(all[0].hash.clone())));
    assert_eq!(find_arguments(AgentName::ClaudeCode, &all[0], &[said]), "the API");
    assert_eq!(find_starting_command(AgentName::ClaudeCode, &["Plan: the API"], &all), None);
    assert_eq!(find_arguments(AgentName::Codex, &all[0], &["$workspace-plan  the API\n"]), "the API");
}

#[test]
fn a_command_is_the_same_by_any_of_its_hashes_and_gone_where_no_file_has_it() {
    let plan = command("workspace.plan.md", "---\nx: 1\n---\nPlan: $ARGUMENTS");
    let at = |kept: &str, all: &[Command]| {
        let candidates = [(AgentName::OpenCode, all.to_vec())];
        current_command(
            "/workspace.plan",
            Some(kept),
            Some(AgentName::OpenCode),
            &candidates,
            &["Plan: the API"],
        )
    };
    for hash in &plan.hashes {
        let current = at(hash, core::slice::from_ref(&plan));
        assert_eq!(current.text.as_deref(), Some("Plan: the API"));
        assert_eq!(current.prompt_hash, Some(Some(hash.clone())));
    }
    assert_eq!(at("sha256:0", core::slice::from_ref(&plan)).prompt_hash, Some(Some(plan.hash.clone())));
    assert_eq!(at("sha256:0", &[]).prompt_hash, Some(None));
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_command() {
    let plain = command("workspace.plan.md", "---\nx: 1\n---\nPlan: $ARGUMENTS");
    let marked = command("workspace.plan.md", "\u{feff}---\nx: 1\n---\nPlan: $ARGUMENTS");
    assert_eq!((&marked.text, &marked.hash), (&plain.text, &plain.hash));
}

#[test]
fn a_command_that_is_quoted_before_the_real_one_is_passed_over() {
    let said = "What does <command-name> mean?\n<command-name>/workspace.plan</command-name>";
    let found = find_starting_command(AgentName::ClaudeCode, &[said], &[]).expect("it is named");
    assert_eq!((found.name.as_str(), found.hash), ("/workspace.plan", None));
}
