//! Each rule of docs/FORMAT.md has a fixture, which reads as the page says: both ways, and in chunks of any size.
//!
//! `<name>.jsonl` is a log, `<name>.expected.json` what a reader finds in it: records by id and problems by code, each
//! with its byte range, and where the rule is about it the context or the metadata that follow.
//! Tries: docs/FORMAT.md, src/record/, src/record/event.rs, src/record/message/, src/session/handle/,
//! src/session/metadata.rs
#![allow(missing_docs)]
#![cfg(all(feature = "interop", not(target_arch = "wasm32")))]

use crate::common;
mod fixture;

use std::collections::BTreeSet;
use std::fs;

use common::{in_chunks, stamp};
use fixture::{Fixture, folder, sort_problems, word};
use leftoff::calls::context_of_log;
use leftoff::context::{Build, Context, Outcome, Request};
use leftoff::record::message;
use leftoff::record::message::{Message, Role};
use leftoff::record::scan::{ProblemCode, ScanItem, scan};
use leftoff::session::checkpoint::Checkpoint;
use leftoff::session::documents::DocumentName;
use leftoff::session::handle::Session;
use leftoff::session::input_request::InputRequest;
use leftoff::tokens::Counting;
use serde_json::Value;

const CHUNKS: [usize; 3] = [1, 7, 64 * 1024];

#[test]
fn every_fixture_reads_as_the_page_says_both_ways_and_in_any_chunks() {
    for fixture in Fixture::load_all() {
        // A lone line says nothing of ids; only the session knows them all.
        let of_ids = [word(ProblemCode::MissingParent), word(ProblemCode::DuplicateId)];
        let all_problems = fixture.places("problems", "code");
        let mut line_problems = all_problems.clone();
        line_problems.retain(|(code, ..)| !of_ids.contains(code));
        for chunk in CHUNKS {
            for backward in [false, true] {
                let (mut records, mut problems) = (Vec::new(), Vec::new());
                for found in in_chunks(&fixture.log, chunk, backward) {
                    match found {
                        ScanItem::Problem(problem) => problems.push(problem),
                        ScanItem::Record(record) => {
                            let (read, bad) = fixture.read(&record);
                            records.extend(read.map(|read| (read.id, record.start, record.end)));
                            problems.extend(bad);
                        }
                    }
                }
                let way = format!("{} backward {backward} in chunks of {chunk}", fixture.name);
                assert_eq!(records, fixture.places("records", "id"), "{way}");
                assert_eq!(sort_problems(problems), line_problems, "{way}");
            }
            assert_eq!(
                sort_problems(fixture.session(chunk).1),
                all_problems,
                "{} in chunks of {chunk}",
                fixture.name
            );
        }
    }
}

#[test]
fn every_record_of_a_fixture_says_what_the_page_says() {
    for fixture in Fixture::load_all() {
        let found = scan(&fixture.log).into_iter().filter_map(|found| match found {
            ScanItem::Record(record) => fixture.read(&record).0,
            ScanItem::Problem(_) => None,
        });
        let mut derived = BTreeSet::new();
        for (read, expected) in found.zip(fixture.list("records")) {
            let name = format!("{} {}", fixture.name, expected["id"]);
            if let Some(unknown) = expected["unknown"].as_object() {
                let unknown =
                    unknown.iter().map(|(key, raw)| (key.clone(), raw.as_str().expect(&name).into()));
                assert_eq!(read.extra, unknown.collect(), "{name}");
            }
            if let (Some(execution), Some(whole)) = (&read.execution, expected.get("execution")) {
                let json = serde_json::to_string(execution).expect(&name);
                assert_eq!(serde_json::from_str::<Value>(&json).expect(&name), *whole, "{name}");
            }
            let Some(message) = read.message else { continue };
            if expected["id"].is_null() {
                assert!(message.id.len() == 36 && &message.id[14..15] == "8", "{name}: {}", message.id);
                assert!(derived.insert(message.id.clone()), "{name} has the id of another line");
            }
            says(&message, expected, &name);
            is_written_as_it_was(message, expected, &name);
        }
    }
}

fn says(message: &Message, expected: &Value, name: &str) {
    if let Some(content) = expected["content"].as_str() {
        assert_eq!(message.content.as_str(), content, "{name}");
    }
    if expected.get("role").is_some_and(Value::is_null) {
        assert_eq!(message.role, None, "{name}");
    }
    if let Some(calls) = expected["calls"].as_array() {
        let ids: Vec<&str> = message.tool_calls().iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, calls.iter().filter_map(Value::as_str).collect::<Vec<_>>(), "{name}");
    }
    if let Some(whole) = expected.get("message") {
        let json = serde_json::to_string(message).expect(name);
        assert_eq!(serde_json::from_str::<Value>(&json).expect(name), *whole, "{name}");
    }
}

// A message without a role is shown and never written: a reader would not know it for one.
fn is_written_as_it_was(message: Message, expected: &Value, name: &str) {
    if message.role.is_none() {
        return;
    }
    let mut session = Session::new(None);
    let staged = session
        .stage_messages(vec![message.clone()], &stamp(1), Counting::with_vocabulary(None))
        .expect(name);
    let line = String::from_utf8(staged.bytes).expect(name);
    assert!(
        line.starts_with("{\"v\":1,") && line.ends_with("\"}\n") && line.matches("\"crc\":").count() == 1
    );
    for part in expected["written"].as_array().into_iter().flatten() {
        let part = part.as_str().expect(name);
        assert!(line.contains(part), "{name}: expected {part}, but found {line}");
    }
    let [ScanItem::Record(record)] = &scan(line.as_bytes())[..] else { panic!("{name}: {line}") };
    let (again, problems) = message::read(record);
    let again = again.expect(name);
    assert_eq!(problems, [], "{name}");
    // These the writer knows better than a draft.
    let draft = Message {
        seq: again.seq,
        timestamp: again.timestamp.clone(),
        tokens: again.tokens.clone(),
        ..message
    };
    assert_eq!(again, draft, "{name}");
}

#[test]
fn a_session_is_what_the_rules_for_paths_revisions_and_events_make_of_its_logs() {
    let mut checked = 0;
    for fixture in Fixture::load_all() {
        let (session, _) = fixture.session(7);
        if let Some(window) = fixture.expected["context"]["window"].as_u64() {
            checked += 1;
            let context = build_context(&session, &fixture.messages(), window);
            let ids: Vec<&str> = context.messages.iter().map(|message| message.id.as_str()).collect();
            let contents: Vec<&str> =
                context.messages.iter().map(|message| message.content.as_str()).collect();
            let texts = |value: &Value| -> Option<Vec<String>> {
                Some(value.as_array()?.iter().filter_map(Value::as_str).map(String::from).collect())
            };
            assert_eq!(
                Some(ids),
                texts(&fixture.expected["context"]["ids"]).as_deref().map(strs),
                "{}",
                fixture.name
            );
            if let Some(expected) = texts(&fixture.expected["context"]["contents"]) {
                assert_eq!(contents, strs(&expected), "{}", fixture.name);
            }
            assert!(context.included_message_count <= context.original_message_count, "{}", fixture.name);
        }
        if let Some(expected) = fixture.expected.get("metadata") {
            checked += 1;
            let found: Value =
                serde_json::from_str(&session.document(DocumentName::MetadataJson)).expect(&fixture.name);
            has(&found, expected, &fixture.name);
        }
    }
    assert!(checked > 20);
}

fn strs(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

// Whatever the expectation names stands there; null stands for absence.
fn has(found: &Value, expected: &Value, name: &str) {
    match expected.as_object() {
        Some(fields) => {
            fields.iter().for_each(|(key, field)| has(&found[key], field, &format!("{name} {key}")))
        }
        None => assert_eq!(found, expected, "{name}"),
    }
}

fn build_context(session: &Session, log: &[u8], window: u64) -> Context {
    let request = format!(r#"{{"window":{window},"reserve":0,"encoding":"estimate-1"}}"#);
    let mut build = Build::new(Request::from_json(&request).expect("a request"), session.source());
    loop {
        match build.next(None).expect("a context") {
            Outcome::Ready(context) => return context,
            Outcome::Needs(InputRequest::Bytes { range }) => {
                let bytes = &log[range.start as usize..range.end as usize];
                build.take_bytes(range.start, bytes).expect("the bytes that were needed");
            }
            Outcome::Needs(needs) => panic!("{needs:?}"),
        }
    }
}

#[test]
fn a_line_of_16_mib_is_read_and_a_longer_one_passed_by_in_any_chunks() {
    const LIMIT: usize = 16 << 20;
    let line = |length: usize| {
        let frame = r#"{"v":1,"id":"long","role":"user","content":""}"#;
        frame.replace("\"\"}", &format!("\"{}\"}}", "x".repeat(length - frame.len()))).into_bytes()
    };
    let short = br#"{"v":1,"id":"short","role":"user","content":"x"}"#;
    for (length, is_read) in [(LIMIT, true), (LIMIT + 1, false)] {
        for end in [&b"\n"[..], b""] {
            let log = [short, &b"\n"[..], &line(length), end].concat();
            for chunk in [64 * 1024, LIMIT, log.len()] {
                for backward in [false, true] {
                    let found = in_chunks(&log, chunk, backward);
                    let records = found.iter().filter(|found| matches!(found, ScanItem::Record(_))).count();
                    assert_eq!(records, 1 + usize::from(is_read), "{length} in chunks of {chunk}");
                    let problems = found.into_iter().filter_map(|found| match found {
                        ScanItem::Problem(problem) => Some(problem),
                        ScanItem::Record(_) => None,
                    });
                    let start = short.len() as u64 + 1;
                    let too_long = ("line_too_long".to_owned(), start, start + length as u64);
                    let expected = if is_read { vec![] } else { vec![too_long] };
                    assert_eq!(sort_problems(problems.collect()), expected, "{length} in chunks of {chunk}");
                }
            }
        }
    }
}

#[test]
fn a_checkpoint_is_believed_by_its_checksum_its_version_and_the_line_it_ends_with() {
    let read = |name: &str| fs::read(folder().join(name)).expect(name);
    let log = read("line-feed.jsonl");
    let known = Checkpoint::from_json(&read("checkpoint.json")).expect("a checkpoint");
    let line =
        |known: &Checkpoint| log[known.last_line.start as usize..known.last_line.end as usize].to_vec();
    assert!(known.matches_line(&line(&known)));
    assert!(!known.matches_line(&log[..line(&known).len()]));
    let (session, _) = Fixture::load("line-feed").session(64 * 1024);
    assert_eq!(session.checkpoint().map(Checkpoint::to_json), Some(known.to_json()));
    assert_eq!(known.to_json().into_bytes(), read("checkpoint.json"));
    for refused in ["checkpoint-changed.json", "checkpoint-version-1.json"] {
        assert!(Checkpoint::from_json(&read(refused)).is_err(), "{refused}");
    }
    // Without its checkpoint, the log alone gives the same context.
    let request = r#"{"window":1000,"encoding":"estimate-1"}"#;
    let mut opened = Session::new(Some(known));
    assert_eq!(opened.messages().observe_tail(), []);
    let from_checkpoint = build_context(&opened, &log, 1000).messages.len();
    let whole: Value =
        serde_json::from_str(&context_of_log(&log, request, None).expect("a context")).expect("JSON");
    assert_eq!(whole["messages"].as_array().map(Vec::len), Some(from_checkpoint));
}

// What a checkpoint cannot know are lines before it that come again without a higher revision.
#[test]
fn a_session_opened_from_a_checkpoint_is_the_one_that_read_all_or_asks_to() {
    let mut checked = 0;
    for fixture in
        Fixture::load_all().into_iter().filter(|fixture| !fixture.is_events() && !fixture.is_tools())
    {
        let (whole, _) = fixture.session(64 * 1024);
        let comes_again = fixture.name.contains("duplicate") || fixture.name.contains("repeated-line");
        let (Some(known), false) = (whole.checkpoint(), comes_again) else { continue };
        for end in fixture.log.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1) {
            let mut first = Session::new(None);
            let found = first.messages().observe(&fixture.log[..end], 0).expect("in order");
            first.take_messages(found);
            let kept = first.checkpoint().expect("no branch").to_json();
            let mut opened =
                Session::new(Some(Checkpoint::from_json(kept.as_bytes()).expect("a checkpoint")));
            // A batch that is not whole yet is not covered.
            let covered = opened.log_state().bytes;
            let rest = &fixture.log[covered as usize..];
            let mut found = opened.messages().observe(rest, covered).expect("in order");
            found.extend(opened.messages().observe_tail());
            opened.take_messages(found);
            if opened.needs_whole_log() {
                assert!(opened.checkpoint().is_none(), "{} at {end}", fixture.name);
                continue;
            }
            // A parent before the checkpoint cannot be missed, so the problems may be fewer.
            let what_it_says = |known: &Checkpoint| {
                let mut document: Value = serde_json::from_str(&known.to_json()).expect("a document");
                for name in ["problems", "crc"] {
                    document.as_object_mut().expect("an object").remove(name);
                }
                document
            };
            assert_eq!(what_it_says(opened.log_state()), what_it_says(known), "{} at {end}", fixture.name);
            checked += 1;
        }
    }
    assert!(checked > 50);
}

#[test]
fn every_problem_and_every_rule_has_a_fixture_and_the_page_names_it() {
    let page = include_str!("../../docs/FORMAT.md");
    let named = |text: &str| -> BTreeSet<String> {
        let words = text.split('`').skip(1).step_by(2);
        words.filter_map(|word| word.strip_suffix(".jsonl").map(String::from)).collect()
    };
    let own: BTreeSet<String> =
        ["messages", "events", "tools", "<home>/sessions/index"].map(String::from).into();
    let on_disk: BTreeSet<String> = Fixture::load_all().into_iter().map(|fixture| fixture.name).collect();
    let on_page: BTreeSet<String> = named(page).difference(&own).cloned().collect();
    assert_eq!(on_page, on_disk);
    let section = |title: &str| page.split("\n## ").find(|part| part.starts_with(title)).expect(title);
    for rule in section("Lines").split("\n- ").skip(1) {
        let has_one = !named(rule).is_empty() || rule.contains("made by the tests");
        assert!(has_one, "expected a fixture, but found none for: {rule}");
    }
    for code in codes().map(word) {
        let row =
            section("Problems").lines().find(|line| line.starts_with(&format!("| `{code}`"))).expect(&code);
        let shows = |name: &String| {
            Fixture::load(name).places("problems", "code").iter().any(|place| place.0 == code)
        };
        // A log with a line of 16 MiB is made by the test; a blob is missing beside a log, in tests/reader.rs.
        let is_made = ["line_too_long", "missing_blob"].contains(&code.as_str());
        assert!(named(row).iter().any(shows) || is_made, "{code}");
    }
    for event in section("Events").lines().filter(|line| line.starts_with("| `")) {
        assert!(!named(event).is_empty(), "expected a fixture, but found none for: {event}");
    }
}

// Every code there is; a new one does not compile until it is in the list.
fn codes() -> impl Iterator<Item = ProblemCode> {
    use ProblemCode::*;
    let next = |code: &ProblemCode| match code {
        BadValue => Some(Bom),
        Bom => Some(Checksum),
        Checksum => Some(ConflictMarker),
        ConflictMarker => Some(Damaged),
        Damaged => Some(DuplicateId),
        DuplicateId => Some(Foreign),
        Foreign => Some(GluedLines),
        GluedLines => Some(InvalidUtf8),
        InvalidUtf8 => Some(LineTooLong),
        LineTooLong => Some(MissingBlob),
        MissingBlob => Some(MissingParent),
        MissingParent => Some(NulRun),
        NulRun => Some(TooDeep),
        TooDeep => Some(TornTail),
        TornTail => None,
    };
    std::iter::successors(Some(BadValue), next)
}

// A file written by hand may end without a line feed; from a checkpoint the next batch must not be glued to it.
#[test]
fn what_follows_an_open_last_line_begins_a_line_of_its_own_from_a_checkpoint_too() {
    let mut log = b"{\"role\":\"user\",\"content\":\"by hand\"}".to_vec();
    let mut first = Session::new(None);
    let mut found = first.messages().observe(&log, 0).expect("in order");
    found.extend(first.messages().observe_tail());
    assert_eq!(first.take_messages(found), []);
    let kept = first.checkpoint().expect("no branch").to_json();
    let mut opened = Session::new(Some(Checkpoint::from_json(kept.as_bytes()).expect("a checkpoint")));
    let draft = Message { role: Some(Role::User), content: "next".into(), ..Message::default() };
    log.extend(opened.stage_messages(vec![draft], &stamp(1), Counting::Off).expect("one draft").bytes);
    let contents = |found: &ScanItem| match found {
        ScanItem::Record(record) => message::read(record).0.map(|message| message.content),
        ScanItem::Problem(problem) => panic!("{problem:?}"),
    };
    let found: Vec<_> = scan(&log).iter().filter_map(contents).collect();
    assert_eq!(found, ["by hand".into(), "next".into()]);
}
