//! Copilot CLI's rules, each by a few events of its own.

use leftoff::interop::{AgentName, ImportedSession, read};
use leftoff::session::message::{Role, Usage};
use serde_json::{Value, json};

use super::fixture;

fn event(id: &str, kind: &str, data: Value) -> Value {
    json!({"type": kind, "data": data, "id": id, "timestamp": "2026-01-01T00:00:01Z", "parentId": null})
}

fn begun() -> Value {
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
        begun(),
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
        begun(),
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
        begun(),
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
        begun(),
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
