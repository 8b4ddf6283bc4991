//! Gemini CLI's rules, each by a few records of its own.
//! Tries: src/interop/gemini/

use leftoff::error::Code;
use leftoff::interop::{AgentName, Import, ImportedSession, read};
use leftoff::record::message::{Message, OrderPart, Role};
use leftoff::record::scan::ProblemCode;
use serde_json::{Value, json};

use super::{describe_messages, fixture, ids};

fn import(lines: &[Value]) -> Import {
    let head =
        json!({"sessionId": "s", "projectHash": "h", "startTime": "2026-01-01T00:00:00Z", "kind": "main"});
    let lines: Vec<String> = [head].iter().chain(lines).map(Value::to_string).collect();
    read(lines.join("\n").as_bytes(), "x.jsonl", None).expect("a session")
}

fn session(lines: &[Value]) -> ImportedSession {
    let mut import = import(lines);
    assert_eq!((import.sessions.len(), import.problems.len()), (1, 0));
    import.sessions.remove(0)
}

fn user(id: &str, content: impl Into<Value>) -> Value {
    json!({"id": id, "timestamp": "2026-01-01T00:00:01Z", "type": "user", "content": content.into()})
}

fn gemini(id: &str, content: impl Into<Value>) -> Value {
    json!({"id": id, "timestamp": "2026-01-01T00:00:02Z", "type": "gemini", "content": content.into()})
}

fn response(id: &str, output: &str) -> Value {
    json!({"functionResponse": {"id": id, "name": "read_file", "response": {"output": output}}})
}

/// An answer with a call; with its result, once there is one.
fn calling(id: &str, call: &str, result: Option<&str>) -> Value {
    let mut told = gemini(id, "on it");
    told["toolCalls"] = json!([{"id": call, "name": "read_file", "args": {"path": "a"}, "status": "success",
        "timestamp": "2026-01-01T00:00:03Z", "result": result.map(|output| [response(call, output)])}]);
    told
}

fn parents(session: &ImportedSession) -> Vec<Option<usize>> {
    let place = |id: &String| session.messages.iter().position(|message| message.id == *id);
    session.messages.iter().map(|message| message.parent_id.as_ref().and_then(place)).collect()
}

fn messages_update(messages: &[Value]) -> Value {
    json!({"$set": {"messages": messages}})
}

#[test]
fn the_same_id_again_is_the_same_message() {
    let before = session(&[user("u", "hi"), gemini("a", "he")]);
    let after = session(&[user("u", "hi"), gemini("a", "he"), gemini("a", "hello")]);
    assert_eq!(describe_messages(&after), ["u hi", "a hello"]);
    assert_eq!(before.messages[1].id, after.messages[1].id);
}

#[test]
fn a_result_that_stands_twice_is_read_once_and_a_failed_one_says_so() {
    let lines = [
        user("u", "hi"),
        calling("a", "c", None),
        calling("a", "c", Some("seen")),
        user("r", json!([response("c", "seen")])),
        gemini("b", "done"),
    ];
    assert_eq!(describe_messages(&session(&lines)), ["u hi", "a on it", "t seen", "a done"]);
    // Only one of both may be there.
    let without = [&lines[..2], &lines[3..]].concat();
    assert_eq!(describe_messages(&session(&without)), describe_messages(&session(&lines)));
    assert_eq!(session(&without).messages[2].tool.as_ref().unwrap().call_id, "c");
    let is_error =
        |call: Value| session(&[user("u", "hi"), call]).messages[2].tool.as_ref().unwrap().is_error;
    let mut cancelled = lines[2].clone();
    assert!(!is_error(cancelled.clone()));
    cancelled["toolCalls"][0]["status"] = json!("cancelled");
    assert!(is_error(cancelled));
    let mut failed = lines[2].clone();
    failed["toolCalls"][0]["result"][0]["functionResponse"]["response"] = json!({"error": "no such file"});
    assert!(is_error(failed));
}

#[test]
fn parallel_results_keep_their_calls_and_what_a_user_says_beside_them_is_said() {
    let mut both = calling("a", "c", Some("one"));
    let second = calling("a", "d", Some("two"))["toolCalls"][0].clone();
    both["toolCalls"].as_array_mut().unwrap().push(second);
    let results = [response("c", "one"), response("d", "two"), json!({"text": "and hurry"})];
    let session = session(&[user("u", "hi"), both, user("r", json!(results))]);
    assert_eq!(describe_messages(&session), ["u hi", "a on it", "t one", "t two", "u and hurry"]);
    assert_eq!(parents(&session), [None, Some(0), Some(1), Some(2), Some(3)]);
    let call = |at: usize| session.messages[at].tool.as_ref().unwrap().call_id.clone();
    assert_eq!((call(2), call(3)), ("c".into(), "d".into()));
}

#[test]
fn what_is_rewound_stays_and_a_branch_goes_on_before_it() {
    let mut lines = vec![user("u", "hi"), gemini("a", "hello"), user("v", "left"), gemini("b", "no")];
    lines.extend([json!({"$rewindTo": "v"}), user("w", "right"), gemini("c", "yes")]);
    let rewound = session(&lines);
    assert_eq!(describe_messages(&rewound), ["u hi", "a hello", "u left", "a no", "!u right", "a yes"]);
    assert_eq!(parents(&rewound), [None, Some(0), Some(1), Some(2), Some(1), Some(4)]);
    // As the client writes it: the rest again, as a whole.
    lines.insert(5, messages_update(&[user("u", "hi"), gemini("a", json!([{"text": "hello"}]))]));
    assert_eq!(session(&lines).messages, rewound.messages);
    // And by a whole alone, where an answer was broken off.
    lines.remove(4);
    assert_eq!(session(&lines).messages, rewound.messages);
}

#[test]
fn a_client_that_resumes_in_a_process_of_its_own_takes_nothing_back() {
    let context = user("x", "<session_context>\nhere\n</session_context>");
    let head = json!({"sessionId": "s", "projectHash": "h", "startTime": "2026-01-01T00:00:05Z"});
    let mut lines =
        vec![messages_update(core::slice::from_ref(&context)), user("u", "hi"), calling("a", "c", None)];
    lines.extend([
        calling("a", "c", Some("text")),
        user("r", json!([response("c", "text")])),
        gemini("b", "done"),
    ]);
    let before = session(&lines);
    lines.extend([
        head,
        messages_update(core::slice::from_ref(&context)),
        json!({"$set": {"sessionId": "s"}}),
    ]);
    assert_eq!(session(&lines).messages, before.messages);
    let again = [
        context,
        user("u", "hi"),
        calling("a", "c", Some("text")),
        user("a", json!([response("c", "text")])),
    ];
    lines.push(messages_update(
        &[&again[..], &[user("r", json!([response("c", "text")])), gemini("b", "done")]].concat(),
    ));
    lines.extend([user("v", "more"), gemini("d", "yes")]);
    let after = session(&lines);
    assert_eq!(describe_messages(&after)[..before.messages.len()], describe_messages(&before)[..]);
    assert_eq!(describe_messages(&after)[before.messages.len()..], ["u more", "a yes"]);
    assert!(after.messages.iter().all(|message| !message.branch));
}

#[test]
fn a_rewind_to_what_is_not_there_takes_all_back_and_is_listed() {
    let session = session(&[user("u", "hi"), json!({"$rewindTo": "x"}), user("v", "anew")]);
    assert_eq!(describe_messages(&session), ["u hi", "!u anew"]);
    assert_eq!(parents(&session), [None, None]);
    assert!(session.losses.iter().any(|loss| loss.field == "$rewindTo.$rewindTo"));
}

#[test]
fn a_whole_adds_what_is_new_and_doubles_nothing() {
    let call = json!([{"text": "thought", "thought": true}, {"text": "on it"},
        {"functionCall": {"id": "c", "name": "read_file", "args": {"path": "a"}}}]);
    let lines = [
        user("u", "hi"),
        calling("a", "c", Some("seen")),
        user("r", json!([response("c", "seen")])),
        messages_update(&[
            user("u", "hi"),
            gemini("a", call),
            user("a_response", json!([response("c", "seen")])),
            user("a_response", json!([response("c", "seen")])),
            user("r", json!([response("c", "[masked]")])),
            user("n", "new"),
            user("n", "new"),
        ]),
        gemini("b", "done"),
    ];
    let session = session(&lines);
    assert_eq!(describe_messages(&session), ["u hi", "a on it", "t seen", "u new", "a done"]);
    let why = "repeats the tool result in another form";
    assert!(session.losses.iter().any(|loss| (loss.count, loss.why) == (1, why)));
}

#[test]
fn a_compressed_conversation_keeps_its_history_and_has_the_summary_behind_it() {
    let lines = [
        user("u", "<session_context>here</session_context>"),
        user("v", "first"),
        gemini("a", "one"),
        user("w", "second"),
        gemini("b", "two"),
        messages_update(&[
            user("u", "<session_context>there</session_context>"),
            user("s", "what was said"),
            gemini("t", "Got it. Thanks for the additional context!"),
            user("x", "second"),
            gemini("y", json!([{"text": "two "}])),
        ]),
        user("z", "third"),
    ];
    let session = session(&lines);
    let expected = [
        "u <session_context>here</session_context>",
        "u first",
        "a one",
        "u second",
        "a two",
        "u what was said",
        "a Got it. Thanks for the additional context!",
        "u third",
    ];
    assert_eq!(describe_messages(&session), expected);
    assert!(session.messages.iter().all(|message| !message.branch));
    let marked = |mark: &str| {
        let has = |message: &&Message| {
            let key = format!("{mark:?}");
            message.source.as_ref().unwrap().extra.iter().any(|one| one == (key.as_str(), "true"))
        };
        session.messages.iter().filter(has).map(|message| message.content.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(marked("isCompactSummary"), ["what was said"]);
    assert_eq!(marked("isMeta"), [expected[0].trim_start_matches("u ")]);
}

#[test]
fn a_conversation_that_is_written_anew_line_by_line_is_read_once() {
    let context = "<session_context>here</session_context>";
    let call = json!([{"text": "on it "}, {"functionCall": {"name": "read_file", "args": {"path": "a"}}}]);
    let begin = [
        user("u", context),
        user("v", "go on"),
        calling("a", "c", Some("seen")),
        user("r", json!([response("c", "seen")])),
        gemini("b", "done"),
        user("w", "go on"),
    ];
    let anew = [
        user("u2", json!([{"text": context}, {"text": "go on"}])),
        gemini("a2", call),
        user("r2", json!([response("c", "[masked]")])),
        gemini("b2", "done"),
        user("w2", "go on"),
    ];
    let lines =
        [&begin[..], &anew, &[messages_update(&anew), gemini("d", "fine"), user("x", "go on")]].concat();
    let expected =
        [&format!("u {context}"), "u go on", "a on it", "t seen", "a done", "u go on", "a fine", "u go on"];
    assert_eq!(describe_messages(&session(&lines)), expected);
    // What is said while it is written anew is new.
    let lines = [&begin[..], &anew[..2], &[user("x", "something else"), gemini("b2", "done")]].concat();
    assert_eq!(describe_messages(&session(&lines))[6..], ["u something else", "a done"]);
}

#[test]
fn thoughts_tokens_and_model_are_kept_and_thoughts_are_read_once() {
    let mut answer = gemini("a", json!([{"text": "**Plan** think", "thought": true}, {"text": "so"}]));
    answer["thoughts"] =
        json!([{"subject": "Plan", "description": "think", "timestamp": "x"}, {"description": "more"}]);
    answer["tokens"] =
        json!({"input": 100, "output": 10, "cached": 40, "thoughts": 5, "tool": 0, "total": 115});
    answer["model"] = json!("gemini-x");
    let session = session(&[user("u", "hi"), answer]);
    let assistant = session.messages[1].assistant.as_ref().unwrap();
    let thoughts: Vec<&str> = assistant.reasoning.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(thoughts, ["Plan\nthink", "more"]);
    let usage = assistant.usage.as_ref().unwrap();
    assert_eq!(
        (usage.input, usage.cache_read, usage.output, usage.reasoning),
        (Some(60), Some(40), Some(15), Some(5))
    );
    assert_eq!(session.model.as_deref(), Some("gemini-x"));
    assert_eq!(assistant.order, Vec::<OrderPart>::new());
}

#[test]
fn images_stand_with_what_they_belong_to() {
    let image = json!({"inlineData": {"mimeType": "image/png", "data": "AAAA"}});
    let mut seen = calling("a", "c", Some("an image"));
    seen["toolCalls"][0]["result"].as_array_mut().unwrap().push(image.clone());
    let again = user("r", json!([response("c", "an image"), image]));
    let asked = user(
        "u",
        json!([{"text": "what is this"}, image, {"fileData": {"fileUri": "/a/b.pdf", "mimeType": "application/pdf"}},
        {"fileData": {"fileUri": "https://example.com/c", "mimeType": "image/png"}}]),
    );
    let session = session(&[asked, seen, again]);
    let files: Vec<usize> = session.messages.iter().map(|message| message.attachments.len()).collect();
    assert_eq!(files, [2, 0, 1]);
    assert_eq!(session.messages[0].attachments[1].path.as_deref(), Some("/a/b.pdf"));
    assert!(session.losses.iter().any(|loss| loss.field == "user.content[].fileData.fileUri"));
}

#[test]
fn a_sub_agents_file_is_named_by_the_call_and_by_its_folder() {
    let mut call = calling("a", "c", Some("found"));
    call["toolCalls"][0]["agentId"] = json!("agent-1");
    let caller = session(&[user("u", "hi"), call.clone(), call]);
    let [sub] = &caller.sub_agents[..] else { panic!("{:?}", caller.sub_agents) };
    assert_eq!((sub.source_id.as_str(), sub.call_id.as_str()), ("agent-1", "c"));
    let head = json!({"sessionId": "agent-1", "projectHash": "h", "startTime": "2026-01-01T00:00:00Z",
        "kind": "subagent", "directories": ["/home/dev/project"]});
    let file = format!("{head}\n{}", user("u", "look"));
    let read = |name: &str| read(file.as_bytes(), name, None).unwrap().sessions.remove(0);
    let sub = read("s/agent-1.jsonl");
    assert_eq!(sub.parent.as_ref().unwrap().session, "gemini/s");
    assert_eq!(sub.folder.as_deref(), Some("/home/dev/project"));
    let alone = read("agent-1.jsonl");
    assert_eq!((alone.parent, &alone.id, &alone.source_id), (None, &sub.id, &"agent-1".into()));
}

#[test]
fn a_document_of_an_older_version_reads_like_the_log() {
    let messages = [user("u", "hi"), calling("a", "c", Some("seen")), gemini("b", "done")];
    let document = json!({"sessionId": "s", "projectHash": "h", "startTime": "2026-01-01T00:00:00Z",
        "lastUpdated": "2026-01-02T00:00:00Z", "summary": "a title", "messages": messages});
    for text in [document.to_string(), format!("\u{feff}{document:#}\n")] {
        let session = read(text.as_bytes(), "x.json", None).unwrap().sessions.remove(0);
        let log = self::session(&messages);
        assert_eq!((describe_messages(&session), ids(&session)), (describe_messages(&log), ids(&log)));
        assert_eq!(session.title.as_deref(), Some("a title"));
    }
}

#[test]
fn what_is_no_session_is_one_error_and_a_bad_line_one_problem() {
    let code = |bytes: &[u8]| read(bytes, "x", Some(AgentName::Gemini)).map_err(|error| error.code).err();
    assert_eq!(code(b" \n"), Some(Code::EmptyFile));
    let drift = fixture(AgentName::Gemini, "agent-sessions/schema_drift.json");
    let head = json!({"sessionId": "s", "projectHash": "h"}).to_string();
    assert_eq!(code(head.as_bytes()), Some(Code::EmptyFile));
    for bad in [&b"null"[..], b"{\"type\":\"user\"}", &drift] {
        assert_eq!(code(bad), Some(Code::UnknownFormat), "{}", String::from_utf8_lossy(bad));
    }
    let import = import(&[json!({"a": 1}), user("u", "hi"), json!({"type": "news"})]);
    assert_eq!(import.problems.iter().map(|one| one.code).collect::<Vec<_>>(), [ProblemCode::Foreign]);
    assert!(import.sessions[0].losses.iter().any(|loss| loss.field == "record:news"));
}

#[test]
fn many_wholes_and_rewinds_take_time_in_proportion() {
    let mut lines: Vec<Value> = (0..20_000).map(|n| user(&format!("u{n}"), format!("{n}"))).collect();
    lines.push(messages_update(&lines[..10_000]));
    for n in 0..20_000 {
        lines.extend([
            json!({"$rewindTo": "u9999"}),
            user("u9999", format!("again {n}")),
            messages_update(&[]),
        ]);
        lines.push(user("u9999", "same"));
    }
    assert_eq!(session(&lines).messages.len(), 20_000 + 40_000);
}

#[test]
fn a_real_session_reads_as_it_was_held() {
    let of = |path: &str| {
        let path = format!("real/0.61.0/{path}");
        read(&fixture(AgentName::Gemini, &path), "x", None).unwrap().sessions.remove(0)
    };
    let roles = |session: &ImportedSession| {
        describe_messages(session).iter().map(|one| one.replace('!', "")[..1].to_owned()).collect::<String>()
    };
    let resumed = of("resumed/session-2026-11-22T00-10-d73a8e7e.jsonl");
    // Bash; a file and bash at once; one that fails; one that writes; resumed, a file that is missing.
    assert_eq!(roles(&resumed), "uuatattatatauata");
    let results: Vec<&Message> =
        resumed.messages.iter().filter(|message| message.role == Some(Role::Tool)).collect();
    let errors: Vec<bool> = results.iter().map(|one| one.tool.as_ref().unwrap().is_error).collect();
    assert_eq!(errors, [false, false, false, false, false, true]);
    assert!(results[1].content.as_str().contains("ünïcode ☃"));
    assert_eq!(resumed.source_id, "d73a8e7e-398d-45aa-abb1-25ccafdf1cdd");
    assert!(resumed.messages.iter().all(|message| !message.branch));
    let rewound = of("rewound/session-2026-11-22T00-10-d73a8e7e.jsonl");
    let branches: Vec<String> =
        describe_messages(&rewound).into_iter().filter(|one| one.starts_with('!')).collect();
    assert_eq!(branches, ["!u and that"]);
    assert!(
        describe_messages(&of("compressed/session-2026-11-22T00-10-d73a8e7e.jsonl"))
            .iter()
            .all(|one| !one.starts_with('!'))
    );
}
