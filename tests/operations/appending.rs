//! Which messages are appended, and which are refused before anything is written.
//! Tries: src/operation/append.rs, src/session/handle/staging.rs

use std::rc::Rc;

use super::host::Host;
use super::{FOLDER, begun_by, drafts, live};
use leftoff::operation::{AppendRequest, CountingMode, Drafts, SessionFiles};
use leftoff::shapes::Format;
use serde_json::{Value, json};

fn append(
    host: &mut Host,
    live: &Rc<SessionFiles>,
    messages: &Value,
    format: Option<Format>,
) -> Result<(), (String, String)> {
    let appending = AppendRequest { drafts: Drafts::Json(messages.to_string(), format), ..drafts("") };
    let answer = host.drive_on(&mut live.append_messages(appending));
    answer.map(|_| ()).map_err(|trouble| (trouble.code().into(), trouble.message().into()))
}

fn user(id: &str) -> Value {
    json!({ "id": id, "role": "user", "content": id })
}

/// A user's message behind another one.
fn message_behind(id: &str, parent: &str) -> Value {
    json!({ "id": id, "role": "user", "content": id, "parentId": parent })
}

fn log(host: &Host) -> String {
    host.text(&format!("{FOLDER}/messages.jsonl"))
}

#[test]
fn a_message_behind_one_that_the_session_does_not_have_is_refused_and_nothing_is_written() {
    let mut host = Host::default();
    let one = begun_by(&mut host);
    let first = append(&mut host, &one, &json!([user("a"), message_behind("b", "a"), user("c")]), None);
    assert_eq!(first, Ok(()));
    host.drive_on(&mut one.flush(true)).expect("flushed");
    // Another process begins at a checkpoint, which does not have the ids of all messages.
    for by in [&one, &live()] {
        host.drive_on(&mut by.open()).expect("opened");
        let before = log(&host);
        for (place, wrong) in [
            (0, json!([message_behind("x", "nobody")])),
            (1, json!([user("x"), message_behind("y", "nobody")])),
            // What comes later is no parent.
            (0, json!([message_behind("x", "y"), user("y")])),
            (0, json!([message_behind("x", "x")])),
        ] {
            let (code, message) = append(&mut host, by, &wrong, None).expect_err("refused");
            assert_eq!(code, "unknown_parent", "{wrong}");
            assert!(message.starts_with(&format!("message {place} follows ")), "{message}");
            assert_eq!(log(&host), before, "{wrong}");
        }
        // Nothing is left of those, and every message that is there may be a parent, the first one, too.
        for parent in ["a", "b", "c"] {
            let id = format!("behind {parent} {}", log(&host).len());
            assert_eq!(
                append(&mut host, by, &json!([message_behind(&id, parent)]), None),
                Ok(()),
                "{parent}"
            );
        }
    }
}

#[test]
fn what_is_said_anew_or_comes_from_elsewhere_may_follow_a_message_that_is_not_there() {
    let mut host = Host::default();
    let one = begun_by(&mut host);
    let anew = json!([{ "id": "a", "role": "user", "content": "a", "rev": 1, "parentId": "nobody" }]);
    assert_eq!(append(&mut host, &one, &anew, None), Ok(()));
    let source = json!({ "agent": "other", "id": "7" });
    let theirs =
        json!([{ "id": "c", "role": "user", "content": "", "parentId": "nobody", "source": source }]);
    assert_eq!(append(&mut host, &one, &theirs, None), Ok(()));
    let copy = Drafts::Copies(json!([message_behind("b", "nobody")]).to_string());
    host.drive_on(&mut one.append_messages(AppendRequest { drafts: copy, ..drafts("") })).expect("copied");
    assert_eq!(log(&host).lines().filter(|line| !line.is_empty()).count(), 3);
}

#[test]
fn an_empty_message_is_refused_unless_it_is_a_models_a_result_or_said_anew() {
    let mut host = Host::default();
    let one = begun_by(&mut host);
    let result = json!({ "role": "tool", "content": "", "tool": { "callId": "c", "name": "ls" } });
    let file = json!({ "role": "user", "attachments": [{ "mime": "image/png", "path": "a.png" }] });
    let said = [
        json!({ "role": "assistant", "content": "" }),
        result,
        file,
        json!({ "id": "a", "role": "user", "rev": 2, "content": "" }),
    ];
    assert_eq!(append(&mut host, &one, &json!(said), None), Ok(()));
    let before = log(&host);
    let empty = |format, message: Value| (format, message);
    for (format, message) in [
        empty(None, json!({ "role": "user" })),
        empty(None, json!({ "role": "user", "content": "" })),
        empty(None, json!({ "role": "system", "content": "" })),
        empty(None, json!({ "role": "tool", "content": "" })),
        empty(Some(Format::OpenaiChat), json!({ "role": "developer", "content": null })),
        empty(Some(Format::Anthropic), json!({ "role": "user", "content": [] })),
        empty(
            Some(Format::Anthropic),
            json!({ "role": "user", "content": [{ "type": "text", "text": "" }] }),
        ),
        empty(Some(Format::Gemini), json!({ "role": "user", "parts": [] })),
        empty(Some(Format::AiSdkUi), json!({ "role": "user", "parts": [{ "type": "data-x", "data": 1 }] })),
    ] {
        let (code, text) = append(&mut host, &one, &json!([message]), format).expect_err("refused");
        assert_eq!(code, "empty_message", "{message}: {text}");
        assert!(text.starts_with("message 0 is empty"), "{text}");
    }
    assert_eq!(log(&host), before);
}

#[test]
fn a_tools_message_that_only_answers_an_approval_is_taken_and_says_nothing_to_a_model() {
    let talk: Value =
        serde_json::from_str(include_str!("../fixtures/public-reports/08-approval.ai-sdk.json"))
            .expect("JSON");
    let messages = talk.as_array().expect("an array");
    let mut host = Host::default();
    let one = begun_by(&mut host);
    // As a whole, and one after the other as the SDK gives them.
    assert_eq!(append(&mut host, &one, &talk, Some(Format::AiSdk)), Ok(()));
    for message in messages {
        assert_eq!(append(&mut host, &one, &json!([message]), Some(Format::AiSdk)), Ok(()), "{message}");
    }
    assert_eq!(log(&host).lines().filter(|line| !line.is_empty()).count(), 4);
    // Beside a result the result stays; a text is no answer to an approval.
    let approval = &messages[2]["content"][0];
    let result = json!({ "type": "tool-result", "toolCallId": "c1", "toolName": "deploy", "output": { "type": "text", "value": "done" } });
    let both = json!([{ "role": "tool", "content": [approval, result] }]);
    assert_eq!(append(&mut host, &one, &both, Some(Format::AiSdk)), Ok(()));
    assert!(log(&host).contains("\"content\":\"done\""));
    let wrong = json!([{ "role": "tool", "content": [approval, { "type": "text", "text": "yes" }] }]);
    let (code, _) = append(&mut host, &one, &wrong, Some(Format::AiSdk)).expect_err("refused");
    assert_eq!(code, "invalid_request");
}

#[test]
fn a_providers_message_that_is_given_without_its_format_is_refused_by_the_name_of_the_format() {
    let call = json!({ "role": "assistant", "assistant": { "toolCalls": [{ "id": "c", "name": "ls", "arguments": "{}" }] } });
    let result = json!({ "role": "tool", "content": "a", "tool": { "callId": "c", "name": "ls" } });
    let image = json!({ "mime": "image/png", "data": "iVBORw0KGgo=" });
    let seen = json!({ "role": "user", "content": "see", "attachments": [image] });
    let messages =
        leftoff::shapes::read(&json!([seen, call, result]).to_string(), Format::Leftoff).expect("read");
    let mut host = Host::default();
    let one = begun_by(&mut host);
    let mut refused = 0;
    for format in Format::ALL.into_iter().filter(|format| *format != Format::Leftoff) {
        let written = leftoff::shapes::write(&messages, format).json;
        for message in serde_json::from_str::<Vec<Value>>(&written).expect("JSON") {
            let Err((_, text)) = append(&mut host, &one, &json!([message]), None) else { continue };
            assert!(text.contains(&format!("\"{}\"", format.as_str())), "{format:?}, {message}: {text}");
            refused += 1;
        }
    }
    assert!(refused > 12, "{refused}");
    // What is merely wrong is nobody's.
    let (_, text) =
        append(&mut host, &one, &json!([{ "role": "user", "contnt": "a" }]), None).expect_err("refused");
    assert!(!text.contains("provider"), "{text}");
}

#[test]
fn what_is_not_counted_is_appended_by_the_same_rules() {
    let mut host = Host::default();
    let one = begun_by(&mut host);
    let drafts = Drafts::Json(json!([message_behind("x", "nobody")]).to_string(), None);
    let appending = AppendRequest { drafts, is_durable: false, revives: false, counts: CountingMode::Off };
    let trouble = host.drive_on(&mut one.append_messages(appending)).expect_err("refused");
    assert_eq!(trouble.code(), "unknown_parent");
}
