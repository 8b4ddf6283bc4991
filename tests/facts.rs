//! The exam for summaries is fair: each session has the facts that it says it has, and `is_kept` tells a summary that
//! keeps one from a summary that does not.
//! Tries: tests/common/facts.rs, src/state/cues.rs, src/context/summary.rs
#![allow(missing_docs)]
#![cfg(not(target_arch = "wasm32"))]

#[path = "common/facts.rs"]
#[allow(clippy::module_inception, reason = "what it tests has this name")]
mod facts;

use crate::chance;

use std::collections::BTreeSet;
use std::ops::Range;

use chance::scale_count;
use facts::{FACT_COUNT, Fact, KINDS, Session, Template, fillers, is_kept, session, slots, templates};
#[cfg(feature = "o200k")]
use leftoff::context::{SummaryInput, extract_summary};
use leftoff::record::message::{Message, Role};
#[cfg(feature = "o200k")]
use leftoff::state::State;

fn seeds() -> Range<u64> {
    0..scale_count(200, 20) as u64
}

fn each_session(check: impl Fn(&Session)) {
    for seed in seeds() {
        check(&session(seed));
    }
}

fn holding<'a>(messages: &'a [Message], text: &str) -> Vec<&'a Message> {
    messages.iter().filter(|message| message.content.as_str().contains(text)).collect()
}

#[test]
fn a_session_has_twenty_facts_of_all_kinds_and_of_both_sets() {
    each_session(|Session { messages, facts }| {
        assert!((100..=600).contains(&messages.len()), "{} messages", messages.len());
        assert_eq!(facts.len(), FACT_COUNT);
        let unseen = facts.iter().filter(|fact| fact.is_unseen).count();
        assert!((9..=11).contains(&unseen), "{unseen} of the unseen set");
        for kind in KINDS {
            assert!(facts.iter().any(|fact| fact.kind == kind), "no {kind}");
        }
    });
}

#[test]
fn a_fact_stands_once_in_the_words_of_its_speaker() {
    each_session(|Session { messages, facts }| {
        for Fact { text, kind, .. } in facts {
            let [message] = holding(messages, text)[..] else { panic!("not in one message: {text}") };
            assert_eq!(message.content.as_str().matches(text).count(), 1, "{text}");
            assert!(message.tool.is_none(), "{text}");
            assert!(kind != "goal" || message.role == Some(Role::User), "{text}");
        }
        let first = messages.iter().find(|message| message.role == Some(Role::User)).expect("somebody asks");
        assert!(facts.iter().any(|fact| fact.kind == "goal" && first.content.as_str().contains(&fact.text)));
    });
}

#[test]
fn a_fact_is_kept_by_its_message_and_by_no_other_line() {
    each_session(|Session { messages, facts }| {
        let lines: BTreeSet<&str> =
            messages.iter().flat_map(|message| message.content.as_str().lines()).collect();
        for fact in facts {
            let [message] = holding(messages, &fact.text)[..] else { panic!("not once: {}", fact.text) };
            assert!(is_kept(fact, message.content.as_str()), "{}", fact.text);
            let others: Vec<&str> = lines.iter().copied().filter(|line| !line.contains(&fact.text)).collect();
            assert!(!is_kept(fact, &others.join("\n")), "{}", fact.text);
        }
    });
}

#[test]
fn fillers_keep_no_fact() {
    let summary = fillers().into_values().flatten().collect::<Vec<_>>().join("\n");
    each_session(|Session { facts, .. }| {
        assert!(facts.iter().all(|fact| !is_kept(fact, &summary)));
    });
}

#[test]
fn every_result_answers_the_call_before_it() {
    each_session(|Session { messages, .. }| {
        let mut open = BTreeSet::new();
        for message in messages {
            if let Some(tool) = &message.tool {
                assert!(open.remove(&tool.call_id), "{} was not called", tool.call_id);
                let lines = message.content.as_str().lines().count();
                assert!((5..=201).contains(&lines), "{lines} lines by {}", tool.name);
                continue;
            }
            assert_eq!(open, BTreeSet::new());
            let calls = message.assistant.iter().flat_map(|assistant| &assistant.tool_calls);
            open.extend(calls.map(|call| call.id.clone()));
        }
    });
}

#[test]
fn a_seed_makes_one_session() {
    let lines =
        |seed| session(seed).messages.iter().map(|message| message.content.as_str().to_owned()).collect();
    let all: BTreeSet<Vec<String>> = seeds().map(lines).collect();
    assert_eq!(all.len(), seeds().count());
    assert_eq!(session(7).messages, session(7).messages);
}

#[test]
fn every_template_has_at_most_twenty_words_whatever_fills_it() {
    let slots = slots();
    for (slot, values) in &slots {
        assert!(values.len() >= 15, "{} values for {slot}", values.len());
        assert_eq!(values.iter().collect::<BTreeSet<_>>().len(), values.len(), "{slot}");
    }
    for Template { text, .. } in templates() {
        let mut filled = text.to_owned();
        for (slot, values) in &slots {
            let longest = values.iter().max_by_key(|value| value.split_whitespace().count());
            filled = filled.replace(&format!("{{{slot}}}"), longest.expect("it has values"));
        }
        assert!(!filled.contains('{'), "no such slot: {filled}");
        let words = filled.split_whitespace().count();
        assert!((3..=20).contains(&words), "{words} words: {filled}");
    }
}

#[test]
fn the_unseen_set_is_no_rewording_of_the_other() {
    let (unseen, tuning): (Vec<_>, Vec<_>) = templates().into_iter().partition(|template| template.is_unseen);
    for (set, name) in [(&unseen, "unseen"), (&tuning, "tuning")] {
        for kind in KINDS {
            let count = set.iter().filter(|template| template.kind == kind).count();
            assert!(count >= 10, "{count} of {kind} in {name}");
        }
    }
    // Short words are what any two sentences have in common.
    let words = |template: &Template| -> BTreeSet<String> {
        let all = template.text.split_whitespace().filter(|word| !word.contains('{'));
        let bare = all.map(|word| word.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase());
        bare.filter(|word| word.len() > 3).collect()
    };
    for one in &unseen {
        for other in &tuning {
            let (one_words, other_words) = (words(one), words(other));
            let common = one_words.intersection(&other_words).count();
            let fewest = one_words.len().min(other_words.len());
            assert!(common * 2 <= fewest, "{:?} and {:?}", one.text, other.text);
        }
    }
}

#[test]
fn a_summary_may_leave_out_a_fifth_of_the_words_but_no_value() {
    let check = |summary: &str, expected: bool| {
        let fact = Fact {
            text: "please implement dark mode today, it should live in `src/ui.ts` and nowhere else".into(),
            kind: "goal".into(),
            is_unseen: false,
            values: vec!["dark mode".into(), "src/ui.ts".into()],
        };
        assert_eq!(is_kept(&fact, summary), expected, "{summary}");
    };
    check("please implement dark mode today, it should live in `src/ui.ts` and nowhere else", true);
    check(
        "Other.\n* User: IMPLEMENT **dark mode** today; should live in src/ui.ts (and nowhere else)\nOther.",
        true,
    );
    check("implement dark mode; should live in src/ui.ts and nowhere else", false);
    check("please implement dark mode today, it should live in `src/ui.rs` and nowhere else", false);
    check("please implement mode today, it should live in `src/ui.ts` and nowhere else", false);
    check("please implement dark mode today, it should\nlive in `src/ui.ts` and nowhere else", false);
    check("", false);
}

#[cfg(feature = "o200k")]
#[test]
fn a_summary_of_a_thousand_tokens_keeps_eighteen_of_twenty_facts() {
    let vocabulary = leftoff::tokens::Vocabulary::o200k_base();
    each_session(|session| {
        let mut state = State::default();
        session.messages.iter().for_each(|message| state.take_message(message));
        let summary =
            extract_summary(SummaryInput { state: &state, project: "", pins: &[] }, 1000, &|text| {
                vocabulary.count(text)
            });
        assert!(vocabulary.count(&summary) <= 1000);
        let lost: Vec<&str> =
            session.facts.iter().filter(|fact| !is_kept(fact, &summary)).map(|fact| &*fact.text).collect();
        assert!(lost.len() <= 2, "lost {lost:#?} in\n{summary}");
    });
}
