//! A context reads as far as its budget reaches, whatever the texts are, and finds what has to be there.
//! Tries: src/context/reading.rs, src/context/build.rs, src/session/context_source.rs,
//! src/session/input_request.rs
#![cfg(feature = "o200k")]
#![allow(missing_docs)]
#![cfg(not(target_arch = "wasm32"))]

use crate::common;

use common::{append, build, call_message, host_count, result_message, text_message};
use leftoff::context::{Build, Context, Outcome, Request};
use leftoff::error::Code;
use leftoff::record::message::{Message, Role};
use leftoff::record::span::Span;
use leftoff::session::context_source::{CompactionPoint, ContextSource};
use leftoff::session::handle::Session;
use leftoff::session::input_request::InputRequest;
use leftoff::tokens::{Counting, Vocabulary};

const ESTIMATE_REQUEST: &str = r#"{"window":8000,"encoding":"estimate-1"}"#;

fn log_of(messages: Vec<Message>) -> (Session, Vec<u8>) {
    let (mut session, mut log) = (Session::new(None), Vec::new());
    append(&mut session, &mut log, messages);
    (session, log)
}

fn message_with_id(id: &str, role: Role, content: &str) -> Message {
    Message { id: id.into(), ..text_message(role, content) }
}

/// Enough assistant messages to push everything before them far from the end.
fn filling(bytes: usize) -> Vec<Message> {
    (0..bytes / 1000).map(|_| text_message(Role::Assistant, &"word and ".repeat(110))).collect()
}

fn contents(context: &Context) -> Vec<&str> {
    context.messages.iter().map(|message| message.content.as_str()).collect()
}

/// Where the lines of these messages lie.
fn spans(log: &[u8], ids: &[&str]) -> Vec<Span> {
    let (mut start, mut spans) = (0, Vec::new());
    for line in log.split(|byte| *byte == b'\n') {
        let span = Span { start, end: start + line.len() as u64 };
        let text = String::from_utf8_lossy(line);
        if ids.iter().any(|id| text.contains(&format!("\"id\":\"{id}\""))) {
            spans.push(span);
        }
        start = span.end + 1;
    }
    spans
}

#[test]
fn texts_whose_estimate_is_far_too_high_still_fill_the_budget() {
    let letters = "abcdefghijklmnopqrstuvwxyz".repeat(800);
    let each = tiktoken_rs::o200k_base().unwrap().encode_ordinary(&letters).len() as u32 + 4;
    let vocabulary = Vocabulary::o200k_base();
    let read = |messages: usize| {
        let (session, log) = log_of((0..messages).map(|_| text_message(Role::User, &letters)).collect());
        let context = build(session.source(), &log, r#"{"window":8000}"#, Some(&vocabulary)).unwrap();
        assert!(context.tokens_used <= context.token_budget);
        assert!(context.tokens_used + each > context.token_budget, "{}", context.tokens_used);
        (context.report.bytes_read, log.len())
    };
    let ((short, short_log), (long, long_log)) = (read(100), read(400));
    assert!(long_log > 3 * short_log && short < short_log as u64 / 2, "{short} of {short_log}");
    // Numbers in the lines of the longer one have more digits.
    assert!(short.abs_diff(long) < 100, "{short} {long}");
}

#[test]
fn counts_that_were_made_up_do_not_have_the_whole_log_read() {
    let line = |n: usize| {
        let content = "word and ".repeat(110);
        format!(
            r#"{{"id":"{n}","role":"user","content":"{content}","tokens":{{"count":0,"by":"cl100k_base"}}}}"#
        )
    };
    let log = (0..4000).map(|n| line(n) + "\n").collect::<String>().into_bytes();
    let mut session = Session::new(None);
    let found = session.messages().observe(&log, 0).unwrap();
    session.take_messages(found);
    let context = build(session.source(), &log, ESTIMATE_REQUEST, None).unwrap();
    assert!(context.report.bytes_read < log.len() as u64 / 4, "{}", context.report.bytes_read);
}

#[test]
fn a_host_that_counts_far_less_than_the_estimate_still_fills_the_budget() {
    let (session, log) = log_of([filling(4_000_000), vec![text_message(Role::User, "go on")]].concat());
    let context = build(session.source(), &log, r#"{"window":8000,"encoding":"sparing"}"#, None).unwrap();
    let used: u32 = contents(&context).iter().map(|text| host_count("sparing", text) + 4).sum();
    assert_eq!(used, context.tokens_used);
    assert!(used * 100 >= context.token_budget * 85, "{used} of {}", context.token_budget);
    assert!(context.report.bytes_read < log.len() as u64 / 2, "{}", context.report.bytes_read);
}

#[test]
fn what_has_to_be_there_is_found_wherever_the_reading_stops() {
    // The line lies across each place of the first chunk's beginning in turn.
    for behind in (63_000..67_000).step_by(40) {
        let mut messages = vec![message_with_id("rules", Role::System, &"be brief ".repeat(60))];
        messages.push(text_message(Role::User, "go"));
        messages.push(text_message(Role::Assistant, &"-".repeat(behind)));
        let (session, log) = log_of(messages);
        let context = build(session.source(), &log, r#"{"window":2000,"encoding":"sparing"}"#, None);
        let context = context.unwrap_or_else(|error| panic!("{behind}: {error:?}"));
        assert!(contents(&context)[0].starts_with("be brief"), "{behind}");
        let context = build(session.source(), &log, r#"{"window":600,"encoding":"estimate-1"}"#, None);
        let context = context.unwrap_or_else(|error| panic!("{behind}: {error:?}"));
        assert!(contents(&context).iter().any(|text| text.starts_with("be brief")), "{behind}");
    }
}

#[test]
fn a_system_message_that_was_written_again_stands_once_as_it_is_now() {
    let mut messages =
        vec![message_with_id("rules", Role::System, "old rules"), text_message(Role::User, "go")];
    messages.extend(filling(200_000));
    messages.push(Message { rev: 1, ..message_with_id("rules", Role::System, "new rules") });
    messages.extend(filling(200_000));
    let (session, log) = log_of(messages);
    let context = build(session.source(), &log, ESTIMATE_REQUEST, None).unwrap();
    let rules: Vec<&str> = contents(&context).into_iter().filter(|text| text.ends_with("rules")).collect();
    assert_eq!(rules, ["new rules"]);
}

#[test]
fn the_newest_user_message_is_there_even_if_only_its_revision_was_read() {
    let mut messages = vec![message_with_id("ask", Role::User, "ask")];
    messages.extend(filling(400_000));
    messages.push(Message { rev: 1, ..message_with_id("ask", Role::User, "ask again") });
    messages.extend(filling(5_000));
    let (session, log) = log_of(messages);
    let context = build(session.source(), &log, ESTIMATE_REQUEST, None).unwrap();
    assert!(context.report.unread_message_count > 0);
    assert!(contents(&context).contains(&"ask again"));
    assert!(!contents(&context).contains(&"ask"));
}

#[test]
fn a_branch_keeps_the_system_messages_and_pins_of_its_path_from_afar() {
    let branch = |id: &str| Message {
        branch: true,
        parent_id: Some("fork".into()),
        ..message_with_id(id, Role::User, id)
    };
    let mut messages = vec![
        message_with_id("rules", Role::System, "rules of all"),
        message_with_id("fork", Role::User, "fork"),
    ];
    messages.extend([
        message_with_id("pin", Role::Assistant, "pinned on the way"),
        message_with_id("left", Role::User, "left"),
    ]);
    messages.extend([message_with_id("left-rules", Role::System, "rules of the left"), branch("right")]);
    messages.extend([message_with_id("right-rules", Role::System, "rules of the right")]);
    messages
        .extend([call_message("look", &[("call", "Read")]), result_message("call", "Read", "pinned result")]);
    messages.extend(filling(400_000));
    messages.push(text_message(Role::User, "and now?"));
    for (place, message) in messages.iter_mut().enumerate().skip(1) {
        if message.id.is_empty() {
            message.id = format!("m{place}");
        }
    }
    let (session, log) = log_of(messages);
    let known = session.log_state();
    let pins = spans(&log, &["fork", "pin", "m8"]);
    assert_eq!(pins.len(), 3);
    let source = ContextSource { systems: known.systems.clone(), pins, ..session.source() };
    assert!(source.path.is_some());
    let context = build(source, &log, ESTIMATE_REQUEST, None).unwrap();
    assert!(context.report.unread_message_count > 0);
    let short = contents(&context).into_iter().filter(|text| text.len() < 60).collect::<Vec<_>>();
    let pinned_result = "[Pinned result of Read]\npinned result";
    assert_eq!(short, ["rules of all", "fork", "rules of the right", pinned_result, "and now?"]);
}

#[test]
fn a_branch_has_its_newest_user_message_however_far_back_it_lies() {
    let fork = |id: &str| Message {
        branch: true,
        parent_id: Some("fork".into()),
        ..message_with_id(id, Role::User, id)
    };
    let mut messages = vec![
        message_with_id("fork", Role::User, "fork"),
        message_with_id("left", Role::User, "left"),
        fork("right"),
    ];
    messages.extend(filling(400_000));
    let (session, log) = log_of(messages);
    assert!(session.source().newest_user.is_none(), "only its path tells");
    let context = build(session.source(), &log, ESTIMATE_REQUEST, None).unwrap();
    assert!(contents(&context).contains(&"right"));
    assert!(
        context.tokens_used <= context.token_budget && context.tokens_used * 100 >= context.token_budget * 85
    );
}

#[test]
fn what_a_summary_stands_for_is_not_said_behind_it_though_a_line_says_it_again() {
    let again =
        r#"{"id":"last","role":"assistant","content":"summed up","timestamp":"2026-01-01T00:00:00Z"}"#;
    let (session, mut log) = log_of(vec![
        message_with_id("first", Role::User, "asked long ago"),
        message_with_id("last", Role::Assistant, "summed up"),
        message_with_id("next", Role::User, "asked then"),
        message_with_id("answer", Role::Assistant, "answered then"),
    ]);
    log.extend(format!("{again}\n").into_bytes());
    let end_byte = spans(&log, &["last"]).first().map(|line| line.end);
    let compacted = CompactionPoint { last_message_id: "last".into(), end_byte, summary: None };
    let source = ContextSource { end: log.len() as u64, compaction: Some(compacted), ..session.source() };
    let request = r#"{"window":8000,"recall":0,"encoding":"estimate-1"}"#;
    let context = build(source, &log, request, None).unwrap();
    assert_eq!(contents(&context)[1..], ["asked then", "answered then"]);
}

#[test]
fn a_result_whose_call_lies_farther_back_is_not_called_one_without_a_call() {
    let rule = |call: Option<Message>| {
        let mut messages = vec![text_message(Role::User, "go")];
        messages.extend(call);
        messages.push(Message { id: "result".into(), ..result_message("call", "Read", "found") });
        messages.extend(filling(if messages.len() == 2 { 1_000 } else { 12_000 }));
        let (session, log) = log_of(messages);
        let context =
            build(session.source(), &log, r#"{"window":3000,"encoding":"estimate-1"}"#, None).unwrap();
        context.report.messages.iter().find(|decision| decision.id == "result").map(|decision| decision.rule)
    };
    assert_eq!(rule(None), Some("result-without-call"));
    // The line of the call reaches beyond what is read.
    assert_eq!(rule(Some(call_message(&"-".repeat(100_000), &[("call", "Read")]))), Some("call-not-read"));
}

#[test]
fn a_summary_stands_only_for_what_is_left_out() {
    // Shortened, the newest results fit with everything else; pruned-tools would leave them whole.
    let mut messages = vec![text_message(Role::User, "go")];
    for id in ["a", "b", "c"] {
        messages.extend([
            call_message("", &[(id, "Grep")]),
            result_message(id, "Grep", &"some words ".repeat(800)),
        ]);
    }
    let (session, log) = log_of(messages);
    let context = build(session.source(), &log, r#"{"window":4000,"encoding":"estimate-1"}"#, None).unwrap();
    assert_eq!((context.strategy.as_str(), context.included_message_count), ("recent-plus-summary", 7));
    assert_eq!(context.messages.len(), 7);
}

#[test]
fn bytes_that_were_not_asked_for_are_refused() {
    let (session, log) = log_of(filling(200_000));
    let mut build = Build::new(Request::from_json(ESTIMATE_REQUEST).unwrap(), session.source());
    let refused = |build: &mut Build, start: u64, bytes: &[u8]| {
        assert_eq!(build.take_bytes(start, bytes).unwrap_err().code, Code::InvalidRequest);
    };
    refused(&mut build, 0, &log);
    let Ok(Outcome::Needs(InputRequest::Bytes { range })) = build.next(None) else {
        panic!("no bytes are needed")
    };
    let asked = &log[range.start as usize..range.end as usize];
    refused(&mut build, range.start, &asked[1..]);
    refused(&mut build, range.start, &[]);
    refused(&mut build, range.start - 1, asked);
    build.take_bytes(range.start, asked).unwrap();
    refused(&mut build, range.start, asked);
}

#[test]
fn a_vocabulary_that_comes_late_gives_the_same_context() {
    let vocabulary = Vocabulary::o200k_base();
    let (mut session, stamp) = (Session::new(None), common::stamp(1));
    let messages =
        vec![text_message(Role::Assistant, "hello"), text_message(Role::User, &"ask for it ".repeat(9000))];
    let staged =
        session.stage_messages(messages, &stamp, Counting::with_vocabulary(Some(&vocabulary))).unwrap();
    session.commit_messages(0).unwrap();
    for window in [500, 2000, 400_000] {
        let request = format!(r#"{{"window":{window}}}"#);
        let early = build(session.source(), &staged.bytes, &request, Some(&vocabulary)).unwrap();
        let mut late = Build::new(Request::from_json(&request).unwrap(), session.source());
        let mut known = None;
        let context = loop {
            match late.next(known).unwrap() {
                Outcome::Ready(context) => break context,
                Outcome::Needs(InputRequest::Bytes { range }) => {
                    late.take_bytes(range.start, &staged.bytes[range.start as usize..range.end as usize])
                        .unwrap();
                }
                Outcome::Needs(InputRequest::Counts { .. }) => known = Some(&vocabulary),
                Outcome::Needs(needs) => panic!("{needs:?}"),
            }
        };
        assert_eq!(context, early, "{window}");
    }
}
