//! Each rule of Codex's rollouts, by a few records of its own.
//! Tries: src/interop/codex/

use leftoff::interop::import_diff::ImportDiff;
use leftoff::interop::native::{NativeHeader, write};
use leftoff::interop::{AgentName, ImportedSession, codex, read};
use leftoff::record::message::{Assistant, Message, Role, ToolCall};
use leftoff::session::handle::Session;
use leftoff::state::{FactKind, State};
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

fn roles_and_texts(session: &ImportedSession) -> Vec<(Role, &str)> {
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
        assert_eq!(roles_and_texts(&session(&twice)), expected, "{order:?}");
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
    assert_eq!(roles_and_texts(&session), expected);
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
    const REAL_SESSION: &str =
        "real/0.169.0/rollout-2026-11-20T23-55-48-01a1fb63-41c8-71e1-8bc3-8044d2bc8ec3.jsonl";
    let session = read(&fixture(AgentName::Codex, REAL_SESSION), "x", None).unwrap().sessions.remove(0);
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
        state.take_message(&message);
        append(&mut stored, &mut log, vec![message]);
    }
    assert_eq!(stored.log_state().titles.first_line(), Some("Mend the door."));
    let tasks: Vec<&str> = state.facts_of(FactKind::Task).map(|fact| fact.text.as_str()).collect();
    assert_eq!(tasks, ["Mend the door."]);
}

// Its model is told that a call is aborted where no result of the call's own kind is found.
#[test]
fn each_kind_of_call_is_written_back_as_it_was_with_its_own_kind_of_result() {
    let pairs = [
        json!({"type": "function_call", "call_id": "1", "name": "exec_command", "arguments": "{\"cmd\":\"ls\"}"}),
        json!({"type": "function_call_output", "call_id": "1", "output": "a"}),
        json!({"type": "custom_tool_call", "call_id": "2", "name": "apply_patch", "input": "*** Begin Patch"}),
        json!({"type": "custom_tool_call_output", "call_id": "2", "output": "Success."}),
        // A text that is JSON by chance.
        json!({"type": "custom_tool_call", "call_id": "3", "name": "exec", "input": "{\"a\":1}"}),
        json!({"type": "custom_tool_call_output", "call_id": "3", "output": "1"}),
        json!({"type": "local_shell_call", "call_id": "4", "status": "completed",
            "action": {"type": "exec", "command": ["ls"], "timeout_ms": null}}),
        json!({"type": "function_call_output", "call_id": "4", "output": "b"}),
        json!({"type": "tool_search_call", "call_id": "5", "execution": "client", "arguments": {"query": "x"}}),
        json!({"type": "tool_search_output", "call_id": "5", "status": "completed", "execution": "client",
            "tools": [{"name": "t"}]}),
        json!({"type": "web_search_call", "id": "ws_6", "status": "completed", "action": {"type": "search", "query": "x"}}),
        json!({"type": "image_generation_call", "id": "ig_7", "status": "completed", "revised_prompt": "a cat",
            "result": "iVBORw0KGgo="}),
        // The same names of others' tools are functions.
        json!({"type": "function_call", "call_id": "8", "name": "web_search", "arguments": "{}"}),
        json!({"type": "function_call_output", "call_id": "8", "output": "found"}),
    ];
    let lines: Vec<Value> = std::iter::once(user("go")).chain(pairs.iter().cloned().map(item)).collect();
    let about = NativeHeader { id: "n".into(), folder: "/w".into(), ..NativeHeader::default() };
    let native = write(AgentName::Codex, &session(&lines).messages, &about).expect("it can be written");
    let written: Vec<Value> = native.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let items: Vec<&Value> = written
        .iter()
        .filter(|record| record["type"] == "response_item" && record["payload"]["type"] != "message")
        .map(|record| &record["payload"])
        .collect();
    assert_eq!(items, pairs.iter().collect::<Vec<_>>());
    assert_eq!(native.losses, []);
}

// Another agent's call whose arguments are no JSON is one of a tool that takes any text; one that was never answered, too.
#[test]
fn no_call_stands_without_a_result_of_its_kind() {
    let call =
        |id: &str, arguments: &str| ToolCall { id: id.into(), name: "t".into(), arguments: arguments.into() };
    let assistant =
        Assistant { tool_calls: vec![call("1", "{}"), call("2", "any text")], ..Assistant::default() };
    let asked = Message { role: Some(Role::Assistant), assistant: Some(assistant), ..Message::default() };
    let about = NativeHeader { id: "n".into(), folder: "/w".into(), ..NativeHeader::default() };
    let native = write(AgentName::Codex, &[asked], &about).expect("it can be written");
    let kinds: Vec<String> = native
        .text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|record| record["type"] == "response_item")
        .map(|record| record["payload"]["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        kinds,
        ["function_call", "custom_tool_call", "function_call_output", "custom_tool_call_output"]
    );
}

fn rollout(id: &str, start: u64, base: Value, said: &[Value]) -> String {
    let mut head = json!({"timestamp": format!("2026-01-0{}T00:00:00.000Z", 1 + start % 9), "type": "session_meta",
        "payload": {"id": id, "cli_version": "0.169.0", "cwd": "/w"}});
    if !base.is_null() {
        head["payload"]["history_base"] = base;
    }
    let lines = std::iter::once(&head).chain(said).enumerate().map(|(place, record)| {
        let mut record = record.clone();
        record["ordinal"] = (start + place as u64).into();
        format!("{record}\n")
    });
    lines.collect()
}

fn import_one(bytes: &[u8]) -> ImportedSession {
    let import = read(bytes, "rollout.jsonl", None).expect("a rollout");
    assert_eq!(import.problems, []);
    import.sessions.into_iter().next().expect("a session")
}

#[test]
fn a_fork_has_what_was_said_before_it_and_names_the_message_that_it_was_forked_at() {
    let root = rollout("p", 0, Value::Null, &[user("one"), assistant("two"), user("three")]);
    let cut: usize = root.lines().take(3).map(|line| line.len() + 1).sum();
    for base in [
        json!({"thread_id": "p", "end_ordinal_exclusive": 3, "end_byte_offset": cut}),
        json!({"thread_id": "p", "end_ordinal_exclusive": 3}),
    ] {
        let fork = rollout("f", 3, base, &[user("other"), assistant("end")]);
        let found = codex::find_base(fork.as_bytes()).expect("it goes on with another");
        assert_eq!((found.rollout.as_str(), found.part_len(root.as_bytes())), ("p", Some(cut)));
        let session = import_one([&root[..cut], &fork].concat().as_bytes());
        let expected =
            [(Role::User, "one"), (Role::Assistant, "two"), (Role::User, "other"), (Role::Assistant, "end")];
        assert_eq!((session.source_id.as_str(), roles_and_texts(&session)), ("f", expected.to_vec()));
        let parent = import_one(root.as_bytes());
        let origin = session.fork.expect("it is a fork");
        assert_eq!((&origin.session, &origin.message_id), (&parent.id, &parent.messages[1].id));
        assert!(
            parent.messages.iter().all(|message| session.messages.iter().all(|own| own.id != message.id))
        );
        // Alone it is the same session with the same messages, and says what it lacks.
        let alone = import_one(fork.as_bytes());
        let ids = |messages: &[Message]| messages.iter().map(|one| one.id.clone()).collect::<Vec<_>>();
        assert_eq!((alone.id, ids(&alone.messages)), (session.id, ids(&session.messages[2..])));
        assert!(alone.losses.iter().any(|loss| loss.field == "session_meta.payload.history_base"));
        assert_eq!((session.losses, alone.fork), (vec![], None));
    }
    assert_eq!(codex::find_base(root.as_bytes()), None);
}

#[test]
fn what_is_shorter_than_it_was_is_no_base() {
    let root = rollout("p", 0, Value::Null, &[user("one")]);
    let fork =
        |end: usize| rollout("f", 2, json!({"thread_id": "p", "end_byte_offset": end}), &[user("other")]);
    let part =
        |end: usize| codex::find_base(fork(end).as_bytes()).and_then(|base| base.part_len(root.as_bytes()));
    assert_eq!(
        (part(root.len()), part(root.len() + 1), part(root.len() - 1)),
        (Some(root.len()), None, None)
    );
    let side = json!({"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": "s",
        "parent_thread_id": "p", "history_base": {"thread_id": "p", "end_byte_offset": 1}}});
    assert_eq!(codex::find_base(side.to_string().as_bytes()), None);
}

#[test]
fn of_a_base_that_was_cleaned_of_secrets_the_numbers_of_its_records_tell_the_part() {
    let secret = "sk-live-0123456789";
    let root =
        |key: &str| rollout("p", 0, Value::Null, &[user(key), assistant(key), user("three"), assistant("x")]);
    let cut = |root: &str| root.lines().take(3).map(|line| line.len() + 1).sum::<usize>();
    let first = root(secret);
    let base = json!({"thread_id": "p", "end_ordinal_exclusive": 3, "end_byte_offset": cut(&first)});
    let fork = rollout("f", 3, base, &[user("other")]);
    let found = codex::find_base(fork.as_bytes()).expect("it goes on with another");
    assert_eq!(found.part_len(first.as_bytes()), Some(cut(&first)));
    let length = |text: &str| "*".repeat(text.len());
    // Of other lengths, also such that the old place is the end of another line or behind the file's.
    let next = first.lines().nth(3).expect("a line").len() + 1;
    let shorter = secret.len().saturating_sub(next / 2);
    for key in
        ["*".into(), length(secret), "[removed by a person who was careful]".into(), "*".repeat(shorter)]
    {
        let cleaned: String = root(&key);
        assert_eq!(found.part_len(cleaned.as_bytes()), Some(cut(&cleaned)), "{key}");
    }
    let is_short = root("*").lines().take(2).map(|line| format!("{line}\n")).collect::<String>();
    assert_eq!(found.part_len(is_short.as_bytes()), None, "a record is missing");
}

// A rewound thread has two files: what both say is the same message, and what was said since begins a branch.
#[test]
fn a_rewound_thread_is_one_session_with_a_branch() {
    let first =
        rollout("s", 0, Value::Null, &[user("one"), assistant("two"), user("three"), assistant("four")]);
    let cut: usize = first.lines().take(3).map(|line| line.len() + 1).sum();
    let base = json!({"thread_id": "s", "end_ordinal_exclusive": 3, "end_byte_offset": cut});
    let second = rollout("s", 3, base, &[user("instead"), assistant("five")]);
    let [before, after] =
        [import_one(first.as_bytes()), import_one([&first[..cut], &second].concat().as_bytes())];
    assert_eq!((&before.id, after.fork.is_none()), (&after.id, true));
    assert_eq!(before.messages[..2], after.messages[..2]);
    let (mut log, mut handle) = (Vec::new(), Session::new(None));
    append(&mut handle, &mut log, before.messages.clone());
    let mut fresh = ImportDiff::new(after.messages.clone());
    fresh.feed(&log);
    let fresh = fresh.next_missing(256);
    let texts: Vec<(&str, bool)> = fresh.iter().map(|one| (one.content.as_str(), one.branch)).collect();
    assert_eq!(texts, [("instead", true), ("five", false)]);
    assert_eq!(fresh[0].parent_id.as_ref(), Some(&before.messages[1].id));
}

#[test]
fn how_a_call_ended_is_read_from_events_and_from_the_words_of_the_result() {
    let asked = |id: &str, name: &str| {
        item(
            json!({"type": "custom_tool_call", "call_id": id, "name": name, "input": "*** Begin Patch\n*** Update File: a.rs\n*** End Patch"}),
        )
    };
    let told = |id: &str, said: &str| {
        item(json!({"type": "custom_tool_call_output", "call_id": id, "output": said}))
    };
    let ended = |id: &str, more: Value| {
        let mut payload = json!({"type": "patch_apply_end", "call_id": id});
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event(payload)
    };
    let completed = |id: &str, kind: &str, status: &str| {
        event(json!({"type": "item_completed", "item": {"type": kind, "id": id, "status": status}}))
    };
    let open = |said: &str| format!("{said}\nWall time: 0 seconds\nOutput:\nx");
    for (result, event, expected) in [
        (open("Exit code: 0"), None, (Some(0), false, false)),
        (open("Exit code: 1"), None, (Some(1), false, false)),
        (open("Chunk ID: 1\nProcess exited with code 2"), None, (Some(2), false, false)),
        (r#"{"output":"x","metadata":{"exit_code":3}}"#.into(), None, (Some(3), false, false)),
        ("Exit code: 1 stands in a file".into(), None, (None, false, false)),
        ("apply_patch verification failed: no such line".into(), None, (None, true, true)),
        ("unsupported call: TodoWrite".into(), None, (None, true, true)),
        ("aborted".into(), None, (None, true, true)),
        ("x".into(), Some(ended("c", json!({"success": false}))), (None, true, false)),
        ("x".into(), Some(ended("c", json!({"success": true}))), (None, false, false)),
        ("x".into(), Some(completed("c", "FileChange", "failed")), (None, true, false)),
        ("x".into(), Some(completed("c", "CommandExecution", "declined")), (None, true, true)),
        ("x".into(), Some(completed("c", "McpToolCall", "completed")), (None, false, false)),
    ] {
        let lines: Vec<Value> =
            [user("go"), asked("c", "apply_patch"), told("c", &result)].into_iter().chain(event).collect();
        let session = session(&lines);
        let tool = session.messages[2].tool.as_ref().unwrap();
        assert_eq!((tool.exit_code, tool.is_error, tool.not_run), expected, "{result}");
        let mut state = State::default();
        session.messages.iter().for_each(|message| state.take_message(message));
        let succeeded = matches!(expected, (None | Some(0), false, false));
        assert_eq!(state.facts_of(FactKind::Modified).count(), usize::from(succeeded), "{result}");
    }
}
