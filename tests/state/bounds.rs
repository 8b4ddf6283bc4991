//! What is known of a long conversation: so much and no more, the newest of it, and nothing that never was.
//! Tries: src/state/mod.rs

use super::{call, failed_result, fold_messages, texts};
use crate::common::{append, learn, result_message, text_message};
use leftoff::record::message::{Assistant, Message, Role};
use leftoff::session::handle::Session;
use leftoff::state::FactKind;

#[test]
fn however_much_was_done_the_newest_of_it_is_known_and_no_more_than_so_much() {
    let file = |n: usize| call(&n.to_string(), "Write", &format!(r#"{{"file_path":"/p/{n}.rs"}}"#));
    let command = |n: usize| call(&n.to_string(), "Bash", &format!(r#"{{"command":"make {n}"}}"#));
    let task = |n: usize| call(&n.to_string(), "TaskCreate", &format!(r#"{{"subject":"task {n}"}}"#));
    let made = |n: usize| format!("Task #{n} created: task {n}");
    type Does<'a> = (&'a dyn Fn(usize) -> [Message; 2], fn(FactKind) -> bool);
    let does: [Does<'_>; 3] = [
        (&|n| [file(n), result_message(&n.to_string(), "Write", "")], FactKind::is_file),
        (&|n| [command(n), failed_result(&n.to_string(), "Bash", "Exit code 1")], FactKind::is_command),
        (&|n| [task(n), result_message(&n.to_string(), "TaskCreate", &made(n))], |kind| {
            kind == FactKind::Open
        }),
    ];
    for (does, is_it) in does {
        let after =
            |count: usize| texts(&fold_messages(&(0..count).flat_map(does).collect::<Vec<_>>()), is_it);
        let (some, more) = (after(3000), after(3100));
        assert!(some.len() > 1 && some.len() < 3000, "{}", some.len());
        assert_eq!(some.len(), more.len());
        assert!(more.last().is_some_and(|last| last.contains("3099")), "{more:?}");
    }
}

#[test]
fn of_sentences_those_that_say_least_are_forgotten_and_none_before_there_are_too_many() {
    let sentence = |n: usize| text_message(Role::User, &format!("We must never use src/a{n}.rs here."));
    let after = |count: usize| {
        texts(&fold_messages(&(0..count).map(sentence).collect::<Vec<_>>()), FactKind::is_sentence).len()
    };
    assert_eq!([199, 200, 201, 300].map(after), [199, 200, 200, 200]);
}

#[test]
fn of_calls_that_wait_the_newest_are_known() {
    let ids: Vec<String> = (0..200).map(|n| n.to_string()).collect();
    let file = |id: &String| {
        call(id, "Write", &format!(r#"{{"file_path":"/p/{id}.rs"}}"#)).assistant.expect("it calls").tool_calls
    };
    let asked = Assistant { tool_calls: ids.iter().flat_map(file).collect(), ..Assistant::default() };
    let asked = Message { assistant: Some(asked), ..text_message(Role::Assistant, "") };
    let answers = ids.iter().map(|id| result_message(id, "Write", ""));
    let made =
        texts(&fold_messages(&[asked].into_iter().chain(answers).collect::<Vec<_>>()), FactKind::is_file);
    assert!(made.len() > 1 && made.len() < ids.len(), "{}", made.len());
    let newest = &ids[ids.len() - made.len()..];
    assert_eq!(made, newest.iter().map(|id| format!("created /p/{id}.rs")).collect::<Vec<_>>());
}

#[test]
fn what_was_not_run_changed_nothing_and_the_others_did() {
    let calls =
        [call("1", "Write", r#"{"file_path":"a.rs"}"#), call("2", "Write", r#"{"file_path":"b.rs"}"#)];
    let mut denied = result_message("1", "Write", "denied");
    denied.tool.as_mut().expect("a result").not_run = true;
    let all = [&calls[..], &[denied, result_message("2", "Write", "")]].concat();
    assert_eq!(texts(&fold_messages(&all), FactKind::is_file), ["created b.rs"]);
    assert_eq!(
        texts(&fold_messages(&[all, vec![result_message("1", "Write", "")]].concat()), FactKind::is_file),
        ["created b.rs"]
    );
}

#[test]
fn of_a_text_that_lies_in_a_blob_its_beginning_says_something() {
    let (mut session, mut log) = (Session::new(None), Vec::new());
    let text = format!("We decided to use src/a.rs, never src/b.rs.\n{}", "and so on ".repeat(40_000));
    append(&mut session, &mut log, vec![text_message(Role::Assistant, &text)]);
    assert!(log.len() < text.len() / 2, "it lies in a blob");
    learn(&mut session, &log);
    let state = session.source().state;
    assert_eq!(
        texts(&state, FactKind::is_sentence),
        ["decision We decided to use src/a.rs, never src/b.rs."]
    );
    assert!(state.first_fact(FactKind::Status).is_some_and(|status| status.text.starts_with("We decided")));
}
