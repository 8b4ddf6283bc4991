//! The costs of text pieces in `estimate-1`.
//!
//! The costs are those of `o200k_base`, fitted by least squares to prose in about 100 languages, code, logs and data,
//! and raised by a few percent, since a context that does not fit is worse than one with room left. They were then
//! adjusted until most files are within 90 to 140 percent of the counts of Llama, Qwen, Mistral and DeepSeek, too;
//! where these conflict, `o200k_base` takes precedence. They are part of the name: other costs would be `estimate-2`.

/// Costs are in 32nds of a token.
pub(super) const UNITS_PER_TOKEN: u64 = 32;

/// The rows and columns of [`PAIRS`] for the letters a to z. One more is for the other letters of Latin-1, and one for
/// the Latin letters beyond.
pub(super) const LETTER_COUNT: u8 = 26;

const LATIN_ROWS: usize = LETTER_COUNT as usize + 2;

/// The units that are charged for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// A word of letters alone.
    Word,
    /// A word with the space before it.
    WordAfterBlank,
    /// A word with the mark before it.
    WordAfterMark,
    /// Two adjacent Latin letters of a word, by their rows.
    Pair(u8, u8),
    /// A pair far from the beginning of its word: sooner or later a token must end.
    LatePair(u8, u8),
    /// A letter repeated for the third time or more.
    SameLetter,
    /// Two different capitals of a word, in addition to their pair.
    Capitals,
    /// The first of up to three digits.
    Digits,
    /// The second or third digit: a token of its own in Qwen and Mistral, free elsewhere.
    NextDigit,
    /// The first of several marks.
    Mark,
    /// A mark after a different one.
    OtherMark,
    /// A mark after the same one.
    SameMark,
    /// Blanks up to their last line end.
    LineEnd,
    /// Blanks that belong to no word, as many as one token holds.
    Blanks,
    /// A blank after a different one, where many change.
    OtherBlank,
    /// The first of several letters of another script, or a symbol, by its range.
    First(u8),
    /// A further letter of another script, or the same symbol again, by its range.
    Next(u8),
    /// A character outside all ranges, by its length in bytes.
    Unlisted(u8),
}

impl Unit {
    /// Returns the cost in parts of a token.
    pub(super) fn cost(self) -> u8 {
        match self {
            Unit::Word => 34,
            Unit::WordAfterBlank => 29,
            Unit::WordAfterMark => 48,
            Unit::Pair(left, right) => pair_cost(left, right),
            Unit::LatePair(left, right) => pair_cost(left, right).max(8),
            Unit::SameLetter => 4,
            Unit::Capitals => 2,
            Unit::Digits => 45,
            Unit::NextDigit => 4,
            Unit::Mark => 27,
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

/// Characters of about equal cost.
pub(super) struct CharRange {
    pub(super) start: char,
    pub(super) end: char,
    /// True for letters, which make words; false for symbols, which do not.
    pub(super) letters: bool,
    first: u8,
    next: u8,
}

impl CharRange {
    /// Returns the index in [`RANGES`] of a character's range.
    pub(super) fn of(char: char) -> Option<usize> {
        let place = RANGES.partition_point(|range| range.end < char);
        RANGES.get(place).is_some_and(|range| range.start <= char).then_some(place)
    }
}

const fn letters(start: char, end: char, first: u8, next: u8) -> CharRange {
    CharRange { start, end, letters: true, first, next }
}

const fn symbols(start: char, end: char, first: u8, next: u8) -> CharRange {
    CharRange { start, end, letters: false, first, next }
}

/// Sorted, without overlap. Scripts name the ranges in which they have most characters.
#[rustfmt::skip]
pub(super) static RANGES: [CharRange; 53] = [
    symbols('\u{a1}', '\u{bf}', 40, 34),        // Latin-1
    letters('\u{25a}', '\u{2ff}', 44, 40),      // phonetic letters
    letters('\u{300}', '\u{36f}', 37, 77),      // combining marks
    letters('\u{370}', '\u{3ff}', 12, 9),       // Greek
    letters('\u{400}', '\u{40f}', 39, 41),      // Cyrillic
    letters('\u{410}', '\u{44f}', 7, 6),        // Cyrillic, Russian letters
    letters('\u{450}', '\u{48f}', 14, 80),      // Cyrillic, letters of Ukrainian and Serbian
    letters('\u{490}', '\u{52f}', 9, 37),       // Cyrillic, letters of Central Asia
    letters('\u{530}', '\u{58f}', 9, 9),        // Armenian
    letters('\u{590}', '\u{5ff}', 9, 12),       // Hebrew
    letters('\u{600}', '\u{66f}', 9, 8),        // Arabic
    letters('\u{670}', '\u{6c4}', 9, 3),        // Arabic, letters of Persian and Urdu
    letters('\u{6c5}', '\u{6cb}', 39, 38),      // Arabic, letters of Uyghur
    letters('\u{6cc}', '\u{6cf}', 9, 3),        // Arabic, letters of Persian
    letters('\u{6d0}', '\u{6ff}', 9, 38),       // Arabic, letters of Uyghur
    letters('\u{900}', '\u{97f}', 7, 8),        // Devanagari
    letters('\u{980}', '\u{9ff}', 9, 10),       // Bengali
    letters('\u{a00}', '\u{a7f}', 9, 20),       // Gurmukhi
    letters('\u{a80}', '\u{aff}', 9, 12),       // Gujarati
    letters('\u{b00}', '\u{b7f}', 39, 34),      // Oriya
    letters('\u{b80}', '\u{bff}', 39, 8),       // Tamil
    letters('\u{c00}', '\u{c7f}', 11, 15),      // Telugu
    letters('\u{c80}', '\u{cff}', 39, 9),       // Kannada
    letters('\u{d00}', '\u{d7f}', 36, 7),       // Malayalam
    letters('\u{d80}', '\u{dff}', 10, 18),      // Sinhala
    letters('\u{e00}', '\u{e7f}', 22, 15),      // Thai
    letters('\u{e80}', '\u{eff}', 87, 64),      // Lao
    letters('\u{f00}', '\u{fff}', 87, 51),      // Tibetan
    letters('\u{1000}', '\u{109f}', 11, 17),    // Myanmar
    letters('\u{10a0}', '\u{10ff}', 19, 7),     // Georgian
    letters('\u{1200}', '\u{139f}', 88, 70),    // Ethiopic
    letters('\u{1780}', '\u{17ff}', 9, 18),     // Khmer
    letters('\u{1f00}', '\u{1fff}', 87, 73),    // Greek with accents
    symbols('\u{200b}', '\u{200f}', 31, 31),    // joiners and direction marks
    symbols('\u{2010}', '\u{206f}', 43, 4),     // dashes, quotation marks, bullets
    symbols('\u{2070}', '\u{20ff}', 70, 70),    // small digits, currencies
    symbols('\u{2100}', '\u{218f}', 70, 70),    // letter-like symbols
    symbols('\u{2190}', '\u{21ff}', 31, 31),    // arrows
    symbols('\u{2200}', '\u{23ff}', 60, 60),    // mathematics, technical symbols
    symbols('\u{2500}', '\u{257f}', 65, 3),     // lines of boxes
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

fn pair_cost(left: u8, right: u8) -> u8 {
    match PAIRS[left as usize][right as usize] {
        digit @ b'0'..=b'9' => digit - b'0',
        letter => letter - b'a' + 10,
    }
}

/// A digit or a letter (a is 10) for each pair of Latin letters, regardless of case: how often a token border runs
/// between them, in parts of a token. Pairs that are common in English and in code are seldom cut.
static PAIRS: [[u8; LATIN_ROWS]; LATIN_ROWS] = [
    *b"q5b2zk0ghw0229zfz232dkg95z1r",
    *b"aspt1ukts6t3vz8jmrei2mqo1qi8",
    *b"dkmm6sq17r00oo2ip0b11nlqkbcg",
    *b"9wi11ijs5ysimh4nr07ljmqoikdc",
    *b"0i1286cl7hz111fa0110g330eybg",
    *b"3mno31rs2ooeng2pl3j01nppkpef",
    *b"xrru1nm7msn8k6lqp72ecpqmegcd",
    *b"1rpm2uom3qnlkk1ts8l1nompnq06",
    *b"g519f24jufr82136lg54z0lqv5fc",
    *b"srnl1popjolqlnymrqcrnoqmopif",
    *b"armk9lo0eoqtljzmpubyuqpookkl",
    *b"9bs228th6hn1sl3lmn319hvp5qz8",
    *b"51il1opw6mh3bq22okhl7snonomb",
    *b"2q153h55gc9qj10ipk10e7to1skw",
    *b"w210l1lr6mj34100v120470dlkd7",
    *b"0nqp0kchnoo0ql0do4c13ooi2shk",
    *b"znqpspoqwpnpnqplnpor0oskpmee",
    *b"1y161a8n2vf3d01en00098qo0jjg",
    *b"go0r0gih8tk9pg04m7021gjp3dbe",
    *b"3paf0qo00qoe6n01n00a9o5m0zco",
    *b"381f04lm0jha00z7s012ipofqze9",
    *b"6non0mlo8noohn8onhqqqlmosrj7",
    *b"1rqlepp70nlqpg3nt7bnrmlvnmhe",
    *b"rlckfmnsillpikp1mtc0onrgewdd",
    *b"anlqtppqnspdeba0re7ispknkqmc",
    *b"hkor0pnrznprokiqoppjhsqohude",
    *b"ie0e6ebeqfli9f0dcrqneebfde5f",
    *b"fh3geehfujfgg7b0enjh2ifdec99",
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
