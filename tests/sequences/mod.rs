//! Random sequences of API calls over a simulated file whose writes fail in every way a write can: what was written
//! before stays as it was, what was committed is there once for every reader, and a handle knows what a new one learns
//! from the file.
//! Tries: src/session/log.rs, src/session/handle/
#![allow(missing_docs)]
#![cfg(not(target_arch = "wasm32"))]

use crate::chance;
mod host;
mod world;

use chance::{Chance, print_count, scale_count, seed};
use world::World;

const FULL_CASES: usize = 100_000;

#[test]
fn no_sequence_of_calls_loses_or_repeats_a_committed_record() {
    let sequences = scale_count(FULL_CASES, 1_000);
    let (mut calls, mut committed, mut given_up) = (0, 0, 0);
    for sequence in 0..sequences {
        let chance = Chance::new(seed().wrapping_mul(1 << 32).wrapping_add(sequence as u64));
        let mut world = World::new(chance, format!("sequence {sequence} of seed {}", seed()));
        for _ in 0..12 {
            world.step();
            calls += 1;
        }
        world.end();
        committed += world.committed_lines.len();
        given_up += world.given_up;
    }
    assert!(committed > sequences && given_up > sequences / 100, "the faults are too rare or too many");
    print_count("sequences", sequences);
    print_count("steps in them", calls);
    print_count("committed messages", committed);
    print_count("batches given up", given_up);
}
