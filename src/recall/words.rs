//! A text as its terms: the same analysis for what is stored and for what is asked.
//!
//! | text | terms |
//! |---|---|
//! | `Caroline went camping` | `carolin` `go` `camp` |
//! | `toolCalls`, `tool_calls`, `tool-calls` | `tool` `call` `toolcalls` |
//! | `src/context/build.rs` | `src` `context` `build` `rs` `build.rs` |
//! | `v1.88.0`, `E0308`, `June 8th` | `v1` `v1.88.0`, `e0308`, `june` `8` |
//! | `DEADBEEF12345678` | `deadbeef1234` |
//! | `café`, `naïve` | `cafe`, `naiv` |
//! | `日本語` | `日本` `本語` |
//!
//! Words that every text has are no terms, nor is what no person would look for: single letters, keys and base64, numbers
//! of lines. Only English is stemmed: of other languages a word is found as it is written.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use nucleo_matcher::chars;
use rust_stemmers::{Algorithm, Stemmer};
use xxhash_rust::xxh64::xxh64;

use crate::recall::english::{base, is_stop};

/// The version of the analysis. What was indexed by another one is indexed anew.
#[cfg(feature = "interop")]
pub(crate) const VERSION: u32 = 1;

/// No term has more bytes.
pub(crate) const LONGEST_TERM: usize = 40;

// What is longer without a blank is no name but data.
const LONGEST_CHUNK: usize = 120;
const HASH_SHOWN: usize = 12;
const LONGEST_NUMBER_SAID: usize = 8;
const NUMBERS_SHOWN: Range<usize> = 3..6;
const LONGEST_NUMERIC_NAME: usize = 16;

/// Which part a text has in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Field {
    /// What the user and the assistant say, and what is asked.
    Said,
    /// What is called: tools, and what they are given.
    Done,
    /// What tools answer.
    Shown,
}

/// Makes terms; a word that was met before costs a look at a table.
pub(crate) struct Words {
    stemmer: Stemmer,
    slots: Vec<Slot>,
}

const SLOTS: usize = 4096;
// Few words are longer, and those that are stand as they are.
const LONGEST_STEMMED: usize = 22;

// A word and its stem; a word that is no term has an empty one.
#[derive(Clone, Copy, Default)]
struct Slot {
    word: Short,
    stem: Short,
}

#[derive(Clone, Copy, Default)]
struct Short {
    len: u8,
    bytes: [u8; LONGEST_STEMMED],
}

impl Short {
    fn of(text: &str) -> Short {
        let mut bytes = [0; LONGEST_STEMMED];
        let len = text.len().min(LONGEST_STEMMED);
        bytes[..len].copy_from_slice(&text.as_bytes()[..len]);
        Short { len: len as u8, bytes }
    }

    fn as_str(&self) -> &str {
        // Words of ASCII alone are kept.
        core::str::from_utf8(&self.bytes[..self.len.into()]).unwrap_or_default()
    }
}

// What a byte is in a name. Letters beyond ASCII are looked at one by one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Between,
    Join,
    Small,
    Capital,
    Digit,
    Wide,
}

fn class(byte: u8) -> Class {
    match byte {
        b'a'..=b'z' => Class::Small,
        b'A'..=b'Z' => Class::Capital,
        b'0'..=b'9' => Class::Digit,
        b'_' | b'-' | b'.' => Class::Join,
        0x80.. => Class::Wide,
        _ => Class::Between,
    }
}

impl Default for Words {
    fn default() -> Words {
        Words { stemmer: Stemmer::create(Algorithm::English), slots: vec![Slot::default(); SLOTS] }
    }
}

impl Words {
    /// Gives each term of a text in turn; a name that has parts stands behind them.
    pub fn terms(&mut self, text: &str, field: Field, take: &mut dyn FnMut(&str)) {
        let bytes = text.as_bytes();
        let (mut at, mut is_first) = (0, true);
        while let Some(byte) = bytes.get(at) {
            if matches!(class(*byte), Class::Between | Class::Join) {
                is_first |= *byte == b'\n';
                at += 1;
                continue;
            }
            let rest = &bytes[at..];
            let mut is_plain = true;
            let is_within = |byte: &u8| match class(*byte) {
                Class::Between => true,
                Class::Small => false,
                Class::Join | Class::Capital | Class::Digit | Class::Wide => {
                    is_plain = false;
                    false
                }
            };
            let len = rest.iter().position(is_within).unwrap_or(rest.len());
            let chunk = &text[at..at + len];
            match is_plain {
                true => self.word(chunk, take),
                false => self.name(chunk, Place { field, is_first }, take),
            }
            (at, is_first) = (at + len, false);
        }
    }

    fn name(&mut self, chunk: &str, place: Place, take: &mut dyn FnMut(&str)) {
        let name = chunk.trim_end_matches(is_join);
        if !name.is_ascii() {
            self.wide(name, place, take);
        } else if name.bytes().all(|byte| byte.is_ascii_digit()) {
            if place.takes_number(name.len()) {
                take(name);
            }
        } else if is_hash(name) {
            take(&name[..HASH_SHOWN.min(name.len())].to_ascii_lowercase());
        } else if name.len() <= LONGEST_CHUNK {
            self.parts(name, take);
        }
    }

    // The parts of a name, then the name: without what joins its parts, but for the dots.
    fn parts(&mut self, name: &str, take: &mut dyn FnMut(&str)) {
        let mut whole = String::with_capacity(name.len());
        let (mut count, mut is_numeric, mut at) = (0, true, 0);
        while at < name.len() {
            let part = &name[at..at + part_len(&name.as_bytes()[at..])];
            at += part.len();
            if part.starts_with(is_join) {
                let is_dot = part == "." && !whole.is_empty() && !whole.ends_with('.');
                whole.push_str(if is_dot { "." } else { "" });
                continue;
            }
            let start = whole.len();
            whole.extend(part.chars().map(|char| char.to_ascii_lowercase()));
            count += 1;
            if part.bytes().any(|byte| !byte.is_ascii_digit()) {
                is_numeric = false;
                self.word(&whole[start..], take);
            }
        }
        let longest = if is_numeric { LONGEST_NUMERIC_NAME } else { LONGEST_TERM };
        if count > 1 && whole.len() <= longest {
            take(&whole);
        }
    }

    // A word of small letters and digits.
    fn word(&mut self, word: &str, take: &mut dyn FnMut(&str)) {
        if word.len() < 2 || word.len() > LONGEST_TERM {
            return;
        }
        if word.len() > LONGEST_STEMMED {
            return take(word);
        }
        let place = xxh64(word.as_bytes(), 0) as usize % SLOTS;
        if self.slots[place].word.as_str() != word {
            self.slots[place] = Slot { word: Short::of(word), stem: self.stem(word) };
        }
        let stem = self.slots[place].stem;
        if stem.len > 0 {
            take(stem.as_str());
        }
    }

    fn stem(&self, word: &str) -> Short {
        if is_stop(word) {
            return Short::default();
        }
        if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return Short::of(&self.stemmer.stem(base(word)));
        }
        Short::of(ordinal(word).unwrap_or(word))
    }

    // What has letters beyond ASCII: without accents it may be plain after all.
    fn wide(&mut self, chunk: &str, place: Place, take: &mut dyn FnMut(&str)) {
        let mut word = String::new();
        let mut before: Option<char> = None;
        let mut is_alone = false;
        for char in chunk.chars().chain([' ']) {
            if is_accent(char) {
                continue;
            }
            if is_unspaced(char) {
                self.folded(&core::mem::take(&mut word), place, take);
                if let Some(before) = before {
                    take(&String::from_iter([before, char]));
                }
                is_alone = before.is_none();
                before = Some(char);
                continue;
            }
            if let Some(alone) = before.take().filter(|_| is_alone) {
                take(alone.encode_utf8(&mut [0; 4]));
            }
            if char.is_alphanumeric() || is_join(char) {
                word.extend(bare(char));
            } else {
                self.folded(&core::mem::take(&mut word), place, take);
            }
        }
    }

    // Words without case and accents.
    fn folded(&mut self, text: &str, place: Place, take: &mut dyn FnMut(&str)) {
        let name = text.trim_matches(is_join);
        if name.is_empty() {
            return;
        }
        if name.is_ascii() {
            return self.name(name, place, take);
        }
        let is_word = |word: &&str| word.len() <= LONGEST_TERM && word.chars().nth(1).is_some();
        for word in name.split(is_join).filter(is_word) {
            take(word);
        }
    }
}

/// A word without the signs around it; an accent that stands alone is one of its letters.
pub(crate) fn inner(word: &str) -> &str {
    word.trim_matches(|char: char| !char.is_alphanumeric() && !matches!(char, '\u{300}'..='\u{36f}'))
}

// Where a name stands: of results most numbers say nothing, least of all the first of a line.
#[derive(Clone, Copy)]
struct Place {
    field: Field,
    is_first: bool,
}

impl Place {
    fn takes_number(self, digits: usize) -> bool {
        match self.field {
            Field::Said => digits <= LONGEST_NUMBER_SAID,
            Field::Done | Field::Shown => !self.is_first && NUMBERS_SHOWN.contains(&digits),
        }
    }
}

// How long the first part of a name is. Digits belong to the letters before them; of `HTTPServer` the last capital belongs to
// what is behind it.
fn part_len(name: &[u8]) -> usize {
    let is_end = |at: &usize| {
        let [before, here] = [*at - 1, *at].map(|at| class(name[at]));
        let is_small = |at: usize| name.get(at).is_some_and(|byte| class(*byte) == Class::Small);
        let begins = here == Class::Capital && (before != Class::Capital || is_small(at + 1));
        before == Class::Join || here == Class::Join || begins
    };
    (1..name.len()).find(is_end).unwrap_or(name.len())
}

fn is_join(char: char) -> bool {
    char.is_ascii() && class(char as u8) == Class::Join
}

fn is_hash(name: &str) -> bool {
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    name.len() >= 8 && digits > 1 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

// The number in `25th`.
fn ordinal(word: &str) -> Option<&str> {
    let number = ["st", "nd", "rd", "th"].into_iter().find_map(|ending| word.strip_suffix(ending))?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(number)
}

// A letter in small and without its accent: Latin ones by a table that knows more than decompositions, as `ø`, and the Greek ones
// of today.
fn bare(char: char) -> impl Iterator<Item = char> {
    char.to_lowercase().map(|char| match char {
        '\u{80}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => chars::normalize(char).to_ascii_lowercase(),
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(char) - 0xfee0).unwrap_or(char),
        'ά' => 'α',
        'έ' => 'ε',
        'ή' => 'η',
        'ί' | 'ϊ' | 'ΐ' => 'ι',
        'ό' => 'ο',
        'ύ' | 'ϋ' | 'ΰ' => 'υ',
        'ώ' => 'ω',
        'ς' => 'σ',
        'ё' => 'е',
        _ => char,
    })
}

fn is_accent(char: char) -> bool {
    matches!(char, '\u{300}'..='\u{36f}')
}

// Letters of scripts without blanks between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese; Korean has blanks, but endings
// as part of its words.
fn is_unspaced(char: char) -> bool {
    matches!(char,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString;
    use proptest::prelude::*;

    fn terms_of(text: &str, field: Field) -> Vec<String> {
        let mut terms = Vec::new();
        Words::default().terms(text, field, &mut |term| terms.push(term.to_string()));
        terms
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(terms_of(text, Field::Said).join(" "), expected, "{text}");
    }

    // All of these are one word.
    fn check_same(words: &str) {
        let of = |word| terms_of(word, Field::Said);
        let mut words = words.split(' ');
        let first = of(words.next().unwrap_or_default());
        assert_eq!(first.len(), 1, "{first:?}");
        words.for_each(|word| assert_eq!(of(word), first, "{word}"));
    }

    #[test]
    fn the_forms_of_a_word_are_one_word() {
        check_same("camp camps camped camping Camping CAMPING");
        check_same("write wrote written writing writes");
        check_same("child children Children");
        check_same("leave left leaves leaving");
        check_same("café cafe cafés CAFÉ cafe\u{301}");
        check_same("Ελλάδα ελλαδα");
        check_same("8th 8");
        check_same("ＡＢＣ abc");
        check_same("ёлка елка Ёлка");
    }

    #[test]
    fn a_name_is_found_by_its_parts_and_as_a_whole() {
        check("src/zip/dot.rs", "src zip dot rs dot.rs");
        check("v1.88.0, E0308; sha256: x86_64", "v1 v1.88.0 e0308 sha256 x86 x8664");
        check("HTTPServer getURL i18n", "http server httpserver get url geturl i18n");
        check("DEADBEEF12345678abcdef 0.25", "deadbeef1234 0.25");
        check("2023-05-08 10:42", "20230508 10 42");
        check("__init__.py --dry-run", "init py init.py dri run dryrun");
        check("end.Begin it... (end)", "end begin end.begin end");
        check("naïve_plan", "naiv plan naiveplan");
    }

    #[test]
    fn scripts_without_blanks_are_found_by_two_letters_each() {
        check("日本語 本", "日本 本語 本");
        check("漢字とRust言語、書く", "漢字 字と rust 言語 書く");
        check("ไทย", "ไท ทย");
        check("Привет, мир-труд я", "привет мир труд");
    }

    #[test]
    fn what_says_nothing_is_no_term() {
        check("What is it that we don’t do? I'll be there.", "");
        check("a b c - _ . 🎉 “”", "");
        check(&"x".repeat(LONGEST_TERM + 1), "");
        check(&"zB3".repeat(60), "");
        check("123456789", "");
    }

    #[test]
    fn of_results_few_numbers_are_terms() {
        assert_eq!(terms_of("812: port 8080\n 443 is 25 at 99999999", Field::Shown), ["port", "8080"]);
        assert_eq!(terms_of("812: port 80", Field::Said), ["812", "port", "80"]);
    }

    proptest! {
        #[test]
        fn a_name_is_the_same_in_every_style(parts in prop::collection::vec("[b-z]{3,6}", 1..4)) {
            let capital = |part: &String| part[..1].to_ascii_uppercase() + &part[1..];
            let pascal: String = parts.iter().map(capital).collect();
            let snake = terms_of(&parts.join("_"), Field::Said);
            prop_assert_eq!(&terms_of(&parts.join("-"), Field::Said), &snake);
            prop_assert_eq!(&terms_of(&pascal, Field::Said), &snake);
        }

        #[test]
        fn terms_are_short_and_are_those_of_each_line_by_itself(lines in prop::collection::vec("\\PC{0,40}", 0..4)) {
            let text = lines.join("\n");
            for field in [Field::Said, Field::Done, Field::Shown] {
                let each: Vec<String> = lines.iter().flat_map(|line| terms_of(line, field)).collect();
                let terms = terms_of(&text, field);
                prop_assert!(terms.iter().all(|term| !term.is_empty() && term.len() <= LONGEST_TERM));
                prop_assert_eq!(terms, each);
            }
        }

        #[test]
        fn what_was_met_before_changes_nothing(words in prop::collection::vec("[a-f]{2,5}(ing|ed|s)?", 0..40)) {
            let mut warm = Words::default();
            let mut again = || {
                let mut terms = Vec::new();
                warm.terms(&words.join(" "), Field::Said, &mut |term| terms.push(term.to_string()));
                terms
            };
            let each: Vec<String> = words.iter().flat_map(|word| terms_of(word, Field::Said)).collect();
            prop_assert_eq!(&again(), &each);
            prop_assert_eq!(&again(), &each);
        }
    }

    #[test]
    fn a_full_table_of_words_gives_the_same_terms() {
        let text: Vec<String> = (0..SLOTS * 3).map(|number| format!("w{number}x")).collect();
        assert_eq!(terms_of(&text.join(" "), Field::Said), text);
    }
}
