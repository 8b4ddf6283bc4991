//! What a caller's model is told of a session that it sums up: which messages those are, and what they say.
//! Tries: src/operation/summary_writing.rs, src/operation/stored_summaries.rs

use super::host::Host;
use super::requests::{drive_with, ids};
use super::{begin_session, begun_by, drafts};
use leftoff::operation::{CountingMode, HostRequest, HostResponse, SessionFiles};
use leftoff::tokens::estimate;
use serde_json::{Value, json};
use std::rc::Rc;

/// What a model is asked while a context is made.
struct SummaryCall {
    user: String,
    range: (String, String, u64),
    is_again: bool,
}

/// The model writes as much as it may.
fn summary_calls(host: &mut Host, live: &Rc<SessionFiles>, window: u32) -> Vec<SummaryCall> {
    let request = json!({
        "request": { "window": window, "reserve": 0, "encoding": "estimate-1" }, "summarizes": true,
    });
    let mut all = Vec::new();
    drive_with(host, &mut live.context(request.to_string(), CountingMode::Estimate), |need| {
        let HostRequest::Summary {
            user,
            max_tokens,
            start_message_id,
            end_message_id,
            message_count,
            previous,
            ..
        } = need
        else {
            return None;
        };
        let range = (start_message_id.clone(), end_message_id.clone(), *message_count);
        all.push(SummaryCall { user: user.clone(), range, is_again: previous.is_some() });
        let mut content = String::from("They spoke");
        while estimate(&format!("{content} of files")) <= *max_tokens {
            content.push_str(" of files");
        }
        Some(HostResponse::Text(json!({ "content": content, "model": "m" }).to_string()))
    });
    all
}

#[test]
fn a_summary_is_of_the_messages_that_it_says_however_often_it_is_written_again() {
    let (mut host, live) = begin_session();
    let ids = ids(&host);
    let mut written_again = 0;
    for window in (2500..=4000).rev().step_by(25) {
        for SummaryCall { range: (start, end, count), is_again, .. } in
            summary_calls(&mut host, &live, window)
        {
            let place = |id: &String| ids.iter().position(|one| one == id);
            assert_eq!((place(&start), place(&end)), (Some(0), Some(count as usize - 1)), "{window}");
            written_again += usize::from(is_again);
        }
        assert!(summary_calls(&mut host, &live, window).is_empty(), "{window}: it is kept");
    }
    assert!(written_again > 1, "{written_again}");
}

#[test]
fn of_a_message_that_is_longer_than_a_model_reads_at_once_it_is_told_how_it_begins() {
    let mut host = Host::default();
    let live = begun_by(&mut host);
    let long = format!("The walnut goes first, {}", "and so on ".repeat(3000));
    let more = "It tells of weather, gardens and bread. ".repeat(60);
    for text in [&[long.as_str()][..], &[more.as_str(); 20], &["And now?"]].concat() {
        host.drive_on(&mut live.append_messages(drafts(text))).expect("appended");
    }
    let all = summary_calls(&mut host, &live, 4000);
    let told: String = all.iter().map(|one| one.user.as_str()).collect();
    assert!(told.contains("The walnut goes first, and so on"), "{told}");
    assert!(told.matches("and so on").count() < 1500, "{}", told.len());
}

#[test]
fn the_report_counts_what_the_summary_has_no_room_for() {
    let mut host = Host::default();
    let live = begun_by(&mut host);
    let decided =
        |number: usize| format!("We decided that the queue number {number} is called queue-{number}");
    host.drive_on(&mut live.append_messages(drafts("Name the queues"))).expect("appended");
    for number in 0..150 {
        host.drive_on(&mut live.append_messages(drafts(&decided(number)))).expect("appended");
    }
    let mut counts = Vec::new();
    let without = [600, 1000, 2000, 3000].map(|window| (window, false));
    for (window, frame) in without.into_iter().chain([(2000, true), (3000, true)]) {
        let request = json!({
            "request": { "window": window, "reserve": 0, "encoding": "estimate-1", "recall": 0, "frame": frame },
        });
        let context =
            host.drive_on(&mut live.context(request.to_string(), CountingMode::Estimate)).expect("a context");
        let context: Value = serde_json::from_str(&context).expect("JSON");
        let messages = context["messages"].as_array().expect("an array");
        let is_summary =
            |one: &&Value| one["content"].as_str().is_some_and(|text| text.starts_with("[EARLIER"));
        let summary =
            messages.iter().find(is_summary).expect("a summary")["content"].as_str().expect("a text");
        let told = |number: &usize| summary.contains(&format!("- {}\n", decided(*number)));
        let untold = 150 - (0..150).filter(told).count() as u64;
        assert_eq!(
            context["report"]["summaryLeftOut"].as_u64().unwrap_or_default(),
            untold,
            "{window}: {summary}"
        );
        counts.extend((!frame).then_some(untold));
    }
    assert!(counts.is_sorted_by(|one, next| one > next), "{counts:?}");
}
