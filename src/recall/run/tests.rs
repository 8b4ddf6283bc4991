//! The laws of runs, over any documents; and over enough of them that a run has many blocks, long lists and many pages.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use core::pin::pin;
use core::task::{Context, Poll, Waker};

use proptest::prelude::*;

use super::build::Making;
use super::merge::{Files, Part, Source, merge};
use super::read::{Damaged, End, Entry, Opened, open, page};
use super::{Lists, Row};
use crate::recall::documents::{Document, SAID, WORK};
use crate::recall::number::length_byte;
use crate::record::message::Role;

#[derive(Clone, Debug)]
struct Made {
    field: usize,
    terms: Vec<String>,
}

#[derive(Clone, Debug)]
struct Piece {
    row: Row,
    documents: Vec<Made>,
}

impl Piece {
    fn new(key: &str, from: u64, documents: &[Made]) -> Piece {
        let row = Row {
            key: key.into(),
            from,
            to: from + documents.len() as u64,
            changed_us: 7,
            tail: from.wrapping_mul(31),
            ..Row::default()
        };
        Piece { row, documents: documents.into() }
    }

    fn document(&self, place: usize) -> Document {
        let at = self.row.from + place as u64;
        Document {
            at,
            size: (at % 200) as u8,
            seconds: 1_700_000_000 - (at as u32 % 5),
            role: Some(Role::User),
        }
    }
}

fn indexed(pieces: &[Piece]) -> Vec<u8> {
    let mut builder = Making::default();
    for piece in pieces {
        builder.piece(piece.row.clone());
        for (place, made) in piece.documents.iter().enumerate() {
            builder.document(made.field, piece.document(place), &mut |take| {
                made.terms.iter().for_each(|term| take(term, &mut None));
            });
        }
    }
    builder.finish()
}

fn opened(bytes: &[u8]) -> Option<End> {
    match open(bytes, bytes.len() as u64) {
        Opened::End(end) => Some(end),
        Opened::More(_) | Opened::Broken => None,
    }
}

fn part(bytes: &[u8], range: Range<u64>) -> &[u8] {
    &bytes[range.start as usize..range.end as usize]
}

fn lists(bytes: &[u8], end: &End, term: &str) -> Lists {
    let Some(block) = end.block_of(term.as_bytes()) else { return Lists::default() };
    match end.entry(part(bytes, end.block(block)), term.as_bytes()).expect("the block is whole") {
        None => Lists::default(),
        Some(Entry::Near(lists)) => lists,
        Some(Entry::Far(far)) => far.lists(part(bytes, far.range.clone())).expect("the lists are whole"),
    }
}

// Of each term the documents that have it, and how often, by looking through all of them.
fn expected(pieces: &[Piece], term: &str) -> [Vec<(u32, u32)>; 2] {
    let mut found = [Vec::new(), Vec::new()];
    let mut numbers = [0; 2];
    for made in pieces.iter().flat_map(|piece| &piece.documents) {
        let times = made.terms.iter().filter(|one| *one == term).count() as u32;
        if times > 0 {
            found[made.field].push((numbers[made.field], times));
        }
        numbers[made.field] += 1;
    }
    found
}

fn check_found(pieces: &[Piece], terms: &[&str]) {
    let bytes = indexed(pieces);
    let end = opened(&bytes).expect("it is a run");
    for term in terms {
        let lists = lists(&bytes, &end, term);
        let found = [SAID, WORK].map(|field| {
            let mut found = Vec::new();
            lists.each(field, |posting| found.push(posting)).expect("the list is whole");
            found
        });
        assert_eq!(found, expected(pieces, term), "{term}");
    }
    let mut numbers = [0_u32; 2];
    for piece in pieces {
        for (place, made) in piece.documents.iter().enumerate() {
            let (range, nth) = end.page_of(made.field, numbers[made.field]);
            assert_eq!(page(part(&bytes, range)).expect("the page is whole")[nth], piece.document(place));
            let length = end.lengths[made.field][numbers[made.field] as usize];
            assert_eq!(length, length_byte(made.terms.len() as u64));
            numbers[made.field] += 1;
        }
    }
}

// Runs in memory, and what is made of them.
struct Memory<'a> {
    sources: &'a [Vec<u8>],
    run: Vec<u8>,
    far: Vec<u8>,
}

impl Files for Memory<'_> {
    type Stop = Damaged;

    async fn read(&mut self, source: usize, range: Range<u64>) -> Result<Vec<u8>, Damaged> {
        let bytes = &self.sources[source];
        bytes.get(range.start as usize..range.end as usize).map(Vec::from).ok_or(Damaged)
    }

    async fn read_far(&mut self, range: Range<u64>) -> Result<Vec<u8>, Damaged> {
        Ok(part(&self.far, range).into())
    }

    async fn write(&mut self, part: Part, bytes: Vec<u8>) -> Result<(), Damaged> {
        let part = if part == Part::Run { &mut self.run } else { &mut self.far };
        part.extend(bytes);
        Ok(())
    }
}

// Those of the pieces that count, by the number of the run and of the row.
fn merged_of(runs: &[Vec<u8>], is_counted: impl Fn(usize, usize) -> bool) -> Option<Vec<u8>> {
    let ends: Vec<End> = runs.iter().map(|run| opened(run)).collect::<Option<_>>()?;
    let counts = |(run, end): (usize, &End)| {
        let rows = 0..end.rows.len();
        rows.map(|row| is_counted(run, row)).collect::<Vec<_>>()
    };
    let counts: Vec<_> = ends.iter().enumerate().map(counts).collect();
    let sources: Vec<_> = ends.iter().zip(&counts).map(|(end, counts)| Source { end, counts }).collect();
    let mut files = Memory { sources: runs, run: Vec::new(), far: Vec::new() };
    let merged = pin!(merge(&sources, &mut files)).poll(&mut Context::from_waker(Waker::noop()));
    assert!(merged.is_ready(), "memory waits for nobody");
    matches!(merged, Poll::Ready(Ok(()))).then_some(files.run)
}

fn whole(bytes: &[u8]) -> Option<Vec<u8>> {
    merged_of(&[bytes.into()], |_, _| true)
}

fn merged(runs: &[Vec<u8>]) -> Vec<u8> {
    merged_of(runs, |_, _| true).expect("the runs are whole")
}

// Words of which some are in about every document, and most in one.
fn much() -> Vec<Piece> {
    let mut chance = 9_u64;
    let mut next = |most: u64| {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (chance >> 33) % most
    };
    let mut pieces = Vec::new();
    for session in 0..5 {
        let mut documents = Vec::new();
        for _ in 0..200 {
            let field = usize::from(next(3) == 0);
            let terms = (0..next(30)).map(|_| {
                let most = 1 << (1 + next(12));
                format!("w{}", next(most))
            });
            documents.push(Made { field, terms: terms.collect() });
        }
        pieces.push(Piece::new(&format!("session-{session}"), 0, &documents));
    }
    pieces
}

#[test]
fn what_is_put_in_is_found_also_in_many_blocks_and_long_lists() {
    let pieces = much();
    let bytes = indexed(&pieces);
    let end = opened(&bytes).expect("it is a run");
    assert!(end.blocks() > 3, "{} blocks", end.blocks());
    let terms: Vec<String> = (0..4100).map(|number| format!("w{number}")).collect();
    check_found(&pieces, &terms.iter().map(String::as_str).chain(["", "a", "zz"]).collect::<Vec<_>>());
}

#[test]
fn only_the_end_is_needed_to_open_a_run() {
    let bytes = indexed(&much());
    let size = bytes.len() as u64;
    let Opened::More(least) = open(&[], size) else { panic!("nothing was read") };
    let Opened::More(needed) = open(&bytes[(size - least) as usize..], size) else { panic!("it is short") };
    assert!(needed < size / 2);
    assert!(matches!(open(&bytes[(size - needed) as usize..], size), Opened::End(_)));
    assert!(matches!(open(&bytes, size + 1), Opened::Broken));
}

#[test]
fn a_flipped_bit_is_noticed_wherever_it_is() {
    let bytes = indexed(&much()[..1]);
    assert_eq!(whole(&bytes).as_deref(), Some(&*bytes));
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        assert_eq!(whole(&damaged), None, "byte {at} of {}", bytes.len());
    }
}

#[test]
fn a_cut_is_noticed_wherever_it_is() {
    let bytes = indexed(&much()[..1]);
    for at in 0..bytes.len() {
        assert_eq!(whole(&bytes[..at]), None, "cut at {at}");
        assert_eq!(whole(&bytes[at + 1..]), None, "cut before {at}");
    }
}

#[test]
fn a_piece_that_does_not_count_leaves_nothing() {
    let pieces = much();
    let bytes = indexed(&pieces);
    let left = merged_of(&[bytes], |_, row| row == 0 || row == 2).expect("it is whole");
    assert_eq!(left, indexed(&[pieces[0].clone(), pieces[2].clone()]));
}

#[test]
fn a_prefix_is_in_the_blocks_that_are_told() {
    let bytes = indexed(&much());
    let end = opened(&bytes).expect("it is a run");
    for prefix in ["w1", "w20", "", "w4095", "x", "a"] {
        let blocks = end.blocks_from(prefix.as_bytes());
        for nth in 0..end.blocks() {
            let mut terms = super::read::Terms::of(part(&bytes, end.block(nth))).expect("it is whole");
            while terms.next().expect("it is whole") {
                let begins = terms.term().starts_with(prefix.as_bytes());
                assert!(!begins || blocks.contains(&nth), "{prefix} in {nth}, not in {blocks:?}");
            }
        }
    }
}

fn made() -> impl Strategy<Value = Made> {
    let term = prop_oneof!["[a-c]{1,3}", "[a-z]{30,40}", "\\PC{1,6}"];
    (0_usize..2, prop::collection::vec(term, 0..12)).prop_map(|(field, terms)| Made { field, terms })
}

proptest! {
    #[test]
    fn many_runs_are_merged_as_if_indexed_at_once(
        all in prop::collection::vec((prop::collection::vec(made(), 0..12), 0_usize..4, any::<bool>()), 1..9),
    ) {
        let piece = |nth: usize, documents: &[Made]| Piece::new(&format!("session-{nth}"), 0, documents);
        let mut runs = vec![Vec::new(); 4];
        let mut left = Vec::new();
        for (nth, (documents, run, counts)) in all.iter().enumerate() {
            runs[*run].push((piece(nth, documents), *counts));
            left.extend(Some(piece(nth, documents)).filter(|_| *counts));
        }
        let written: Vec<_> = runs
            .iter()
            .map(|run| indexed(&run.iter().map(|(piece, _)| piece.clone()).collect::<Vec<_>>()))
            .collect();
        prop_assert_eq!(merged_of(&written, |run, row| runs[run][row].1), Some(indexed(&left)));
    }

    #[test]
    fn what_is_put_in_is_found(all in prop::collection::vec(prop::collection::vec(made(), 0..12), 0..4)) {
        let pieces: Vec<_> = all
            .iter()
            .enumerate()
            .map(|(nth, documents)| Piece::new(&format!("session-{nth}"), 0, documents))
            .collect();
        let terms: Vec<&str> =
            all.iter().flatten().flat_map(|made| &made.terms).map(String::as_str).chain(["a", "zz"]).collect();
        check_found(&pieces, &terms);
    }

    #[test]
    fn merged_is_as_indexed_at_once(
        all in prop::collection::vec((prop::collection::vec(made(), 1..12), any::<prop::sample::Index>()), 1..5),
        order in any::<bool>(),
    ) {
        // Each session in two pieces, in two runs.
        let (mut once, mut first, mut second) = (Vec::new(), Vec::new(), Vec::new());
        for (nth, (documents, cut)) in all.iter().enumerate() {
            let key = format!("session-{nth}");
            let (head, tail) = documents.split_at(cut.index(documents.len()));
            let rest = Piece::new(&key, head.len() as u64, tail);
            let mut piece = Piece::new(&key, 0, documents);
            piece.row.tail = rest.row.tail;
            once.push(piece);
            first.push(Piece::new(&key, 0, head));
            second.push(rest);
        }
        let mut runs = vec![indexed(&first), indexed(&second)];
        if order {
            runs.reverse();
        }
        prop_assert_eq!(merged(&runs), indexed(&once));
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>, size: u64) {
        let _ = open(&bytes, size);
        prop_assert!(page(&bytes).is_none_or(|_| bytes.len() >= 4));
        prop_assert!(End::default().entry(&bytes, b"a").is_err() || bytes.len() == 4);
    }
}
