//! What nobody may look into is named, and never taken for nothing.
//! Tries: src/operation/store/, src/operation/store/places.rs

use std::rc::Rc;

use super::drafts;
use super::host::{Host, Meanwhile};
use super::store::{create, run_to_end, setup, store};
use leftoff::operation::{
    Operation, OutgoingGate, OutgoingRedactor, RedactMode, SessionFiles, Setup, Store, Trouble,
};
use serde_json::Value;

const ALL_REQUEST: &str = r#"{"all":true}"#;

/// Of another project.
fn other_store() -> Rc<Store> {
    let path = || String::from("/home/ann/other");
    Store::new(Setup { project: path(), normal_project: path(), ..setup(None) })
}

fn store_talk(host: &mut Host, store: &Rc<Store>, content: &str) -> Rc<SessionFiles> {
    let live = run_to_end(host, create(store, r#"{"title":"A talk"}"#));
    run_to_end(host, live.append_messages(drafts(content)));
    run_to_end(host, live.close());
    live
}

/// Two sessions, each of a project of its own.
fn two_sessions() -> (Host, Rc<SessionFiles>, Rc<SessionFiles>) {
    let mut host = Host::default();
    let here = store_talk(&mut host, &store(), "a walnut here");
    let there = store_talk(&mut host, &other_store(), "a walnut there");
    (host, here, there)
}

fn parent(path: &str) -> String {
    path.rsplit_once('/').expect("it lies in a folder").0.into()
}

fn search(store: &Rc<Store>, question: &str, request: &str) -> Operation<'static, ()> {
    store.search(question.into(), request.into(), &OutgoingRedactor::new(&OutgoingGate::new(RedactMode::Off)))
}

fn expect_trouble<T>(host: &mut Host, operation: Operation<'_, T>) -> Trouble {
    let ended = host.drive(operation, |_| Meanwhile::Nothing).expect("driven");
    ended.err().expect("it is refused")
}

fn notice_codes(store: &Rc<Store>) -> Vec<(String, String)> {
    let notices: Vec<Value> = serde_json::from_str(&store.notices()).expect("notices");
    let text = |value: &Value| value.as_str().expect("a text").to_string();
    notices.iter().map(|one| (text(&one["path"]), text(&one["notice"]["code"]))).collect()
}

#[test]
fn a_store_that_nobody_may_look_into_is_not_an_empty_one() {
    let (mut host, here, _) = two_sessions();
    let folder = here.folder().path;
    for closed in [parent(&parent(&folder)), parent(&folder)] {
        host.unreadable_path = Some(closed);
        assert_eq!(expect_trouble(&mut host, store().list("{}".into())).code(), "permission_denied");
        assert_eq!(expect_trouble(&mut host, store().current()).code(), "permission_denied");
        assert_eq!(expect_trouble(&mut host, search(&store(), "walnut", "{}")).code(), "permission_denied");
    }
}

#[test]
fn a_project_that_nobody_may_look_into_costs_the_others_nothing_and_is_named_once() {
    let (mut host, _, there) = two_sessions();
    let closed = parent(&there.folder().path);
    host.unreadable_path = Some(closed.clone());
    let store = store();
    for _ in 0..2 {
        let listed: Vec<Value> =
            serde_json::from_str(&run_to_end(&mut host, store.list(ALL_REQUEST.into()))).expect("JSON");
        assert_eq!(listed.len(), 1);
    }
    let path = format!("{}/{closed}", store.setup().home);
    assert_eq!(notice_codes(&store), [(path, "not_read".into())]);
}

#[test]
fn a_log_that_nobody_may_read_costs_no_search_its_other_answers() {
    let (mut host, _, there) = two_sessions();
    // Before anybody has indexed it, and behind that.
    for is_indexed in [false, true] {
        if is_indexed {
            host.unreadable_path = None;
            run_to_end(&mut host, search(&store(), "walnut", ALL_REQUEST));
        }
        host.unreadable_path = Some(format!("{}/messages.jsonl", there.folder().path));
        for (question, request) in [
            ("walnut", ALL_REQUEST),
            ("\"a walnut\"", ALL_REQUEST),
            ("wal.ut", r#"{"all":true,"regex":true}"#),
        ] {
            let store = store();
            host.pages.clear();
            run_to_end(&mut host, search(&store, question, request));
            let told = host.pages.concat();
            assert!(told.contains("here") && !told.contains("there"), "{question}: {told}");
            assert_eq!(notice_codes(&store).len(), 1, "{question}");
        }
    }
}

#[test]
fn a_doctor_names_what_it_may_not_look_into_and_removes_nothing_for_that() {
    let (mut host, _, there) = two_sessions();
    let kept = format!("cache/{}.json", there.id());
    host.append(&kept, b"{}");
    host.unreadable_path = Some(parent(&there.folder().path));
    let told = run_to_end(&mut host, store().doctor(r#"{"fix":true}"#.into()));
    assert!(told.contains("permission_denied"), "{told}");
    assert!(host.files.contains_key(&kept), "{told}");
    host.unreadable_path = None;
    host.files.retain(|path, _| !path.starts_with(&there.folder().path));
    run_to_end(&mut host, store().doctor(r#"{"fix":true}"#.into()));
    assert!(!host.files.contains_key(&kept), "its session is gone");
}

#[test]
fn a_folder_that_nobody_may_look_into_costs_the_doctor_nothing_but_that() {
    let (mut host, here, there) = two_sessions();
    let blobs = format!("{}/blobs", here.folder().path);
    let folders = ["cache", "cache/recall", "context", &blobs, &format!("{}/summaries", here.folder().path)];
    for folder in folders {
        host.append(&format!("{folder}/.left.tmp-1000"), b"{}");
        host.unreadable_path = Some(folder.into());
        let told = run_to_end(&mut host, store().doctor("{}".into()));
        assert!(told.contains("permission_denied"), "{folder}: {told}");
        assert!(told.contains(&here.id()) && told.contains(&there.id()), "{folder}: {told}");
    }
}

#[test]
fn a_session_that_nobody_may_look_into_costs_the_doctor_no_other() {
    let (mut host, here, _) = two_sessions();
    host.unreadable_path = Some(here.folder().path);
    let reports: Vec<Value> =
        serde_json::from_str(&run_to_end(&mut host, store().doctor("{}".into()))).expect("JSON");
    let mut health: Vec<_> =
        reports.iter().map(|report| report["health"].as_str().expect("a word")).collect();
    health.sort_unstable();
    assert_eq!(health, ["ok", "unreadable"]);
}

#[test]
fn one_letter_and_the_commonest_words_are_found_as_they_stand() {
    let mut host = Host::default();
    store_talk(&mut host, &store(), "we use C and not to be or not to be");
    store_talk(&mut host, &store(), "a walnut");
    for question in ["C", "not", "to be or not to be", "%%"] {
        host.pages.clear();
        run_to_end(&mut host, search(&store(), question, ALL_REQUEST));
        assert_eq!(!host.pages.concat().is_empty(), question != "%%", "{question}: {:?}", host.pages);
    }
}
