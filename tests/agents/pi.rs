//! Pi's rules.
//! Tries: src/interop/pi/

use leftoff::interop::{AgentName, ImportedSession, detect, read};
use leftoff::record::message::{Message, Role};
use serde_json::{Value, json};

use super::{fixture, flags, roles};

const REAL_SESSION: &str = "real/0.73.1/2026-11-22T00-34-17-619Z_01a200ac-d992-72ec-acfd-4e1ee077bda7.jsonl";

fn header() -> Value {
    json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/home/dev/project"})
}

fn entry(id: &str, parent: Value, message: Value) -> Value {
    json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:01.000Z", "message": message})
}

fn user(id: &str, parent: Value) -> Value {
    entry(id, parent, json!({"role": "user", "content": id}))
}

fn session(lines: &[Value]) -> ImportedSession {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    let bytes = lines.join("\n").into_bytes();
    assert_eq!(detect(&bytes), Some(AgentName::Pi));
    read(&bytes, "x.jsonl", None).unwrap().sessions.remove(0)
}

// Each message with what it follows, and a star where it begins a branch.
fn tree(session: &ImportedSession) -> Vec<String> {
    let name = |id: &String| {
        let message = session.messages.iter().find(|message| message.id == *id).unwrap();
        message.content.as_str().to_owned()
    };
    let of = |message: &Message| {
        let before = message.parent_id.as_ref().map(name).unwrap_or_default();
        format!("{before}>{}{}", message.content.as_str(), if message.branch { "*" } else { "" })
    };
    session.messages.iter().map(of).collect()
}

#[test]
fn a_real_session_reads_as_it_was_held() {
    let session = read(&fixture(AgentName::Pi, REAL_SESSION), "x", None).unwrap().sessions.remove(0);
    assert_eq!(session.source_id, "01a200ac-d992-72ec-acfd-4e1ee077bda7");
    assert_eq!(session.folder.as_deref(), Some("/home/dev/project"));
    assert_eq!(session.model.as_deref(), Some("fake-model"));
    assert_eq!(roles(&session.messages), "uatattatatauata");
    let two = &session.messages[3];
    let ids: Vec<&str> = two.tool_calls().iter().map(|call| call.id.as_str()).collect();
    for (result, id) in session.messages[4..6].iter().zip(ids) {
        assert_eq!(result.tool.as_ref().unwrap().call_id, id);
    }
    let answer = two.assistant.as_ref().unwrap();
    assert_eq!(answer.reasoning[0].text.as_str(), "Fake reasoning.");
    assert_eq!(answer.usage.as_ref().unwrap().input, Some(123));
    let failed: Vec<bool> =
        session.messages.iter().filter_map(|message| Some(message.tool.as_ref()?.is_error)).collect();
    assert_eq!(failed, [false, false, false, true, false, true]);
    assert!(session.messages[0].content.as_str().contains("Grüße ☃"));
    assert_eq!(session.messages[11].attachments[0].mime, "image/png");
}

#[test]
fn an_entry_that_hangs_from_a_followed_one_begins_a_branch() {
    let change =
        json!({"type": "model_change", "id": "m", "parentId": "b", "timestamp": "2026-01-01T00:00:01.000Z"});
    let session = session(&[
        header(),
        user("a", Value::Null),
        user("b", json!("a")),
        change,
        user("c", json!("m")),
        user("d", json!("a")),
        user("e", json!("d")),
        user("f", json!("c")),
        user("g", json!("b")),
    ]);
    assert_eq!(tree(&session), [">a", "a>b", "b>c", "a>d*", "d>e", "c>f", "b>g*"]);
}

#[test]
fn what_hangs_from_nothing_or_from_what_is_missing_is_read_in_file_order() {
    let session =
        session(&[header(), user("a", Value::Null), user("b", json!("gone")), user("c", Value::Null)]);
    assert_eq!(tree(&session), [">a", "a>b", "b>c"]);
    let lost = session.losses.iter().find(|loss| loss.field == "message.parentId").unwrap();
    assert_eq!(lost.count, 2);
}

#[test]
fn the_first_version_has_no_chain_and_is_read_in_file_order() {
    let bare = |text: &str| json!({"type": "message", "timestamp": "2026-01-01T00:00:01.000Z", "message": {"role": "user", "content": text}});
    let compaction = json!({"type": "compaction", "timestamp": "2026-01-01T00:00:02.000Z", "summary": "s", "firstKeptEntryIndex": 1});
    let session = session(&[header(), bare("a"), compaction, bare("b")]);
    assert_eq!(tree(&session), [">a", "a>s", "s>b"]);
    assert!(session.losses.iter().all(|loss| loss.field != "message.parentId"));
}

#[test]
fn what_nobody_said_is_marked() {
    let run = |more: Value| {
        let mut message = json!({"role": "bashExecution", "command": "ls", "output": "a", "exitCode": 0, "cancelled": false});
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        message
    };
    let summary =
        |kind: &str, parent: &str| json!({"type": kind, "id": kind, "parentId": parent, "summary": "S"});
    let custom = json!({"type": "custom_message", "id": "x", "parentId": "branch_summary", "customType": "t", "content": "C", "display": true});
    let session = session(&[
        header(),
        entry("a", Value::Null, run(json!({}))),
        entry("b", json!("a"), run(json!({"output": "", "exitCode": 2, "excludeFromContext": true}))),
        summary("compaction", "b"),
        summary("branch_summary", "compaction"),
        custom,
        json!({"type": "session_info", "id": "i", "parentId": "x", "name": "Named"}),
    ]);
    let told: Vec<(&str, String)> =
        session.messages.iter().map(|message| (message.content.as_str(), flags(message))).collect();
    let expected = [
        ("Ran `ls`\n```\na\n```", "\"isBashExecution\":true "),
        (
            "Ran `ls`\n(no output)\n\nCommand exited with code 2",
            "\"isBashExecution\":true \"isIgnored\":true ",
        ),
        ("S", "\"isCompactSummary\":true "),
        ("S", "\"isBranchSummary\":true "),
        ("C", "\"isMeta\":true "),
    ];
    assert_eq!(told, expected.map(|(text, flags)| (text, flags.to_owned())));
    assert!(session.messages.iter().all(|message| message.role == Some(Role::User)));
    assert_eq!(session.title.as_deref(), Some("Named"));
}

#[test]
fn redacted_reasoning_is_kept_as_data() {
    let content = json!([
        {"type": "thinking", "thinking": "why", "thinkingSignature": "sig"},
        {"type": "thinking", "thinking": "", "thinkingSignature": "secret", "redacted": true},
    ]);
    let session =
        session(&[header(), entry("a", Value::Null, json!({"role": "assistant", "content": content}))]);
    let [open, redacted] = &session.messages[0].assistant.as_ref().unwrap().reasoning[..] else {
        panic!("two")
    };
    assert_eq!((open.signature.as_deref(), open.data.as_deref()), (Some("sig"), None));
    assert_eq!((redacted.signature.as_deref(), redacted.data.as_deref()), (None, Some("secret")));
}

#[test]
fn a_session_whose_header_is_lost_is_named_by_its_file() {
    let line = user("a", Value::Null).to_string();
    assert_eq!(detect(line.as_bytes()), None);
    let session = read(line.as_bytes(), "2026_abc.jsonl", Some(AgentName::Pi)).unwrap().sessions.remove(0);
    assert_eq!(session.source_id, "abc");
}

#[test]
fn a_fork_names_the_session_and_the_message_that_it_was_made_of() {
    let at = |second: usize| format!("2026-01-02T00:00:{second:02}.000Z");
    let head = |id: &str, second: usize, parent: Option<&str>| {
        let mut head =
            json!({"type": "session", "version": 3, "id": id, "timestamp": at(second), "cwd": "/p"});
        if let Some(parent) = parent {
            head["parentSession"] = parent.into();
        }
        head
    };
    let said = |n: usize, role: &str| {
        let before = if n == 1 { Value::Null } else { format!("e{}", n - 1).into() };
        json!({"type": "message", "id": format!("e{n}"), "parentId": before, "timestamp": at(n),
            "message": {"role": role, "content": [{"type": "text", "text": format!("said {n}")}]}})
    };
    let session = |records: &[Value]| {
        let file: String = records.iter().map(|record| format!("{record}\n")).collect();
        read(file.as_bytes(), "x.jsonl", Some(AgentName::Pi)).expect("a session").sessions.remove(0)
    };
    let copied = [said(1, "user"), said(2, "assistant")];
    let parent = session(&[&[head("p", 0, None)][..], &copied, &[said(3, "user")]].concat());
    let path = "/home/ann/.pi/agent/sessions/--p--/2026-01-02T00-00-00-000Z_p.jsonl";
    let fork = session(&[&[head("f", 9, Some(path))][..], &copied, &[said(10, "user")]].concat());
    let origin = fork.fork.expect("it is a fork");
    assert_eq!((&origin.session, &origin.message_id), (&parent.id, &parent.messages[1].id));
    assert_eq!(fork.messages.len(), 3);
    assert!(fork.losses.iter().all(|loss| loss.field != "session.parentSession"));
    // One that took nothing over, or whose file's name says no time, says so.
    for (path, said) in [(path, vec![said(10, "user")]), ("/elsewhere/p.jsonl", copied.to_vec())] {
        let other = session(&[vec![head("f", 9, Some(path))], said].concat());
        assert_eq!(other.fork, None);
        assert!(other.losses.iter().any(|loss| loss.field == "session.parentSession"), "{path}");
    }
}
