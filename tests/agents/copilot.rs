//! Copilot CLI's rules, each by a few events of its own.
//! Tries: src/interop/copilot/

use leftoff::interop::{AgentName, ImportedSession, read};
use leftoff::record::message::{Attachment, Role, Usage};
use leftoff::state::{FactKind, State};
use serde_json::{Value, json};

use super::fixture;

fn event(id: &str, kind: &str, data: Value) -> Value {
    json!({"type": kind, "data": data, "id": id, "timestamp": "2026-01-01T00:00:01Z", "parentId": null})
}

fn session_start() -> Value {
    event("e0", "session.start", json!({"sessionId": "s", "copilotVersion": "1.0.102"}))
}

fn sessions(lines: &[Value]) -> Vec<ImportedSession> {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    let import = read(lines.join("\n").as_bytes(), "events.jsonl", None).expect("a session");
    assert_eq!(import.problems, []);
    import.sessions
}

#[test]
fn what_an_answer_cost_is_told_before_it() {
    let cost = json!({"usage": {"apiCallId": "r", "inputTokens": 100, "outputTokens": 7, "cacheReadTokens": 60, "cacheWriteTokens": 10}});
    let answer = |id: &str, call: &str| {
        event(id, "assistant.message", json!({"content": "a", "apiCallId": call, "outputTokens": 3}))
    };
    let sessions = sessions(&[
        session_start(),
        event("e1", "session.usage_record", cost),
        answer("e2", "r"),
        answer("e3", "other"),
    ]);
    let usage = |at: usize| sessions[0].messages[at].assistant.as_ref().unwrap().usage.clone().unwrap();
    let told = Usage {
        input: Some(30),
        output: Some(7),
        cache_read: Some(60),
        cache_write: Some(10),
        ..Usage::default()
    };
    assert_eq!(usage(0), told);
    assert_eq!(usage(1), Usage { output: Some(3), ..Usage::default() });
}

#[test]
fn a_tool_that_failed_says_what_went_wrong() {
    let calls =
        json!([{"toolCallId": "c", "name": "create", "arguments": {"path": "a"}, "type": "function"}]);
    let failed = json!({"toolCallId": "c", "success": false, "error": {"message": "Path already exists", "code": "failure"}});
    let sessions = sessions(&[
        session_start(),
        event("e1", "assistant.message", json!({"content": "", "toolRequests": calls})),
        event("e2", "tool.execution_complete", failed),
    ]);
    let result = &sessions[0].messages[1];
    let tool = result.tool.as_ref().unwrap();
    assert_eq!(
        (result.content.as_str(), tool.name.as_str(), tool.is_error),
        ("Path already exists", "create", true)
    );
}

#[test]
fn what_a_sub_agent_does_is_a_session_of_its_own() {
    let sessions = sessions(&[
        session_start(),
        event("e1", "user.message", json!({"content": "look"})),
        event("e2", "assistant.message", json!({"content": "inner", "parentToolCallId": "c"})),
        event("e3", "assistant.message", json!({"content": "outer"})),
    ]);
    let [main, side] = &sessions[..] else { panic!("expected two sessions") };
    let texts = |session: &ImportedSession| {
        session.messages.iter().map(|message| message.content.as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((texts(main), texts(side)), (vec!["look".into(), "outer".into()], vec!["inner".into()]));
    assert_eq!(side.source_id, "s/c");
    let parent = side.parent.as_ref().unwrap();
    assert_eq!((&parent.session, parent.call_id.as_deref()), (&main.id, Some("c")));
}

#[test]
fn what_the_client_notices_is_marked_and_reasoning_is_kept() {
    let answer = json!({"content": "a", "reasoningText": "hm", "reasoningOpaque": "b3BhcXVl"});
    let sessions = sessions(&[
        session_start(),
        event("e1", "system.notification", json!({"content": "an agent is done"})),
        event("e2", "assistant.message", answer),
    ]);
    let [notice, answer] = &sessions[0].messages[..] else { panic!("expected two messages") };
    assert_eq!(notice.role, Some(Role::User));
    assert!(notice.source.as_ref().unwrap().extra.iter().any(|(key, _)| key == "\"isMeta\""));
    let reasoning = &answer.assistant.as_ref().unwrap().reasoning[0];
    assert_eq!((reasoning.text.as_str(), reasoning.data.as_deref()), ("hm", Some("b3BhcXVl")));
}

#[test]
fn a_real_session_says_where_it_was_held() {
    let path = "real/1.0.102/e005ea6a-7a02-4040-a7de-2366a5544a14/events.jsonl";
    let import = read(&fixture(AgentName::Copilot, path), "events.jsonl", None).unwrap();
    let session = &import.sessions[0];
    assert_eq!(session.source_id, "e005ea6a-7a02-4040-a7de-2366a5544a14");
    assert_eq!(session.folder.as_deref(), Some("/home/dev/project"));
    assert_eq!(
        (session.git_branch.as_deref(), session.version.as_deref()),
        (Some("master"), Some("1.0.102"))
    );
}

#[test]
fn images_are_read_from_the_event_that_holds_their_bytes_or_from_where_they_stand() {
    let asset = json!({"assetId": "sha256:1", "byteLength": 8, "data": "iVBORw0KGgo=", "mimeType": "image/png", "type": "image"});
    let file = json!({"type": "file", "path": "/w/a.png", "displayName": "a.png", "assetId": "sha256:1", "mimeType": "image/png"});
    let blob = json!({"type": "blob", "mimeType": "image/png", "assetId": "sha256:1"});
    let omitted = json!({"type": "blob", "mimeType": "image/png", "byteLength": 9, "omittedReason": "size"});
    let shown = json!([
        {"type": "image", "mimeType": "image/png", "assetId": "sha256:1", "byteLength": 8, "description": "a cat"},
        {"type": "image", "mimeType": "image/jpeg", "data": "/9j/4AAQ"},
        {"type": "image", "mimeType": "image/png", "byteLength": 9, "omittedReason": "size"},
    ]);
    let calls = json!([{"toolCallId": "c", "name": "view", "arguments": {}, "type": "function"}]);
    let sessions = sessions(&[
        session_start(),
        event("e1", "session.binary_asset", asset),
        event("e2", "user.message", json!({"content": "see", "attachments": [file, blob, omitted]})),
        event("e3", "assistant.message", json!({"content": "", "toolRequests": calls})),
        event(
            "e4",
            "tool.execution_complete",
            json!({"toolCallId": "c", "success": true,
            "result": {"content": "seen", "binaryResultsForLlm": shown}}),
        ),
    ]);
    let files = |at: usize| {
        let of = |file: &Attachment| (file.mime.clone(), file.data.clone(), file.name.clone());
        sessions[0].messages[at].attachments.iter().map(of).collect::<Vec<_>>()
    };
    let png = || ("image/png".to_owned(), Some("iVBORw0KGgo=".to_owned()));
    let ((mime, data), name) = (png(), |name: &str| Some(name.to_owned()));
    assert_eq!(files(0), [(mime.clone(), data.clone(), name("a.png")), (mime.clone(), data.clone(), None)]);
    let jpeg = ("image/jpeg".to_owned(), name("/9j/4AAQ"), None);
    assert_eq!(files(2), [(mime, data, name("a cat")), jpeg]);
    // What the client left out is told.
    let lost = |field: &str| sessions[0].losses.iter().any(|loss| loss.field == field);
    assert!(lost("user.message.data.attachments[blob]"), "{:?}", sessions[0].losses);
    assert!(
        lost("tool.execution_complete.data.result.binaryResultsForLlm[image]"),
        "{:?}",
        sessions[0].losses
    );
}

#[test]
fn a_call_says_whether_it_ran_and_how_its_command_ended() {
    let calls =
        json!([{"toolCallId": "c", "name": "bash", "arguments": {"command": "make"}, "type": "function"}]);
    let ended = |data: Value| {
        let mut data = data;
        data["toolCallId"] = "c".into();
        let sessions = sessions(&[
            session_start(),
            event("e1", "assistant.message", json!({"content": "", "toolRequests": calls})),
            event("e2", "tool.execution_complete", data),
        ]);
        let tool = sessions[0].messages[1].tool.clone().unwrap();
        let mut state = State::default();
        sessions[0].messages.iter().for_each(|message| state.take_message(message));
        (tool.exit_code, tool.is_error, tool.not_run, state.facts_of(FactKind::Failed).count())
    };
    let exit = json!({"content": "no", "contents": [{"type": "shell_exit", "shellId": "1", "exitCode": 3}]});
    assert_eq!(ended(json!({"success": true, "result": exit})), (Some(3), false, false, 1));
    let told = json!({"content": "no\n<exited with exit code 4>"});
    assert_eq!(ended(json!({"success": true, "result": told})), (None, false, false, 1));
    let denied = |code: &str| json!({"success": false, "error": {"message": "no", "code": code}});
    assert_eq!(ended(denied("denied")), (None, true, true, 0));
    assert_eq!(ended(denied("rejected")), (None, true, true, 0));
    assert_eq!(ended(denied("failure")), (None, true, false, 1));
}
