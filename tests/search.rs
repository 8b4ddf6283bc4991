//! Whatever is searched for is found where it was said, and nowhere else.
//! Tries: src/resume/log_match.rs, src/recall/terms/
#![cfg(not(target_arch = "wasm32"))]
#![allow(missing_docs)]

use leftoff::resume::log_match::{LineMatch, LogSearch, has_quotes};
use proptest::prelude::*;
use serde_json::json;

fn line(id: usize, content: &str) -> String {
    format!("{}\n", json!({"v": 1, "id": format!("m{id}"), "role": "user", "content": content}))
}

fn search_ids(words: &str, log: &str) -> Vec<String> {
    let mut search = LogSearch::new(words);
    let lines = search.candidate_lines(log.as_bytes());
    let answers = lines.into_iter().map(|place| search.match_line(&log.as_bytes()[place]));
    let hits = answers.filter_map(|answer| match answer {
        LineMatch::Hit(hit) => Some(hit.id),
        LineMatch::None | LineMatch::NeedsBlob { .. } | LineMatch::Redactable(_) => None,
    });
    hits.collect()
}

// The plain way: every message is read, and both sides are put into lower case, without accents.
fn expected_ids(words: &str, contents: &[String]) -> Vec<String> {
    let has = |content: &String, word: &str| bare(content).contains(&bare(word));
    let is_hit = |content: &String| words.split_whitespace().all(|word| has(content, word));
    let hits = contents.iter().enumerate().rev().filter(|(_, content)| is_hit(content));
    hits.map(|(id, _)| format!("m{id}")).collect()
}

fn bare(text: &str) -> String {
    text.to_lowercase().replace(['é', 'è'], "e").replace('\u{301}', "")
}

// Every letter of every script, as a word among others, so that what stands alone is no exception.
#[test]
fn a_letter_is_found_in_whatever_case_it_is_written() {
    let mut count = 0;
    for letter in '\u{80}'..=char::MAX {
        let (lower, upper) = (letter.to_lowercase().to_string(), letter.to_uppercase().to_string());
        // An accent that stands alone is no letter.
        if lower == upper || ('\u{300}'..='\u{36f}').contains(&letter) {
            continue;
        }
        count += 1;
        let written = [letter.to_string(), lower, upper];
        for (said, asked) in written.iter().flat_map(|said| written.iter().map(move |asked| (said, asked))) {
            let log = line(0, &format!("a {said}z"));
            assert_eq!(search_ids(&format!("{asked}Z"), &log), ["m0"], "{asked:?} in {said:?}");
        }
    }
    assert!(count > 2500, "{count}");
}

#[test]
fn words_of_other_scripts_are_found_whatever_their_case_and_accents() {
    for (said, asked) in [
        ("ΟΔΟΣ", "οδος"),
        ("ΟΔΟΣ", "οδός"),
        ("Οδός Αθηνάς", "ΟΔΟΣ ΑΘΗΝΑΣ"),
        ("ᾠδή", "ωιδη"),
        ("Straße", "STRASSE"),
        ("STRASSE", "straße"),
        ("ﬁnal", "FINAL"),
        ("МОСКВА", "москва"),
        ("ԵՐԵՎԱՆ", "երեվան"),
        ("Ⴀ", "ⴀ"),
    ] {
        assert_eq!(search_ids(asked, &line(0, said)), ["m0"], "{asked:?} in {said:?}");
    }
    // What is another letter stays one.
    for (said, asked) in [("мой", "мои"), ("が", "か"), ("한", "하"), ("ο", "ω")] {
        assert_eq!(search_ids(asked, &line(0, said)), [""; 0], "{asked:?} in {said:?}");
    }
}

fn any_text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "API",
        "api",
        "Api",
        "design",
        "\"",
        "\\",
        "\n",
        "Straße",
        "ÉCOLE",
        "école",
        "Ecole",
        "e\u{301}cole",
        "è",
        "日本語",
        "本",
        "\u{1b}",
        "rev",
        "id",
        "\"rev\":",
        "x",
        " ",
    ]);
    prop::collection::vec(pieces, 0..8).prop_map(|pieces| pieces.concat())
}

fn any_words() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "api", "DESIGN", "straße", "École", "ecole", "COL", "本", "日本", "\\", "\"rev\":", "x", "role",
        "user", "zz", "pide",
    ]);
    prop::collection::vec(words, 1..3).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn the_same_is_found_as_by_reading_everything(contents in prop::collection::vec(any_text(), 0..12), words in any_words(), escapes: bool) {
        let lines: String = contents.iter().enumerate().map(|(id, content)| line(id, content)).collect();
        // Others write letters beyond ASCII as escapes.
        let log = if escapes { escape_non_ascii(&lines) } else { lines };
        prop_assert_eq!(search_ids(&words, &log), expected_ids(&words, &contents));
    }

    #[test]
    fn an_excerpt_has_the_words_and_only_what_was_said(before in any_text(), after in any_text(), words in any_words()) {
        let text = format!("{}{words}{}", before.repeat(40), after.repeat(40));
        let parts = LogSearch::new(&words).excerpt(&text);
        let whole: String = parts.iter().map(|part| part.text.as_str()).collect();
        prop_assert!(text.contains(&whole) && parts.iter().any(|part| part.is_hit));
        for part in parts.iter().filter(|part| part.is_hit) {
            prop_assert!(words.split_whitespace().any(|word| bare(word) == bare(&part.text)));
        }
    }
}

fn escape_non_ascii(json: &str) -> String {
    let mut units = [0; 2];
    let escape = |char: char| match char.is_ascii() {
        true => char.to_string(),
        false => char.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
    };
    json.chars().map(escape).collect()
}

#[test]
fn what_is_quoted_is_looked_for_as_it_stands_there() {
    let log =
        format!("{}{}", line(0, "The door is Blue, and shut"), line(1, "is the blue door {\"blue\": 1}"));
    let check = |words: &str, expected: &[&str]| assert_eq!(search_ids(words, &log), expected, "{words}");
    check("\"door is blue\"", &["m0"]);
    check("\"door is blue\" shut", &["m0"]);
    check("\"door is blue\" open", &[]);
    check("door is blue", &["m1", "m0"]);
    check("is \"the blue\"", &["m1"]);
    // A quote that ends no word is a letter.
    check("\"blue\":", &["m1"]);
    check("\"blue", &["m1"]);
    let quoted = ["\"a\"", "x \"a b\" y", "\"a\" b\""];
    let plain = ["", "a", "\"a", "a\"b\"", "\"rev\": 1", "\" \"", "it's"];
    assert!(quoted.iter().all(|words| has_quotes(words)) && !plain.iter().any(|words| has_quotes(words)));
}

#[test]
fn of_a_message_that_was_written_again_the_newest_counts() {
    let again =
        format!("{}\n", json!({"v": 1, "id": "m0", "role": "user", "content": "new words", "rev": 1}));
    let log = format!("{}{}{again}", line(0, "old words"), line(1, "other words"));
    assert_eq!(search_ids("old", &log), [""; 0]);
    assert_eq!(search_ids("words", &log), ["m0", "m1"]);
    assert_eq!(search_ids("", &log), [""; 0]);
}

#[test]
fn a_text_in_a_blob_is_asked_for() {
    let id = "ab".repeat(32);
    let content = json!({"blob": id, "bytes": 20, "head": "the", "tail": "end"});
    let line = format!("{}\n", json!({"v": 1, "id": "m0", "role": "tool", "content": content}));
    let mut search = LogSearch::new("needle");
    let [place] =
        <[_; 1]>::try_from(search.candidate_lines(line.as_bytes())).expect("it has to be looked at");
    assert!(
        matches!(search.match_line(&line.as_bytes()[place]), LineMatch::NeedsBlob { blob } if blob == id)
    );
    assert!(matches!(search.take_blob(&id, None), LineMatch::None));
}
