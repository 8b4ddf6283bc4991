//! The index of a store: whatever happened to its bytes, what it says was written so.
//! Tries: src/session/index.rs
#![cfg(not(target_arch = "wasm32"))]

use crate::common;

use std::collections::BTreeMap;

use crate::lines::crc32c;
use common::{append, stamp, text_message};
use leftoff::layout::Placement;
use leftoff::record::message::{Message, Role};
use leftoff::session::change_request::ChangeRequest;
use leftoff::session::handle::Session;
use leftoff::session::index::{self, SessionIndex};
use proptest::prelude::*;
use serde_json::{Value, json};

fn line(path: &str, title: &str) -> Vec<u8> {
    let asked = json!([{ "type": "created", "session": "u" }, { "type": "title", "title": title }]);
    line_of(path, &asked, Vec::new())
}

fn line_of(path: &str, asked: &Value, said: Vec<Message>) -> Vec<u8> {
    let mut session = Session::new(None).with_id("u");
    session.stage_changes(ChangeRequest::from_json(&asked.to_string()).unwrap(), &stamp(1)).unwrap();
    let found = session.events().commit(0).unwrap();
    session.take_events(found);
    if !said.is_empty() {
        append(&mut session, &mut Vec::new(), said);
    }
    index::write_line(&session, path, Placement::Home, &[Some((1, 2500)), None]).unwrap().into_bytes()
}

fn titles(index: &[u8]) -> BTreeMap<String, String> {
    let newest = index::read_index(index).newest();
    let entries: Vec<Value> =
        newest.lines().map(|line| serde_json::from_str(line).expect("an entry")).collect();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    entries.iter().map(|entry| (text(&entry["path"]), text(&entry["title"]))).collect()
}

#[test]
fn an_entry_has_the_fields_of_its_document() {
    let entry: Value = serde_json::from_str(&index::read_index(&line("p", "t")).newest()).unwrap();
    for (field, expected) in [
        ("id", json!("u")),
        ("projectPath", json!("")),
        ("projectHash", json!("")),
        ("title", json!("t")),
        ("agent", json!("")),
        ("messageCount", json!(0)),
        ("status", json!("active")),
        ("files", json!([[1, 2.5], null])),
    ] {
        assert_eq!(entry[field], expected, "{field}");
    }
    assert!(entry["createdAt"].is_string() && entry["lastAccessedAt"].is_string());
}

#[cfg(feature = "interop")]
#[test]
fn the_lines_that_some_bytes_stand_in_are_given_whole() {
    let (one, other) = (line("p", "the door"), line("q", "the window"));
    let all = SessionIndex::of([&one[..], &other[..]].concat(), &|path| path);
    assert_eq!(all.lines_with(b"window"), other);
    assert_eq!(all.lines_with(b"the "), [&one[..], &other[..]].concat());
    assert_eq!(all.lines_with(b"roof"), b"");
    assert_eq!(all.length(), (one.len() + other.len()) as u64);
}

// What an older version wrote lacks a field: its sessions are opened again, and nothing is wrong with it.
#[test]
fn a_whole_line_that_lacks_a_field_is_neither_believed_nor_damage() {
    let older = String::from_utf8(line("p", "t")).unwrap().replace("\"agent\":\"\",", "");
    let (open, _) = older.split_once(",\"crc\"").expect("a checksum");
    let sealed = format!("{open},\"crc\":\"{:08x}\"}}", crc32c(open.as_bytes()));
    let read = index::read_index(sealed.as_bytes());
    assert_eq!((read.newest(), read.lines, read.damaged_lines), (String::new(), 1, 0));
}

/// What the rows say: of each path when it was active last, and what all of its newest line says.
fn rows(index: &[u8]) -> BTreeMap<String, [String; 2]> {
    let index = SessionIndex::of(index.into(), &|path| path);
    let files = [Some(Some((1, 2500))), Some(None)];
    let row = |(path, row): (&str, &index::IndexRow)| {
        assert!(
            row.matches_files(&files) && row.matches_files(&files[..1]) && !row.matches_files(&[Some(None)])
        );
        (path.into(), [row.last_active.to_string(), index.entry(row).expect("an entry").title])
    };
    index.rows().map(row).collect()
}

/// The same, of the lines as they are parsed.
fn parse_index(index: &str) -> BTreeMap<String, [String; 2]> {
    let mut found = BTreeMap::new();
    for line in index.split_inclusive('\n') {
        let entry: Value = serde_json::from_str(line).expect("an entry");
        let text = |name: &str| entry[name].as_str().expect("a text").to_owned();
        found.insert(text("path"), [text("lastAccessedAt"), text("title")]);
    }
    found
}

#[test]
fn when_a_session_was_active_last_its_messages_say_or_what_began_it_in_whatever_words() {
    let is_timed = |created: &str, said: Vec<Message>| {
        let asked = json!([{ "type": "created", "session": "u", "timestamp": created }]);
        let index = SessionIndex::of(line_of("p", &asked, said), &|path| path);
        index.row("p".into()).expect("a row").has_message_time
    };
    for created in ["2025-11-22T11:00:00.000Z", "2025-11-22T12:00:00+01:00"] {
        assert!(!is_timed(created, Vec::new()), "{created}");
        assert!(is_timed(created, Vec::from([text_message(Role::User, "later")])), "{created}");
    }
}

#[test]
fn an_index_knows_a_path_once_however_many_lines_it_has_of_it() {
    let index =
        SessionIndex::of([line("a", "one"), line("b", "two"), line("a", "three")].concat(), &|path| path);
    assert_eq!((index.lines, index.paths()), (3, 2));
}

#[test]
fn the_lines_that_mention_something_are_read_alone() {
    let all = [line("a", "one"), line("b", "two"), line("a", "three")].concat();
    assert_eq!(index::lines_with(&all, b"\"two\""), line("b", "two"));
    assert_eq!(index::lines_with(&all, b"\"path\":\"a\""), [line("a", "one"), line("a", "three")].concat());
    assert_eq!(index::lines_with(&all, b"none"), b"");
    let torn = all.strip_suffix(b"\n").expect("a line feed");
    assert_eq!(
        index::lines_with(torn, b"three"),
        line("a", "three").strip_suffix(b"\n").expect("one").to_vec()
    );
}

#[test]
fn of_a_session_that_is_gone_for_good_no_line_stays() {
    let all = [line("a", "one"), line("a\"b", "two"), line("ab", "three")].concat();
    assert_eq!(index::drop_path(&all, "a"), [line("a\"b", "two"), line("ab", "three")].concat());
    assert_eq!(index::drop_path(&all, "a\"b"), [line("a", "one"), line("ab", "three")].concat());
}

proptest! {
    #[test]
    fn a_row_is_what_parsing_its_line_would_tell(
        written in prop::collection::vec((prop::sample::select(vec!["a", "b\"c", "d\\", "\u{2028}", "\",\"placement\":\""]), "x.{0,9}"), 0..9),
    ) {
        let index: Vec<u8> = written.iter().flat_map(|(path, title)| line(path, title)).collect();
        prop_assert_eq!(rows(&index), parse_index(std::str::from_utf8(&index).unwrap()));
    }

    #[test]
    fn the_newest_line_of_each_path_counts(
        written in prop::collection::vec((prop::sample::select(vec!["a", "b\"c", "d\\", "\u{2028}"]), "[a-z]{1,5}"), 0..9),
    ) {
        let index: Vec<u8> = written.iter().flat_map(|(path, title)| line(path, title)).collect();
        let expected: BTreeMap<String, String> =
            written.iter().map(|(path, title)| ((*path).to_owned(), title.clone())).collect();
        prop_assert_eq!(titles(&index), expected.clone());
        let compact = index::read_index(&index).newest();
        prop_assert_eq!(titles(compact.as_bytes()), expected);
        prop_assert_eq!(compact.lines().count(), titles(&index).len());
    }

    #[test]
    fn a_damaged_index_says_nothing_that_was_not_written(
        at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>(),
    ) {
        let written = [("a", "one"), ("b", "two"), ("a", "three")];
        let mut index: Vec<u8> = written.iter().flat_map(|(path, title)| line(path, title)).collect();
        let place = at.index(index.len());
        index[place] = byte;
        index.truncate(cut.index(index.len() + 1));
        let index::IndexScan { lines, damaged_lines, .. } = index::read_index(&index);
        prop_assert!(damaged_lines <= 3 && damaged_lines <= lines);
        for (path, title) in titles(&index) {
            prop_assert!(written.contains(&(path.as_str(), title.as_str())), "{path} {title}");
        }
    }
}
