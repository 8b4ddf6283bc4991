//! `estimate-1`: estimates the tokens of a text without a vocabulary.
//!
//! The text is cut into words, numbers, marks and blanks, much as `o200k_base` cuts it, and each piece costs its
//! average in that vocabulary and in those of Llama, Qwen, Mistral and DeepSeek. All arithmetic is on integers, so
//! that every machine gives the same number.

use core::iter::{Map, Peekable};
use core::str::Chars;

use crate::tokens::units::{CharRange, LETTER_COUNT, RANGES, UNITS_PER_TOKEN, Unit};

/// Estimates the tokens of a text; an empty one has none, any other at least one.
pub fn estimate(text: &str) -> u32 {
    let mut parts = 0;
    charge_units(text, &mut |unit| parts += u64::from(unit.cost()));
    u32::try_from(parts.div_ceil(UNITS_PER_TOKEN)).unwrap_or(u32::MAX)
}

/// About the number of spaces in one token.
const SPACES_PER_TOKEN: usize = 64;

/// About the number of other blanks, or line ends, in one token.
const OTHER_BLANKS_PER_TOKEN: usize = 16;

/// A run of blanks that changes more often is no indentation, and its tokens are short.
const MAX_INDENT_CHANGES: usize = 8;

/// The longest word, in Latin letters, that is often a single token.
const MAX_SINGLE_TOKEN_LETTERS: usize = 12;

/// The kind of a character, as far as its cost depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CharKind {
    Blank,
    LineEnd,
    Digit,
    Letter(Letter),
    Mark(Mark),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Letter {
    Latin { row: u8, capital: bool },
    Other { range: u8 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Plain,
    Symbol { range: u8 },
    Unlisted { bytes: u8 },
}

impl CharKind {
    fn of(char: char) -> CharKind {
        let latin = |row: u8, capital: bool| CharKind::Letter(Letter::Latin { row, capital });
        match char {
            'a'..='z' => latin(char as u8 - b'a', false),
            'A'..='Z' => latin(char as u8 - b'A', true),
            '0'..='9' => CharKind::Digit,
            '\n' | '\r' => CharKind::LineEnd,
            ' ' | '\t' | '\u{b}' | '\u{c}' => CharKind::Blank,
            '\0'..='\u{7f}' | '\u{d7}' | '\u{f7}' => CharKind::Mark(Mark::Plain),
            '\u{85}' | '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{3000}' => {
                CharKind::Blank
            }
            '\u{c0}'..='\u{ff}' => latin(LETTER_COUNT, false),
            '\u{100}'..='\u{259}' | '\u{1e00}'..='\u{1eff}' => latin(LETTER_COUNT + 1, false),
            other => match CharRange::of(other) {
                Some(range) if RANGES[range].letters => {
                    CharKind::Letter(Letter::Other { range: range as u8 })
                }
                Some(range) => CharKind::Mark(Mark::Symbol { range: range as u8 }),
                None => CharKind::Mark(Mark::Unlisted { bytes: other.len_utf8() as u8 }),
            },
        }
    }

    fn is_blank(self) -> bool {
        matches!(self, CharKind::Blank | CharKind::LineEnd)
    }
}

type CharReader<'t> = Peekable<Map<Chars<'t>, fn(char) -> (char, CharKind)>>;

/// Cuts the text into pieces, and charges the units of each.
fn charge_units(text: &str, charge: &mut impl FnMut(Unit)) {
    let classify: fn(char) -> (char, CharKind) = |char| (char, CharKind::of(char));
    let mut chars = text.chars().map(classify).peekable();
    while let Some(&(_, kind)) = chars.peek() {
        match kind {
            CharKind::Blank | CharKind::LineEnd => blanks(&mut chars, charge),
            CharKind::Digit => digits(&mut chars, charge),
            CharKind::Letter(_) => {
                charge(Unit::Word);
                word(&mut chars, charge);
            }
            CharKind::Mark(_) => lone_marks(&mut chars, charge),
        }
    }
}

/// Charges blanks, and the word or the marks that the last one belongs to, if it is a space.
fn blanks(chars: &mut CharReader, charge: &mut impl FnMut(Unit)) {
    let (mut ends_line, mut since_line_end, mut last) = (false, 0usize, None);
    let (mut same, mut changes) = (0usize, 0usize);
    while let Some((char, kind)) = chars.next_if(|(_, kind)| kind.is_blank()) {
        if kind == CharKind::LineEnd {
            (ends_line, since_line_end) = (true, 0);
        } else {
            since_line_end += 1;
        }
        (same, changes) = if last == Some(char) { (same + 1, changes) } else { (0, changes + 1) };
        last = Some(char);
        if changes > MAX_INDENT_CHANGES && same == 0 {
            charge(Unit::OtherBlank);
        }
        if same > 0
            && same.is_multiple_of(if char == ' ' { SPACES_PER_TOKEN } else { OTHER_BLANKS_PER_TOKEN })
        {
            charge(Unit::Blanks);
        }
    }
    if ends_line {
        charge(Unit::LineEnd);
    }
    if since_line_end > 1 || (since_line_end == 1 && last != Some(' ')) {
        charge(Unit::Blanks);
    }
    if since_line_end == 0 || last != Some(' ') {
        return;
    }
    match chars.peek() {
        Some((_, CharKind::Letter(_))) => {
            charge(Unit::WordAfterBlank);
            word(chars, charge);
        }
        Some((_, CharKind::Mark(_))) => marks(chars, charge),
        Some((_, CharKind::Digit | CharKind::Blank | CharKind::LineEnd)) | None if since_line_end == 1 => {
            charge(Unit::Blanks)
        }
        Some((_, CharKind::Digit | CharKind::Blank | CharKind::LineEnd)) | None => {}
    }
}

fn digits(chars: &mut CharReader, charge: &mut impl FnMut(Unit)) {
    let mut count = 0usize;
    while chars.next_if(|(_, kind)| *kind == CharKind::Digit).is_some() {
        charge(if count.is_multiple_of(3) { Unit::Digits } else { Unit::NextDigit });
        count += 1;
    }
}

/// Charges marks without a blank before them: a single one belongs to the word after it.
fn lone_marks(chars: &mut CharReader, charge: &mut impl FnMut(Unit)) {
    let mut ahead = chars.clone();
    let belongs = ahead.next().is_some_and(|(_, kind)| kind == CharKind::Mark(Mark::Plain))
        && matches!(ahead.next(), Some((_, CharKind::Letter(_))));
    if belongs {
        chars.next();
        charge(Unit::WordAfterMark);
        word(chars, charge);
    } else {
        marks(chars, charge);
    }
}

/// Charges marks; the line ends after them belong to the last token and are free.
fn marks(chars: &mut CharReader, charge: &mut impl FnMut(Unit)) {
    let mut previous = None;
    while let Some(&(char, CharKind::Mark(mark))) = chars.peek() {
        chars.next();
        charge(match mark {
            Mark::Plain if previous == Some(char) && char.is_ascii_graphic() => Unit::SameMark,
            Mark::Plain if previous.is_none() || previous == Some(char) => Unit::Mark,
            Mark::Plain => Unit::OtherMark,
            Mark::Symbol { range } if previous == Some(char) => Unit::Next(range),
            Mark::Symbol { range } => Unit::First(range),
            Mark::Unlisted { bytes } => Unit::Unlisted(bytes),
        });
        previous = Some(char);
    }
    let mut line_ends = 0;
    while line_ends < OTHER_BLANKS_PER_TOKEN
        && chars.next_if(|(_, kind)| *kind == CharKind::LineEnd).is_some()
    {
        line_ends += 1;
    }
}

/// Charges letters, with a cut where a capital follows a lowercase letter, and where Latin letters follow others. The
/// base cost of the first word was charged before.
fn word(chars: &mut CharReader, charge: &mut impl FnMut(Unit)) {
    let (mut previous, mut length, mut repeats) = (None, 0usize, 0usize);
    while let Some(&(_, CharKind::Letter(letter))) = chars.peek() {
        chars.next();
        length += 1;
        repeats = if previous == Some(letter) { repeats + 1 } else { 0 };
        match (previous, letter) {
            (Some(Letter::Latin { row: left, capital: before }), Letter::Latin { row: right, capital })
                if before || !capital =>
            {
                charge(match (repeats > 1 && right < LETTER_COUNT, length > MAX_SINGLE_TOKEN_LETTERS) {
                    (true, _) => Unit::SameLetter,
                    (false, true) => Unit::LatePair(left, right),
                    (false, false) => Unit::Pair(left, right),
                });
                if before && capital && repeats == 0 {
                    charge(Unit::Capitals);
                }
            }
            (Some(_), Letter::Latin { .. }) => {
                charge(Unit::Word);
                length = 1;
            }
            (None, Letter::Latin { .. }) => {}
            (Some(Letter::Other { .. }), Letter::Other { range }) => charge(Unit::Next(range)),
            (Some(Letter::Latin { .. }) | None, Letter::Other { range }) => charge(Unit::First(range)),
        }
        previous = Some(letter);
    }
}
