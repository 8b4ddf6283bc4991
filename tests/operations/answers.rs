//! What a host answers: a part of what was asked for, or that it is broken.
//! Tries: src/operation/host_protocol.rs, src/operation/io.rs, src/operation/unstored_context.rs

use super::host::{Host, Meanwhile};
use super::{begin_session, drafts, goes_on, leaving, moves, operations, store, stored_contents};
use leftoff::operation::{CountingMode, HostRequest, Operation, Step, context_of};
use leftoff::tokens::Vocabulary;
use serde_json::{Value, json};
use std::rc::Rc;

/// Of what is broken nobody may go on as if nothing were there.
fn is_told_of_at_each_step<T>(
    about: &str,
    mut begins: impl FnMut(&mut dyn FnMut(&mut Host, Operation<'static, T>) -> bool),
) {
    for place in 0.. {
        let mut is_over = false;
        begins(&mut |host, operation| {
            let mut has_befallen = false;
            let done = host.drive(operation, |at| {
                has_befallen |= at == place;
                if at == place { Meanwhile::Bug } else { Meanwhile::Nothing }
            });
            let code = done.expect("driven").err().map(|trouble| trouble.code().to_string());
            is_over = !has_befallen;
            let broken = std::mem::take(&mut host.unanswered);
            let expected = (!broken.is_empty()).then_some("internal");
            assert_eq!(code.as_deref(), expected, "{about}, step {place}: {broken}");
            has_befallen
        });
        if is_over {
            break;
        }
    }
}

#[test]
fn a_bug_is_told_wherever_it_shows() {
    for (name, begins) in operations() {
        is_told_of_at_each_step(name, |drive| {
            let (mut host, live) = begin_session();
            drive(&mut host, begins(&live));
        });
    }
}

#[test]
fn a_bug_of_a_store_is_told_wherever_it_shows() {
    for (name, begins) in store::operations() {
        is_told_of_at_each_step(name, |drive| {
            let (mut host, store) = store::begin_store();
            drive(&mut host, begins(&store));
        });
    }
    is_told_of_at_each_step("doctor", |drive| {
        let (mut host, store) = store::begin_store();
        drive(&mut host, store.doctor("{}".into()).map(drop));
    });
    is_told_of_at_each_step("rest of one that is open", |drive| {
        let (mut host, store) = store::begin_store();
        store::run_to_end(&mut host, store.current());
        drive(&mut host, store.pause_idle());
    });
    is_told_of_at_each_step("settings", |drive| {
        let (mut host, _) = store::begin_store();
        drive(&mut host, store::setup(None).settings().map(drop));
    });
    is_told_of_at_each_step("recall in the order of meaning", |drive| {
        let (mut host, store) = store::begin_store();
        for port in [7443, 7444] {
            let live = store::run_to_end(&mut host, store::create(&store, "{}"));
            let said = format!("The zephyr gateway listens on port {port}.");
            store::run_to_end(&mut host, live.append_messages(drafts(&said)));
        }
        let question = "On which port does the zephyr gateway listen?";
        let request = r#"{"embeds":true,"encoding":"estimate-1"}"#;
        drive(&mut host, store.recall(question.into(), request.into(), &leaving()).map(drop));
    });
    for (name, is_home, begins) in moves::operations() {
        is_told_of_at_each_step(name, |drive| {
            let (mut host, live) = moves::closed_session(is_home);
            drive(&mut host, begins(&moves::store(), &live));
        });
    }
}

#[test]
fn who_reads_a_part_at_a_time_reads_the_same() {
    for (name, begins) in operations() {
        let read = [None, Some(1000)].map(|most| {
            let (mut host, live) = begin_session();
            host.max_read_bytes = most;
            let done = host.drive(begins(&live), |_| Meanwhile::Nothing).expect("driven");
            done.unwrap_or_else(|trouble| panic!("{name}: {trouble}"));
            let found = (stored_contents(&host), host.pages.concat().replace("][", ","));
            goes_on(&mut host, &live, name);
            found
        });
        assert!(read[0] == read[1], "{name}");
    }
}

#[test]
fn messages_that_are_nowhere_stored_are_whole_in_a_context_however_large() {
    let large = "a line of it\n".repeat(30_000);
    let messages = json!([{"role": "user", "content": "read it"}, {"role": "assistant", "content": large}]);
    let asked = json!({"request": {"window": 1_000_000, "encoding": "estimate-1"}}).to_string();
    let mut host = Host::default();
    let context = host.drive_on(&mut context_of(messages.to_string(), asked, CountingMode::Estimate));
    let context: Value = serde_json::from_str(&context.expect("built")).expect("JSON");
    assert_eq!(context["messages"][1]["content"].as_str(), Some(&*large));
}

#[test]
fn who_summarizes_messages_that_are_nowhere_stored_is_told_each_as_it_was_written_last() {
    let message = |id: &str, rev: u32, content: &str| json!({ "id": id, "rev": rev, "role": "user", "content": content });
    let mut messages = vec![message("a", 0, "the old words"), message("a", 1, "the new words")];
    let long = "about a file and its tests ".repeat(40);
    messages.extend((0..60).map(|turn| message(&format!("m{turn}"), 0, &format!("turn {turn} {long}"))));
    let asked = json!({ "request": { "window": 8000, "encoding": "estimate-1" }, "summarizes": true });
    let (mut host, mut told) = (Host::default(), String::new());
    let mut operation =
        context_of(Value::from(messages).to_string(), asked.to_string(), CountingMode::Estimate);
    let mut step = operation.begin(host.stamp());
    while let Step::Requests(needs) = step {
        told.extend(needs.iter().filter_map(|need| match need {
            HostRequest::Summary { user, .. } => Some(user.as_str()),
            _ => None,
        }));
        let answers = needs.into_iter().map(|need| host.answer(need, false)).collect();
        step = operation.next(host.now_ms(), answers);
    }
    assert!(told.contains("the new words") && !told.contains("the old words"), "{told}");
}

#[test]
fn a_setup_says_whether_messages_are_counted() {
    let vocabulary = || Some(Rc::new(Vocabulary::o200k_base()));
    for (setup, given, expected) in [
        (r#"{"countTokens":false}"#, vocabulary(), "off"),
        (r#"{"countTokens":false}"#, None, "off"),
        (r#"{"countTokens":true}"#, vocabulary(), "exact"),
        ("{}", vocabulary(), "exact"),
        ("{}", None, "estimate"),
        ("", None, "estimate"),
    ] {
        let found = match CountingMode::of_setup(setup, given) {
            CountingMode::Off => "off",
            CountingMode::Estimate => "estimate",
            CountingMode::Exact(_) => "exact",
        };
        assert_eq!(found, expected, "{setup}");
    }
}
