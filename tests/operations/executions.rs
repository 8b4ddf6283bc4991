//! What tools did, told by a client that has no calls of its own: each is one, of the answer that it was made for.
//! Tries: src/operation/tool_executions.rs

use std::rc::Rc;

use super::begun_by;
use super::host::Host;
use leftoff::operation::{AppendRequest, CountingMode, Drafts, SessionFiles};
use serde_json::{Value, json};

fn answer(text: &str) -> AppendRequest {
    let drafts = Drafts::Json(json!([{ "role": "assistant", "content": text }]).to_string(), None);
    AppendRequest { drafts, is_durable: true, revives: true, counts: CountingMode::Estimate }
}

#[test]
fn a_call_of_an_id_that_an_earlier_answer_had_is_another_one_and_told_again_it_is_the_same() {
    let mut host = Host::default();
    let live = begun_by(&mut host);
    let mut owners = Vec::new();
    for turn in 0..3 {
        let lines =
            host.drive_on(&mut live.append_messages(answer(&format!("answer {turn}")))).expect("appended");
        let message: Value = serde_json::from_slice(&lines).expect("a message");
        owners.push(message["id"].clone());
        for time in 0..3 {
            let told = append_result(&mut host, &live, &format!("result {turn}"));
            assert_eq!(told["isNew"], time == 0, "{turn}: {told}");
            assert_eq!(told["execution"]["messageId"], owners[turn], "{turn}: {told}");
        }
        let all: Vec<Value> =
            serde_json::from_str(&host.drive_on(&mut live.tools()).expect("told")).expect("JSON");
        let of: Vec<&Value> = all.iter().map(|one| &one["messageId"]).collect();
        assert_eq!(of, owners.iter().collect::<Vec<_>>());
    }
}

fn append_result(host: &mut Host, live: &Rc<SessionFiles>, content: &str) -> Value {
    let execution = json!({ "call": { "id": "c", "name": "ls" }, "result": { "content": content } });
    let told = host
        .drive_on(&mut live.append_tool(execution.to_string(), CountingMode::Estimate))
        .expect("appended");
    serde_json::from_str(&told).expect("JSON")
}

#[test]
fn a_call_for_what_was_imported_is_one_however_often_it_is_told_and_what_is_said_meanwhile() {
    let mut host = Host::default();
    let live = begun_by(&mut host);
    let line = |id: &str| {
        let source = json!({ "agent": "claude-code", "id": id });
        let line =
            json!({ "v": 1, "id": id, "role": "assistant", "content": "It is done.", "source": source });
        format!("{line}\n")
    };
    let log = format!("{}/messages.jsonl", live.folder().path);
    host.append(&log, line("first").as_bytes());
    assert_eq!(append_result(&mut host, &live, "a")["isNew"], true);
    host.append(&log, line("second").as_bytes());
    let again = append_result(&mut host, &live, "a");
    assert_eq!(
        (&again["isNew"], &again["execution"]["messageId"]),
        (&json!(false), &json!("first")),
        "{again}"
    );
    // Another result is that of another call of the same id.
    let other = append_result(&mut host, &live, "b");
    assert_eq!(
        (&other["isNew"], &other["execution"]["messageId"]),
        (&json!(true), &json!("second")),
        "{other}"
    );
    for content in ["b", "another"] {
        let again = append_result(&mut host, &live, content);
        assert_eq!((&again["isNew"], &again["execution"]["result"]["content"]), (&json!(false), &json!("b")));
    }
    assert_eq!(host.text(&log).matches(r#""role":"tool""#).count(), 2);
}

#[test]
fn what_a_tool_did_is_of_no_message_that_the_assistant_did_not_say() {
    let mut host = Host::default();
    let live = begun_by(&mut host);
    let log = format!("{}/messages.jsonl", live.folder().path);
    host.append(&log, b"{\"v\":1,\"id\":\"u\",\"role\":\"user\",\"content\":\"Again.\"}\n");
    let before = host.text(&log);
    let execution =
        json!({ "call": { "id": "c", "name": "ls" }, "result": { "content": "a" }, "messageId": "u" });
    let refused = host.drive_on(&mut live.append_tool(execution.to_string(), CountingMode::Estimate));
    assert_eq!(refused.expect_err("refused").code(), "invalid_request");
    assert_eq!(host.text(&log), before);
}

#[test]
fn lines_of_another_program_that_have_no_ids_are_each_of_their_call() {
    let mut host = Host::default();
    let live = begun_by(&mut host);
    let log = format!("{}/tools.jsonl", live.folder().path);
    for call in ["c", "d", "c"] {
        host.append(&log, format!("{{\"v\":1,\"toolCallId\":\"{call}\",\"tool\":\"ls\"}}\n").as_bytes());
    }
    let all: Vec<Value> =
        serde_json::from_str(&host.drive_on(&mut live.tools()).expect("told")).expect("JSON");
    assert_eq!(all.iter().map(|one| &one["toolCallId"]).collect::<Vec<_>>(), ["c", "d"]);
}
