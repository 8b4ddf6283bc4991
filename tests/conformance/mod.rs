//! The cases of tests/conformance, run natively; tests/js/conformance.test.js runs them in both builds for WebAssembly.
//! Output is compared byte by byte with what the file says, so that all three give the same bytes.
//! Tries: src/calls.rs
#![allow(missing_docs)]
#![cfg(all(feature = "interop", feature = "o200k", not(target_arch = "wasm32")))]

use std::fs;
use std::path::PathBuf;

use leftoff::calls::{context_of_log, drift, resume_block, scan_log};
use leftoff::error::Error;
use leftoff::tokens::Vocabulary;
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Case<'a> {
    name: String,
    call: String,
    #[serde(borrow)]
    input: &'a RawValue,
    #[serde(borrow, default)]
    options: Options<'a>,
    #[serde(borrow)]
    expected: &'a RawValue,
}

#[derive(Default, Deserialize)]
struct Options<'a> {
    #[serde(borrow)]
    request: Option<&'a RawValue>,
    #[serde(borrow)]
    stamp: Option<&'a RawValue>,
    #[serde(default)]
    vocabulary: bool,
}

#[derive(Deserialize)]
struct ExternalInput<'a> {
    base64: Option<String>,
    file: Option<String>,
    #[serde(borrow)]
    json: Option<&'a RawValue>,
}

fn tests() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn input(raw: &RawValue) -> Vec<u8> {
    if let Ok(text) = serde_json::from_str::<String>(raw.get()) {
        return text.into_bytes();
    }
    if let Ok(lines) = serde_json::from_str::<Vec<&RawValue>>(raw.get()) {
        return lines.iter().flat_map(|line| [line.get(), "\n"]).collect::<String>().into_bytes();
    }
    let elsewhere: ExternalInput<'_> = serde_json::from_str(raw.get()).expect("an input");
    match (elsewhere.base64, elsewhere.file, elsewhere.json) {
        (Some(base64), None, None) => bytes(&base64),
        (None, Some(file), None) => fs::read(tests().join("fixtures/format").join(file)).expect("a fixture"),
        (None, None, Some(json)) => json.get().into(),
        _ => panic!("expected one of base64, file and json, but found {raw}"),
    }
}

fn bytes(base64: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let value = |digit: u8| DIGITS.iter().position(|found| *found == digit).expect("base64") as u32;
    let (mut bits, mut held, mut bytes) = (0, 0u32, Vec::new());
    for digit in base64.trim_end_matches('=').bytes() {
        (held, bits) = (held << 6 | value(digit), bits + 6);
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
        }
    }
    bytes
}

// A value as it crosses: an object as it stands, a string as the text that it is.
fn text(raw: Option<&RawValue>) -> String {
    let raw = raw.expect("a value").get();
    serde_json::from_str(raw).unwrap_or_else(|_| raw.into())
}

fn check(file: &str) {
    let path = tests().join("conformance").join(file);
    let json = fs::read_to_string(&path).expect(file);
    let cases: Vec<Case<'_>> = serde_json::from_str(&json).expect(file);
    assert!(cases.len() >= 10, "{file}");
    let vocabulary = Vocabulary::o200k_base();
    for case in &cases {
        let vocabulary = case.options.vocabulary.then_some(&vocabulary);
        let found = run(case, vocabulary).unwrap_or_else(|e| format!(r#"{{"error":"{}"}}"#, e.code.as_str()));
        let expected = text(Some(case.expected));
        assert_eq!(found, expected, "{file}: {}", case.name);
        if case.options.vocabulary {
            let error = run(case, None).expect_err("nobody can count");
            assert_eq!(error.code.as_str(), "invalid_request", "{file}: {}", case.name);
        }
    }
}

fn run(case: &Case<'_>, vocabulary: Option<&Vocabulary>) -> Result<String, Error> {
    let input = input(case.input);
    match case.call.as_str() {
        "scan" => Ok(scan_log(&input)),
        "context" => context_of_log(&input, &text(case.options.request), vocabulary),
        "resume-block" => resume_block(str::from_utf8(&input).expect("a text"), &text(case.options.stamp)),
        "drift" => drift(str::from_utf8(&input).expect("a text")),
        call => panic!("expected scan, context, resume-block or drift, but found {call}"),
    }
}

#[test]
fn scan_gives_what_the_format_says() {
    check("scan.json");
}

#[test]
fn context_gives_what_the_rules_of_the_strategies_say() {
    check("context.json");
}

#[test]
fn resume_block_gives_the_block_of_the_document() {
    check("resume-block.json");
}

#[test]
fn drift_gives_a_sentence_for_each_thing_that_changed() {
    check("drift.json");
}
