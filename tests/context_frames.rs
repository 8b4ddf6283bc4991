//! The laws of frames, on grown histories that come line by line: each context keeps the laws of contexts, and begins
//! with all of the last one where a frame goes on. `LEFTOFF_SCALE=1` makes a million builds.
//! Tries: src/context/frame.rs, src/context/cut.rs, src/context/extend.rs
#![allow(missing_docs)]

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use leftoff::context::{Build, Context, Frame, Outcome, Request};
use leftoff::error::{Code, Error};
use leftoff::json::text::to_json;
use leftoff::record::message::{Message, Role};
use leftoff::session::input_request::InputRequest;
use leftoff::shapes::{Format, write_to};
use serde_json::Value;

use crate::chance::{Chance, scale_count, seed};
use crate::common::host_count;
use crate::context_laws::check_content;
use crate::histories::{History, REASONING_MODELS, history_with_reasoning, open_session};

const BUILDS: usize = 1_000_000;

fn build(history: &History, request: &str, frame: Option<Frame>) -> Result<Context, Error> {
    let mut build = Build::new(Request::from_json(request)?, history.session.source()).with_frame(frame);
    for _ in 0..1_000 {
        match build.next(None)? {
            Outcome::Ready(context) => return Ok(context),
            Outcome::Needs(InputRequest::Bytes { range }) => {
                build.take_bytes(range.start, &history.log[range.start as usize..range.end as usize])?;
            }
            Outcome::Needs(InputRequest::Counts { texts, encoding }) => {
                let counted = |text: String| (text.clone(), host_count(&encoding, &text));
                build.take_counts(texts.into_iter().map(counted).collect());
            }
            Outcome::Needs(needs) => panic!("{needs:?}"),
        }
    }
    panic!("no end of needs");
}

// The history as it was when its log ended there.
fn history_until(whole: &History, end: usize) -> History {
    let log = whole.log[..end].to_vec();
    let mut ids: Vec<String> = Vec::new();
    let mut roles: BTreeMap<String, Role> = BTreeMap::new();
    for line in log.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let line: Value = serde_json::from_slice(line).expect("a line of JSON");
        let id = line["id"].as_str().expect("an id").to_owned();
        let role = whole.messages.iter().find(|message| message.id == id).and_then(|message| message.role);
        if roles.insert(id.clone(), role.expect("a role")).is_none() {
            ids.push(id);
        }
    }
    let messages =
        ids.iter().map(|id| Message { id: id.clone(), role: roles.get(id).copied(), ..Message::default() });
    let is_there = |id: &&String| ids.contains(*id);
    History {
        session: open_session(&whole.events, &log),
        events: whole.events.clone(),
        log,
        messages: messages.collect(),
        pinned_ids: whole.pinned_ids.iter().filter(is_there).cloned().collect(),
        compacted_through: whole.compacted_through.as_ref().filter(is_there).cloned(),
    }
}

fn texts(context: &Context) -> Vec<String> {
    context.messages.iter().map(to_json).collect()
}

// What a provider gets. What comes behind the last message may stand in that, so it is left open.
fn sent_beginning(context: &Context, request: &Request) -> (String, String) {
    let all = write_to(&context.messages, request.format, context.recipient(request)).json;
    let open = all.trim_end_matches([']', '}', '"']).to_owned();
    (all, open)
}

// A line that only adds: a message that is new, and no result, which may belong to a call of long ago.
fn is_added(before: &History, line: &[u8]) -> bool {
    let line: Value = serde_json::from_slice(line).expect("a line of JSON");
    let is_known = before.messages.iter().any(|message| Some(message.id.as_str()) == line["id"].as_str());
    !is_known && line["role"] != "tool"
}

// A model that goes on with calls behind its answer gets the reasoning of that answer, which nobody sent before.
fn is_turn_resumed(before: &Context, line: &[u8]) -> bool {
    let line: Value = serde_json::from_slice(line).expect("a line of JSON");
    let is_answer = |message: &&Message| message.role == Some(Role::Assistant);
    let answered = before.messages.last().filter(is_answer);
    line["role"] == "assistant" && answered.is_some_and(|message| message.tool_calls().is_empty())
}

// A pinned result stands where its call was when that is cut off, and in its own place when only it is read again.
fn has_pin_alone(history: &History, context: &Context) -> bool {
    let is_result = |id: &str| {
        history.messages.iter().any(|message| message.id == id && message.role == Some(Role::Tool))
    };
    context.messages.iter().any(|message| message.role == Some(Role::User) && is_result(&message.id))
}

fn has_open_end(context: &Context) -> bool {
    context.messages.iter().any(|message| message.role == Some(Role::Tool) && message.id.is_empty())
}

// Builds a context after each line; returns how many were built, and how many of them extend the one before.
fn check_growing(number: u64, window: usize, format: Format, model: &str) -> (usize, usize) {
    let whole = history_with_reasoning(number);
    let request = format!(
        r#"{{"window":{window},"model":"{model}","encoding":"estimate-1","format":"{}","frame":true}}"#,
        format.as_str()
    );
    let asked = Request::from_json(&request).expect("a request");
    let (mut built, mut extended, mut end) = (0, 0, 0);
    let mut last: Option<(Context, History)> = None;
    for line in whole.log.split_inclusive(|byte| *byte == b'\n') {
        end += line.len();
        let now = history_until(&whole, end);
        let frame = last.as_ref().and_then(|(context, _)| context.frame.as_deref().cloned());
        let frame = frame.filter(|frame| {
            now.session.source().compaction.as_ref().map(|one| &one.last_message_id)
                == frame.compacted.as_ref()
        });
        let context = match build(&now, &request, frame.clone()) {
            Ok(context) => context,
            Err(error) => {
                assert_eq!(error.code, Code::BudgetTooSmall, "history {number}");
                last = None;
                continue;
            }
        };
        built += 1;
        check_content(&now, &context, &asked);
        let goes_on =
            frame.is_some() && context.frame.as_ref().map(|one| one.end) == frame.map(|one| one.end);
        if let Some((before, then)) = last.as_ref().filter(|_| goes_on) {
            extended += 1;
            if is_added(then, line) && !has_open_end(before) && !has_pin_alone(then, before) {
                let (all, first) = (texts(&context), texts(before));
                let changed = first.iter().enumerate().find(|(place, text)| all.get(*place) != Some(text));
                let now = changed.map(|(place, _)| &all[place..]);
                assert_eq!(changed, None, "history {number}, {request}, at {end}, now {now:#?}");
                if !is_turn_resumed(before, line) {
                    let (sent, begins) =
                        (sent_beginning(&context, &asked).0, sent_beginning(before, &asked).1);
                    let same = sent.bytes().zip(begins.bytes()).take_while(|(now, then)| now == then).count();
                    let changed = String::from_utf8_lossy(&begins.as_bytes()[same..]);
                    assert_eq!(changed, "", "history {number}, {request}, at {end}, byte {same}");
                }
            }
        }
        last = Some((context, now));
    }
    (built, extended)
}

#[test]
fn each_context_of_a_frame_keeps_the_laws_and_begins_with_the_last_one() {
    let mut chance = Chance::new(seed());
    let (mut built, mut extended) = (0, 0);
    while built < scale_count(BUILDS, 3_000) {
        let number = chance.number();
        let window = [300, 1_000, 4_000, 16_000][chance.number_below(4)] + chance.number_below(2_000);
        let format = Format::ALL[chance.number_below(Format::ALL.len())];
        let model = REASONING_MODELS[chance.number_below(REASONING_MODELS.len())];
        let checked = catch_unwind(AssertUnwindSafe(|| check_growing(number, window, format, model)));
        let (more, of_frames) = checked
            .unwrap_or_else(|_| panic!("history {number}, window {window}, {}, {model}", format.as_str()));
        (built, extended) = (built + more, extended + of_frames);
    }
    println!("counted builds: {built}");
    println!("counted extensions: {extended}");
    assert!(extended * 2 > built, "{extended} of {built}");
}
