//! Counting is exact: tiktoken-rs is the reference.
//! Tries: src/tokens/, src/tokens/vocabulary.rs
#![cfg(feature = "o200k")]
#![allow(missing_docs)]
#![cfg(not(target_arch = "wasm32"))]

use leftoff::error::Code;
use leftoff::tokens::{Encoding, Vocabulary, count};
use proptest::prelude::*;
use reference::{CL100K, O200K, VOCABULARY_PAIRS, VocabularyPair, check};

#[path = "programs/classes.rs"]
#[allow(dead_code, reason = "an example has a main, which a test does not call")]
mod classes;

#[path = "programs/planes.rs"]
#[allow(dead_code, reason = "an example has a main, which a test does not call")]
mod planes;

use crate::reference;

use crate::texts;

#[test]
fn the_shipped_planes_are_those_of_the_reference() {
    assert!(planes::planes("o200k_base") == O200K);
    assert!(planes::planes("cl100k_base") == CL100K);
}

#[test]
fn the_shipped_classes_are_those_of_the_reference() {
    assert!(classes::runs() == include_bytes!("../src/tokens/classes.runs"));
}

#[test]
fn every_single_token_counts_as_one() {
    for VocabularyPair { ours, reference, tokens } in &*VOCABULARY_PAIRS {
        let texts =
            (0..*tokens).filter_map(|rank| String::from_utf8(reference.decode_bytes(&[rank]).ok()?).ok());
        let found = texts.inspect(|text| {
            assert_eq!(ours.count(text) as usize, reference.encode_ordinary(text).len(), "{text:?}")
        });
        assert!(found.count() > 90_000);
    }
}

#[test]
fn special_tokens_in_a_text_are_text() {
    check("<|endoftext|> and <|endofprompt|>");
    assert!(VOCABULARY_PAIRS.iter().all(|both| both.ours.count("<|endoftext|>") > 1));
}

#[test]
fn real_texts_count_as_the_reference_counts_them() {
    let texts = texts::all_texts();
    assert!(texts.len() > 60);
    texts.iter().for_each(|(_, text)| check(text));
}

#[test]
fn every_character_is_cut_as_the_reference_cuts_it() {
    for code in (0..=0x3_3479).chain(0xe_0000..0xe_0200).filter_map(char::from_u32) {
        check(&format!("{code}{code}a {code}B!{code}1{code} \n{code}"));
    }
}

#[test]
fn runs_are_counted_as_the_reference_counts_them() {
    for unit in [
        "a",
        "A",
        " ",
        "\n",
        "\t",
        "-",
        "1",
        "\u{e9}",
        "\u{4f60}",
        "\u{1f642}",
        "'s",
        "\u{301}",
        "ab",
        " a",
        "\r\n ",
    ] {
        for length in [1, 62, 63, 64, 1000, 15_000, 17_000, 40_000] {
            check(&unit.repeat(length / unit.len()));
        }
    }
}

fn any_text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-z]{1,9}",
        "[A-Z]{1,4}[a-z]{0,4}",
        "[0-9]{1,7}",
        "\\PC{1,4}",
        "[ \t\r\n\u{a0}\u{2003}]{1,4}",
        "['\u{2019}](s|S|t|re|RE|ve|m|ll|d|\u{17f}|x)",
        "[!-/:-@]{1,5}",
        "[\u{300}-\u{36f}]{1,2}",
        "[\u{4e00}-\u{4fff}]{1,4}",
        any::<char>().prop_map(String::from)
    ];
    proptest::collection::vec(word, 0..24).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn any_text_counts_as_the_reference_counts_it(text in any_text()) {
        check(&text);
    }

    #[test]
    fn counting_stops_above_the_limit(text in any_text(), limit in 0u32..40) {
        for both in &*VOCABULARY_PAIRS {
            let whole = both.ours.count(&text);
            prop_assert!(both.stops(&text, whole, limit), "{:?} up to {limit} of {whole}", both.ours);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_unbroken_run_of_letters_counts_as_the_reference_counts_it(
        letters in prop::sample::select(vec!["a", "ab", "aeinorst", "abcdefghijklmnopqrstuvwxyz", "-=", "\u{4f60}\u{597d}\u{7684}\u{4e00}", "-"]),
        places in proptest::collection::vec(any::<prop::sample::Index>(), 1..3000),
        length in 1..40_000usize,
    ) {
        let letters: Vec<char> = letters.chars().collect();
        let text: String = places.iter().cycle().take(length).map(|place| *place.get(&letters)).collect();
        check(&text);
    }
}

#[test]
fn the_shipped_vocabulary_is_inside_the_library() {
    let text = "The quick brown fox, \u{4f60}\u{597d} \n\n \u{1f642}";
    let found = count(text, Some(&Vocabulary::o200k_base()));
    assert_eq!((found.encoding, found.tokens), (Encoding::O200kBase, VOCABULARY_PAIRS[0].ours.count(text)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn damaged_planes_are_refused_by_name(at in any::<prop::sample::Index>(), bit in 0..8u8, cut in any::<bool>()) {
        for planes in [O200K, CL100K] {
            let mut planes = planes.to_vec();
            let at = at.index(planes.len());
            planes[at] ^= 1 << bit;
            if cut {
                planes.truncate(at);
            }
            let error = Vocabulary::from_bytes(&planes).expect_err("the planes are damaged");
            prop_assert_eq!(error.code, Code::InvalidVocabulary);
        }
    }
}
