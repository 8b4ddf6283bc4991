//! Appends whose writes fail: what got in of one is brought to its end, and what did not is refused.
//! Tries: src/operation/append.rs

use std::collections::BTreeSet;

use leftoff::operation::{Failure, HostRequest, HostResponse, Step, Trouble};
use serde_json::Value;

use super::host::Host;
use super::{FOLDER, begin_session, drafts};

const TEXT: &str = "acknowledged, if it is";

/// What gets in of a try, and what its host can say of that.
type Fails = (usize, Option<u64>);

fn failed_append(host: &mut Host, path: &str, bytes: &[u8], (most, told): Fails) -> HostResponse {
    let written = most.min(bytes.len());
    host.append(path, &bytes[..written]);
    let (code, message) = ("storage_failed".into(), "out of order".into());
    HostResponse::Failed(Failure {
        code,
        message,
        written: told.map(|told| told.min(written as u64)),
        ..Failure::default()
    })
}

/// An append whose first tries fail so.
fn append_failing(tries: &[Fails], about: &str) -> (Host, Result<Vec<u8>, Trouble>) {
    let (mut host, live) = begin_session();
    let log = format!("{FOLDER}/messages.jsonl");
    let mut appending = live.append_messages(drafts(TEXT));
    let (mut step, mut tries) = (appending.begin(host.stamp()), tries.iter());
    let done = loop {
        let needs = match step {
            Step::Done(done) => break done,
            Step::Requests(needs) => needs,
        };
        let answers = needs.into_iter().map(|need| match &need {
            HostRequest::Append { file, bytes, .. } if file.path == log && !bytes.is_empty() => {
                match tries.next() {
                    Some(fails) => failed_append(&mut host, &log, bytes, *fails),
                    None => host.answer(need, false),
                }
            }
            _ => host.answer(need, false),
        });
        let answers = answers.collect();
        step = appending.next(host.now_ms(), answers);
    };
    drop(appending);
    host.drive_on(&mut live.append_messages(drafts("what follows"))).expect(about);
    assert_eq!(times(&host, "what follows"), 1, "{about}");
    (host, done)
}

/// How many messages say so, for readers, who keep one of two equal lines.
fn times(host: &Host, text: &str) -> usize {
    let log = host.text(&format!("{FOLDER}/messages.jsonl"));
    let records = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let ids = records.filter(|record| record["content"] == text).map(|record| record["id"].to_string());
    ids.collect::<BTreeSet<_>>().len()
}

#[test]
fn an_append_of_which_something_may_have_got_in_is_tried_again_and_is_there_once() {
    let all = usize::MAX;
    for first in [(1, Some(1)), (60, Some(60)), (all, Some(u64::MAX)), (0, None), (60, None), (all, None)] {
        for more in [&[][..], &[(0, Some(0))], &[(1, Some(1)), (0, Some(0))], &[(all, None)]] {
            let tries = [&[first], more].concat();
            let about = format!("{tries:?}");
            let (host, done) = append_failing(&tries, &about);
            assert!(done.is_ok(), "{about}: {done:?}");
            assert_eq!(times(&host, TEXT), 1, "{about}");
        }
    }
}

#[test]
fn an_append_of_which_nothing_got_in_is_refused_at_once() {
    let (host, done) = append_failing(&[(0, Some(0))], "nothing got in");
    assert_eq!(done.expect_err("refused").code(), "storage_failed");
    assert_eq!(times(&host, TEXT), 0);
}
