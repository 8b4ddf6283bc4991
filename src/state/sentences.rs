//! Splits a text into sentences and scores each by how much it says of the conversation.
//!
//! Sentences are scored by 240 English cues, [`CUES`], some of which know decisions in other languages, and by the
//! paths, numbers and names in them; a user's count more. So in other languages the sentences that name something are
//! kept.

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::text::grapheme_boundary;
use crate::record::message::Role;
use crate::state::cues::{CUES, Cue, MAX_CUE_WORDS};
use crate::state::{FactKind, cut_text};

// The bytes of a long text that are examined, at its beginning and at its end.
const HEAD_BYTES: usize = 6 * 1024;
const TAIL_BYTES: usize = 4 * 1024;

const MIN_WORDS: usize = 4;
// The least number of words of a sentence that names something: one fewer.
const MIN_WORDS_BESIDE_A_NAME: usize = 3;
const MAX_WORDS: usize = 40;
const MAX_SENTENCE_BYTES: usize = 320;

// The weight of a name, and the most that names may add.
const NAME_WEIGHT: i32 = 2;
const MAX_NAMES_WEIGHT: i32 = 8;
// The bonus of a user's sentence: users say less than assistants, and mean more of it.
const USER_BONUS: i32 = 2;
const QUESTION_WEIGHT: i32 = 3;
const MIN_WEIGHT: i32 = 2;
// Marks of JSON, markup and code, which no sentence has, and the mark of text left out of a blob's ends.
const DATA_MARKS: [&str; 7] = ["{\"", "\":", "\",\"", "</", "=>", "();", " bytes left out ...]"];

/// Calls `found` with each sentence worth keeping, its kind and its weight.
pub(crate) fn for_each_sentence(text: &str, speaker: Role, found: &mut impl FnMut(FactKind, u32, &str)) {
    if text.len() <= HEAD_BYTES + TAIL_BYTES {
        return scan_part(text, speaker, found);
    }
    scan_part(cut_text(text, HEAD_BYTES), speaker, found);
    scan_part(&text[grapheme_boundary(text, text.len() - TAIL_BYTES, true)..], speaker, found);
}

fn scan_part(text: &str, speaker: Role, found: &mut impl FnMut(FactKind, u32, &str)) {
    let mut is_code = false;
    for line in text.lines() {
        let line = line.trim_ascii();
        if line.starts_with("```") || line.starts_with("~~~") {
            is_code = !is_code;
            continue;
        }
        if is_code || line.starts_with(['|', '<', '{', '}']) || is_numbered(line) {
            continue;
        }
        let mut rest = without_marker(line);
        while !rest.is_empty() {
            let (sentence, behind) = split_sentence(rest);
            if let Some((kind, weight)) = rate_sentence(sentence, speaker) {
                found(kind, weight, cut_text(sentence, MAX_SENTENCE_BYTES));
            }
            rest = behind;
        }
    }
}

// True for a line of a file with its number, as tools show it.
fn is_numbered(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < line.len() && rest.starts_with(['→', '\t', '|'])
}

// Removes the marker of a list item or a heading.
fn without_marker(line: &str) -> &str {
    let line = line.trim_start_matches(['#', '>', '*', '-', '+', '•', ' ']);
    let line = ["[ ]", "[x]", "[X]"]
        .iter()
        .find_map(|mark| line.strip_prefix(mark))
        .unwrap_or(line)
        .trim_ascii_start();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    match line[digits..].strip_prefix(['.', ')']) {
        Some(rest) if digits > 0 && digits < 4 => rest.trim_ascii_start(),
        Some(_) | None => line,
    }
}

// Splits off the first sentence. A full stop ends one if a blank follows, unless it ends an abbreviation.
fn split_sentence(text: &str) -> (&str, &str) {
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let ends =
            matches!(byte, b'.' | b'!' | b'?') && bytes.get(at + 1).is_some_and(u8::is_ascii_whitespace);
        let is_short_form = || {
            let word = text[..at].rsplit(' ').next().unwrap_or_default();
            matches!(word, "e.g" | "i.e" | "etc" | "vs" | "approx" | "resp" | "cf")
        };
        if ends && !is_short_form() {
            return (&text[..=at], text[at + 1..].trim_ascii_start());
        }
    }
    (text, "")
}

fn rate_sentence(sentence: &str, speaker: Role) -> Option<(FactKind, u32)> {
    let words: Vec<String> =
        sentence.split_whitespace().map(bare_word).filter(|word| !word.is_empty()).collect();
    // The first word is capitalized whatever it is.
    let names =
        sentence.split_whitespace().enumerate().filter(|(place, word)| is_name(word, *place == 0)).count()
            as i32;
    if words.len() < if names > 0 { MIN_WORDS_BESIDE_A_NAME } else { MIN_WORDS } {
        return None;
    }
    if DATA_MARKS.iter().any(|mark| sentence.contains(mark)) {
        return None;
    }
    let is_user = speaker == Role::User;
    let (mut said, mut kind, mut strongest) = (0, FactKind::Progress, 0);
    for place in 0..words.len() {
        for (_, about, says) in cues_at(&words[place..]) {
            // A negative cue counts only at the beginning of a sentence.
            if *says < 0 && place > 0 {
                continue;
            }
            said += says;
            // Rules that an assistant mentions are not the user's wishes.
            if *says > strongest && (is_user || *about != FactKind::Constraint) {
                (kind, strongest) = (*about, *says);
            }
        }
    }
    // A model's announcement is not yet done.
    if !is_user && kind == FactKind::Progress && is_announcement(&words) {
        return None;
    }
    // A sentence without names is seldom about this conversation.
    if names == 0 && said > 0 {
        said = (said + 1) / 2;
    }
    let past = i32::from(words.iter().any(|word| word.len() > 4 && word.ends_with("ed")));
    let mut weight =
        (names * NAME_WEIGHT).min(MAX_NAMES_WEIGHT) + said + past + if is_user { USER_BONUS } else { 0 };
    if sentence.ends_with('?') {
        weight -= QUESTION_WEIGHT;
    }
    if words.len() > MAX_WORDS {
        weight -= 2;
    }
    u32::try_from(weight).ok().filter(|_| weight >= MIN_WEIGHT).map(|weight| (kind, weight))
}

// True if it begins with an announcement: "Now let's", "Next, I'll".
fn is_announcement(words: &[String]) -> bool {
    const LEAD_WORDS: [&str; 14] = [
        "alright", "and", "first", "good", "great", "next", "now", "ok", "okay", "perfect", "so", "sure",
        "then", "well",
    ];
    const CLAUSE_BEGINNINGS: [&str; 11] = [
        "let me",
        "let us",
        "let's",
        "i'll",
        "i will",
        "i'm going to",
        "i am going to",
        "i need to",
        "i should",
        "we'll now",
        "time to",
    ];
    let begins = words.iter().position(|word| !LEAD_WORDS.contains(&word.as_str())).unwrap_or_default();
    let rest = words
        .get(begins..)
        .unwrap_or_default()
        .iter()
        .take(MAX_CUE_WORDS)
        .cloned()
        .collect::<Vec<_>>()
        .join(" ");
    let is_begun = |beginning: &str| {
        rest.strip_prefix(beginning).is_some_and(|behind| behind.is_empty() || behind.starts_with(' '))
    };
    CLAUSE_BEGINNINGS.iter().any(|one| is_begun(one))
}

// Returns a word in lowercase, without the marks around it.
fn bare_word(word: &str) -> String {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.chars().map(|c| if c == '\u{2019}' { '\'' } else { c.to_ascii_lowercase() }).collect()
}

// True for a path, a number, an identifier, a proper name.
fn is_name(word: &str, is_first: bool) -> bool {
    let word =
        word.trim_matches(|c: char| matches!(c, '(' | ')' | ',' | ';' | ':' | '!' | '?' | '.' | '"' | '\''));
    let inner = word.get(1..).unwrap_or_default();
    word.bytes().any(|byte| byte.is_ascii_digit() || b"`_/".contains(&byte))
        || !is_first && word.len() > 1 && word.starts_with(char::is_uppercase)
        || inner.bytes().any(|byte| byte.is_ascii_uppercase() || byte == b'.')
}

// Returns the cues that begin these words. Cues with the same first word are adjacent.
fn cues_at(words: &[String]) -> impl Iterator<Item = &'static Cue> {
    let first = words[0].clone();
    let said = words[..words.len().min(MAX_CUE_WORDS)].join(" ");
    let from = CUES.partition_point(|cue| cue.0 < first.as_str());
    let begins = move |cue: &&Cue| cue.0.split(' ').next() == Some(&first);
    let is_said = move |cue: &&Cue| {
        said.strip_prefix(cue.0).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    CUES[from..].iter().take_while(begins).filter(is_said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn kept_sentences(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        for_each_sentence(text, Role::Assistant, &mut |_, _, sentence| all.push(sentence.into()));
        all
    }

    #[test]
    fn the_number_of_an_item_is_no_part_of_its_sentence_and_the_dot_of_a_name_is() {
        assert_eq!(
            kept_sentences("12. Keep src/a.rs as the only parser."),
            ["Keep src/a.rs as the only parser."]
        );
        for sentence in
            [".github/workflows/ci.yml must keep the old runner.", "2026) src/a.rs became the only parser."]
        {
            assert_eq!(kept_sentences(sentence), [sentence]);
        }
    }

    #[test]
    fn what_a_model_is_about_to_do_is_no_progress_and_what_the_user_asks_for_stays() {
        for sentence in [
            "Now let's update src/a.rs with the new parser.",
            "Next, I'll run the tests of src/a.rs.",
            "Great! Let me look at src/a.rs and src/b.rs.",
            "Okay, so now I need to check README.md first.",
        ] {
            assert_eq!(kept_sentences(sentence), Vec::<String>::new(), "{sentence}");
        }
        for sentence in ["I updated src/a.rs with the new parser.", "Now src/a.rs has the new parser."] {
            assert_eq!(kept_sentences(sentence), [sentence]);
        }
        let mut wishes = Vec::new();
        for_each_sentence("Let's always run src/check.sh first.", Role::User, &mut |_, _, one| {
            wishes.push(one.to_string())
        });
        assert_eq!(wishes.len(), 1);
    }

    #[test]
    fn a_text_that_is_not_longer_than_its_two_ends_is_looked_at_as_a_whole() {
        let sentence = "The parser in src/a.rs decides which files are read.";
        let before = "\n".repeat(HEAD_BYTES - sentence.len() / 2);
        let text = |length: usize| {
            let behind = length - before.len() - sentence.len();
            [&before, sentence, &"\n".repeat(behind)].concat()
        };
        assert_eq!(kept_sentences(&text(HEAD_BYTES + TAIL_BYTES)), [sentence]);
        assert!(
            !kept_sentences(&text(HEAD_BYTES + TAIL_BYTES + sentence.len()))
                .iter()
                .any(|found| found == sentence)
        );
    }

    #[test]
    fn a_sentence_is_worth_what_it_names_and_says_together() {
        for (sentence, expected) in [
            // A sentence without names weighs half; one letter is no name.
            ("people always put it there", (FactKind::Progress, 2)),
            ("then I always put more text there", (FactKind::Progress, 2)),
            ("then Anna always put more text there", (FactKind::Progress, 5)),
            // A verb in the past tense has at least five letters.
            ("people always looked at it there", (FactKind::Progress, 3)),
            ("then Anna always bred cats there", (FactKind::Progress, 5)),
            ("then Anna always bleed cats there", (FactKind::Progress, 6)),
            // An assistant's sentence is never a constraint.
            ("they always take the chosen path there", (FactKind::Decision, 3)),
        ] {
            assert_eq!(rate_sentence(sentence, Role::Assistant), Some(expected), "{sentence}");
        }
        assert_eq!(
            rate_sentence("then Anna always put more text there", Role::User),
            Some((FactKind::Constraint, 7))
        );
        assert_eq!(
            rate_sentence("does Anna always put more text there?", Role::Assistant),
            Some((FactKind::Progress, 2))
        );
        assert_eq!(rate_sentence("people put it there", Role::Assistant), None);
    }
}
