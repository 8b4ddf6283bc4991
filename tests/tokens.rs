//! Counting is exact: tiktoken-rs is the reference.
#![cfg(feature = "o200k")]
#![allow(missing_docs)]
#![cfg(not(target_arch = "wasm32"))]

use std::sync::LazyLock;

use leftoff::tokens::{Encoding, Vocabulary, count, estimate};
use proptest::prelude::*;
use tiktoken_rs::CoreBPE;

#[path = "../examples/planes.rs"]
#[allow(dead_code)]
mod planes;

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
    assert!(planes::planes() == include_bytes!("../src/tokens/o200k_base.planes"));
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
    fn the_estimate_of_a_whole_is_about_that_of_its_parts(a in "\\PC{0,200}", b in "\\PC{0,200}") {
        let whole = i64::from(estimate(&format!("{a}{b}")));
        let parts = i64::from(estimate(&a)) + i64::from(estimate(&b));
        prop_assert!((whole - parts).abs() <= 4, "{whole} {parts}");
    }
}
