//! Counting is exact: tiktoken-rs is the reference.
#![cfg(feature = "o200k")]
#![allow(missing_docs)]
#![cfg(not(target_arch = "wasm32"))]

use std::sync::LazyLock;

use leftoff::error::Code;
use leftoff::tokens::{Encoding, Vocabulary, count};
use proptest::prelude::*;
use tiktoken_rs::CoreBPE;

#[path = "../examples/planes.rs"]
#[allow(dead_code, reason = "an example has a main, which a test does not call")]
mod planes;

#[path = "common/texts.rs"]
mod texts;

const PLANES: &[u8] = include_bytes!("../src/tokens/o200k_base.planes");

/// Pairs in the planes.
const PAIRS: usize = PLANES.len() / 6;

static OURS: LazyLock<Vocabulary> = LazyLock::new(Vocabulary::o200k_base);
static REFERENCE: LazyLock<CoreBPE> =
    LazyLock::new(|| tiktoken_rs::o200k_base().expect("it is inside tiktoken-rs"));

fn check(text: &str) {
    let ours = count(text, Some(&OURS));
    assert_eq!(ours.tokens as usize, REFERENCE.encode_ordinary(text).len(), "{text:?}");
    assert_eq!(ours.by, Encoding::O200kBase);
}

#[test]
fn the_shipped_planes_are_those_of_the_reference() {
    assert!(planes::planes() == PLANES);
}

#[test]
fn every_single_token_counts_as_one() {
    let texts = (0..199_998).filter_map(|rank| String::from_utf8(REFERENCE.decode_bytes(&[rank]).ok()?).ok());
    texts.for_each(|text| check(&text));
}

#[test]
fn special_tokens_in_a_text_are_text() {
    check("<|endoftext|> and <|endofprompt|>");
    assert!(count("<|endoftext|>", Some(&OURS)).tokens > 1);
}

#[test]
fn real_texts_count_as_the_reference_counts_them() {
    let texts = texts::all();
    assert!(texts.len() > 60);
    texts.iter().for_each(|(_, text)| check(text));
}

#[test]
fn runs_are_counted_exactly_up_to_64_kib() {
    for unit in ["a", "A", " ", "\n", "\t", "-", "1", "\u{e9}", "\u{4f60}", "\u{1f642}", "'s", "\u{301}"] {
        check(&unit.repeat(64 * 1024 / unit.len()));
    }
}

#[test]
fn the_longest_run_decides_not_the_length_of_the_text() {
    for (unit, other) in [("a", " "), (" ", "a"), ("\u{1f642}", "\n")] {
        let run = unit.repeat(64 * 1024 / unit.len());
        check(&format!("{other}{run}{other}{run}"));
        let longer = format!("{other}{run}{unit}{other}");
        assert_eq!(count(&longer, Some(&OURS)).by, Encoding::Estimate1, "{unit}");
    }
}

/// What `from_bytes` says of the planes, once the pair of the token at `place` is another.
fn refused(place: usize, left: usize, right: usize) -> String {
    let mut planes = PLANES.to_vec();
    for (side, rank) in [left, right].into_iter().enumerate() {
        for (plane, byte) in rank.to_le_bytes().into_iter().take(3).enumerate() {
            planes[(side * 3 + plane) * PAIRS + place] = byte;
        }
    }
    let error = Vocabulary::from_bytes(&planes).expect_err("the planes are damaged");
    assert_eq!(error.code, Code::InvalidVocabulary);
    error.message
}

#[test]
fn damaged_planes_are_refused_by_name() {
    assert!(refused(1000, 1256, 0).starts_with("expected ranks below 1256,"));
    assert!(refused(1000, 0, 0xff_ffff).starts_with("expected ranks below 1256,"));
    let doubled = refused(PAIRS - 1, 0, 1);
    assert!(doubled.starts_with("expected each token once,"), "{doubled}");
    let short = Vocabulary::from_bytes(&PLANES[6..]).expect_err("a pair is missing");
    assert_eq!(short.code, Code::InvalidVocabulary);
}

#[test]
fn tokens_that_double_in_length_do_not_use_up_the_memory() {
    let ranks: Vec<[u8; 4]> = (255..255 + PAIRS as u32).map(u32::to_le_bytes).collect();
    let side: Vec<u8> = (0..3).flat_map(|plane| ranks.iter().map(move |rank| rank[plane])).collect();
    let error = Vocabulary::from_bytes(&[side.clone(), side].concat()).expect_err("the tokens get too long");
    assert_eq!(error.message, "expected tokens of at most 256 bytes, but found one of 512 instead");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn no_damage_makes_the_vocabulary_panic(
        damage in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut planes = PLANES.to_vec();
        damage.into_iter().for_each(|(at, byte)| planes[at.index(PLANES.len())] = byte);
        if let Ok(vocabulary) = Vocabulary::from_bytes(&planes) {
            prop_assert!(count("The quick brown fox, 你好 \n\n 🙂", Some(&vocabulary)).tokens > 0);
        }
    }
}

proptest! {
    #[test]
    fn random_unicode_counts_as_the_reference_counts_it(text in "\\PC{0,200}|[ \\t\\n\\r'a-z0-9A-Zéßжع你🙂]{0,400}") {
        check(&text);
    }

    #[test]
    fn bytes_that_are_no_vocabulary_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        prop_assert!(Vocabulary::from_bytes(&bytes).is_err());
    }

    #[test]
    fn any_characters_count_as_the_reference_counts_them(text in proptest::collection::vec(any::<char>(), 0..300)) {
        check(&text.into_iter().collect::<String>());
    }
}
