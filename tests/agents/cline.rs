//! Cline's rules.
//! Tries: src/interop/cline/

use leftoff::interop::{AgentName, ImportedSession, detect, read};
use serde_json::{Value, json};

use super::{fixture, roles};

fn import_named(value: &Value, name: &str) -> ImportedSession {
    let bytes = value.to_string().into_bytes();
    assert_eq!(detect(&bytes), Some(AgentName::Cline));
    read(&bytes, name, None).unwrap().sessions.remove(0)
}

fn session(messages: Value) -> ImportedSession {
    import_named(
        &json!({"version": 1, "updated_at": "2026-01-01T00:00:00.000Z", "agent": "lead", "sessionId": "s", "messages": messages}),
        "x",
    )
}

#[test]
fn a_real_session_reads_as_it_was_held() {
    let path = "real/3.0.65/1795308328214_7b6dd.messages.json";
    let session = read(&fixture(AgentName::Cline, path), "x", None).unwrap().sessions.remove(0);
    assert_eq!(session.source_id, "1795308328214_7b6dd");
    assert_eq!(session.version.as_deref(), Some("3.0.65"));
    assert_eq!(session.model.as_deref(), Some("fake-model"));
    assert_eq!(roles(&session.messages), "uatattata");
    let two = &session.messages[3];
    let ids: Vec<&str> = two.tool_calls().iter().map(|call| call.id.as_str()).collect();
    for (result, id) in session.messages[4..6].iter().zip(ids) {
        assert_eq!(result.tool.as_ref().unwrap().call_id, id);
    }
    assert_eq!(two.assistant.as_ref().unwrap().reasoning[0].text.as_str(), "Fake reasoning.");
    let told: Vec<(&str, bool)> = session
        .messages
        .iter()
        .filter_map(|message| Some((message.content.as_str(), message.tool.as_ref()?.is_error)))
        .collect();
    assert_eq!(told[0], ("hello-from-fake-tool\n", false));
    assert_eq!(told[3], ("[Command exited with code 3]", true));
    assert!(told[1].0.contains("üñï"), "{told:?}");
}

#[test]
fn a_message_that_was_loaded_again_keeps_its_id() {
    let result = json!([{"type": "tool_result", "tool_use_id": "c", "name": "t", "content": "r"}]);
    let of = |id: &str| {
        let session = session(json!([
            {"id": "msg_1", "role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "t", "input": {}}]},
            {"id": id, "role": "user", "content": result},
        ]));
        session.messages.iter().map(|message| message.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(of("msg_2"), of("msg_2_tool_c_tool_c"));
}

#[test]
fn what_stands_beside_results_is_the_users_and_files_keep_their_bytes() {
    let session = session(json!([{"id": "m", "role": "user", "ts": 1000, "content": [
        {"type": "tool_result", "tool_use_id": "c", "name": "t", "is_error": true, "content": [
            {"type": "text", "text": "one"}, {"type": "image", "data": "AAAA", "mediaType": "image/png"}]},
        {"type": "tool_result", "tool_use_id": "d", "name": "t", "content": [
            {"query": "q", "result": {"n": 1}, "success": true}, {"query": "q", "error": "no", "success": false}]},
        {"type": "text", "text": "and"},
        {"type": "file", "path": "/a.txt", "content": "ü"},
    ]}]));
    assert_eq!(roles(&session.messages), "ttu");
    let [first, second, said] = &session.messages[..] else { panic!("three") };
    assert_eq!((first.content.as_str(), first.attachments[0].data.as_deref()), ("one", Some("AAAA")));
    assert!(first.tool.as_ref().unwrap().is_error && second.tool.as_ref().unwrap().is_error);
    assert_eq!(second.content.as_str(), "{\"n\":1}\n\nno");
    assert_eq!((said.content.as_str(), said.timestamp.as_deref()), ("and", Some("1970-01-01T00:00:01.000Z")));
    let file = &said.attachments[0];
    assert_eq!((file.path.as_deref(), file.data.as_deref()), (Some("/a.txt"), Some("w7w=")));
}

#[test]
fn what_was_read_from_the_cache_is_not_counted_twice() {
    let metrics = json!({"inputTokens": 100, "outputTokens": 7, "cacheReadTokens": 60, "cacheWriteTokens": 10, "cost": 1});
    let session = session(json!([{"id": "m", "role": "assistant", "content": "x", "metrics": metrics}]));
    let usage = session.messages[0].assistant.as_ref().unwrap().usage.as_ref().unwrap();
    assert_eq!((usage.input, usage.cache_read, usage.cache_write), (Some(30), Some(60), Some(10)));
}

#[test]
fn what_a_model_was_told_after_a_compaction_is_not_mixed_with_the_session() {
    for name in ["basic", "agentic"] {
        let path = format!("cline-sdk/session/{name}.compaction.json");
        let beside = read(&fixture(AgentName::Cline, &path), "x", None).unwrap().sessions.remove(0);
        let whole = fixture(AgentName::Cline, "cline-sdk/session/session.messages.json");
        let whole = read(&whole, "x", None).unwrap().sessions.remove(0);
        assert_eq!(beside.source_id, format!("{}/compaction", whole.source_id));
        let marks = &beside.messages[0].source.as_ref().unwrap().extra;
        assert_eq!(marks.iter().collect::<Vec<_>>(), [("\"isCompactSummary\"", "true")]);
        assert!(beside.messages.iter().all(|one| whole.messages.iter().all(|other| one.id != other.id)));
    }
}

#[test]
fn a_task_is_named_by_its_folder_or_by_its_beginning() {
    let path = "history/1740470400000/api_conversation_history.json";
    let bytes = fixture(AgentName::Cline, path);
    let of = |name: &str| read(&bytes, name, None).unwrap().sessions.remove(0);
    let session = of("1740470400000/api_conversation_history.json");
    assert_eq!(session.source_id, "1740470400000");
    assert_eq!(of("api_conversation_history.json").source_id, of("other.json").source_id);
    assert_eq!(roles(&session.messages), "uatua");
    assert_eq!(session.messages[0].attachments[0].mime, "image/png");
    assert!(session.messages[2].tool.as_ref().unwrap().is_error);
    assert_eq!(session.model.as_deref(), Some("claude-sonnet-4-6"));
    let other =
        json!([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]).to_string();
    assert_eq!(detect(other.as_bytes()), None);
    assert_eq!(read(other.as_bytes(), "x", Some(AgentName::Cline)).unwrap().sessions[0].messages.len(), 2);
}

#[test]
fn a_task_as_it_was_shown_has_answers_calls_and_outputs() {
    let say = |ts: u64, kind: &str, text: &str| json!({"ts": ts, "type": "say", "say": kind, "text": text});
    let mut feedback = say(9, "user_feedback", "more");
    feedback["images"] = json!(["data:image/png;base64,AAAA"]);
    let ask = json!({"ts": 10, "type": "ask", "ask": "followup", "text": "{\"question\":\"which?\"}"});
    let session = import_named(
        &json!([
            say(1, "text", "do it"),
            say(2, "api_req_started", "{\"tokensIn\":5,\"tokensOut\":6}"),
            say(3, "reasoning", "why"),
            say(4, "text", "I will"),
            json!({"ts": 5, "type": "ask", "ask": "tool", "text": "{\"tool\":\"readFile\",\"path\":\"a\"}"}),
            json!({"ts": 6, "type": "ask", "ask": "command", "text": "ls"}),
            say(7, "command_output", "a"),
            json!({"ts": 8, "type": "say", "say": "text", "text": "so f", "partial": true}),
            json!({"ts": 8, "type": "say", "say": "text", "text": "so far"}),
            feedback,
            ask,
            say(11, "shell_integration_warning", ""),
        ]),
        "t/ui_messages.json",
    );
    assert_eq!(roles(&session.messages), "uataua");
    let [_, first, output, second, more, asked] = &session.messages[..] else { panic!("six") };
    let answer = first.assistant.as_ref().unwrap();
    assert_eq!((first.content.as_str(), answer.reasoning[0].text.as_str()), ("I will", "why"));
    assert_eq!(answer.usage.as_ref().unwrap().input, Some(5));
    let names: Vec<&str> = first.tool_calls().iter().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["readFile", "execute_command"]);
    assert_eq!(output.tool.as_ref().unwrap().call_id, first.tool_calls()[1].id);
    assert_eq!(
        (second.content.as_str(), more.attachments.len(), asked.content.as_str()),
        ("so far", 1, "which?")
    );
    let lost: Vec<&str> = session.losses.iter().map(|loss| loss.field.as_str()).collect();
    assert_eq!(lost, ["record:say/shell_integration_warning", "record:say/text"]);
}
