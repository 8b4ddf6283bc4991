//! Looks up the pieces that are one token. Most pieces are, and they are short.

use alloc::vec;
use alloc::vec::Vec;

use crate::tokens::pairs::slot;

/// The longest tokens, in bytes, that fit with their length into one 64-bit word; `LONG_BYTES` fits into two. Longer
/// pieces are merged.
const SHORT_BYTES: usize = 7;
const LONG_BYTES: usize = 15;

/// The bit of a key at which the length begins.
const LENGTH_SHIFT: u32 = 120;
const BYTES_MASK: u128 = (1 << LENGTH_SHIFT) - 1;

/// The tokens of at most 15 bytes, as an open-addressing table: a slot is a token's key, or 0.
pub(crate) struct TokenTable {
    short: Vec<u64>,
    short_shift: u32,
    long: Vec<[u64; 2]>,
    long_shift: u32,
}

impl TokenTable {
    /// Builds the table from the single bytes and the pairs of earlier tokens.
    pub fn new(bytes: impl Iterator<Item = u8>, pairs: impl Iterator<Item = (u32, u32)>) -> TokenTable {
        let mut keys: Vec<u128> = bytes.map(|byte| u128::from(byte) | 1 << LENGTH_SHIFT).collect();
        for (left, right) in pairs {
            keys.push(join_keys(keys[left as usize], keys[right as usize]));
        }
        let count = |longest: usize| keys.iter().filter(|key| length(**key) <= longest).count();
        let short = count(SHORT_BYTES);
        let (short_bits, long_bits) = (bits(short), bits(count(LONG_BYTES) - short));
        let mut words = TokenTable {
            short: vec![0; 1 << short_bits],
            short_shift: u64::BITS - short_bits,
            long: vec![[0; 2]; 1 << long_bits],
            long_shift: u64::BITS - long_bits,
        };
        for key in keys {
            words.insert(key);
        }
        words
    }

    fn insert(&mut self, key: u128) {
        let (low, high) = (key as u64, (key >> 64) as u64);
        if length(key) <= SHORT_BYTES {
            let at = self.place_of_short(low | high);
            self.short[at] = low | high;
        } else if length(key) <= LONG_BYTES {
            let at = self.place_of_long([low, high]);
            self.long[at] = [low, high];
        }
    }

    /// True if a piece of a text is one token.
    #[inline(always)]
    pub fn has(&self, text: &[u8], start: usize, end: usize) -> bool {
        match end - start {
            // Every byte is a token.
            1 => true,
            length @ 2..=SHORT_BYTES => {
                let key = first(eight(text, start), length) | (length as u64) << 56;
                self.short[self.place_of_short(key)] == key
            }
            length @ 8..=LONG_BYTES => {
                let rest = first(eight(text, start + 8), length - 8);
                let key = [eight(text, start), rest | (length as u64) << 56];
                are_equal(self.long[self.place_of_long(key)], key)
            }
            _ => false,
        }
    }

    // Returns the slot of a key, or the free one where it would be.
    #[inline(always)]
    fn place_of_short(&self, key: u64) -> usize {
        let mut at = slot(key, self.short_shift);
        while self.short[at] != 0 && self.short[at] != key {
            at = (at + 1) & (self.short.len() - 1);
        }
        at
    }

    #[inline(always)]
    fn place_of_long(&self, key: [u64; 2]) -> usize {
        let mut at = slot(mix_key(key), self.long_shift);
        while !are_equal(self.long[at], [0; 2]) && !are_equal(self.long[at], key) {
            at = (at + 1) & (self.long.len() - 1);
        }
        at
    }
}

fn length(key: u128) -> usize {
    (key >> LENGTH_SHIFT) as usize
}

fn join_keys(left: u128, right: u128) -> u128 {
    let length_of_both = length(left) + length(right);
    if length_of_both > LONG_BYTES {
        // A key that no lookup uses, for a token too long; tokens made of it are too long, too.
        return 0xff << LENGTH_SHIFT;
    }
    (left & BYTES_MASK)
        | (right & BYTES_MASK) << (8 * length(left))
        | (length_of_both as u128) << LENGTH_SHIFT
}

// The table has twice the room it needs: a lookup then ends after one or two slots.
fn bits(count: usize) -> u32 {
    (count.max(1) * 2).next_power_of_two().ilog2()
}

// Comparing arrays would be a call in a module optimized for size.
#[inline(always)]
fn are_equal(one: [u64; 2], other: [u64; 2]) -> bool {
    one[0] == other[0] && one[1] == other[1]
}

#[inline(always)]
fn mix_key([low, high]: [u64; 2]) -> u64 {
    low.wrapping_add(high.wrapping_mul(0xc2b2_ae3d_27d4_eb4f)).rotate_left(32) ^ low
}

// Returns at most the first seven of eight bytes.
#[inline(always)]
fn first(bytes: u64, count: usize) -> u64 {
    bytes & ((1 << (8 * count)) - 1)
}

// Returns the eight bytes from a place on, the first lowest; beyond the text they are 0.
#[inline(always)]
fn eight(text: &[u8], at: usize) -> u64 {
    if let Some(bytes) = text.get(at..).and_then(|rest| rest.first_chunk()) {
        return u64::from_le_bytes(*bytes);
    }
    text.iter().skip(at).rev().fold(0, |bytes, byte| bytes << 8 | u64::from(*byte))
}
