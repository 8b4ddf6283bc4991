//! What a fuzzer found once, and what it begins with: every law of tests/fuzzed/ holds for it.
#![allow(missing_docs)]
#![cfg(not(target_arch = "wasm32"))]

#[path = "common/chance.rs"]
mod chance;
mod fuzzed;

use std::fs;
use std::path::{Path, PathBuf};

use chance::counted;

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("the folder can be read").path())
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .collect();
    files.sort();
    files
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn check(target: fn(&[u8]), path: &Path, before: &[u8]) {
    let bytes = [before, &fs::read(path).expect("the file can be read")].concat();
    assert!(std::panic::catch_unwind(|| target(&bytes)).is_ok(), "{}", path.display());
}

#[test]
fn what_was_found_once_stays_mended() {
    for (name, target) in fuzzed::TARGETS.iter().copied() {
        for path in files(&fixtures().join("fuzz").join(name)) {
            check(target, &path, b"");
        }
    }
}

#[test]
fn every_log_among_the_fixtures_keeps_the_laws() {
    let paths: Vec<PathBuf> = ["format", "documents", "claude-code", "json-test-suite"]
        .iter()
        .flat_map(|folder| files(&fixtures().join(folder)))
        .collect();
    assert!(paths.len() > 400, "{}", paths.len());
    for path in &paths {
        check(fuzzed::scan::check, path, b"\x3f");
        check(fuzzed::events::check, path, b"\x3f");
        check(fuzzed::text::check, path, b"\0");
        check(fuzzed::text::check_in_blob, path, b"\0");
        check(fuzzed::resync::check, path, b"\x55\x01\0");
    }
    counted("fixtures as fuzzed bytes", paths.len());
}

#[test]
#[cfg(feature = "tokens")]
fn bytes_that_are_no_text_are_counted_as_what_they_are_read_as() {
    let paths = files(&fixtures().join("json-test-suite"));
    assert!(paths.len() > 300, "{}", paths.len());
    paths.iter().for_each(|path| check(fuzzed::tokens::check, path, b"\x40"));
}
