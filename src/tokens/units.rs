//! What the pieces of a text cost in `estimate-1`.
//!
//! The costs are those of `o200k_base`, fitted by least squares to prose in about 100 languages, code, logs and data, and
//! then raised by a few percent, since a context that does not fit is worse than one that has room left. They are part
//! of the name: other costs would be `estimate-2`.

/// Costs are in these parts of a token.
pub(super) const PARTS: u64 = 32;

/// How many rows and columns of [`PAIRS`] are for the letters a to z. One is for the other letters of Latin-1, and one
/// for the Latin letters beyond it.
pub(super) const A_TO_Z: u8 = 26;

const LATIN_ROWS: usize = A_TO_Z as usize + 2;

/// What is charged for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// A word that nothing belongs to but its letters.
    Word,
    /// A word and the space before it.
    WordAfterBlank,
    /// A word and the mark before it.
    WordAfterMark,
    /// Two Latin letters of one word, by their rows.
    Pair(u8, u8),
    /// A pair far behind the beginning of its word: there must be a border sooner or later.
    LatePair(u8, u8),
    /// A letter for the third time or more.
    SameLetter,
    /// Two different capitals of one word, beside their pair.
    Capitals,
    /// Up to three digits.
    Digits,
    /// The first of several marks.
    Mark,
    /// A mark that follows a different one.
    OtherMark,
    /// A mark that follows the same one.
    SameMark,
    /// Blanks up to the last end of a line among them.
    LineEnd,
    /// Blanks that belong to no word, as far as one token holds them.
    Blanks,
    /// A blank that follows a different one, where many do.
    OtherBlank,
    /// The first of several letters of other scripts, or a symbol, by its range.
    First(u8),
    /// A further one of several letters of other scripts, or the same symbol again, by its range.
    Next(u8),
    /// A character of no range, by the number of its bytes.
    Unlisted(u8),
}

impl Unit {
    /// The cost in parts of a token.
    pub(super) fn cost(self) -> u8 {
        match self {
            Unit::Word => 43,
            Unit::WordAfterBlank => 31,
            Unit::WordAfterMark => 36,
            Unit::Pair(left, right) => pair(left, right),
            Unit::LatePair(left, right) => pair(left, right).max(8),
            Unit::SameLetter => 4,
            Unit::Capitals => 2,
            Unit::Digits => 33,
            Unit::Mark => 25,
            Unit::OtherMark => 8,
            Unit::SameMark => 1,
            Unit::LineEnd => 44,
            Unit::Blanks => 38,
            Unit::OtherBlank => 16,
            Unit::First(range) => RANGES[range as usize].first,
            Unit::Next(range) => RANGES[range as usize].next,
            Unit::Unlisted(bytes) => bytes * 34,
        }
    }
}

/// Characters that cost about the same.
pub(super) struct Range {
    pub(super) start: char,
    pub(super) end: char,
    /// Letters, which make words; else symbols, which do not.
    pub(super) letters: bool,
    first: u8,
    next: u8,
}

impl Range {
    /// The place in [`RANGES`] of the range that a character lies in.
    pub(super) fn of(char: char) -> Option<usize> {
        let place = RANGES.partition_point(|range| range.end < char);
        RANGES.get(place).is_some_and(|range| range.start <= char).then_some(place)
    }
}

const fn letters(start: char, end: char, first: u8, next: u8) -> Range {
    Range { start, end, letters: true, first, next }
}

const fn symbols(start: char, end: char, first: u8, next: u8) -> Range {
    Range { start, end, letters: false, first, next }
}

/// Sorted, without overlap. The names of scripts are those of most of their characters here.
#[rustfmt::skip]
pub(super) static RANGES: [Range; 52] = [
    symbols('\u{a1}', '\u{bf}', 34, 34),        // Latin-1
    letters('\u{25a}', '\u{2ff}', 40, 40),      // phonetic letters
    letters('\u{300}', '\u{36f}', 33, 77),      // combining marks
    letters('\u{370}', '\u{3ff}', 12, 8),       // Greek
    letters('\u{400}', '\u{40f}', 35, 38),      // Cyrillic
    letters('\u{410}', '\u{44f}', 6, 6),        // Cyrillic, Russian letters
    letters('\u{450}', '\u{52f}', 5, 37),       // Cyrillic
    letters('\u{530}', '\u{58f}', 5, 9),        // Armenian
    letters('\u{590}', '\u{5ff}', 5, 12),       // Hebrew
    letters('\u{600}', '\u{66f}', 5, 8),        // Arabic
    letters('\u{670}', '\u{6c4}', 5, 3),        // Arabic, letters of Persian and Urdu
    letters('\u{6c5}', '\u{6cb}', 35, 38),      // Arabic, letters of Uyghur
    letters('\u{6cc}', '\u{6cf}', 5, 3),        // Arabic, letters of Persian
    letters('\u{6d0}', '\u{6ff}', 5, 38),       // Arabic, letters of Uyghur
    letters('\u{900}', '\u{97f}', 3, 8),        // Devanagari
    letters('\u{980}', '\u{9ff}', 5, 10),       // Bengali
    letters('\u{a00}', '\u{a7f}', 5, 20),       // Gurmukhi
    letters('\u{a80}', '\u{aff}', 5, 12),       // Gujarati
    letters('\u{b00}', '\u{b7f}', 35, 34),      // Oriya
    letters('\u{b80}', '\u{bff}', 35, 8),       // Tamil
    letters('\u{c00}', '\u{c7f}', 7, 15),       // Telugu
    letters('\u{c80}', '\u{cff}', 35, 9),       // Kannada
    letters('\u{d00}', '\u{d7f}', 32, 7),       // Malayalam
    letters('\u{d80}', '\u{dff}', 6, 18),       // Sinhala
    letters('\u{e00}', '\u{e7f}', 18, 13),      // Thai
    letters('\u{e80}', '\u{eff}', 83, 64),      // Lao
    letters('\u{f00}', '\u{fff}', 83, 51),      // Tibetan
    letters('\u{1000}', '\u{109f}', 7, 17),     // Myanmar
    letters('\u{10a0}', '\u{10ff}', 15, 7),     // Georgian
    letters('\u{1200}', '\u{139f}', 84, 70),    // Ethiopic
    letters('\u{1780}', '\u{17ff}', 5, 18),     // Khmer
    letters('\u{1f00}', '\u{1fff}', 83, 73),    // Greek with accents
    symbols('\u{200b}', '\u{200f}', 31, 31),    // joiners and direction marks
    symbols('\u{2010}', '\u{206f}', 37, 4),     // dashes, quotation marks, bullets
    symbols('\u{2070}', '\u{20ff}', 70, 70),    // small digits, currencies
    symbols('\u{2100}', '\u{218f}', 70, 70),    // letter-like symbols
    symbols('\u{2190}', '\u{21ff}', 31, 31),    // arrows
    symbols('\u{2200}', '\u{23ff}', 60, 60),    // mathematics, technical symbols
    symbols('\u{2500}', '\u{257f}', 56, 3),     // lines of boxes
    symbols('\u{2580}', '\u{2bff}', 43, 16),    // blocks, shapes, dingbats
    symbols('\u{3001}', '\u{303f}', 47, 47),    // punctuation of East Asia
    letters('\u{3040}', '\u{309f}', 18, 26),    // Hiragana
    letters('\u{30a0}', '\u{30ff}', 35, 12),    // Katakana
    letters('\u{3400}', '\u{4dbf}', 84, 77),    // rare Han
    letters('\u{4e00}', '\u{9fff}', 21, 24),    // Han
    letters('\u{ac00}', '\u{d7a3}', 13, 15),    // Hangul
    symbols('\u{e000}', '\u{f8ff}', 105, 105),  // private use
    symbols('\u{fe00}', '\u{fe0f}', 31, 31),    // variation selectors
    symbols('\u{ff00}', '\u{ffff}', 31, 8),     // wide forms, replacement character
    symbols('\u{1d400}', '\u{1d7ff}', 105, 105),// letters of mathematics
    symbols('\u{1f000}', '\u{1f1ff}', 51, 51),  // flags, cards
    symbols('\u{1f300}', '\u{1faff}', 81, 81),  // emoji
];

fn pair(left: u8, right: u8) -> u8 {
    match PAIRS[left as usize][right as usize] {
        digit @ b'0'..=b'9' => digit - b'0',
        letter => letter - b'a' + 10,
    }
}

/// A digit or a letter (a is 10) for each pair of Latin letters, without regard to case: how often the border of two
/// tokens runs between them, in parts of a token. Pairs that are common in English and in code are seldom cut.
static PAIRS: [[u8; LATIN_ROWS]; LATIN_ROWS] = [
    *b"i0i0ze0ehw0000z8z000dkgi0z1r",
    *b"dmlm0ojtkdr0qsahmiai0mlo0qi8",
    *b"cefg0lq06r00oo0ip4c00nlqkbcg",
    *b"0qg00ems0ysimh0nr6alfmqoikaa",
    *b"0c0000kl7hz400jd2000g060eybg",
    *b"0jji10rs0oojng0pl1d01nppkpef",
    *b"trru0nm8fsn8kclqp49lgpqmkgcd",
    *b"0rpm0uom0qnlkk0rs8l0iompnq00",
    *b"i100900jufr7000el900z0lqvef8",
    *b"srnl4popjolqlnzmrqcrjoqmopif",
    *b"arpk0lo0eoqtljzmpukyqqpookjl",
    *b"0ks102th0hn0pl0lmn319hvp0qz5",
    *b"0ail0opw4po13q00okflbsnonoma",
    *b"0q005h04ecfmja0hpk00g7qo1skp",
    *b"z700l0cr3mg02050v000070mlkd7",
    *b"0nnp0kcaloo0rl06o0e04ooi2shk",
    *b"znqpspoqwpnpnqplnpor0oskpmee",
    *b"0y040aan0ve6d00jn000bhqo0jjg",
    *b"io0k0gi94th9pg00mc002hjp6dbe",
    *b"0pff0qo00qoe6o0an00jbo6m0zcl",
    *b"ca3f09mm9jga00z0s000ipofqze7",
    *b"6non0mno8noohn8onhqqqlmosrj7",
    *b"0rqlepp00nlqpl1nt7bnrmlvnmhe",
    *b"nlckfmnsillpikp3mtc0onrgnqdd",
    *b"anlqsppqmspdkfa0re7ispknkqmc",
    *b"hkor0pnrznprokiqoppjhsqohude",
    *b"ie0e4ebenfli9a0dcrqneebfde5f",
    *b"fh0gbehftjfcf0b0enjd2ifdec90",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_sorted_and_do_not_overlap() {
        assert!(RANGES.iter().all(|range| range.start <= range.end));
        assert!(RANGES.windows(2).all(|pair| pair[0].end < pair[1].start));
    }

    #[test]
    fn every_pair_is_a_digit_or_a_small_letter() {
        let marks: Vec<&u8> = PAIRS.iter().flatten().collect();
        assert!(marks.iter().all(|mark| mark.is_ascii_digit() || mark.is_ascii_lowercase()));
    }
}
