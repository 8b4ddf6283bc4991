//! What users of the agents reported: ids of gateways, torn lines.
//! Tries: src/interop/torn_lines.rs, src/interop/claude_code/, src/interop/codex/, src/interop/copilot/

use std::path::Path;

use leftoff::interop::{AgentName, Import, ImportedSession, read};
use leftoff::record::message::{Message, Role};
use leftoff::record::scan::ProblemCode;
use serde_json::{Value, json};

use super::{FIXTURES, folder};

const TIME: &str = "2026-01-02T00:00:00.000Z";

fn import_report(name: &str) -> Import {
    let bytes = std::fs::read(folder("public-reports").join(name)).expect("the fixture is there");
    read(&bytes, name, None).expect("a session")
}

fn contents(session: &ImportedSession) -> Vec<&str> {
    session.messages.iter().map(|message| message.content.as_str()).collect()
}

fn session(records: &[Value]) -> ImportedSession {
    let file: String = records.iter().map(|record| format!("{record}\n")).collect();
    read(file.as_bytes(), "x.jsonl", None).expect("a session").sessions.remove(0)
}

#[test]
fn answers_of_one_id_stay_behind_their_own_prompts() {
    let import = import_report("01-one-message-id.jsonl");
    let expected = ["ask 0", "reply 0", "ask 1", "reply 1", "ask 2", "reply 2", "ask 3", "reply 3"];
    assert_eq!(contents(&import.sessions[0]), expected);
    let parents =
        import.sessions[0].messages.windows(2).all(|two| two[1].parent_id.as_ref() == Some(&two[0].id));
    assert!(parents, "one path");
}

#[test]
fn a_rollout_is_read_behind_what_was_torn_in_its_line() {
    let import = import_report("06-rollout-2026-10-02T08-00-00-019a1111-1111-7111-8111-111111111111.jsonl");
    assert_eq!(contents(&import.sessions[0]), ["q", "long answer with details", "q2"]);
    let [problem] = &import.problems[..] else { panic!("{:?}", import.problems) };
    assert_eq!((problem.end - problem.start, problem.code), (90, ProblemCode::Damaged));
}

/// What is said in one turn.
struct Turn {
    number: usize,
    ask: String,
    text: String,
    result: String,
    last: String,
}

/// The records of an agent's file, with the ids that a gateway gives.
struct Recording<'a> {
    id: Option<&'a str>,
    records: Vec<Value>,
    count: usize,
}

impl Recording<'_> {
    fn with_id(&self, mut message: Value, key: &str) -> Value {
        if let Some(id) = self.id {
            message[key] = id.into();
        }
        message
    }

    fn begin(&mut self, turn: &Turn, head: Value) {
        if turn.number == 0 {
            self.records.push(head);
        }
    }

    fn push_linked(&mut self, kind: &str, message: Value) {
        let parent = if self.count == 0 { Value::Null } else { format!("u{}", self.count).into() };
        self.count += 1;
        let uuid = format!("u{}", self.count);
        self.records.push(json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "timestamp": TIME, "message": message, "cwd": "/p"}));
    }

    fn push_claude(&mut self, turn: &Turn) {
        let call =
            self.with_id(json!({"type": "tool_use", "name": "Bash", "input": {"n": turn.number}}), "id");
        let result = self.with_id(json!({"type": "tool_result", "content": turn.result}), "tool_use_id");
        for (kind, content) in [
            ("user", json!(turn.ask)),
            ("assistant", json!([{"type": "text", "text": turn.text}])),
            ("assistant", json!([call])),
            ("user", json!([result])),
            ("assistant", json!([{"type": "text", "text": turn.last}])),
        ] {
            let message = json!({"role": kind, "content": content});
            let message = if kind == "user" { message } else { self.with_id(message, "id") };
            self.push_linked(kind, message);
        }
    }

    fn push_qwen(&mut self, turn: &Turn) {
        let call = self.with_id(json!({"name": "Bash", "args": {"n": turn.number}}), "id");
        let result = self.with_id(json!({"name": "Bash", "response": {"output": turn.result}}), "id");
        for (kind, parts) in [
            ("user", json!([{"text": turn.ask}])),
            ("assistant", json!([{"text": turn.text}, {"functionCall": call}])),
            ("tool_result", json!([{"functionResponse": result}])),
            ("assistant", json!([{"text": turn.last}])),
        ] {
            self.push_linked(kind, json!({"role": kind, "parts": parts}));
        }
    }

    fn push_gemini(&mut self, turn: &Turn) {
        self.begin(
            turn,
            json!({"sessionId": "s", "projectHash": "h", "startTime": TIME, "lastUpdated": TIME}),
        );
        let answer = self.with_id(json!({"name": "Bash", "response": {"output": turn.result}}), "id");
        let result = json!([{"functionResponse": answer}]);
        let call = json!({"name": "Bash", "args": {"n": turn.number}, "result": result, "status": "success"});
        let calls = json!([self.with_id(call, "id")]);
        for (place, kind, content) in [
            ("a", "user", json!(turn.ask)),
            ("b", "gemini", json!(turn.text)),
            ("c", "user", result),
            ("d", "gemini", json!(turn.last)),
        ] {
            let id = format!("{}{place}", turn.number);
            let mut record = json!({"id": id, "timestamp": TIME, "type": kind, "content": content});
            if place == "b" {
                record["toolCalls"] = calls.clone();
            }
            self.records.push(record);
        }
    }

    fn push_codex(&mut self, turn: &Turn) {
        self.begin(
            turn,
            json!({"timestamp": TIME, "type": "session_meta", "payload": {"id": "s", "cwd": "/p"}}),
        );
        let message = |role: &str, kind: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
        let arguments = format!("{{\"n\":{}}}", turn.number);
        let call = json!({"type": "function_call", "name": "Bash", "arguments": arguments});
        let result = json!({"type": "function_call_output", "output": turn.result});
        for payload in [
            message("user", "input_text", &turn.ask),
            message("assistant", "output_text", &turn.text),
            self.with_id(call, "call_id"),
            self.with_id(result, "call_id"),
            message("assistant", "output_text", &turn.last),
        ] {
            self.records.push(json!({"timestamp": TIME, "type": "response_item", "payload": payload}));
        }
    }

    fn push_copilot(&mut self, turn: &Turn) {
        let call = json!({"name": "Bash", "arguments": {"n": turn.number}, "type": "function"});
        let call = self.with_id(call, "toolCallId");
        let result = json!({"success": true, "result": {"content": turn.result}});
        let answer = |data: Value| self.with_id(self.with_id(data, "messageId"), "apiCallId");
        let events = [
            ("user.message", json!({"content": turn.ask})),
            ("assistant.message", answer(json!({"content": turn.text, "toolRequests": [call]}))),
            ("tool.execution_complete", self.with_id(result, "toolCallId")),
            ("assistant.message", answer(json!({"content": turn.last}))),
        ];
        for (kind, data) in events {
            self.count += 1;
            let id = format!("e{}", self.count);
            self.records.push(json!({"type": kind, "id": id, "timestamp": TIME, "data": data}));
        }
    }

    fn push_pi(&mut self, turn: &Turn) {
        self.begin(turn, json!({"type": "session", "version": 3, "id": "s", "timestamp": TIME, "cwd": "/p"}));
        let text = |text: &str| json!({"type": "text", "text": text});
        let call = json!({"type": "toolCall", "name": "Bash", "arguments": {"n": turn.number}});
        let call = self.with_id(call, "id");
        let result = json!({"role": "toolResult", "toolName": "Bash", "content": [text(&turn.result)]});
        let answer =
            |content: Value| self.with_id(json!({"role": "assistant", "content": content}), "responseId");
        let messages = [
            json!({"role": "user", "content": [text(&turn.ask)]}),
            answer(json!([text(&turn.text), call])),
            self.with_id(result, "toolCallId"),
            answer(json!([text(&turn.last)])),
        ];
        for message in messages {
            let parent = if self.count == 0 { Value::Null } else { format!("e{}", self.count).into() };
            self.count += 1;
            let id = format!("e{}", self.count);
            self.records.push(
                json!({"type": "message", "id": id, "parentId": parent, "timestamp": TIME, "message": message}),
            );
        }
    }
}

/// Turns of a prompt, a text, a call, its result and a text, with the ids that a gateway gives.
fn turns(agent: AgentName, id: Option<&str>) -> Vec<Value> {
    let mut recording = Recording { id, records: Vec::new(), count: 0 };
    for number in 0..3 {
        let named = |what: &str| format!("{what} {number}");
        let turn = Turn {
            number,
            ask: named("ask"),
            text: named("text"),
            result: named("result"),
            last: named("last"),
        };
        match agent {
            AgentName::ClaudeCode => recording.push_claude(&turn),
            AgentName::Qwen => recording.push_qwen(&turn),
            AgentName::Gemini => recording.push_gemini(&turn),
            AgentName::Codex => recording.push_codex(&turn),
            AgentName::Copilot => recording.push_copilot(&turn),
            _ => recording.push_pi(&turn),
        }
    }
    recording.records
}

#[test]
fn whatever_ids_a_gateway_gives_each_turn_has_its_own_answers_calls_and_results() {
    let agents = [
        AgentName::ClaudeCode,
        AgentName::Codex,
        AgentName::Copilot,
        AgentName::Gemini,
        AgentName::Pi,
        AgentName::Qwen,
    ];
    for agent in agents {
        for id in [Some("gw"), Some(""), None] {
            let session = session(&turns(agent, id));
            assert_eq!(session.agent, agent.as_str());
            for (turn, messages) in session
                .messages
                .split_inclusive(|message| message.content.as_str().starts_with("last"))
                .enumerate()
            {
                let place = format!("{} with {id:?}, turn {turn}: {messages:?}", agent.as_str());
                let texts: Vec<&str> = messages
                    .iter()
                    .map(|message| message.content.as_str())
                    .filter(|text| !text.is_empty())
                    .collect();
                assert_eq!(
                    texts,
                    [
                        format!("ask {turn}"),
                        format!("text {turn}"),
                        format!("result {turn}"),
                        format!("last {turn}")
                    ],
                    "{place}"
                );
                let calls: Vec<&str> = messages
                    .iter()
                    .flat_map(Message::tool_calls)
                    .map(|call| call.arguments.as_str())
                    .collect();
                assert_eq!(calls, [format!("{{\"n\":{turn}}}")], "{place}");
                let result = messages.iter().find_map(|message| message.tool.as_ref()).expect("a result");
                let call = messages.iter().flat_map(Message::tool_calls).next().expect("a call");
                assert_eq!((&result.call_id, result.name.as_str()), (&call.id, "Bash"), "{place}");
            }
        }
    }
}

#[test]
fn what_is_said_again_in_another_turn_is_said_twice() {
    let item = |role: &str, kind: &str, text: &str| {
        let content = json!([{"type": kind, "text": text}]);
        json!({"timestamp": TIME, "type": "response_item", "payload": {"type": "message", "role": role, "content": content}})
    };
    let event = |kind: &str, text: &str| json!({"timestamp": TIME, "type": "event_msg", "payload": {"type": kind, "message": text}});
    let head = json!({"timestamp": TIME, "type": "session_meta", "payload": {"id": "s", "cwd": "/p"}});
    let (go, done) = (item("user", "input_text", "go"), item("assistant", "output_text", "done"));
    let told = session(&[head, go, done, event("user_message", "go"), event("agent_message", "done")]);
    assert_eq!(contents(&told), ["go", "done", "go", "done"]);
}

#[test]
fn a_sub_agent_of_copilots_is_that_of_its_own_call() {
    let event = |n: usize, kind: &str, data: Value| json!({"type": kind, "id": format!("e{n}"), "timestamp": TIME, "data": data});
    let mut records = Vec::new();
    for turn in 0..2 {
        let n = turn * 4;
        let call = json!({"toolCallId": "call_0", "name": "task", "arguments": {}, "type": "function"});
        records.push(event(n, "user.message", json!({"content": format!("ask {turn}")})));
        records.push(event(n + 1, "assistant.message", json!({"content": "", "toolRequests": [call]})));
        records.push(event(
            n + 2,
            "assistant.message",
            json!({"content": format!("helper {turn}"), "parentToolCallId": "call_0"}),
        ));
        let result = json!({"success": true, "toolCallId": "call_0", "result": {"content": "ok"}});
        records.push(event(n + 3, "tool.execution_complete", result));
    }
    let file: String = records.iter().map(|record| format!("{record}\n")).collect();
    let sessions = read(file.as_bytes(), "s/events.jsonl", None).expect("a session").sessions;
    let helpers: Vec<Vec<&str>> = sessions[1..].iter().map(contents).collect();
    assert_eq!(helpers, [["helper 0"], ["helper 1"]]);
    assert_ne!(sessions[1].id, sessions[2].id);
}

// What was said, without what is made of places in the file.
fn plain(import: &Import) -> Vec<(Option<Role>, String, Vec<String>)> {
    let messages = import.sessions.iter().flat_map(|session| &session.messages);
    let calls =
        |message: &Message| message.tool_calls().iter().map(|call| call.arguments.as_str().into()).collect();
    messages.map(|message| (message.role, message.content.as_str().into(), calls(message))).collect()
}

/// Agents that keep lines of JSON.
const LINE_AGENTS: [AgentName; 7] = [
    AgentName::ClaudeCode,
    AgentName::Codex,
    AgentName::Copilot,
    AgentName::Cortext,
    AgentName::Gemini,
    AgentName::Pi,
    AgentName::Qwen,
];

#[test]
fn a_record_behind_a_torn_one_on_its_line_is_read_by_every_reader() {
    let mut tried = Vec::new();
    for fixture in FIXTURES.iter().filter(|fixture| LINE_AGENTS.contains(&fixture.agent)) {
        let name = Path::new(fixture.name()).to_str().expect("a name");
        let Ok(expected) = read(&fixture.bytes, name, Some(fixture.agent)) else { continue };
        let lines: Vec<&[u8]> = fixture.bytes.split_inclusive(|byte| *byte == b'\n').collect();
        if !expected.problems.is_empty()
            || lines.iter().any(|line| serde_json::from_slice::<Value>(line).is_err())
        {
            continue;
        }
        tried.push(fixture.agent);
        // Before every record, a part of it.
        for share in [3, 2] {
            let torn = |line: &&[u8]| [&line[..line.len() - line.len() / share], line].concat();
            let file: Vec<u8> = lines.iter().flat_map(torn).collect();
            let found = read(&file, name, Some(fixture.agent)).expect("a session");
            assert_eq!(plain(&found), plain(&expected), "{:?} cut at 1/{share}", fixture.path);
            assert_eq!(found.problems.len(), lines.len(), "{:?}", fixture.path);
        }
    }
    tried.dedup();
    assert_eq!(
        tried,
        AgentName::ALL.into_iter().filter(|agent| LINE_AGENTS.contains(agent)).collect::<Vec<_>>()
    );
}
