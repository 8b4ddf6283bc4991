//! What changes where a session lies: whatever befalls it at any step, the session is in one place, with all that was
//! acknowledged, and what was cut off can be brought to an end.
//! Tries: src/operation/store/relocation.rs, src/operation/store/relocation_steps.rs,
//! src/operation/store/trash.rs

use std::rc::Rc;

use super::doctor::reports;
use super::host::{FIRST_DEAD_PROCESS, Host, Meanwhile};
use super::store::{create, run_to_end, setup};
use leftoff::layout::Placement;
use leftoff::operation::{AppendRequest, CountingMode, Drafts, Operation, SessionFiles, Store};
use serde_json::{Value, json};

/// Says which session of the project is its current one.
const POINTER: &str = ".leftoff/current-session.json";

pub fn store() -> Rc<Store> {
    Store::new(setup(Some("/work")))
}

pub fn appending(text: &str) -> AppendRequest {
    let drafts = Drafts::Json(json!([{"role": "user", "content": text}]).to_string(), None);
    AppendRequest { drafts, is_durable: true, revives: true, counts: CountingMode::Estimate }
}

/// A closed session with one message, in the home or in the workspace.
pub fn closed_session(is_home: bool) -> (Host, Rc<SessionFiles>) {
    let mut host = Host::default();
    let placement = if is_home { "home" } else { "workspace" };
    let request = json!({"title": "A plan", "placement": placement});
    let live = run_to_end(&mut host, create(&store(), &request.to_string()));
    run_to_end(&mut host, live.append_messages(appending("one")));
    run_to_end(&mut host, live.close());
    (host, live)
}

/// The placement that a session is not in.
pub fn other_placement(live: &SessionFiles) -> &'static str {
    if live.placement() == Placement::Home { "workspace" } else { "home" }
}

pub type Begins = fn(&Rc<Store>, &Rc<SessionFiles>) -> Operation<'static, ()>;

pub fn operations() -> Vec<(&'static str, bool, Begins)> {
    let carry: Begins = |store, live| {
        store.move_to(live, json!({"to": other_placement(live), "title": "A plan"}).to_string()).map(drop)
    };
    let delete: Begins =
        |store, live| store.delete(live, false).map(|trash| assert!(trash.is_some(), "it lies in the trash"));
    let relocate: Begins = |store, _| {
        let (from, to) = (setup(None).project, || "/home/ann/elsewhere".to_string());
        store.relocate_project(from, to(), to()).map(drop)
    };
    vec![
        ("relocate", true, relocate),
        ("move to the workspace", true, carry),
        ("move to the home", false, carry),
        ("delete in the home", true, delete),
        ("delete in the workspace", false, delete),
    ]
}

/// Every message in each log of messages that is part of a session, or of one in the trash.
fn stored_messages(host: &Host) -> Vec<(String, Vec<String>)> {
    let logs = host.files.keys().filter(|path| {
        let is_session =
            path.contains("/session-") || path.contains("/.session/") || path.starts_with("trash/");
        path.ends_with("/messages.jsonl")
            && is_session
            && !path.contains("/.left-")
            && !path.contains("/.gone-")
    });
    let content =
        |line: &str| Some(serde_json::from_str::<Value>(line).ok()?["content"].as_str()?.to_string());
    logs.map(|path| (path.clone(), host.text(path).lines().filter_map(content).collect())).collect()
}

/// As if this process had been another one, which is gone.
fn forget_process(host: &mut Host) {
    let gone = |text: &str| text.replace("\"pid\":7,", &format!("\"pid\":{FIRST_DEAD_PROCESS},"));
    let renamed = |path: &str| {
        let parts: Vec<String> = path
            .split('/')
            .map(|part| {
                let is_ours =
                    part.starts_with(".left-") || part.starts_with(".gone-") || part.starts_with(".coming");
                if is_ours {
                    part.replacen("-7-", &format!("-{FIRST_DEAD_PROCESS}-"), 1)
                } else {
                    part.into()
                }
            })
            .collect();
        parts.join("/")
    };
    let files = std::mem::take(&mut host.files);
    host.files = files
        .into_iter()
        .map(|(path, (bytes, changed))| {
            let bytes = match String::from_utf8(bytes) {
                Ok(text) => renamed(&gone(&text)).into_bytes(),
                Err(error) => error.into_bytes(),
            };
            (renamed(&path), (bytes, changed))
        })
        .collect();
}

/// Nothing is lost and nothing is left over, once what was cut off is brought to an end; and that is so again.
pub fn whole_again(host: &mut Host, about: &str) {
    forget_process(host);
    let mends = || store().doctor(r#"{"fix":true}"#.into());
    for report in reports(host, mends()) {
        assert_eq!(report["problems"], json!([]), "{about}: {report}");
    }
    for report in reports(host, mends()) {
        assert_eq!((&report["problems"], &report["fixed"]), (&json!([]), &json!([])), "{about}: {report}");
    }
    let is_under_way = |path: &&String| {
        path.starts_with("moving/")
            || path.contains("/.left-")
            || path.contains("/.gone-")
            || path.contains("/.coming")
            || (path.ends_with("/.taken") && !path.starts_with("trash/"))
    };
    let left: Vec<_> = host.files.keys().filter(is_under_way).collect();
    assert!(left.is_empty(), "{about}: {left:?}");
}

/// The session is in one place beside the trash, or in the trash alone, with these messages, each once.
pub fn is_in_one_place(host: &Host, expected: &[&str], about: &str) {
    let all = stored_messages(host);
    let live: Vec<_> = all.iter().filter(|(path, _)| !path.starts_with("trash/")).collect();
    let found = match &live[..] {
        [one] => *one,
        [] => all.first().unwrap_or_else(|| panic!("{about}: it is nowhere")),
        _ => panic!("{about}: it is in several places: {live:?}"),
    };
    let mut messages = found.1.clone();
    messages.sort();
    assert_eq!(messages, expected, "{about}");
}

/// What must hold after whatever befell it.
fn is_whole_in_one_place(host: &mut Host, about: &str, _: bool) {
    whole_again(host, about);
    is_in_one_place(host, &["one"], about);
}

/// Does something at each step of each operation, to a session of its own.
fn at_each_step(befalls: impl Fn(&str) -> Meanwhile, mut then: impl FnMut(&mut Host, &str, bool)) {
    for (name, is_home, begins) in operations() {
        for place in 0.. {
            let (mut host, live) = closed_session(is_home);
            let log =
                host.files.keys().find(|path| path.ends_with("messages.jsonl")).cloned().expect("a log");
            let mut has_befallen = false;
            let operation = begins(&store(), &live);
            let done = host.drive(operation, |at| {
                has_befallen |= at == place;
                if at == place { befalls(&log) } else { Meanwhile::Nothing }
            });
            if !has_befallen {
                assert!(matches!(done, Some(Ok(_))), "{name}: undisturbed, it is done");
                break;
            }
            then(&mut host, &format!("{name}, step {place}"), matches!(done, Some(Ok(_))));
        }
    }
}

#[test]
fn a_failure_at_each_need_leaves_the_session_in_one_place() {
    at_each_step(|_| Meanwhile::Fails, is_whole_in_one_place);
}

#[test]
fn a_move_or_a_deletion_that_is_dropped_at_any_step_is_brought_to_an_end() {
    at_each_step(|_| Meanwhile::Dropped, is_whole_in_one_place);
}

#[test]
fn whoever_ends_a_move_has_the_pointer_follow_it() {
    at_each_step(
        |_| Meanwhile::Dropped,
        |host, about, _| {
            if !about.starts_with("move") {
                return;
            }
            forget_process(host);
            for report in reports(host, store().doctor(r#"{"fix":true}"#.into())) {
                assert!(!report["fixed"].to_string().contains("pointed the project"), "{about}: {report}");
            }
        },
    );
}

fn tear(host: &mut Host, torn: &str) {
    if !torn.is_empty() {
        let log = host.files.keys().find(|path| path.ends_with("messages.jsonl")).cloned().expect("a log");
        host.append(&log, torn.as_bytes());
    }
}

/// It is moved where it was to go, if it is not there yet, and is in one place then.
fn is_moved_again(host: &mut Host, about: &str, _: bool) {
    if !about.starts_with("move") {
        return;
    }
    let to = if about.contains("to the home") { "home" } else { "workspace" };
    let store = store();
    let live = run_to_end(host, store.go_on("{}".into()));
    if other_placement(&live) == to {
        run_to_end(host, store.move_to(&live, json!({"to": to, "name": "a-plan"}).to_string()));
    }
    let again = self::store();
    let live = run_to_end(host, again.session(live.id()));
    assert_ne!(other_placement(&live), to, "{about}");
    let listed = run_to_end(host, again.list(r#"{"all":true,"archived":null}"#.into()));
    assert_eq!(listed.matches("\"id\":").count(), 1, "{about}: {listed}");
    whole_again(host, about);
    is_in_one_place(host, &["one"], about);
}

#[test]
fn a_move_that_failed_or_was_cut_off_at_any_step_can_be_made_again() {
    at_each_step(|_| Meanwhile::Fails, is_moved_again);
    at_each_step(
        |_| Meanwhile::Dropped,
        |host, about, is_done| {
            forget_process(host);
            is_moved_again(host, about, is_done);
        },
    );
}

#[test]
fn what_another_process_appends_before_the_session_is_left_goes_along() {
    let line = "{\"id\":\"by-another\",\"role\":\"user\",\"content\":\"two\"}";
    // Torn or whole, whatever stands before and behind.
    for (torn, line) in [("", format!("{line}\n")), ("", line.into()), ("{\"id\":\"t", format!("\n{line}\n"))]
    {
        comes_along(torn, line.as_bytes());
    }
}

/// `torn`: how the log ends before; `line`: what comes at any step.
fn comes_along(torn: &str, line: &[u8]) {
    for (name, is_home, begins) in operations() {
        for place in 0.. {
            let (mut host, live) = closed_session(is_home);
            tear(&mut host, torn);
            let log =
                host.files.keys().find(|path| path.ends_with("messages.jsonl")).cloned().expect("a log");
            // Whoever finds the log away is told so, and looks where the session lies now.
            let mut befallen = None;
            let mut operation = begins(&store(), &live);
            let mut step = operation.begin(host.stamp());
            for at in 0.. {
                let leftoff::operation::Step::Requests(needs) = step else { break };
                if at == place {
                    befallen = Some(host.files.contains_key(&log));
                    if befallen == Some(true) {
                        host.append(&log, line);
                    }
                }
                let answers = needs.into_iter().map(|need| host.answer(need, false)).collect();
                step = operation.next(host.now_ms(), answers);
            }
            let about = format!("{name}, step {place}, behind {torn:?}");
            match befallen {
                None => break,
                Some(true) => is_in_one_place(&host, &["one", "two"], &about),
                Some(false) => is_in_one_place(&host, &["one"], &about),
            }
        }
    }
}

#[test]
fn what_was_deleted_comes_back_byte_for_byte_and_never_over_what_is_there() {
    for is_home in [true, false] {
        let (mut host, live) = closed_session(is_home);
        let of = |host: &Host| -> Vec<(String, Vec<u8>)> {
            let files = host.files.iter().filter(|(path, _)| {
                !["trash", "cache/", "sessions/index", POINTER].iter().any(|start| path.starts_with(start))
            });
            files.map(|(path, (bytes, _))| (path.clone(), bytes.clone())).collect()
        };
        let before = of(&host);
        assert!(host.files.contains_key(POINTER));
        run_to_end(&mut host, store().delete(&live, false));
        assert!(!host.files.contains_key(POINTER));
        assert!(!of(&host).iter().any(|(path, _)| path.ends_with("messages.jsonl")));
        // A copy of it, elsewhere.
        let (folder, other) = match is_home {
            true => (store().project_hash().to_string(), "0f".to_string()),
            false => ("/001-".into(), "/002-".into()),
        };
        let is_its = |path: &str| path.contains("/session-") || path.contains("/.session/");
        let copies: Vec<_> = before.iter().filter(|(path, _)| is_its(path)).collect();
        for (path, bytes) in &copies {
            host.append(&path.replace(&folder, &other), bytes);
        }
        let refused = host.drive(store().restore(live.id()), |_| Meanwhile::Nothing).expect("driven");
        assert_eq!(refused.expect_err("one is there").code(), "already_exists");
        host.files.retain(|path, _| !is_its(path) || path.starts_with("trash"));
        let told: Value =
            serde_json::from_str(&run_to_end(&mut host, store().restore(live.id()))).expect("JSON");
        assert_eq!(told, json!({"id": live.id(), "title": "A plan", "path": live.shown_folder()}));
        assert_eq!(of(&host), before);
        assert_eq!(run_to_end(&mut host, store().list_trash()), "[]");
    }
}
