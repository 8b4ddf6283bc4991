//! Each rule of the format, by a few records of its own.
//! Tries: src/interop/claude_code/

use leftoff::error::Code;
use leftoff::interop::{AgentName, Import, Loss, detect, read};
use leftoff::record::message::{Message, OrderPart};
use leftoff::record::scan::ProblemCode;
use leftoff::state::{FactKind, State};
use serde_json::{Value, json};

use super::{fixture, roles};

const REAL_SESSION: &str = "real/2.1.329/a1ec06f7-8d81-4715-aba2-72b09c413bbd.jsonl";

fn import(lines: &[Value]) -> Import {
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    read(text.join("\n").as_bytes(), "name.jsonl", None).expect("a transcript")
}

/// A record that follows another.
fn record(uuid: &str, parent: &str, second: u32, kind: &str, content: Value) -> Value {
    let parent = if parent.is_empty() { Value::Null } else { json!(parent) };
    let timestamp = format!("2026-01-01T00:00:{second:02}Z");
    let message = json!({"role": kind, "content": content});
    json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "timestamp": timestamp, "message": message})
}

fn branches(lines: &[Value]) -> Vec<String> {
    let import = import(lines);
    let of = |message: &Message| message.source.as_ref().unwrap().id.clone();
    import.sessions[0].messages.iter().filter(|message| message.branch).map(of).collect()
}

#[test]
fn only_a_prompt_that_replaces_another_begins_a_branch() {
    let begin = [
        record("u1", "", 1, "user", json!("hello")),
        record("a1", "u1", 2, "assistant", json!([{"type": "text", "text": "hi"}])),
        json!({"type": "attachment", "uuid": "x1", "parentUuid": "a1", "attachment": {"type": "date"}}),
        record("u2", "x1", 3, "user", json!("first try")),
        record("a2", "u2", 4, "assistant", json!("answer")),
    ];
    let with = |last: Value| branches(&[&begin[..], &[last]].concat());
    assert_eq!(with(record("u3", "a1", 9, "user", json!("second try"))), ["u3"]);
    assert_eq!(with(record("u3", "a1", 9, "user", json!("first try"))), [""; 0]);
    assert_eq!(with(record("u3", "a1", 3, "user", json!("of the same time"))), [""; 0]);
    assert_eq!(with(record("a3", "u1", 9, "assistant", json!("beside a1"))), [""; 0]);
    let result = json!([{"type": "tool_result", "tool_use_id": "t", "content": "x"}]);
    assert_eq!(with(record("u3", "a1", 9, "user", result)), [""; 0]);
    let mut meta = record("u3", "a1", 9, "user", json!("a caveat"));
    meta["isMeta"] = json!(true);
    assert_eq!(with(meta), [""; 0]);
}

#[test]
fn history_before_a_compact_boundary_stays_and_the_summary_follows_it() {
    let import = import(&[
        record("u1", "", 1, "user", json!("hello")),
        record("a1", "u1", 2, "assistant", json!("hi")),
        json!({"type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": null, "logicalParentUuid": "a1"}),
        {
            let mut summary = record("u2", "b", 3, "user", json!("what was said"));
            summary["isCompactSummary"] = json!(true);
            summary
        },
        record("u1", "b", 1, "user", json!("hello")),
        record("a2", "u2", 4, "assistant", json!("going on")),
    ]);
    let messages = &import.sessions[0].messages;
    let said: Vec<&str> = messages.iter().map(|message| message.content.as_str()).collect();
    assert_eq!(said, ["hello", "hi", "what was said", "going on"]);
    assert_eq!(messages[2].parent_id.as_ref(), Some(&messages[1].id));
    let flags: Vec<_> = messages[2].source.as_ref().unwrap().extra.iter().collect();
    assert_eq!(flags, [("\"isCompactSummary\"", "true")]);
}

#[test]
fn each_block_comes_to_its_place() {
    let image =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
    let asked = json!({"type": "tool_use", "name": "Read", "input": {"path": "a"}});
    let import = import(&[
        record(
            "a1",
            "",
            1,
            "assistant",
            json!([
                {"type": "text", "text": "é"}, asked, {"type": "text", "text": "b"}, {"type": "redacted_thinking", "data": "x"}
            ]),
        ),
        record(
            "u1",
            "a1",
            2,
            "user",
            json!([
                {"type": "tool_result", "is_error": true, "content": [{"type": "text", "text": "one"}, image, {"type": "text", "text": "two"}]},
                {"type": "text", "text": "and you"},
                {"type": "image", "source": {"type": "url", "url": "https://example.com"}}
            ]),
        ),
    ]);
    let [answer, result, said] = &import.sessions[0].messages[..] else { panic!("three messages") };
    let assistant = answer.assistant.as_ref().unwrap();
    assert_eq!(answer.content.as_str(), "é\n\nb");
    assert_eq!(
        assistant.order,
        [OrderPart::Text(0, 2), OrderPart::Call(0), OrderPart::Text(4, 5), OrderPart::Reasoning(0)]
    );
    assert_eq!(assistant.tool_calls[0].arguments.as_str(), r#"{"path":"a"}"#);
    let tool = result.tool.as_ref().unwrap();
    assert_eq!(
        (&tool.call_id, tool.name.as_str(), tool.is_error),
        (&assistant.tool_calls[0].id, "Read", true)
    );
    assert_eq!((result.content.as_str(), result.attachments[0].mime.as_str()), ("one\n\ntwo", "image/png"));
    assert_eq!((said.content.as_str(), said.attachments.len()), ("and you", 0));
    assert_eq!(said.parent_id.as_ref(), Some(&result.id));
    let lost = |loss: &Loss| loss.field == "user.message.content[image].source";
    assert!(import.sessions[0].losses.iter().any(lost));
}

#[test]
fn a_sub_agent_is_a_session_of_its_own_that_names_its_call() {
    let task = json!([{"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "look"}}]);
    let side = |mut record: Value, agent: Value| {
        record["isSidechain"] = json!(true);
        record["agentId"] = agent;
        record
    };
    let mut result = record("u2", "a1", 5, "user", json!([{"type": "tool_result", "tool_use_id": "t1"}]));
    for agent in [json!("77"), Value::Null] {
        result["toolUseResult"] = json!({"agentId": agent});
        let import = import(&[
            record("u1", "", 1, "user", json!("hello")),
            record("a1", "u1", 2, "assistant", task.clone()),
            side(record("s1", "", 3, "user", json!("look")), agent.clone()),
            side(record("s2", "s1", 4, "assistant", json!("seen")), agent),
            result.clone(),
        ]);
        let [main, sub] = &import.sessions[..] else { panic!("two sessions") };
        assert_eq!((main.messages.len(), sub.messages.len()), (3, 2));
        let parent = sub.parent.as_ref().unwrap();
        assert_eq!((&parent.session, parent.call_id.as_deref()), (&main.id, Some("t1")));
        assert_eq!(main.messages[2].tool.as_ref().unwrap().name, "Task");
    }
}

#[test]
fn the_users_title_wins_and_the_summary_of_another_session_is_none() {
    let said = record("u1", "", 1, "user", json!("hello"));
    let summary = |text: &str, leaf: &str| json!({"type": "summary", "summary": text, "leafUuid": leaf});
    let titled =
        |extra: &[Value]| import(&[extra, std::slice::from_ref(&said)].concat()).sessions[0].title.clone();
    let mut lines = vec![summary("elsewhere", "u9")];
    assert_eq!(titled(&lines), None);
    lines.push(summary("here", "u1"));
    assert_eq!(titled(&lines).as_deref(), Some("here"));
    lines.extend(["one", "two"].map(|title| json!({"type": "ai-title", "aiTitle": title})));
    assert_eq!(titled(&lines).as_deref(), Some("two"));
    lines.insert(0, json!({"type": "custom-title", "customTitle": "mine"}));
    assert_eq!(titled(&lines).as_deref(), Some("mine"));
}

#[test]
fn a_bad_line_is_reported_with_its_bytes_and_costs_no_other() {
    let good = record("u1", "", 1, "user", json!("hello")).to_string();
    let deep = format!("{{\"type\":{}{}}}", "[".repeat(1000), "]".repeat(1000));
    for (bad, code) in [
        (&b"{\"type\":\"us"[..], ProblemCode::Damaged),
        (b"\0\0\0", ProblemCode::Damaged),
        (b"\xff\xfe", ProblemCode::InvalidUtf8),
        (b"[1]", ProblemCode::Foreign),
        (b"{\"a\":1}", ProblemCode::Foreign),
        (b"{\"type\":\"user\",\"message\":\"error\"}", ProblemCode::BadValue),
        (deep.as_bytes(), ProblemCode::TooDeep),
    ] {
        let file = [b"\xef\xbb\xbf", good.as_bytes(), b"\r\n \n \t", bad, b" \n"].concat();
        let import = read(&file, "x", None).unwrap();
        assert_eq!(import.sessions[0].messages.len(), 1);
        let [problem] = &import.problems[..] else { panic!("{:?}", import.problems) };
        assert_eq!(problem.code, code, "{}", problem.message);
        assert_eq!(&file[problem.start as usize..problem.end as usize], bad);
    }
}

#[test]
fn what_is_no_transcript_is_one_error() {
    let code = |bytes: &[u8]| read(bytes, "x", None).map_err(|error| error.code).err();
    assert_eq!(code(b""), Some(Code::EmptyFile));
    assert_eq!(code(b" \n\r\n"), Some(Code::EmptyFile));
    for rubbish in [&b"\x7fELF\x02\0"[..], b"null", b"{\"type\":\"summary\"}", b"\xef\xbb\xbf"] {
        assert_eq!(code(rubbish), Some(Code::UnknownFormat));
    }
    let asked = read(&fixture(AgentName::ClaudeCode, REAL_SESSION), "x", Some(AgentName::Codex)).unwrap_err();
    assert_eq!(asked.code, Code::UnknownFormat);
}

#[test]
fn a_long_line_or_a_long_answer_takes_time_in_proportion() {
    let long = record("u1", "", 1, "user", json!("x".repeat(15 << 20))).to_string();
    let block = |n: usize| json!([{"type": "text", "text": format!("{n}")}]);
    let mut lines = vec![long];
    for n in 0..20_000 {
        let mut line = record(&format!("a{n}"), "u1", 2, "assistant", block(n));
        line["message"]["id"] = json!("one");
        lines.push(line.to_string());
    }
    let import = read(lines.join("\n").as_bytes(), "x", None).unwrap();
    let [said, answer] = &import.sessions[0].messages[..] else { panic!("two messages") };
    assert_eq!(said.content.as_str().len(), 15 << 20);
    assert_eq!(answer.assistant.as_ref().unwrap().order.len(), 20_000);
}

/// A prompt that was typed while the agent was at work, delivered behind another record.
fn queued_prompt(uuid: &str, parent: &str, second: u32, prompt: Value) -> Value {
    let attachment = json!({"type": "queued_command", "commandMode": "prompt", "prompt": prompt});
    let mut queued = record(uuid, parent, second, "attachment", Value::Null);
    queued.as_object_mut().unwrap().remove("message");
    queued["attachment"] = attachment;
    queued
}

fn import_contents(lines: &[Value]) -> Vec<String> {
    let import = import(lines);
    import.sessions[0].messages.iter().map(|message| message.content.as_str().into()).collect()
}

#[test]
fn what_was_typed_while_the_agent_was_at_work_is_a_message_of_the_user() {
    let image =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
    let mut bare = queued_prompt("", "", 5, json!("and this"));
    for key in ["uuid", "parentUuid"] {
        bare.as_object_mut().unwrap().remove(key);
    }
    let mut notice = queued_prompt("q3", "a1", 6, json!("a task has ended"));
    notice["attachment"]["commandMode"] = json!("task-notification");
    let import = import(&[
        record("u1", "", 1, "user", json!("hello")),
        record("a1", "u1", 2, "assistant", json!("hi")),
        queued_prompt(
            "q1",
            "a1",
            3,
            json!([{"type": "text", "text": "one"}, image, {"type": "text", "text": "two"}]),
        ),
        queued_prompt("q2", "a1", 4, json!("beside")),
        bare,
        notice,
        record("a2", "q1", 7, "assistant", json!("seen")),
    ]);
    let messages = &import.sessions[0].messages;
    let said: Vec<&str> = messages.iter().map(|message| message.content.as_str()).collect();
    assert_eq!(said, ["hello", "hi", "one\n\ntwo", "beside", "and this", "a task has ended", "seen"]);
    assert_eq!(messages[2].attachments.len(), 1);
    let parents: Vec<Option<&str>> = messages.iter().map(|message| message.parent_id.as_deref()).collect();
    let id = |place: usize| Some(messages[place].id.as_str());
    assert_eq!(parents, [None, id(0), id(1), id(1), id(3), id(1), id(2)]);
    assert!(messages.iter().all(|message| !message.branch));
}

#[test]
fn a_queued_prompt_that_stands_again_as_a_record_is_one_message() {
    let hello = record("u1", "", 1, "user", json!("hello"));
    let answer = record("a1", "u1", 2, "assistant", json!("hi"));
    let first = [hello, answer];
    let with = |rest: &[Value]| import_contents(&[&first[..], rest].concat())[2..].to_vec();
    let typed = record("u2", "q1", 4, "user", json!([{"type": "text", "text": "go on"}]));
    let waiting = queued_prompt("q1", "a1", 3, json!("go on"));
    assert_eq!(with(&[waiting.clone(), typed.clone()]), ["go on"]);
    assert_eq!(with(&[typed.clone(), waiting.clone()]), ["go on"]);
    // Twice is once more; and behind an answer it is another prompt.
    let again = record("u3", "u2", 5, "user", json!("go on"));
    assert_eq!(with(&[waiting.clone(), typed.clone(), again]), ["go on", "go on"]);
    let between = record("a2", "q1", 3, "assistant", json!("yes"));
    assert_eq!(with(&[waiting.clone(), between.clone(), typed.clone()]), ["go on", "yes", "go on"]);
    assert_eq!(with(&[waiting.clone(), queued_prompt("q2", "q1", 4, json!("go on"))]), ["go on", "go on"]);
    // The client may name the record.
    let mut named = waiting;
    named["attachment"]["source_uuid"] = json!("u2");
    assert_eq!(with(&[named.clone(), between.clone(), typed.clone()]), ["go on", "yes"]);
    assert_eq!(with(&[typed, between, named]), ["go on", "yes"]);
}

#[test]
fn a_newer_version_is_read_and_listed_once_as_untested() {
    let of = |versions: &[&str]| {
        let lines: Vec<Value> = versions
            .iter()
            .enumerate()
            .map(|(place, version)| {
                let mut line = record(&format!("u{place}"), "", 1, "user", json!(format!("{place}")));
                line["version"] = json!(version);
                line
            })
            .collect();
        let import = import(&lines);
        assert_eq!(import.sessions[0].messages.len(), versions.len());
        let untested = import.sessions[0].losses.iter().filter(|loss| loss.field.starts_with("version:"));
        untested.map(|loss| (loss.field.clone(), loss.count)).collect::<Vec<_>>()
    };
    assert_eq!(of(&["2.1.332", "2.1.99", "0.9.400", "odd", "2.1", "2.1.333.1"]), []);
    assert_eq!(of(&["2.1.332", "2.1.1000", "2.1.333"]), [("version:2.1.1000".into(), 2)]);
    assert_eq!(of(&["3.0.0-beta.1"]), [("version:3.0.0-beta.1".into(), 1)]);
}

#[test]
fn what_is_too_long_is_a_problem_and_costs_no_other() {
    let good = record("u1", "", 1, "user", json!("hello"));
    let long = record("u2", "u1", 2, "user", json!("x".repeat(100 << 20)));
    // Each of its texts stays in the line.
    let calls: Vec<Value> = (0..60)
        .map(|n| json!({"type": "tool_use", "id": format!("{n}"), "name": "Write", "input": {"text": "y".repeat(200_000)}}))
        .collect();
    let wide = record("a1", "u1", 3, "assistant", json!(calls));
    let after = record("u3", "a1", 4, "user", json!("go on"));
    let lines = [&good, &long, &wide, &after].map(Value::to_string);
    let file = lines.join("\n");
    let import = read(file.as_bytes(), "x", None).unwrap();
    let messages = &import.sessions[0].messages;
    let said: Vec<&str> = messages.iter().map(|message| message.content.as_str()).collect();
    assert_eq!(said, ["hello", "go on"]);
    assert_eq!(messages[1].parent_id.as_ref(), Some(&messages[0].id));
    let places: Vec<_> =
        import.problems.iter().map(|one| (one.code, one.start as usize, one.end as usize)).collect();
    let start = |line: &String| file.find(line.as_str()).unwrap();
    let expected = |line: &String| (ProblemCode::LineTooLong, start(line), start(line) + line.len());
    assert_eq!(places, [expected(&lines[1]), expected(&lines[2])]);
    for alone in [&lines[1], &lines[2]] {
        assert_eq!(read(alone.as_bytes(), "x", None).unwrap_err().code, Code::LineTooLong);
    }
}

#[test]
fn a_real_session_reads_as_it_was_held() {
    let import = read(&fixture(AgentName::ClaudeCode, REAL_SESSION), "x", None).unwrap();
    let [session] = &import.sessions[..] else { panic!("one session") };
    assert_eq!(session.source_id, "a1ec06f7-8d81-4715-aba2-72b09c413bbd");
    assert_eq!(session.version.as_deref(), Some("2.1.329"));
    // Two parallel calls in the second answer; 18 records of an assistant are 7 answers. The second message is what the
    // client told of the user and of the repository.
    assert_eq!(roles(&session.messages), "uuatattatatauata");
    let second = &session.messages[4];
    let calls: Vec<&str> = second.tool_calls().iter().map(|call| call.id.as_str()).collect();
    let results: Vec<&str> =
        session.messages[5..7].iter().map(|m| m.tool.as_ref().unwrap().call_id.as_str()).collect();
    assert_eq!(calls, results);
    for message in &session.messages[5..7] {
        assert_eq!(message.parent_id.as_ref(), Some(&second.id));
        assert!(!message.tool.as_ref().unwrap().name.is_empty());
    }
    let assistant = second.assistant.as_ref().unwrap();
    assert_eq!((assistant.reasoning.len(), assistant.order.len()), (1, 0));
    assert!(session.messages.iter().all(|message| !message.branch));
}

// The client's own field says it, whatever the words of the result.
#[test]
fn what_was_denied_or_interrupted_did_not_run() {
    let ran = |more: Value| {
        let call = json!([{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "make"}}]);
        let result = json!([{"type": "tool_result", "tool_use_id": "t", "content": "asks the person", "is_error": true}]);
        let mut answered = record("u2", "a1", 3, "user", result);
        answered.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let import = import(&[
            record("u1", "", 1, "user", json!("go")),
            record("a1", "u1", 2, "assistant", call),
            answered,
        ]);
        let messages = &import.sessions[0].messages;
        let mut state = State::default();
        messages.iter().for_each(|message| state.take_message(message));
        (messages[2].tool.as_ref().unwrap().not_run, state.facts_of(FactKind::Failed).count())
    };
    assert_eq!(ran(json!({})), (false, 1));
    assert_eq!(ran(json!({"toolDenialKind": "user-rejected"})), (true, 0));
    assert_eq!(ran(json!({"toolUseResult": {"stdout": "", "interrupted": true}})), (true, 0));
    assert_eq!(ran(json!({"toolUseResult": {"stdout": "", "interrupted": false}})), (false, 1));
}

fn queue(operation: &str, content: Option<&str>) -> Value {
    let mut record = json!({"type": "queue-operation", "operation": operation, "sessionId": "s",
        "timestamp": "2026-01-01T00:00:09.000Z"});
    if let Some(content) = content {
        record["content"] = content.into();
    }
    record
}

#[test]
fn what_was_queued_and_never_delivered_is_in_the_session() {
    let ask =
        |n: u32, text: &str| record(&format!("u{n}"), if n == 1 { "" } else { "a1" }, n, "user", json!(text));
    let answer = |n: u32, before: &str| {
        record(
            &format!("a{n}"),
            before,
            n,
            "assistant",
            json!([{"type": "text", "text": format!("answer {n}")}]),
        )
    };
    let said = |records: &[Value]| {
        let session = import(records).sessions.remove(0);
        let path = session.messages.windows(2).all(|two| two[1].parent_id.as_ref() == Some(&two[0].id));
        assert!(path && session.messages.iter().all(|message| !message.branch), "one path");
        session.messages.iter().map(|message| message.content.as_str().to_owned()).collect::<Vec<_>>()
    };
    let waits = queue("enqueue", Some("and then"));
    // The client died while it answered, also between taking it out and saying it.
    let died = [ask(1, "go"), waits.clone(), answer(1, "u1")];
    assert_eq!(said(&died), ["go", "answer 1", "and then"]);
    assert_eq!(said(&[&died[..], &[queue("dequeue", None)]].concat()), ["go", "answer 1", "and then"]);
    assert_eq!(
        said(&[&died[..], &[queue("popAll", Some("and then"))]].concat()),
        ["go", "answer 1", "and then"]
    );
    // Another process goes on, with or without a queue of its own; the same messages keep their names and places.
    let later = queue("enqueue", Some("later"));
    for more in [vec![ask(3, "later")], vec![later.clone(), queue("dequeue", None), ask(3, "later")]] {
        assert_eq!(said(&[&died[..], &more].concat()), ["go", "answer 1", "and then", "later"]);
    }
    let ids = |records: &[Value]| {
        import(records).sessions[0].messages.iter().map(|one| one.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&died), ids(&[&died[..], &[ask(3, "later")]].concat())[..3]);
    // It was delivered, alone, with others, or by an attachment; or the user took it back.
    for delivered in ["and then", "and then\nand this", "first\nand then"] {
        let records = [&died[..], &[queue("dequeue", None), ask(3, delivered)]].concat();
        assert_eq!(said(&records), ["go", "answer 1", delivered]);
    }
    let edited = [&died[..], &[queue("popAll", Some("and then")), ask(3, "and then, carefully")]].concat();
    assert_eq!(said(&edited), ["go", "answer 1", "and then, carefully"]);
    // Two wait, one is delivered.
    let two =
        [ask(1, "go"), waits.clone(), later, answer(1, "u1"), queue("dequeue", None), ask(3, "and then")];
    assert_eq!(said(&two), ["go", "answer 1", "and then", "later"]);
    // It was all that was typed; what the client tells itself, and what a command does, is not typed to the model.
    assert_eq!(said(std::slice::from_ref(&waits)), ["and then"]);
    assert_eq!(detect(waits.to_string().as_bytes()), Some(AgentName::ClaudeCode));
    for other in ["<task-notification>done</task-notification>", "/compact now"] {
        let records = [ask(1, "go"), queue("enqueue", Some(other)), answer(1, "u1"), queue("dequeue", None)];
        assert_eq!(said(&records), ["go", "answer 1"], "{other}");
    }
}
