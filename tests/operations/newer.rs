//! What a newer version wrote is read, and nothing of it is changed: whoever would write to it, move it or make another session
//! of it is told so.
//! Tries: src/operation/session_events.rs, src/operation/store/

use std::collections::BTreeMap;
use std::rc::Rc;

use super::host::{Host, Meanwhile};
use super::moves::other_placement;
use super::store::{create, run_to_end, setup};
use super::{debug_answer, drafts, leaving, once_options};
use leftoff::layout::Placement;
use leftoff::operation::{CountingMode, Operation, SessionFiles, Setup, Store};
use serde_json::{Value, json};

const MESSAGE: &str = "m-1";
const REQUEST: &str = r#"{"window":4000,"encoding":"estimate-1"}"#;

fn store(idle_ms: i64) -> Rc<Store> {
    Store::new(Setup { idle_ms, ..setup(Some("/work")) })
}

/// What makes a session one of a newer version, and what its folder is then.
fn sessions() -> Vec<(&'static str, Host, Rc<SessionFiles>)> {
    let mut all = Vec::new();
    for placement in ["home", "workspace"] {
        for newer in ["a message", "an event", "the document"] {
            let mut host = Host::default();
            let request = json!({ "title": "A plan", "placement": placement });
            let live = run_to_end(&mut host, create(&store(i64::MAX), &request.to_string()));
            let folder = live.folder().path;
            let said = |n: usize| {
                let role = if n.is_multiple_of(2) { "user" } else { "assistant" };
                let content = format!("{n}: {}", "a few words of it ".repeat(60));
                format!("{}\n", json!({ "id": format!("m-{n}"), "role": role, "content": content }))
            };
            let lines: String = (0..24).map(said).collect();
            host.append(&format!("{folder}/messages.jsonl"), lines.as_bytes());
            run_to_end(&mut host, live.append_messages(drafts("and more")));
            run_to_end(&mut host, live.close());
            match newer {
                "a message" => {
                    let line =
                        r#"{"v":2,"id":"m-new","role":"assistant","content":"as a newer one says it"}"#;
                    host.append(&format!("{folder}/messages.jsonl"), format!("{line}\n").as_bytes());
                }
                "an event" => {
                    let line = r#"{"v":2,"id":"e-2","type":"title","title":"As a newer one calls it"}"#;
                    host.append(&format!("{folder}/events.jsonl"), format!("{line}\n").as_bytes());
                }
                _ => {
                    let (name, from, to) = match placement {
                        "home" => ("metadata.json", "\"version\": 1", "\"version\": 2"),
                        _ => ("session.json", "\"version\": \"1.0\"", "\"version\": \"2.0\""),
                    };
                    let file = format!("{folder}/{name}");
                    let text = host.text(&file);
                    assert!(text.contains(from), "{text}");
                    host.files.remove(&file);
                    host.append(&file, text.replace(from, to).as_bytes());
                }
            }
            // Something that a doctor would mend.
            host.append(&format!("{folder}/tools.jsonl"), br#"{"v":1,"id":"torn"#);
            all.push((newer, host, live));
        }
    }
    all
}

/// All but what is derived beside sessions, and who points to one.
fn files(host: &Host) -> BTreeMap<String, Vec<u8>> {
    let is_beside = |path: &str| {
        ["cache/", "redaction.key", "sessions/index", ".leftoff/", "trash"]
            .iter()
            .any(|start| path.starts_with(start))
    };
    let own = host.files.iter().filter(|(path, _)| !is_beside(path));
    own.map(|(path, (bytes, _))| (path.clone(), bytes.clone())).collect()
}

type Begins = fn(&Rc<Store>, &Rc<SessionFiles>) -> Operation<'static, String>;

fn writing() -> Vec<(&'static str, Begins)> {
    fn say(live: &Rc<SessionFiles>, asked: &Value) -> Operation<'static, String> {
        debug_answer(live.record_changes(json!([asked]).to_string()))
    }
    vec![
        ("append", |_, live| debug_answer(live.append_messages(drafts("one more")))),
        ("append once", |_, live| debug_answer(live.append_once(drafts("one more"), once_options()))),
        ("append tool", |_, live| {
            let execution = r#"{"call":{"id":"c","name":"ls"},"result":{"content":"a.txt"}}"#;
            debug_answer(live.append_tool(execution.into(), CountingMode::Estimate))
        }),
        ("rename", |_, live| say(live, &json!({ "type": "title", "title": "given" }))),
        ("stop", |_, live| say(live, &json!({ "type": "status", "status": "paused" }))),
        ("complete", |_, live| say(live, &json!({ "type": "status", "status": "completed" }))),
        ("archive", |_, live| say(live, &json!({ "type": "archived" }))),
        ("unarchive", |_, live| say(live, &json!({ "type": "unarchived" }))),
        ("pin", |_, live| say(live, &json!({ "type": "pin", "messageId": MESSAGE }))),
        ("choose a leaf", |_, live| say(live, &json!({ "type": "leaf", "messageId": MESSAGE }))),
        ("resume", |_, live| {
            debug_answer(
                live.resume(format!(r#"{{"request":{REQUEST},"revives":true}}"#), CountingMode::Estimate),
            )
        }),
        ("compact", |_, live| {
            let asked = format!(r#"{{"request":{REQUEST},"summarizes":true,"apply":true,"keep":400}}"#);
            debug_answer(live.compact(asked, CountingMode::Estimate))
        }),
        ("fork", |store, live| {
            debug_answer(store.fork_released(live.clone(), "{}".into(), CountingMode::Estimate))
        }),
        ("move", |store, live| {
            debug_answer(
                store.move_to(live, json!({ "to": other_placement(live), "title": "A plan" }).to_string()),
            )
        }),
        ("relocate", |store, _| {
            let elsewhere = || "/home/ann/elsewhere".to_string();
            debug_answer(store.relocate_project("/home/ann/code".into(), elsewhere(), elsewhere()))
        }),
    ]
}

fn reading() -> Vec<(&'static str, Begins)> {
    vec![
        ("open", |_, live| debug_answer(live.open())),
        ("open by its folder", |store, live| debug_answer(store.open(live.shown_folder(), live.placement()))),
        ("messages", |_, live| debug_answer(live.messages("{}".into()))),
        ("tools", |_, live| debug_answer(live.tools())),
        ("context", |_, live| {
            debug_answer(
                live.context(format!(r#"{{"request":{REQUEST},"summarizes":true}}"#), CountingMode::Estimate),
            )
        }),
        ("compact, to see what it would do", |_, live| {
            debug_answer(
                live.compact(format!(r#"{{"request":{REQUEST},"keep":400}}"#), CountingMode::Estimate),
            )
        }),
        ("resume for a look", |_, live| {
            debug_answer(
                live.resume(format!(r#"{{"request":{REQUEST},"revives":false}}"#), CountingMode::Estimate),
            )
        }),
        ("export", |_, live| debug_answer(live.export(r#"{"format":"json"}"#.into(), &leaving()))),
        ("search", |store, live| {
            debug_answer(store.search_in(live.id(), "words".into(), "{}".into(), &leaving()))
        }),
        ("examine", |_, live| debug_answer(live.examine())),
        ("flush", |_, live| debug_answer(live.flush(true))),
        ("close", |_, live| debug_answer(live.close())),
        // Those do what they can with the others.
        ("list", |store, _| store.list(r#"{"all":true}"#.into())),
        ("tidy", |store, _| {
            let limits = r#"{"maxSessionsPerProject":0,"autoArchiveAfterDays":0}"#;
            store.tidy(limits.into()).map(|ids| ids.join(","))
        }),
        ("doctor", |store, _| store.doctor("{}".into())),
        ("mend", |store, live| store.mend(live.shown_folder(), live.placement())),
    ]
}

#[test]
fn nothing_of_a_newer_version_is_written_whatever_is_asked_for() {
    for (writes, (name, begins)) in
        writing().into_iter().map(|one| (true, one)).chain(reading().into_iter().map(|one| (false, one)))
    {
        for (newer, mut host, begun) in sessions() {
            if name == "relocate" && begun.placement() == Placement::Workspace {
                continue;
            }
            let before = files(&host);
            let live = begun.folder();
            let store = store(0);
            let live = store
                .unopened_session_at(&store.setup().display_path(&live), begun.placement(), "")
                .expect("a place");
            run_to_end(&mut host, live.open());
            let about = format!("{name}, {newer}, {:?}", begun.placement());
            let answer = host.drive(begins(&store, &live), |_| Meanwhile::Nothing).expect("driven");
            match answer {
                Err(trouble) => assert!(writes && trouble.code() == "newer_version", "{about}: {trouble}"),
                Ok(answer) => assert!(!writes, "{about}: {answer}"),
            }
            assert!(files(&host) == before, "{about}: {:?}", changed_paths(&before, &files(&host)));
        }
    }
}

/// What of two states differs.
fn changed_paths(before: &BTreeMap<String, Vec<u8>>, after: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let differs = |path: &&String| before.get(*path) != after.get(*path);
    before.keys().chain(after.keys()).filter(differs).cloned().collect()
}

#[test]
fn a_doctor_says_why_it_mends_nothing_of_a_newer_version() {
    for (newer, mut host, live) in sessions() {
        let answer = run_to_end(&mut host, store(0).mend(live.shown_folder(), live.placement()));
        let report: Value = serde_json::from_str(&answer).expect("JSON");
        let codes: Vec<&Value> =
            report["problems"].as_array().expect("problems").iter().map(|one| &one["code"]).collect();
        assert!(codes.contains(&&json!("newer_version")), "{newer}: {report}");
        assert_eq!(report["fixed"], json!([]), "{newer}");
    }
}

#[test]
fn what_a_newer_version_wrote_can_be_deleted_and_comes_back_byte_for_byte() {
    for (newer, mut host, live) in sessions() {
        let before = files(&host);
        run_to_end(&mut host, store(0).delete(&live, false));
        assert!(!files(&host).keys().any(|path| path.ends_with("messages.jsonl")), "{newer}");
        run_to_end(&mut host, store(0).restore(live.id()));
        assert!(files(&host) == before, "{newer}: {:?}", changed_paths(&before, &files(&host)));
    }
}

#[test]
fn a_project_is_relocated_as_a_whole_or_not_at_all() {
    for newer in [0, 1] {
        let mut host = Host::default();
        let folders = [0, 1].map(|_| {
            run_to_end(&mut host, create(&store(i64::MAX), r#"{"placement":"home"}"#)).folder().path
        });
        let line = r#"{"v":2,"id":"e-2","type":"title","title":"As a newer one calls it"}"#;
        host.append(&format!("{}/events.jsonl", folders[newer]), format!("{line}\n").as_bytes());
        let before = files(&host);
        let elsewhere = || "/home/ann/elsewhere".to_string();
        let relocating = store(i64::MAX).relocate_project("/home/ann/code".into(), elsewhere(), elsewhere());
        let trouble = host.drive(relocating, |_| Meanwhile::Nothing).expect("driven");
        assert_eq!(trouble.expect_err("one of them is not written").code(), "newer_version");
        assert!(files(&host) == before, "{newer}: {:?}", changed_paths(&before, &files(&host)));
    }
}

#[test]
fn an_import_adds_nothing_to_what_a_newer_version_wrote() {
    let line = |turn: usize| {
        let role = if turn.is_multiple_of(2) { "user" } else { "assistant" };
        let line = json!({
            "type": role, "uuid": turn.to_string(), "parentUuid": turn.checked_sub(1).map(|turn| turn.to_string()),
            "sessionId": "s", "cwd": "/p", "version": "2.1.329", "timestamp": "2026-01-01T10:00:00Z",
            "message": { "role": role, "content": format!("turn {turn}") },
        });
        format!("{line}\n")
    };
    for is_recorded in [false, true] {
        let mut host = Host::default();
        host.append("/t/one.jsonl", (0..2).map(line).collect::<String>().as_bytes());
        let import = |store: &Rc<Store>| {
            let asked = json!({ "path": "/t/one.jsonl", "from": "claude-code" }).to_string();
            match is_recorded {
                true => store.record(asked, CountingMode::Estimate),
                false => store.import_file(asked, CountingMode::Estimate),
            }
        };
        run_to_end(&mut host, import(&store(i64::MAX)));
        let log = host.files.keys().find(|path| path.ends_with("/messages.jsonl")).expect("a log").clone();
        let newer = r#"{"v":2,"id":"m-new","role":"assistant","content":"as a newer one says it"}"#;
        host.append(&log, format!("{newer}\n").as_bytes());
        host.append("/t/one.jsonl", (2..4).map(line).collect::<String>().as_bytes());
        let before = files(&host);
        let trouble = host.drive(import(&store(i64::MAX)), |_| Meanwhile::Nothing).expect("driven");
        assert_eq!(trouble.expect_err("it is not written").code(), "newer_version");
        assert!(files(&host) == before, "{:?}", changed_paths(&before, &files(&host)));
    }
}
