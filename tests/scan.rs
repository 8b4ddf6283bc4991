//! A log yields every complete record, whatever befell the rest of it, and the same ones both ways.
//! Tries: src/record/scan.rs
#![allow(missing_docs)]
#![cfg(not(target_arch = "wasm32"))]

use crate::common;

use common::{append, in_chunks, text_message};
use leftoff::record::message::{Message, Role};
use leftoff::record::scan::{Problem, ProblemCode, Record, ScanItem, Scanner, scan};
use leftoff::session::handle::Session;
use proptest::prelude::*;

fn log_of(texts: &[&str]) -> Vec<u8> {
    let (mut session, mut log) = (Session::new(None), Vec::new());
    for text in texts {
        append(&mut session, &mut log, vec![text_message(Role::User, text)]);
    }
    log
}

fn real_log() -> Vec<u8> {
    log_of(&[
        "plain words",
        "a \"quote\" and a \\ and \n",
        "ünï 你好 🙂",
        "\u{2028}\u{0}",
        "{\"v\":1,\"crc\":\"00000000\"}",
        "",
    ])
}

fn records(found: &[ScanItem]) -> Vec<Record> {
    found.iter().filter_map(|f| if let ScanItem::Record(r) = f { Some(r.clone()) } else { None }).collect()
}

fn problems(found: &[ScanItem]) -> Vec<Problem> {
    found.iter().filter_map(|f| if let ScanItem::Problem(p) = f { Some(p.clone()) } else { None }).collect()
}

fn codes(bytes: &[u8]) -> Vec<ProblemCode> {
    problems(&scan(bytes)).into_iter().map(|problem| problem.code).collect()
}

#[test]
fn a_log_cut_at_any_byte_yields_every_complete_record_before_the_cut() {
    let log = real_log();
    let whole = records(&scan(&log));
    assert_eq!(whole.len(), 6);
    for cut in 0..=log.len() {
        let complete = whole.iter().filter(|record| record.end <= cut as u64).count();
        let found = scan(&log[..cut]);
        assert_eq!(records(&found), whole[..complete], "cut at {cut}");
        let is_torn = whole.iter().any(|record| record.start < cut as u64 && (cut as u64) < record.end);
        let torn = problems(&found).iter().filter(|p| p.code == ProblemCode::TornTail).count();
        assert_eq!(torn, usize::from(is_torn), "cut at {cut}");
    }
}

#[test]
fn a_flipped_bit_costs_at_most_its_own_record_and_is_reported() {
    let log = log_of(&["first", "second one", "third"]);
    let whole = records(&scan(&log));
    for place in 0..log.len() {
        for bit in 0..8 {
            let mut flipped = log.clone();
            flipped[place] ^= 1 << bit;
            let found = scan(&flipped);
            let hit = |record: &&Record| record.start <= place as u64 && place as u64 <= record.end;
            let kept = records(&found);
            for record in whole.iter().filter(|record| !hit(record)) {
                assert!(kept.contains(record), "byte {place} bit {bit} cost a neighbor");
            }
            assert!(!problems(&found).is_empty(), "byte {place} bit {bit} went unnoticed");
        }
    }
}

#[test]
fn each_kind_of_damage_is_recognized_by_name() {
    let log = log_of(&["one", "two"]);
    let middle = log.iter().position(|byte| *byte == b'\n').expect("two lines") + 1;
    let with = |inside: &[u8]| [&log[..middle], inside, &log[middle..]].concat();
    let check = |bytes: &[u8], expected: &[ProblemCode]| {
        assert_eq!(codes(bytes), expected, "{:?}", String::from_utf8_lossy(bytes));
        assert_eq!(records(&scan(bytes)).len(), 2);
    };
    check(&log, &[]);
    check(&with(b"\n\r\n"), &[]);
    check(&with(&[0; 300]), &[ProblemCode::NulRun]);
    check(&with(b"{\"v\":1,\"id\":\"torn"), &[ProblemCode::Damaged]);
    check(&with(b"<<<<<<< ours\n=======\n>>>>>>> theirs\n"), &[ProblemCode::ConflictMarker; 3]);
    check(&with(b"[1,2]\n"), &[ProblemCode::Foreign]);
    check(&with(b"\xff\xfe\n"), &[ProblemCode::InvalidUtf8]);
    check(
        &with(format!("{{\"a\":{}{}}}\n", "[".repeat(200), "]".repeat(200)).as_bytes()),
        &[ProblemCode::TooDeep],
    );
    check(&[b"\xef\xbb\xbf", &log[..]].concat(), &[ProblemCode::Bom]);
    let glued: Vec<u8> = log.iter().copied().filter(|byte| *byte != b'\n').collect();
    check(&glued, &[ProblemCode::GluedLines]);
    check(&with(&[b"{\"v\":1", &log[..middle - 1], b"{\"v\""].concat()[..6]), &[ProblemCode::Damaged]);
}

#[test]
fn a_line_far_too_long_is_passed_by_both_ways() {
    let log = log_of(&["one", "two"]);
    let middle = log.iter().position(|byte| *byte == b'\n').expect("two lines") + 1;
    let long = vec![b'x'; 100 << 20];
    let bytes = [&log[..middle], &long, b"\n", &log[middle..]].concat();
    for backward in [false, true] {
        let found = in_chunks(&bytes, 1 << 20, backward);
        assert_eq!(records(&found).len(), 2);
        let [problem] = &problems(&found)[..] else { panic!("{:?}", problems(&found)) };
        assert_eq!(problem.code, ProblemCode::LineTooLong);
        assert_eq!((problem.start, problem.end), (middle as u64, (middle + long.len()) as u64));
    }
}

#[test]
fn the_end_of_a_line_far_too_long_is_no_line_although_it_comes_later() {
    let mut scanner = Scanner::forward(0);
    let half = vec![b'x'; 20 << 20];
    scanner.feed(&half);
    let drain = |scanner: &mut Scanner| core::iter::from_fn(|| scanner.next()).collect::<Vec<_>>();
    assert_eq!(drain(&mut scanner), []);
    scanner.finish();
    let place = |found: &ScanItem| match found {
        ScanItem::Record(record) => (None, record.start, record.end),
        ScanItem::Problem(problem) => (Some(problem.code), problem.start, problem.end),
    };
    let end = half.len() as u64;
    let too_long = Some(ProblemCode::LineTooLong);
    assert_eq!(drain(&mut scanner).iter().map(place).collect::<Vec<_>>(), [(too_long, 0, end)]);
    assert_eq!(scanner.position(), 0);
    scanner.feed(b"{\"rest\":1}\n{}\n");
    let found: Vec<_> = drain(&mut scanner).iter().map(place).collect();
    assert_eq!(found, [(too_long, 0, end + 10), (None, end + 11, end + 13)]);
}

#[test]
fn a_crowd_of_false_beginnings_and_ends_takes_no_longer_than_their_bytes() {
    let bytes =
        [b"{\"v\":".repeat(500_000), b",\"crc\":\"00000000\"}".repeat(200_000), b"\n".to_vec()].concat();
    assert_eq!(codes(&bytes), [ProblemCode::TooDeep]);
}

#[test]
fn minimal_lines_are_messages_and_equal_ones_are_told_apart_by_their_place() {
    let line = "{\"role\":\"user\",\"content\":\"yes\"}\n";
    let found = records(&scan(line.repeat(2).as_bytes()));
    let ids: Vec<String> = found
        .iter()
        .filter_map(|record| leftoff::record::message::read(record).0)
        .map(|message: Message| message.id)
        .collect();
    assert!(ids.len() == 2 && ids[0] != ids[1]);
}

fn mutations() -> impl Strategy<Value = Vec<u8>> {
    let edit = (any::<proptest::sample::Index>(), proptest::collection::vec(any::<u8>(), 0..6), 0..4usize);
    proptest::collection::vec(edit, 0..6).prop_map(|edits| {
        let mut log = real_log();
        for (place, bytes, removed) in edits {
            let at = place.index(log.len());
            let end = (at + removed).min(log.len());
            log.splice(at..end, bytes);
        }
        log
    })
}

proptest! {
    #[test]
    fn backward_finds_what_forward_finds(log in mutations(), size in 1..200usize) {
        let forward = in_chunks(&log, size, false);
        let backward = in_chunks(&log, size, true);
        prop_assert_eq!(&forward, &backward);
        prop_assert_eq!(&forward, &scan(&log));
    }

    #[test]
    fn no_bytes_stop_a_scan(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let found = scan(&bytes);
        let is_inside = |f: &ScanItem| match f {
            ScanItem::Record(r) => r.start < r.end && r.end <= bytes.len() as u64,
            ScanItem::Problem(p) => p.start < p.end && p.end <= bytes.len() as u64,
        };
        prop_assert!(found.iter().all(is_inside));
    }
}
