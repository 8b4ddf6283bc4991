//! The table of token pairs that merge, with the token that each becomes.

use alloc::vec;
use alloc::vec::Vec;

/// No token.
pub(crate) const NO_TOKEN: u32 = u32::MAX;

// A rank has at most 18 bits.
const RANK_BITS: u32 = 18;
const RANK_MASK: u64 = (1 << RANK_BITS) - 1;

/// An open-addressing table: a slot is the two ranks and the merged one, or 0.
pub(crate) struct Pairs {
    slots: Vec<u64>,
    shift: u32,
}

impl Pairs {
    /// Creates a table for `count` pairs.
    pub fn new(count: usize) -> Pairs {
        let bits = (count * 2).next_power_of_two().ilog2();
        Pairs { slots: vec![0; 1 << bits], shift: u64::BITS - bits }
    }

    /// Inserts a pair that is not in the table.
    pub fn insert(&mut self, left: u32, right: u32, both: u32) {
        let key = key(left, right);
        let mut at = slot(key, self.shift);
        while self.slots[at] != 0 {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at] = key << RANK_BITS | u64::from(both);
    }

    /// Returns the token that both become, or [`NO_TOKEN`].
    #[inline(always)]
    pub fn get(&self, left: u32, right: u32) -> u32 {
        let key = key(left, right);
        let mut at = slot(key, self.shift);
        loop {
            let found = self.slots[at];
            if found >> RANK_BITS == key && found != 0 {
                return (found & RANK_MASK) as u32;
            }
            if found == 0 {
                return NO_TOKEN;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }
}

#[inline(always)]
fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << RANK_BITS | u64::from(right)
}

/// Returns the first slot to look for a key.
#[inline(always)]
pub(crate) fn slot(key: u64, shift: u32) -> usize {
    // Multiplying by the golden ratio spreads similar keys in the upper bits.
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> shift) as usize
}
