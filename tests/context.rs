//! The laws of a context, on grown histories: within the budget, paired, used, in order.
//! Tries: src/context/, src/context/strategies/
#![cfg(feature = "interop")]
#![allow(missing_docs)]
#![cfg(not(target_arch = "wasm32"))]

use crate::common;

use std::collections::BTreeSet;

use common::{append, call_message, learn, result_message, text_message};
use leftoff::context::{Action, Context};
use leftoff::error::{Code, Error};
use leftoff::record::message::{Message, Role};
use leftoff::session::handle::Session;
use leftoff::tokens::{cost, estimate};
use proptest::prelude::*;

fn build(session: &Session, log: &[u8], request: &str) -> Result<Context, Error> {
    common::build(session.source(), log, request, None)
}

fn grow_session(turns: &[(u16, Vec<(u8, u16)>)]) -> (Session, Vec<u8>) {
    let (mut session, mut log) = (Session::new(None), Vec::new());
    for (turn, (words, steps)) in turns.iter().enumerate() {
        append(
            &mut session,
            &mut log,
            vec![text_message(Role::User, &"ask ".repeat(usize::from(*words) + 1))],
        );
        for (place, (kind, size)) in steps.iter().enumerate() {
            let ids = [format!("{turn}-{place}-a"), format!("{turn}-{place}-b")];
            let content = "result line\n".repeat(usize::from(*size));
            let drafts = match kind % 4 {
                0 => vec![text_message(Role::Assistant, &content)],
                1 => vec![call_message("", &[(&ids[0], "Read")]), result_message(&ids[0], "Read", &content)],
                2 => vec![
                    call_message("two", &[(&ids[0], "Bash"), (&ids[1], "Grep")]),
                    result_message(&ids[1], "Grep", &content),
                    result_message(&ids[0], "Bash", &content),
                ],
                _ => vec![call_message("never answered", &[(&ids[0], "Bash")])],
            };
            append(&mut session, &mut log, drafts);
        }
    }
    learn(&mut session, &log);
    (session, log)
}

fn real_cost(messages: &[Message]) -> u32 {
    messages
        .iter()
        .map(|message| cost::message(&Message { tokens: None, ..message.clone() }, None).tokens)
        .sum()
}

fn check_laws(session: &Session, log: &[u8], context: &Context) {
    assert!(context.tokens_used <= context.token_budget);
    assert_eq!(context.tokens_used, real_cost(&context.messages), "what is used is what the messages cost");
    let mut open = BTreeSet::new();
    for message in &context.messages {
        if let Some(tool) = &message.tool {
            assert!(open.remove(&tool.call_id), "a result without its call");
        } else {
            assert!(open.is_empty(), "a call without its result");
        }
        open.extend(message.tool_calls().iter().map(|call| call.id.clone()));
    }
    assert!(open.is_empty(), "a call without its result");
    let ids: Vec<&str> = ids_of(log);
    let order: Vec<usize> = context
        .messages
        .iter()
        .filter(|message| !message.id.is_empty() && message.role != Some(Role::Tool))
        .map(|message| ids.iter().position(|id| *id == message.id).expect("it is of this log"))
        .collect();
    assert!(order.is_sorted(), "order is kept");
    let newest_user = session.source().newest_user.expect("each history has a user");
    let newest_user = &log[newest_user.start as usize..newest_user.end as usize];
    let newest_user =
        ids.iter().find(|id| String::from_utf8_lossy(newest_user).contains(&format!("\"id\":\"{id}\"")));
    assert!(
        context.messages.iter().any(|message| Some(&message.id.as_str()) == newest_user),
        "the newest user message"
    );
}

// Either 85 percent of the budget is used, or the next older step would not have fitted even at its least.
fn check_use(context: &Context, least_of_next_step: Option<u32>) {
    let is_used = u64::from(context.tokens_used) * 100 >= u64::from(context.token_budget) * 85;
    let fits = |least: u32| context.tokens_used + least <= context.token_budget;
    assert!(
        is_used || !least_of_next_step.is_some_and(fits),
        "{} of {}",
        context.tokens_used,
        context.token_budget
    );
}

fn ids_of(log: &[u8]) -> Vec<&str> {
    log.split(|byte| *byte == b'\n')
        .filter_map(|line| core::str::from_utf8(line).ok()?.split("\"id\":\"").nth(1)?.split('"').next())
        .collect()
}

// The newest step that is left out: the decisions of one step follow each other, so its least cost is their sum.
fn next_step(context: &Context, session_log: &[u8]) -> Option<u32> {
    let decisions = &context.report.messages;
    let last = decisions.iter().rposition(|decision| decision.rule == "did-not-fit")?;
    let is_result = |id: &str| {
        let line = session_log
            .split(|b| *b == b'\n')
            .find(|line| String::from_utf8_lossy(line).contains(&format!("\"id\":\"{id}\"")));
        id.is_empty() || line.is_some_and(|line| String::from_utf8_lossy(line).contains("\"role\":\"tool\""))
    };
    let first = (0..=last).rev().find(|place| !is_result(&decisions[*place].id)).unwrap_or(0);
    Some(decisions[first..=last].iter().map(|decision| decision.tokens).sum())
}

fn turns() -> impl Strategy<Value = Vec<(u16, Vec<(u8, u16)>)>> {
    let steps = proptest::collection::vec((any::<u8>(), 0..120u16), 0..12);
    proptest::collection::vec((0..60u16, steps), 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_context_keeps_the_laws(turns in turns(), window in 500..20_000u32) {
        let (session, log) = grow_session(&turns);
        let request = format!(r#"{{"window":{window},"encoding":"estimate-1"}}"#);
        match build(&session, &log, &request) {
            Ok(context) => {
                check_laws(&session, &log, &context);
                check_use(&context, next_step(&context, &log));
                prop_assert_eq!(&build(&session, &log, &request), &Ok(context), "the same input, the same context");
            }
            Err(error) => prop_assert_eq!(error.code, Code::BudgetTooSmall),
        }
    }

    #[test]
    fn a_message_that_one_budget_keeps_a_budget_of_twice_the_size_keeps(turns in turns(), window in 500..8_000u32) {
        let (session, log) = grow_session(&turns);
        let kept = |window: u32| {
            let context = build(&session, &log, &format!(r#"{{"window":{window},"encoding":"estimate-1"}}"#)).ok()?;
            Some(context.messages.into_iter().map(|message| message.id).filter(|id| !id.is_empty()).collect::<BTreeSet<_>>())
        };
        if let Some(small) = kept(window) {
            prop_assert!(kept(window * 2).is_some_and(|large| small.is_subset(&large)));
        }
    }
}

#[test]
fn the_host_counts_for_an_encoding_that_the_core_does_not_know() {
    let (session, log) = grow_session(&[(5, vec![(2, 100), (1, 50)]), (3, vec![(0, 10)])]);
    let context =
        build(&session, &log, r#"{"window":4000,"encoding":"made-up","system":"be brief"}"#).unwrap();
    let parts = context.messages.iter().map(|message| cost::parts(message, None));
    let price = |parts: cost::CountedParts<'_>| {
        parts.fixed_tokens + parts.texts.iter().map(|text| estimate(text) + 1).sum::<u32>()
    };
    assert_eq!(context.tokens_used, parts.map(price).sum::<u32>());
    assert_eq!(context.report.budget.system_prompt_tokens, estimate("be brief") + 1);
}

#[test]
fn a_budget_that_nothing_fits_says_what_it_needs() {
    let (session, log) = grow_session(&[(20, vec![])]);
    let error = build(&session, &log, r#"{"window":8,"encoding":"estimate-1"}"#).unwrap_err();
    assert_eq!(error.code, Code::BudgetTooSmall);
    assert!(error.message.contains("needs at least"), "{}", error.message);
    // A long message need not be there whole.
    let (session, log) = grow_session(&[(9000, vec![])]);
    let error = build(&session, &log, r#"{"window":8,"encoding":"estimate-1"}"#).unwrap_err();
    let needed = error.message.rsplit(' ').find_map(|word| word.parse::<u32>().ok()).unwrap();
    assert!(needed < 200, "{}", error.message);
}

#[test]
fn a_long_user_message_is_cut_to_what_is_left() {
    let (session, log) = grow_session(&[(60, vec![(0, 5)]), (9000, vec![])]);
    let context = build(&session, &log, r#"{"window":2000,"encoding":"estimate-1"}"#).unwrap();
    check_laws(&session, &log, &context);
    assert!(context.messages.iter().any(|message| message.content.as_str().contains("bytes left out")));
    assert!(context.tokens_used * 100 >= context.token_budget * 85);
}

#[test]
fn a_context_reads_bytes_in_proportion_to_the_budget() {
    let turn = |_| (10, vec![(1, 100), (2, 20)]);
    let read = |turns: u32| {
        let (session, log) = grow_session(&(0..turns).map(turn).collect::<Vec<_>>());
        (
            build(&session, &log, r#"{"window":8000,"encoding":"estimate-1"}"#).unwrap().report.bytes_read,
            log.len(),
        )
    };
    let ((small, small_log), (large, large_log)) = (read(300), read(3000));
    assert!(large_log > 9 * small_log);
    assert!(small.abs_diff(large) < 64 * 1024, "{small} {large}");
}

#[test]
fn a_message_that_was_written_again_stands_once_at_its_first_place() {
    let (mut session, mut log) = (Session::new(None), Vec::new());
    let partial = Message { id: "a".into(), partial: true, ..text_message(Role::Assistant, "half") };
    append(
        &mut session,
        &mut log,
        vec![text_message(Role::User, "go"), partial, text_message(Role::User, "and?")],
    );
    let ask = r#"{"window":4000,"encoding":"estimate-1"}"#;
    let content =
        |context: Context| context.messages.iter().map(|m| m.content.as_str().to_owned()).collect::<Vec<_>>();
    let interrupted = content(build(&session, &log, ask).unwrap());
    assert_eq!(interrupted, ["go", "half\n[This answer was interrupted.]", "and?"]);
    let whole = Message { id: "a".into(), rev: 1, ..text_message(Role::Assistant, "whole") };
    append(&mut session, &mut log, vec![whole]);
    assert_eq!(content(build(&session, &log, ask).unwrap()), ["go", "whole", "and?"]);
    assert_eq!(session.log_state().messages, 3);
}

#[test]
fn a_revision_far_from_its_first_line_stands_for_it() {
    for role in [Role::System, Role::User] {
        for is_early in [true, false] {
            let (mut session, mut log) = (Session::new(None), Vec::new());
            let first = Message { id: "a".into(), ..text_message(role, "old") };
            let revised = Message { id: "a".into(), rev: 1, ..text_message(role, "new") };
            append(&mut session, &mut log, vec![first]);
            if is_early {
                append(&mut session, &mut log, vec![revised.clone()]);
            }
            for _ in 0..500 {
                append(&mut session, &mut log, vec![text_message(Role::Assistant, &"word ".repeat(200))]);
            }
            if !is_early {
                append(&mut session, &mut log, vec![revised]);
            }
            if role == Role::System {
                append(&mut session, &mut log, vec![text_message(Role::User, "and now?")]);
            }
            let context = build(&session, &log, r#"{"window":4000,"encoding":"estimate-1"}"#).unwrap();
            assert!(context.report.bytes_read < log.len() as u64 / 2);
            let found: Vec<&str> = context
                .messages
                .iter()
                .filter(|message| message.id == "a")
                .map(|message| message.content.as_str())
                .collect();
            assert_eq!(found, ["new"], "{role:?} revised early: {is_early}");
        }
    }
}

#[test]
fn a_strategy_is_tried_from_the_budget_on_that_it_needs() {
    let long = |turn: u16| (40, vec![(1, 60 + turn), (0, 10)]);
    let (session, log) = grow_session(&(0..200).map(long).collect::<Vec<_>>());
    let why = |budget: u32, strategy: &str| {
        let request = format!(r#"{{"window":{budget},"reserve":0,"encoding":"estimate-1"}}"#);
        let context = build(&session, &log, &request).unwrap();
        let rejected = context.report.rejected.into_iter().find(|one| one.strategy == strategy);
        rejected.map_or_else(|| format!("{strategy} served"), |one| one.why)
    };
    let below = "the budget is below what the strategy needs";
    for (strategy, needs) in [("pruned-tools", 2000), ("recent-plus-summary", 1500), ("minimal-state", 400)] {
        assert_eq!(why(needs - 1, strategy), below, "{strategy}");
        assert_ne!(why(needs, strategy), below, "{strategy}");
    }
}

#[test]
fn a_summary_stands_behind_the_system_messages_and_before_what_was_said() {
    let (mut session, mut log) = (Session::new(None), Vec::new());
    append(
        &mut session,
        &mut log,
        vec![text_message(Role::System, "be brief"), text_message(Role::System, "be kind")],
    );
    for turn in 0..100 {
        let edit = call_message("", &[("c", "Edit")]);
        let asked = text_message(Role::User, &format!("We decided to use part {turn}, since it is fast."));
        append(&mut session, &mut log, vec![asked, edit, result_message("c", "Edit", &"line\n".repeat(50))]);
    }
    learn(&mut session, &log);
    let context = build(&session, &log, r#"{"window":2400,"encoding":"estimate-1"}"#).unwrap();
    let begins = |message: &Message| {
        let content = message.content.as_str().to_owned();
        content.lines().next().unwrap_or_default().to_owned()
    };
    let first: Vec<String> = context.messages.iter().take(3).map(begins).collect();
    assert_eq!(first, ["be brief", "be kind", "[EARLIER CONVERSATION]"]);
    assert_eq!(context.messages.iter().filter(|one| begins(one) == "[EARLIER CONVERSATION]").count(), 1);
}

#[test]
fn what_is_shortened_would_not_fit_whole_beside_the_rest() {
    let turns: Vec<_> = (0..40).map(|turn| (10, vec![(1, 40 + turn * 3), (2, 30 + turn)])).collect();
    let (session, log) = grow_session(&turns);
    let cost = |context: &Context, id: &str| {
        context.report.messages.iter().find(|one| one.id == id).expect("it was read").tokens
    };
    let whole = build(&session, &log, r#"{"window":1000000,"encoding":"estimate-1"}"#).unwrap();
    for window in [3000, 4500, 6000, 9000, 14_000] {
        let request = format!(r#"{{"window":{window},"recall":0,"encoding":"estimate-1"}}"#);
        let context = build(&session, &log, &request).unwrap();
        let decisions = context.report.messages.iter();
        let short: Vec<_> = decisions.filter(|one| one.action == Action::Shortened).collect();
        for one in &short {
            let more = cost(&whole, &one.id) - one.tokens;
            assert!(context.tokens_used + more > context.token_budget, "{window}: {}", one.id);
        }
        assert!(!short.is_empty(), "{window}: {}", context.strategy);
    }
}

#[test]
fn an_error_says_what_is_needed_and_nothing_of_what_was_said() {
    let log = [
        r#"{"v":1,"id":"1","role":"user","content":"whispered-to-nobody"}"#,
        r#"{"v":1,"id":"2","role":"assistant","content":"whispered-back"}"#,
        "",
    ]
    .join("\n");
    for request in [
        r#"{"window":4000,"encoding":"someone's"}"#,
        r#"{"window":4000,"strategies":[{"name":"mine","priority":0}]}"#,
        r#"{"window":300,"reserve":0,"summaries":true}"#,
        r#"{"window":3}"#,
        r#"{"window":"whispered"}"#,
    ] {
        let Err(error) = leftoff::calls::context_of_log(log.as_bytes(), request, None) else { continue };
        assert!(!error.message.contains("nobody") && !error.message.contains("back"), "{}", error.message);
        assert!(error.message.starts_with("expected "), "{}", error.message);
    }
    let counts = r#"{"window":4000,"encoding":"someone's"}"#;
    let error = leftoff::calls::context_of_log(log.as_bytes(), counts, None).expect_err("nobody counts");
    assert_eq!(
        error.message,
        r#"expected nothing more to be needed, but found counts, and neither a vocabulary for that encoding nor "estimate-1""#
    );
}
