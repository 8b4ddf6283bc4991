//! Claude Code's transcripts become sessions: no message lost or doubled, and what has no place is listed.
#![cfg(feature = "interop")]
#![allow(missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use leftoff::error::Code;
use leftoff::interop::claude_code::{MAPPED, WHOLE};
use leftoff::interop::{AgentName, Import, ImportedSession, Loss, detect, read};
use leftoff::session::message::{Message, Part, Role};
use leftoff::session::scan::ProblemCode;
use proptest::prelude::*;
use serde_json::{Value, json};

const REAL: &str = "real/2.1.329/a1ec06f7-8d81-4715-aba2-72b09c413bbd.jsonl";

fn fixtures(ending: &str) -> Vec<PathBuf> {
    fn gather(folder: &Path, ending: &str, files: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                gather(&path, ending, files);
            } else if path.to_str().unwrap().ends_with(ending) {
                files.push(path);
            }
        }
    }
    let mut files = Vec::new();
    gather(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/claude-code"), ending, &mut files);
    files.sort();
    assert!(!files.is_empty());
    files
}

fn fixture(path: &str) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/claude-code");
    std::fs::read(root.join(path)).unwrap()
}

fn import(lines: &[Value]) -> Import {
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    read(text.join("\n").as_bytes(), "name.jsonl", None).expect("a transcript")
}

/// What a script that shares no code with the reader counts in the fixtures.
static COUNTED: LazyLock<BTreeMap<PathBuf, Value>> = LazyLock::new(|| {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/count_claude.mjs");
    let files = fixtures("");
    let output = Command::new("node").arg(script).args(&files).output().expect("node is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
    let counted: Vec<Value> = lines.map(Result::unwrap).collect();
    assert_eq!(counted.len(), files.len());
    files.into_iter().zip(counted).collect()
});

/// Each transcript with what is read of it and what the script counts in it.
fn imports() -> impl Iterator<Item = (&'static PathBuf, Import, &'static Value)> {
    COUNTED.iter().filter_map(|(path, counted)| {
        let import = read(&std::fs::read(path).unwrap(), "x", None).ok()?;
        Some((path, import, counted))
    })
}

fn counts<'a>(sessions: impl Iterator<Item = &'a ImportedSession>) -> Value {
    let messages: Vec<&Message> = sessions.flat_map(|session| &session.messages).collect();
    let of = |role: Role| messages.iter().filter(|message| message.role == Some(role)).count();
    let calls: usize = messages.iter().map(|message| message.tool_calls().len()).sum();
    let (user, assistant, results) = (of(Role::User), of(Role::Assistant), of(Role::Tool));
    json!({"user": user, "assistant": assistant, "toolCalls": calls, "toolResults": results})
}

fn is_sub(session: &&ImportedSession) -> bool {
    session.parent.is_some()
}

#[test]
fn each_transcript_imports_and_every_other_file_gets_one_error() {
    let mut imported = 0;
    for (path, counted) in &*COUNTED {
        let bytes = std::fs::read(path).unwrap();
        let is_transcript = path.extension().is_some_and(|ending| ending == "jsonl")
            && !path.to_str().unwrap().contains("other-agents")
            && ["user", "assistant"].iter().any(|kind| counted["types"].get(kind).is_some());
        assert_eq!(detect(&bytes), is_transcript.then_some(AgentName::ClaudeCode), "{path:?}");
        match read(&bytes, "x.jsonl", None) {
            Ok(import) => {
                assert!(is_transcript && !import.sessions.is_empty(), "{path:?}");
                imported += 1;
            }
            Err(error) => {
                assert!(!is_transcript && error.code == Code::UnknownFormat, "{path:?}: {error}");
            }
        }
    }
    assert!(imported > 60, "{imported}");
}

#[test]
fn no_message_is_lost_or_doubled() {
    for (path, import, script) in imports() {
        let (main, side) = import.sessions.iter().partition::<Vec<_>, _>(|session| !is_sub(session));
        assert_eq!(counts(main.into_iter()), script["main"], "{path:?}");
        assert_eq!(counts(side.into_iter()), script["side"], "{path:?}");
        let bad = script["bad"].as_array().unwrap().len();
        assert_eq!(import.problems.len(), bad, "{path:?}: {:?}", import.problems);
    }
}

// A path that is in another: `a.b` and `a[x]` are in `a`.
fn is_in(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

#[test]
fn what_a_file_holds_is_mapped_or_listed_and_nothing_else_is_listed() {
    for (path, import, script) in imports() {
        let listed: BTreeMap<&str, (u64, &str)> = import
            .sessions
            .iter()
            .flat_map(|session| &session.losses)
            .map(|loss| (loss.field.as_str(), (loss.count, loss.why)))
            .collect();
        let keys = |of: &str| script[of].as_object().unwrap().keys().cloned().collect::<BTreeSet<String>>();
        let (types, fields) = (keys("types"), keys("fields"));
        let told = ["user", "assistant", "summary", "ai-title", "custom-title"];
        for kind in types.iter().filter(|kind| !told.contains(&kind.as_str())) {
            assert!(listed.contains_key(format!("record:{kind}").as_str()), "{path:?}: {kind}");
        }
        for field in &fields {
            let is_mapped = MAPPED.contains(&field.as_str()) || WHOLE.iter().any(|whole| is_in(field, whole));
            let is_listed = listed.keys().any(|listed| is_in(field, listed));
            assert!(is_mapped || is_listed, "{path:?}: {field}");
        }
        for (field, (_, why)) in &listed {
            let is_there = match field.strip_prefix("record:") {
                Some(kind) => types.contains(kind),
                None => fields.contains(*field),
            };
            assert!(is_there, "{path:?}: {field}");
            // A field with a place is listed only where its value could not be used.
            let is_left = *why == "leftoff has no place for it";
            assert!(!(is_left && MAPPED.contains(field)), "{path:?}: {field} {why}");
        }
    }
}

#[test]
fn losses_are_counted_as_often_as_they_occur() {
    for (_, import, script) in imports().filter(|(path, ..)| path.ends_with(REAL)) {
        for loss in &import.sessions[0].losses {
            let expected = match loss.field.strip_prefix("record:") {
                Some(kind) => &script["types"][kind],
                None => &script["fields"][&loss.field],
            };
            assert_eq!(json!(loss.count), *expected, "{}", loss.field);
        }
    }
}

#[test]
fn an_import_is_the_same_each_time_and_its_ids_are_unique() {
    for path in fixtures(".jsonl") {
        let bytes = std::fs::read(&path).unwrap();
        let Ok(import) = read(&bytes, "x", None) else { continue };
        assert_eq!(read(&bytes, "x", None).unwrap(), import);
        let mut ids = BTreeSet::new();
        for session in &import.sessions {
            assert!(ids.insert(&session.id));
            let mut before = BTreeSet::new();
            for message in &session.messages {
                let parent = message.parent_id.as_ref();
                assert!(parent.is_none_or(|parent| before.contains(parent)), "{path:?}: {message:?}");
                assert!(ids.insert(&message.id), "{path:?}: {message:?}");
                before.insert(message.id.clone());
            }
        }
    }
}

#[test]
fn a_grown_file_keeps_the_ids_it_had() {
    {
        let bytes = fixture(REAL);
        let whole = &read(&bytes, "x", None).unwrap().sessions[0];
        for (end, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            let Ok(import) = read(&bytes[..end], "x", None) else { continue };
            let session = &import.sessions[0];
            assert_eq!(session.id, whole.id);
            let ids =
                |session: &ImportedSession| session.messages.iter().map(|m| m.id.clone()).collect::<Vec<_>>();
            assert!(ids(whole).starts_with(&ids(session)));
        }
    }
}

#[test]
fn a_real_session_reads_as_it_was_held() {
    let import = read(&fixture(REAL), "x", None).unwrap();
    let [session] = &import.sessions[..] else { panic!("one session") };
    assert_eq!(session.source_id, "a1ec06f7-8d81-4715-aba2-72b09c413bbd");
    assert_eq!(session.version.as_deref(), Some("2.1.329"));
    let roles: String = session
        .messages
        .iter()
        .map(|message| match message.role.unwrap() {
            Role::System => 's',
            Role::User => 'u',
            Role::Assistant => 'a',
            Role::Tool => 't',
        })
        .collect();
    // Two parallel calls in the second answer; 18 records of an assistant are 7 answers.
    assert_eq!(roles, "uatattatatauata");
    let second = &session.messages[3];
    let calls: Vec<&str> = second.tool_calls().iter().map(|call| call.id.as_str()).collect();
    let results: Vec<&str> =
        session.messages[4..6].iter().map(|m| m.tool.as_ref().unwrap().call_id.as_str()).collect();
    assert_eq!(calls, results);
    for message in &session.messages[4..6] {
        assert_eq!(message.parent_id.as_ref(), Some(&second.id));
        assert!(!message.tool.as_ref().unwrap().name.is_empty());
    }
    let assistant = second.assistant.as_ref().unwrap();
    assert_eq!((assistant.reasoning.len(), assistant.order.len()), (1, 0));
    assert!(session.messages.iter().all(|message| !message.branch));
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
    assert_eq!(assistant.order, [Part::Text(0, 2), Part::Call(0), Part::Text(4, 5), Part::Reasoning(0)]);
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
    let titled = |extra: &[Value]| import(&[extra, &[said.clone()]].concat()).sessions[0].title.clone();
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
    let asked = read(&fixture(REAL), "x", Some(AgentName::Codex)).unwrap_err();
    assert_eq!(asked.code, Code::UnknownFormat);
}

#[test]
fn a_long_line_or_a_long_answer_takes_time_in_proportion() {
    let long = record("u1", "", 1, "user", json!("x".repeat(20 << 20))).to_string();
    let block = |n: usize| json!([{"type": "text", "text": format!("{n}")}]);
    let mut lines = vec![long];
    for n in 0..20_000 {
        let mut line = record(&format!("a{n}"), "u1", 2, "assistant", block(n));
        line["message"]["id"] = json!("one");
        lines.push(line.to_string());
    }
    let import = read(lines.join("\n").as_bytes(), "x", None).unwrap();
    let [said, answer] = &import.sessions[0].messages[..] else { panic!("two messages") };
    assert_eq!(said.content.as_str().len(), 20 << 20);
    assert_eq!(answer.assistant.as_ref().unwrap().order.len(), 20_000);
}

// What a line says, by its JSON alone: texts that must be found again.
fn said_by(line: &[u8]) -> Vec<String> {
    let record: Value = serde_json::from_slice(line).unwrap_or_default();
    if !["user", "assistant"].contains(&record["type"].as_str().unwrap_or_default()) {
        return Vec::new();
    }
    let text = |value: &Value| value.as_str().map(String::from);
    let content = &record["message"]["content"];
    let blocks = content.as_array().into_iter().flatten();
    let said = blocks.filter_map(|block| match block["type"].as_str()? {
        "text" => text(&block["text"]),
        "thinking" => text(&block["thinking"]),
        "tool_use" => text(&block["id"]),
        "tool_result" => text(&block["tool_use_id"]),
        _ => None,
    });
    said.chain(text(content)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_bytes_make_it_panic(bytes: Vec<u8>, json in "[\\[\\]{}\":,a-z0-9\\\\\n ]{0,200}") {
        let _ = read(&bytes, "x", None);
        let _ = read(json.as_bytes(), "x", None);
    }

    #[test]
    fn a_damaged_line_costs_no_other(
        file in 0..6usize,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut: prop::sample::Index,
    ) {
        let files = ["agent-sessions/small.jsonl", REAL, "claude-code-log/edge_cases.jsonl",
            "claude-code-log/todowrite_examples.jsonl", "agent-sessions/schema_drift.jsonl",
            "claude-code-transcripts/sample_session.jsonl"];
        let bytes = fixture(files[file]);
        let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(Vec::from).collect();
        let mut touched = BTreeSet::new();
        for (line, place, byte) in damage {
            let line = line.index(lines.len());
            touched.insert(line);
            if byte == b'\n' || lines[line].is_empty() {
                continue;
            }
            let place = place.index(lines[line].len());
            if byte % 3 == 0 { lines[line].truncate(place) } else { lines[line][place] = byte }
        }
        let kept = cut.index(lines.len()) + 1;
        let whole = lines[..kept].join(&b'\n');
        let import = read(&whole, "x", None).unwrap_or_default();
        let all = format!("{:?}", import.sessions);
        for (number, line) in lines[..kept].iter().enumerate().filter(|(number, _)| !touched.contains(number)) {
            for said in said_by(line) {
                let shown = format!("{said:?}");
                prop_assert!(all.contains(&shown[1..shown.len() - 1]), "line {number}: {said}");
            }
        }
    }
}
