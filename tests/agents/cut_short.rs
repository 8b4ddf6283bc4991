//! What the user stopped and what was taken back, as each agent says it; and what it told the model beside what was typed.
//! Tries: src/interop/

use leftoff::error::Code;
use leftoff::interop::{AgentName, ImportedSession, read};
use leftoff::record::message::Role;
use serde_json::{Value, json};

const TIME: &str = "2026-01-02T00:00:00.000Z";

fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

fn session(file: &str) -> ImportedSession {
    read(file.as_bytes(), "/home/ann/p/x.jsonl", None).expect("a session").sessions.remove(0)
}

/// Of each answer whether it is `partial`.
fn check(file: &str, agent: AgentName, expected: &[bool]) {
    let session = session(file);
    assert_eq!(session.agent, agent.as_str());
    let answers = session.messages.iter().filter(|message| message.role == Some(Role::Assistant));
    let partial: Vec<bool> = answers.map(|message| message.partial).collect();
    assert_eq!(partial, expected, "{file}");
}

fn claude(uuid: &str, parent: &str, kind: &str, more: Value) -> Value {
    let mut record = json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "version": "2.1.329",
        "timestamp": TIME, "cwd": "/home/ann/p"});
    record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    record
}

fn claude_says(uuid: &str, parent: &str, stop: Option<&str>, more: Value) -> Value {
    let message = json!({"id": uuid, "role": "assistant", "content": [{"type": "text", "text": "half"}], "stop_reason": stop});
    let mut said = claude(uuid, parent, "assistant", json!({"message": message}));
    said.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    said
}

fn claude_asks(uuid: &str, parent: &str, text: &str, more: Value) -> Value {
    let mut asked = claude(
        uuid,
        parent,
        "user",
        json!({"message": {"role": "user", "content": [{"type": "text", "text": text}]}}),
    );
    asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    asked
}

#[test]
fn an_answer_that_claude_code_cut_is_partial() {
    const INTERRUPTION_TEXT: &str = "[Request interrupted by user]";
    let hello = claude_asks("u", "", "hello", json!({}));
    let of = |records: &[Value], expected: &[bool]| {
        check(&lines(&[std::slice::from_ref(&hello), records].concat()), AgentName::ClaudeCode, expected);
    };
    of(&[claude_says("a", "u", None, json!({"isAbortedMidStream": true}))], &[true]);
    of(
        &[claude_says("a", "u", None, json!({})), claude_asks("v", "a", INTERRUPTION_TEXT, json!({}))],
        &[true],
    );
    of(
        &[
            claude_says("a", "u", Some("end_turn"), json!({})),
            claude_asks("v", "a", INTERRUPTION_TEXT, json!({})),
        ],
        &[false],
    );
    let named = claude_asks("v", "b", "go on", json!({"interruptedMessageId": "a"}));
    of(
        &[claude_says("a", "u", None, json!({})), claude_says("b", "a", Some("end_turn"), json!({})), named],
        &[true, false],
    );
    of(&[claude_says("a", "u", None, json!({})), claude_asks("v", "a", "go on", json!({}))], &[false]);
}

/// With two answers in one message, the second one cut.
fn opencode(error: Value) -> String {
    let asked = json!({"info": {"id": "m1", "role": "user"}, "parts": [{"type": "text", "text": "hi"}]});
    let answer = json!({"info": {"id": "m2", "role": "assistant", "error": error},
        "parts": [{"type": "step-start"}, {"type": "text", "text": "one"}, {"type": "step-start"}, {"type": "text", "text": "ha"}]});
    json!({"info": {"id": "s"}, "messages": [asked, answer]}).to_string()
}

fn pi(stop: &str) -> String {
    lines(&[
        json!({"type": "session", "id": "s", "timestamp": TIME, "cwd": "/home/ann/p"}),
        json!({"type": "message", "id": "1", "message": {"role": "user", "content": "hi"}}),
        json!({"type": "message", "id": "2", "parentId": "1", "message":
            {"role": "assistant", "stopReason": stop, "content": [{"type": "text", "text": "ha"}]}}),
    ])
}

fn gemini(shown: &str) -> String {
    lines(&[
        json!({"sessionId": "s", "projectHash": "h", "startTime": TIME, "kind": "main"}),
        json!({"id": "1", "timestamp": TIME, "type": "user", "content": "hi"}),
        json!({"id": "2", "timestamp": TIME, "type": "gemini", "content": "ha"}),
        json!({"id": "3", "timestamp": TIME, "type": "info", "content": shown}),
    ])
}

fn cline(end: &str) -> String {
    json!([{"role": "user", "content": "<task>hi</task>"}, {"role": "assistant", "content": [{"type": "text", "text": format!("ha{end}")}]}])
        .to_string()
}

fn aider(end: &str) -> String {
    format!("# aider chat started at 2024-05-06 07:08:09\n\n#### hi  \n\nha\n{end}\n")
}

fn copilot(last: &str) -> String {
    let event = |kind: &str, data: Value| json!({"type": kind, "id": kind, "timestamp": TIME, "data": data});
    lines(&[
        event("session.start", json!({"sessionId": "s", "startTime": TIME})),
        event("user.message", json!({"content": "hi"})),
        event("assistant.message", json!({"messageId": "m", "content": "ha"})),
        event(last, json!({"reason": "user"})),
    ])
}

fn codex(last: &str) -> String {
    let said = |role: &str, kind: &str| {
        json!({"timestamp": TIME, "type": "response_item", "payload":
            {"type": "message", "role": role, "content": [{"type": kind, "text": "ha"}]}})
    };
    lines(&[
        json!({"timestamp": TIME, "type": "session_meta", "payload": {"id": "s", "cwd": "/home/ann/p"}}),
        said("user", "input_text"),
        said("assistant", "output_text"),
        json!({"timestamp": TIME, "type": "event_msg", "payload": {"type": last}}),
    ])
}

#[test]
fn an_answer_that_another_agent_cut_is_partial() {
    let aborted = json!({"name": "MessageAbortedError", "data": {}});
    check(&opencode(aborted), AgentName::OpenCode, &[false, true]);
    check(&opencode(Value::Null), AgentName::OpenCode, &[false, false]);
    check(&pi("aborted"), AgentName::Pi, &[true]);
    check(&pi("stop"), AgentName::Pi, &[false]);
    check(&gemini("Request cancelled."), AgentName::Gemini, &[true]);
    check(&gemini("Update available."), AgentName::Gemini, &[false]);
    check(&cline("\n\n[Response interrupted by user]"), AgentName::Cline, &[true]);
    check(&cline(""), AgentName::Cline, &[false]);
    check(&aider(">   \n>   \n> ^C again to exit  "), AgentName::Aider, &[true]);
    check(&aider("> Tokens: 5 sent  \n> ^C again to exit  "), AgentName::Aider, &[false]);
    check(&copilot("abort"), AgentName::Copilot, &[true]);
    check(&copilot("assistant.turn_end"), AgentName::Copilot, &[false]);
    check(&codex("turn_aborted"), AgentName::Codex, &[true]);
    check(&codex("task_complete"), AgentName::Codex, &[false]);
}

/// The path of a log that holds these messages.
fn path(session: &ImportedSession) -> Vec<&str> {
    use leftoff::record::scan::Record;
    use leftoff::session::branch::Branches;
    let mut branches = Branches::default();
    for (place, message) in session.messages.iter().enumerate() {
        let (start, json) = (place as u64 * 10, format!("{place}"));
        branches.add_message(message, &Record { start, end: start + 9, json, is_sound: true });
    }
    let path = branches.path(None);
    let on = session.messages.iter().filter(|message| branches.is_on(&path, &message.id));
    on.map(|message| message.content.as_str()).collect()
}

const REVERT_NOTE: &str = "[What was said after this was taken back.]";

#[test]
fn what_was_taken_back_is_off_the_path_also_where_nothing_followed() {
    let said = |id: &str, kind: &str, text: &str| json!({"id": id, "timestamp": TIME, "type": kind, "content": text});
    let gemini = [
        json!({"sessionId": "s", "projectHash": "h", "startTime": TIME, "kind": "main"}),
        said("1", "user", "one"),
        said("2", "gemini", "two"),
        said("3", "user", "three"),
        said("4", "gemini", "four"),
        json!({"$rewindTo": "3"}),
    ];
    assert_eq!(path(&session(&lines(&gemini))), ["one", "two", REVERT_NOTE]);
    let with = |id: &str| {
        let rewind = json!({"$rewindTo": id});
        lines(&[&gemini[..5], &[rewind, said("5", "user", "five")]].concat())
    };
    assert_eq!(path(&session(&with("3"))), ["one", "two", "five"]);
    let all = lines(&[&gemini[..5], &[json!({"$rewindTo": "1"})]].concat());
    let error = read(all.as_bytes(), "x.jsonl", None).expect_err("nothing is left");
    assert_eq!(error.code, Code::EmptyFile);

    let record = |uuid: &str, parent: &str, kind: &str, text: &str| {
        json!({"uuid": uuid, "parentUuid": parent, "sessionId": "s", "timestamp": TIME, "type": kind, "cwd": "/home/ann/p",
            "version": "0.21.13", "message": {"role": kind, "parts": [{"text": text}]}})
    };
    let rewind = json!({"uuid": "5", "parentUuid": "2", "sessionId": "s", "timestamp": TIME, "type": "system",
        "subtype": "rewind", "cwd": "/home/ann/p", "version": "0.21.13", "systemPayload": {"targetUuid": "2"}});
    let qwen = [
        record("1", "", "user", "one"),
        record("2", "1", "assistant", "two"),
        record("3", "2", "user", "three"),
        record("4", "3", "assistant", "four"),
        rewind,
    ];
    assert_eq!(path(&session(&lines(&qwen))), ["one", "two", REVERT_NOTE]);

    let part = |text: &str| json!([{"type": "text", "text": text}]);
    let messages = json!([
        {"info": {"id": "1", "role": "user"}, "parts": part("one")},
        {"info": {"id": "2", "role": "assistant"}, "parts": part("two")},
        {"info": {"id": "3", "role": "user"}, "parts": part("three")},
        {"info": {"id": "4", "role": "assistant"}, "parts": part("four")},
    ]);
    let opencode =
        |revert: Value| json!({"info": {"id": "s", "revert": revert}, "messages": messages}).to_string();
    assert_eq!(path(&session(&opencode(json!({"messageID": "3"})))), ["one", "two", REVERT_NOTE]);
    assert_eq!(path(&session(&opencode(Value::Null))), ["one", "two", "three", "four"]);
}

#[test]
fn what_claude_code_attached_for_the_model_is_in_the_session() {
    let attached = |uuid: &str, parent: &str, attachment: Value| {
        claude(uuid, parent, "attachment", json!({"attachment": attachment}))
    };
    let file = json!({"type": "file", "filename": "/home/ann/p/a.txt", "displayPath": "a.txt",
        "content": {"type": "text", "file": {"filePath": "/home/ann/p/a.txt", "content": "all of it", "numLines": 1}}});
    let image = json!({"type": "file", "filename": "/home/ann/p/b.png",
        "content": {"type": "image", "file": {"base64": "AAAA", "type": "image/png", "originalSize": 3}}});
    let hook =
        json!({"type": "hook_additional_context", "hookName": "h", "content": ["be brief", "be kind"]});
    let silent = json!({"type": "hook_success", "hookName": "h", "content": "", "stdout": "{}"});
    let own = json!({"type": "total_tokens_reminder", "text": "5 tokens left"});
    let mut rendered =
        attached("r", "o", json!({"type": "session_context", "context": {"gitStatus": "clean"}}));
    rendered["rendered"] = json!([{"content": "the tree is clean"}]);
    let records = [
        claude_asks("u", "", "look at @a.txt and @b.png", json!({})),
        attached("f", "u", file),
        attached("i", "f", image),
        attached("h", "i", hook),
        attached("s", "h", silent),
        attached("o", "s", own),
        rendered,
        claude_says("a", "r", Some("end_turn"), json!({})),
    ];
    let session = session(&lines(&[&records[..], &records[1..2]].concat()));
    let said: Vec<&str> = session.messages.iter().map(|message| message.content.as_str()).collect();
    let expected = [
        "look at @a.txt and @b.png",
        "a.txt:\n\nall of it",
        "",
        "be brief\n\nbe kind",
        "the tree is clean",
        "half",
    ];
    assert_eq!(said, expected);
    assert_eq!(session.messages[2].attachments[0].data.as_deref(), Some("AAAA"));
    let chain: Vec<bool> =
        session.messages.windows(2).map(|two| two[1].parent_id.as_ref() == Some(&two[0].id)).collect();
    assert_eq!(chain, [true; 5]);
    let lost: Vec<&str> = session.losses.iter().map(|loss| loss.field.as_str()).collect();
    for kind in ["hook_success", "total_tokens_reminder"] {
        assert!(lost.contains(&format!("record:attachment/{kind}").as_str()), "{lost:?}");
    }
    // Alone they are no session: nobody said anything.
    let error = read(lines(&records[1..5]).as_bytes(), "x.jsonl", Some(AgentName::ClaudeCode))
        .expect_err("nobody spoke");
    assert!(matches!(error.code, Code::EmptyFile | Code::UnknownFormat));
}

#[test]
fn what_a_client_tells_by_itself_is_no_session() {
    let gemini = lines(&[
        json!({"sessionId": "s", "projectHash": "h", "startTime": TIME, "kind": "main"}),
        json!({"id": "1", "timestamp": TIME, "type": "user", "content": "<session_context>\nx\n</session_context>"}),
    ]);
    let said = |text: &str| {
        json!({"timestamp": TIME, "type": "response_item", "payload":
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}})
    };
    let codex = lines(&[
        json!({"timestamp": TIME, "type": "session_meta", "payload": {"id": "s", "cwd": "/home/ann/p"}}),
        said("<environment_context>\n  <cwd>/home/ann/p</cwd>\n</environment_context>"),
    ]);
    let opencode = json!({"info": {"id": "s"}, "messages":
        [{"info": {"id": "1", "role": "user"}, "parts": [{"type": "text", "text": "told", "synthetic": true}]}]});
    for file in [gemini, codex, opencode.to_string()] {
        let error = read(file.as_bytes(), "x.jsonl", None).expect_err("nobody spoke");
        assert_eq!(error.code, Code::EmptyFile, "{file}");
    }
}
