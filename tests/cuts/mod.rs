//! A log cut at any byte yields every complete record before the cut, both ways, and nothing that was not written; and
//! the next batch lands whole behind it.
//! Tries: src/record/scan.rs, src/session/log.rs
#![allow(missing_docs)]
#![cfg(not(target_arch = "wasm32"))]

mod by_chance;
mod by_hand;
use crate::chance;
use crate::common;
use crate::lines;
mod known_log;

use chance::{Chance, print_count, scale_count, seed};
use common::{stamp, text_message};
use known_log::KnownLog;
use leftoff::record::message::{self, Role};
use leftoff::record::scan::{Record, ScanItem, Scanner, scan};
use leftoff::session::handle::Session;
use leftoff::tokens::Counting;

const FULL_CASES: usize = 1_000_000;

fn jsons(found: &[ScanItem]) -> Vec<String> {
    let json = |found: &ScanItem| match found {
        ScanItem::Record(Record { json, .. }) => Some(json.trim().to_owned()),
        ScanItem::Problem(_) => None,
    };
    found.iter().filter_map(json).collect()
}

fn backward(bytes: &[u8]) -> Vec<ScanItem> {
    let mut scanner = Scanner::backward(bytes.len() as u64);
    scanner.feed(bytes);
    let mut found: Vec<ScanItem> = std::iter::from_fn(|| scanner.next()).collect();
    scanner.finish();
    found.extend(std::iter::from_fn(|| scanner.next()));
    found.reverse();
    found
}

fn check(written: &KnownLog, cut: usize, with_tail: bool) {
    let bytes = &written.log[..cut];
    let place = || format!("{}, cut at {cut}: {:?}", written.name, String::from_utf8_lossy(bytes));
    let mut expected = written.complete_at(cut);
    let found = scan(bytes);
    assert_eq!(jsons(&found), expected, "{}", place());
    assert_eq!(jsons(&backward(bytes)), expected, "backward, {}", place());
    for found in &found {
        if let ScanItem::Record(record) = found {
            let stands = &bytes[record.start as usize..record.end as usize];
            assert_eq!(stands, record.json.as_bytes(), "{}", place());
        }
    }

    let mut session = Session::new(None);
    let mut seen = session.messages().observe(bytes, 0).expect("the first observation");
    if with_tail {
        seen.extend(session.messages().observe_tail());
    }
    let draft = vec![text_message(Role::User, "what came after")];
    let staged = session.stage_messages(draft, &stamp(1), Counting::Off).expect("nothing else is staged");
    let batch = staged.bytes;
    seen.extend(session.messages().commit(cut as u64).expect("the log grew by the batch"));
    expected.push(String::from_utf8_lossy(&batch).trim().to_owned());
    assert_eq!(jsons(&seen), expected, "as the handle sees it, {}", place());
    assert_eq!(jsons(&scan(&[bytes, &batch].concat())), expected, "with a batch behind it, {}", place());
}

#[test]
fn every_token_class_may_be_cut_at_any_byte() {
    let mut cuts = 0;
    for written in by_hand::logs() {
        for cut in 0..=written.log.len() {
            for with_tail in [false, true] {
                check(&written, cut, with_tail);
            }
            cuts += 1;
        }
    }
    assert!(cuts > 5_000, "{cuts}");
    print_count("cuts of logs made by hand", cuts);
}

#[test]
fn any_log_may_be_cut_at_any_byte() {
    let mut chance = Chance::new(seed());
    let (mut logs, mut cuts) = (0, 0);
    while cuts < scale_count(FULL_CASES, 10_000) {
        let written = by_chance::log(&mut chance, &format!("log {logs} of seed {}", seed()));
        for cut in 0..=written.log.len() {
            check(&written, cut, chance.one_in(2));
        }
        cuts += written.log.len() + 1;
        logs += 1;
    }
    print_count("cuts of generated logs", cuts);
}

#[test]
fn a_record_that_is_quoted_in_a_field_is_never_taken_for_a_record() {
    let inner = lines::seal_line("\"id\":\"quoted\",\"role\":\"user\",\"content\":\"never said\"");
    let outer =
        format!("{{\"role\":\"user\",\"content\":\"a\",\"copied\":[{inner},{{\"deeper\":{inner}}}]}}\n");
    let found = scan(outer.as_bytes());
    let [ScanItem::Record(record)] = &found[..] else { panic!("{found:?}") };
    let draft = message::read(record).0.expect("a message");
    let staged =
        Session::new(None).stage_messages(vec![draft], &stamp(1), Counting::Off).expect("a first batch");
    let batch = staged.bytes;
    for cut in 0..batch.len() - 1 {
        assert_eq!(jsons(&scan(&batch[..cut])), [""; 0], "cut at {cut}");
    }
    assert_eq!(jsons(&scan(&batch)).len(), 1);
}
