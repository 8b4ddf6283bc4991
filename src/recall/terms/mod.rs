//! Splits a text into terms: the same analysis for stored texts and for questions.
//!
//! | text | terms |
//! |---|---|
//! | `Caroline went camping` | `carolin` `go` `camp` |
//! | `toolCalls`, `tool_calls`, `tool-calls` | `tool` `call` `toolcalls` |
//! | `src/context/build.rs` | `src` `context` `build` `rs` `build.rs` |
//! | `v1.88.0`, `E0308`, `June 8th` | `v1` `v1.88.0`, `e0308`, `june` `8` |
//! | `DEADBEEF12345678` | `deadbeef1234` |
//! | `café`, `naïve`, `tiếng` | `cafe`, `naiv`, `tieng` |
//! | `日本語` | `日本` `本語` |
//!
//! Stop words are no terms, nor is text that nobody would search for: single letters, keys and base64, line numbers.
//! Only English is stemmed: a word of another language is found as it is written.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use nucleo_matcher::chars;
use rust_stemmers::{Algorithm, Stemmer};

use crate::recall::english::{base, is_stop};

/// The version of the analysis. An index file of another version is made again.
#[cfg(feature = "interop")]
pub(crate) const ANALYSIS_VERSION: u32 = 2;

/// The most bytes of a term.
pub(crate) const MAX_TERM_BYTES: usize = 40;

// The length from which text without blanks is data, not a name.
const MAX_CHUNK_BYTES: usize = 120;
const HASH_TERM_CHARS: usize = 12;
const MAX_SAID_NUMBER_DIGITS: usize = 8;
const SHOWN_NUMBER_DIGITS: Range<usize> = 3..6;
const MAX_NUMERIC_NAME_BYTES: usize = 16;

/// The part that a text plays in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Field {
    /// Texts of the user and the assistant, and questions.
    Said,
    /// Calls: the tool, and its arguments.
    Done,
    /// Results of tools.
    Shown,
}

/// Makes terms; a repeated word costs one look into a table.
pub(crate) struct TermAnalyzer {
    stemmer: Stemmer,
    // The words seen, by their letters. Their stems are concatenated; when these grow too long, the table is emptied.
    slots: Vec<Slot>,
    stems: String,
    // Notes of earlier epochs are void.
    epoch: u32,
    // The buffer in which a name is joined.
    joined_name: String,
}

/// What the taker of a term remembers of it for the next time.
pub(crate) type Note = Option<u32>;
/// Takes terms.
pub(crate) type TermSink<'a> = &'a mut dyn FnMut(&str, &mut Note);

const FIRST_SLOTS: usize = 1 << 12;
#[cfg(feature = "interop")]
const MAX_SLOTS: usize = 1 << 15;
// Few words are longer, and those are not stemmed.
const MAX_STEMMED_BYTES: usize = 22;

// A word, which has no zeros, and its stem, which is empty if the word is no term.
#[derive(Clone, Copy, Default)]
struct Slot {
    word: Letters,
    stem: (u32, u32),
    note: (u32, Note),
}

type Letters = [u64; MAX_STEMMED_BYTES.div_ceil(8)];

// Lowercases a word; digits stay as they are.
fn pack_letters(word: &str) -> Letters {
    let mut letters = Letters::default();
    for (at, byte) in word.bytes().enumerate() {
        letters[at / 8] |= u64::from(byte | 0x20) << (at % 8 * 8);
    }
    letters
}

fn place_of([one, two, three]: Letters, slots: usize) -> usize {
    let mixed = (one ^ two.rotate_left(21) ^ three.rotate_left(42)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 40) as usize & (slots - 1)
}

// The class of a byte in a name. Letters beyond ASCII are examined one by one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteClass {
    Between,
    Join,
    Small,
    Capital,
    Digit,
    Wide,
}

fn class_of(byte: u8) -> ByteClass {
    match byte {
        b'a'..=b'z' => ByteClass::Small,
        b'A'..=b'Z' => ByteClass::Capital,
        b'0'..=b'9' => ByteClass::Digit,
        b'_' | b'-' | b'.' => ByteClass::Join,
        0x80.. => ByteClass::Wide,
        _ => ByteClass::Between,
    }
}

impl Default for TermAnalyzer {
    fn default() -> TermAnalyzer {
        TermAnalyzer::with_slots(FIRST_SLOTS)
    }
}

impl TermAnalyzer {
    fn with_slots(slots: usize) -> TermAnalyzer {
        let stemmer = Stemmer::create(Algorithm::English);
        TermAnalyzer {
            stemmer,
            slots: vec![Slot::default(); slots],
            stems: String::new(),
            epoch: 0,
            joined_name: String::new(),
        }
    }

    /// An analyzer with a table large enough for whole logs.
    #[cfg(feature = "interop")]
    pub fn for_logs() -> TermAnalyzer {
        TermAnalyzer::with_slots(MAX_SLOTS)
    }

    /// Voids all notes, for a new taker.
    #[cfg(feature = "interop")]
    pub fn forget_notes(&mut self) {
        self.epoch += 1;
    }

    /// Calls `take` with each term of a text; a compound name follows its parts.
    pub fn for_each_term(&mut self, text: &str, field: Field, take: &mut dyn FnMut(&str)) {
        self.for_each_noted_term(text, field, &mut |term, _| take(term));
    }

    /// Like [`TermAnalyzer::for_each_term`], with the taker's note of each term.
    pub fn for_each_noted_term(&mut self, text: &str, field: Field, take: TermSink<'_>) {
        let bytes = text.as_bytes();
        let (mut at, mut is_first) = (0, true);
        while let Some(byte) = bytes.get(at) {
            if matches!(class_of(*byte), ByteClass::Between | ByteClass::Join) {
                is_first |= *byte == b'\n';
                at += 1;
                continue;
            }
            let rest = &bytes[at..];
            let many = |from: usize, is: ByteClass| {
                from + rest[from..].iter().take_while(|byte| class_of(**byte) == is).count()
            };
            // Most words are lowercase, or begin or end a sentence.
            let word = many(usize::from(class_of(*byte) == ByteClass::Capital), ByteClass::Small);
            let end = many(word, ByteClass::Join);
            let len = if rest.get(end).is_none_or(|byte| class_of(*byte) == ByteClass::Between) {
                self.emit_word(&text[at..at + word], take);
                end
            } else {
                let len =
                    rest.iter().position(|byte| class_of(*byte) == ByteClass::Between).unwrap_or(rest.len());
                self.emit_name(&text[at..at + len], NamePlace { field, is_first }, take);
                len
            };
            (at, is_first) = (at + len, false);
        }
    }

    fn emit_name(&mut self, chunk: &str, place: NamePlace, take: TermSink<'_>) {
        let name = chunk.trim_end_matches(is_join);
        if !name.is_ascii() {
            self.emit_wide(name, place, take);
        } else if name.bytes().all(|byte| byte.is_ascii_digit()) {
            if place.takes_number(name.len()) {
                take(name, &mut None);
            }
        } else if is_hash(name) {
            take(&name[..HASH_TERM_CHARS.min(name.len())].to_ascii_lowercase(), &mut None);
        } else if name.len() <= MAX_CHUNK_BYTES {
            self.emit_parts(name, take);
        }
    }

    // Emits the parts of a name, then the name without its joiners except for the dots.
    fn emit_parts(&mut self, name: &str, take: TermSink<'_>) {
        let mut whole = core::mem::take(&mut self.joined_name);
        whole.clear();
        let (mut count, mut is_numeric, mut at) = (0, true, 0);
        while at < name.len() {
            let part = &name[at..at + part_len(&name.as_bytes()[at..])];
            at += part.len();
            if part.starts_with(is_join) {
                let is_dot = part == "." && !whole.is_empty() && !whole.ends_with('.');
                whole.push_str(if is_dot { "." } else { "" });
                continue;
            }
            whole.push_str(part);
            count += 1;
            if part.bytes().any(|byte| !byte.is_ascii_digit()) {
                is_numeric = false;
                self.emit_word(part, take);
            }
        }
        let longest = if is_numeric { MAX_NUMERIC_NAME_BYTES } else { MAX_TERM_BYTES };
        if count > 1 && whole.len() <= longest {
            whole.make_ascii_lowercase();
            take(&whole, &mut None);
        }
        self.joined_name = whole;
    }

    // Emits a word of letters and digits.
    fn emit_word(&mut self, word: &str, take: TermSink<'_>) {
        if word.len() < 2 || word.len() > MAX_TERM_BYTES {
            return;
        }
        if word.len() > MAX_STEMMED_BYTES {
            return take(&word.to_ascii_lowercase(), &mut None);
        }
        let letters = pack_letters(word);
        let place = place_of(letters, self.slots.len());
        if self.slots[place].word != letters {
            self.fill_slot(word, letters, place);
        }
        let Slot { stem: (from, to), note: (epoch, note), .. } = &mut self.slots[place];
        if from < to {
            if *epoch != self.epoch {
                (*epoch, *note) = (self.epoch, None);
            }
            take(&self.stems[*from as usize..*to as usize], note);
        }
    }

    fn fill_slot(&mut self, word: &str, letters: Letters, place: usize) {
        if self.stems.len() >= self.slots.len() * MAX_STEMMED_BYTES {
            self.stems.clear();
            self.slots.fill(Slot::default());
        }
        let word = word.to_ascii_lowercase();
        let from = self.stems.len() as u32;
        if word.bytes().any(|byte| byte.is_ascii_digit()) {
            self.stems.push_str(ordinal_number(&word).unwrap_or(&word));
        } else if !is_stop(&word) {
            self.stems.push_str(&self.stemmer.stem(base(&word)));
        }
        self.slots[place] = Slot { word: letters, stem: (from, self.stems.len() as u32), note: (0, None) };
    }

    // Emits text with letters beyond ASCII: without accents it may be plain ASCII.
    fn emit_wide(&mut self, chunk: &str, place: NamePlace, take: TermSink<'_>) {
        let mut word = String::new();
        let mut before: Option<char> = None;
        let mut is_alone = false;
        for char in compose(chunk).chain([' ']) {
            if is_accent(char) {
                continue;
            }
            if is_unspaced(char) {
                self.emit_folded(&core::mem::take(&mut word), place, take);
                if let Some(before) = before {
                    take(&String::from_iter([before, char]), &mut None);
                }
                is_alone = before.is_none();
                before = Some(char);
                continue;
            }
            if let Some(alone) = before.take().filter(|_| is_alone) {
                take(alone.encode_utf8(&mut [0; 4]), &mut None);
            }
            if char.is_alphanumeric() || is_join(char) {
                word.extend(without_accents(char));
            } else {
                self.emit_folded(&core::mem::take(&mut word), place, take);
            }
        }
    }

    // Emits words without case and accents.
    fn emit_folded(&mut self, text: &str, place: NamePlace, take: TermSink<'_>) {
        let name = text.trim_matches(is_join);
        if name.is_empty() {
            return;
        }
        if name.is_ascii() {
            return self.emit_name(name, place, take);
        }
        let is_word = |word: &&str| word.len() <= MAX_TERM_BYTES && word.chars().nth(1).is_some();
        for word in name.split(is_join).filter(is_word) {
            take(word, &mut None);
        }
    }
}

/// Strips the signs around a word; a combining accent counts as a letter.
pub(crate) fn strip_signs(word: &str) -> &str {
    word.trim_matches(|char: char| !char.is_alphanumeric() && !matches!(char, '\u{300}'..='\u{36f}'))
}

// The place of a name: most numbers in results say nothing, least of all the first of a line.
#[derive(Clone, Copy)]
struct NamePlace {
    field: Field,
    is_first: bool,
}

impl NamePlace {
    fn takes_number(self, digits: usize) -> bool {
        match self.field {
            Field::Said => digits <= MAX_SAID_NUMBER_DIGITS,
            Field::Done | Field::Shown => !self.is_first && SHOWN_NUMBER_DIGITS.contains(&digits),
        }
    }
}

// Returns the length of a name's first part. Digits belong to the letters before them; the last capital of
// `HTTPServer` belongs to the part after it.
fn part_len(name: &[u8]) -> usize {
    let is_end = |at: &usize| {
        let [before, here] = [*at - 1, *at].map(|at| class_of(name[at]));
        let is_small = |at: usize| name.get(at).is_some_and(|byte| class_of(*byte) == ByteClass::Small);
        let begins = here == ByteClass::Capital && (before != ByteClass::Capital || is_small(at + 1));
        before == ByteClass::Join || here == ByteClass::Join || begins
    };
    (1..name.len()).find(is_end).unwrap_or(name.len())
}

fn is_join(char: char) -> bool {
    char.is_ascii() && class_of(char as u8) == ByteClass::Join
}

fn is_hash(name: &str) -> bool {
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    name.len() >= 8 && digits > 1 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the number in `25th`.
pub(crate) fn ordinal_number(word: &str) -> Option<&str> {
    let number = ["st", "nd", "rd", "th"].into_iter().find_map(|ending| word.strip_suffix(ending))?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(number)
}

// The letters U+1E00 to U+1EFF, Vietnamese ones among them, lowercase and without their marks.
const VIETNAMESE_PLAIN: &[u8; 256] = b"aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmmmmmm\
    nnnnnnnnoooooooopppprrrrrrrrssssssssssttttttttuuuuuuuuuuvvvvwwwwwwwwwwxxxxyyzzzzzzhtwyassssd\
    aaaaaaaaaaaaaaaaaaaaaaaaeeeeeeeeeeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyyllvvyy";

// Lowercases a letter and takes off its accent: Latin ones by tables that go beyond decompositions, as for `ø`, and
// those of modern Greek, Cyrillic and Arabic.
fn without_accents(char: char) -> impl Iterator<Item = char> {
    char.to_lowercase().filter(|char| !is_accent(*char)).map(|char| match char {
        'ǖ' | 'ǘ' | 'ǚ' | 'ǜ' => 'u',
        'ǟ' | 'ǡ' | 'ǻ' => 'a',
        'ǣ' | 'ǽ' => bare_latin('æ'),
        'ǭ' | 'ǿ' | 'ȫ' | 'ȭ' | 'ȱ' => 'o',
        'ǯ' => 'ʒ',
        '\u{80}'..='\u{24f}' => bare_latin(char),
        '\u{1e00}'..='\u{1eff}' => char::from(VIETNAMESE_PLAIN[char as usize - 0x1e00]),
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(char) - 0xfee0).unwrap_or(char),
        'ά' => 'α',
        'έ' => 'ε',
        'ή' => 'η',
        'ί' | 'ϊ' | 'ΐ' => 'ι',
        'ό' => 'ο',
        'ύ' | 'ϋ' | 'ΰ' => 'υ',
        'ώ' => 'ω',
        'ς' => 'σ',
        'ӑ' | 'ӓ' => 'а',
        'ё' | 'ѐ' | 'ӗ' => 'е',
        'ӂ' | 'ӝ' => 'ж',
        'ӟ' => 'з',
        'й' | 'ѝ' | 'ӣ' | 'ӥ' => 'и',
        'ї' => 'і',
        'ў' | 'ӯ' | 'ӱ' | 'ӳ' => 'у',
        'ѓ' => 'г',
        'ќ' => 'к',
        'ӧ' => 'о',
        'ӵ' => 'ч',
        'ӛ' => 'ә',
        'ӫ' => 'ө',
        'ѷ' => 'ѵ',
        'ӹ' => 'ы',
        'ӭ' => 'э',
        'آ' | 'أ' | 'إ' => 'ا',
        'ؤ' => 'و',
        'ئ' => 'ي',
        'ۀ' => 'ە',
        'ۂ' => 'ہ',
        'ۓ' => 'ے',
        _ => char,
    })
}

fn bare_latin(char: char) -> char {
    chars::normalize(char).to_ascii_lowercase()
}

// Composes Korean syllables and Japanese letters, which some write decomposed, by Unicode's rules, whose tables would
// weigh more than all of this file. Other decomposed letters are found without their accents.
fn compose(text: &str) -> impl Iterator<Item = char> {
    let mut rest = text.chars();
    let mut before = None;
    core::iter::from_fn(move || {
        loop {
            let Some(next) = rest.next() else { return before.take() };
            let Some(last) = before.replace(next) else { continue };
            match compose_pair(last, next) {
                Some(whole) => before = Some(whole),
                None => return Some(last),
            }
        }
    })
}

fn compose_pair(first: char, second: char) -> Option<char> {
    let (one, two) = (u32::from(first), u32::from(second));
    char::from_u32(match (first, second) {
        ('\u{1100}'..='\u{1112}', '\u{1161}'..='\u{1175}') => {
            0xac00 + ((one - 0x1100) * 21 + two - 0x1161) * 28
        }
        ('\u{ac00}'..='\u{d7a3}', '\u{11a8}'..='\u{11c2}') if (one - 0xac00).is_multiple_of(28) => {
            one + two - 0x11a7
        }
        ('う' | 'ウ', '\u{3099}') => one + 0x4e,
        ('か'..='ぽ' | 'カ'..='ポ' | 'ゝ' | 'ヽ', '\u{3099}') => one + 1,
        ('ワ'..='ヲ', '\u{3099}') => one + 8,
        ('は'..='ほ' | 'ハ'..='ホ', '\u{309a}') => one + 2,
        _ => return None,
    })
}

fn is_accent(char: char) -> bool {
    matches!(char, '\u{300}'..='\u{36f}' | '\u{653}'..='\u{655}')
}

// True for scripts without blanks between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese. Korean has blanks, but
// its words include endings.
fn is_unspaced(char: char) -> bool {
    matches!(char,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests;
