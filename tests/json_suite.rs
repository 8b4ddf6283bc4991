//! JSONTestSuite: what is JSON is accepted, what is none is refused, and neither costs a neighbor.
//! tests/js/json-suite.test.js holds the core inside WebAssembly to the same.
//! Tries: src/json/, src/record/scan.rs
#![cfg(feature = "interop")]
#![allow(missing_docs)]
#![cfg(not(target_arch = "wasm32"))]

use crate::chance;
use crate::lines;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use leftoff::calls::context_of_log;
use leftoff::error::Code;
use leftoff::record::message;
use leftoff::record::scan::{Problem, ProblemCode, Record, ScanItem, scan};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/json-test-suite")
}

fn files() -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder().join("test_parsing")).expect("the folder is part of the source");
    let read = |path: PathBuf| {
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        (name, fs::read(path).expect("the file can be read"))
    };
    let mut files: Vec<_> = entries.map(|entry| read(entry.expect("an entry").path())).collect();
    files.sort();
    files
}

/// By the first letter of its name; what is left to a parser, by our table.
fn is_accepted(name: &str, table: &BTreeMap<String, bool>) -> bool {
    match name.as_bytes()[0] {
        b'y' => true,
        b'n' => false,
        _ => table[name],
    }
}

fn table() -> BTreeMap<String, bool> {
    let text =
        fs::read_to_string(folder().join("implementation-defined.txt")).expect("it is part of the source");
    let row = |line: &str| {
        let (name, rest) = line.split_once(' ').expect("a name");
        let (verdict, why) = rest.split_once(": ").expect("a verdict and why");
        assert!(!why.is_empty() && (verdict == "accepted" || verdict == "refused"), "{line}");
        (name.to_owned(), verdict == "accepted")
    };
    text.lines().map(row).collect()
}

/// As the value of a field that leftoff does not know; what holds a line feed stands in no line, but in a request.
fn accepts(file: &[u8]) -> bool {
    if file.contains(&b'\n') {
        return accepts_in_request(file);
    }
    let record = [b"{\"role\":\"user\",\"content\":\"\",\"x\":", file, b"}\n"].concat();
    let [ScanItem::Record(record)] = &scan(&record)[..] else { return false };
    let message = message::read(record).0.expect("it has a role");
    let [(key, value)] = message.extra.iter().collect::<Vec<_>>()[..] else {
        panic!("{record:?} has other fields than it was given")
    };
    assert_eq!((key, value.as_bytes()), ("\"x\"", file.trim_ascii()));
    true
}

fn accepts_in_request(file: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(file) else { return false };
    let request = format!("{{\"window\":8000,\"encoding\":\"estimate-1\",\"tools\":{text}}}");
    let log = b"{\"role\":\"user\",\"content\":\"hello\"}\n";
    match context_of_log(log, &request, None) {
        Ok(_) => true,
        Err(error) => {
            assert_eq!(error.code, Code::InvalidRequest);
            false
        }
    }
}

fn problems(found: &[ScanItem]) -> impl Iterator<Item = &Problem> {
    found.iter().filter_map(|f| if let ScanItem::Problem(p) = f { Some(p) } else { None })
}

fn records(found: &[ScanItem]) -> impl Iterator<Item = &Record> {
    found.iter().filter_map(|f| if let ScanItem::Record(r) = f { Some(r) } else { None })
}

#[test]
fn the_value_parser_accepts_what_is_json_and_refuses_what_is_none() {
    let (files, table) = (files(), table());
    let count = |letter: &str| files.iter().filter(|(name, _)| name.starts_with(letter)).count();
    assert_eq!((count("y_"), count("n_"), count("i_"), table.len()), (95, 188, 35, 35));
    for (name, file) in &files {
        assert_eq!(accepts(file), is_accepted(name, &table), "{name}");
    }
    chance::print_count("files that are JSON", count("y_"));
    chance::print_count("files that are none", count("n_"));
    chance::print_count("files left to the parser", count("i_"));
    chance::print_count("JSON files as values", files.len());
}

#[test]
fn a_line_that_is_json_is_no_damage_and_one_that_is_none_is_no_record() {
    let table = table();
    for (name, file) in files().iter().filter(|(_, file)| !file.contains(&b'\n')) {
        let found = scan(&[b"{}\n", &file[..], b"\n"].concat());
        let is_foreign = problems(&found).all(|problem| problem.code == ProblemCode::Foreign);
        if is_accepted(name, &table) {
            assert!(is_foreign && found.len() == 2, "{name}: {found:?}");
        } else {
            let is_nothing = file.trim_ascii().is_empty();
            assert!(
                records(&found).count() == 1 && (is_nothing || problems(&found).count() > 0),
                "{name}: {found:?}"
            );
        }
    }
}

#[test]
fn each_file_between_two_records_leaves_both_whole() {
    let said =
        |text: &str| lines::seal_line(&format!("\"id\":\"{text}\",\"role\":\"user\",\"content\":\"{text}\""));
    let (before, after) = (said("before"), said("after"));
    let files = files();
    for (name, file) in &files {
        // With a line of its own, and without a line feed behind it, as a writer leaves it that was stopped.
        for between in [&b"\n"[..], b""] {
            let log = [before.as_bytes(), b"\n", file, between, after.as_bytes(), b"\n"].concat();
            let found = scan(&log);
            let is_whole = |record: &&Record| [&before, &after].contains(&&record.json.trim().to_owned());
            let whole: Vec<&Record> = records(&found).filter(is_whole).collect();
            let ends: Vec<u64> = whole.iter().map(|record| record.end).collect();
            assert_eq!(ends, [before.len() as u64, log.len() as u64 - 1], "{name}");
            let is_hit =
                |p: &Problem| whole.iter().any(|record| p.start < record.end && record.start < p.end);
            assert!(!problems(&found).any(is_hit), "{name}: {found:?}");
        }
    }
    chance::print_count("JSON files between records", files.len());
}
