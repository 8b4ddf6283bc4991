//! A fixture: a log, and what a reader finds in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use leftoff::record::message::Message;
use leftoff::record::scan::{Problem, ProblemCode, Record};
use leftoff::record::tool_execution::ToolExecution;
use leftoff::record::{event, message, tool_execution};
use leftoff::session::handle::Session;
use serde_json::Value;

/// A record or a problem: its id or code, and its byte range.
pub type Place = (String, u64, u64);

pub struct Fixture {
    pub name: String,
    pub log: Vec<u8>,
    pub expected: Value,
}

impl Fixture {
    pub fn load(name: &str) -> Fixture {
        let read = |end: &str| fs::read(folder().join(format!("{name}{end}"))).expect(name);
        let expected = serde_json::from_slice(&read(".expected.json")).expect(name);
        Fixture { name: name.into(), log: read(".jsonl"), expected }
    }

    pub fn load_all() -> Vec<Fixture> {
        let files =
            fs::read_dir(folder()).expect("the fixtures").map(|file| file.expect("a file").file_name());
        let names: BTreeSet<String> = files
            .filter_map(|name| name.to_str()?.split_once('.').map(|(name, _)| name.to_owned()))
            .filter(|name| !name.starts_with("checkpoint"))
            .collect();
        names.iter().map(|name| Fixture::load(name)).collect()
    }

    pub fn is_events(&self) -> bool {
        self.expected["log"] == "events"
    }

    pub fn is_tools(&self) -> bool {
        self.expected["log"] == "tools"
    }

    pub fn list(&self, key: &str) -> &[Value] {
        self.expected[key].as_array().expect("a list")
    }

    pub fn places(&self, list: &str, name: &str) -> Vec<Place> {
        let number = |value: &Value| value.as_u64().expect("a number of bytes");
        let place = |value: &Value| {
            (value[name].as_str().unwrap_or_default().into(), number(&value["start"]), number(&value["end"]))
        };
        let mut places: Vec<Place> = self.list(list).iter().map(place).collect();
        places.sort_by_key(|(name, start, end)| (*start, *end, name.clone()));
        places
    }

    // Each record with what was read from it, and the problems of reading; an id that is not in the file is empty.
    pub fn read(&self, record: &Record) -> (Option<Read>, Vec<Problem>) {
        if self.is_events() {
            let (event, problems) = event::read(record);
            let read = event.map(|event| Read {
                id: event.id,
                extra: event.extra.iter().map(parse_pair).collect(),
                message: None,
                execution: None,
            });
            return (read, problems);
        }
        if self.is_tools() {
            let (execution, problems) = tool_execution::read(record);
            let read = execution.map(|execution| Read {
                id: execution.id.clone(),
                extra: execution.extra.iter().map(parse_pair).collect(),
                message: None,
                execution: Some(execution),
            });
            return (read, problems);
        }
        let (message, problems) = message::read(record);
        let read = message.map(|message| Read {
            id: if record.json.contains("\"id\"") { message.id.clone() } else { String::new() },
            extra: message.extra.iter().map(parse_pair).collect(),
            message: Some(message),
            execution: None,
        });
        (read, problems)
    }

    // The session that this log makes, read in chunks; and the problems.
    pub fn session(&self, chunk: usize) -> (Session, Vec<Problem>) {
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

    pub fn messages(&self) -> Vec<u8> {
        self.expected["messages"].as_str().map_or(self.log.clone(), |name| Fixture::load(name).log)
    }
}

pub struct Read {
    pub id: String,
    pub extra: BTreeMap<String, String>,
    pub message: Option<Message>,
    pub execution: Option<ToolExecution>,
}

pub fn parse_pair((key, raw): (&str, &str)) -> (String, String) {
    (serde_json::from_str(key).expect("a key is a string"), raw.into())
}

pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/format")
}

pub fn word(code: ProblemCode) -> String {
    serde_json::to_value(code).expect("a code").as_str().expect("a word").into()
}

pub fn observe(session: &mut Session, fixture: &Fixture, chunk: usize, problems: &mut Vec<Problem>) {
    for (place, bytes) in fixture.log.chunks(chunk).enumerate() {
        let offset = (place * chunk) as u64;
        if fixture.is_events() {
            let found = session.events().observe(bytes, offset).expect("in order");
            problems.extend(session.take_events(found));
        } else if fixture.is_tools() {
            let found = session.tools().observe(bytes, offset).expect("in order");
            problems.extend(session.take_tools(found));
        } else {
            let found = session.messages().observe(bytes, offset).expect("in order");
            problems.extend(session.take_messages(found));
        }
    }
    if fixture.is_events() {
        let found = session.events().observe_tail();
        problems.extend(session.take_events(found));
    } else if fixture.is_tools() {
        let found = session.tools().observe_tail();
        problems.extend(session.take_tools(found));
    } else {
        let found = session.messages().observe_tail();
        problems.extend(session.take_messages(found));
    }
}

pub fn sort_problems(problems: Vec<Problem>) -> Vec<Place> {
    let mut places: Vec<Place> =
        problems.into_iter().map(|problem| (word(problem.code), problem.start, problem.end)).collect();
    places.sort_by_key(|(code, start, end)| (*start, *end, code.clone()));
    places
}
