//! The terms of sessions' names, kept in memory: each question asks for them, and they seldom change.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use xxhash_rust::xxh64::xxh64;

use crate::recall::terms::{Field, TermAnalyzer};

/// The most names kept, also those that no session has any more; at more, all are dropped.
const MAX_NAMES: usize = 100_000;

/// The sorted term hashes of names, by the hash of the names.
#[derive(Default)]
pub(in crate::operation::store) struct NameTermCache(BTreeMap<u64, Box<[u64]>>);

impl NameTermCache {
    /// Returns which of `terms` these names have, a bit for each.
    pub fn match_terms(&mut self, names: &[&str], terms: &[u64], words: &mut TermAnalyzer) -> u64 {
        if self.0.len() > MAX_NAMES {
            self.0.clear();
        }
        let known = self.0.entry(hash_term(&names.join("\0"))).or_insert_with(|| hash_names(names, words));
        let bit = |(nth, term): (usize, &u64)| u64::from(known.binary_search(term).is_ok()) << nth;
        terms.iter().enumerate().map(bit).sum()
    }
}

/// Hashes a term.
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
