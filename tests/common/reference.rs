//! The reference that counts are held against, tiktoken-rs, beside ours.
#![allow(dead_code, reason = "each test uses its part of it")]

use std::sync::LazyLock;

use leftoff::tokens::Vocabulary;
use tiktoken_rs::CoreBPE;

pub const O200K: &[u8] = include_bytes!("../../src/tokens/o200k_base.planes");
pub const CL100K: &[u8] = include_bytes!("../../src/tokens/cl100k_base.planes");

/// A vocabulary of ours, and the reference.
pub struct VocabularyPair {
    pub ours: Vocabulary,
    pub reference: CoreBPE,
    pub tokens: u32,
}

impl VocabularyPair {
    /// What the reference counts, and what we do.
    pub fn counts(&self, text: &str) -> (u32, u32) {
        (self.reference.encode_ordinary(text).len() as u32, self.ours.count(text))
    }

    /// Whether counting up to a limit gives a count within the limit, and some number above it otherwise.
    pub fn stops(&self, text: &str, whole: u32, limit: u32) -> bool {
        let stopped = self.ours.count_up_to(text, limit);
        if whole <= limit { stopped == whole } else { stopped > limit }
    }
}

/// o200k_base and cl100k_base.
pub static VOCABULARY_PAIRS: LazyLock<[VocabularyPair; 2]> = LazyLock::new(|| {
    let both = |planes, reference, tokens| VocabularyPair {
        ours: Vocabulary::from_bytes(planes).expect("it is known"),
        reference,
        tokens,
    };
    let inside = "it is inside tiktoken-rs";
    [
        both(O200K, tiktoken_rs::o200k_base().expect(inside), 199_998),
        both(CL100K, tiktoken_rs::cl100k_base().expect(inside), 100_256),
    ]
});

/// Panics where a text counts otherwise than the reference counts it, or its count is beyond itself as a limit.
pub fn check(text: &str) {
    for both in &*VOCABULARY_PAIRS {
        let (reference, ours) = both.counts(text);
        assert_eq!(ours, reference, "{:?} {text:?}", both.ours);
        assert!(both.stops(text, ours, ours), "{:?} up to {ours} {text:?}", both.ours);
    }
}
