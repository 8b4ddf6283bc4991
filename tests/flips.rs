//! Every bit of a 64 KiB log, flipped: at most one record is affected, its neighbors are the same bytes, the flip is
//! reported where it is, and in the context only that record and what is paired with it are missing.
//! Tries: src/record/scan.rs, src/record/line.rs, src/context/reading.rs
#![cfg(feature = "interop")]
#![allow(missing_docs)]
#![cfg(not(target_arch = "wasm32"))]

use crate::chance;
use crate::common;

use std::num::NonZero;
use std::thread;

use chance::{Chance, print_count, scale_count, seed};
use common::{call_message, result_message, stamp, text_message};
use leftoff::context::{Build, Outcome, Request};
use leftoff::record::message::{Message, Role};
use leftoff::record::scan::{Problem, Record, ScanItem, scan};
use leftoff::session::handle::Session;
use leftoff::session::input_request::InputRequest;
use leftoff::tokens::Counting;

const LOG_BYTES: usize = 64 * 1024;

/// A log as leftoff writes it, and each line's place and step in it, known from the writing.
struct KnownLog {
    log: Vec<u8>,
    lines: Vec<Line>,
}

struct Line {
    start: usize,
    // Its line feed.
    end: usize,
    // Lines of one step are paired with each other.
    step: usize,
}

impl KnownLog {
    fn append(&mut self, session: &mut Session, drafts: Vec<Message>) {
        let step = self.lines.last().map_or(0, |line| line.step + 1);
        let start = self.log.len();
        let staged =
            session.stage_messages(drafts, &stamp(start as u64), Counting::Estimate).expect("no open batch");
        let bytes = staged.bytes;
        session.messages().commit(start as u64).expect("the log grew by the batch");
        let mut at = start;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.lines.push(Line { start: at, end: at + line.len() - 1, step });
            at += line.len();
        }
        self.log.extend(bytes);
    }

    fn line(&self, index: usize) -> &str {
        let Line { start, end, .. } = self.lines[index];
        std::str::from_utf8(&self.log[start..end]).expect("leftoff writes UTF-8")
    }

    fn line_at(&self, place: usize) -> usize {
        self.lines.partition_point(|line| line.end < place)
    }
}

fn log() -> KnownLog {
    let mut chance = Chance::new(7);
    let (mut known, mut session) = (KnownLog { log: Vec::new(), lines: Vec::new() }, Session::new(None));
    while known.log.len() < LOG_BYTES - 3_000 {
        known.append(&mut session, step(&mut chance));
    }
    // The last text is as long as it takes to fill the log to the byte.
    for length in 0.. {
        let draft = || vec![text_message(Role::User, &"z".repeat(length))];
        let end = known.log.len() as u64;
        let staged = session.stage_messages(draft(), &stamp(end), Counting::Estimate).expect("no open batch");
        let bytes = staged.bytes;
        session.messages().abort().expect("an open batch");
        if known.log.len() + bytes.len() == LOG_BYTES {
            known.append(&mut session, draft());
            return known;
        }
    }
    unreachable!("a text one byte longer makes a line at most two bytes longer, once in a while")
}

fn step(chance: &mut Chance) -> Vec<Message> {
    const WORDS: &[&str] = &[
        "the file ",
        "\"quoted\" ",
        "back\\slash ",
        "line\nbreak ",
        "ünïcode ",
        "你好 ",
        "🙂 ",
        "\u{2028}",
        "{\"v\":1,",
        "[1,2] ",
    ];
    let mut text = |most: usize| {
        (0..1 + chance.number_below(most))
            .map(|_| WORDS[chance.number_below(WORDS.len())])
            .collect::<String>()
    };
    let (question, answer, result) = (text(20), text(60), text(90));
    let ids = [format!("call-{}", chance.number_below(10)), format!("toolu_{:016x}", chance.number())];
    match chance.number_below(5) {
        0 => vec![text_message(Role::User, &question)],
        1 => vec![text_message(Role::Assistant, &answer)],
        2 => vec![text_message(Role::System, &question)],
        3 => vec![call_message("", &[(&ids[1], "Read")]), result_message(&ids[1], "Read", &result)],
        _ => vec![
            call_message(&answer, &[(&ids[0], "Bash"), (&ids[1], "Grep")]),
            result_message(&ids[1], "Grep", &question),
            result_message(&ids[0], "Bash", &result),
        ],
    }
}

fn flip_bit(log: &[u8], flip: usize) -> (Vec<u8>, usize) {
    let mut bytes = log.to_vec();
    bytes[flip / 8] ^= 1 << (flip % 8);
    (bytes, flip / 8)
}

/// So many flips, one of each part of the log, up to each bit; each of the machine's cores takes its share.
fn each_flip(many: usize, check: impl Fn(&KnownLog, usize) + Sync) -> usize {
    let known = log();
    let all = known.log.len() * 8;
    let many = many.min(all);
    let mut chance = Chance::new(seed());
    let starts = |part: usize| part * all / many;
    let flips: Vec<usize> =
        (0..many).map(|part| starts(part) + chance.number_below(starts(part + 1) - starts(part))).collect();
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        for share in flips.chunks(flips.len().div_ceil(workers)) {
            let (check, known) = (&check, &known);
            scope.spawn(move || share.iter().for_each(|flip| check(known, *flip)));
        }
    });
    flips.len()
}

fn affects_one_record(known: &KnownLog, flip: usize) {
    let (bytes, place) = flip_bit(&known.log, flip);
    let hit = known.line_at(place);
    let says = || format!("bit {} of byte {place}, in {:?}", flip % 8, known.line(hit));
    let found = scan(&bytes);
    let records: Vec<&Record> =
        found.iter().filter_map(|f| if let ScanItem::Record(r) = f { Some(r) } else { None }).collect();
    let is_whole = |index: usize, record: &Record| {
        let line = &known.lines[index];
        (record.start, record.end) == (line.start as u64, line.end as u64) && record.json == known.line(index)
    };
    let mut rest = records.iter().peekable();
    let mut changed = 0;
    for index in 0..known.lines.len() {
        if index == hit && place < known.lines[hit].end {
            let end = known.lines[hit].end as u64;
            while rest.next_if(|record| record.end <= end).is_some() {
                changed += 1;
            }
        } else {
            assert!(
                rest.next().is_some_and(|record| is_whole(index, record)),
                "{} cost line {index}",
                says()
            );
        }
    }
    assert!(rest.next().is_none() && changed <= 1, "{}: more is found than was written", says());
    let covers = |problem: &Problem| {
        // A flip can make a line feed, which then lies between what it broke.
        let end = problem.end + u64::from(bytes[place] == b'\n');
        problem.start <= place as u64 && (place as u64) < end
    };
    let is_reported = found.iter().any(|f| matches!(f, ScanItem::Problem(problem) if covers(problem)));
    assert!(is_reported, "{} went unnoticed", says());
}

fn context(log: &[u8]) -> Vec<Message> {
    let request = Request::from_json(r#"{"window":1000000,"reserve":1000,"encoding":"estimate-1"}"#)
        .expect("a request");
    let mut session = Session::new(None);
    let mut found = session.messages().observe(log, 0).expect("the first observation");
    found.extend(session.messages().observe_tail());
    session.take_messages(found);
    let mut build = Build::new(request, session.source());
    loop {
        match build.next(None).expect("a context") {
            Outcome::Ready(context) => return context.messages,
            Outcome::Needs(InputRequest::Bytes { range }) => {
                let bytes = &log[range.start as usize..range.end as usize];
                build.take_bytes(range.start, bytes).expect("the bytes that were needed");
            }
            Outcome::Needs(needs) => panic!("{needs:?}"),
        }
    }
}

fn keeps_the_context(known: &KnownLog, whole: &[Message], flip: usize) {
    let (bytes, place) = flip_bit(&known.log, flip);
    let hit = &known.lines[known.line_at(place)];
    let is_apart = |line: &Line| line.step != hit.step || place == hit.end;
    let apart: Vec<&Message> = whole
        .iter()
        .zip(&known.lines)
        .filter(|(_, line)| is_apart(line))
        .map(|(message, _)| message)
        .collect();
    let built = context(&bytes);
    let kept: Vec<&Message> = built.iter().filter(|message| apart.contains(message)).collect();
    let says = || format!("bit {} of byte {place}, in {:?}", flip % 8, known.line(known.line_at(place)));
    assert!(kept == apart, "{} cost the context more than its step", says());
    let step = known.lines.len() - apart.len();
    assert!(built.len() <= kept.len() + step, "{} added to the context", says());
}

#[test]
fn a_flipped_bit_affects_one_record_and_is_reported_where_it_is() {
    let many = each_flip(scale_count(LOG_BYTES * 8, 2_500), affects_one_record);
    print_count("flips scanned", many);
}

#[test]
fn a_flipped_bit_costs_the_context_its_record_and_what_is_paired_with_it() {
    let known = log();
    let whole = context(&known.log);
    assert_eq!(
        whole.len(),
        known.lines.len(),
        "the budget holds the whole log, and no result is drawn elsewhere"
    );
    // A context takes eight times as long as a scan: one bit of each byte.
    let many = each_flip(scale_count(LOG_BYTES, 500), |known, flip| keeps_the_context(known, &whole, flip));
    print_count("flips in contexts", many);
}
