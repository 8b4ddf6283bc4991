//! What a fork has of what tools did.
//! Tries: src/operation/store/fork.rs

use std::rc::Rc;

use super::host::Host;
use super::store::{create, run_to_end, store};
use leftoff::operation::{CountingMode, SessionFiles};
use serde_json::{Value, json};

/// Two messages that make a call of one id, as some providers give them, and what each call did.
fn with_two_calls(host: &mut Host) -> Rc<SessionFiles> {
    let live = run_to_end(host, create(&store(), r#"{"title":"A plan"}"#));
    for message in ["first", "second"] {
        let call = json!({ "id": "c", "name": "ls", "arguments": "{}" });
        let line = json!({
            "v": 1, "id": message, "role": "assistant", "content": "", "assistant": { "toolCalls": [call] },
        });
        host.append(&format!("{}/messages.jsonl", live.folder().path), format!("{line}\n").as_bytes());
        let execution = json!({
            "call": { "id": "c", "name": "ls" }, "result": { "content": format!("of the {message}") },
            "messageId": message,
        });
        run_to_end(host, live.append_tool(execution.to_string(), CountingMode::Estimate));
    }
    live
}

fn executions(host: &mut Host, live: &Rc<SessionFiles>) -> Vec<String> {
    let told: Vec<Value> = serde_json::from_str(&run_to_end(host, live.tools())).expect("JSON");
    told.iter().map(|one| one["messageId"].as_str().expect("whose it is").to_string()).collect()
}

/// A fork at each of its lines: two answers, each with its result behind it. A call whose result is not there yet did nothing.
fn check_forks(host: &mut Host, live: &Rc<SessionFiles>) {
    let log = host.text(&format!("{}/messages.jsonl", live.folder().path));
    let id = |line: &str| serde_json::from_str::<Value>(line).expect("JSON")["id"].as_str().map(String::from);
    for (at, done_by) in log.lines().filter_map(id).zip([0, 1, 1, 2]) {
        let forking =
            store().fork_released(live.clone(), json!({ "at": at }).to_string(), CountingMode::Estimate);
        let fork = run_to_end(host, forking);
        assert_eq!(executions(host, &fork), ["first", "second"][..done_by], "{at}");
    }
}

#[test]
fn a_fork_has_what_was_done_for_the_messages_that_it_has_and_nothing_else() {
    let mut host = Host::default();
    let live = with_two_calls(&mut host);
    assert_eq!(executions(&mut host, &live), ["first", "second"]);
    check_forks(&mut host, &live);
}

#[test]
fn a_fork_of_what_was_imported_has_what_tools_did_for_it_too() {
    let mut host = Host::default();
    let live = run_to_end(&mut host, create(&store(), r#"{"title":"A plan"}"#));
    let log = format!("{}/messages.jsonl", live.folder().path);
    let source = json!({ "agent": "claude-code", "id": "1" });
    for id in ["first", "second"] {
        let line =
            json!({ "v": 1, "id": id, "role": "assistant", "content": "It is done.", "source": source });
        host.append(&log, format!("{line}\n").as_bytes());
        // Its source told of no such call.
        let execution = json!({
            "call": { "id": format!("of-{id}"), "name": "ls" }, "result": { "content": format!("of the {id}") }, "messageId": id,
        });
        run_to_end(&mut host, live.append_tool(execution.to_string(), CountingMode::Estimate));
    }
    check_forks(&mut host, &live);
}
