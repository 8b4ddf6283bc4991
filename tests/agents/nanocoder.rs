//! Nanocoder's rules.
//! Tries: src/interop/nanocoder.rs

use leftoff::error::Code;
use leftoff::interop::{AgentName, detect, read};
use leftoff::record::message::Role;
use serde_json::Value;

const FILES: [&[u8]; 2] = [
    include_bytes!("../fixtures/nanocoder/1.30.0/12ed243f-dfed-4764-bbb1-28c7088bc93e.json"),
    include_bytes!("../fixtures/nanocoder/1.30.0/c6d1bddc-6789-4403-85c0-472fee47ed34.json"),
];

#[test]
fn every_message_call_and_result_is_read() {
    for file in FILES {
        assert_eq!(detect(file), Some(AgentName::Nanocoder));
        let source: Value = serde_json::from_slice(file).unwrap();
        let session = read(file, "x.json", None).unwrap().sessions.remove(0);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        assert_eq!(session.source_id, text(&source["id"]));
        assert_eq!(session.title, Some(text(&source["title"])));
        assert_eq!(session.folder, Some(text(&source["workingDirectory"])));
        let said = source["messages"].as_array().unwrap();
        assert_eq!(session.messages.len(), said.len());
        for (message, said) in session.messages.iter().zip(said) {
            assert_eq!(message.content.as_str(), text(&said["content"]));
            let calls = message.assistant.as_ref().map_or(&[][..], |assistant| &assistant.tool_calls);
            let expected = said["tool_calls"].as_array().cloned().unwrap_or_default();
            assert_eq!(calls.len(), expected.len());
            for (call, expected) in calls.iter().zip(&expected) {
                assert_eq!(
                    (call.id.as_str(), call.name.as_str()),
                    (&*text(&expected["id"]), &*text(&expected["function"]["name"]))
                );
                let arguments: Value = serde_json::from_str(call.arguments.as_str()).unwrap();
                assert_eq!(arguments, expected["function"]["arguments"]);
            }
            if message.role == Some(Role::Tool) {
                assert_eq!(message.tool.as_ref().unwrap().call_id, text(&said["tool_call_id"]));
            }
        }
        // The document keeps no times of messages.
        assert!(session.messages.iter().all(|message| message.timestamp.is_none()));
        let created = session.began_ms().map(leftoff::time::format);
        assert_eq!(created, Some(text(&source["createdAt"])));
    }
}

#[test]
fn importing_again_gives_the_same_and_what_was_added_besides() {
    let first = read(FILES[0], "x.json", None).unwrap().sessions.remove(0);
    // The client writes the same messages anew; only the text between them may differ.
    let text = String::from_utf8(FILES[0].to_vec()).unwrap();
    let end = text.rfind("\n ]").unwrap();
    let text = format!(
        "{},\n  {{\"role\": \"user\", \"content\": \"more\", \"mood\": \"good\"}}{}",
        &text[..end],
        &text[end..]
    );
    let again = read(text.as_bytes(), "x.json", None).unwrap().sessions.remove(0);
    assert_eq!(again.id, first.id);
    assert_eq!(again.messages.len(), first.messages.len() + 1);
    let ids = |messages: &[leftoff::record::message::Message]| {
        messages.iter().map(|message| message.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&again.messages)[..first.messages.len()], ids(&first.messages));
    assert!(again.losses.iter().any(|loss| loss.field == "session.messages[].mood"));
}

#[test]
fn what_is_no_session_of_it_is_refused() {
    let index = include_bytes!("../fixtures/nanocoder/1.30.0/sessions.json");
    for bad in [&index[..], b"{}", b"", b"{\"id\":1,\"messages\":7}", &FILES[0][..100]] {
        assert_eq!(detect(bad), None);
        assert_eq!(
            read(bad, "x", Some(AgentName::Nanocoder)).map_err(|error| error.code).err(),
            Some(Code::UnknownFormat)
        );
    }
}
