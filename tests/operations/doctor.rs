//! A doctor changes nothing by looking; what it mends is mended whatever befalls it, and no complete line of a log is lost.
//! Tries: src/operation/store/doctor/

use std::collections::{BTreeMap, BTreeSet};

use super::host::{FIRST_DEAD_PROCESS, Host, Meanwhile};
use super::store::{create, run_to_end, store};
use super::{drafts, leases};
use leftoff::layout::Placement;
use leftoff::operation::Operation;
use serde_json::{Value, json};

const FIX_REQUEST: &str = r#"{"fix":true}"#;

/// What a doctor says, a report each.
pub fn reports(host: &mut Host, doctor: Operation<'_, String>) -> Vec<Value> {
    serde_json::from_str(&run_to_end(host, doctor)).expect("JSON")
}

fn codes(reports: &[Value]) -> Vec<&str> {
    let problems = reports.iter().flat_map(|report| report["problems"].as_array().expect("problems"));
    problems.map(|problem| problem["code"].as_str().expect("a code")).collect()
}

/// A store with a session of each placement, to which has happened what can; and the log of the one in the home.
fn damaged_store() -> (Host, String) {
    let mut host = Host::default();
    let mut folder = String::new();
    for placement in ["workspace", "home"] {
        let live = run_to_end(&mut host, create(&store(), &json!({ "placement": placement }).to_string()));
        run_to_end(&mut host, live.append_messages(drafts("one")));
        run_to_end(&mut host, live.close());
        let leases = format!("cache/{}.open", live.id());
        host.append(
            &format!("{leases}/gone.json"),
            format!(r#"{{"pid":{FIRST_DEAD_PROCESS},"host":"here"}}"#).as_bytes(),
        );
        host.append(&format!("cache/{}.json", live.id()), b"\0");
        folder = live.folder().path;
        host.append(&format!("{folder}/messages.jsonl"), br#"{"v":1,"id":"x""#);
        host.append(&format!("{folder}/.events.jsonl.{FIRST_DEAD_PROCESS}.0123456789abcdef.tmp"), b"half");
    }
    host.append(&format!("{folder}/metadata.json"), b"}");
    host.append("sessions/index.jsonl", b"rubbish\n");
    host.append(&format!("sessions/.index.jsonl.{FIRST_DEAD_PROCESS}.0123456789abcdef.tmp"), b"half");
    host.append("cache/gone.json", b"{}");
    host.append("cache/elsewhere.open/there.json", br#"{"pid":8,"host":"here"}"#);
    let pointer =
        json!({ "version": 1, "id": "gone", "path": "/home/ann/.leftoff/sessions/projects/0/session-gone" });
    host.files.remove(".leftoff/current-session.json");
    host.append(".leftoff/current-session.json", pointer.to_string().as_bytes());
    (host, format!("{folder}/messages.jsonl"))
}

/// The complete lines of all logs.
fn lines(host: &Host) -> BTreeMap<String, Vec<String>> {
    let is_log = |path: &&String| path.ends_with("/messages.jsonl") || path.ends_with("/events.jsonl");
    let whole = |text: String| {
        text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(String::from).collect()
    };
    host.files.keys().filter(is_log).map(|path| (path.clone(), whole(host.text(path)))).collect()
}

#[test]
fn looking_changes_nothing_and_what_can_be_mended_is_mended_once() {
    let (mut host, _) = damaged_store();
    let before = host.files.clone();
    let found = reports(&mut host, store().doctor("{}".into()));
    assert_eq!(host.files, before);
    let of_a_session = ["torn_tail", "bad_document", "bad_checkpoint", "dead_lease", "left_over"];
    let of_the_store = ["bad_index", "left_over", "left_over", "dangling_pointer"];
    let mut expected = Vec::from(of_a_session);
    // Where the document is as it should be.
    expected.extend(of_a_session.iter().filter(|code| **code != "bad_document"));
    expected.extend(of_the_store);
    assert_eq!(codes(&found), expected, "{found:?}");
    let one = reports(&mut host, store().doctor(json!({ "id": found[0]["id"] }).to_string()));
    assert_eq!(one[..], found[..1]);
    assert_eq!(host.files, before);
    let mended = reports(&mut host, store().doctor(FIX_REQUEST.into()));
    assert_eq!(codes(&mended), ["damaged", "damaged"]);
    let count = |report: &Value| report["fixed"].as_array().map(Vec::len);
    assert_eq!(mended.iter().map(count).collect::<Vec<_>>(), [Some(5), Some(4), Some(4)], "{mended:?}");
    assert_eq!(leases(&host), Vec::<&str>::new());
    assert!(host.files.contains_key("cache/elsewhere.open/there.json"));
    is_sound(&mut host, "mended");
}

/// There is nothing to mend any more, and the project's current session is one that is there.
fn is_sound(host: &mut Host, about: &str) {
    let again = reports(host, store().doctor(FIX_REQUEST.into()));
    assert!(codes(&again).iter().all(|code| *code == "damaged"), "{about}: {again:?}");
    assert!(again.iter().all(|report| report["fixed"] == json!([])), "{about}: {again:?}");
    let current = run_to_end(host, store().current());
    let pointer = host.text(".leftoff/current-session.json");
    assert!(current.is_some_and(|live| pointer.contains(&live.shown_folder())), "{about}: {pointer}");
}

fn at_each_step(befalls: impl Fn(&str) -> Meanwhile, then: impl Fn(&Host, &str, &str)) {
    for place in 0.. {
        let (mut host, log) = damaged_store();
        let before = lines(&host);
        let mut has_befallen = false;
        host.drive(store().doctor(FIX_REQUEST.into()), |at| {
            has_befallen |= at == place;
            if at == place { befalls(&log) } else { Meanwhile::Nothing }
        });
        if !has_befallen {
            assert!(place > 50, "it has steps: {place}");
            break;
        }
        let about = format!("step {place}");
        run_to_end(&mut host, store().doctor(FIX_REQUEST.into()));
        is_sound(&mut host, &about);
        for (path, had) in &before {
            let has = &lines(&host)[path];
            assert!(had.iter().all(|line| has.contains(line)), "{about}: {path}");
        }
        then(&host, &log, &about);
    }
}

#[test]
fn a_failure_at_each_need_leaves_what_can_be_mended_later() {
    at_each_step(|_| Meanwhile::Fails, |_, _, _| {});
}

#[test]
fn a_doctor_that_is_dropped_at_any_step_leaves_what_can_be_mended_later() {
    at_each_step(|_| Meanwhile::Dropped, |_, _, _| {});
}

#[test]
fn what_others_append_while_a_doctor_is_at_work_is_there() {
    let line = "{\"id\":\"by-another\",\"role\":\"user\",\"content\":\"by another process\"}\n";
    // Whoever appends behind what is torn ends that first.
    let others = |log: &str| Meanwhile::Others(log.into(), format!("\n{line}").into());
    at_each_step(others, |host, log, about| {
        let found = lines(host)[log].iter().filter(|one| *one == line).count();
        assert_eq!(found, 1, "{about}");
    });
}

#[test]
fn what_cannot_be_mended_is_told_with_its_cause() {
    let mut told = BTreeSet::new();
    for place in 0.. {
        let (mut host, _) = damaged_store();
        let mut has_befallen = false;
        let done = host.drive(store().doctor(FIX_REQUEST.into()), |at| {
            has_befallen |= at == place;
            if at == place { Meanwhile::Fails } else { Meanwhile::Nothing }
        });
        if !has_befallen {
            break;
        }
        let Some(Ok(reports)) = done else { continue };
        let reports: Vec<Value> = serde_json::from_str(&reports).expect("JSON");
        let problems = reports.iter().flat_map(|report| report["problems"].as_array().expect("problems"));
        for problem in
            problems.filter(|problem| problem["code"] == "storage_failed" && problem["file"] != "-")
        {
            let message = problem["message"].as_str().expect("a message");
            let code = message
                .strip_prefix("could not mend it (")
                .and_then(|rest| rest.strip_suffix("): out of order"));
            told.insert(code.unwrap_or_else(|| panic!("{message}")).to_string());
        }
    }
    // The last but one: a folder that nobody could look into.
    let codes = [
        "bad_checkpoint",
        "bad_document",
        "bad_index",
        "dead_lease",
        "left_over",
        "storage_failed",
        "torn_tail",
    ];
    assert_eq!(told.into_iter().collect::<Vec<_>>(), codes);
}

#[test]
fn one_that_cannot_be_read_is_told_beside_the_others() {
    let (mut host, log) = damaged_store();
    let mut first = None;
    for place in 0.. {
        let done = host.drive(store().doctor("{}".into()), |at| {
            if at == place { Meanwhile::Fails } else { Meanwhile::Nothing }
        });
        let Some(Ok(told)) = done else { continue };
        let told: Vec<Value> = serde_json::from_str(&told).expect("JSON");
        if told.iter().any(|report| report["health"] == "unreadable") {
            first = Some(told);
            break;
        }
    }
    let told = first.expect("one could not be read");
    let unreadable: Vec<&Value> = told.iter().filter(|report| report["health"] == "unreadable").collect();
    let expected =
        json!([{"file": "-", "start": 0, "end": 0, "code": "storage_failed", "message": "out of order"}]);
    assert_eq!((unreadable.len(), told.len(), &unreadable[0]["problems"]), (1, 3, &expected), "{log}");
}

#[test]
fn a_session_is_mended_by_its_folder() {
    let (mut host, log) = damaged_store();
    let folder = log.strip_suffix("/messages.jsonl").expect("a log");
    let mended = run_to_end(&mut host, store().mend(format!("/home/ann/.leftoff/{folder}"), Placement::Home));
    let told: Value = serde_json::from_str(&mended).expect("JSON");
    assert_eq!((&told["health"], told["fixed"].as_array().map(Vec::len)), (&json!("damaged"), Some(5)));
    let gone = "/home/ann/.leftoff/sessions/projects/0/session-gone";
    let told = run_to_end(&mut host, store().mend(gone.into(), Placement::Home));
    assert!(told.contains("not_found"), "{told}");
}

#[test]
fn a_request_that_is_none_is_refused() {
    let mut host = Host::default();
    for (asked, code) in [
        ("", "invalid_request"),
        (r#"{"fix":"yes"}"#, "invalid_request"),
        (r#"{"id":7}"#, "invalid_request"),
        (r#"{"secrets":1}"#, "invalid_request"),
        (r#"{"id":"nobody"}"#, "not_found"),
    ] {
        let refused = host.drive(store().doctor(asked.into()), |_| Meanwhile::Nothing).expect("driven");
        assert_eq!(refused.expect_err(asked).code(), code, "{asked}");
    }
}

#[test]
fn what_a_pointer_says_of_places_elsewhere_nobody_can_tell() {
    for (path, is_told) in [
        ("/home/ann/.leftoff/sessions/projects/0/session-gone", true),
        ("/home/ann/code/conversations/2026-11-22/001-chat/.session", true),
        ("/home/ann/.leftoff-of-old/sessions", false),
        ("/work/conversations/2026-11-22/001-chat/.session", false),
    ] {
        let mut host = Host::default();
        let pointer = json!({ "version": 1, "id": "gone", "path": path });
        host.append(".leftoff/current-session.json", pointer.to_string().as_bytes());
        let found = reports(&mut host, store().doctor("{}".into()));
        assert_eq!(codes(&found) == ["dangling_pointer"], is_told, "{path}: {found:?}");
    }
}

#[test]
fn a_pointer_that_leads_nowhere_is_mended_to_the_newest_session_that_a_list_has() {
    for is_archived in [false, true] {
        let mut host = Host::default();
        let all = [r#"{"title":"One"}"#, r#"{"title":"Two"}"#].map(|asked| {
            let live = run_to_end(&mut host, create(&store(), asked));
            run_to_end(&mut host, live.append_messages(drafts("one")));
            live
        });
        if is_archived {
            run_to_end(&mut host, all[1].record_changes(r#"[{"type":"archived"}]"#.into()));
        }
        const POINTER: &str = ".leftoff/current-session.json";
        let lost = host.text(POINTER).replace(&all[1].id(), "gone");
        host.files.remove(POINTER);
        host.append(POINTER, lost.as_bytes());
        run_to_end(&mut host, store().doctor(r#"{"fix":true}"#.into()));
        let expected = &all[usize::from(!is_archived)];
        assert!(host.text(POINTER).contains(&expected.id()), "{is_archived}: {}", host.text(POINTER));
    }
}
