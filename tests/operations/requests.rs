//! What is asked of a store and of a session: what is no answer to that is refused, and what is asked of the host.
//! Tries: src/json/request.rs, src/operation/

use super::host::{Host, SECRET};
use super::store::setup;
use super::{FOLDER, begin_session, begun_by, drafts};
use leftoff::error::Code;
use leftoff::layout::{File, Root};
use leftoff::operation::{
    CountingMode, Failure, HostRequest, HostResponse, Operation, SessionFiles, Setup, Step,
};
use leftoff::session::change_request::ChangeRequest;
use serde_json::{Value, json};

/// Its answer, as somebody else answers what the host would.
pub fn drive_with<T>(
    host: &mut Host,
    operation: &mut Operation<'_, T>,
    mut answer: impl FnMut(&HostRequest) -> Option<HostResponse>,
) -> T {
    let mut step = operation.begin(host.stamp());
    for _ in 0..1000 {
        let needs = match step {
            Step::Done(done) => return done.expect("done"),
            Step::Requests(needs) => needs,
        };
        let answers = needs.into_iter().map(|need| answer(&need).unwrap_or_else(|| host.answer(need, false)));
        let answers = answers.collect();
        step = operation.next(host.now_ms(), answers);
    }
    panic!("it does not end");
}

pub fn ids(host: &Host) -> Vec<String> {
    let log = host.text(&format!("{}/messages.jsonl", super::FOLDER));
    let id = |line: &str| serde_json::from_str::<Value>(line).ok()?["id"].as_str().map(String::from);
    log.lines().filter_map(id).collect()
}

#[test]
fn conversations_lie_in_the_workspace_that_is_named_else_in_the_project() {
    let said = json!({
        "home": "/home/ann/.leftoff", "project": "/home/ann/code", "normalProject": "/home/ann/code",
        "user": "/home/ann", "idleMs": 7, "separator": "/",
    });
    let read = |more: Value| {
        let mut said = said.clone();
        said.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        Setup::from_json(&said.to_string())
    };
    assert_eq!(read(json!({})).expect("a setup").workspace(), "/home/ann/code");
    let there = read(json!({ "workspace": "/work", "redacts": true })).expect("a setup");
    assert_eq!((there.workspace(), there.redacts, there.idle_ms), ("/work", true, 7));
    assert!(read(json!({ "workspace": "work" })).is_err(), "it is not absolute");
    assert_eq!(setup(None).workspace(), "/home/ann/code");
}

#[test]
fn a_compaction_is_due_from_four_fifths_of_the_budget_on() {
    let (mut host, live) = begin_session();
    let mut plan = |window: u64| -> Value {
        let request = json!({ "request": { "window": window, "reserve": 0, "encoding": "estimate-1" } });
        let plan =
            host.drive_on(&mut live.compact(request.to_string(), CountingMode::Estimate)).expect("planned");
        serde_json::from_str(&plan).expect("JSON")
    };
    let used = plan(1_000_000)["tokensBefore"].as_u64().expect("a number");
    for (window, is_due) in
        [(used * 3, false), (used * 5 / 4 + 1, false), (used * 5 / 4 - 2, true), (used - 1, true)]
    {
        assert_eq!(plan(window)["isDue"], is_due, "{used} of {window}");
    }
}

#[test]
fn whoever_embeds_is_asked_for_vectors_where_there_is_an_order_and_nobody_else_is() {
    let facts = ["the walnut lies in the cellar", "the walnut fell from a shelf", "the walnut lies well"];
    let mut met = std::collections::BTreeSet::new();
    for (embeds, count) in
        [true, false].into_iter().flat_map(|embeds| (1..=facts.len()).map(move |n| (embeds, n)))
    {
        let mut host = Host::default();
        let live = begun_by(&mut host);
        for fact in &facts[..count] {
            host.drive_on(&mut live.append_messages(drafts(fact))).expect("appended");
        }
        for turn in 0..20 {
            let words = format!("{turn} about something else, {}", "and more of it ".repeat(40));
            host.drive_on(&mut live.append_messages(drafts(&words))).expect("appended");
        }
        host.drive_on(&mut live.append_messages(drafts("where does the walnut lie?"))).expect("appended");
        let asked = json!({ "request": { "window": 3000, "reserve": 0, "encoding": "estimate-1" }, "embeds": embeds });
        let mut is_asked = false;
        let context =
            drive_with(&mut host, &mut live.context(asked.to_string(), CountingMode::Estimate), |need| {
                is_asked |= matches!(need, HostRequest::Vectors { .. });
                None
            });
        assert!(context.contains("[RECALLED]"), "{context}");
        let context: Value = serde_json::from_str(&context).expect("JSON");
        let recall = &context["report"]["recall"];
        let of = |key: &str| recall[key].as_array().map_or(0, Vec::len);
        let found = of("messages") + of("leftOut");
        met.insert(found);
        assert_eq!(is_asked, embeds && found > 1, "{embeds} {recall}");
    }
    assert!(met.contains(&2), "{met:?}");
}

#[test]
fn what_other_sessions_say_is_put_in_an_order_by_meaning_where_there_are_two() {
    for count in 1..=3 {
        let (mut host, store) = (Host::default(), super::store::store());
        for port in 7443..7443 + count {
            let live = super::store::run_to_end(&mut host, super::store::create(&store, "{}"));
            let said = format!("The zephyr gateway listens on port {port}.");
            super::store::run_to_end(&mut host, live.append_messages(drafts(&said)));
        }
        let question = "On which port does the zephyr gateway listen?";
        let request = r#"{"embeds":true,"encoding":"estimate-1"}"#;
        let mut texts = 0;
        let mut recall = store.recall(question.into(), request.into(), &super::leaving());
        let told = drive_with(&mut host, &mut recall, |need| {
            if let HostRequest::Vectors { texts: wanted } = need {
                texts += wanted.len();
            }
            None
        });
        assert!(told.contains("7443"), "{told}");
        assert_eq!(texts, if count > 1 { 1 + count } else { 0 }, "{told}");
    }
}

#[test]
fn a_summary_has_no_more_than_its_tokens_as_it_leaves() {
    let (mut host, live) = begin_session();
    let ids = ids(&host);
    let counted = |text: &str| leftoff::tokens::estimate(text);
    // What stands for a word in it is longer than that.
    let longer = |need: &HostRequest| match need {
        HostRequest::Redact { bytes } => {
            let json = String::from_utf8_lossy(bytes).replace("tests", "[redacted:own:0123abcd]");
            let value: Value = serde_json::from_str(&json).expect("JSON");
            let left = json!({ "value": value, "secrets": [], "changed": [] });
            Some(HostResponse::Text(left.to_string()))
        }
        _ => None,
    };
    for most in [200, 400, 1000] {
        let mut told = |leaves: bool| {
            let asked = json!({ "startMessageId": ids[0], "endMessageId": ids[39], "maxTokens": most, "leaves": leaves });
            drive_with(&mut host, &mut live.summary_of(asked.to_string(), CountingMode::Estimate), longer)
        };
        for leaves in [false, true] {
            let summary = told(leaves);
            assert!(counted(&summary) <= most, "{most}: {summary}");
            assert!(!leaves || !summary.contains("tests"), "{most}: {summary}");
            assert!(most < 1000 || summary.contains("redacted") == leaves, "{most}: {summary}");
        }
    }
}

#[test]
fn a_summary_that_is_kept_is_of_its_range_alone() {
    let (mut host, live) = begin_session();
    let (ids, end) = (ids(&host), host.files[&format!("{}/messages.jsonl", super::FOLDER)].0.len());
    // Where its line ends, and behind the feed of that.
    for end in [end - 1, end] {
        let range =
            json!({ "startMessageId": ids[0], "endMessageId": ids[39], "messageCount": 40, "endByte": end });
        let summary = json!({ "content": "They spoke of files.", "model": "m", "tokens": 5 });
        let kept = json!({ "range": range, "summary": summary }).to_string();
        host.files.insert(format!("{}/summaries/one.json", super::FOLDER), (kept.into_bytes(), 1));
        let mut of = |start: usize, last: usize| {
            let asked = json!({ "startMessageId": ids[start], "endMessageId": ids[last], "maxTokens": 100 });
            host.drive_on(&mut live.summary_of(asked.to_string(), CountingMode::Estimate)).expect("told")
        };
        assert_eq!(of(0, 39), "They spoke of files.", "{end}");
        for (start, last) in [(1, 39), (0, 38), (39, 39)] {
            assert_ne!(of(start, last), "They spoke of files.", "{start} to {last}, {end}");
        }
    }
}

#[test]
fn what_an_event_says_that_was_summed_up_is_the_summary_of_its_range() {
    let (mut host, live) = begin_session();
    let request = json!({
        "request": { "window": 4000, "encoding": "estimate-1" }, "summarizes": true, "apply": true,
    });
    host.drive_on(&mut live.compact(request.to_string(), CountingMode::Estimate)).expect("compacted");
    host.files.retain(|path, _| !path.contains("/summaries/"));
    let events = host.text(&format!("{}/events.jsonl", super::FOLDER));
    let line = events.lines().find(|line| line.contains("endMessageId")).expect("it is told");
    let range = json!({ "range": range_in(&serde_json::from_str(line).expect("JSON")) })["range"].clone();
    let (start, end) = (&range["startMessageId"], &range["endMessageId"]);
    let live: std::rc::Rc<SessionFiles> = super::live();
    let asked = json!({ "startMessageId": start, "endMessageId": end, "maxTokens": 100 });
    let told = host.drive_on(&mut live.summary_of(asked.to_string(), CountingMode::Estimate)).expect("told");
    assert_eq!(told, "They spoke of files.");
}

fn range_in(value: &Value) -> Value {
    match value {
        Value::Object(fields) if fields.contains_key("endMessageId") => value.clone(),
        Value::Object(fields) => {
            fields.values().map(range_in).find(|found| !found.is_null()).unwrap_or_default()
        }
        _ => Value::Null,
    }
}

/// What stands for a secret is longer than the secret.
const PLACEHOLDER: &str = "[redacted:own:0123abcd which is longer than what it stands for]";

/// As a host answers that knows a secret in everything that leaves.
fn without_secret(need: &HostRequest) -> Option<HostResponse> {
    let HostRequest::Redact { bytes } = need else { return None };
    let json = String::from_utf8_lossy(bytes);
    let value: Value = serde_json::from_str(&json.replace(SECRET, PLACEHOLDER)).expect("JSON");
    let changed = vec![json!([SECRET, PLACEHOLDER]); json.matches(SECRET).count()];
    Some(HostResponse::Text(json!({ "value": value, "secrets": [], "changed": changed }).to_string()))
}

#[test]
fn a_summary_that_is_kept_leaves_without_its_secrets() {
    let (mut host, live) = begin_session();
    let written = json!({ "content": format!("They spoke of {SECRET}."), "model": "m" }).to_string();
    let request = json!({
        "request": { "window": 4000, "encoding": "estimate-1" }, "summarizes": true, "apply": true,
    });
    drive_with(
        &mut host,
        &mut live.compact(request.to_string(), CountingMode::Estimate),
        |need| match need {
            HostRequest::Summary { .. } => Some(HostResponse::Text(written.clone())),
            need => without_secret(need),
        },
    );
    let events = host.text(&format!("{}/events.jsonl", super::FOLDER));
    let line = events.lines().find(|line| line.contains("endMessageId")).expect("it is told");
    let range = range_in(&serde_json::from_str(line).expect("JSON"));
    for leaves in [false, true] {
        let asked = json!({
            "startMessageId": range["startMessageId"], "endMessageId": range["endMessageId"], "maxTokens": 100,
            "leaves": leaves,
        });
        let mut operation = live.summary_of(asked.to_string(), CountingMode::Estimate);
        let told = drive_with(&mut host, &mut operation, without_secret);
        assert_eq!(told, format!("They spoke of {}.", if leaves { PLACEHOLDER } else { SECRET }));
    }
}

#[test]
fn a_context_fits_into_its_budget_as_it_leaves() {
    let (mut host, live) = begin_session();
    for turn in 0..200 {
        let words = format!("{turn} about {SECRET}, {SECRET} and {SECRET}");
        host.drive_on(&mut live.append_messages(drafts(&words))).expect("appended");
    }
    for (window, frame) in [2000, 4000, 6000].into_iter().flat_map(|one| [(one, false), (one, true)]) {
        let asked = json!({
            "request": { "window": window, "reserve": 0, "encoding": "estimate-1", "frame": frame },
            "leaves": true,
        });
        let mut operation = live.context(asked.to_string(), CountingMode::Estimate);
        let context: Value =
            serde_json::from_str(&drive_with(&mut host, &mut operation, without_secret)).expect("JSON");
        let texts = context["messages"].as_array().expect("an array").iter();
        let texts: Vec<&str> = texts.filter_map(|message| message["content"].as_str()).collect();
        let cost: u32 = texts.iter().map(|text| leftoff::tokens::estimate(text)).sum();
        let used = context["tokensUsed"].as_u64().expect("a number");
        assert!(texts.iter().any(|text| text.contains(PLACEHOLDER)), "{context}");
        assert!(u64::from(cost) <= used && used <= window, "{cost}, {used} of {window}");
        assert!(frame || used > window / 2, "{used} of {window}");
        let kept = host.drive_on(&mut live.last_context()).expect("it is kept");
        let kept: Value = serde_json::from_str(&kept).expect("JSON");
        assert_eq!(kept["tokensUsed"], used, "what is kept of it is what left");
        assert_eq!(context["tokenBudget"], window);
    }
}

#[test]
fn a_model_that_fails_costs_a_context_its_summary_alone() {
    let (mut host, live) = begin_session();
    let fails = |need: &HostRequest| match need {
        HostRequest::Summary { .. } => {
            let (code, message) = ("storage_failed".into(), "it is asleep".into());
            Some(HostResponse::Failed(Failure { code, message, ..Failure::default() }))
        }
        _ => None,
    };
    let asked = json!({ "request": { "window": 4000, "encoding": "estimate-1" }, "summarizes": true });
    let told = drive_with(&mut host, &mut live.context(asked.to_string(), CountingMode::Estimate), fails);
    let told: Value = serde_json::from_str(&told).expect("JSON");
    let refused = told["summaryRefused"].as_str().expect("why there is none");
    assert!(refused.contains("the model failed") && refused.contains("it is asleep"), "{refused}");
    assert!(told["messages"].as_array().is_some_and(|messages| messages.len() > 1), "{told}");
}

#[test]
fn a_change_whose_words_no_reader_would_give_back_is_refused_by_their_name() {
    for (change, word) in [
        ("title", "title"),
        ("summary", "summary"),
        ("status", "reason"),
        ("pin", "messageId"),
        ("unpin", "messageId"),
        ("leaf", "messageId"),
        ("accepted", "messageId"),
    ] {
        let asked = |text: &str| {
            ChangeRequest::from_json(&format!(r#"[{{"type":"{change}","status":"paused","{word}":{text}}}]"#))
        };
        assert!(asked(r#""m1""#).is_ok(), "{change}");
        for text in [r#""half \udc00""#, "7", "null"] {
            let refused = asked(text).expect_err(change);
            assert_eq!(refused.code, Code::InvalidRequest, "{change} {text}");
            assert!(refused.message.contains(word), "{change} {text}: {}", refused.message);
        }
    }
}

#[test]
fn the_bytes_that_a_need_is_about_lie_behind_it_and_nothing_lies_behind_others() {
    let (file, bytes) = (File::new(Root::Home, "a"), b"some bytes".to_vec());
    let texts: Vec<String> = ["one", "two"].map(String::from).into();
    let needs = [
        (HostRequest::Page { bytes: bytes.clone() }, Some(&b"some bytes"[..])),
        (HostRequest::Redact { bytes: bytes.clone() }, Some(b"some bytes")),
        (HostRequest::ReplaceLazily { file: file.clone(), bytes: bytes.clone() }, Some(b"some bytes")),
        (HostRequest::WriteSaved { file: file.clone(), bytes, at: 0 }, Some(b"some bytes")),
        (HostRequest::Secrets { texts: texts.clone() }, Some(b"one\n\0\ntwo")),
        (HostRequest::Vectors { texts }, None),
        (HostRequest::Stat { file }, None),
        (HostRequest::Process, None),
    ];
    for (need, expected) in needs {
        assert_eq!(need.payload().as_deref(), expected, "{need:?}");
    }
}

#[test]
fn who_answers_something_else_than_was_asked_is_told_what_it_was() {
    for (answer, found) in [
        (HostResponse::Stat(None), "what a file is like"),
        (HostResponse::Entries(None), "the entries of a folder"),
        (HostResponse::End(0, None), "the end of a file"),
    ] {
        let (mut host, _) = begin_session();
        let live = super::live();
        let mut opening = live.open();
        let Step::Requests(mut needs) = opening.begin(host.stamp()) else { panic!("it asks") };
        let refused = loop {
            let is_read = needs.iter().any(|need| matches!(need, HostRequest::Read { .. }));
            let answers = needs.into_iter().map(|need| match need {
                HostRequest::Read { .. } => answer.clone(),
                need => host.answer(need, false),
            });
            let answers = answers.collect();
            match opening.next(host.now_ms(), answers) {
                Step::Requests(more) => needs = more,
                Step::Done(done) => break done.expect_err("it is no answer"),
            }
            assert!(!is_read, "{found}");
        };
        assert_eq!(refused.code(), "internal", "{found}");
        assert!(refused.message().contains(found), "{refused}");
    }
}

#[test]
fn a_compaction_ends_at_a_message_that_begins_as_a_revision_as_at_any_other() {
    let compacted = |rev: u64| {
        let mut host = Host::default();
        let live = begun_by(&mut host);
        let long = "Lorem ipsum dolor sit amet, consectetur. ".repeat(12);
        for turn in 0..60 {
            for role in ["user", "assistant"] {
                let id = format!("{role}{turn}");
                let line =
                    json!({ "v": 1, "id": id, "rev": rev, "role": role, "content": format!("{id} {long}") });
                host.append(&format!("{FOLDER}/messages.jsonl"), format!("{line}\n").as_bytes());
            }
        }
        let request =
            json!({ "request": { "window": 8000, "encoding": "estimate-1" }, "keep": 2000, "apply": true });
        let told =
            host.drive_on(&mut live.compact(request.to_string(), CountingMode::Estimate)).expect("compacted");
        serde_json::from_str::<Value>(&told).expect("JSON")
    };
    let [plain, revised] = [0, 1].map(compacted);
    assert_eq!(plain["isApplied"], true, "{plain}");
    for key in ["isApplied", "messageCount", "tokensAfter"] {
        assert_eq!(revised[key], plain[key], "{key}: {revised}");
    }
}
