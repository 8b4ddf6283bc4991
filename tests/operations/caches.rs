//! What is kept of a session and beside it: it is believed where it is so, and made anew where it is not.
//! Tries: src/operation/checkpoint_cache.rs, src/operation/append_once.rs

use std::rc::Rc;

use super::host::Host;
use super::store::{run_to_end, store};
use super::{FOLDER, begin_session, drafts, live, stored_contents};
use leftoff::operation::{CountingMode, SessionFiles, Step};
use leftoff::session::batch::AppendConditions;
use serde_json::{Value, json};

fn log() -> String {
    format!("{FOLDER}/messages.jsonl")
}

fn line(id: &str, rev: u64, content: &str) -> String {
    format!("{}\n", json!({ "v": 1, "id": id, "role": "user", "rev": rev, "content": content }))
}

/// A session whose log is read in pieces.
fn long() -> (Host, Rc<SessionFiles>) {
    let (mut host, live) = begin_session();
    for _ in 0..40 {
        let words = "many words of it ".repeat(1000);
        host.drive_on(&mut live.append_messages(drafts(&words))).expect("appended");
    }
    (host, live)
}

/// The session as another process has it that opens it now, and how much was read for that.
fn open_anew(host: &mut Host) -> (Rc<SessionFiles>, u64) {
    let (live, before) = (live(), host.read);
    host.drive_on(&mut live.open()).expect("opened");
    (live, host.read - before)
}

#[test]
fn a_blob_is_whole_on_the_disk_whenever_a_message_names_it() {
    let large = "a line of it ".repeat(30_000);
    for damage in ["none", "gone", "shorter"] {
        let (mut host, live) = begin_session();
        host.drive_on(&mut live.append_messages(drafts(&large))).expect("appended");
        let blob = host.files.keys().find(|path| path.contains("/blobs/")).expect("a blob").clone();
        let whole = host.files[&blob].clone();
        match damage {
            "gone" => drop(host.files.remove(&blob)),
            "shorter" => host.files.get_mut(&blob).expect("it is there").0.truncate(1000),
            _ => {}
        }
        host.drive_on(&mut live.append_messages(drafts(&large))).expect("appended");
        assert!(host.files[&blob].0 == whole.0, "{damage}");
        assert_eq!(host.files[&blob].1 == whole.1, damage == "none", "{damage}");
    }
}

#[test]
fn what_is_known_of_a_log_is_believed_however_that_ends() {
    for ends in ["with what was said last", "with a message said anew", "with a line again"] {
        let (mut host, live) = long();
        let text = host.text(&log());
        let first: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
        match ends {
            "with a message said anew" => {
                host.append(&log(), line(first["id"].as_str().expect("an id"), 1, "said anew").as_bytes());
            }
            "with a line again" => {
                host.append(&log(), format!("{}\n", text.lines().next().expect("a line")).as_bytes());
            }
            _ => {}
        }
        host.drive_on(&mut live.refresh_logs()).expect("read");
        host.drive_on(&mut live.flush(true)).expect("kept");
        let reports = run_to_end(&mut host, store().doctor("{}".into()));
        assert!(!reports.contains("bad_checkpoint"), "{ends}: {reports}");
        let (again, read) = open_anew(&mut host);
        assert_eq!(again.session().borrow().log_state().messages, 80, "{ends}");
        let all = host.files[&log()].0.len() as u64;
        assert!(read < all / 4, "{ends}: {read} of {all}");
    }
}

#[test]
fn a_doctor_finds_nothing_wrong_with_a_long_session_whose_first_message_was_said_anew() {
    let (mut host, live) = long();
    let first: Value = serde_json::from_str(host.text(&log()).lines().next().expect("a line")).expect("JSON");
    host.append(
        &log(),
        line(first["id"].as_str().expect("an id"), 1, "We must never use src/a.rs.").as_bytes(),
    );
    host.drive_on(&mut live.refresh_logs()).expect("read");
    host.drive_on(&mut live.state()).expect("learned");
    host.drive_on(&mut live.flush(true)).expect("kept");
    let reports: Value =
        serde_json::from_str(&run_to_end(&mut host, store().doctor("{}".into()))).expect("JSON");
    assert_eq!(reports[0]["problems"], json!([]), "{reports}");
}

#[test]
fn who_reads_a_log_from_its_end_while_it_gets_shorter_is_told() {
    for place in 0.. {
        let (mut host, live) = long();
        let all = stored_contents(&host).len();
        let mut reading = live.messages(r#"{"newestFirst":true}"#.into());
        let (mut step, mut at, mut is_shorter) = (reading.begin(host.stamp()), 0, false);
        let ended = loop {
            let needs = match step {
                Step::Done(done) => break done,
                Step::Requests(needs) => needs,
            };
            if at == place {
                host.files.get_mut(&log()).expect("it is there").0.truncate(700);
                is_shorter = true;
            }
            at += 1;
            let answers = needs.into_iter().map(|need| host.answer(need, false)).collect();
            step = reading.next(host.now_ms(), answers);
        };
        let read = host.pages.concat().matches("\"role\":\"user\"").count();
        match ended {
            Ok(()) => assert!(read == all || is_shorter && read <= 1, "step {place}: {read} of {all}"),
            Err(trouble) => {
                assert!(is_shorter && trouble.code().starts_with("log_"), "step {place}: {trouble}")
            }
        }
        if !is_shorter {
            break;
        }
    }
}

#[test]
fn many_operations_later_one_that_is_done_again_is_still_known() {
    let (mut host, live) = begin_session();
    let once = |nth: usize| AppendConditions { operation: Some(format!("operation {nth}")), expected: None };
    let mut first = Vec::new();
    for nth in 0..150 {
        let told = host.drive_on(&mut live.append_once(drafts(&format!("once {nth}")), once(nth)));
        first = if nth == 0 { told.expect("appended") } else { first };
    }
    let call = r#"{"call":{"id":"c","name":"ls"},"result":{"content":"a.txt"}}"#;
    host.drive_on(&mut live.append_tool(call.into(), CountingMode::Estimate)).expect("appended");
    for live in [live, open_anew(&mut host).0] {
        assert_eq!(host.drive_on(&mut live.append_once(drafts("once 0"), once(0))).as_ref(), Ok(&first));
        assert_eq!(stored_contents(&host).iter().filter(|content| *content == "once 0").count(), 1);
    }
}

#[test]
fn what_was_said_anew_is_recalled_no_more_as_it_was() {
    let (mut host, live) = begin_session();
    let fact = |rev: u64, place: &str| {
        line("fact", rev, &format!("the walnut lies in the {place}")).replace("\"user\"", "\"assistant\"")
    };
    host.append(&log(), fact(0, "cellar").as_bytes());
    for turn in 0..20 {
        let words = format!("{turn} about something else, {}", "and more of it ".repeat(40));
        host.append(&log(), line(&format!("m{turn}"), 0, &words).as_bytes());
    }
    host.append(&log(), line("question", 0, "where does the walnut lie?").as_bytes());
    let mut told = |rev: u64, place: &str| {
        if rev > 0 {
            host.append(&log(), fact(rev, place).as_bytes());
        }
        let asked = json!({ "request": { "window": 3000, "reserve": 0, "encoding": "estimate-1" } });
        let context =
            host.drive_on(&mut live.context(asked.to_string(), CountingMode::Estimate)).expect("built");
        let context: Value = serde_json::from_str(&context).expect("JSON");
        context["messages"].to_string()
    };
    assert!(told(0, "").contains("[RECALLED]"));
    for (rev, place) in [(1, "attic"), (2, "garden")] {
        let told = told(rev, place);
        let others = ["cellar", "attic", "garden"].into_iter().filter(|one| *one != place);
        assert!(others.into_iter().all(|one| !told.contains(one)), "{rev}: {told}");
    }
}

#[test]
fn what_an_editor_wrote_in_the_place_of_something_is_recalled_no_more_as_it_was() {
    let (mut host, live) = begin_session();
    let fact = "the walnut lies in the cellar";
    host.append(&log(), line("fact", 0, fact).replace("\"user\"", "\"assistant\"").as_bytes());
    for turn in 0..20 {
        let words = format!("{turn} about something else, {}", "and more of it ".repeat(40));
        host.append(&log(), line(&format!("m{turn}"), 0, &words).as_bytes());
    }
    host.append(&log(), line("question", 0, "where does the walnut lie?").as_bytes());
    let mut was = "cellar";
    for place in ["cellar", "closet", "corner"] {
        let text = host.text(&log()).replace(was, place);
        host.files.remove(&log());
        host.append(&log(), text.as_bytes());
        let asked = json!({ "request": { "window": 3000, "reserve": 0, "encoding": "estimate-1" } });
        let context =
            host.drive_on(&mut live.context(asked.to_string(), CountingMode::Estimate)).expect("built");
        assert!(context.contains("[RECALLED]") && context.contains(place), "{place}: {context}");
        assert!(place == was || !context.contains(was), "{place}: {context}");
        was = place;
    }
}

#[test]
fn what_was_pinned_is_told_as_it_says_now() {
    let (mut host, live) = begin_session();
    let mut told = |rev: u64, content: &str| {
        host.append(&log(), line("rule", rev, content).as_bytes());
        if rev == 0 {
            host.drive_on(&mut live.record_changes(r#"[{"type":"pin","messageId":"rule"}]"#.into()))
                .expect("pinned");
        }
        let asked = r#"{"maxTokens":2000,"encoding":"estimate-1"}"#;
        host.drive_on(&mut live.brief(asked.into())).expect("told")
    };
    let mut before = String::new();
    for (rev, place) in ["walnut", "quartz", "zephyr"].into_iter().enumerate() {
        let told = told(rev as u64, &format!("the {place} stays"));
        assert!(told.contains(&format!("the {place} stays")), "{rev}: {told}");
        assert!(before.is_empty() || !told.contains(&before), "{rev}: {told}");
        before = format!("the {place} stays");
    }
}

#[test]
fn what_is_so_already_is_not_said_again() {
    let (mut host, live) = begin_session();
    let events = |host: &Host| host.text(&format!("{FOLDER}/events.jsonl")).lines().count();
    for (change, is_news) in [
        (json!({ "type": "unarchived" }), false),
        (json!({ "type": "archived" }), true),
        (json!({ "type": "archived" }), false),
        (json!({ "type": "unarchived" }), true),
        (json!({ "type": "unarchived" }), false),
        (json!({ "type": "status", "status": "active" }), false),
        (json!({ "type": "status", "status": "paused" }), true),
        (json!({ "type": "status", "status": "paused" }), false),
    ] {
        let before = events(&host);
        host.drive_on(&mut live.record_changes(json!([change]).to_string())).expect("said");
        assert_eq!(events(&host) > before, is_news, "{change}");
    }
}

#[test]
fn a_log_in_whose_place_another_one_was_made_is_read_anew_however_it_ends() {
    let (mut host, live) = begin_session();
    let first =
        |live: &SessionFiles| live.session().borrow().log_state().titles.first_line().map(String::from);
    assert!(first(&live).is_some_and(|title| title.contains("turn 0")));
    // What was read last stands at the same place, and more behind it.
    let text = host.text(&log()).replace("turn 0 ", "game 0 ") + &line("more", 0, "and more");
    host.files.remove(&log());
    host.append(&log(), text.as_bytes());
    host.made_us = -5;
    host.drive_on(&mut live.refresh_logs()).expect("read");
    assert!(first(&live).is_some_and(|title| title.contains("game 0")), "{:?}", first(&live));
}
