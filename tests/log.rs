//! A log as its writer knows it: it takes no batch for written that it was not shown, and a second try harms nothing.
//! Tries: src/session/log.rs
#![cfg(not(target_arch = "wasm32"))]

use crate::common;

use common::{stamp, text_message};
use leftoff::error::Code;
use leftoff::record::message::Role;
use leftoff::session::handle::Session;
use leftoff::tokens::Counting;

/// A session that has observed these bytes.
fn observe_log(log: &str) -> Session {
    let mut session = Session::new(None);
    let found = session.messages().observe(log.as_bytes(), 0).expect("the first bytes");
    session.take_messages(found);
    session
}

fn stage(session: &mut Session, text: &str) -> Result<Vec<u8>, Code> {
    let staged = session.stage_messages(
        vec![text_message(Role::User, text)],
        &stamp(7),
        Counting::with_vocabulary(None),
    );
    staged.map(|staged| staged.bytes).map_err(|error| error.code)
}

fn line(text: &str) -> String {
    let bytes = stage(&mut observe_log(""), text).expect("nothing else is staged");
    String::from_utf8(bytes).expect("a line is text")
}

fn commit(session: &mut Session, offset: u64) -> Result<usize, Code> {
    let found = session.messages().commit(offset).map_err(|error| error.code)?;
    let count = found.len();
    session.take_messages(found);
    Ok(count)
}

#[test]
fn a_commit_elsewhere_than_at_the_observed_end_is_refused_and_the_batch_stays_open() {
    let before = line("before");
    let end = before.len() as u64;
    let mut session = observe_log(&before);
    stage(&mut session, "mine").expect("nothing else is staged");
    for offset in [0, end - 1, end + 1, end + 1_000] {
        assert_eq!(commit(&mut session, offset), Err(Code::ObserveFirst), "{offset}");
        assert_eq!(stage(&mut session, "another"), Err(Code::BatchOpen), "{offset}");
    }
    assert_eq!(commit(&mut session, end), Ok(1));
    assert_eq!(session.log_state().messages, 2);
}

#[test]
fn what_stood_open_before_a_batch_is_known_as_what_it_is() {
    let before = line("before it, told at more length than what follows");
    let other = line("another");
    for open in [before.trim_end(), &format!("{other}{}", before.trim_end()), "{\"id\":\"torn", ""] {
        let mut session = observe_log(open);
        let mine = stage(&mut session, "mine").expect("nothing else is staged");
        session.commit_messages(open.len() as u64).expect("they are at its end");
        let whole = [open.as_bytes(), &mine].concat();
        let again = observe_log(std::str::from_utf8(&whole).expect("UTF-8"));
        let told = |session: &Session| {
            let known = session.log_state();
            (known.messages, known.user_messages, known.bytes, known.last_id.clone(), known.tokens)
        };
        assert_eq!(told(&session), told(&again), "{open}");
    }
}

#[test]
fn a_batch_of_which_nobody_can_say_is_committed_only_once_it_was_seen() {
    let mut session = observe_log("");
    stage(&mut session, "mine").expect("nothing else is staged");
    let again = session.messages().mark_in_doubt().expect("a batch is open");
    assert_eq!(commit(&mut session, 0), Err(Code::ObserveFirst), "nobody has looked");
    let found = session.messages().observe(&again, 0).expect("what was appended");
    session.take_messages(found);
    assert_eq!(commit(&mut session, 0), Ok(0));
    assert_eq!(session.log_state().messages, 1);
}

#[test]
fn a_second_try_begins_with_a_line_feed_so_that_half_a_line_before_it_costs_nothing() {
    let before = line("before");
    for log in ["", &before, before.trim_end()] {
        let mut session = observe_log(log);
        let first = stage(&mut session, "mine").expect("nothing else is staged");
        for written in [0, 1, first.len() / 2, first.len() - 1, first.len()] {
            let mut session = observe_log(log);
            let first = stage(&mut session, "mine").expect("nothing else is staged");
            let again = session.messages().mark_in_doubt().expect("a batch is open");
            assert_eq!(session.messages().mark_in_doubt().expect("it is still open"), again);
            assert!(again.starts_with(b"\n") && !again.starts_with(b"\n\n"), "{written} of {log:?}");
            let gained = [&first[..written], &again].concat();
            let found = session.messages().observe(&gained, log.len() as u64).expect("what was appended");
            session.take_messages(found);
            assert_eq!(commit(&mut session, 0), Ok(0), "{written} of {log:?}");
            let whole = [log.as_bytes(), &gained].concat();
            let mut reader = observe_log(std::str::from_utf8(&whole).expect("text"));
            let tail = reader.messages().observe_tail();
            reader.take_messages(tail);
            let expected = if log.is_empty() { 1 } else { 2 };
            assert_eq!(reader.log_state().messages, expected, "{written} of {log:?}");
        }
    }
}

#[test]
fn a_log_that_a_newer_version_wrote_to_is_read_and_not_written() {
    let newer =
        r#"{"v":2,"id":"a","role":"user","content":"later","toolCallId":"c","tool":"t"}"#.to_owned() + "\n";
    let mut session = observe_log(&newer);
    assert_eq!((session.log_state().messages, session.is_newer()), (1, true));
    assert_eq!(stage(&mut session, "mine"), Err(Code::NewerVersion));

    let mut session = observe_log("");
    let found = session.tools().observe(newer.as_bytes(), 0).expect("the first bytes");
    session.take_tools(found);
    assert!(session.has_executed("c") && session.is_newer());
    assert_eq!(stage(&mut session, "mine"), Err(Code::NewerVersion));
    let execution = r#"{"toolCallId":"d","tool":"t"}"#;
    let staged = session.stage_execution(execution, &stamp(1)).map_err(|error| error.code);
    assert_eq!(staged, Err(Code::NewerVersion));
}

#[test]
fn of_an_id_whose_first_line_is_a_revision_another_line_of_that_revision_is_a_double() {
    let of = |rev: u32, text: &str| {
        format!("{{\"v\":1,\"id\":\"a\",\"rev\":{rev},\"role\":\"user\",\"content\":\"{text}\"}}\n")
    };
    for (lines, doubles) in [
        ([of(1, "one"), of(1, "one")], 0),
        ([of(1, "one"), of(1, "other")], 1),
        ([of(1, "one"), of(2, "other")], 0),
        ([of(0, "one"), of(0, "other")], 1),
        ([of(0, "one"), of(1, "other")], 0),
    ] {
        let mut session = Session::new(None);
        let found = session.messages().observe(lines.concat().as_bytes(), 0).expect("the first bytes");
        let problems = session.take_messages(found);
        assert_eq!(problems.len(), doubles, "{lines:?}");
        assert_eq!(session.log_state().messages, 1 + doubles as u64, "both are kept: {lines:?}");
    }
}
