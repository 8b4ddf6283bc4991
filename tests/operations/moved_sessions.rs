//! What one process does while another moves the session: it finds it again, and nothing that was acknowledged is lost.
//! Tries: src/operation/moves.rs

use std::rc::Rc;

use super::doctor::reports;
use super::host::{Host, Meanwhile};
use super::moves::{appending, closed_session, is_in_one_place, other_placement, store, whole_again};
use super::store::run_to_end;
use leftoff::operation::{Failure, HostRequest, HostResponse, Operation, SessionFiles, Step, Store};
use serde_json::json;

/// Another process moves it, to the end or up to a step.
fn moves(host: &mut Host, live: &SessionFiles, steps: usize) {
    let another = store();
    let there = another.unopened_session_at(&live.shown_folder(), live.placement(), "").expect("a place");
    let asked = json!({"to": other_placement(live), "title": "A plan"}).to_string();
    let moving = another.move_to(&there, asked);
    let _ = host.drive(moving, |at| if at == steps { Meanwhile::Dropped } else { Meanwhile::Nothing });
}

/// An operation, between whose steps something happens to what the host has.
pub fn drive<T>(
    host: &mut Host,
    mut operation: Operation<'_, T>,
    mut befalls: impl FnMut(&mut Host, usize),
) -> Result<T, leftoff::operation::Trouble> {
    let mut step = operation.begin(host.stamp());
    for at in 0.. {
        assert!(at < 1000, "it ends");
        let needs = match step {
            Step::Done(done) => return done,
            Step::Requests(needs) => needs,
        };
        befalls(host, at);
        let answers = needs.into_iter().map(|need| host.answer(need, false)).collect();
        step = operation.next(host.now_ms(), answers);
    }
    unreachable!("it ends")
}

fn open_session(host: &mut Host, store: &Rc<Store>, live: &SessionFiles) -> Rc<SessionFiles> {
    run_to_end(host, store.session(live.id()))
}

#[test]
fn what_is_appended_while_another_process_moves_the_session_is_there_once() {
    for is_home in [true, false] {
        for place in 0.. {
            let (mut host, live) = closed_session(is_home);
            let store = store();
            let mine = open_session(&mut host, &store, &live);
            let mut has_befallen = false;
            let told = drive(&mut host, mine.append_messages(appending("two")), |host, at| {
                if at == place {
                    has_befallen = true;
                    moves(host, &live, usize::MAX);
                }
            });
            let about = format!("home {is_home}, step {place}");
            let lines = told.unwrap_or_else(|trouble| panic!("{about}: {trouble}"));
            assert_eq!(String::from_utf8_lossy(&lines).matches(r#""content":"two""#).count(), 1, "{about}");
            is_in_one_place(&host, &["one", "two"], &about);
            // What was appended is known, and what comes then stands behind it.
            run_to_end(&mut host, mine.append_messages(appending("zero")));
            is_in_one_place(&host, &["one", "two", "zero"], &about);
            let told = run_to_end(&mut host, mine.examine());
            assert!(told.starts_with(r#"{"health":"ok""#), "{about}: {told}");
            if !has_befallen {
                break;
            }
        }
    }
}

#[test]
fn what_got_in_half_while_another_process_moves_the_session_is_there_once() {
    for is_home in [true, false] {
        let (mut host, live) = closed_session(is_home);
        let store = store();
        let mine = open_session(&mut host, &store, &live);
        let mut operation = mine.append_messages(appending("two"));
        let mut step = operation.begin(host.stamp());
        let mut has_befallen = false;
        let told = loop {
            let needs = match step {
                Step::Done(done) => break done,
                Step::Requests(needs) => needs,
            };
            let mut answers = Vec::new();
            for need in needs {
                match &need {
                    HostRequest::Append { file, bytes, .. }
                        if !has_befallen && file.name() == "messages.jsonl" =>
                    {
                        has_befallen = true;
                        let written = bytes.len() / 2;
                        host.append(&file.path, &bytes[..written]);
                        moves(&mut host, &live, usize::MAX);
                        let (code, written) = ("storage_failed".into(), Some(written as u64));
                        answers.push(HostResponse::Failed(Failure { code, written, ..Failure::default() }));
                    }
                    _ => answers.push(host.answer(need, false)),
                }
            }
            step = operation.next(host.now_ms(), answers);
        };
        assert!(has_befallen);
        let lines = told.unwrap_or_else(|trouble| panic!("home {is_home}: {trouble}"));
        assert_eq!(String::from_utf8_lossy(&lines).matches(r#""content":"two""#).count(), 1);
        is_in_one_place(&host, &["one", "two"], &format!("home {is_home}"));
    }
}

#[test]
fn a_session_that_another_process_began_to_move_is_found_and_goes_on() {
    for is_home in [true, false] {
        for steps in 0.. {
            let (mut host, live) = closed_session(is_home);
            let store = store();
            let mine = open_session(&mut host, &store, &live);
            let mut is_over = false;
            let another = super::moves::store();
            let there =
                another.unopened_session_at(&live.shown_folder(), live.placement(), "").expect("a place");
            let moving = another.move_to(&there, json!({"to": other_placement(&live)}).to_string());
            host.drive(moving, |at| {
                is_over |= at == steps;
                if at == steps { Meanwhile::Dropped } else { Meanwhile::Nothing }
            });
            let about = format!("home {is_home}, {steps} steps");
            let told = host.drive(mine.append_messages(appending("two")), |_| Meanwhile::Nothing);
            let is_there = told.expect("driven").is_ok();
            let all = r#"{"all":true,"archived":null}"#;
            let listed = run_to_end(&mut host, super::moves::store().list(all.into()));
            assert_eq!(listed.matches("\"id\":").count(), 1, "{about}: {listed}");
            // Another process that looks for it by its id opens the same one.
            let again = host.drive(super::moves::store().session(live.id()), |_| Meanwhile::Nothing);
            if let Ok(again) = again.expect("driven") {
                assert_eq!(again.id(), live.id(), "{about}");
            }
            whole_again(&mut host, &about);
            let expected: &[&str] = if is_there { &["one", "two"] } else { &["one"] };
            is_in_one_place(&host, expected, &about);
            let found = reports(&mut host, super::moves::store().doctor("{}".into()));
            assert_eq!(found[0]["id"], json!(live.id()), "{about}: {found:?}");
            if !is_over {
                break;
            }
        }
    }
}

#[test]
fn what_is_said_to_a_session_does_not_come_into_another_one_that_lies_where_it_lay() {
    let (mut host, live) = super::begin_session();
    let (mut theirs, another) = (Host::default(), super::live());
    run_to_end(&mut theirs, another.begin(r#"{"id":"019aaaca-0000-7000-8000-000000000002"}"#.into()));
    run_to_end(&mut theirs, another.append_messages(appending("theirs")));
    let (id, own) = (live.id(), host.files.clone());
    let is_inside = |path: &String| path.starts_with(super::FOLDER);
    host.files.retain(|path, _| !is_inside(path));
    host.files.extend(theirs.files.into_iter().filter(|(path, _)| is_inside(path)));
    for nth in 0..60 {
        // Some fail at a step, and some are dropped at one.
        let befalls = |at: usize| match nth % 3 {
            1 if at == nth / 3 => Meanwhile::Fails,
            2 if at == nth / 3 => Meanwhile::Dropped,
            _ => Meanwhile::Nothing,
        };
        let refused = host.drive(live.append_messages(appending("mine")), befalls);
        if nth % 3 == 0 {
            assert_eq!(refused.expect("driven").expect_err("it is gone").code(), "not_found");
        }
        assert_eq!((live.id(), super::stored_contents(&host)), (id.clone(), ["theirs".to_string()].into()));
    }
    host.files.retain(|path, _| !is_inside(path));
    host.files.extend(own.into_iter().filter(|(path, _)| is_inside(path)));
    run_to_end(&mut host, live.append_messages(appending("mine")));
    assert_eq!(super::stored_contents(&host).last().map(String::as_str), Some("mine"));
}
