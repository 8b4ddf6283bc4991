//! Each rule of docs/FORMAT.md has a fixture, which reads as the page says: both ways, and in chunks of any size.
//!
//! `<name>.jsonl` is a log, `<name>.expected.json` what a reader finds in it: records by id and problems by code, each
//! with its byte range, and where the rule is about it the context or the metadata that follow.
#![allow(missing_docs)]
#![cfg(not(target_arch = "wasm32"))]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use common::stamp;
use leftoff::calls::context_of_log;
use leftoff::context::{Build, Context, Needs, Outcome, Request};
use leftoff::session::checkpoint::Checkpoint;
use leftoff::session::handle::Session;
use leftoff::session::message::Message;
use leftoff::session::scan::{Found, Problem, ProblemCode, Record, Scanner, scan};
use leftoff::session::{event, message};
use serde_json::Value;

const CHUNKS: [usize; 3] = [1, 7, 64 * 1024];

/// A record or a problem: its id or code, and its byte range.
type Place = (String, u64, u64);

struct Fixture {
    name: String,
    log: Vec<u8>,
    expected: Value,
}

impl Fixture {
    fn load(name: &str) -> Fixture {
        let read = |end: &str| fs::read(folder().join(format!("{name}{end}"))).expect(name);
        let expected = serde_json::from_slice(&read(".expected.json")).expect(name);
        Fixture { name: name.into(), log: read(".jsonl"), expected }
    }

    fn all() -> Vec<Fixture> {
        let files =
            fs::read_dir(folder()).expect("the fixtures").map(|file| file.expect("a file").file_name());
        let names: BTreeSet<String> = files
            .filter_map(|name| name.to_str()?.split_once('.').map(|(name, _)| name.to_owned()))
            .filter(|name| !name.starts_with("checkpoint"))
            .collect();
        names.iter().map(|name| Fixture::load(name)).collect()
    }

    fn is_events(&self) -> bool {
        self.expected["log"] == "events"
    }

    fn list(&self, key: &str) -> &[Value] {
        self.expected[key].as_array().expect("a list")
    }

    fn places(&self, list: &str, name: &str) -> Vec<Place> {
        let number = |value: &Value| value.as_u64().expect("a number of bytes");
        let place = |value: &Value| {
            (value[name].as_str().unwrap_or_default().into(), number(&value["start"]), number(&value["end"]))
        };
        let mut places: Vec<Place> = self.list(list).iter().map(place).collect();
        places.sort_by_key(|(name, start, end)| (*start, *end, name.clone()));
        places
    }

    // Each record with what was read from it, and the problems of reading; an id that is not in the file is empty.
    fn read(&self, record: &Record) -> (Option<Read>, Vec<Problem>) {
        if self.is_events() {
            let (event, problems) = event::read(record);
            let read = event.map(|event| Read {
                id: event.id,
                extra: event.extra.iter().map(owned).collect(),
                message: None,
            });
            return (read, problems);
        }
        let (message, problems) = message::read(record);
        let read = message.map(|message| Read {
            id: if record.json.contains("\"id\"") { message.id.clone() } else { String::new() },
            extra: message.extra.iter().map(owned).collect(),
            message: Some(message),
        });
        (read, problems)
    }

    // The session that this log makes, read in chunks; and the problems.
    fn session(&self, chunk: usize) -> (Session, Vec<Problem>) {
        let mut session = Session::new(None);
        let mut problems = Vec::new();
        if let Some(events) = self.expected["messages"].as_str() {
            observe(&mut session, self, chunk, &mut problems);
            observe(&mut session, &Fixture::load(events), chunk, &mut Vec::new());
        } else {
            observe(&mut session, self, chunk, &mut problems);
        }
        (session, problems)
    }

    fn messages(&self) -> Vec<u8> {
        self.expected["messages"].as_str().map_or(self.log.clone(), |name| Fixture::load(name).log)
    }
}

struct Read {
    id: String,
    extra: BTreeMap<String, String>,
    message: Option<Message>,
}

fn owned((key, raw): (&str, &str)) -> (String, String) {
    (serde_json::from_str(key).expect("a key is a string"), raw.into())
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/format")
}

fn word(code: ProblemCode) -> String {
    serde_json::to_value(code).expect("a code").as_str().expect("a word").into()
}

fn observe(session: &mut Session, fixture: &Fixture, chunk: usize, problems: &mut Vec<Problem>) {
    for (place, bytes) in fixture.log.chunks(chunk).enumerate() {
        let offset = (place * chunk) as u64;
        if fixture.is_events() {
            let found = session.events().observe(bytes, offset).expect("in order");
            problems.extend(session.take_events(found));
        } else {
            let found = session.messages().observe(bytes, offset).expect("in order");
            problems.extend(session.take_messages(found));
        }
    }
    if fixture.is_events() {
        let found = session.events().observe_tail();
        problems.extend(session.take_events(found));
    } else {
        let found = session.messages().observe_tail();
        problems.extend(session.take_messages(found));
    }
}

fn scanned(log: &[u8], chunk: usize, backward: bool) -> Vec<Found> {
    let (mut scanner, chunks): (Scanner, Vec<&[u8]>) = match backward {
        true => (Scanner::backward(log.len() as u64), log.rchunks(chunk).collect()),
        false => (Scanner::forward(0), log.chunks(chunk).collect()),
    };
    let mut all = Vec::new();
    for bytes in chunks {
        scanner.feed(bytes);
        all.extend(std::iter::from_fn(|| scanner.next()));
    }
    scanner.finish();
    all.extend(std::iter::from_fn(|| scanner.next()));
    if backward {
        all.reverse();
    }
    all
}

fn sorted(problems: Vec<Problem>) -> Vec<Place> {
    let mut places: Vec<Place> =
        problems.into_iter().map(|problem| (word(problem.code), problem.start, problem.end)).collect();
    places.sort_by_key(|(code, start, end)| (*start, *end, code.clone()));
    places
}

#[test]
fn every_fixture_reads_as_the_page_says_both_ways_and_in_any_chunks() {
    for fixture in Fixture::all() {
        // A lone line says nothing of ids; only the session knows them all.
        let of_ids = [word(ProblemCode::MissingParent), word(ProblemCode::DuplicateId)];
        let all_problems = fixture.places("problems", "code");
        let mut line_problems = all_problems.clone();
        line_problems.retain(|(code, ..)| !of_ids.contains(code));
        for chunk in CHUNKS {
            for backward in [false, true] {
                let (mut records, mut problems) = (Vec::new(), Vec::new());
                for found in scanned(&fixture.log, chunk, backward) {
                    match found {
                        Found::Problem(problem) => problems.push(problem),
                        Found::Record(record) => {
                            let (read, bad) = fixture.read(&record);
                            records.extend(read.map(|read| (read.id, record.start, record.end)));
                            problems.extend(bad);
                        }
                    }
                }
                let way = format!("{} backward {backward} in chunks of {chunk}", fixture.name);
                assert_eq!(records, fixture.places("records", "id"), "{way}");
                assert_eq!(sorted(problems), line_problems, "{way}");
            }
            assert_eq!(
                sorted(fixture.session(chunk).1),
                all_problems,
                "{} in chunks of {chunk}",
                fixture.name
            );
        }
    }
}

#[test]
fn every_record_of_a_fixture_says_what_the_page_says() {
    for fixture in Fixture::all() {
        let found = scan(&fixture.log).into_iter().filter_map(|found| match found {
            Found::Record(record) => fixture.read(&record).0,
            Found::Problem(_) => None,
        });
        let mut derived = BTreeSet::new();
        for (read, expected) in found.zip(fixture.list("records")) {
            let name = format!("{} {}", fixture.name, expected["id"]);
            if let Some(unknown) = expected["unknown"].as_object() {
                let unknown =
                    unknown.iter().map(|(key, raw)| (key.clone(), raw.as_str().expect(&name).into()));
                assert_eq!(read.extra, unknown.collect(), "{name}");
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
    let (bytes, _) = session.stage_messages(vec![message.clone()], &stamp(1), None).expect(name);
    let line = String::from_utf8(bytes).expect(name);
    assert!(
        line.starts_with("{\"v\":1,") && line.ends_with("\"}\n") && line.matches("\"crc\":").count() == 1
    );
    for part in expected["written"].as_array().into_iter().flatten() {
        let part = part.as_str().expect(name);
        assert!(line.contains(part), "{name}: expected {part}, but found {line}");
    }
    let [Found::Record(record)] = &scan(line.as_bytes())[..] else { panic!("{name}: {line}") };
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
    for fixture in Fixture::all() {
        let (session, _) = fixture.session(7);
        if let Some(window) = fixture.expected["context"]["window"].as_u64() {
            checked += 1;
            let context = built(&session, &fixture.messages(), window);
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
            let found = serde_json::to_value(session.metadata_json()).expect(&fixture.name);
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

fn built(session: &Session, log: &[u8], window: u64) -> Context {
    let request = format!(r#"{{"window":{window},"reserve":0,"encoding":"estimate-1"}}"#);
    let mut build = Build::new(Request::from_json(&request).expect("a request"), session.source());
    loop {
        match build.next(None).expect("a context") {
            Outcome::Ready(context) => return context,
            Outcome::Needs(Needs::Bytes { range }) => {
                let bytes = &log[range.start as usize..range.end as usize];
                build.bytes(range.start, bytes).expect("the bytes that were needed");
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
                    let found = scanned(&log, chunk, backward);
                    let records = found.iter().filter(|found| matches!(found, Found::Record(_))).count();
                    assert_eq!(records, 1 + usize::from(is_read), "{length} in chunks of {chunk}");
                    let problems = found.into_iter().filter_map(|found| match found {
                        Found::Problem(problem) => Some(problem),
                        Found::Record(_) => None,
                    });
                    let start = short.len() as u64 + 1;
                    let too_long = ("line_too_long".to_owned(), start, start + length as u64);
                    let expected = if is_read { vec![] } else { vec![too_long] };
                    assert_eq!(sorted(problems.collect()), expected, "{length} in chunks of {chunk}");
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
    assert!(known.matches(&line(&known)));
    assert!(!known.matches(&log[..line(&known).len()]));
    let (session, _) = Fixture::load("line-feed").session(64 * 1024);
    assert_eq!(session.checkpoint().map(Checkpoint::to_json), Some(known.to_json()));
    assert_eq!(known.to_json().into_bytes(), read("checkpoint.json"));
    for refused in ["checkpoint-changed.json", "checkpoint-version-2.json"] {
        assert!(Checkpoint::from_json(&read(refused)).is_err(), "{refused}");
    }
    // Without its checkpoint, the log alone gives the same context.
    let request = r#"{"window":1000,"encoding":"estimate-1"}"#;
    let mut opened = Session::new(Some(known));
    assert_eq!(opened.messages().observe_tail(), []);
    let from_checkpoint = built(&opened, &log, 1000).messages.len();
    let whole: Value =
        serde_json::from_str(&context_of_log(&log, request, None).expect("a context")).expect("JSON");
    assert_eq!(whole["messages"].as_array().map(Vec::len), Some(from_checkpoint));
}

#[test]
fn every_problem_and_every_rule_has_a_fixture_and_the_page_names_it() {
    let page = include_str!("../docs/FORMAT.md");
    let named = |text: &str| -> BTreeSet<String> {
        let words = text.split('`').skip(1).step_by(2);
        words.filter_map(|word| word.strip_suffix(".jsonl").map(String::from)).collect()
    };
    let own: BTreeSet<String> = ["messages", "events"].map(String::from).into();
    let on_disk: BTreeSet<String> = Fixture::all().into_iter().map(|fixture| fixture.name).collect();
    let on_page: BTreeSet<String> = named(page).difference(&own).cloned().collect();
    assert_eq!(on_page, on_disk);
    let section = |title: &str| page.split("\n## ").find(|part| part.starts_with(title)).expect(title);
    for rule in section("Lines").split("\n- ").skip(1) {
        let has_one = !named(rule).is_empty() || rule.contains("The tests make");
        assert!(has_one, "expected a fixture, but found none for: {rule}");
    }
    for code in codes().map(word) {
        let row =
            section("Problems").lines().find(|line| line.starts_with(&format!("| `{code}`"))).expect(&code);
        let shows = |name: &String| {
            Fixture::load(name).places("problems", "code").iter().any(|place| place.0 == code)
        };
        // A log with a line of 16 MiB is made by the test.
        assert!(named(row).iter().any(shows) || code == "line_too_long", "{code}");
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
        LineTooLong => Some(MissingParent),
        MissingParent => Some(NulRun),
        NulRun => Some(TooDeep),
        TooDeep => Some(TornTail),
        TornTail => None,
    };
    std::iter::successors(Some(BadValue), next)
}
