//! Single things that are stored: what names a file, what nobody knows, and what a line may hold.
#![cfg(not(target_arch = "wasm32"))]

use crate::common;

use common::{said, stamp};
use leftoff::record::blob;
use leftoff::record::event::Change;
use leftoff::record::id;
use leftoff::record::message::{self, Role};
use leftoff::record::scan::{Found, Record, scan};
use leftoff::record::tool_execution;
use leftoff::session::ask::Ask;
use leftoff::session::begin::Begin;
use leftoff::session::handle::Session;
use leftoff::tokens::Counting;
use serde_json::{Value, json};

fn record(json: &str) -> Record {
    match scan(format!("{json}\n").as_bytes()).pop() {
        Some(Found::Record(record)) => record,
        other => panic!("{other:?}"),
    }
}

#[test]
fn nothing_but_64_hex_digits_names_a_blob() {
    let path = "../".repeat(21) + "x";
    let upper = "A".repeat(64);
    let letters = "g".repeat(64);
    let long = "a".repeat(65);
    for (id, is_one) in [
        ("a".repeat(64), true),
        ("0123456789abcdef".repeat(4), true),
        (path, false),
        (upper, false),
        (letters, false),
        (long, false),
        ("a".repeat(63), false),
        (String::new(), false),
    ] {
        let large = json!({ "blob": id, "bytes": 3, "head": "h", "tail": "t" });
        let lines = [
            json!({ "v": 1, "id": "m", "role": "user", "content": large }),
            json!({ "v": 1, "id": "m", "role": "user", "content": "c", "attachments": [{ "mime": "a/b", "blob": id }] }),
        ];
        for line in lines {
            let (message, problems) = message::read(&record(&line.to_string()));
            let named = message.as_ref().map(blob::named).unwrap_or_default();
            assert_eq!(named, if is_one { vec![id.as_str()] } else { vec![] }, "{line}");
            assert_eq!(problems.is_empty(), is_one, "{line}");
        }
    }
}

#[test]
fn an_id_of_128_characters_may_be_given_and_none_longer() {
    assert!(id::check_given(&"a".repeat(128)).is_ok());
    assert!(id::check_given(&"a".repeat(129)).is_err());
}

#[test]
fn what_nobody_knows_of_a_tool_execution_is_read_and_can_be_written_again() {
    let line = json!({
        "v": 1, "id": "e", "toolCallId": "c", "tool": "t", "arguments": { "a": 1 },
        "result": { "success": true, "exitCode": 0 }, "mine": { "deep": [1, null] },
    });
    let (execution, problems) = tool_execution::read(&record(&line.to_string()));
    let execution = execution.expect("a tool execution");
    assert!(problems.is_empty(), "{problems:?}");
    let extra: Vec<(&str, &str)> = execution.extra.iter().collect();
    assert_eq!(extra, [("\"mine\"", r#"{"deep":[1,null]}"#)]);

    let mut session = Session::new(None);
    let draft = json!({ "toolCallId": "c", "tool": "t", "mine": { "deep": [1, null] } });
    let bytes = session.stage_execution(&draft.to_string(), &stamp(1)).expect("nothing else is staged");
    let written: Value = serde_json::from_slice(&bytes).expect("a line is JSON");
    assert_eq!(written["mine"], draft["mine"]);
}

#[test]
fn a_line_breaks_nowhere_whatever_is_in_a_field_that_nobody_knows() {
    // Alone, so that no other of them draws attention to the line.
    for (strange, escape) in [
        ('\u{85}', "\\u0085"),
        ('\u{2028}', "\\u2028"),
        ('\u{2029}', "\\u2029"),
        ('\n', "\\n"),
        ('\r', "\\r"),
    ] {
        let mut session = Session::new(None);
        let text = format!("before{strange}behind");
        let staged = session
            .stage_messages(vec![said(Role::User, &text)], &stamp(1), Counting::by(None))
            .expect("one");
        let line = String::from_utf8(staged.bytes).expect("a line is text");
        let body = line.strip_suffix('\n').expect("it ends with a line feed");
        assert!(!body.contains(strange) && body.contains(escape), "{strange:?}: {line}");
        let draft = format!(r#"{{"toolCallId":"c","tool":"t","mine":{}}}"#, json!(text));
        let line = session.stage_execution(&draft, &stamp(1)).expect("nothing else is staged");
        let line = String::from_utf8(line).expect("a line is text");
        assert!(
            !line.trim_end_matches('\n').contains(strange) && line.contains(escape),
            "{strange:?}: {line}"
        );
    }
}

#[test]
fn the_name_of_a_project_is_that_of_its_folder() {
    for (path, name) in [
        ("/home/ann/api", "api"),
        ("/home/ann/api/", "api"),
        ("C:\\work\\api", "api"),
        ("C:\\work\\api\\", "api"),
        ("api", "api"),
        ("/", ""),
    ] {
        let begin = Begin::from_json(&json!({ "project": path }).to_string()).expect("it may begin so");
        let named = begin.asked(&stamp(1)).into_iter().find_map(|Ask { change, .. }| match change {
            Change::Created(created) => created.project.map(|project| project.name),
            _ => None,
        });
        assert_eq!(named.as_deref(), Some(name), "{path}");
    }
}

#[test]
fn each_role_is_counted_for_itself() {
    let mut session = Session::new(None);
    let mut log = Vec::new();
    for (role, times) in [(Role::System, 1), (Role::User, 2), (Role::Assistant, 4), (Role::Tool, 8)] {
        for place in 0..times {
            common::append(&mut session, &mut log, vec![said(role, &format!("{role:?} {place}"))]);
        }
    }
    let known = session.known();
    let counts = (known.user_messages, known.assistant_messages, known.tool_messages, known.messages);
    assert_eq!(counts, (2, 4, 8, 15));
}
