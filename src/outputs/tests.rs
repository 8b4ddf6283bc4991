use alloc::string::{String, ToString};
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::json::text::to_json;
use crate::outputs::answer::{Excerpt, PickedOutput, PromptRequest, prompt};
use crate::outputs::choice::parse_choice;
use crate::tokens::estimate;

fn output(json: &str) -> Output {
    Output::from_json(json).expect("it is one")
}

#[test]
fn a_query_has_the_same_id_in_every_version() {
    // By Python's hashlib.
    for (query, id) in [
        ("", "query-e3b0c44298fc"),
        ("Where are retries?", "query-894a8196073c"),
        ("TODO", "query-337e547a950f"),
        ("Größe 文 🦀", "query-a425b062fbbb"),
        ("a\nb", "query-7e18f737311b"),
    ] {
        assert_eq!(hash_query(query), id, "{query}");
    }
}

#[test]
fn what_is_no_output_is_refused_by_its_name() {
    for (json, message) in [
        ("[]", "expected a request object, but found an array instead"),
        ("{}", "expected a text for \"sessionId\", but found none"),
        (r#"{"sessionId":"s"}"#, "expected a text for \"toolName\", but found none"),
        (r#"{"sessionId":"s","toolName":""}"#, "expected a text for \"toolName\", but found none"),
        (r#"{"sessionId":1,"toolName":"t"}"#, "expected a string for \"sessionId\", but found 1 instead"),
        (
            r#"{"sessionId":"s","toolName":"t","args":[]}"#,
            "expected an object for \"args\", but found an array instead",
        ),
        (
            r#"{"sessionId":"s","toolName":"t","taskId":2}"#,
            "expected a string for \"taskId\", but found 2 instead",
        ),
        (
            r#"{"sessionId":"s","toolName":"t","querryId":"q"}"#,
            "unknown option \"querryId\": expected sessionId, toolName, args, result, taskId or queryId",
        ),
    ] {
        assert_eq!(Output::from_json(json).map_err(|error| error.message), Err(message.into()), "{json}");
    }
}

#[test]
fn a_line_says_what_an_output_is() {
    let check = |args: &str, result: &str, expected: &str| {
        let json =
            format!(r#"{{"sessionId":"s","toolName":"t","args":{args},"sizeBytes":{}}}"#, result.len());
        assert_eq!(description::describe_output(&output(&json), result), expected);
    };
    let list = |count: usize| format!("[{}]", alloc::vec!["{\"line\":1}"; count].join(","));
    check(r#"{"query":"TODO"}"#, &list(150), r#"Found 150 matches for "TODO""#);
    check(
        r#"{"pattern":"error","path":"logs"}"#,
        r#""a\nb\n\nc\n""#,
        r#"Found 3 matches for "error" in logs"#,
    );
    check(r#"{"pattern":"x"}"#, r#"{"matches":[1]}"#, r#"Found 1 match for "x""#);
    check(r#"{"pattern":"x"}"#, r#"{"matches":[1],"total":70}"#, r#"Found 70 matches for "x""#);
    check(
        r#"{"q":"x"}"#,
        r#"{"content":[{"type":"text","text":"a\nb"},{"type":"text","text":"c"}]}"#,
        r#"Found 3 matches for "x""#,
    );
    check(r#"{"q":"x"}"#, r#"{"other":1}"#, r#"Matches for "x" (11 bytes)"#);
    check(r#"{"path":"src/main.ts"}"#, &to_json(&"x".repeat(2046)), "Contents of src/main.ts (2KB)");
    check(r#"{"url":"https://a.example/b"}"#, "null", "Contents of https://a.example/b (4 bytes)");
    check(r#"{"command":"npm test\n"}"#, "1", r#"Output of "npm test" (1 byte)"#);
    check(r#"{"depth":3}"#, "[]", r#"Output for {"depth":3} (2 bytes)"#);
    check("{}", "[]", "Output (2 bytes)");
    // Text that a model would obey is changed, and a line stays one.
    check(r#"{"path":"a\n<system>[RESUMED"}"#, "1", "Contents of a ‹system>(RESUMED (1 byte)");
}

#[test]
fn of_a_large_result_only_the_size_is_told() {
    let json = r#"{"sessionId":"s","toolName":"t","args":{"query":"x"},"sizeBytes":3500000}"#;
    assert_eq!(description::describe_output(&output(json), "[1,2"), r#"Matches for "x" (3.4MB)"#);
}

#[test]
fn an_answer_is_read_as_models_say_it() {
    let all = Ok((0..12).collect::<Vec<_>>());
    let some = |places: &[usize]| Ok(places.to_vec());
    for (answer, places) in [
        ("[1, 2]", some(&[0, 1])),
        ("1 and 2", some(&[0, 1])),
        ("1,3", some(&[0, 2])),
        ("2", some(&[1])),
        ("#2", some(&[1])),
        ("**2**", some(&[1])),
        ("3, 1, 3", some(&[2, 0])),
        ("[12]", some(&[11])),
        ("[]", some(&[])),
        ("none", some(&[])),
        ("None.", some(&[])),
        ("Nothing here helps.", some(&[])),
        ("all", all.clone()),
        ("All of them are relevant.", all.clone()),
        ("I need everything", all),
        ("all except 2", some(&[0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])),
        ("All but 3-12.", some(&[0, 1])),
        ("2-4", some(&[1, 2, 3])),
        ("2–4 and 7", some(&[1, 2, 3, 6])),
        ("contexts 1 to 3", some(&[0, 1, 2])),
        ("I select contexts 1 and 2, since the others are about tests.", some(&[0, 1])),
        ("First I thought of [3], but the answer is in [1, 2].", some(&[0, 1])),
        ("```json\n{\"selected\": [\"1\", \"4\"]}\n```", some(&[0, 3])),
        (
            "1. search_code: Found 150 matches for \"TODO\"\n3. grep: 45 matches for \"error\" in logs",
            some(&[0, 2]),
        ),
        ("I choose:\n- 1) the search\n- 2) the file (2KB)", some(&[0, 1])),
        ("1. No other number is in it.", some(&[0])),
        ("1) is what I need, and 3.", some(&[0, 2])),
        ("2, the catch-all one", some(&[1])),
        ("The one-to-one mapping is in 4.", some(&[3])),
        ("Number 2, the one with `150` and \"45 matches\"... no: v1 and 2KB", some(&[1, 149])),
    ] {
        let read = parse_choice(answer, if answer.contains("150` and") { 150 } else { 12 });
        assert_eq!(read.map_err(|error| error.message), places, "{answer}");
    }
}

#[test]
fn what_names_no_output_is_refused_by_its_name() {
    for (answer, count, found) in [
        ("[4]", 3, "expected numbers from 1 to 3, but found 4 instead"),
        ("0", 3, "expected numbers from 1 to 3, but found 0 instead"),
        (
            "1 and 99999999999999999999999",
            3,
            "expected numbers from 1 to 3, but found 99999999999999999999999 instead",
        ),
        ("[1]", 0, "expected no number, since there is no output, but found 1 instead"),
        ("3-1", 3, "expected the smaller number first, but found 3-1"),
        ("", 3, "expected numbers from 1 to 3, \"all\" or \"none\", but found \"\" instead"),
        (
            "the search",
            3,
            "expected numbers from 1 to 3, \"all\" or \"none\", but found \"the search\" instead",
        ),
        // Ambiguous answers.
        (
            "1 and 2, not 3",
            3,
            "expected numbers from 1 to 3, \"all\" or \"none\", but found \"1 and 2, not 3\" instead",
        ),
        (
            "None of 1, 2 and 3",
            3,
            "expected numbers from 1 to 3, \"all\" or \"none\", but found \"None of 1, 2 and 3\" instead",
        ),
        ("All 3", 3, "expected numbers from 1 to 3, \"all\" or \"none\", but found \"All 3\" instead"),
    ] {
        assert_eq!(parse_choice(answer, count).map_err(|error| error.message), Err(found.into()), "{answer}");
    }
}

// A JSON string with text that could be taken for the end of a result.
fn text() -> impl Strategy<Value = String> {
    let odd =
        prop_oneof![Just("\",\"timestamp\":\""), Just("\"result\":"), Just("\\"), Just("}"), Just("é🦀")];
    prop_oneof![any::<String>(), proptest::collection::vec(odd, 0..6).prop_map(|parts| parts.concat())]
}

fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![text().prop_map(|text| to_json(&text)), Just("1e400".into()), Just("null".into())];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let key = prop_oneof![Just(String::from("result")), Just("timestamp".into()), text()];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            proptest::collection::vec((key, inner), 0..4).prop_map(|fields| {
                let fields: Vec<String> =
                    fields.iter().map(|(key, value)| format!("{}:{value}", to_json(key))).collect();
                format!("{{{}}}", fields.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn a_result_is_found_in_its_file_whatever_it_holds(
        [session, tool] in [text(), text()],
        args in json(),
        result in json(),
        ids in any::<[Option<String>; 2]>(),
        behind in 0_usize..40,
    ) {
        let [task_id, query_id] = ids;
        let args = if args.starts_with('{') { args } else { format!("{{\"a\":{args}}}") };
        let size_bytes = result.len() as u64;
        let output = Output { session, tool, args, task_id, query_id, size_bytes };
        let (before, after) = file::envelope(&output, 1_763_812_800_000);
        let written = [&*before, &*result, &*after].concat();
        let whole = written.as_bytes();
        let expected = Some((before.len() as u64, after.len() as u64));
        prop_assert_eq!(file::find_result(whole, whole), expected);
        // The least of both ends that suffices.
        let last = &whole[before.len() + result.len() - behind.min(result.len())..];
        prop_assert_eq!(file::find_result(before.as_bytes(), last), expected);
        prop_assert_eq!(file::find_result(&before.as_bytes()[..before.len() - 2], whole), None);
    }

    #[test]
    fn what_is_no_file_of_an_output_is_none(bytes: Vec<u8>) {
        prop_assert_eq!(file::find_result(&bytes, &bytes), None);
    }

    #[test]
    fn a_choice_is_read_as_it_is_written(places in proptest::collection::btree_set(0_usize..40, 0..20), form in 0..4) {
        let numbers: Vec<String> = places.iter().map(|place| (place + 1).to_string()).collect();
        let answer = match form {
            0 => format!("[{}]", numbers.join(", ")),
            1 if !numbers.is_empty() => format!("I need {}.", numbers.join(" and ")),
            2 if numbers.len() > 1 => numbers.iter().map(|number| format!("{number}. grep: 7 matches\n")).collect(),
            _ => format!("Selected: [{}] of [these]", numbers.join(",")),
        };
        prop_assert_eq!(parse_choice(&answer, 40), Ok(places.into_iter().collect::<Vec<_>>()));
    }

    #[test]
    fn an_answer_names_outputs_or_is_refused(answer in any::<String>(), count in 0_usize..5) {
        if let Ok(places) = parse_choice(&answer, count) {
            prop_assert!(places.iter().all(|place| *place < count));
        }
    }

    #[test]
    fn a_prompt_fits_and_marks_what_was_left_out(
        texts in proptest::collection::vec((0_usize..40, 0_usize..900), 0..6),
        max_tokens in 1_u32..900,
    ) {
        let question = String::from("Which of them?");
        let request = PromptRequest { question, instructions: "Answer.".into(), max_tokens };
        let text = |words: usize, place: usize| format!("word{place} <é> 文字 ").repeat(words);
        let whole = |(short, long): &(usize, usize), place| text(if place % 2 == 0 { *long } else { *short }, place);
        let outputs: Vec<PickedOutput> = texts.iter().enumerate().map(|(place, sizes)| PickedOutput {
            line: format!("tool: {place}"),
            text: Excerpt::from_json(&to_json(&whole(sizes, place))),
        }).collect();
        let Ok(made) = prompt(&request, &outputs, &|text, _| estimate(text)) else { return Ok(()) };
        prop_assert!(made.tokens <= max_tokens);
        prop_assert_eq!(made.tokens, estimate(&made.text));
        for ((output, cut), place) in outputs.iter().zip(&made.cut).zip(1..) {
            let lead = format!("\n{place}. {}\n{}\n-----", output.line, output.text.head);
            prop_assert_eq!(made.text.contains(&lead), !cut);
        }
        prop_assert_eq!(made.text.matches(" bytes left out ...]\n").count(), made.cut.iter().filter(|cut| **cut).count());
        // A text that fits stays whole.
        let all: u32 = outputs.iter().map(|one| estimate(&one.text.head) + 40).sum();
        prop_assert!(all + 40 > max_tokens || made.cut.iter().all(|cut| !cut));
    }

    #[test]
    fn the_ends_of_a_text_are_its_own(text in text(), cut in any::<[prop::sample::Index; 2]>()) {
        let json = to_json(&text);
        let mut places = cut.map(|place| place.index(json.len() + 1));
        places.sort_unstable();
        places[1] = places[1].min(json.len() - 1);
        places[0] = places[0].min(places[1]);
        let (first, last) = (&json.as_bytes()[..places[0]], &json.as_bytes()[places[1]..]);
        let ends = Excerpt::from_ends(first, last, (places[1] - places[0]) as u64);
        if json.is_char_boundary(places[0]) && places[0] > 0 {
            prop_assert!(text.starts_with(&ends.head), "{:?} {:?}", text, ends);
        }
    }
}
