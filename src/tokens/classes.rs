//! What the patterns of the vocabularies ask of a character: in which of eight classes it is.

use alloc::vec::Vec;

/// One bit each, so that a pattern asks for several at once. The end of a text is in none.
pub(crate) const OTHER: u8 = 1;
/// Upper and title case letters.
pub(crate) const UPPER: u8 = 1 << 1;
/// Lower case letters.
pub(crate) const LOWER: u8 = 1 << 2;
/// Letters without a case, and modifiers.
pub(crate) const CASELESS: u8 = 1 << 3;
/// Marks.
pub(crate) const MARK: u8 = 1 << 4;
/// Numbers.
pub(crate) const NUMBER: u8 = 1 << 5;
/// Blanks but for the next.
pub(crate) const BLANK: u8 = 1 << 6;
/// CR and LF.
pub(crate) const NEWLINE: u8 = 1 << 7;

/// Any letter.
pub(crate) const LETTER: u8 = UPPER | LOWER | CASELESS;
/// Any whitespace.
pub(crate) const SPACE: u8 = BLANK | NEWLINE;

// Made by examples/classes.rs, which says how.
const RUNS: &[u8] = include_bytes!("classes.runs");

const ASCII: usize = 128;

/// The class of each character.
pub(crate) struct Classes {
    // Nearly all that is asked is ASCII, and so it is found without a look at where the table ends.
    ascii: [u8; ASCII],
    classes: Vec<u8>,
}

impl Classes {
    pub fn new() -> Classes {
        let mut all = Vec::new();
        let mut runs = RUNS.iter();
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

    /// The class of the character that begins at a byte, and its length in bytes; at the end of the text none.
    #[inline(always)]
    pub fn class_at(&self, text: &[u8], at: usize) -> (u8, usize) {
        match text.get(at) {
            None => (0, 0),
            Some(&byte) if byte < 0x80 => (self.ascii[usize::from(byte) & (ASCII - 1)], 1),
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
