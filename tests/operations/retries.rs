//! Appends of machines that try again, by several writers at once whose steps interleave by chance: they fail, are cut short,
//! die and come back. Whatever happens, an operation counts once, whole, behind the message that it expected; what was
//! acknowledged is there; and every reader says the same.
//! Tries: src/operation/append_once.rs, src/session/batch.rs

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use leftoff::operation::{Failure, HostRequest, HostResponse, Operation, SessionFiles, Step, Trouble};
use leftoff::session::batch::AppendConditions;
use serde_json::{Value, json};

use super::host::Host;
use super::store::{home_path, run_to_end, store};
use super::{FOLDER, begun_by, leaving, live};
use crate::chance::{Chance, scale_count, seed};
use leftoff::layout::Placement;
use leftoff::operation::{AppendRequest, CountingMode, Drafts};

const LOG: &str = "sessions/projects/p/session-019aaaca-0000-7000-8000-000000000001/messages.jsonl";

/// Something that a writer wants appended.
#[derive(Clone, Debug, PartialEq)]
struct Task {
    operation: Option<String>,
    expected: Option<Option<String>>,
    texts: Vec<String>,
}

/// Messages that were acknowledged: ids and times.
type AcknowledgedMessages = Vec<(String, String)>;

type Running = (Task, Operation<'static, Vec<u8>>, Step<Vec<u8>>);

struct Writer {
    live: Rc<SessionFiles>,
    running: Option<Running>,
    // What nobody answered for: it is tried again.
    retry: Option<Task>,
}

struct World {
    host: Host,
    chance: Chance,
    writers: Vec<Writer>,
    acknowledged_tasks: Vec<(Task, AcknowledgedMessages)>,
    refused_tasks: Vec<(Task, String)>,
    tasks: usize,
    // Operations of a name, for several writers to have the same.
    names: Vec<Task>,
}

fn appending(texts: &[String]) -> AppendRequest {
    let drafts: Vec<Value> = texts.iter().map(|text| json!({ "role": "user", "content": text })).collect();
    let drafts = Drafts::Json(Value::from(drafts).to_string(), None);
    AppendRequest { drafts, is_durable: true, revives: true, counts: CountingMode::Estimate }
}

fn ids_in(pages: &[String]) -> Vec<String> {
    let page = |page: &String| serde_json::from_str::<Vec<Value>>(page).expect("a page");
    pages.iter().flat_map(page).map(|message| text_of(&message["id"])).collect()
}

fn records(lines: &str) -> Vec<Value> {
    lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().into()
}

impl World {
    fn new(seed: u64, writers: usize) -> World {
        let mut host = Host::default();
        begun_by(&mut host);
        let writer = || Writer { live: live(), running: None, retry: None };
        World {
            host,
            chance: Chance::new(seed),
            writers: (0..writers).map(|_| writer()).collect(),
            acknowledged_tasks: Vec::new(),
            refused_tasks: Vec::new(),
            tasks: 0,
            names: Vec::new(),
        }
    }

    fn log(&self) -> String {
        let bytes = self.host.files.get(LOG).map(|(bytes, _)| bytes.clone()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn task(&mut self) -> Task {
        // Somebody else has it under way already, or had it.
        if !self.names.is_empty() && self.chance.one_in(3) {
            let mut task = self.names[self.chance.number_below(self.names.len())].clone();
            if self.chance.one_in(6) {
                task.texts.push("and more".into());
            }
            return task;
        }
        self.tasks += 1;
        let (number, lines) = (self.tasks, 1 + self.chance.number_below(3));
        let texts = (0..lines).map(|line| format!("task {number}, line {line}")).collect();
        let counting = counting(&self.log());
        let last = counting.last().map(|record| text_of(&record["id"]));
        let expected = match self.chance.number_below(4) {
            0 => Some(last),
            1 if self.chance.one_in(3) => Some(Some("nobody".into())),
            _ => None,
        };
        let operation = (!self.chance.one_in(4)).then(|| format!("operation {number}"));
        let task = Task { operation, expected, texts };
        if task.operation.is_some() {
            self.names.push(task.clone());
        }
        task
    }

    /// One step of one writer.
    fn step(&mut self) {
        let at = self.chance.number_below(self.writers.len());
        if self.writers[at].running.is_none() {
            let task = self.writers[at].retry.take().unwrap_or_else(|| self.task());
            let live = &self.writers[at].live;
            let mut running = match (&task.operation, &task.expected) {
                (None, None) => live.append_messages(appending(&task.texts)),
                (operation, expected) => {
                    let once = AppendConditions { operation: operation.clone(), expected: expected.clone() };
                    live.append_once(appending(&task.texts), once)
                }
            };
            let step = running.begin(self.host.stamp());
            self.writers[at].running = Some((task, running, step));
            return self.finish_task(at);
        }
        // Killed, or given up.
        if self.chance.one_in(40) {
            return self.die(at);
        }
        let Some((task, mut running, step)) = self.writers[at].running.take() else { return };
        let Step::Requests(needs) = step else { return };
        let mut answers = Vec::new();
        for need in needs {
            match self.answer(need) {
                Some(answer) => answers.push(answer),
                None => {
                    self.writers[at].running = Some((task, running, Step::Requests(Vec::new())));
                    return self.die(at);
                }
            }
        }
        let step = running.next(self.host.now_ms(), answers);
        self.writers[at].running = Some((task, running, step));
        self.finish_task(at);
    }

    // Nothing where its process was killed meanwhile.
    fn answer(&mut self, need: HostRequest) -> Option<HostResponse> {
        let HostRequest::Append { file, bytes, .. } = &need else {
            return Some(self.host.answer(need, false));
        };
        if file.path != LOG || bytes.is_empty() || !self.chance.one_in(4) {
            return Some(self.host.answer(need, false));
        }
        let written = self.chance.number_below(bytes.len() + 1);
        if written > 0 {
            self.host.append(LOG, &bytes[..written]);
        }
        let failed = |written| Failure {
            code: "storage_failed".into(),
            message: "out of order".into(),
            written,
            ..Failure::default()
        };
        match self.chance.number_below(3) {
            0 => None,
            1 => Some(HostResponse::Failed(failed(Some(written as u64)))),
            _ => Some(HostResponse::Failed(failed(None))),
        }
    }

    fn finish_task(&mut self, at: usize) {
        let Some((task, running, step)) = self.writers[at].running.take() else { return };
        match step {
            Step::Done(Ok(lines)) => {
                let lines = String::from_utf8(lines).expect("UTF-8");
                let told: AcknowledgedMessages = records(&lines)
                    .iter()
                    .map(|record| (text_of(&record["id"]), text_of(&record["timestamp"])))
                    .collect();
                assert_eq!(told.len(), task.texts.len(), "{task:?}: {lines}");
                // It may be made again although it succeeded, by whoever did not hear of that.
                if task.operation.is_some() && self.chance.one_in(3) {
                    self.writers[at].retry = Some(task.clone());
                }
                self.acknowledged_tasks.push((task, told));
            }
            Step::Done(Err(trouble)) => self.fail_task(at, task, &trouble),
            step => self.writers[at].running = Some((task, running, step)),
        }
    }

    fn fail_task(&mut self, at: usize, task: Task, trouble: &Trouble) {
        match trouble.code() {
            "conflict" => {
                let counting = counting(&self.log());
                let last = counting.last().map(|record| text_of(&record["id"]));
                assert_ne!(task.expected.clone().flatten(), last, "{trouble}");
                self.refused_tasks.push((task, "conflict".into()));
            }
            "operation_reused" => {
                let name = task.operation.clone();
                let is_there = counting(&self.log())
                    .iter()
                    .any(|record| Some(text_of(&record["batch"]["operation"])) == name);
                assert!(is_there, "{trouble}");
                self.refused_tasks.push((task, "operation_reused".into()));
            }
            "storage_failed" => {
                if task.operation.is_some() {
                    self.writers[at].retry = Some(task);
                }
            }
            code => panic!("{code}: {trouble}"),
        }
    }

    fn die(&mut self, at: usize) {
        let Some((task, running, _)) = self.writers[at].running.take() else { return };
        drop(running);
        if self.chance.one_in(2) {
            self.writers[at].live = live();
        }
        if task.operation.is_some() {
            self.writers[at].retry = Some(task);
        }
    }

    fn drive(
        &mut self,
        live: &Rc<SessionFiles>,
        begins: impl FnOnce(&Rc<SessionFiles>) -> Operation<'static, String>,
    ) -> String {
        self.host.drive_on(&mut begins(live)).unwrap_or_else(|trouble| panic!("{trouble}"))
    }

    /// The ids that a reader gives, oldest first.
    fn seen_by(&mut self, live: &Rc<SessionFiles>) -> Vec<String> {
        self.drive(live, |live| live.refresh().map(|()| String::new()));
        let asked = r#"{"request":{"window":100000000,"reserve":0,"encoding":"estimate-1"}}"#;
        let context = self.drive(live, |live| live.context(asked.into(), CountingMode::Estimate));
        let context: Value = serde_json::from_str(&context).expect("JSON");
        let report = context["report"]["messages"].as_array().expect("what became of each").clone();
        let ids: Vec<String> = report.iter().map(|message| text_of(&message["id"])).collect();
        assert_eq!(live.session().borrow().log_state().messages, ids.len() as u64, "{}", self.log());
        let reversed: Vec<String> = ids.iter().rev().cloned().collect();
        assert_eq!(self.read_pages(live, |live| live.messages("{}".into())), ids);
        assert_eq!(self.read_pages(live, |live| live.messages(r#"{"newestFirst":true}"#.into())), reversed);
        assert_eq!(self.newest(), reversed);
        ids
    }

    /// Without opening it, newest first.
    fn newest(&mut self) -> Vec<String> {
        let newest = |_: &_| store().newest_messages(home_path(FOLDER), Placement::Home, &leaving());
        self.read_pages(&live(), newest)
    }

    fn read_pages(
        &mut self,
        live: &Rc<SessionFiles>,
        begins: impl FnOnce(&Rc<SessionFiles>) -> Operation<'static, ()>,
    ) -> Vec<String> {
        self.host.pages.clear();
        self.host.drive_on(&mut begins(live)).unwrap_or_else(|trouble| panic!("{trouble}"));
        ids_in(&self.host.pages)
    }
}

/// Reads what is appended, as it comes.
struct Follower {
    running: Operation<'static, ()>,
    step: Step<()>,
    pages: Vec<String>,
}

impl Follower {
    fn begin(host: &mut Host) -> Follower {
        let mut running = live().follow();
        let step = running.begin(host.stamp());
        let mut follower = Follower { running, step, pages: Vec::new() };
        follower.look(host);
        follower
    }

    // Until it waits.
    fn look(&mut self, host: &mut Host) {
        let step = std::mem::replace(&mut self.step, Step::Requests(Vec::new()));
        self.step = self.advance(host, step);
        while !matches!(&self.step, Step::Requests(needs) if matches!(needs[..], [HostRequest::Wait { ms: 50 }]))
        {
            let step = std::mem::replace(&mut self.step, Step::Requests(Vec::new()));
            self.step = self.advance(host, step);
        }
    }

    fn advance(&mut self, host: &mut Host, step: Step<()>) -> Step<()> {
        let needs = match step {
            Step::Requests(needs) => needs,
            Step::Done(done) => panic!("expected it to follow, but found {done:?}"),
        };
        host.pages.clear();
        let answers = needs.into_iter().map(|need| host.answer(need, false)).collect();
        self.pages.append(&mut host.pages);
        self.running.next(host.now_ms(), answers)
    }
}

/// The lines of a log that count, by what FORMAT says, read by nobody's code but this.
fn counting(log: &str) -> Vec<Value> {
    let (mut all, mut done, mut met) = (Vec::<Value>::new(), BTreeSet::new(), BTreeSet::new());
    let mut open: Vec<Value> = Vec::new();
    for record in log.lines().flat_map(records_in) {
        let Some(batch) = record.get("batch").cloned() else {
            open.clear();
            // A line that was appended again is one.
            if met.insert(text_of(&record["id"])) {
                all.push(record);
            }
            continue;
        };
        let of = |batch: &Value| {
            let mut of = batch.clone();
            of["line"] = Value::Null;
            of
        };
        let goes_on = open.last().is_some_and(|last: &Value| {
            of(&last["batch"]) == of(&batch) && last["batch"]["line"].as_u64() < batch["line"].as_u64()
        });
        if !goes_on {
            open.clear();
        }
        open.push(record);
        if batch["line"].as_u64().map(|line| line + 1) != batch["lines"].as_u64() {
            continue;
        }
        let whole = std::mem::take(&mut open);
        let last = all.last().map_or(Value::Null, |record| record["id"].clone());
        let is_expected = batch.get("expected").is_none_or(|expected| *expected == last);
        if is_expected && done.insert(text_of(&batch["operation"])) {
            all.extend(whole);
        }
    }
    all
}

// What a torn line leaves before a record on the same line is passed by.
fn records_in(line: &str) -> Vec<Value> {
    let starts = line.match_indices("{\"v\":1,").map(|(at, _)| at);
    // A whole one may have lost its line feed, and another stands behind it.
    let first = |at| serde_json::Deserializer::from_str(&line[at..]).into_iter().next();
    starts.filter_map(|at| first(at)?.ok()).collect()
}

fn check(seed: u64, writers: usize) -> (usize, usize) {
    let mut world = World::new(seed, writers);
    let mut follower = Follower::begin(&mut world.host);
    for place in 0..400 {
        world.step();
        if place % 7 == 0 {
            follower.look(&mut world.host);
        }
        // Somebody opens it from a checkpoint from then on.
        if place == 200 {
            let keeper = live();
            world.drive(&keeper, |live| live.flush(true).map(|()| String::new()));
        }
    }
    // Nobody fails any more.
    for at in 0..writers {
        while let Some((task, mut running, step)) = world.writers[at].running.take() {
            let Step::Requests(needs) = step else { break };
            let answers = needs.into_iter().map(|need| world.host.answer(need, false)).collect();
            let step = running.next(world.host.now_ms(), answers);
            world.writers[at].running = Some((task, running, step));
            world.finish_task(at);
        }
    }
    let log = world.log();
    let expected = counting(&log);
    let ids: Vec<String> = expected.iter().map(|record| text_of(&record["id"])).collect();
    every_reader_says(&mut world, &ids);
    follower.look(&mut world.host);
    follower.look(&mut world.host);
    assert_eq!(ids_in(&follower.pages), ids, "who followed: {log}");
    acknowledged_once(&world, &expected);
    (world.acknowledged_tasks.len(), world.refused_tasks.len())
}

fn every_reader_says(world: &mut World, ids: &[String]) {
    let fresh = live();
    assert_eq!(world.seen_by(&fresh), ids, "opened from its checkpoint: {}", world.log());
    for at in 0..world.writers.len() {
        let writer = world.writers[at].live.clone();
        assert_eq!(world.seen_by(&writer), ids, "a writer: {}", world.log());
    }
    let mut newest = world.newest();
    newest.reverse();
    assert_eq!(newest, ids, "newest first, without opening it: {}", world.log());
    let leaving = leaving();
    let id = fresh.id();
    let search = |_: &_| store().search_in(id, "\"task\" line".into(), "{}".into(), &leaving);
    let found = world.read_pages(&live(), search);
    assert!(!found.is_empty() && found.iter().all(|id| ids.contains(id)), "by words: {}", world.log());
    world.host.files.retain(|path, _| !path.starts_with("cache"));
    let whole = live();
    assert_eq!(world.seen_by(&whole), ids, "read whole: {}", world.log());
    world.drive(&whole, |live| live.flush(true).map(|()| String::new()));
    let doctor = store().doctor(json!({ "id": whole.id() }).to_string());
    let told = run_to_end(&mut world.host, doctor);
    assert!(!told.contains("bad_checkpoint"), "{told}");
    assert_eq!(world.seen_by(&live()), ids, "opened from another checkpoint");
}

fn acknowledged_once(world: &World, counting: &[Value]) {
    let places: BTreeMap<String, usize> =
        counting.iter().enumerate().map(|(place, record)| (text_of(&record["id"]), place)).collect();
    for (task, told) in &world.acknowledged_tasks {
        let found: Vec<AcknowledgedMessages> = counting
            .windows(task.texts.len())
            .filter(|some| some.iter().map(|one| text_of(&one["content"])).eq(task.texts.iter().cloned()))
            .map(|some| some.iter().map(|one| (text_of(&one["id"]), text_of(&one["timestamp"]))).collect())
            .collect();
        if task.operation.is_some() {
            // The same records each time, in one piece, once.
            assert_eq!(found, std::slice::from_ref(told), "{task:?}");
        } else {
            // Others may have come between a first try that was cut short and the second.
            assert!(told.iter().all(|(id, _)| places.contains_key(id)), "{task:?}");
        }
        if let Some(expected) = &task.expected {
            let before = places[&told[0].0].checked_sub(1).map(|place| text_of(&counting[place]["id"]));
            assert_eq!(before, *expected, "{task:?}");
        }
    }
    // What was refused left nothing behind, unless somebody else was told that it is there.
    for (task, _) in &world.refused_tasks {
        let is_told = world
            .acknowledged_tasks
            .iter()
            .any(|(told, _)| told.operation == task.operation && told.operation.is_some());
        let is_under_way = world
            .writers
            .iter()
            .any(|writer| writer.retry.as_ref().is_some_and(|again| again.operation == task.operation));
        let marks = |record: &&Value| {
            task.operation.as_ref().is_some_and(|name| text_of(&record["batch"]["operation"]) == *name)
        };
        let found = counting.iter().filter(marks).count();
        assert!(is_told || is_under_way || found <= task.texts.len() + 1, "{task:?}");
    }
}

#[test]
fn whatever_happens_an_operation_counts_once_and_every_reader_says_the_same() {
    let (mut told, mut refused) = (0, 0);
    for round in 0..scale_count(4000, 60) {
        let (is_told, is_refused) = check(seed() * 100_000 + round as u64, 2 + round % 4);
        told += is_told;
        refused += is_refused;
    }
    assert!(told > 500 && refused > 50, "{told} told, {refused} refused");
}
