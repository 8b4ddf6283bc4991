//! Operations, driven by a host in memory: what befalls one of them costs what it would have done, and nothing else.
//! Tries: src/operation/

mod answers;
mod appending;
mod branches;
mod caches;
mod committing;
mod data_loss;
mod doctor;
mod ending;
mod exchange;
mod executions;
mod failing;
mod following;
mod forks;
mod handing;
mod hiding;
mod host;
mod imports;
mod moved_sessions;
mod moves;
mod newer;
mod newest;
mod opening;
mod outputs;
mod recalling;
mod repeated_recall;
mod requests;
mod retries;
mod searching;
mod stamps;
mod store;
mod summing;
mod turns;
mod typed_prompts;
mod unreadable;

use std::rc::Rc;

use host::{FIRST_DEAD_PROCESS, Host, Meanwhile, SECRET};
use leftoff::layout::{File, Placement, Root};
use leftoff::operation::{
    AppendRequest, CountingMode, Drafts, HostRequest, Operation, OutgoingGate, OutgoingRedactor, RedactMode,
    SessionFiles, Setup, Step, Store,
};
use leftoff::session::batch::AppendConditions;
use leftoff::shapes::Format;
use serde_json::{Value, json};

const FOLDER: &str = "sessions/projects/p/session-019aaaca-0000-7000-8000-000000000001";

fn live() -> Rc<SessionFiles> {
    SessionFiles::new(File::new(Root::Home, FOLDER), FOLDER.into(), live_cache(), "")
}

fn live_cache() -> File {
    File::new(Root::Home, "cache")
}

fn drafts(text: &str) -> AppendRequest {
    let json = format!(r#"[{{"role":"user","content":"{text}"}}]"#);
    AppendRequest {
        drafts: Drafts::Json(json, None),
        is_durable: true,
        revives: true,
        counts: CountingMode::Estimate,
    }
}

/// A session in which nothing was said.
fn begun_by(host: &mut Host) -> Rc<SessionFiles> {
    let live = live();
    let created = r#"{"id":"019aaaca-0000-7000-8000-000000000001","type":"chat"}"#;
    host.drive(live.begin(created.into()), |_| Meanwhile::Nothing).expect("driven").expect("begun");
    live
}

/// A session with some turns, and the host it lies at.
fn begin_session() -> (Host, Rc<SessionFiles>) {
    let mut host = Host::default();
    let live = begun_by(&mut host);
    for turn in 0..40 {
        let words = format!("turn {turn} about a file, {}", "and its tests ".repeat(40));
        host.drive(live.append_messages(drafts(&words)), |_| Meanwhile::Nothing)
            .expect("driven")
            .expect("appended");
    }
    (host, live)
}

fn leaving() -> Rc<OutgoingRedactor> {
    OutgoingRedactor::new(&OutgoingGate::new(RedactMode::Replace))
}

fn once_options() -> AppendConditions {
    AppendConditions { operation: Some("step 7".into()), expected: None }
}

type Begins = fn(&Rc<SessionFiles>) -> Operation<'static, String>;

fn debug_answer<T: std::fmt::Debug + 'static>(
    operation: Operation<'static, T>,
) -> Operation<'static, String> {
    operation.map(|answer| format!("{answer:?}"))
}

fn operations() -> Vec<(&'static str, Begins)> {
    vec![
        ("append", |live| debug_answer(live.append_messages(drafts("acknowledged, if it is")))),
        ("append first", |_| debug_answer(live().append_messages(drafts("by who just came")))),
        ("close", |live| debug_answer(live.close())),
        ("append once", |live| {
            debug_answer(live.append_once(drafts("acknowledged, if it is"), once_options()))
        }),
        ("say", |live| debug_answer(live.record_changes(r#"[{"type":"title","title":"given"}]"#.into()))),
        ("flush", |live| debug_answer(live.flush(true))),
        ("open", |live| debug_answer(live.open())),
        ("tools", |live| debug_answer(live.tools())),
        ("append tool", |live| {
            let execution = r#"{"call":{"id":"c","name":"ls"},"result":{"content":"a.txt"}}"#;
            debug_answer(live.append_tool(execution.into(), CountingMode::Estimate))
        }),
        ("context", |live| {
            debug_answer(live.context(
                r#"{"request":{"window":2000,"encoding":"estimate-1"}}"#.into(),
                CountingMode::Estimate,
            ))
        }),
        ("compact", |live| {
            let request =
                r#"{"request":{"window":4000,"encoding":"estimate-1"},"summarizes":true,"apply":true}"#;
            debug_answer(live.compact(request.into(), CountingMode::Estimate))
        }),
        ("examine", |live| debug_answer(live.examine())),
        ("messages", |live| debug_answer(live.messages("{}".into()))),
        ("messages backward", |live| debug_answer(live.messages(r#"{"newestFirst":true}"#.into()))),
        ("newest messages", |live| {
            let store = Store::new(store::setup(None));
            debug_answer(store.newest_messages(store::home_path(FOLDER), live.placement(), &leaving()))
        }),
        ("export", |live| debug_answer(live.export(r#"{"format":"json"}"#.into(), &leaving()))),
        ("export of Markdown", |live| {
            debug_answer(live.export(r#"{"format":"markdown"}"#.into(), &leaving()))
        }),
        ("resume", |live| {
            let asked =
                r#"{"request":{"window":4000,"encoding":"estimate-1"},"maxBytes":3000,"leaves":true}"#;
            debug_answer(live.resume(asked.into(), CountingMode::Estimate))
        }),
        ("fork", |live| {
            let store = Store::new(store::setup(None));
            debug_answer(store.fork_released(live.clone(), "{}".into(), CountingMode::Estimate))
        }),
        ("what leaves", |live| {
            debug_answer(
                leaving().redact_value(
                    json!({ "told": format!("it is {SECRET}") }).to_string(),
                    Some(live.folder()),
                ),
            )
        }),
    ]
}

/// What all messages say that the log has, as whoever opens it anew finds them.
fn stored_contents(host: &Host) -> Vec<String> {
    said_in(host, FOLDER)
}

fn said_in(host: &Host, folder: &str) -> Vec<String> {
    let log = host.text(&format!("{folder}/messages.jsonl"));
    let content =
        |line: &str| Some(serde_json::from_str::<Value>(line).ok()?["content"].as_str()?.to_string());
    log.lines().filter_map(content).collect()
}

/// The session goes on: what is appended now is there, once, with all that was there before.
fn goes_on(host: &mut Host, live: &Rc<SessionFiles>, about: &str) {
    let before = stored_contents(host);
    let appended = host.drive(live.append_messages(drafts("what follows")), |_| Meanwhile::Nothing);
    appended.expect("driven").unwrap_or_else(|trouble| panic!("{about}: {trouble}"));
    let after = stored_contents(host);
    assert_eq!(after.iter().filter(|content| *content == "what follows").count(), 1, "{about}");
    assert!(before.iter().all(|content| after.contains(content)), "{about}");
    let healthy = host.drive(live.examine(), |_| Meanwhile::Nothing).expect("driven").expect("examined");
    assert!(healthy.starts_with(r#"{"health":"ok""#), "{about}: {healthy}");
}

/// Does something at each step of each operation, in a session of its own.
fn at_each_step(
    befalls: impl Fn() -> Meanwhile,
    mut then: impl FnMut(&mut Host, &Rc<SessionFiles>, &str, bool),
) {
    for (name, begins) in operations() {
        for place in 0.. {
            let (mut host, live) = begin_session();
            let mut has_befallen = false;
            let done = host.drive(begins(&live), |at| {
                has_befallen |= at == place;
                if at == place { befalls() } else { Meanwhile::Nothing }
            });
            if !has_befallen {
                break;
            }
            then(&mut host, &live, &format!("{name}, step {place}"), matches!(done, Some(Ok(_))));
        }
    }
}

#[test]
fn a_failure_at_each_need_ends_in_a_refusal_or_goes_on() {
    at_each_step(|| Meanwhile::Fails, |host, live, about, _| goes_on(host, live, about));
}

#[test]
fn an_operation_that_is_dropped_at_any_step_loses_nothing() {
    at_each_step(|| Meanwhile::Dropped, |host, live, about, _| goes_on(host, live, about));
}

#[test]
fn what_others_append_before_any_need_is_there_and_so_is_what_was_acknowledged() {
    let line = "{\"id\":\"by-another\",\"role\":\"user\",\"content\":\"by another process\"}\n";
    let others = || Meanwhile::Others(format!("{FOLDER}/messages.jsonl"), line.into());
    at_each_step(others, |host, live, about, is_acknowledged| {
        let found = stored_contents(host);
        assert!(found.iter().any(|content| content == "by another process"), "{about}");
        if about.starts_with("append, ") || about.starts_with("append once, ") {
            assert!(is_acknowledged, "{about}");
            assert_eq!(
                found.iter().filter(|content| *content == "acknowledged, if it is").count(),
                1,
                "{about}"
            );
        }
        if about.starts_with("messages") || about.starts_with("newest") {
            assert!(is_acknowledged, "{about}");
            let read = host.pages.concat();
            let is_once = |turn: usize| read.matches(&format!("\"turn {turn} about a file")).count() == 1;
            assert!((0..40).all(is_once), "{about}");
        }
        goes_on(host, live, about);
    });
}

#[test]
fn an_undo_of_a_compaction_stands_alone() {
    let (mut host, live) = begin_session();
    for beside in [r#""apply":true"#, r#""keep":100"#, r#""apply":true,"keep":100"#] {
        let mut compact = live.compact(format!("{{\"undo\":true,{beside}}}"), CountingMode::Estimate);
        let refused = host.drive_on(&mut compact).expect_err(beside);
        assert_eq!(refused.code(), "invalid_request", "{beside}");
    }
}

#[test]
fn a_fork_is_whole_or_none_whatever_others_append_meanwhile() {
    let line = "{\"id\":\"by-another\",\"role\":\"user\",\"content\":\"by another process\"}\n";
    for place in 0.. {
        let (mut host, live) = begin_session();
        let store = Store::new(store::setup(None));
        let mut has_befallen = false;
        let forking = store.fork(live.clone(), "{}".into(), CountingMode::Estimate);
        let fork = host.drive(forking, |at| {
            has_befallen |= at == place;
            match at == place {
                true => Meanwhile::Others(format!("{FOLDER}/messages.jsonl"), line.into()),
                false => Meanwhile::Nothing,
            }
        });
        let fork = fork.expect("driven").unwrap_or_else(|trouble| panic!("step {place}: {trouble}"));
        let (copied, all) = (said_in(&host, &fork.folder().path), stored_contents(&host));
        assert!(copied.len() >= 40 && all.starts_with(&copied), "step {place}: {copied:?}");
        let healthy = host.drive_on(&mut fork.examine()).expect("examined");
        assert!(healthy.starts_with(r#"{"health":"ok""#), "step {place}: {healthy}");
        if !has_befallen {
            break;
        }
    }
}

#[test]
fn what_is_refused_by_its_shape_is_refused_before_anything_is_asked_and_what_tells_it_is_stored_in_it() {
    let (mut host, live) = begin_session();
    let answer =
        r#"{"object":"chat.completion","choices":[{"message":{"role":"assistant","content":"Hi."}}]}"#;
    let said = |format| AppendRequest { drafts: Drafts::Json(answer.into(), format), ..drafts("") };
    for mut appending in [
        live.append_messages(said(Some(Format::Anthropic))),
        live.append_once(said(Some(Format::Anthropic)), once_options()),
    ] {
        let Step::Done(Err(refused)) = appending.begin(host.stamp()) else { panic!("expected a refusal") };
        assert_eq!(refused.code(), "invalid_request");
    }
    let lines = host.drive_on(&mut live.append_messages(said(None))).expect("appended");
    assert!(String::from_utf8_lossy(&lines).contains(r#""content":"Hi.""#));
    let answer = r#"{"steps":[{}],"response":{"messages":[{"role":"assistant","content":"Ho."}]}}"#;
    let said = AppendRequest { drafts: Drafts::Json(answer.into(), None), ..drafts("") };
    let lines = host.drive_on(&mut live.append_messages(said)).expect("appended");
    assert!(String::from_utf8_lossy(&lines).contains(r#""content":"Ho.""#));
}

/// Whose leases there are, by their files' names.
fn leases(host: &Host) -> Vec<&str> {
    let folder = "cache/019aaaca-0000-7000-8000-000000000001.open/";
    host.files.keys().filter_map(|path| path.strip_prefix(folder)).collect()
}

#[test]
fn whoever_appends_says_so_until_it_closes_and_once_only() {
    let (mut host, live) = begin_session();
    assert_eq!(leases(&host), ["mine.json"]);
    assert_eq!(host.drive_on(&mut live.list_holders()).as_deref(), Ok("[]"));
    host.drive_on(&mut live.close()).expect("closed");
    assert_eq!(leases(&host), Vec::<&str>::new());
    // As where the core begins anew: the host has the same name for it.
    let again = self::live();
    host.drive_on(&mut again.open()).expect("opened");
    host.drive_on(&mut live.append_messages(drafts("more"))).expect("appended");
    assert_eq!(host.drive_on(&mut again.list_holders()).as_deref(), Ok("[]"));
}

#[test]
fn a_session_rests_where_nobody_has_it_open_and_those_that_are_gone_are_told_of_once() {
    let (mut host, live) = begin_session();
    host.drive_on(&mut live.close()).expect("closed");
    let folder = "cache/019aaaca-0000-7000-8000-000000000001.open";
    let lease =
        |pid: u64| format!(r#"{{"pid":{pid},"host":"here","program":"q","since":"2026-01-01T00:00:00Z"}}"#);
    for (name, text) in
        [("gone", lease(FIRST_DEAD_PROCESS)), ("torn", lease(9)[..20].into()), ("there", lease(8))]
    {
        host.append(&format!("{folder}/{name}.json"), text.as_bytes());
    }
    // Each time another process that opens it.
    let taken = |host: &mut Host| -> Vec<String> {
        let store = Store::new(Setup { idle_ms: 0, ..store::setup(None) });
        let live = host.drive_on(&mut store.open(format!("/home/ann/.leftoff/{FOLDER}"), Placement::Home));
        let told: Value = serde_json::from_str(&live.expect("opened").notices()).expect("JSON");
        let codes = told.as_array().expect("notices").iter().map(|notice| notice["code"].as_str());
        codes.map(|code| code.expect("a code").to_string()).collect()
    };
    assert_eq!(taken(&mut host), ["left_open"]);
    assert_eq!(leases(&host), ["there.json"]);
    assert_eq!(taken(&mut host), Vec::<String>::new());
    host.files.remove(&format!("{folder}/there.json"));
    assert_eq!(taken(&mut host), ["auto_paused"]);
    assert!(host.text(&format!("{FOLDER}/metadata.json")).contains("\"lifecycle\": \"paused\""));
}

#[test]
fn who_follows_gets_what_comes_and_goes_without_a_trace() {
    let (mut host, live) = begin_session();
    let mut follow = live.follow();
    let mut step = follow.begin(host.stamp());
    for n in 0..3 {
        while host.pages.len() == n {
            let Step::Requests(needs) = step else { panic!("it goes on until it is dropped") };
            if matches!(needs[..], [HostRequest::Wait { .. }]) {
                let line = format!("{{\"id\":\"next-{n}\",\"role\":\"user\",\"content\":\"as it comes\"}}\n");
                host.append(&format!("{FOLDER}/messages.jsonl"), line.as_bytes());
            }
            let answers = needs.into_iter().map(|need| host.answer(need, false)).collect();
            step = follow.next(host.now_ms(), answers);
        }
        assert!(host.pages[n].contains(&format!("next-{n}")), "{:?}", host.pages);
    }
    drop(follow);
    assert_eq!(host.pages.len(), 3);
    goes_on(&mut host, &live, "followed");
}

#[test]
fn nothing_leaves_with_a_secret_nor_with_a_part_of_one_that_the_whole_text_has() {
    let (mut host, live) = begin_session();
    host.drive_on(&mut live.append_messages(drafts(&format!("it is {SECRET}, see")))).expect("appended");
    let part = &SECRET[4..16];
    let door = OutgoingGate::new(RedactMode::Replace);
    let passed = |host: &mut Host, operation: &mut Operation<'static, ()>| {
        host.pages.clear();
        host.drive_on(operation).expect("passed");
        host.pages.concat()
    };
    for format in ["json", "markdown"] {
        let asked = json!({ "format": format }).to_string();
        let text = passed(&mut host, &mut live.export(asked.clone(), &OutgoingRedactor::new(&door)));
        assert!(text.contains("[redacted:own:") && text.contains("turn 39"), "{format}: {text}");
        assert!(!text.contains(part), "{format}: {text}");
        let as_it_is = passed(
            &mut host,
            &mut live.export(asked, &OutgoingRedactor::new(&OutgoingGate::new(RedactMode::Off))),
        );
        assert!(as_it_is.contains(SECRET) && as_it_is.contains("turn 39"), "{format}: {as_it_is}");
    }
    for question in ["see", "\"see\"", "\"see\" turn"] {
        let leaving = OutgoingRedactor::new(&door);
        let mut search = store::store().search_in(live.id(), question.into(), "{}".into(), &leaving);
        let hits = passed(&mut host, &mut search);
        assert!(hits.contains("[redacted:own:") && !hits.contains(part), "{question}: {hits}");
    }
    let cut = json!(format!("so {part}")).to_string();
    let known = OutgoingRedactor::new(&door);
    let out = host.drive_on(&mut known.redact_value(cut.clone(), None)).expect("out");
    assert_eq!(out.value, None, "no rule finds a part");
    let out = host.drive_on(&mut known.redact_value(cut, Some(live.folder()))).expect("out");
    assert!(out.value.is_some_and(|value| !value.contains(part)));
    let told = door.reported_secrets();
    assert_eq!(told.iter().map(|one| (one.rule.as_str(), one.count)).collect::<Vec<_>>(), [("own", 1)]);
    let doctor = store::store().doctor(r#"{"secrets":true}"#.into());
    let told = doctor::reports(&mut host, doctor);
    let problems = told[0]["problems"].as_array().expect("problems");
    let kept = problems.iter().find(|problem| problem["code"] == "secret").expect("a secret");
    let log = host.text(&format!("{FOLDER}/messages.jsonl"));
    let place = |key: &str| usize::try_from(kept[key].as_u64().expect("a place")).expect("small");
    assert!(log[place("start")..place("end")].contains(SECRET), "{kept}");
}

#[test]
fn a_secret_has_one_placeholder_in_a_store_whichever_process_tells_of_it() {
    let placeholder = |host: &mut Host| {
        let value = json!(format!("it is {SECRET}, see")).to_string();
        let out = host.drive_on(
            &mut OutgoingRedactor::new(&OutgoingGate::new(RedactMode::Replace)).redact_value(value, None),
        );
        out.expect("out").value.expect("another value")
    };
    let (mut host, mut another) = (Host::default(), begin_session().0);
    let told = placeholder(&mut host);
    assert!(told.contains("[redacted:own:") && !told.contains(SECRET), "{told}");
    assert_eq!(placeholder(&mut host), told);
    assert_ne!(placeholder(&mut another), told);
}

#[test]
fn a_resumption_fits_into_so_many_bytes_and_says_what_it_leaves_out() {
    let (mut host, live) = begin_session();
    let mut resumed = |about: &str| {
        let asked = format!(r#"{{"request":{{"window":64000,"encoding":"estimate-1"}}{about}}}"#);
        let answer = host.drive_on(&mut live.resume(asked, CountingMode::Estimate)).expect("resumed");
        serde_json::from_str::<Value>(&answer).expect("JSON")
    };
    let whole = resumed(r#","maxBytes":100000"#);
    let text = whole["text"].as_str().expect("a text");
    assert!(text.starts_with(whole["block"].as_str().expect("a block")) && text.contains("turn 0 about"));
    assert!(!text.contains("Left out: "), "{text}");
    for most in [3000, 6000, 12_000] {
        let less = resumed(&format!(r#","maxBytes":{most}"#));
        let text = less["text"].as_str().expect("a text");
        assert!(
            text.len() <= most && text.contains("turn 39") && text.contains("Left out: "),
            "{most}: {text}"
        );
    }
    assert_eq!(resumed("").get("text"), None);
}

#[test]
fn messages_of_a_leaf_that_is_none_are_refused() {
    let (mut host, live) = begin_session();
    for (asked, code) in [
        (r#"{"leaf":7}"#, "invalid_request"),
        (r#"{"newestFirst":"yes"}"#, "invalid_request"),
        (r#"{"allBranches":1}"#, "invalid_request"),
        (r#"{"leaf":"nobody"}"#, "not_found"),
        (r#"{"leaf":"nobody","newestFirst":true}"#, "not_found"),
    ] {
        let refused = host.drive_on(&mut live.messages(asked.into())).expect_err(asked);
        assert_eq!(refused.code(), code, "{asked}: {refused}");
    }
}

#[test]
fn a_session_whose_folder_is_gone_is_not_healthy() {
    let (mut host, live) = begin_session();
    host.files.retain(|path, _| !path.starts_with(FOLDER));
    let refused = host.drive_on(&mut live.examine()).expect_err("it is gone");
    assert_eq!(refused.code(), "not_found");
}

#[test]
fn a_context_is_of_what_was_known_in_its_turn_whatever_begins_afterwards() {
    let (mut host, live) = begin_session();
    let asked = r#"{"request":{"window":64000,"encoding":"estimate-1","frame":false}}"#;
    let whole = host.drive_on(&mut live.context(asked.into(), CountingMode::Estimate)).expect("a context");
    let mut context = live.context(asked.into(), CountingMode::Estimate);
    let mut step = context.begin(host.stamp());
    let again = loop {
        let needs = match step {
            Step::Done(done) => break done,
            Step::Requests(needs) => needs,
        };
        if needs.contains(&HostRequest::EndTurn { of: None }) {
            // Whoever comes next begins to read all anew, and is not done.
            live.open().begin(host.stamp());
        }
        let answers = needs.into_iter().map(|need| host.answer(need, false)).collect();
        step = context.next(host.now_ms(), answers);
    };
    assert!(again == Ok(whole), "another context than before");
}

#[test]
fn an_operation_that_has_ended_says_so() {
    let (mut host, live) = begin_session();
    let mut operation = live.refresh();
    assert_eq!(host.drive_on(&mut operation), Ok(()));
    let again = host.drive_on(&mut operation).expect_err("it has ended");
    assert_eq!(again.code(), "internal");
}
