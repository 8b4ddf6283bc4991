//! Counting is exact over gigabytes: every text file of some folders, and random text. `npm run test:faults -- tokens`
//! names the folders, and counts the same texts again in WebAssembly.
//! Tries: src/tokens/
#![cfg(feature = "o200k")]
#![allow(missing_docs)]
#![cfg(not(target_arch = "wasm32"))]

use crate::any_text;
use crate::chance;
use crate::reference;

use std::env;
use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use any_text::{any_length, any_text};
use chance::{Chance, print_count, scale_count, seed};
use reference::{VOCABULARY_PAIRS, VocabularyPair};

const RANDOM_BYTES: usize = 1_000_000_000;
/// As much as `cargo test` has time for.
const QUICK_BYTES: usize = 500_000;
/// What is counted in WebAssembly too, of random text; and of files the same.
const WASM_BYTES: usize = 25_000_000;
/// The reference panics from a million blanks on.
const MAX_PIECE_BYTES: usize = 256 * 1024;
/// A file is text if there is no NUL in so many bytes of it; git has it so, too.
const TEXT_HEAD_BYTES: usize = 8000;
/// So many mismatches are told.
const MAX_REPORTED: usize = 10;
/// How often it is tried to make one of them shorter.
const MAX_SHORTENINGS: usize = 2000;

/// What the workers share.
struct Run {
    next: AtomicUsize,
    bytes: AtomicUsize,
    files: AtomicUsize,
    mismatches: Mutex<Vec<String>>,
    count_writer: Option<Mutex<CountWriter>>,
}

/// Texts with the reference's counts, for another program to count.
struct CountWriter {
    file: BufWriter<File>,
    remaining: usize,
}

impl Run {
    fn new(name: &str) -> Run {
        let again = env::var_os("LEFTOFF_COUNTS").map(|folder| {
            let file = File::create(Path::new(&folder).join(name)).expect("the folder is there");
            Mutex::new(CountWriter { file: BufWriter::new(file), remaining: scale_count(WASM_BYTES, 0) })
        });
        let zero = || AtomicUsize::new(0);
        Run { next: zero(), bytes: zero(), files: zero(), mismatches: Mutex::default(), count_writer: again }
    }

    /// Each of the machine's cores works until it says that nothing is left for it.
    fn workers(&self, work: impl Fn(usize) -> bool + Sync) {
        let workers = thread::available_parallelism().map_or(1, NonZero::get);
        thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| while work(self.next.fetch_add(1, Ordering::Relaxed)) {});
            }
        });
    }

    fn check(&self, name: impl Fn() -> String, text: &str) {
        let _named = NameOnPanic(&name);
        let counts = VOCABULARY_PAIRS.each_ref().map(|both| {
            let counts = both.counts(text);
            if differs(both, text, counts) {
                self.mismatch(both, &name(), text);
            }
            counts.0
        });
        self.bytes.fetch_add(text.len(), Ordering::Relaxed);
        if let Some(again) = &self.count_writer {
            again.lock().expect("no worker panicked").keep(text, counts);
        }
    }

    fn mismatch(&self, both: &VocabularyPair, name: &str, text: &str) {
        let is_told = self.mismatches.lock().expect("no worker panicked").len() < MAX_REPORTED;
        let least = if is_told { shrink_difference(both, text) } else { String::new() };
        let (reference, ours) = both.counts(&least);
        let up_to = both.ours.count_up_to(&least, reference);
        let what = format!(
            "{name}, {:?}: expected {reference}, but found {ours} instead, up to that {up_to}: {least:?}",
            both.ours
        );
        self.mismatches.lock().expect("no worker panicked").push(what);
    }

    /// Says what was counted, and fails where something differed.
    fn ends(self, what: &str) {
        print_count(&format!("bytes of {what}"), self.bytes.into_inner());
        let mismatches = self.mismatches.into_inner().expect("no worker panicked");
        print_count(&format!("mismatches in {what}"), mismatches.len());
        assert!(mismatches.is_empty(), "{}", mismatches[..MAX_REPORTED.min(mismatches.len())].join("\n"));
    }
}

/// Names the text at which a counter panicked.
struct NameOnPanic<'a, F: Fn() -> String>(&'a F);

impl<F: Fn() -> String> Drop for NameOnPanic<'_, F> {
    fn drop(&mut self) {
        if thread::panicking() {
            println!("a panic at {}", (self.0)());
        }
    }
}

impl CountWriter {
    fn keep(&mut self, text: &str, counts: [u32; 2]) {
        if text.len() > self.remaining {
            return;
        }
        self.remaining -= text.len();
        let [o200k, cl100k] = counts;
        for number in [text.len() as u32, o200k, cl100k] {
            self.file.write_all(&number.to_le_bytes()).expect("the file can be written");
        }
        self.file.write_all(text.as_bytes()).expect("the file can be written");
    }
}

/// Whether our count is another than the reference's, or beyond itself as a limit.
fn differs(both: &VocabularyPair, text: &str, (reference, ours): (u32, u32)) -> bool {
    reference != ours || !both.stops(text, reference, reference)
}

/// What still differs of a text when halves of it, quarters and so on are left out, as long as there is time for it.
fn shrink_difference(both: &VocabularyPair, text: &str) -> String {
    let mut least: Vec<char> = text.chars().collect();
    let (mut size, mut at) = (least.len() / 2, 0);
    for _ in 0..MAX_SHORTENINGS {
        if at >= least.len() {
            (size, at) = (size / 2, 0);
        }
        if size == 0 {
            break;
        }
        let end = least.len().min(at + size);
        let without: String = least[..at].iter().chain(&least[end..]).collect();
        if differs(both, &without, both.counts(&without)) {
            least.drain(at..end);
        } else {
            at = end;
        }
    }
    least.into_iter().collect()
}

#[test]
fn random_text_counts_as_the_reference_counts_it() {
    let (whole, seed) = (scale_count(RANDOM_BYTES, QUICK_BYTES), seed());
    let run = Run::new("random");
    run.workers(|number| {
        let mut chance = Chance::new(Chance::new(seed ^ (number as u64) << 32).number());
        let length = any_length(&mut chance);
        run.check(|| format!("text {number} of seed {seed}"), &any_text(&mut chance, length));
        run.bytes.load(Ordering::Relaxed) < whole
    });
    run.ends("random text");
}

#[test]
fn files_count_as_the_reference_counts_them() {
    let roots = env::var_os("LEFTOFF_TEXTS").map_or_else(
        || vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/texts")],
        |roots| env::split_paths(&roots).collect(),
    );
    let mut paths = Vec::new();
    roots.iter().for_each(|root| collect(root, &mut paths));
    let all = paths.len();
    let mut chance = Chance::new(seed());
    // A sample takes the beginning of some files.
    let mut sample: Vec<PathBuf> = paths;
    for at in 0..all {
        sample.swap(at, at + chance.number_below(all - at));
    }
    sample.truncate(scale_count(all, all));
    let pieces = if sample.len() < all { 1 } else { usize::MAX };
    let run = Run::new("files");
    run.workers(|number| {
        let Some(path) = sample.get(number) else { return false };
        if let Some(text) = text(path) {
            run.files.fetch_add(1, Ordering::Relaxed);
            cut(&text).take(pieces).for_each(|piece| run.check(|| path.display().to_string(), piece));
        }
        true
    });
    print_count("files", run.files.load(Ordering::Relaxed));
    run.ends("files");
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("the folder can be read"))
        .collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        // Not through links: what they lead to is there by itself.
        let kind = entry.file_type().expect("the folder can be read");
        if kind.is_dir() {
            collect(&entry.path(), paths);
        } else if kind.is_file() {
            paths.push(entry.path());
        }
    }
}

// Nothing where the file is none of text.
fn text(path: &Path) -> Option<String> {
    let mut file = File::open(path).expect("the file can be read");
    let mut bytes = Vec::new();
    Read::by_ref(&mut file)
        .take(TEXT_HEAD_BYTES as u64)
        .read_to_end(&mut bytes)
        .expect("the file can be read");
    if bytes.contains(&0) {
        return None;
    }
    file.read_to_end(&mut bytes).expect("the file can be read");
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn cut(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = (0..=MAX_PIECE_BYTES.min(rest.len())).rev().find(|end| rest.is_char_boundary(*end))?;
        let piece;
        (piece, rest) = rest.split_at(end);
        (end > 0).then_some(piece)
    })
}
