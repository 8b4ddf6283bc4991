//! What a search finds in logs as they are: long lines, lines of one revision, sessions that are gone, and times.
//! Tries: src/operation/log_search.rs, src/operation/store/recall/

use super::host::{Host, SECRET};
use super::store::{create, run_to_end, setup, store};
use leftoff::operation::{OutgoingGate, OutgoingRedactor, RedactMode, SessionFiles, Setup, Step, Store};
use serde_json::{Value, json};
use std::rc::Rc;

const ALL_REQUEST: &str = r#"{"all":true}"#;

fn begin_session(host: &mut Host, title: &str) -> (Rc<SessionFiles>, String) {
    let live = run_to_end(host, create(&store(), &json!({ "title": title }).to_string()));
    let log = format!("{}/messages.jsonl", live.folder().path);
    (live, log)
}

fn line(id: &str, content: &str) -> String {
    format!("{}\n", json!({ "v": 1, "id": id, "role": "user", "content": content }))
}

/// The ids of the messages that are found, by whoever knows nothing of the store yet.
fn find_ids(host: &mut Host, question: &str, request: &str) -> Vec<String> {
    let hits = hits(host, question, request);
    hits.iter().filter_map(|hit| hit["id"].as_str().map(String::from)).collect()
}

fn hits(host: &mut Host, question: &str, request: &str) -> Vec<Value> {
    host.pages.clear();
    let leaving = OutgoingRedactor::new(&OutgoingGate::new(RedactMode::Off));
    run_to_end(host, store().search(question.into(), request.into(), &leaving));
    let pages = host.pages.iter();
    pages.flat_map(|page| serde_json::from_str::<Vec<Value>>(page).expect("an array")).collect()
}

#[test]
fn what_stands_in_a_line_of_any_length_is_found_and_so_is_what_stands_before_it() {
    for length in [100, 1 << 20, 5 << 20] {
        let mut host = Host::default();
        let (_, log) = begin_session(&mut host, "A talk");
        host.append(&log, line("before", "the old walnut").as_bytes());
        host.append(&log, line("long", &format!("the old walnut {}", "x".repeat(length))).as_bytes());
        host.append(&log, line("behind", "the old walnut").as_bytes());
        for (question, request) in
            [("\"old walnut\"", ALL_REQUEST), ("wal.ut", r#"{"all":true,"regex":true}"#)]
        {
            assert_eq!(
                find_ids(&mut host, question, request),
                ["behind", "long", "before"],
                "{question}, {length}"
            );
        }
    }
}

#[test]
fn each_of_two_lines_of_one_message_is_found_by_its_words_as_long_as_neither_is_newer() {
    let mut host = Host::default();
    let (_, log) = begin_session(&mut host, "A talk");
    for (id, content) in [("a", "the walnut"), ("b", "something else"), ("a", "the zephyr")] {
        host.append(&log, line(id, content).as_bytes());
    }
    for word in ["walnut", "zephyr"] {
        assert_eq!(find_ids(&mut host, word, ALL_REQUEST), ["a"], "{word}");
    }
}

#[test]
fn what_a_deleted_session_said_is_nowhere_though_many_others_are_indexed_with_it() {
    // No word begins as another one does: of such an index has the ends alone.
    let word = |nth: u8| format!("{}xqzkv", char::from(b'a' + nth));
    let (mut host, mut all) = (Host::default(), Vec::new());
    for nth in 0..10 {
        let (live, log) = begin_session(&mut host, "A talk");
        host.append(&log, line("a", &format!("{} {}", word(nth), "lorem ".repeat(12_000))).as_bytes());
        all.push(live);
    }
    find_ids(&mut host, "lorem", ALL_REQUEST);
    let has = |host: &Host, word: &str| {
        let runs = host.files.iter().filter(|(path, _)| path.starts_with("cache/recall/"));
        runs.into_iter().any(|(_, (bytes, _))| bytes.windows(word.len()).any(|part| part == word.as_bytes()))
    };
    assert!(has(&host, &word(3)) && has(&host, &word(4)));
    run_to_end(&mut host, store().delete(&all[3], true));
    find_ids(&mut host, "lorem", ALL_REQUEST);
    assert!(!has(&host, &word(3)) && has(&host, &word(4)));
}

#[test]
fn a_file_is_found_by_who_changed_it_within_the_time_that_is_asked_for() {
    let mut host = Host::default();
    let (_, log) = begin_session(&mut host, "A talk");
    let calls = json!([{ "id": "c", "name": "Edit", "arguments": "{\"file_path\":\"src/a.rs\"}" }]);
    let call = json!({
        "v": 1, "id": "call", "role": "assistant", "content": "", "timestamp": "2026-05-08T14:02:11.500Z",
        "assistant": { "toolCalls": calls },
    });
    let result = json!({
        "v": 1, "id": "result", "role": "tool", "content": "done", "timestamp": "2026-05-08T14:02:11.900Z",
        "tool": { "callId": "c", "name": "Edit" },
    });
    host.append(&log, format!("{call}\n{result}\n").as_bytes());
    let mut is_found = |more: Value| {
        let mut request = json!({ "all": true, "file": "src/a.rs" });
        request.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        !find_ids(&mut host, "", &request.to_string()).is_empty()
    };
    assert!(is_found(json!({})));
    for (since, expected) in
        [("2026-05-08T14:02:11Z", true), ("2026-05-08T14:02:11.999Z", true), ("2026-05-08T14:02:13Z", false)]
    {
        assert_eq!(is_found(json!({ "since": since })), expected, "{since}");
    }
    for (until, expected) in [("2026-05-08T14:02:12Z", true), ("2026-05-08T14:02:10Z", false)] {
        assert_eq!(is_found(json!({ "until": until })), expected, "{until}");
    }
}

#[test]
fn of_words_that_begin_as_one_is_typed_the_commonest_are_found() {
    let mut host = Host::default();
    let (_, log) = begin_session(&mut host, "A talk");
    let word = |nth: usize| format!("zephyr{}", char::from(b'a' + nth as u8).to_string().repeat(2));
    // The later in the alphabet, the oftener.
    for nth in 0..26 {
        for time in 0..=nth {
            host.append(&log, line(&format!("{nth}-{time}"), &format!("the {} blows", word(nth))).as_bytes());
        }
    }
    let ids = find_ids(&mut host, "zephyr", r#"{"all":true,"limit":400}"#);
    let of = |id: &String| id.split('-').next().and_then(|nth| nth.parse::<usize>().ok()).expect("a number");
    assert!(!ids.is_empty() && ids.iter().all(|id| of(id) > 12), "{ids:?}");
}

#[test]
fn two_conversations_of_one_name_have_each_its_place_in_the_trash_in_whatever_moment() {
    let mut host = Host::default();
    let store = Store::new(Setup { workspace: Some("/work".into()), ..setup(None) });
    for _ in 0..3 {
        let live =
            run_to_end(&mut host, create(&store, r#"{"title":"Two","name":"two","placement":"workspace"}"#));
        let mut deleting = store.delete(&live, false);
        let mut step = deleting.begin(host.stamp());
        for asked in 0.. {
            assert!(asked < 1000, "it ends though the clock stands");
            let Step::Requests(needs) = step else { break };
            let answers = needs.into_iter().map(|need| host.answer(need, false)).collect();
            step = deleting.next(1_900_000_000_000, answers);
        }
    }
    let trashed: Vec<Value> = serde_json::from_str(&run_to_end(&mut host, store.list_trash())).expect("JSON");
    let paths: std::collections::BTreeSet<_> = trashed.iter().map(|one| one["path"].to_string()).collect();
    assert_eq!((trashed.len(), paths.len()), (3, 3));
}

#[test]
fn the_trash_leads_nowhere_but_to_where_sessions_lie() {
    const ORIGINS: &str = "trash.jsonl";
    let from = |path: Option<&str>| {
        let mut host = Host::default();
        let store = Store::new(setup(Some("/work")));
        let live =
            run_to_end(&mut host, create(&store, r#"{"title":"Two","name":"two","placement":"workspace"}"#));
        let was = live.shown_folder();
        run_to_end(&mut host, store.delete(&live, false));
        if let Some(path) = path {
            let origins = host.text(ORIGINS).replace(&was, path);
            host.files.get_mut(ORIGINS).expect("it is there").0 = origins.into_bytes();
        }
        let trashed: Vec<Value> =
            serde_json::from_str(&run_to_end(&mut host, store.list_trash())).expect("JSON");
        (trashed[0]["from"].as_str().map(String::from), was)
    };
    let (found, was) = from(None);
    assert_eq!(found, Some(was));
    for path in [
        "/work/../etc/conversations/2027-01-15/two/.session",
        "/work/./conversations/2027-01-15/two/.session",
        "work/conversations/2027-01-15/two/.session",
        "/work/conversations/../../two/.session",
        "/work/conversations/two",
        "/etc/two/.session",
    ] {
        let (found, _) = from(Some(path));
        assert_eq!(found, None, "{path}");
    }
}

#[test]
fn whoever_searches_hears_of_the_secrets_in_what_was_told_and_in_nothing_else() {
    for question in ["walnut", "\"the walnut\"", "/wal.ut/", "quartz", "\"the quartz\"", "/quart./"] {
        let is_secret = question.contains("quart");
        for redact in [RedactMode::Replace, RedactMode::Report] {
            let mut host = Host::default();
            let (_, log) = begin_session(&mut host, "A talk");
            host.append(&log, line("plain", "the walnut lies there").as_bytes());
            host.append(&log, line("secret", &format!("the quartz opens by {SECRET}, see")).as_bytes());
            let door = OutgoingGate::new(redact);
            let (word, more) = match question.strip_prefix('/').and_then(|word| word.strip_suffix('/')) {
                Some(word) => (word, json!({ "all": true, "regex": true })),
                None => (question, json!({ "all": true })),
            };
            run_to_end(
                &mut host,
                store().search(word.into(), more.to_string(), &OutgoingRedactor::new(&door)),
            );
            let told = host.pages.concat();
            assert!(told.contains("lies there") || told.contains("see"), "{question}: {told}");
            assert_eq!(
                told.contains(SECRET),
                is_secret && redact == RedactMode::Report,
                "{question}: {told}"
            );
            if is_secret || redact == RedactMode::Replace {
                assert_eq!(!door.reported_secrets().is_empty(), is_secret, "{question} {redact:?}: {told}");
            }
        }
    }
}

#[test]
fn of_sessions_that_say_the_same_the_one_of_the_day_that_is_named_comes_first() {
    for (question, expected) in
        [("zygote compiled on 3 July 2026", "july"), ("zygote compiled on 3 June 2026", "june")]
    {
        for is_reversed in [false, true] {
            let mut host = Host::default();
            let mut all = [("june", "2026-06-03"), ("july", "2026-07-03"), ("may", "2026-05-03")];
            if is_reversed {
                all.reverse();
            }
            for (id, day) in all {
                let (_, log) = begin_session(&mut host, "A talk");
                let message = json!({
                    "v": 1, "id": id, "role": "user", "content": "The zygote compiled after lunch.",
                    "timestamp": format!("{day}T09:00:00.000Z"),
                });
                host.append(&log, format!("{message}\n").as_bytes());
            }
            assert_eq!(find_ids(&mut host, question, ALL_REQUEST)[0], expected, "{question}");
        }
    }
}

#[test]
fn what_was_said_comes_before_what_a_tool_printed_of_the_same_words() {
    for is_said_first in [true, false] {
        let mut host = Host::default();
        for is_said in [is_said_first, !is_said_first] {
            let (_, log) = begin_session(&mut host, "A talk");
            let text = "the walnut lies in the cellar behind the door";
            if is_said {
                host.append(&log, line("said", text).as_bytes());
                continue;
            }
            let call = json!([{ "id": "c", "name": "look", "arguments": "{}" }]);
            let call = json!({
                "v": 1, "id": "call", "role": "assistant", "content": "", "assistant": { "toolCalls": call },
            });
            let result = json!({
                "v": 1, "id": "printed", "role": "tool", "content": text,
                "tool": { "callId": "c", "name": "look" },
            });
            host.append(&log, format!("{call}\n{result}\n").as_bytes());
        }
        assert_eq!(find_ids(&mut host, "walnut cellar", ALL_REQUEST), ["said", "printed"], "{is_said_first}");
    }
}

#[test]
fn in_one_session_too_what_was_said_comes_first() {
    let text = "the walnut lies in the cellar behind the door";
    let call = json!([{ "id": "c", "name": "look", "arguments": "{}" }]);
    let call = json!({
        "v": 1, "id": "call", "role": "assistant", "content": "", "assistant": { "toolCalls": call },
    });
    let result = json!({
        "v": 1, "id": "printed", "role": "tool", "content": text, "tool": { "callId": "c", "name": "look" },
    });
    let (spoken, printed) = (line("said", text), format!("{call}\n{result}\n"));
    for lines in [[&spoken, &printed], [&printed, &spoken]] {
        let mut host = Host::default();
        let (_, log) = begin_session(&mut host, "A talk");
        for (nth, one) in lines.into_iter().enumerate() {
            host.append(&log, one.as_bytes());
            for other in nth * 5..nth * 5 + 5 {
                host.append(
                    &log,
                    line(&format!("{other}"), "of the weather, of gardens and of bread").as_bytes(),
                );
            }
        }
        let found = find_ids(&mut host, "walnut cellar", ALL_REQUEST);
        assert_eq!(found.first().map(String::as_str), Some("said"), "{found:?}");
    }
}

#[test]
fn a_hit_names_the_words_that_it_lacks_and_those_that_nothing_has() {
    let mut host = Host::default();
    for (title, content) in
        [("One", "the walnut and the zephyr"), ("Two", "a walnut"), ("A quartz", "nothing")]
    {
        let (_, log) = begin_session(&mut host, title);
        host.append(&log, line(title, content).as_bytes());
    }
    let mut check = |question: &str, expected: Value| {
        let hits = hits(&mut host, question, ALL_REQUEST);
        let told = hits.iter().map(|hit| json!([hit["id"], hit["missing"], hit["nowhere"]]));
        assert_eq!(Value::from_iter(told), expected, "{question}");
    };
    check("walnut", json!([["Two", null, null], ["One", null, null]]));
    check(
        "walnut zephyr cloud",
        json!([["One", ["cloud"], ["cloud"]], ["Two", ["zephyr", "cloud"], ["cloud"]]]),
    );
    check("quartz cloud", json!([[null, ["cloud"], ["cloud"]]]));
    // What stands for a word does not make it said.
    check("walnit", json!([["Two", null, ["walnit"]], ["One", null, ["walnit"]]]));
    check("\"zephyr\" quartz walnut", json!([["One", ["quartz"], null]]));
}

#[test]
fn a_word_that_only_others_than_were_asked_have_is_nowhere() {
    let mut host = Host::default();
    let (_, log) = begin_session(&mut host, "One");
    let other = json!({ "v": 1, "id": "b", "role": "assistant", "content": "a zephyr" });
    host.append(&log, format!("{}{other}\n", line("a", "a walnut")).as_bytes());
    let mut nowhere = |request: &str| hits(&mut host, "walnut zephyr", request)[0]["nowhere"].clone();
    assert_eq!(nowhere(r#"{"role":"user"}"#), json!(["zephyr"]));
    assert_eq!(nowhere("{}"), Value::Null);
}

#[test]
fn each_way_to_search_tells_which_message_of_its_session_was_found_as_they_are_read() {
    let mut host = Host::default();
    let (_, log) = begin_session(&mut host, "A talk");
    host.append(&log, line("a", "an old walnut").as_bytes());
    host.append(&log, b"{torn\n");
    host.append(&log, line("b", "something else").as_bytes());
    // A newer revision of the first one has its place.
    let again = json!({ "v": 1, "id": "a", "rev": 1, "role": "user", "content": "a new walnut" });
    host.append(&log, format!("{again}\n").as_bytes());
    host.append(&log, line("c", "another old walnut").as_bytes());
    let numbers = |host: &mut Host, question: &str, request: Value| {
        let hits = hits(host, question, &request.to_string());
        let mut told: Vec<_> = hits.iter().map(|hit| json!([hit["id"], hit["number"]])).collect();
        told.sort_by_key(Value::to_string);
        Value::from_iter(told)
    };
    let expected = json!([["a", 1], ["c", 3]]);
    for (question, more) in
        [("walnut", json!({})), ("\"walnut\"", json!({})), ("wal.ut", json!({ "regex": true }))]
    {
        let mut request = json!({ "numbers": true });
        request.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        assert_eq!(numbers(&mut host, question, request), expected, "{question}");
    }
    assert_eq!(numbers(&mut host, "walnut", json!({})), json!([["a", null], ["c", null]]));
}
