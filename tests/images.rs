//! Images and files on their way between agents: each arrives with its bytes, or is listed as lost, and nobody refuses the
//! session for it.
//! Tries: src/interop/native/, src/interop/attachment_address.rs
#![cfg(all(feature = "interop", not(target_arch = "wasm32")))]
#![allow(missing_docs)]

use leftoff::interop::native::{NativeHeader, write};
use leftoff::interop::{AgentName, ImportedSession, read};
use leftoff::record::message::{Assistant, Attachment, Message, Role, Tool, ToolCall};
use serde_json::Value;

const NATIVE_FORMATS: [AgentName; 7] = [
    AgentName::ClaudeCode,
    AgentName::Codex,
    AgentName::Copilot,
    AgentName::Gemini,
    AgentName::OpenCode,
    AgentName::Pi,
    AgentName::Qwen,
];
const PNG: &str = "iVBORw0KGgo=";
const JPEG: &str = "/9j/4AAQSkY=";

fn native_header() -> NativeHeader {
    NativeHeader {
        id: "01999999-0000-7000-8000-000000000002".into(),
        folder: "/home/dev/project".into(),
        now_ms: 1_800_000_000_000,
        ..NativeHeader::default()
    }
}

fn file(mime: &str, data: &str, name: Option<&str>) -> Attachment {
    Attachment {
        mime: mime.into(),
        data: Some(data.into()),
        name: name.map(Into::into),
        ..Attachment::default()
    }
}

fn message_with_files(role: Role, text: &str, attachments: Vec<Attachment>) -> Message {
    Message { role: Some(role), content: text.into(), attachments, ..Message::default() }
}

/// A prompt, an answer that calls a tool, and its result, each with these files.
fn talk(
    prompt: Vec<Attachment>,
    answer: Vec<Attachment>,
    result: Vec<Attachment>,
    is_error: bool,
) -> Vec<Message> {
    let call = ToolCall { id: "call_1".into(), name: "look".into(), arguments: "{}".into() };
    let assistant = Assistant { tool_calls: vec![call], ..Assistant::default() };
    let tool = Tool { call_id: "call_1".into(), name: "look".into(), is_error, ..Tool::default() };
    vec![
        message_with_files(Role::User, "see", prompt),
        Message { assistant: Some(assistant), ..message_with_files(Role::Assistant, "I look", answer) },
        Message { tool: Some(tool), ..message_with_files(Role::Tool, "seen", result) },
        message_with_files(Role::Assistant, "done", Vec::new()),
    ]
}

fn round_trip(agent: AgentName, messages: &[Message]) -> (ImportedSession, u64) {
    let native = write(agent, messages, &native_header()).expect("it can be written");
    check_schema(agent, &native.text);
    let import = read(native.text.as_bytes(), &native.path, Some(agent)).expect("it is the agent's");
    assert_eq!(import.problems, [], "{agent:?}");
    let [session] = <[ImportedSession; 1]>::try_from(import.sessions).expect("one session");
    let lost = native.losses.iter().filter(|loss| loss.field == "attachments").map(|loss| loss.count).sum();
    (session, lost)
}

// What the clients' own schemas say of files: a field that may be absent is never null, and each file in a message is of a
// kind that is known there.
fn check_schema(agent: AgentName, text: &str) {
    let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    match agent {
        AgentName::OpenCode => check_opencode(&records[0]),
        AgentName::Codex => check_codex(&records),
        AgentName::ClaudeCode => check_claude(&records),
        AgentName::Pi => check_pi(&records),
        AgentName::Copilot => check_copilot(&records),
        _ => {}
    }
}

fn check_opencode(session: &Value) {
    let messages = session["messages"].as_array().unwrap().iter();
    for part in messages.flat_map(|one| one["parts"].as_array().unwrap()) {
        let given = part["state"]["attachments"].as_array().into_iter().flatten();
        for file in given.chain([part]) {
            for id in ["id", "sessionID", "messageID"] {
                assert!(file[id].is_string(), "{id} of {file}");
            }
            assert!(file.as_object().unwrap().values().all(|value| !value.is_null()), "{file}");
            if file["type"] == "file" {
                assert!(file["mime"].is_string() && file["url"].is_string(), "{file}");
            }
        }
    }
}

fn check_codex(records: &[Value]) {
    let known = ["input_text", "input_image", "output_text"];
    for payload in records.iter().map(|record| &record["payload"]) {
        let lists = [&payload["content"], &payload["output"]];
        for item in lists.into_iter().filter_map(Value::as_array).flatten() {
            assert!(known.contains(&item["type"].as_str().unwrap()), "{item}");
        }
    }
}

fn check_claude(records: &[Value]) {
    for block in records.iter().filter_map(|record| record["message"]["content"].as_array()).flatten() {
        let inner = block["content"].as_array().into_iter().flatten();
        let is_error = block["is_error"] == true;
        assert!(inner.into_iter().all(|one| !is_error || one["type"] == "text"), "{block}");
    }
}

fn check_pi(records: &[Value]) {
    for message in records.iter().map(|record| &record["message"]) {
        let kinds: Vec<_> =
            message["content"].as_array().into_iter().flatten().map(|one| &one["type"]).collect();
        assert!(message["role"] != "assistant" || !kinds.iter().any(|kind| **kind == "image"), "{message}");
    }
}

fn check_copilot(records: &[Value]) {
    let assets: Vec<_> = records.iter().filter(|record| record["type"] == "session.binary_asset").collect();
    let shown = records.iter().flat_map(|record| {
        let data = &record["data"];
        let lists = [&data["attachments"], &data["result"]["binaryResultsForLlm"]];
        lists.into_iter().filter_map(Value::as_array).flatten()
    });
    for file in shown {
        let asset = assets.iter().find(|asset| asset["data"]["assetId"] == file["assetId"]);
        let data = &asset.expect("its bytes stand there")["data"];
        assert_eq!((&data["byteLength"], &data["mimeType"]), (&file["byteLength"], &file["mimeType"]));
        assert!(file["displayName"].is_null() == file.get("displayName").is_none());
    }
}

fn files(messages: &[Message]) -> Vec<(Role, &Attachment)> {
    messages.iter().flat_map(|one| one.attachments.iter().map(|file| (one.role.unwrap(), file))).collect()
}

// What a user or a tool shows, named or not, whatever agent's file it was read from.
#[test]
fn each_image_of_a_prompt_or_a_result_arrives_in_every_agent_from_every_agent() {
    let png = |name| file("image/png", PNG, name);
    for prompt in [vec![png(None)], vec![png(Some("a b.png")), file("image/jpeg", JPEG, None)], vec![]] {
        for result in [vec![png(None)], vec![file("image/jpeg", JPEG, Some("shot.jpg")), png(None)], vec![]] {
            let messages = talk(prompt.clone(), vec![], result.clone(), false);
            let expected: Vec<(Role, &str, &str)> = files(&messages)
                .into_iter()
                .map(|(role, file)| (role, file.mime.as_str(), file.data.as_deref().unwrap()))
                .collect();
            for from in NATIVE_FORMATS {
                let (source, lost) = round_trip(from, &messages);
                assert_eq!(lost, 0, "{from:?}");
                for to in NATIVE_FORMATS {
                    let (session, lost) = round_trip(to, &source.messages);
                    let found: Vec<(Role, &str, &str)> = files(&session.messages)
                        .into_iter()
                        .map(|(role, file)| (role, file.mime.as_str(), file.data.as_deref().unwrap()))
                        .collect();
                    assert_eq!((&found, lost), (&expected, 0), "{from:?} in {to:?}");
                    let texts: Vec<&str> = session.messages.iter().map(|one| one.content.as_str()).collect();
                    assert_eq!(texts, ["see", "I look", "seen", "done"], "{from:?} in {to:?}");
                }
            }
        }
    }
}

// A name goes along where the client has room for one.
#[test]
fn a_name_stays_with_its_image_where_the_client_has_names() {
    let png = || file("image/png", PNG, Some("a b.png"));
    for agent in [AgentName::OpenCode, AgentName::Copilot] {
        let (session, _) = round_trip(agent, &talk(vec![png()], vec![], vec![png()], false));
        let names: Vec<Option<&str>> =
            files(&session.messages).iter().map(|(_, file)| file.name.as_deref()).collect();
        assert_eq!(names, [Some("a b.png"), Some("a b.png")], "{agent:?}");
    }
}

// Of any file, wherever it stands: it arrives with its bytes, or the loss is told and a text says what it was.
#[test]
fn a_file_that_does_not_arrive_is_lost_by_name_and_described() {
    let all = || {
        vec![
            file("image/png", PNG, Some("one.png")),
            file("image/svg+xml", "PHN2Zy8+", Some("two.svg")),
            file("application/pdf", "JVBERi0=", Some("three.pdf")),
            file("text/plain", "aGVsbG8=", Some("four.txt")),
            file("application/zip", "UEsDBA==", None),
            Attachment {
                mime: "image/png".into(),
                path: Some("/home/dev/five.png".into()),
                ..Attachment::default()
            },
        ]
    };
    for is_error in [false, true] {
        let messages = talk(all(), all(), all(), is_error);
        for agent in NATIVE_FORMATS {
            let (session, lost) = round_trip(agent, &messages);
            let found = files(&session.messages).len();
            assert_eq!(found as u64 + lost, 18, "{agent:?} {is_error}");
            let said: String = session.messages.iter().map(|one| one.content.as_str()).collect();
            let described = said.matches("[Not sent: ").count() + said.matches("[File ").count();
            assert_eq!(described as u64, lost, "{agent:?} {said}");
            assert_eq!(said.matches("/home/dev/five.png").count(), 3, "{agent:?} {said}");
        }
    }
}
