//! Tests of texts and their terms.

use alloc::format;
use alloc::string::ToString;

use proptest::prelude::*;

use super::*;

fn terms_of(text: &str, field: Field) -> Vec<String> {
    let mut terms = Vec::new();
    TermAnalyzer::default().for_each_term(text, field, &mut |term| terms.push(term.to_string()));
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
    check(&"x".repeat(MAX_TERM_BYTES + 1), "");
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
            prop_assert!(terms.iter().all(|term| !term.is_empty() && term.len() <= MAX_TERM_BYTES));
            prop_assert_eq!(terms, each);
        }
    }

    #[test]
    fn what_was_met_before_changes_nothing(words in prop::collection::vec("[a-f]{2,5}(ing|ed|s)?", 0..40)) {
        let mut warm = TermAnalyzer::default();
        let mut again = || {
            let mut terms = Vec::new();
            warm.for_each_term(&words.join(" "), Field::Said, &mut |term| terms.push(term.to_string()));
            terms
        };
        let each: Vec<String> = words.iter().flat_map(|word| terms_of(word, Field::Said)).collect();
        prop_assert_eq!(&again(), &each);
        prop_assert_eq!(&again(), &each);
    }
}

#[test]
fn a_long_word_is_a_term_as_it_stands() {
    for length in [MAX_STEMMED_BYTES, MAX_STEMMED_BYTES + 1, 30, MAX_TERM_BYTES] {
        let word = "Q".repeat(length);
        assert_eq!(terms_of(&word, Field::Said), [word.to_lowercase()], "{length}");
    }
    assert!(terms_of(&"q".repeat(MAX_TERM_BYTES + 1), Field::Said).is_empty());
}

#[test]
fn a_full_table_of_words_gives_the_same_terms() {
    let text: Vec<String> = (0..FIRST_SLOTS * 6).map(|number| format!("w{number}x")).collect();
    assert_eq!(terms_of(&text.join(" "), Field::Said), text);
}

#[cfg(feature = "interop")]
#[test]
fn what_was_noted_of_a_word_is_known_until_it_is_forgotten() {
    let mut words = TermAnalyzer::default();
    let noted = |words: &mut TermAnalyzer| {
        let mut notes = Vec::new();
        words.for_each_noted_term("Parser, parser parse/a.rs lease", Field::Said, &mut |term, note| {
            notes.push((term.to_string(), *note));
            *note = Some(notes.len() as u32);
        });
        notes.into_iter().map(|(term, note)| format!("{term} {note:?}")).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(noted(&mut words), "parser None, parser Some(1), pars None, rs None, a.rs None, leas None");
    assert_eq!(
        noted(&mut words),
        "parser Some(2), parser Some(1), pars Some(3), rs Some(4), a.rs None, leas Some(6)"
    );
    words.forget_notes();
    assert_eq!(noted(&mut words), "parser None, parser Some(1), pars None, rs None, a.rs None, leas None");
}

#[cfg(feature = "interop")]
#[test]
fn a_word_is_the_same_composed_and_in_parts() {
    use unicode_normalization::UnicodeNormalization;
    let mut others = String::new();
    let lettered = ('\u{a0}'..='\u{8ff}').chain('\u{1e00}'..='\u{1eff}').filter(|char| !"ϓϔ".contains(*char));
    for char in lettered.chain('\u{3040}'..='\u{30ff}').chain('\u{ac00}'..='\u{d7a3}') {
        let parts: String = char.nfd().collect();
        let is_both = !parts.contains(char) && parts.nfc().eq([char]) && char.is_alphanumeric();
        let wordy = |text: &str| terms_of(&format!("word a{text}b {text}{text} word"), Field::Said);
        if is_both && wordy(char.encode_utf8(&mut [0; 4])) != wordy(&parts) {
            others.push(char);
        }
    }
    assert_eq!(others, "");
}
