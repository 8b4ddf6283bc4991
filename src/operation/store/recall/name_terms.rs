//! The words of what sessions are called. They are asked for at each question, and change seldom.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use xxhash_rust::xxh64::xxh64;

use crate::recall::terms::{Field, TermAnalyzer};

/// Names that nobody has any more are kept, too, until there are so many.
const MOST: usize = 100_000;

/// The words of names, each as its hash, by the hash of the names.
#[derive(Default)]
pub(in crate::operation::store) struct NameTermCache(BTreeMap<u64, Box<[u64]>>);

impl NameTermCache {
    /// Which of the terms these names have, a bit for each.
    pub fn match_terms(&mut self, names: &[&str], terms: &[u64], words: &mut TermAnalyzer) -> u64 {
        if self.0.len() > MOST {
            self.0.clear();
        }
        let known = self.0.entry(hash_term(&names.join("\0"))).or_insert_with(|| hash_names(names, words));
        let bit = |(nth, term): (usize, &u64)| u64::from(known.binary_search(term).is_ok()) << nth;
        terms.iter().enumerate().map(bit).sum()
    }
}

/// What stands for a word.
pub(super) fn hash_term(word: &str) -> u64 {
    xxh64(word.as_bytes(), 0)
}

fn hash_names(names: &[&str], words: &mut TermAnalyzer) -> Box<[u64]> {
    let mut hashes = Vec::new();
    for name in names {
        words.for_each_term(name, Field::Said, &mut |term| hashes.push(hash_term(term)));
    }
    hashes.sort_unstable();
    hashes.dedup();
    hashes.into()
}
