//! Chance with a seed, and how much of a test is asked for: `LEFTOFF_SEED`, `LEFTOFF_SCALE`.
#![allow(dead_code, reason = "each test uses its part of it")]

use std::env;

/// A sequence that is the same for the same seed: SplitMix64.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 up to but not including `end`.
    pub fn number_below(&mut self, end: usize) -> usize {
        (self.number() % end as u64) as usize
    }

    pub fn one_in(&mut self, many: usize) -> bool {
        self.number_below(many) == 0
    }
}

/// The seed asked for.
pub fn seed() -> u64 {
    env::var("LEFTOFF_SEED").map_or(1, |seed| seed.parse().expect("a number in LEFTOFF_SEED"))
}

/// How many of `whole` are asked for by `LEFTOFF_SCALE`; without it so many as `cargo test` has time for.
pub fn scale_count(whole: usize, short: usize) -> usize {
    let Ok(scale) = env::var("LEFTOFF_SCALE") else { return short };
    let scale: f64 = scale.parse().expect("a number in LEFTOFF_SCALE");
    ((whole as f64 * scale).round() as usize).max(1)
}

/// Says how many of something were tried; `tests/faults/logs.fault.mjs` reads it.
pub fn print_count(what: &str, count: usize) {
    println!("counted {what}: {count}");
}
