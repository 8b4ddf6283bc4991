//! Each rule of Codex's rollouts, by a few records of its own.

use leftoff::context::{Kind, State};
use leftoff::interop::{AgentName, ImportedSession, read};
use leftoff::session::handle::Session;
use leftoff::session::message::{Message, Role};
use serde_json::{Value, json};

use super::fixture;
use crate::common::append;

fn session(lines: &[Value]) -> ImportedSession {
    let head = json!({"type": "session_meta", "payload": {"id": "s", "cli_version": "0.169.0", "cwd": "/w"}});
    let text: Vec<String> = std::iter::once(&head).chain(lines).map(Value::to_string).collect();
    read(text.join("\n").as_bytes(), "rollout.jsonl", None).expect("a rollout").sessions.remove(0)
}

fn item(payload: Value) -> Value {
    json!({"timestamp": "2026-01-01T00:00:00.000Z", "type": "response_item", "payload": payload})
}

fn event(payload: Value) -> Value {
    json!({"timestamp": "2026-01-01T00:00:00.000Z", "type": "event_msg", "payload": payload})
}

fn user(text: &str) -> Value {
    item(json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}))
}

fn assistant(text: &str) -> Value {
    item(json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}))
}

fn call(id: &str) -> Value {
    item(json!({"type": "function_call", "name": "exec_command", "arguments": "{}", "call_id": id}))
}

fn output(id: &str) -> Value {
    item(json!({"type": "function_call_output", "call_id": id, "output": "done"}))
}

fn said(session: &ImportedSession) -> Vec<(Role, &str)> {
    let of = |message: &'_ Message| message.role.unwrap();
    session.messages.iter().map(|message| (of(message), message.content.as_str())).collect()
}

#[test]
fn what_an_item_and_an_event_say_is_read_once_in_either_order() {
    let asked = |text: &str| event(json!({"type": "user_message", "message": text}));
    let told = |text: &str| event(json!({"type": "agent_message", "message": text}));
    let completed = |kind: &str, text: &str| {
        let item = json!({"type": kind, "content": [{"type": "text", "text": text}]});
        event(json!({"type": "item_completed", "item": item}))
    };
    let expected =
        [(Role::User, "go"), (Role::Assistant, "yes"), (Role::User, "go"), (Role::Assistant, "yes")];
    let orders: [Vec<Value>; 4] = [
        vec![user("go"), asked("go"), told("yes"), assistant("yes")],
        vec![asked("go"), user("go"), assistant("yes"), told("yes")],
        vec![asked("go"), told("yes")],
        vec![user("go"), completed("UserMessage", "go"), completed("AgentMessage", "yes"), assistant("yes")],
    ];
    for order in &orders {
        let twice: Vec<Value> = order.iter().chain(order).cloned().collect();
        assert_eq!(said(&session(&twice)), expected, "{order:?}");
    }
}

#[test]
fn an_answer_is_what_stands_between_prompts_results_and_counts() {
    let reasoning = item(json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}],
        "encrypted_content": "x"}));
    let counted = event(json!({"type": "token_count", "info": {"last_token_usage":
        {"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 3}}}));
    let lines = [
        json!({"type": "turn_context", "payload": {"model": "m"}}),
        user("go"),
        reasoning.clone(),
        assistant("both"),
        call("1"),
        call("2"),
        output("2"),
        output("1"),
        counted.clone(),
        reasoning,
        counted,
        assistant("done"),
    ];
    let session = session(&lines);
    let roles: Vec<Role> = session.messages.iter().map(|message| message.role.unwrap()).collect();
    let (tool, answer) = (Role::Tool, Role::Assistant);
    assert_eq!(roles, [Role::User, answer, tool, tool, answer, answer]);
    let first = session.messages[1].assistant.as_ref().unwrap();
    assert_eq!((first.tool_calls.len(), first.model.as_deref()), (2, Some("m")));
    assert_eq!(first.reasoning[0].data.as_deref(), Some("x"));
    let usage = first.usage.as_ref().unwrap();
    assert_eq!((usage.input, usage.cache_read, usage.output), (Some(6), Some(4), Some(3)));
    assert_eq!(session.messages[2].tool.as_ref().unwrap().name, "exec_command");
}

#[test]
fn turns_that_were_rolled_back_stay_and_a_branch_begins() {
    let back = event(json!({"type": "thread_rolled_back", "num_turns": 2}));
    let lines = [user("1"), assistant("a"), user("2"), assistant("b"), user("3"), back, user("4")];
    let session = session(&lines);
    let of = |text: &str| session.messages.iter().find(|message| message.content.as_str() == text).unwrap();
    assert_eq!(session.messages.len(), 6);
    assert_eq!((of("4").branch, of("4").parent_id.as_ref()), (true, Some(&of("a").id)));
    assert_eq!(of("3").parent_id.as_ref(), Some(&of("b").id));
}

#[test]
fn a_compaction_keeps_the_history_and_adds_its_summary() {
    let replaced = json!([{"type": "message", "role": "user", "content": "go"}]);
    let compacted =
        json!({"type": "compacted", "payload": {"message": "They went.", "replacement_history": replaced}});
    let session = session(&[user("go"), assistant("gone"), compacted, user("on")]);
    let expected =
        [(Role::User, "go"), (Role::Assistant, "gone"), (Role::User, "They went."), (Role::User, "on")];
    assert_eq!(said(&session), expected);
    let flags: Vec<_> = session.messages[2].source.as_ref().unwrap().extra.iter().collect();
    assert_eq!(flags, [("\"isCompactSummary\"", "true")]);
}

#[test]
fn a_command_that_an_event_says_failed_is_an_error() {
    let failed = |id: &str, code: i64| {
        event(
            json!({"type": "item_completed", "item": {"type": "CommandExecution", "id": id, "exit_code": code}}),
        )
    };
    let older = event(json!({"type": "exec_command_end", "call_id": "3", "exit_code": 1}));
    let said = json!({"content": "no", "success": false});
    let refused = item(json!({"type": "function_call_output", "call_id": "4", "output": said}));
    let lines = [
        user("go"),
        call("1"),
        call("2"),
        call("3"),
        call("4"),
        failed("1", 3),
        output("1"),
        failed("2", 0),
        output("2"),
        output("3"),
        older,
        refused,
    ];
    let session = session(&lines);
    let errors: Vec<bool> = session.messages[2..].iter().map(|m| m.tool.as_ref().unwrap().is_error).collect();
    assert_eq!(errors, [true, false, true, true]);
    assert_eq!(session.messages.last().unwrap().content.as_str(), "no");
}

#[test]
fn a_sub_agent_names_its_caller_and_pictures_are_read() {
    let spawn = json!({"parent_thread_id": "p", "spawn_call_id": "c"});
    let source = json!({"subagent": {"thread_spawn": spawn}});
    let head = json!({"type": "session_meta", "payload": {"id": "s", "source": source}});
    let picture = json!({"type": "input_image", "image_url": "data:image/png;base64,AAAA"});
    let remote = json!({"type": "input_image", "image_url": "https://example.com/x.png"});
    let asked = item(json!({"type": "message", "role": "user", "content":
        [{"type": "input_text", "text": "see"}, picture, remote]}));
    let text = format!("{head}\n{asked}");
    let session = read(text.as_bytes(), "x", None).unwrap().sessions.remove(0);
    let parent = session.parent.unwrap();
    assert_eq!((parent.session.as_str(), parent.call_id.as_deref()), ("codex/p", Some("c")));
    assert_eq!(session.messages[0].attachments[0].mime, "image/png");
    assert_eq!(session.messages[0].attachments.len(), 1);
    let lost = "response_item/message.payload.content[input_image].image_url";
    assert!(session.losses.iter().any(|loss| loss.field == lost), "{:?}", session.losses);
}

#[test]
fn a_real_session_reads_as_it_was_held() {
    const REAL: &str = "real/0.169.0/rollout-2026-11-20T23-55-48-01a1fb63-41c8-71e1-8bc3-8044d2bc8ec3.jsonl";
    let session = read(&fixture(AgentName::Codex, REAL), "x", None).unwrap().sessions.remove(0);
    assert_eq!(session.source_id, "01a1fb63-41c8-71e1-8bc3-8044d2bc8ec3");
    let named = (session.version.as_deref(), session.model.as_deref(), session.git_branch.as_deref());
    assert_eq!(named, (Some("0.169.0"), Some("fake-model"), Some("master")));
    let roles: String =
        session.messages.iter().map(|message| format!("{:?}", message.role.unwrap())).collect();
    let steps = "AssistantTool".repeat(4);
    assert_eq!(roles, format!("SystemUserUser{steps}AssistantUserAssistantToolAssistant"));
    let errors = session.messages.iter().filter_map(|message| message.tool.as_ref());
    assert_eq!(errors.filter(|tool| tool.is_error).count(), 2);
    let answers = session.messages.iter().filter_map(|message| message.assistant.as_ref());
    assert_eq!(answers.clone().filter(|answer| answer.usage.is_some()).count(), 7);
    assert_eq!(answers.filter(|answer| !answer.reasoning.is_empty()).count(), 5);
    let marked = |message: &&Message| {
        message.source.as_ref().unwrap().extra.iter().any(|mark| mark == ("\"isMeta\"", "true"))
    };
    let told: Vec<&Message> = session.messages.iter().filter(marked).collect();
    assert!(matches!(told[..], [one] if one.content.as_str().starts_with("<environment_context>")));
}

#[test]
fn what_the_client_told_is_neither_the_title_nor_the_task() {
    let told = user("<environment_context><cwd>/w</cwd></environment_context>");
    let session = session(&[told, user("Mend the door.")]);
    let (mut stored, mut log, mut state) = (Session::new(None), Vec::new(), State::default());
    for message in session.messages {
        state.take(&message);
        append(&mut stored, &mut log, vec![message]);
    }
    assert_eq!(stored.known().first_user_line.as_deref(), Some("Mend the door."));
    let tasks: Vec<&str> = state.all(Kind::Task).map(|fact| fact.text.as_str()).collect();
    assert_eq!(tasks, ["Mend the door."]);
}
