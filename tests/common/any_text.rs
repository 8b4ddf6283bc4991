//! Random text in which everything that a pattern tells apart stands beside everything else.

use super::chance::Chance;

/// The longest text, in bytes.
pub const MAX_TEXT_BYTES: usize = 64 * 1024;

const SCRIPTS: &[(u32, usize)] = &[
    (0x41, 58),
    (0xc0, 0x180),
    (0x370, 0x90),
    (0x400, 0x130),
    (0x531, 0x58),
    (0x5d0, 0x1b),
    (0x620, 0x54),
    (0x900, 0x80),
    (0x980, 0x80),
    (0xb80, 0x80),
    (0xe01, 0x5b),
    (0x10a0, 0x60),
    (0x1100, 0x100),
    (0x1e00, 0x200),
    (0x3041, 0xbf),
    (0x4e00, 0x5200),
    (0xac00, 0x2ba4),
    (0xff21, 0x3a),
    (0x1_0400, 0x50),
    (0x2_0000, 0xa000),
];
const BLANKS: &[&str] = &[
    " ", " ", "  ", "    ", "\n", "\n\n", "\r\n", "\r", "\t", "\u{b}", "\u{c}", "\u{85}", "\u{a0}",
    "\u{2003}", "\u{2028}", "\u{3000}", "\u{200b}", "\u{feff}",
];
const CONTRACTIONS: &[&str] = &[
    "'s",
    "'S",
    "'t",
    "'T",
    "'re",
    "'RE",
    "'Re",
    "'ve",
    "'vE",
    "'m",
    "'M",
    "'ll",
    "'LL",
    "'d",
    "'D",
    "'\u{17f}",
    "'x",
    "'l",
    "'r",
    "''s",
    "\u{2019}s",
    "' s",
    "'K",
    "'\u{212a}",
];
const EMOJI: &[&str] = &[
    "\u{1f642}",
    "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
    "\u{1f44d}\u{1f3fd}",
    "\u{1f1e9}\u{1f1ea}",
    "\u{2764}\u{fe0f}",
    "3\u{fe0f}\u{20e3}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e007f}",
    "\u{231b}",
];
const WORDS: &[&str] = &[
    "the",
    "The",
    "THE",
    "iPhone",
    "HTTPServer",
    "getElementById",
    "counting",
    "\u{fc}ber",
    "na\u{ef}ve",
    "a",
    "I",
    "function",
    "return",
    "des",
    "\u{65e5}\u{672c}",
    "\u{43f}\u{440}\u{438}\u{432}\u{435}\u{442}",
    "<|endoftext|>",
];
const DIGITS: &[u32] = &[0x30, 0x30, 0x30, 0x660, 0x966, 0xe50, 0x2080, 0x2160, 0xff10, 0x1_d7ce];
const MARKS: &[(u32, usize)] =
    &[(0x300, 0x70), (0x591, 0x2d), (0x64b, 0x15), (0x93a, 0x16), (0xfe00, 0x10), (0x20d0, 0x21)];

/// A text of about that many bytes, and no more.
pub fn any_text(chance: &mut Chance, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 16);
    while text.len() < bytes {
        let room = bytes - text.len();
        // Most runs are short; some of a text of 64 KiB are the text.
        let run =
            if chance.one_in(200) { 1 + chance.number_below(room) } else { 1 + chance.number_below(12) };
        stretch(chance, run, &mut text);
    }
    while text.len() > bytes {
        text.pop();
    }
    text
}

/// From one byte to the longest, each order of magnitude as often as any other.
pub fn any_length(chance: &mut Chance) -> usize {
    let bits = chance.number_below(MAX_TEXT_BYTES.ilog2() as usize + 1);
    let most = 2usize << bits;
    (most / 2 + chance.number_below(most / 2)).min(MAX_TEXT_BYTES)
}

fn stretch(chance: &mut Chance, run: usize, text: &mut String) {
    match chance.number_below(12) {
        0 => (0..run).for_each(|_| text.extend(char::from_u32(chance.number_below(0x11_0000) as u32))),
        1 | 2 => letters(chance, SCRIPTS, run, text),
        3 => (0..run).for_each(|_| text.push(char::from(b' ' + chance.number_below(95) as u8))),
        4 | 5 => words(chance, run, text),
        6 => (0..run).for_each(|_| text.push_str(pick(chance, BLANKS))),
        7 => text.push_str(pick(chance, CONTRACTIONS)),
        8 => digits(chance, run, text),
        9 => (0..run.min(40)).for_each(|_| text.push_str(pick(chance, EMOJI))),
        10 => letters(chance, MARKS, run, text),
        _ => push_repeated(chance, run, text),
    }
}

fn pick<'a>(chance: &mut Chance, of: &[&'a str]) -> &'a str {
    of[chance.number_below(of.len())]
}

fn letters(chance: &mut Chance, blocks: &[(u32, usize)], run: usize, text: &mut String) {
    let (start, many) = blocks[chance.number_below(blocks.len())];
    (0..run).for_each(|_| text.extend(char::from_u32(start + chance.number_below(many) as u32)));
}

fn words(chance: &mut Chance, run: usize, text: &mut String) {
    for _ in 0..run.min(40) {
        text.push_str(pick(chance, WORDS));
        if !chance.one_in(3) {
            text.push(' ');
        }
    }
}

fn digits(chance: &mut Chance, run: usize, text: &mut String) {
    let zero = DIGITS[chance.number_below(DIGITS.len())];
    (0..run).for_each(|_| text.extend(char::from_u32(zero + chance.number_below(10) as u32)));
}

// One character or two, again and again.
fn push_repeated(chance: &mut Chance, run: usize, text: &mut String) {
    let mut unit = String::new();
    (0..1 + chance.number_below(2)).for_each(|_| stretch_once(chance, &mut unit));
    (0..run).for_each(|_| text.push_str(&unit));
}

fn stretch_once(chance: &mut Chance, unit: &mut String) {
    match chance.number_below(4) {
        0 => unit.push(char::from(b'!' + chance.number_below(94) as u8)),
        1 => unit.push_str(pick(chance, BLANKS)),
        2 => letters(chance, SCRIPTS, 1, unit),
        _ => unit.extend(char::from_u32(chance.number_below(0x11_0000) as u32)),
    }
}
