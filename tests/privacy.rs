//! What leaves: of what a host's rule finds nothing is left, in whatever form a text holds it, and all else stays as it was.
//! Tries: src/privacy/, src/privacy/known_secrets.rs, src/privacy/plan.rs
#![allow(missing_docs)]
#![cfg(not(target_arch = "wasm32"))]

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use leftoff::error::Code;
use leftoff::privacy::{KnownSecrets, Redaction, SecretSpan};
use proptest::prelude::*;
use regex::Regex;
use serde_json::{Value, json};

const SECRET: &str = "key-q7Xw0Lk2Zt9Bv4Ym6Rn8";

/// A host whose only rule finds keys; of some it wants to see the name, as real rules do.
fn scan(text: &str) -> Vec<SecretSpan> {
    let rule = Regex::new(r#"key-[A-Za-z0-9]{20}|password="([^"\s]{6,})""#).expect("a rule");
    let place = |found: regex::Captures<'_>| {
        let whole = found.get(1).or(found.get(0)).expect("all of it");
        SecretSpan { start: whole.start(), end: whole.end(), rule: "own".into() }
    };
    rule.captures_iter(text).map(place).collect()
}

fn finish_scan(mut redaction: Redaction) -> Redaction {
    loop {
        let texts = redaction.next_texts();
        if texts.is_empty() {
            return redaction;
        }
        redaction.take_spans(&texts.iter().map(|text| scan(text)).collect::<Vec<_>>());
    }
}

fn redact_value(value: &Value, known: KnownSecrets) -> Redaction {
    finish_scan(Redaction::new(&value.to_string(), &[7; 32], known).expect("JSON"))
}

fn redacted_value(value: &Value) -> Value {
    let clean = redact_value(value, KnownSecrets::default()).value();
    clean.map_or_else(|| value.clone(), |json| serde_json::from_str(&json).expect("JSON"))
}

fn placeholder() -> String {
    let all = redact_value(&json!(SECRET), KnownSecrets::default());
    let clean: String = serde_json::from_str(&all.value().expect("a secret")).expect("a text");
    assert_eq!(clean, all.secrets()[0].placeholder);
    clean
}

/// A text with the secret, in some form.
fn hidden_secret() -> impl Strategy<Value = String> {
    let plain = "[a-z üé😀\\n]{0,9}".prop_map(|around| format!("{around} {SECRET} {around}"));
    plain.prop_recursive(3, 8, 1, |inner| {
        (inner, 0..5usize).prop_map(|(text, form)| match form {
            0 => STANDARD.encode(text),
            1 => URL_SAFE_NO_PAD.encode(text),
            2 => json!({ "text": text, "n": [1.5, null] }).to_string(),
            3 => json!([text]).to_string(),
            _ => {
                let code = STANDARD.encode(text);
                let lines: Vec<&str> =
                    code.as_bytes().chunks(76).map(|line| str::from_utf8(line).expect("ASCII")).collect();
                lines.join("\r\n  ")
            }
        })
    })
}

/// Whether a text holds the secret, in whatever it can be decoded to.
fn holds(text: &str, depth: usize) -> bool {
    let runs = Regex::new(r"(?:[A-Za-z0-9+/_-]{76}\r\n  )*[A-Za-z0-9+/_-]{2,}=*").expect("a rule");
    let strings = Regex::new(r#""(?:[^"\\]|\\.)*""#).expect("a rule");
    text.contains(SECRET)
        || depth > 0
            && (runs.find_iter(text).any(|run| {
                let code = run.as_str().replace(['\r', '\n', ' '], "").replace('-', "+").replace('_', "/");
                let bytes =
                    base64::engine::general_purpose::STANDARD_NO_PAD.decode(code.trim_end_matches('='));
                bytes.is_ok_and(|bytes| holds(&String::from_utf8_lossy(&bytes), depth - 1))
            }) || strings.find_iter(text).any(|one| {
                serde_json::from_str::<String>(one.as_str()).is_ok_and(|text| holds(&text, depth - 1))
            }))
}

proptest! {
    #[test]
    fn nothing_is_left_of_a_secret_in_whatever_form_it_stands(text in hidden_secret(), name in "text|arguments|data") {
        prop_assert!(holds(&text, 4), "the test has to see it");
        let value = json!({ "beside": ["kept", 1.5, null], (name.clone()): text });
        let redaction = redact_value(&value, KnownSecrets::default());
        prop_assert_eq!(redaction.secrets().len(), 1);
        let clean: Value = serde_json::from_str(&redaction.value().expect("a secret")).expect("JSON");
        prop_assert!(!holds(clean[&name].as_str().expect("a text"), 4), "{}", clean);
        prop_assert_eq!(&clean["beside"], &value["beside"]);
        // It is through the door: nothing is found in it again.
        prop_assert_eq!(redacted_value(&clean), clean);
    }

    #[test]
    fn what_has_none_stays_as_it_is(text in "[a-z0-9+/=\"{}\\\\\\[\\]:, \\n]{0,200}") {
        let json = json!({ "arguments": text, "text": [text] }).to_string();
        let redaction = finish_scan(Redaction::new(&json, &[], KnownSecrets::default()).expect("JSON"));
        prop_assert_eq!(redaction.value(), None);
    }

    #[test]
    fn a_host_that_counts_wrongly_costs_no_letter_beside(start in 0usize..60, end in 0usize..60) {
        let text = "für 😀 jeden Buchstaben";
        let mut redaction = Redaction::new(&json!({ "a": text }).to_string(), &[], KnownSecrets::default()).expect("JSON");
        let spans = |text: &String| if text.contains(' ') { vec![SecretSpan { start, end, rule: "r".into() }] } else { vec![] };
        let texts = redaction.next_texts();
        redaction.take_spans(&texts.iter().map(spans).collect::<Vec<_>>());
        if let Some(clean) = redaction.value() {
            let clean: Value = serde_json::from_str(&clean).expect("JSON");
            let clean = clean["a"].as_str().expect("a text");
            let (before, behind) = clean.split_once("[redacted:r:").expect("a placeholder");
            prop_assert!(text.starts_with(before) && text.ends_with(&behind[9..]), "{}", clean);
        }
    }
}

#[test]
fn arguments_stay_json_with_each_key_and_value_as_it_was_written() {
    let arguments = format!(r#"{{ "b" : 1.0e2, "token":"{SECRET}", "{SECRET}":[ 2 ], "b":"\u00fc" }}"#);
    let name = placeholder();
    let expected = format!(r#"{{ "b" : 1.0e2, "token":"{name}", "{name}":[ 2 ], "b":"\u00fc" }}"#);
    assert_eq!(redacted_value(&json!({ "arguments": arguments })), json!({ "arguments": expected }));
}

#[test]
fn a_name_tells_what_stands_there() {
    let cleaned = redacted_value(
        &json!({ "password": "hunter22", "note": "hunter22", "arguments": r#"{"password":"hunter22"}"# }),
    );
    let of = |name: &str| cleaned[name].as_str().expect("a text").contains("hunter22");
    assert_eq!([of("password"), of("note"), of("arguments")], [false, true, false]);
}

#[test]
fn signatures_and_encrypted_reasoning_leave_as_they_are() {
    let kept = json!({ "content": [{ "type": "thinking", "signature": SECRET }, { "data": SECRET, "type": "redacted_thinking" }] });
    assert_eq!(redacted_value(&kept), kept);
    let name = placeholder();
    let input = redacted_value(&json!({ "input": { "signature": SECRET }, "data": SECRET }));
    assert_eq!(input, json!({ "input": { "signature": name }, "data": name }));
}

#[test]
fn reasoning_is_known_by_its_type_whatever_stands_between() {
    for between in ["plain", "}", "{", "]", "\"", "\\", "a \"}\" b", "\"type\":\"text\""] {
        let json = format!(
            r#"{{"data":"{SECRET}","x":{0},"y":[{0}],"z":{{"a":{0}}},"type":"redacted_thinking"}}"#,
            json!(between)
        );
        let redaction = finish_scan(Redaction::new(&json, &[], KnownSecrets::default()).expect("JSON"));
        assert_eq!(redaction.value(), None, "{json}");
    }
}

#[test]
fn what_is_no_file_is_looked_at_as_it_stands_however_much_of_it_looks_like_one() {
    let code = |bytes: usize| STANDARD.encode((0..bytes).map(|at| (at * 7 % 251) as u8).collect::<Vec<_>>());
    let hidden = STANDARD.encode(format!("it is {SECRET}, see what is said of it there"));
    // Nobody reads on in a text that ends within a letter.
    let (short, long) = (code(61), code(9001));
    let [short, long] = [&short, &long].map(|code| code.trim_end_matches('='));
    for text in [
        format!("{short} {hidden}"),
        format!("{short} {hidden} {short}"),
        format!("{long}!\n{hidden}\n{long}"),
        format!("see: {hidden}\n{long}\n{long}"),
    ] {
        assert!(holds(&text, 4), "the test has to see it");
        let clean = redacted_value(&json!(text));
        assert!(!holds(clean.as_str().expect("a text"), 4), "{clean}");
    }
}

#[test]
fn a_part_of_what_is_known_has_the_name_of_the_whole() {
    let known = || KnownSecrets::new(vec![(SECRET.into(), "own".into())]);
    let cut = json!([SECRET[..12], SECRET[..7], format!("it was {}...", &SECRET[8..]), SECRET]);
    let redaction = redact_value(&cut, known());
    let clean: Value = serde_json::from_str(&redaction.value().expect("parts")).expect("JSON");
    let name = placeholder();
    assert_eq!(clean, json!([name, SECRET[..7], format!("it was {name}..."), name]));
    assert_eq!((redaction.secrets().len(), redaction.secrets()[0].count), (1, 3));
    let before: Vec<&str> = redaction.changed_texts().iter().map(|(before, _)| before.as_str()).collect();
    assert_eq!(before, [&SECRET[..12], &format!("it was {}...", &SECRET[8..]), SECRET]);
}

#[test]
fn parts_of_what_is_known_are_found_wherever_they_are_and_nothing_else_is() {
    const MIN_PART_BYTES: usize = 8;
    let secret = "q7Xw0Lk2Zt9Bv4Ym6Rn8";
    let address = "https://someone:s3cr3tPassw0rd@example.com/path";
    let all = [(secret, "a"), (address, "b"), (&"0".repeat(40), "c")];
    let known = KnownSecrets::new(all.map(|(secret, rule)| (secret.into(), rule.into())).into());
    for start in 0..secret.len() {
        for end in start + 1..=secret.len() {
            let part = &secret[start..end];
            let text = format!("see {part} there");
            let found: Vec<_> = known.find(&text).into_iter().map(|one| &text[one.place]).collect();
            let expected: &[_] = if part.len() < MIN_PART_BYTES { &[] } else { &[part] };
            assert_eq!(found, expected, "{part}");
        }
    }
    for text in ["https://example.com/path", "see https://", &"0".repeat(20), "someone", "", "q7Xw0Lk"] {
        assert!(known.find(text).is_empty(), "{text}");
    }
    assert_eq!(known.find("https://someone:s3cr3t").len(), 1);
    // What stands behind the host is nobody's, whatever it looks like.
    for behind in ["/so/x@y", "?so=x@y", "#so-x@y", " so x@y"] {
        let address = format!("postgres://someone:s3cr3tPassw0rd@db.example.com{behind}");
        let known = KnownSecrets::new(vec![(address, "b".into())]);
        assert!(known.find("see db.example.com/so there").is_empty(), "{behind}");
        assert_eq!(known.find("see s3cr3tPassw0rd there").len(), 1, "{behind}");
    }
}

#[test]
fn base64_in_lines_is_read_as_one_whatever_ends_them() {
    let whole = STANDARD.encode(format!(
        "{}it is {SECRET}, see {}",
        "some words. ".repeat(3),
        "and more. ".repeat(9)
    ));
    for width in [60, 64, 72, 76] {
        for (feed, indent) in [("\n", ""), ("\r\n", ""), ("\n", "  "), ("\r\n", "\t")] {
            let lines: Vec<&str> = whole
                .as_bytes()
                .chunks(width)
                .map(|line| std::str::from_utf8(line).expect("ASCII"))
                .collect();
            let text = format!("so:{feed}{indent}{}{feed}.", lines.join(&format!("{feed}{indent}")));
            let clean = redacted_value(&json!(text));
            let clean = clean.as_str().expect("a text");
            let inner: String =
                clean.chars().filter(|c| c.is_ascii_alphanumeric() || "+/=".contains(*c)).collect();
            let inner = inner.strip_prefix("so").unwrap_or(&inner).to_owned();
            let inner = STANDARD_NO_PAD.decode(inner.trim_end_matches('=')).expect("base64");
            let inner = String::from_utf8(inner).expect("UTF-8");
            assert!(inner.contains(&placeholder()) && !inner.contains(SECRET), "{width}, {feed:?}: {inner}");
        }
    }
}

#[test]
fn base64_is_written_anew_as_it_was_written() {
    for length in 0..6 {
        let around = "x ".repeat(length);
        let end = &"..."[..length % 2];
        let (text, clean) = (format!("{around}{SECRET}{end}"), format!("{around}{}{end}", placeholder()));
        for engine in [STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            let told = |text: &str| format!("see {} there", engine.encode(text));
            let found = redacted_value(&json!(told(&text)));
            let found = found.as_str().expect("a text");
            // Where no sign of it is there, nobody knows whether it would be padded.
            let bare = |text: &str| text.replace('=', "");
            assert_eq!(bare(found), bare(&told(&clean)), "{text}");
            assert!(!told(&text).contains('=') || found == told(&clean), "{text}: {found}");
        }
    }
}

#[test]
fn base64_is_read_where_a_cut_went_through_it_whatever_other_readings_give() {
    for (before, behind) in [
        ("A BAD BADGE FADED. A CAB FED A BAG: ", ". A FACADE, A DECADE, A BAGGAGE"),
        // Read from another sign, these give letters beyond ASCII.
        ("these words stand before ", " and these behind it"),
    ] {
        let told = |inner: &str| STANDARD.encode([before, inner, behind].concat());
        let (code, expected) = (told(SECRET), told(&placeholder()));
        for cut in 0..8 {
            let clean = redacted_value(&json!(code[cut..]));
            let whole = [&code[..cut], clean.as_str().expect("a text")].concat();
            assert_eq!(whole.trim_end_matches('='), expected.trim_end_matches('='), "{before}{cut}");
        }
    }
}

#[test]
fn a_file_in_base64_is_read_as_one_wherever_its_lines_end() {
    for width in [60, 76, 400] {
        for before in (0..60).step_by(7) {
            let words = format!("{}it is {SECRET}, {}", "x".repeat(before), "and more. ".repeat(500));
            let code = STANDARD.encode(words.repeat(2));
            let lines: Vec<&str> =
                code.as_bytes().chunks(width).map(|line| str::from_utf8(line).expect("ASCII")).collect();
            let clean = redacted_value(&json!(lines.join("\n\n")));
            let inner: String = clean.as_str().expect("a text").split_whitespace().collect();
            let inner =
                String::from_utf8(STANDARD_NO_PAD.decode(inner.trim_end_matches('=')).expect("base64"))
                    .expect("UTF-8");
            assert!(!inner.contains(SECRET), "{width}, {before}");
            assert_eq!(inner.matches(&placeholder()).count(), 2, "{width}, {before}");
        }
    }
}

#[test]
fn words_of_the_signs_of_base64_are_no_file_and_what_stands_among_them_is_read() {
    let code = STANDARD_NO_PAD.encode(format!("it is {SECRET}, see more of."));
    assert_eq!(code.len(), 59);
    for width in [5, 21, 59] {
        let word = "w".repeat(width);
        for (before, first) in (1..4).flat_map(|before| [(before, ""), (before, " ")]) {
            let mut words = vec![word.as_str(); 5100 / width];
            words.insert(before, &code);
            let clean = redacted_value(&json!([first, &words.join(" ")].concat()));
            let found = clean.as_str().expect("a text").split_whitespace().nth(before).expect("a word");
            let found = STANDARD_NO_PAD.decode(found).expect("base64");
            let found = String::from_utf8(found).expect("UTF-8");
            assert_eq!(found, format!("it is {}, see more of.", placeholder()), "{width}, {before}");
        }
    }
}

#[test]
fn what_else_is_written_in_a_text_is_cleaned_in_its_order() {
    let told = |what: &str| format!("it is {what}, see");
    let string = json!(told(SECRET)).to_string().replace("key", "\\u006bey");
    let file = json!(STANDARD.encode(told(SECRET))).to_string();
    let clean_string = json!(told(&placeholder())).to_string();
    let clean_file = json!(STANDARD.encode(told(&placeholder()))).to_string();
    for order in [[true, false, true], [false, true, false]] {
        let text = |string: &str, file: &str| {
            format!("[{}]", order.map(|is| if is { string } else { file }).join(", "))
        };
        assert_eq!(redacted_value(&json!(text(&string, &file))), json!(text(&clean_string, &clean_file)));
    }
}

#[test]
fn what_stands_for_a_secret_is_none_itself() {
    let stays = |value: &str| redacted_value(&json!({ "password": value }))["password"] == value;
    assert!(stays("[redacted:own:0123abcd]") && stays(&placeholder()));
    for value in [
        "[redacted:own:0123abcg]",
        "[redacted:own:0123abc]",
        "[redacted:own:0123abcd0]",
        "[redacted::0123abcd]",
        "[redacted:0123abcd]",
        "[redacted:o.wn:0123abcd]",
        "[redacted:own:0123abcd",
        "[hidden:own:0123abcd]",
    ] {
        assert!(!stays(value), "{value}");
    }
}

#[test]
fn a_rule_that_finds_nothing_at_a_place_changes_nothing_there() {
    let mut redaction = Redaction::new("\"some words\"", &[7; 32], KnownSecrets::default()).expect("JSON");
    let texts = redaction.next_texts().len();
    assert_eq!(texts, 1);
    let nothing = [0, 4, 10, 99].map(|at| SecretSpan { start: at, end: at, rule: "own".into() });
    redaction.take_spans(&[nothing.into()]);
    assert_eq!((finish_scan(redaction).value(), texts), (None, 1));
}

#[test]
fn base64_of_wide_letters_is_read_as_what_they_say() {
    let wide = |text: &str| {
        let letters = text.encode_utf16().flat_map(u16::to_le_bytes);
        STANDARD.encode([0xff, 0xfe].into_iter().chain(letters).collect::<Vec<u8>>())
    };
    assert_eq!(
        redacted_value(&json!(wide(&format!("it is {SECRET}")))),
        json!(wide(&format!("it is {}", placeholder())))
    );
    let plain = wide("it is nothing, and told at some length");
    assert_eq!(redacted_value(&json!(plain)), json!(plain));
}

#[test]
fn each_secret_in_a_log_is_told_with_its_line() {
    let lines = [
        json!({ "content": format!("a {SECRET} b"), "again": SECRET }).to_string() + "\n",
        "{\"content\":\"clean\"}\n".into(),
        format!("{{\"torn\":\"{SECRET}\n"),
        format!("\u{fffd}{SECRET}"),
    ];
    let log = lines.concat().replace('\u{fffd}', "ü");
    let mut bytes = log.clone().into_bytes();
    let damaged = log.rfind('ü').expect("a letter");
    bytes[damaged] = 0xff;
    let ends: Vec<u64> = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n')
        .map(|(at, _)| at as u64 + 1)
        .chain([bytes.len() as u64])
        .collect();
    let all = finish_scan(Redaction::for_stored_bytes(&bytes, true));
    let places: Vec<(u64, u64)> = all.stored_secrets().iter().map(|one| (one.start, one.end)).collect();
    assert_eq!(places, [(0, ends[0]), (0, ends[0]), (ends[1], ends[2]), (ends[2], ends[3])]);
    assert!(all.stored_secrets().iter().all(|one| one.secret == SECRET && one.rule == "own"));
    let whole = finish_scan(Redaction::for_stored_bytes(&bytes, false));
    assert_eq!(whole.stored_secrets().len(), 4);
    assert!(whole.stored_secrets().iter().all(|one| (one.start, one.end) == (0, bytes.len() as u64)));
}

#[test]
fn what_is_nested_too_deep_is_not_shown_and_what_is_no_json_is_refused() {
    let deep = format!("[{}\"{SECRET}\"{},\"beside\"]", "[".repeat(100_000), "]".repeat(100_000));
    let clean = finish_scan(Redaction::new(&deep, &[], KnownSecrets::default()).expect("JSON"))
        .value()
        .expect("another one");
    assert!(clean.contains("\"[not shown: nested deeper than 500]\"") && clean.ends_with(",\"beside\"]"));
    for bad in ["", "{", "text", "[1,]", "\"\u{1}\""] {
        let refusal = Redaction::new(bad, &[], KnownSecrets::default()).expect_err(bad);
        assert_eq!(refusal.code, Code::InvalidJson);
    }
}
