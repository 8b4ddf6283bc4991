//! Claude Code's transcripts become sessions: no message lost or doubled, and what has no place is listed.
#![cfg(feature = "interop")]
#![allow(missing_docs)]
#![cfg(not(target_arch = "wasm32"))]

#[path = "claude_code/rules.rs"]
mod rules;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use leftoff::error::Code;
use leftoff::interop::claude_code::{MAPPED, TESTED, WHOLE};
use leftoff::interop::{AgentName, Import, ImportedSession, detect, read};
use leftoff::session::message::{Message, Role};
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
        let told = ["user", "assistant", "summary", "ai-title", "custom-title", "queued prompt"];
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
fn the_versions_it_was_tested_with_are_those_of_the_fixtures() {
    let mut versions = BTreeSet::new();
    for (path, ..) in imports() {
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let record: Value = serde_json::from_str(line).unwrap_or_default();
            versions.extend(record["version"].as_str().map(String::from));
        }
    }
    versions.retain(|version| version.starts_with(|digit: char| digit.is_ascii_digit()));
    assert_eq!(TESTED.iter().map(|tested| String::from(*tested)).collect::<BTreeSet<_>>(), versions);
    let number = |version: &&str| version.split('.').map(|part| part.parse().unwrap()).collect::<Vec<u64>>();
    assert!(TESTED.is_sorted_by_key(number));
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
