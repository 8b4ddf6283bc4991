//! The eight classes of characters that the vocabularies' patterns distinguish.
//!
//! The classes are a table with one byte per code point, unpacked from 3.7 KB of runs when a vocabulary is loaded.

use alloc::vec::Vec;

/// Each class is one bit, so that a pattern can test for several at once. The end of a text is in none.
pub(crate) const OTHER: u8 = 1;
/// Uppercase and titlecase letters.
pub(crate) const UPPER: u8 = 1 << 1;
/// Lowercase letters.
pub(crate) const LOWER: u8 = 1 << 2;
/// Caseless letters, and modifiers.
pub(crate) const CASELESS: u8 = 1 << 3;
/// Marks.
pub(crate) const MARK: u8 = 1 << 4;
/// Numbers.
pub(crate) const NUMBER: u8 = 1 << 5;
/// Whitespace other than newlines.
pub(crate) const BLANK: u8 = 1 << 6;
/// CR and LF.
pub(crate) const NEWLINE: u8 = 1 << 7;

/// Any letter.
pub(crate) const LETTER: u8 = UPPER | LOWER | CASELESS;
/// Any whitespace.
pub(crate) const SPACE: u8 = BLANK | NEWLINE;

// Made by tests/programs/classes.rs, which says how.
const CLASS_RUNS: &[u8] = include_bytes!("classes.runs");

const ASCII_CHARS: usize = 128;

/// The class of each character.
pub(crate) struct Classes {
    // Nearly all lookups are ASCII; this array needs no bounds check.
    ascii: [u8; ASCII_CHARS],
    classes: Vec<u8>,
}

impl Classes {
    pub fn new() -> Classes {
        let mut all = Vec::new();
        let mut runs = CLASS_RUNS.iter();
        while let Some(&first) = runs.next() {
            let mut length = usize::from(first >> 3 & 15);
            let (mut byte, mut shift) = (first, 4);
            while byte & 0x80 != 0 {
                byte = runs.next().copied().unwrap_or_default();
                length |= usize::from(byte & 0x7f) << shift;
                shift += 7;
            }
            all.resize(all.len() + length, 1 << (first & 7));
        }
        let ascii = core::array::from_fn(|at| all[at]);
        Classes { ascii, classes: all }
    }

    /// Returns the class and the length in bytes of the character at a byte; no class at the end of the text.
    #[inline(always)]
    pub fn class_at(&self, text: &[u8], at: usize) -> (u8, usize) {
        match text.get(at) {
            None => (0, 0),
            Some(&byte) if byte < 0x80 => (self.ascii[usize::from(byte) & (ASCII_CHARS - 1)], 1),
            Some(&byte) => self.beyond_ascii(byte, &text[at + 1..]),
        }
    }

    fn beyond_ascii(&self, first: u8, rest: &[u8]) -> (u8, usize) {
        let follow = match first {
            ..0xe0 => 1,
            0xe0..0xf0 => 2,
            0xf0.. => 3,
        };
        let code = rest
            .iter()
            .take(follow)
            .fold(usize::from(first) & (0x3f >> follow), |code, byte| code << 6 | usize::from(byte & 0x3f));
        (self.classes.get(code).copied().unwrap_or(OTHER), follow + 1)
    }
}
