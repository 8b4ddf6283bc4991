//! What is written for another agent's client is what was said: read back it says the same.
//! Tries: src/interop/native/
#![cfg(all(feature = "interop", not(target_arch = "wasm32")))]
#![allow(missing_docs)]

use crate::chance;
use crate::histories;
use crate::pairs;

use std::path::Path;

use chance::{Chance, scale_count, seed};
use histories::history;
use leftoff::error::Code;
use leftoff::interop::native::{NativeHeader, format_of, write};
use leftoff::interop::{AgentName, ImportedSession, detect, read};
use leftoff::record::message::{Assistant, Message, Role, Tool, ToolCall};
use leftoff::state::{FactKind, State};
use leftoff::time;
use pairs::check_pairs;
use serde_json::{Value, json};

const NATIVE_FORMATS: [AgentName; 7] = [
    AgentName::ClaudeCode,
    AgentName::Codex,
    AgentName::Copilot,
    AgentName::Gemini,
    AgentName::OpenCode,
    AgentName::Pi,
    AgentName::Qwen,
];

fn native_header() -> NativeHeader {
    NativeHeader {
        id: "01999999-0000-7000-8000-000000000001".into(),
        folder: "/home/dev/a project".into(),
        folder_name: Some("a-project".into()),
        git_branch: Some("main".into()),
        title: Some("A title".into()),
        model: None,
        first_prompt: None,
        now_ms: 1_800_000_000_000,
    }
}

fn round_trip(agent: AgentName, messages: &[Message]) -> ImportedSession {
    let native = write(agent, messages, &native_header()).expect("it can be written");
    assert_eq!(detect(native.text.as_bytes()), Some(agent), "{}", native.text);
    let name = native.path.rsplit('/').next().expect("a name");
    let import = read(native.text.as_bytes(), name, None).expect("it is one of the agent's");
    assert_eq!(import.problems, []);
    let [session] = <[ImportedSession; 1]>::try_from(import.sessions).expect("one session");
    session
}

/// What a message says: role, text, calls, and what a result answers.
#[derive(Clone, Debug, PartialEq)]
struct MessageContent {
    role: Role,
    text: String,
    calls: Vec<(String, String)>,
    result: Option<bool>,
}

fn content_of(message: &Message) -> MessageContent {
    let calls = message.tool_calls().iter();
    let calls = calls.map(|call| (call.name.clone(), value(call.arguments.as_str()).to_string()));
    MessageContent {
        role: message.role.expect("a role"),
        text: message.content.as_str().into(),
        calls: calls.collect(),
        result: message.tool.as_ref().map(|tool| tool.is_error),
    }
}

// What is no JSON is the text that it is.
fn value(arguments: &str) -> Value {
    serde_json::from_str(arguments).unwrap_or_else(|_| arguments.into())
}

// Some providers take nothing but objects.
fn as_object(agent: AgentName, said: MessageContent) -> MessageContent {
    if agent == AgentName::Codex {
        return said;
    }
    let wrapped = |(name, arguments): (String, String)| match value(&arguments) {
        Value::Object(_) => (name, arguments),
        other => (name, json!({ "arguments": other }).to_string()),
    };
    MessageContent { calls: said.calls.into_iter().map(wrapped).collect(), ..said }
}

// What has to be there: each result behind its call, in the order they came; nothing that the client tells itself.
fn expected_contents(agent: AgentName, messages: &[Message]) -> Vec<MessageContent> {
    let is_told = |message: &Message| {
        let source = message.source.as_ref();
        let is_meta = source.is_some_and(|source| source.extra.iter().any(|(key, _)| key == "\"isMeta\""));
        let is_own = source.is_some_and(|source| source.agent == agent.as_str());
        message.role != Some(Role::System) && (is_own || !is_meta)
    };
    let mut all = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        if message.role == Some(Role::Tool) || message.role.is_none() || !is_told(message) {
            continue;
        }
        all.push(as_object(agent, content_of(message)));
        let calls: Vec<&str> = message.tool_calls().iter().map(|call| call.id.as_str()).collect();
        let answers =
            |other: &&Message| other.tool.as_ref().is_some_and(|tool| calls.contains(&tool.call_id.as_str()));
        let mut given: Vec<&Message> = messages[place..].iter().filter(answers).collect();
        if [AgentName::Gemini, AgentName::OpenCode].contains(&agent) {
            // A call holds its result there.
            given.sort_by_key(|answer| {
                calls.iter().position(|id| *id == answer.tool.as_ref().unwrap().call_id)
            });
        }
        all.extend(given.into_iter().map(content_of));
    }
    // Anthropic refuses a last answer that ends in blanks.
    if agent == AgentName::ClaudeCode
        && let Some(last) = all.last_mut().filter(|last: &&mut MessageContent| last.role == Role::Assistant)
    {
        last.text.truncate(last.text.trim_end().len());
    }
    all
}

// Ids that come twice, calls without a result and results without a call are mended in ways of their own.
fn is_whole(messages: &[Message]) -> bool {
    let mut calls: Vec<&str> =
        messages.iter().flat_map(Message::tool_calls).map(|call| call.id.as_str()).collect();
    let mut results: Vec<&str> =
        messages.iter().filter_map(|m| m.tool.as_ref()).map(|tool| tool.call_id.as_str()).collect();
    calls.sort_unstable();
    results.sort_unstable();
    let count = calls.len();
    let mut met: Vec<&str> = Vec::new();
    let is_answered_later = messages.iter().all(|message| {
        met.extend(message.tool_calls().iter().map(|call| call.id.as_str()));
        message.tool.as_ref().is_none_or(|tool| met.contains(&tool.call_id.as_str()))
    });
    let is_plain = |id: &str| id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    let same = calls == results && calls.iter().all(|id| is_plain(id));
    calls.dedup();
    same && is_answered_later && calls.len() == count
}

fn sessions() -> Vec<ImportedSession> {
    fn files(folder: &Path, all: &mut Vec<ImportedSession>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files(&path, all);
            } else if let Ok(import) = read(&std::fs::read(&path).unwrap(), "x", None) {
                all.extend(import.sessions);
            }
        }
    }
    let mut all = Vec::new();
    for agent in AgentName::ALL {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(agent.as_str());
        if folder.is_dir() {
            files(&folder, &mut all);
        }
    }
    all
}

#[test]
fn every_session_of_every_agent_reads_back_as_it_was() {
    let sessions = sessions();
    for agent in NATIVE_FORMATS {
        let mut compared = 0;
        for session in sessions.iter().filter(|session| is_whole(&session.messages)) {
            let expected = expected_contents(agent, &session.messages);
            let is_sayable = |said: &MessageContent| !said.text.trim().is_empty() || !said.calls.is_empty();
            let has_files = session.messages.iter().any(|message| !message.attachments.is_empty());
            if has_files || !expected.iter().all(|said| said.result.is_some() || is_sayable(said)) {
                continue;
            }
            if expected.is_empty() {
                continue;
            }
            let found = round_trip(agent, &session.messages);
            let found: Vec<MessageContent> = found.messages.iter().map(content_of).collect();
            assert_eq!(found, expected, "{} of {} as {agent:?}", session.source_id, session.agent);
            compared += 1;
        }
        assert!(compared > 20, "{agent:?}: {compared}");
    }
}

#[test]
fn a_session_keeps_its_name_folder_times_and_models() {
    let is_timed = |session: &ImportedSession| {
        session.messages.len() > 10 && session.messages.iter().all(|message| message.timestamp.is_some())
    };
    let messages = &sessions().into_iter().find(is_timed).unwrap().messages;
    for agent in NATIVE_FORMATS {
        let session = round_trip(agent, messages);
        assert_eq!(session.source_id, write(agent, messages, &native_header()).expect("it was").id);
        // Some keep titles in another file.
        let is_titled = ![AgentName::Codex, AgentName::Copilot].contains(&agent);
        assert_eq!(session.title.as_deref(), is_titled.then_some("A title"));
        // A session of Gemini CLI tells its folder by where it lies.
        let says = agent != AgentName::Gemini;
        assert_eq!(session.folder.as_deref(), says.then_some("/home/dev/a project"));
        let has_branch = says && ![AgentName::OpenCode, AgentName::Pi].contains(&agent);
        assert_eq!(session.git_branch.as_deref(), has_branch.then_some("main"));
        let times = |messages: &[Message]| {
            let answers = messages.iter().filter(|message| message.role == Some(Role::Assistant));
            let ms = |m: &Message| m.timestamp.as_deref().and_then(time::parse);
            let told = |m: &Message| (ms(m), m.assistant.as_ref().and_then(|a| a.model.clone()));
            answers.map(told).collect::<Vec<_>>()
        };
        assert_eq!(times(&session.messages), times(messages), "{agent:?}");
    }
}

fn said_by(role: Role, content: &str, timestamp: Option<&str>) -> Message {
    let content = content.into();
    Message { role: Some(role), content, timestamp: timestamp.map(Into::into), ..Message::default() }
}

// Claude Code writes results as they come. OpenCode was told of the calls in that order, too.
#[test]
fn calls_stay_in_their_order_whatever_the_order_of_their_results() {
    let call = |id: &str| ToolCall { id: id.into(), name: "Bash".into(), ..ToolCall::default() };
    let assistant = Assistant { tool_calls: ["one", "two"].map(call).into(), ..Assistant::default() };
    let result = |id: &str| {
        let tool = Tool { call_id: id.into(), name: "Bash".into(), ..Tool::default() };
        Message { tool: Some(tool), ..said_by(Role::Tool, id, None) }
    };
    let asked = Message { assistant: Some(assistant), ..said_by(Role::Assistant, "both", None) };
    let messages = [said_by(Role::User, "do", None), asked, result("two"), result("one")];
    for agent in NATIVE_FORMATS {
        let session = round_trip(agent, &messages);
        let calls: Vec<&str> =
            session.messages.iter().flat_map(Message::tool_calls).map(|call| call.id.as_str()).collect();
        assert_eq!(calls, ["one", "two"], "{agent:?}");
    }
}

// OpenCode sorts messages by their time: a summary with the time of its writing came last, and a prompt would come before
// what a fast clock dated.
#[test]
fn times_written_for_opencode_go_up_from_that_of_the_summary() {
    let messages = [
        said_by(Role::User, "a summary without a time", None),
        said_by(Role::Assistant, "one", Some("2026-01-01T00:00:02Z")),
        said_by(Role::User, "two, by another clock", Some("2026-01-01T00:00:01Z")),
        said_by(Role::Assistant, "three", Some("2026-01-01T00:00:03Z")),
        said_by(Role::User, "four, by a clock that is fast", Some("2036-01-01T00:00:00Z")),
    ];
    let native = write(AgentName::OpenCode, &messages, &native_header()).expect("it can be written");
    let export: Value = serde_json::from_str(&native.text).expect("it is JSON");
    let created =
        export["messages"].as_array().unwrap().iter().map(|message| &message["info"]["time"]["created"]);
    let first = time::parse("2026-01-01T00:00:02Z").unwrap();
    assert_eq!(created.collect::<Vec<_>>(), [first, first, first, first + 1000, native_header().now_ms]);
}

#[test]
fn whatever_a_history_holds_is_paired_and_no_prompt_is_lost() {
    let mut chance = Chance::new(seed());
    for _ in 0..scale_count(20_000, 200) {
        let history = history(chance.number());
        for agent in NATIVE_FORMATS {
            let session = round_trip(agent, &history.messages);
            check_pairs(agent, &session.messages);
            // Where files cannot go along, they are described.
            let is_said = |line: &&str| agent != AgentName::Copilot || !line.starts_with("[Not sent: ");
            let prompts = |messages: &[Message]| {
                let said = messages.iter().filter(|message| message.role == Some(Role::User));
                said.map(|message| {
                    message.content.as_str().split('\n').filter(is_said).collect::<Vec<_>>().join("\n")
                })
                .map(|text| text.trim().to_owned())
                .filter(|text| !text.is_empty())
                .collect::<Vec<_>>()
            };
            assert_eq!(prompts(&session.messages), prompts(&history.messages), "{agent:?}");
        }
    }
}

#[test]
fn the_same_is_written_each_time_and_an_agent_that_is_not_written_is_refused() {
    let messages = &sessions()[0].messages;
    for agent in AgentName::ALL {
        match write(agent, messages, &native_header()) {
            Ok(native) => assert_eq!(write(agent, messages, &native_header()).unwrap(), native),
            Err(error) => {
                assert!(!NATIVE_FORMATS.contains(&agent));
                assert_eq!((error.code, format_of(agent).is_err()), (Code::UnknownFormat, true));
            }
        }
    }
}

// In each client's own words, as its model is told.
#[test]
fn what_did_not_run_is_told_apart_from_a_command_that_failed() {
    let refusals: [(AgentName, &[&str]); 6] = [
        (
            AgentName::ClaudeCode,
            &[
                "The user doesn't want to proceed with this tool use. The tool use was rejected",
                "Claude requested permissions to use Bash, but you haven't granted it yet.",
                "<tool_use_error>Error: No such tool available: Bash</tool_use_error>",
                "PreToolUse:Bash hook error: [./no.sh]: no",
                "Permission to use Bash with command rm a has been denied.",
                "cd in '/etc' was blocked. For security, Claude Code may only change directories to",
            ],
        ),
        (
            AgentName::Codex,
            &["exec command rejected by user", "unsupported call: Bash", "aborted by user after 2.1s"],
        ),
        (
            AgentName::OpenCode,
            &[
                "The user rejected permission to use this specific tool call.",
                "The user has specified a rule which prevents you from using this specific tool call.",
                "Model tried to call unavailable tool 'Bash'.",
                "Tool execution aborted",
            ],
        ),
        (
            AgentName::Gemini,
            &[
                "[Operation Cancelled] Reason: User did not allow tool call",
                "Tool execution denied by policy.",
                "Tool \"Bash\" not found in registry.",
            ],
        ),
        (AgentName::Copilot, &["Permission denied and could not request permission from user"]),
        (AgentName::Pi, &["Tool Bash not found", "Tool execution was blocked", "Command aborted"]),
    ];
    let all = |agent, said: &str| {
        let call =
            ToolCall { id: "1".into(), name: "Bash".into(), arguments: r#"{"command":"rm a"}"#.into() };
        let assistant = Assistant { tool_calls: [call].into(), ..Assistant::default() };
        let asked = Message { assistant: Some(assistant), ..said_by(Role::Assistant, "so", None) };
        let tool = Tool { call_id: "1".into(), is_error: true, ..Tool::default() };
        let result = Message { tool: Some(tool), ..said_by(Role::Tool, said, None) };
        let session = round_trip(agent, &[said_by(Role::User, "go", None), asked, result]);
        let mut state = State::default();
        session.messages.iter().for_each(|message| state.take_message(message));
        (session.messages[2].tool.as_ref().unwrap().not_run, state.facts_of(FactKind::Failed).count())
    };
    for (agent, said) in refusals {
        for said in said {
            assert_eq!(all(agent, said), (true, 0), "{agent:?} {said}");
        }
        for said in ["rm: a: Permission denied", "Exit code 1\nno", "a file says: unsupported call"] {
            assert_eq!(all(agent, said), (false, 1), "{agent:?} {said}");
        }
    }
}

// Told that another provider made it, a client tells its reasoning to the model as what was said.
#[test]
fn an_answer_goes_back_to_its_own_client_with_the_provider_that_made_it() {
    let opencode = json!({"info": {"id": "ses_1", "time": {"created": 1}}, "messages": [
        {"info": {"id": "msg_1", "role": "user", "time": {"created": 1}}, "parts": [{"type": "text", "text": "go"}]},
        {"info": {"id": "msg_2", "role": "assistant", "modelID": "m", "providerID": "p", "time": {"created": 2}},
            "parts": [
                {"type": "reasoning", "text": "hm", "metadata": {"anthropic": {"signature": "s"}}},
                {"type": "reasoning", "text": "", "metadata": {"anthropic": {"redactedData": "r"}}},
                {"type": "reasoning", "text": "so", "metadata": {"openai": {"reasoningEncryptedContent": "e"}}},
                {"type": "text", "text": "yes"},
            ]},
    ]});
    let pi = [
        json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w"}),
        json!({"type": "message", "id": "1", "parentId": null, "timestamp": "2026-01-01T00:00:01Z", "message":
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "yes"}], "api": "a", "provider": "p", "model": "m"}}),
    ];
    let pi: Vec<String> = pi.iter().map(Value::to_string).collect();
    let again = |agent, text: &str| {
        let session = read(text.as_bytes(), "x", Some(agent)).expect("a session").sessions.remove(0);
        let told = write(agent, &session.messages, &native_header()).expect("it can be written").text;
        let other = write(AgentName::ClaudeCode, &session.messages, &native_header())
            .expect("it can be written")
            .text;
        assert!(!other.contains("hm"), "{other}");
        told
    };
    let told: Value = serde_json::from_str(&again(AgentName::OpenCode, &opencode.to_string())).expect("JSON");
    let info = &told["messages"][1]["info"];
    assert_eq!((&info["providerID"], &info["modelID"]), (&json!("p"), &json!("m")));
    for (nth, part) in opencode["messages"][1]["parts"].as_array().unwrap().iter().enumerate() {
        let written = &told["messages"][1]["parts"][nth];
        assert_eq!((&written["text"], &written["metadata"]), (&part["text"], &part["metadata"]));
    }
    let told = again(AgentName::Pi, &pi.join("\n"));
    let answer: Value = serde_json::from_str(told.lines().nth(1).expect("a second line")).expect("JSON");
    let message = &answer["message"];
    assert_eq!(
        (&message["api"], &message["provider"], &message["model"]),
        (&json!("a"), &json!("p"), &json!("m"))
    );
}

#[test]
fn arguments_that_no_client_could_read_are_handed_over_as_a_text() {
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(130), "]".repeat(130));
    for unread in ["{\"n\":1e999}", deep.as_str()] {
        let call = ToolCall { id: "c1".into(), name: "run".into(), arguments: unread.into() };
        let messages = [
            Message { role: Some(Role::User), content: "go".into(), ..Message::default() },
            Message {
                role: Some(Role::Assistant),
                content: "I run it.".into(),
                assistant: Some(Assistant { tool_calls: vec![call], ..Assistant::default() }),
                ..Message::default()
            },
            Message {
                role: Some(Role::Tool),
                content: unread.into(),
                tool: Some(Tool {
                    call_id: "c1".into(),
                    name: "run".into(),
                    is_json: true,
                    ..Tool::default()
                }),
                ..Message::default()
            },
        ];
        for agent in NATIVE_FORMATS {
            let native = write(agent, &messages, &native_header()).expect("it can be written");
            let said = round_trip(agent, &messages);
            let all =
                said.messages.iter().map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n");
            assert!(all.contains("I run it."), "{agent:?}: {all}");
            assert!(all.contains(unread), "{agent:?}: {all}");
            let calls = said.messages.iter().flat_map(Message::tool_calls);
            let arguments: Vec<_> = calls.map(|call| call.arguments.as_str().to_owned()).collect();
            let plain = |text: &str| text.replace('\\', "");
            assert!(plain(&arguments.concat()).contains(&plain(unread)), "{agent:?}: {arguments:?}");
            let is_told = native.losses.iter().any(|loss| loss.field == "toolCalls.arguments");
            assert_eq!(is_told, agent != AgentName::Codex, "{:?}", native.losses);
        }
    }
}
