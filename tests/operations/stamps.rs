//! The moment and the chance that a host gives: what cannot be stored is refused, and costs nothing that is.
//! Tries: src/time.rs, src/operation/io.rs

use leftoff::operation::{Operation, Step, Trouble};
use leftoff::time::Stamp;

use super::host::{Host, Meanwhile};
use super::{begin_session, drafts, operations};

const LOG: &str = "sessions/projects/p/session-019aaaca-0000-7000-8000-000000000001/messages.jsonl";
const FIRST_MS: i64 = -62_167_219_200_000;
const LAST_MS: i64 = 253_402_300_799_999;

/// Drives it, at one moment up to a step and at another one from there on.
fn drive_at<T>(
    host: &mut Host,
    mut operation: Operation<'_, T>,
    stamp: Stamp,
    (turns, then_ms): (usize, i64),
) -> Result<T, Trouble> {
    let now_ms = |place| if place < turns { stamp.now_ms } else { then_ms };
    let mut step = operation.begin(Stamp { now_ms: now_ms(0), ..stamp });
    for place in 1.. {
        let needs = match step {
            Step::Done(done) => return done,
            Step::Requests(needs) => needs,
        };
        let answers = needs.into_iter().map(|need| host.answer(need, false)).collect();
        step = operation.next(now_ms(place), answers);
    }
    unreachable!("it ends")
}

fn code<T>(done: Result<T, Trouble>) -> Option<String> {
    done.err().map(|trouble| trouble.code().into())
}

#[test]
fn a_moment_that_no_time_can_say_ends_an_operation_and_loses_nothing() {
    for (name, begins) in operations() {
        for wrong in [i64::MIN, FIRST_MS - 1, LAST_MS + 1, i64::MAX] {
            for turns in [0, 1, 3] {
                let (mut host, live) = begin_session();
                let acknowledged = host.files[LOG].0.clone();
                let stamp = host.stamp();
                let done = drive_at(&mut host, begins(&live), stamp, (turns, wrong));
                let is_over_before = turns > 0 && done.is_ok();
                let expected = (!is_over_before).then_some("invalid_request");
                assert_eq!(code(done).as_deref(), expected, "{name}, {wrong} from step {turns} on");
                assert!(host.files[LOG].0.starts_with(&acknowledged), "{name}");
                let after = host.drive(live.append_messages(drafts("after it")), |_| Meanwhile::Nothing);
                after.expect("driven").unwrap_or_else(|trouble| panic!("{name}: {trouble}"));
                assert!(host.text(LOG).contains("after it"), "{name}");
            }
        }
    }
}

#[test]
fn the_first_and_the_last_moment_are_as_any() {
    for (name, begins) in operations() {
        for now_ms in [FIRST_MS, LAST_MS] {
            let (mut host, live) = begin_session();
            let stamp = Stamp { now_ms, ..host.stamp() };
            let done = drive_at(&mut host, begins(&live), stamp, (0, now_ms));
            done.unwrap_or_else(|trouble| panic!("{name} at {now_ms}: {trouble}"));
        }
    }
}

#[test]
fn what_has_the_chance_of_the_append_before_it_is_refused() {
    let appends = ["append", "say", "append tool", "append once"];
    for (name, begins) in operations().into_iter().filter(|(name, _)| appends.contains(name)) {
        let (mut host, live) = begin_session();
        let stamp = host.stamp();
        let append = |host: &mut Host, stamp: Stamp| {
            let text = format!("acknowledged at {}", stamp.now_ms);
            drive_at(host, live.append_messages(drafts(&text)), stamp, (0, stamp.now_ms))
        };
        append(&mut host, stamp).expect("appended");
        let before = host.files.clone();
        let done = drive_at(&mut host, begins(&live), stamp, (0, stamp.now_ms));
        assert_eq!(code(done).as_deref(), Some("invalid_request"), "{name}");
        for (path, (bytes, _)) in &before {
            assert!(!path.ends_with(".jsonl") || host.files[path].0 == *bytes, "{name}: {path}");
        }
        let next = host.stamp();
        append(&mut host, next).expect("appended");
        assert!(host.text(LOG).contains(&format!("acknowledged at {}", next.now_ms)), "{name}");
    }
}
