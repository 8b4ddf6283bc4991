//! Continue's rules.
//! Tries: src/interop/continue_dev.rs

use leftoff::error::Code;
use leftoff::interop::{AgentName, ImportedSession, detect, read};
use serde_json::{Value, json};

use super::{fixture, roles};

fn session(history: Value) -> ImportedSession {
    let session = json!({"sessionId": "s", "title": "T", "workspaceDirectory": "/home/dev/project", "history": history});
    let bytes = session.to_string().into_bytes();
    assert_eq!(detect(&bytes), Some(AgentName::Continue));
    read(&bytes, "x.json", None).unwrap().sessions.remove(0)
}

fn call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "Bash", "arguments": "{\"command\":\"ls\"}"}})
}

#[test]
fn a_real_session_reads_as_it_was_held() {
    let path = "real/1.5.47/5941c710-74b3-46b0-91cd-c70a67b89be4.json";
    let session = read(&fixture(AgentName::Continue, path), "x", None).unwrap().sessions.remove(0);
    assert_eq!(session.source_id, "5941c710-74b3-46b0-91cd-c70a67b89be4");
    assert_eq!(session.folder.as_deref(), Some("/home/dev/project"));
    assert_eq!(session.model.as_deref(), Some("fake-model"));
    assert_eq!(roles(&session.messages), "uatattatata");
    let two = &session.messages[3];
    let ids: Vec<&str> = two.tool_calls().iter().map(|call| call.id.as_str()).collect();
    for (result, (id, name)) in session.messages[4..6].iter().zip(ids.iter().zip(["Read", "Bash"])) {
        let tool = result.tool.as_ref().unwrap();
        assert_eq!((tool.call_id.as_str(), tool.name.as_str()), (*id, name));
    }
    assert!(session.messages[4].content.as_str().contains("üñï"));
    assert_eq!(two.assistant.as_ref().unwrap().usage.as_ref().unwrap().output, Some(17));
}

#[test]
fn a_result_is_read_once_and_a_call_that_waits_has_none() {
    let state =
        |id: &str, status: &str, output: Value| json!({"toolCallId": id, "status": status, "output": output});
    let answer = json!({"role": "assistant", "content": "", "toolCalls": [call("a"), call("b"), call("c"), call("d")]});
    let session = session(json!([
        {"message": answer, "contextItems": [], "toolCallStates": [
            state("a", "done", json!([{"content": "again"}])), state("b", "errored", json!([{"content": "no"}])),
            state("c", "canceled", Value::Null), state("d", "generated", Value::Null)]},
        {"message": {"role": "tool", "content": "once", "toolCallId": "a"}, "contextItems": []},
    ]));
    let told: Vec<(&str, &str, bool)> = session
        .messages
        .iter()
        .filter_map(|message| {
            let tool = message.tool.as_ref()?;
            Some((tool.call_id.as_str(), message.content.as_str(), tool.is_error))
        })
        .collect();
    assert_eq!(told, [("b", "no", true), ("c", "", true), ("a", "once", false)]);
}

#[test]
fn thoughts_belong_to_the_answer_behind_them() {
    let thinking = json!({"role": "thinking", "content": "why", "signature": "sig"});
    let session = session(json!([
        {"message": {"role": "user", "content": "q"}},
        {"message": thinking},
        {"message": {"role": "assistant", "content": "r"}, "reasoning": {"active": false, "text": "more"}},
        {"message": thinking},
        {"message": {"role": "user", "content": "q"}, "conversationSummary": "S"},
        {"message": thinking},
    ]));
    assert_eq!(roles(&session.messages), "uaauua");
    let thoughts = |at: usize| {
        let assistant = session.messages[at].assistant.as_ref().unwrap();
        assistant.reasoning.iter().map(|one| one.text.as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        (thoughts(1), thoughts(2), thoughts(5)),
        (vec!["why".into(), "more".into()], vec!["why".into()], vec!["why".into()])
    );
    let marks = &session.messages[4].source.as_ref().unwrap().extra;
    assert_eq!(
        (session.messages[4].content.as_str(), marks.iter().next()),
        ("S", Some(("\"isCompactSummary\"", "true")))
    );
}

#[test]
fn images_and_named_files_are_attachments() {
    let content = json!([
        {"type": "text", "text": "look"},
        {"type": "imageUrl", "imageUrl": {"url": "data:image/png;base64,AAAA"}},
        {"type": "imageUrl", "imageUrl": {"url": "https://example.com/a.png"}},
    ]);
    let named = json!({"name": "a.rs", "description": "d", "content": "x", "uri": {"type": "file", "value": "file:///a.rs"}});
    let session =
        session(json!([{"message": {"role": "user", "content": content}, "contextItems": [named]}]));
    let [image, file] = &session.messages[0].attachments[..] else { panic!("two") };
    assert_eq!((image.mime.as_str(), image.data.as_deref()), ("image/png", Some("AAAA")));
    assert_eq!((file.path.as_deref(), file.data.as_deref()), (Some("/a.rs"), Some("eA==")));
    assert!(
        session
            .losses
            .iter()
            .any(|loss| loss.field == "session.history[].message.content[imageUrl].imageUrl")
    );
}

#[test]
fn a_grown_session_keeps_the_ids_it_had() {
    let first = json!({"message": {"role": "user", "content": "same"}, "contextItems": []});
    let answer = |status: &str, output: Value| {
        let state = json!({"toolCallId": "a", "status": status, "output": output});
        json!({"message": {"role": "assistant", "content": "", "toolCalls": [call("a")]}, "toolCallStates": [state]})
    };
    let ids = |history: Value| {
        session(history).messages.iter().map(|message| message.id.clone()).collect::<Vec<_>>()
    };
    let waits = ids(json!([first, answer("generated", Value::Null)]));
    let whole = ids(json!([first, answer("done", json!([{"content": "r"}])), first]));
    assert_eq!((waits.len(), whole.len()), (2, 4));
    assert_eq!(whole[..2], waits[..]);
    let error = read(b"{\"sessionId\":1}", "x", Some(AgentName::Continue)).unwrap_err();
    assert_eq!(error.code, Code::UnknownFormat);
}
