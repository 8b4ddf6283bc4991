//! Tells random text, as secrets are, from words, as names are.

use alloc::collections::BTreeMap;

/// Random text has more bits a letter, from so many letters on.
const MIN_BITS_PER_CHAR: f64 = 2.8;
const MIN_LONG_CHARS: usize = 16;
/// In a shorter text, the share of the most bits that its length allows.
const MIN_BITS_SHARE: f64 = 0.7;
/// The most digits that number a word.
const MAX_SUFFIX_DIGITS: usize = 2;
/// The most digits of a number that stands alone, such as a year.
const MAX_NUMBER_DIGITS: usize = 4;

/// Returns Shannon's entropy, in bits a letter.
pub(super) fn entropy(text: &str) -> f64 {
    let mut counts: BTreeMap<char, u32> = BTreeMap::new();
    for letter in text.chars() {
        *counts.entry(letter).or_default() += 1;
    }
    let all = f64::from(counts.values().sum::<u32>());
    let bits = counts.values().map(|count| {
        let share = f64::from(*count) / all;
        share * libm::log2(share)
    });
    -bits.sum::<f64>()
}

/// True if a text seems random: it repeats itself little, and is not made of words.
pub(super) fn is_random(text: &str) -> bool {
    let length = text.chars().count();
    let least =
        if length < MIN_LONG_CHARS { MIN_BITS_SHARE * libm::log2(length as f64) } else { MIN_BITS_PER_CHAR };
    !is_made_of_words(text) && entropy(text) > least
}

/// True if a text is words and small numbers, with signs between them.
pub(super) fn is_made_of_words(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric()).all(is_word)
}

/// True if it is a word, several in camel case, or a small number.
fn is_word(piece: &str) -> bool {
    let letters = piece.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = piece.len() - letters.len();
    if letters.is_empty() {
        return digits <= MAX_NUMBER_DIGITS;
    }
    if digits > MAX_SUFFIX_DIGITS || !letters.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return false;
    }
    let capitals = letters.bytes().filter(u8::is_ascii_uppercase).count();
    let vowels = letters.bytes().filter(|byte| b"aeiouyAEIOUY".contains(byte)).count();
    // Chance gives as many capitals as small letters, and a vowel among five.
    let is_camel = capitals * 3 <= letters.len() && vowels * 4 >= letters.len();
    capitals == 0 || capitals == letters.len() || is_camel
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_repeats_itself_has_no_bits() {
        assert_eq!([entropy("aaaa"), entropy("abab"), entropy("abcd")], [0.0, 1.0, 2.0]);
    }

    #[test]
    fn words_and_names_are_not_random() {
        for name in [
            "",
            "getUserPasswordHash",
            "my-project-name-for-demo-purposes-2024",
            "AZURE_CLIENT_SECRET",
            "some.dotted.name2",
            "xxxxxxxxxxxx4xxxxxxx",
            "----",
        ] {
            assert!(!is_random(name), "{name}");
        }
    }

    #[test]
    fn what_was_drawn_is_random_with_digits_or_without() {
        for drawn in [
            "q7Xw0Lk2Zt9Bv4Ym6Rn8",
            "qWmZxNbVcLkJhGfDsApOiUyTrEwQmZnXbC",
            "d41d8cd98f00b204e9800998ecf8427e",
            "k3nV9",
        ] {
            assert!(is_random(drawn), "{drawn}");
        }
    }
}
