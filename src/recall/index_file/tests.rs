//! The laws of index files, over any documents; and over enough of them that a file has many blocks, long lists and
//! many pages.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use core::pin::pin;
use core::task::{Context, Poll, Waker};

use proptest::prelude::*;

use super::build::IndexFileDraft;
use super::merge::{MergeFiles, MergeSource, OutputPart, merge};
use super::read::{DamagedIndex, IndexFooter, OpenOutcome, TermEntry, parse_page, read_footer};
use super::{PostingLists, Segment};
use crate::recall::documents::{Document, SAID_FIELD, WORK_FIELD};
use crate::recall::portable_math::length_byte;
use crate::record::message::Role;

#[derive(Clone, Debug)]
struct TestDocument {
    field: usize,
    terms: Vec<String>,
}

#[derive(Clone, Debug)]
struct TestSegment {
    row: Segment,
    documents: Vec<TestDocument>,
}

impl TestSegment {
    fn new(key: &str, from: u64, documents: &[TestDocument]) -> TestSegment {
        let row = Segment {
            key: key.into(),
            start: from,
            end: from + documents.len() as u64,
            changed_us: 7,
            tail: from.wrapping_mul(31),
            ..Segment::default()
        };
        TestSegment { row, documents: documents.into() }
    }

    fn document(&self, place: usize) -> Document {
        let at = self.row.start + place as u64;
        Document {
            line_start: at,
            size: (at % 200) as u8,
            seconds: 1_700_000_000 - (at as u32 % 5),
            role: Some(Role::User),
        }
    }
}

fn build_index(pieces: &[TestSegment]) -> Vec<u8> {
    let mut builder = IndexFileDraft::default();
    for piece in pieces {
        builder.begin_segment(piece.row.clone());
        for (place, made) in piece.documents.iter().enumerate() {
            builder.add_document(made.field, piece.document(place), &mut |take| {
                made.terms.iter().for_each(|term| take(term, &mut None));
            });
        }
    }
    builder.finish()
}

fn open_index(bytes: &[u8]) -> Option<IndexFooter> {
    match read_footer(bytes, bytes.len() as u64) {
        OpenOutcome::End(end) => Some(end),
        OpenOutcome::More(_) | OpenOutcome::Broken => None,
    }
}

fn part(bytes: &[u8], range: Range<u64>) -> &[u8] {
    &bytes[range.start as usize..range.end as usize]
}

fn lists(bytes: &[u8], end: &IndexFooter, term: &str) -> PostingLists {
    let Some(block) = end.find_block(term.as_bytes()) else { return PostingLists::default() };
    match end.find_entry(part(bytes, end.block(block)), term.as_bytes()).expect("the block is whole") {
        None => PostingLists::default(),
        Some(TermEntry::Near(lists)) => lists,
        Some(TermEntry::Far(far)) => far.lists(part(bytes, far.range.clone())).expect("the lists are whole"),
    }
}

// Returns a term's postings, by looking through all documents.
fn expected_postings(pieces: &[TestSegment], term: &str) -> [Vec<(u32, u32)>; 2] {
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

fn check_found(pieces: &[TestSegment], terms: &[&str]) {
    let bytes = build_index(pieces);
    let end = open_index(&bytes).expect("it is an index file");
    for term in terms {
        let lists = lists(&bytes, &end, term);
        let found = [SAID_FIELD, WORK_FIELD].map(|field| {
            let mut found = Vec::new();
            lists.for_each_posting(field, |posting| found.push(posting)).expect("the list is whole");
            found
        });
        assert_eq!(found, expected_postings(pieces, term), "{term}");
    }
    let mut numbers = [0_u32; 2];
    for piece in pieces {
        for (place, made) in piece.documents.iter().enumerate() {
            let (range, nth) = end.find_page(made.field, numbers[made.field]);
            assert_eq!(
                parse_page(part(&bytes, range)).expect("the page is whole")[nth],
                piece.document(place)
            );
            let length = end.lengths[made.field][numbers[made.field] as usize];
            assert_eq!(length, length_byte(made.terms.len() as u64));
            numbers[made.field] += 1;
        }
    }
}

// Index files in memory, and the file merged from them.
struct Memory<'a> {
    sources: &'a [Vec<u8>],
    run: Vec<u8>,
    far: Vec<u8>,
}

impl MergeFiles for Memory<'_> {
    type Stop = DamagedIndex;

    async fn read(&mut self, source: usize, range: Range<u64>) -> Result<Vec<u8>, DamagedIndex> {
        let bytes = &self.sources[source];
        bytes.get(range.start as usize..range.end as usize).map(Vec::from).ok_or(DamagedIndex)
    }

    async fn read_far(&mut self, range: Range<u64>) -> Result<Vec<u8>, DamagedIndex> {
        Ok(part(&self.far, range).into())
    }

    async fn write(&mut self, part: OutputPart, bytes: Vec<u8>) -> Result<(), DamagedIndex> {
        let part = if part == OutputPart::Run { &mut self.run } else { &mut self.far };
        part.extend(bytes);
        Ok(())
    }
}

// Merges the segments that count, given the index of the file and of the row.
fn merge_counted(runs: &[Vec<u8>], is_counted: impl Fn(usize, usize) -> bool) -> Option<Vec<u8>> {
    let ends: Vec<IndexFooter> = runs.iter().map(|run| open_index(run)).collect::<Option<_>>()?;
    let counts = |(run, end): (usize, &IndexFooter)| {
        let rows = 0..end.rows.len();
        rows.map(|row| is_counted(run, row)).collect::<Vec<_>>()
    };
    let counts: Vec<_> = ends.iter().enumerate().map(counts).collect();
    let sources: Vec<_> = ends.iter().zip(&counts).map(|(end, counts)| MergeSource { end, counts }).collect();
    let mut files = Memory { sources: runs, run: Vec::new(), far: Vec::new() };
    let merged = pin!(merge(&sources, &mut files)).poll(&mut Context::from_waker(Waker::noop()));
    assert!(merged.is_ready(), "memory waits for nobody");
    matches!(merged, Poll::Ready(Ok(()))).then_some(files.run)
}

fn merge_one(bytes: &[u8]) -> Option<Vec<u8>> {
    merge_counted(&[bytes.into()], |_, _| true)
}

fn merge_all(runs: &[Vec<u8>]) -> Vec<u8> {
    merge_counted(runs, |_, _| true).expect("the runs are whole")
}

// Segments with some words in nearly every document, and most words in one.
fn many_segments() -> Vec<TestSegment> {
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
            documents.push(TestDocument { field, terms: terms.collect() });
        }
        pieces.push(TestSegment::new(&format!("session-{session}"), 0, &documents));
    }
    pieces
}

#[test]
fn what_is_put_in_is_found_also_in_many_blocks_and_long_lists() {
    let pieces = many_segments();
    let bytes = build_index(&pieces);
    let end = open_index(&bytes).expect("it is an index file");
    assert!(end.blocks() > 3, "{} blocks", end.blocks());
    let terms: Vec<String> = (0..4100).map(|number| format!("w{number}")).collect();
    check_found(&pieces, &terms.iter().map(String::as_str).chain(["", "a", "zz"]).collect::<Vec<_>>());
}

#[test]
fn only_the_end_is_needed_to_open_a_run() {
    let bytes = build_index(&many_segments());
    let size = bytes.len() as u64;
    let OpenOutcome::More(least) = read_footer(&[], size) else { panic!("nothing was read") };
    let OpenOutcome::More(needed) = read_footer(&bytes[(size - least) as usize..], size) else {
        panic!("it is short")
    };
    assert!(needed < size / 2);
    assert!(matches!(read_footer(&bytes[(size - needed) as usize..], size), OpenOutcome::End(_)));
    assert!(matches!(read_footer(&bytes, size + 1), OpenOutcome::Broken));
}

#[test]
fn a_flipped_bit_is_noticed_wherever_it_is() {
    let bytes = build_index(&many_segments()[..1]);
    assert_eq!(merge_one(&bytes).as_deref(), Some(&*bytes));
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        assert_eq!(merge_one(&damaged), None, "byte {at} of {}", bytes.len());
    }
}

#[test]
fn a_cut_is_noticed_wherever_it_is() {
    let bytes = build_index(&many_segments()[..1]);
    for at in 0..bytes.len() {
        assert_eq!(merge_one(&bytes[..at]), None, "cut at {at}");
        assert_eq!(merge_one(&bytes[at + 1..]), None, "cut before {at}");
    }
}

#[test]
fn a_piece_that_does_not_count_leaves_nothing() {
    let pieces = many_segments();
    let bytes = build_index(&pieces);
    let left = merge_counted(&[bytes], |_, row| row == 0 || row == 2).expect("it is whole");
    assert_eq!(left, build_index(&[pieces[0].clone(), pieces[2].clone()]));
}

#[test]
fn a_prefix_is_in_the_blocks_that_are_told() {
    let bytes = build_index(&many_segments());
    let end = open_index(&bytes).expect("it is an index file");
    for prefix in ["w1", "w20", "", "w4095", "x", "a"] {
        let blocks = end.blocks_with_prefix(prefix.as_bytes());
        for nth in 0..end.blocks() {
            let mut terms = super::read::BlockTerms::new(part(&bytes, end.block(nth))).expect("it is whole");
            while terms.next().expect("it is whole") {
                let begins = terms.term().starts_with(prefix.as_bytes());
                assert!(!begins || blocks.contains(&nth), "{prefix} in {nth}, not in {blocks:?}");
            }
        }
    }
}

fn any_document() -> impl Strategy<Value = TestDocument> {
    let term = prop_oneof!["[a-c]{1,3}", "[a-z]{30,40}", "\\PC{1,6}"];
    (0_usize..2, prop::collection::vec(term, 0..12)).prop_map(|(field, terms)| TestDocument { field, terms })
}

proptest! {
    #[test]
    fn many_runs_are_merged_as_if_indexed_at_once(
        all in prop::collection::vec((prop::collection::vec(any_document(), 0..12), 0_usize..4, any::<bool>()), 1..9),
    ) {
        let piece = |nth: usize, documents: &[TestDocument]| TestSegment::new(&format!("session-{nth}"), 0, documents);
        let mut runs = vec![Vec::new(); 4];
        let mut left = Vec::new();
        for (nth, (documents, run, counts)) in all.iter().enumerate() {
            runs[*run].push((piece(nth, documents), *counts));
            left.extend(Some(piece(nth, documents)).filter(|_| *counts));
        }
        let written: Vec<_> = runs
            .iter()
            .map(|run| build_index(&run.iter().map(|(piece, _)| piece.clone()).collect::<Vec<_>>()))
            .collect();
        prop_assert_eq!(merge_counted(&written, |run, row| runs[run][row].1), Some(build_index(&left)));
    }

    #[test]
    fn what_is_put_in_is_found(all in prop::collection::vec(prop::collection::vec(any_document(), 0..12), 0..4)) {
        let pieces: Vec<_> = all
            .iter()
            .enumerate()
            .map(|(nth, documents)| TestSegment::new(&format!("session-{nth}"), 0, documents))
            .collect();
        let terms: Vec<&str> =
            all.iter().flatten().flat_map(|made| &made.terms).map(String::as_str).chain(["a", "zz"]).collect();
        check_found(&pieces, &terms);
    }

    #[test]
    fn merged_is_as_indexed_at_once(
        all in prop::collection::vec((prop::collection::vec(any_document(), 1..12), any::<prop::sample::Index>()), 1..5),
        order in any::<bool>(),
    ) {
        // Each session in two segments, in two files.
        let (mut once, mut first, mut second) = (Vec::new(), Vec::new(), Vec::new());
        for (nth, (documents, cut)) in all.iter().enumerate() {
            let key = format!("session-{nth}");
            let (head, tail) = documents.split_at(cut.index(documents.len()));
            let rest = TestSegment::new(&key, head.len() as u64, tail);
            let mut piece = TestSegment::new(&key, 0, documents);
            piece.row.tail = rest.row.tail;
            once.push(piece);
            first.push(TestSegment::new(&key, 0, head));
            second.push(rest);
        }
        let mut runs = vec![build_index(&first), build_index(&second)];
        if order {
            runs.reverse();
        }
        prop_assert_eq!(merge_all(&runs), build_index(&once));
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>, size: u64) {
        let _ = read_footer(&bytes, size);
        prop_assert!(parse_page(&bytes).is_none_or(|_| bytes.len() >= 4));
        prop_assert!(IndexFooter::default().find_entry(&bytes, b"a").is_err() || bytes.len() == 4);
    }
}
