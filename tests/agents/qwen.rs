//! Qwen Code's rules, each by a few records of its own.
//! Tries: src/interop/qwen/

use leftoff::error::Code;
use leftoff::interop::{AgentName, Import, ImportedSession, detect, read};
use leftoff::record::message::Role;
use leftoff::record::scan::ProblemCode;
use leftoff::state::{FactKind, State};
use serde_json::{Value, json};

use super::{describe_messages, fixture};

fn import(lines: &[Value]) -> Import {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    read(lines.join("\n").as_bytes(), "x.jsonl", None).expect("a session")
}

fn session(lines: &[Value]) -> ImportedSession {
    let mut import = import(lines);
    assert_eq!((import.sessions.len(), import.problems.len()), (1, 0));
    import.sessions.remove(0)
}

/// A record that hangs from another.
fn record(uuid: &str, parent: &str, kind: &str, parts: Value) -> Value {
    let parent = if parent.is_empty() { Value::Null } else { json!(parent) };
    json!({"uuid": uuid, "parentUuid": parent, "sessionId": "s", "timestamp": "2026-01-01T00:00:01Z", "type": kind,
        "cwd": "/home/dev/project", "version": "0.24.4", "message": {"role": "user", "parts": parts}})
}

fn text_record(uuid: &str, parent: &str, kind: &str, text: &str) -> Value {
    record(uuid, parent, kind, json!([{"text": text}]))
}

fn system(uuid: &str, parent: &str, subtype: &str, payload: Value) -> Value {
    json!({"uuid": uuid, "parentUuid": parent, "sessionId": "s", "timestamp": "2026-01-01T00:00:01Z",
        "type": "system", "subtype": subtype, "systemPayload": payload})
}

#[test]
fn records_of_one_uuid_are_one_answer() {
    let mut second = record(
        "a",
        "u",
        "assistant",
        json!([{"functionCall": {"id": "c", "name": "read_file", "args": {"path": "a"}}}, {"text": "there"}]),
    );
    second["model"] = json!("m");
    second["usageMetadata"] = json!({"promptTokenCount": 10, "candidatesTokenCount": 5, "thoughtsTokenCount": 2,
        "cachedContentTokenCount": 4, "totalTokenCount": 15});
    let first = record("a", "u", "assistant", json!([{"text": "hm", "thought": true}, {"text": "look"}]));
    let session = session(&[text_record("u", "", "user", "hi"), first, second]);
    assert_eq!(describe_messages(&session), ["u hi", "a look\n\nthere"]);
    let assistant = session.messages[1].assistant.as_ref().unwrap();
    assert_eq!((assistant.reasoning.len(), assistant.tool_calls.len(), assistant.order.len()), (1, 1, 4));
    let usage = assistant.usage.as_ref().unwrap();
    // The sum shows that the thoughts are in the output already.
    assert_eq!(
        (usage.input, usage.cache_read, usage.output, usage.reasoning),
        (Some(6), Some(4), Some(5), Some(2))
    );
    assert_eq!(session.model.as_deref(), Some("m"));
}

#[test]
fn a_result_says_whether_it_failed_and_which_call_it_answers() {
    let result = |response: Value, status: &str| {
        let parts = json!([{"functionResponse": {"id": "c", "name": "read_file", "response": response}}]);
        let mut result = record("r", "u", "tool_result", parts);
        result["toolCallResult"] = json!({"callId": "c", "status": status});
        let session = session(&[text_record("u", "", "user", "hi"), result]);
        let tool = session.messages[1].tool.clone().unwrap();
        assert_eq!((tool.call_id.as_str(), tool.name.as_str()), ("c", "read_file"));
        (describe_messages(&session)[1].clone(), tool.is_error)
    };
    assert_eq!(result(json!({"output": "seen"}), "success"), ("t seen".into(), false));
    assert_eq!(result(json!({"error": "no"}), "success"), ("t no".into(), true));
    assert_eq!(result(json!({"output": "stopped"}), "cancelled"), ("t stopped".into(), true));
}

// Its shell tells the code beside what it printed.
#[test]
fn a_result_says_whether_it_ran_and_with_which_code_its_command_ended() {
    let ended = |outcome: Value| {
        let call =
            json!([{"functionCall": {"id": "c", "name": "run_shell_command", "args": {"command": "make"}}}]);
        let parts = json!([{"functionResponse": {"id": "c", "name": "run_shell_command",
            "response": {"output": "exit code: 0 is what it prints"}}}]);
        let mut result = record("r", "a", "tool_result", parts);
        result["toolCallResult"] = outcome;
        let session =
            session(&[text_record("u", "", "user", "hi"), record("a", "u", "assistant", call), result]);
        let tool = session.messages[2].tool.clone().unwrap();
        let mut state = State::default();
        session.messages.iter().for_each(|message| state.take_message(message));
        (tool.exit_code, tool.not_run, state.facts_of(FactKind::Failed).count())
    };
    let shown = |code: i64| json!({"type": "shell_result", "exitCode": code});
    assert_eq!(
        ended(json!({"callId": "c", "status": "error", "resultDisplay": shown(3)})),
        (Some(3), false, 1)
    );
    assert_eq!(
        ended(json!({"callId": "c", "status": "success", "resultDisplay": shown(0)})),
        (Some(0), false, 0)
    );
    assert_eq!(ended(json!({"callId": "c", "status": "cancelled", "resultDisplay": "no"})), (None, true, 0));
}

#[test]
fn what_hangs_from_farther_back_is_a_branch_through_records_that_are_no_messages() {
    let mut lines = vec![
        text_record("u", "", "user", "hi"),
        system("x", "u", "ui_telemetry", json!({})),
        text_record("a", "x", "assistant", "hello"),
        text_record("v", "a", "user", "left"),
        system("w", "a", "rewind", json!({"truncatedCount": 1})),
        text_record("y", "w", "user", "right"),
        text_record("b", "y", "assistant", "yes"),
    ];
    let branched = session(&lines);
    assert_eq!(describe_messages(&branched), ["u hi", "a hello", "u left", "!u right", "a yes"]);
    assert_eq!(branched.messages[3].parent_id.as_ref(), Some(&branched.messages[1].id));
    // Where a parent is missing, it follows what is before it, and that is listed.
    lines.remove(4);
    let session = session(&lines);
    assert_eq!(describe_messages(&session)[3], "u right");
    assert!(session.losses.iter().any(|loss| loss.field == "user.parentUuid"));
}

#[test]
fn the_last_title_is_the_title_and_a_summary_is_marked() {
    let history = json!([{"role": "user", "parts": [{"text": "what was said"}]}, {"role": "user", "parts": [{"text": "hi"}]}]);
    let session = session(&[
        text_record("u", "", "user", "hi"),
        system("t", "u", "custom_title", json!({"customTitle": "one"})),
        system("z", "t", "chat_compression", json!({"info": {}, "compressedHistory": history})),
        system("t2", "z", "custom_title", json!({"customTitle": "two", "titleSource": "auto"})),
        text_record("v", "t2", "user", "go on"),
    ]);
    assert_eq!(session.title.as_deref(), Some("two"));
    assert_eq!(describe_messages(&session), ["u hi", "u what was said", "u go on"]);
    let flags: Vec<bool> =
        session.messages.iter().map(|message| !message.source.as_ref().unwrap().extra.is_empty()).collect();
    assert_eq!(flags, [false, true, false]);
}

#[test]
fn a_sub_agents_records_are_a_session_of_their_own() {
    let mut sub = text_record("b", "u", "user", "look");
    sub["isSidechain"] = json!(true);
    sub["agentId"] = json!("explore-1");
    let both = import(&[
        text_record("u", "", "user", "hi"),
        sub.clone(),
        text_record("a", "u", "assistant", "done"),
    ]);
    let [main, side] = &both.sessions[..] else { panic!("two sessions") };
    assert_eq!((describe_messages(main).len(), describe_messages(side)), (2, vec!["u look".to_owned()]));
    assert_eq!((side.source_id.as_str(), &side.parent.as_ref().unwrap().session), ("s/explore-1", &main.id));
    assert!(main.messages.iter().all(|message| !message.branch));
    let alone = import(&[sub]).sessions.remove(0);
    assert_eq!((alone.id, alone.parent.unwrap().session.as_str()), (side.id.clone(), "qwen/s"));
}

#[test]
fn several_records_in_one_line_are_read_and_half_a_record_is_one_problem() {
    let (first, second) = (text_record("u", "", "user", "a}{b"), text_record("a", "u", "assistant", "yes"));
    let line = format!("{first}{second}");
    let session = |text: &str| read(text.as_bytes(), "x", Some(AgentName::Qwen));
    assert_eq!(describe_messages(&session(&line).unwrap().sessions[0]), ["u a}{b", "a yes"]);
    let import = session(&format!("{second}\n{}", &line[..line.len() - 5])).unwrap();
    assert_eq!(import.problems.iter().map(|one| one.code).collect::<Vec<_>>(), [ProblemCode::Damaged]);
    assert_eq!(describe_messages(&import.sessions[0]), ["a yes", "u a}{b"]);
}

#[test]
fn what_is_no_session_is_one_error() {
    for bad in
        [&b"null"[..], b"{\"type\":\"user\"}", b"{\"uuid\":\"a\",\"sessionId\":\"s\",\"type\":\"system\"}"]
    {
        assert_eq!(detect(bad), None);
        let error = read(bad, "x", Some(AgentName::Qwen)).unwrap_err();
        assert_eq!(error.code, Code::UnknownFormat);
    }
    assert_eq!(read(b"\n", "x", Some(AgentName::Qwen)).unwrap_err().code, Code::EmptyFile);
}

#[test]
fn a_real_session_reads_as_it_was_held() {
    let path = "real/0.24.4/6075e660-a2dd-43b9-9d3c-4e03647592e7.jsonl";
    let session = read(&fixture(AgentName::Qwen, path), "x", None).unwrap().sessions.remove(0);
    let roles: String = describe_messages(&session).iter().map(|one| one[..1].to_owned()).collect();
    // Bash; a file and bash at once; one that fails; one that was refused; and a prompt more, after it was resumed.
    assert_eq!(roles, "uatattatataua");
    let results = session.messages.iter().filter_map(|message| message.tool.as_ref());
    assert_eq!(results.map(|tool| tool.is_error).collect::<Vec<_>>(), [false, false, false, true, true]);
    assert_eq!(session.folder.as_deref(), Some("/home/dev/project"));
    assert!(describe_messages(&session)[12].contains("wörld. Ünïcode ☃"));
    let answer = session.messages[4].clone();
    assert!(session.messages.iter().all(|message| !message.branch) && answer.role == Some(Role::Tool));
}
