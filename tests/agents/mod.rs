//! Other agents' sessions: what each reader takes from every fixture, against scripts that share no code with it.
//! Tries: src/interop/
#![cfg(feature = "interop")]
#![allow(missing_docs)]
#![cfg(not(target_arch = "wasm32"))]

mod aider;
mod ask;
mod claude_code;
mod cline;
mod codex;
mod commands;
mod continue_dev;
mod copilot;
mod cortext;
mod cut_short;
mod gemini;
mod hostile;
mod interop_tables;
mod nanocoder;
mod opencode;
mod pi;
mod public_reports;
mod qwen;
mod vscode;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use leftoff::error::Code;
use leftoff::interop::{AgentName, Coverage, Import, ImportedSession, coverage, detect, read};
use leftoff::record::message::{Message, Role};
use leftoff::record::scan::Problem;
use leftoff::session::title::{Titles, shorten_title};
use leftoff::state::{FactKind, State};
use proptest::prelude::*;
use serde_json::{Value, json};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("it can be read").path())
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .filter(|path| !path.ends_with("SOURCES.txt"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{folder:?}");
    files
}

fn fixture(agent: AgentName, path: &str) -> Vec<u8> {
    std::fs::read(folder(agent.as_str()).join(path)).expect("the fixture is there")
}

/// A file of an agent, what is read of it, and what a script counts in it that shares no code with the reader.
struct Fixture {
    agent: AgentName,
    path: PathBuf,
    bytes: Vec<u8>,
    // Nothing where it is no session.
    counted: Option<Value>,
}

impl Fixture {
    fn name(&self) -> &str {
        self.path.file_name().and_then(|name| name.to_str()).expect("a name")
    }

    fn import(&self) -> Import {
        read(&self.bytes, self.name(), None).unwrap_or_else(|error| panic!("{:?}: {error}", self.path))
    }
}

static FIXTURES: LazyLock<Vec<Fixture>> =
    LazyLock::new(|| AgentName::ALL.into_iter().flat_map(count_fixtures).collect());

fn count_fixtures(agent: AgentName) -> Vec<Fixture> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("agents/count.mjs");
    let files = files(&folder(agent.as_str()));
    let output = Command::new("node").arg(script).arg(agent.as_str()).args(&files).output();
    let output = output.expect("node is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
    let counted: Vec<Value> = lines.map(Result::unwrap).collect();
    assert_eq!(counted.len(), files.len());
    let fixture = |(path, counted): (PathBuf, Value)| {
        let bytes = std::fs::read(&path).expect("it can be read");
        Fixture { agent, path, bytes, counted: Some(counted).filter(|counted| !counted.is_null()) }
    };
    files.into_iter().zip(counted).map(fixture).collect()
}

/// Each session among the fixtures with what is read of it and what the script counts.
fn imports() -> impl Iterator<Item = (&'static Fixture, Import, &'static Value)> {
    FIXTURES.iter().filter_map(|fixture| {
        let counted = fixture.counted.as_ref().filter(|counted| counted["isSilent"] != true)?;
        Some((fixture, fixture.import(), counted))
    })
}

fn counts<'a>(sessions: impl Iterator<Item = &'a ImportedSession>) -> Value {
    let messages: Vec<&Message> = sessions.flat_map(|session| &session.messages).collect();
    let of = |role: Role| messages.iter().filter(|message| message.role == Some(role)).count();
    let calls: usize = messages.iter().map(|message| message.tool_calls().len()).sum();
    json!({
        "user": of(Role::User), "assistant": of(Role::Assistant), "system": of(Role::System),
        "toolCalls": calls, "toolResults": of(Role::Tool),
    })
}

#[test]
fn each_session_is_known_by_its_content_and_every_other_file_gets_one_error() {
    for Fixture { agent, path, bytes, counted } in &*FIXTURES {
        let is_silent = counted.as_ref().is_some_and(|counted| counted["isSilent"] == true);
        let expected = counted.as_ref().map(|_| *agent);
        assert_eq!(detect(bytes), expected, "{path:?}");
        match read(bytes, "x", None) {
            Ok(import) => assert!(counted.is_some() && !is_silent && !import.sessions.is_empty(), "{path:?}"),
            Err(error) if is_silent => assert_eq!(error.code, Code::EmptyFile, "{path:?}: {error}"),
            Err(error) => {
                assert!(counted.is_none() && error.code == Code::UnknownFormat, "{path:?}: {error}");
            }
        }
    }
    for path in files(&folder("other-agents")) {
        assert_eq!(detect(&std::fs::read(&path).unwrap()), None, "{path:?}");
    }
    for agent in AgentName::ALL {
        let sessions = |fixture: &&Fixture| fixture.agent == agent && fixture.counted.is_some();
        assert!(FIXTURES.iter().filter(sessions).count() > 0, "{agent:?}");
    }
}

#[test]
fn no_message_is_lost_or_doubled() {
    for (Fixture { path, .. }, import, script) in imports() {
        let (side, main): (Vec<_>, Vec<_>) =
            import.sessions.iter().partition(|session| session.source_id.contains('/'));
        assert_eq!(counts(main.into_iter()), script["main"], "{path:?}");
        assert_eq!(counts(side.into_iter()), script["side"], "{path:?}");
        assert_eq!(json!(import.problems.len()), script["bad"], "{path:?}: {:?}", import.problems);
    }
}

#[test]
fn a_call_without_a_name_is_kept_and_told() {
    let mut told = BTreeSet::new();
    for (Fixture { agent, path, bytes, .. }, import, _) in imports() {
        let mut calls =
            import.sessions.iter().flat_map(|session| &session.messages).flat_map(Message::tool_calls);
        let Some(name) = calls.next().map(|call| &call.name).filter(|name| !name.is_empty()) else {
            continue;
        };
        // Of files with another encoding of names nothing is changed.
        let Ok(text) = core::str::from_utf8(bytes) else { continue };
        let nameless = text.replace(&format!("{name:?}"), "\"\"");
        let Ok(import) = read(nameless.as_bytes(), &path.to_string_lossy(), Some(*agent)) else { continue };
        let mut calls =
            import.sessions.iter().flat_map(|session| &session.messages).flat_map(Message::tool_calls);
        if calls.any(|call| call.name.is_empty()) {
            let is_told = |problem: &Problem| problem.message.starts_with("expected the name of a tool");
            assert!(import.problems.iter().any(is_told), "{path:?}: {:?}", import.problems);
            told.insert(agent.as_str());
        }
    }
    assert!(told.len() > 6, "{told:?}");
}

// What a session is called by where nobody named it is the beginning of what was said first.
#[test]
fn the_task_is_the_first_thing_that_a_human_said() {
    let mut known = BTreeSet::new();
    for (Fixture { agent, path, .. }, import, _) in imports() {
        for session in &import.sessions {
            let (mut state, mut first) = (State::default(), None);
            for message in &session.messages {
                state.take_message(message);
                let is_said = message.role == Some(Role::User)
                    && message.source.as_ref().is_none_or(|source| source.extra == Default::default());
                let said = json!(Titles::of(message.content.as_str()))["said"].clone();
                first = first.or(said.as_str().filter(|_| is_said).map(String::from));
            }
            let Some(first) = first else { continue };
            let task = state.first_fact(FactKind::Task).map(|task| task.text.as_str()).unwrap_or_default();
            assert!(!task.is_empty(), "{path:?}: {first:?} is no task");
            let wrapped = ["<user_input", "<task>", "<feedback", "<system-reminder", "<environment", "</"];
            assert!(!wrapped.iter().any(|tag| task.starts_with(tag)), "{path:?}: {task}");
            let (task, first) = (shorten_title(task), first.trim_end_matches('…'));
            if task.contains(first) {
                known.insert(agent.as_str());
            }
        }
    }
    assert!(known.len() > 9, "{known:?}");
}

// A path that is in another: `a.b` and `a[x]` are in `a`.
fn is_in(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn what_a_file_holds_is_mapped_or_listed_and_nothing_else_is_listed() {
    let mut untold = BTreeSet::new();
    for (Fixture { agent, path, .. }, import, script) in imports() {
        let Coverage { mapped_fields: mapped, whole_fields: whole, .. } = coverage(*agent);
        let losses = import.sessions.iter().flat_map(|session| &session.losses);
        let listed: BTreeMap<&str, &str> = losses.map(|loss| (loss.field.as_str(), loss.why)).collect();
        let (types, fields) = (keys(&script["types"]), keys(&script["fields"]));
        for kind in &types {
            assert!(listed.contains_key(format!("record:{kind}").as_str()), "{path:?}: {kind}");
        }
        let is_told = |field: &str| {
            mapped.iter().any(|mapped| is_in(mapped, field))
                || whole.iter().any(|whole| is_in(field, whole) || is_in(whole, field))
                || listed.keys().any(|listed| is_in(field, listed))
        };
        // A type names the path of what it is the type of.
        let is_named = |field: &str| field.strip_suffix(".type").is_some_and(is_told);
        let missing = fields.iter().filter(|field| !is_told(field) && !is_named(field));
        untold.extend(missing.map(|field| (*agent, String::from(*field))));
        for (field, why) in listed.into_iter().filter(|(field, _)| !field.starts_with("version:")) {
            let is_there = match field.strip_prefix("record:") {
                Some(kind) => types.contains(kind),
                None => fields.contains(field),
            };
            assert!(is_there, "{path:?}: {field}");
            // A field with a place is listed only where its value could not be used.
            let is_left = why == "leftoff has no field for it";
            assert!(!(is_left && mapped.contains(&field)), "{path:?}: {field} {why}");
        }
    }
    assert!(untold.is_empty(), "{untold:#?}");
}

#[test]
fn losses_are_counted_as_often_as_they_occur() {
    for (Fixture { path, .. }, import, script) in imports() {
        // Of a sub-agent's or a repeated record the script says nothing apart.
        let [session] = &import.sessions[..] else { continue };
        for loss in session.losses.iter().filter(|loss| loss.field.starts_with("record:")) {
            let kind = loss.field.trim_start_matches("record:");
            assert_eq!(json!(loss.count), script["types"][kind], "{path:?}: {}", loss.field);
        }
    }
}

#[test]
fn the_versions_that_were_tested_are_those_of_the_fixtures() {
    let is_version =
        |part: &&str| part.split('.').count() == 3 && part.starts_with(|c: char| c.is_ascii_digit());
    for agent in AgentName::ALL {
        let mut versions: BTreeSet<String> = BTreeSet::new();
        for (Fixture { path, .. }, _, script) in imports().filter(|(fixture, ..)| fixture.agent == agent) {
            let inside = script["versions"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let outside = path
                .iter()
                .filter_map(|part| part.to_str())
                .filter(|part| is_version(part) && part.chars().all(|c| c.is_ascii_digit() || c == '.'));
            versions.extend(inside.chain(outside).map(String::from));
        }
        let tested = coverage(agent).tested_versions;
        assert_eq!(tested.iter().map(|tested| String::from(*tested)).collect::<BTreeSet<_>>(), versions);
        let number =
            |version: &&str| version.split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u64>>();
        assert!(tested.is_sorted_by_key(number), "{tested:?}");
    }
}

#[test]
fn an_import_is_the_same_each_time_and_its_ids_are_unique() {
    for (fixture, import, _) in imports() {
        assert_eq!(fixture.import(), import);
        let mut ids = BTreeSet::new();
        for session in &import.sessions {
            assert!(ids.insert(&session.id));
            let mut before = BTreeSet::new();
            for message in &session.messages {
                let parent = message.parent_id.as_ref();
                assert!(
                    parent.is_none_or(|parent| before.contains(parent)),
                    "{:?}: {message:?}",
                    fixture.path
                );
                assert!(ids.insert(&message.id), "{:?}: {message:?}", fixture.path);
                before.insert(message.id.clone());
            }
        }
    }
}

/// Who speaks, a letter for each message.
fn roles(messages: &[Message]) -> String {
    messages.iter().map(letter).collect()
}

fn letter(message: &Message) -> char {
    match message.role.expect("a role") {
        Role::System => 's',
        Role::User => 'u',
        Role::Assistant => 'a',
        Role::Tool => 't',
    }
}

/// Each message as a letter and what it says; `!` where a branch begins.
fn describe_messages(session: &ImportedSession) -> Vec<String> {
    let one = |message: &Message| {
        format!("{}{} {}", if message.branch { "!" } else { "" }, letter(message), message.content.as_str())
    };
    session.messages.iter().map(one).collect()
}

/// What a message's record said of itself.
fn flags(message: &Message) -> String {
    let source = message.source.as_ref().expect("a source");
    source.extra.iter().map(|(key, value)| format!("{key}:{value} ")).collect()
}

fn ids(session: &ImportedSession) -> Vec<&str> {
    session.messages.iter().map(|message| message.id.as_str()).collect()
}

fn is_lines(fixture: &Fixture) -> bool {
    fixture.path.extension().is_some_and(|ending| ending == "jsonl")
}

// Of an agent that says nothing of its sub-agents' order only the main conversation has to begin alike.
#[test]
fn a_grown_file_keeps_the_ids_it_had() {
    for (fixture, import, _) in imports().filter(|(fixture, ..)| is_lines(fixture)) {
        let whole = &import.sessions[0];
        for (end, _) in fixture.bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            let Ok(import) = read(&fixture.bytes[..end], fixture.name(), Some(fixture.agent)) else {
                continue;
            };
            let Some(session) = import.sessions.iter().find(|session| session.id == whole.id) else {
                continue;
            };
            // That something was taken back, or waits, is only said as long as nothing follows; an answer that is
            // only displayed yet comes under other ids.
            let is_kept = |message: &&Message| {
                message.source.as_ref().is_none_or(|source| {
                    let mut marks = source.extra.iter().map(|(key, _)| key);
                    !source.id.starts_with("taken-back/")
                        && marks.all(|key| key != "\"isQueued\"" && key != "\"isPending\"")
                })
            };
            let kept = |session: &ImportedSession| {
                let kept = session.messages.iter().filter(is_kept);
                kept.map(|message| message.id.clone()).collect::<Vec<_>>()
            };
            assert!(kept(whole).starts_with(&kept(session)), "{:?} up to {end}", fixture.path);
        }
    }
}

// What was said, without what follows from the place in the file.
fn describe_import(import: &Import) -> Vec<String> {
    let messages = import.sessions.iter().flat_map(|session| &session.messages);
    let said = messages.map(|message| {
        let tool = message.tool.as_ref().map(|tool| &tool.call_id);
        format!("{:?} {:?} {:?} {tool:?}", message.role, message.content, message.assistant)
    });
    // A call that has no id there is named by its place.
    let unplaced = |said: String| {
        let mut parts = said.split("byte-");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |all, part| all + "byte-" + part.trim_start_matches(|c: char| c.is_ascii_digit()))
    };
    said.map(unplaced).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn no_bytes_make_it_panic(bytes: Vec<u8>, json in "[\\[\\]{}\":,a-z0-9\\\\\n ]{0,200}") {
        for agent in AgentName::ALL {
            let _ = read(&bytes, "x", Some(agent));
            let _ = read(json.as_bytes(), "x", Some(agent));
        }
    }

    #[test]
    fn no_damage_makes_it_panic(
        file: prop::sample::Index,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut: prop::sample::Index,
    ) {
        let fixture = file.get(&FIXTURES);
        let mut bytes = fixture.bytes.clone();
        if bytes.is_empty() || bytes.len() > 500_000 {
            return Ok(());
        }
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let _ = read(&bytes, "x", Some(fixture.agent));
        let _ = read(&fixture.bytes[..cut.index(fixture.bytes.len())], "x", Some(fixture.agent));
    }

    #[test]
    fn a_damaged_line_costs_no_more_than_itself(file: prop::sample::Index, line: prop::sample::Index) {
        let lines: Vec<&Fixture> = FIXTURES.iter().filter(|fixture| is_lines(fixture)).collect();
        let fixture = file.get(&lines);
        let mut lines: Vec<&[u8]> = fixture.bytes.split(|byte| *byte == b'\n').collect();
        let line = line.index(lines.len());
        let read = |lines: &[&[u8]]| {
            read(&lines.join(&b'\n'), "x", Some(fixture.agent)).map(|import| describe_import(&import)).unwrap_or_default()
        };
        let damaged = &lines[line][..lines[line].len() / 2];
        if damaged.is_empty() {
            return Ok(());
        }
        lines[line] = damaged;
        let with_damage = read(&lines);
        lines.remove(line);
        prop_assert_eq!(with_damage, read(&lines));
    }
}
