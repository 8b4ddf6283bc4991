//! The laws of a context on grown histories, whatever they hold: in each provider's shape, compacted, with strategies of
//! the host's. `LEFTOFF_SCALE=1` makes a million builds; `LEFTOFF_CONTEXTS` names a folder for some of them, which are
//! made again in WebAssembly.
//! Tries: src/context/, src/context/strategies/, src/context/host_strategies.rs
#![cfg(all(feature = "interop", not(target_arch = "wasm32")))]
#![allow(missing_docs)]

use crate::chance;
use crate::common;
use crate::histories;
use crate::pairs;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::{env, fs};

use chance::{Chance, scale_count, seed};
use common::{host_count, result_message};
use histories::{FAMILY, History, history, open_session};
use leftoff::context::write_context;
use leftoff::context::{Action, Build, Context, Outcome, Request};
use leftoff::error::{Code, Error};
use leftoff::record::message::{Attachment, Message, Role};
use leftoff::session::input_request::InputRequest;
use leftoff::shapes::Format;
use leftoff::shapes::{Recipient, write_to};
use leftoff::tokens::{cost, estimate};
use pairs::check_pairs;
use serde_json::json;

const BUILDS: usize = 1_000_000;
// A log of as many bytes is read whole, whatever the budget is.
const WHOLE_LOG_BYTES: usize = 16 * 1024;
// So many bytes of logs and contexts are enough to make again.
const SAMPLE_BYTES: usize = 20_000_000;
const WITHOUT_STRATEGY: &[&str] =
    &["full-history", "pruned-tools", "recent-plus-summary", "minimal-state", "fallback"];

// What the host answers.
#[derive(Default)]
struct Host {
    summary: Option<String>,
    strategy_messages: Option<Vec<Message>>,
}

fn build(history: &History, request: &str, host: &Host) -> Result<Context, Error> {
    let mut build = Build::new(Request::from_json(request)?, history.session.source());
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
            Outcome::Needs(InputRequest::Summary { range, least, tokens }) => {
                assert!(
                    range.start <= least && least <= range.end && tokens > 0,
                    "{range:?} {least} {tokens}"
                );
                build.take_summary(host.summary.clone());
            }
            Outcome::Needs(InputRequest::Strategy { name, .. }) => {
                build.take_strategy_result(
                    &name,
                    host.strategy_messages.clone().ok_or_else(|| "it has none".into()),
                );
            }
            Outcome::Needs(needs) => panic!("{needs:?}"),
        }
    }
    panic!("no end of needs");
}

fn ids(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|message| message.id.as_str()).filter(|id| !id.is_empty()).collect()
}

// As leftoff counts, or of the JSON that is sent.
fn real_cost(messages: &[Message], format: Format, to: Recipient<'_>) -> u32 {
    match format {
        Format::Leftoff => {
            let uncounted = messages.iter().map(|message| Message { tokens: None, ..message.clone() });
            uncounted.map(|message| cost::message(&message, None).tokens).sum()
        }
        // A picture costs what its provider says, its base64 next to nothing.
        _ => {
            let pictures =
                messages.iter().flat_map(|message| &message.attachments).filter(|one| one.data.is_some());
            let files: u32 = pictures.map(picture_cost).sum();
            estimate(&write_to(&messages.iter().map(blind).collect::<Vec<_>>(), format, to).json) + files
        }
    }
}

// One that says no size: a token for 750 bytes, and 85 at least.
fn picture_cost(picture: &Attachment) -> u32 {
    let bytes = picture.data.as_ref().map_or(0, |data| data.len() / 4 * 3);
    bytes.div_ceil(750).max(85) as u32
}

fn blind(message: &Message) -> Message {
    let blind =
        |file: &Attachment| Attachment { data: file.data.as_ref().map(|_| "AAAA".into()), ..file.clone() };
    Message { attachments: message.attachments.iter().map(blind).collect(), ..message.clone() }
}

// The order of the log, but for results, which follow their call; a pinned one stands in its place.
fn check_order(history: &History, messages: &[Message]) {
    let place =
        |id: &str| history.messages.iter().position(|message| message.id == id).expect("it is of this log");
    let places = messages.iter().filter(|message| !message.id.is_empty()).map(|message| place(&message.id));
    let order: Vec<usize> =
        places.filter(|place| history.messages[*place].role != Some(Role::Tool)).collect();
    assert!(order.is_sorted_by(|a, b| a < b), "each once, in order");
}

// Behind the message that it was compacted through there is everything that was not pinned and is no system message.
fn must_be_there(history: &History) -> BTreeSet<&str> {
    let newest_user = history.messages.iter().rfind(|message| message.role == Some(Role::User));
    let systems = history.messages.iter().filter(|message| message.role == Some(Role::System));
    let named = systems.chain(newest_user).map(|message| message.id.as_str());
    named.chain(history.pinned_ids.iter().map(String::as_str)).collect()
}

// leftoff's own summary has no joiners: they could hide what closes its fence.
fn check_cuts(messages: &[Message]) {
    for message in messages.iter().filter(|message| !message.id.is_empty()) {
        let rest = message.content.as_str().replace(FAMILY, "");
        assert!(!rest.contains(['\u{200D}', '\u{1F468}', '\u{1F466}']), "cut inside of a letter: {rest}");
    }
}

fn check_use(context: &Context, format: Format) {
    let decisions = &context.report.messages;
    let Some(last) = decisions.iter().rposition(|decision| decision.rule == "did-not-fit") else { return };
    // Beside a newest message that lost a file stands nothing that need not: twice the budget, which keeps the file, could
    // not keep more.
    if decisions.iter().any(|decision| decision.rule == "cut-to-fit") {
        return;
    }
    let is_used = u64::from(context.tokens_used) * 100 >= u64::from(context.token_budget) * 85;
    // The decisions of one step follow each other; at most it is all that was left out in a row.
    let first =
        decisions[..last].iter().rposition(|one| one.rule != "did-not-fit").map_or(0, |place| place + 1);
    let least: u32 = decisions[first..=last].iter().map(|decision| decision.tokens).sum();
    let (used, budget) = (context.tokens_used, context.token_budget);
    // In a provider's shape they may cost more together than each of them said: messages that follow each other become
    // parts of one.
    let least = if format == Format::Leftoff { least } else { least + budget / 16 };
    assert!(is_used || used + least > budget, "{used} of {budget}, and {least} would have fitted");
}

fn check_laws(history: &History, context: &Context, format: Format) {
    check_content(history, context, &Request { format, ..Request::new(0) });
    // Of a step that has a pin it is not said what all of it would take.
    if WITHOUT_STRATEGY.contains(&context.strategy.as_str()) && history.pinned_ids.is_empty() {
        check_use(context, format);
    }
}

// All laws but that the budget is used.
pub fn check_content(history: &History, context: &Context, request: &Request) {
    let (format, to) = (request.format, context.recipient(request));
    assert!(context.tokens_used <= context.token_budget, "over the budget");
    assert_eq!(context.tokens_used, real_cost(&context.messages, format, to), "what is used is what is sent");
    check_pairs("a context", &context.messages);
    check_order(history, &context.messages);
    check_cuts(&context.messages);
    let there: BTreeSet<&str> = ids(&context.messages).into_iter().collect();
    let missing: Vec<&str> = must_be_there(history).difference(&there).copied().collect();
    assert!(missing.is_empty(), "has to be there, and is not: {missing:?}");
    let told = context
        .report
        .messages
        .iter()
        .filter(|decision| matches!(decision.action, Action::Kept | Action::Shortened));
    let told: BTreeSet<&str> =
        told.map(|decision| decision.id.as_str()).filter(|id| !id.is_empty()).collect();
    assert_eq!(told, there, "the report says what is there");
}

fn window(chance: &mut Chance) -> usize {
    [300, 1_000, 4_000, 16_000, 64_000][chance.number_below(5)] + chance.number_below(2_000)
}

fn request_json(window: usize, format: Format, more: &str) -> String {
    format!(r#"{{"window":{window},"encoding":"estimate-1","format":"{}"{more}}}"#, format.as_str())
}

// What the smaller budget keeps, twice as much does not drop.
fn check_twice(small: &Context, large: &Context) {
    let [small, large] =
        [small, large].map(|context| ids(&context.messages).into_iter().collect::<BTreeSet<_>>());
    let dropped: Vec<&&str> = small.difference(&large).collect();
    assert!(dropped.is_empty(), "dropped by a larger budget: {dropped:?}");
}

// A budget that is too small is told which one is not: the smallest, where messages together cost what each of them does.
fn check_needed(history: &History, error: &Error, format: Format, more: &str, host: &Host) {
    assert_eq!(error.code, Code::BudgetTooSmall);
    let told = error.message.split_once("needs at least ").map(|(_, needed)| needed);
    let needed: usize = told.expect("it says how much").parse().expect("a number");
    let by =
        |budget: usize| build(history, &request_json(budget, format, &format!(",\"reserve\":0{more}")), host);
    let context = by(needed).unwrap_or_else(|error| panic!("{needed} are not enough: {}", error.message));
    check_laws(history, &context, format);
    // A result that is pinned is not cut where it stands alone: all of its step may cost less.
    if format == Format::Leftoff && history.pinned_ids.is_empty() {
        let less = by(needed - 1).map(|context| context.tokens_used).map_err(|error| error.code);
        assert_eq!(less, Err(Code::BudgetTooSmall), "less than {needed} is enough");
    }
}

// A context keeps the laws, and so does one of twice the budget; nothing where the budget is too small.
fn check_both(history: &History, window: usize, format: Format, more: &str, host: &Host) -> Option<Context> {
    let context = match build(history, &request_json(window, format, more), host) {
        Ok(context) => context,
        Err(error) => {
            check_needed(history, &error, format, more, host);
            return None;
        }
    };
    check_laws(history, &context, format);
    let twice = build(history, &request_json(window * 2, format, more), host).expect("more than enough");
    check_laws(history, &twice, format);
    check_twice(&context, &twice);
    Some(context)
}

// Histories that broke a law once, by their numbers.
const BROKEN_HISTORIES: [(u64, usize, Format); 6] = [
    // The newest message alone, without its picture, leaves a fifth of the budget.
    (2_558_745_018_139_696_729, 502, Format::Anthropic),
    // A pinned result whose call was not read was cut as if it were the newest user message.
    (16_687_515_399_608_728_777, 880, Format::AiSdk),
    (3_468_754_023_928_141_817, 381, Format::Leftoff),
    (10_372_307_515_337_721_067, 441, Format::Anthropic),
    (8_530_667_990_877_082_753, 1_087, Format::OpenaiResponses),
    // What was said to be enough for what has to be there was not.
    (9_249_442_587_282_196_677, 1_011, Format::AiSdk),
];

#[test]
fn what_broke_a_law_once_keeps_it() {
    for (number, window, format) in BROKEN_HISTORIES {
        check_both(&history(number), window, format, "", &Host::default());
    }
}

#[test]
fn every_context_keeps_the_laws_in_every_shape() {
    let mut chance = Chance::new(seed());
    let mut sample = String::new();
    let builds = scale_count(BUILDS, 3_000);
    let (mut built, mut too_small) = (0, 0);
    while built < builds {
        let number = chance.number();
        let history = history(number);
        let host = Host {
            summary: chance.one_in(2).then(|| "A model wrote this. ".repeat(20)),
            strategy_messages: None,
        };
        for _ in 0..8 {
            let format = Format::ALL[chance.number_below(Format::ALL.len())];
            let more = if chance.one_in(2) { r#","summaries":true"# } else { "" };
            let small = window(&mut chance);
            let check = || check_both(&history, small, format, more, &host);
            let checked = catch_unwind(AssertUnwindSafe(check));
            let checked =
                checked.unwrap_or_else(|_| panic!("history {number}, {}", request_json(small, format, more)));
            let Some(context) = checked else {
                (built, too_small) = (built + 1, too_small + 1);
                continue;
            };
            built += 2;
            if more.is_empty()
                && history.compacted_through.is_none()
                && history.pinned_ids.is_empty()
                && sample.len() < SAMPLE_BYTES
            {
                let log = String::from_utf8_lossy(&history.log);
                let request = request_json(small, format, more);
                let line = json!({ "log": log, "request": request, "context": write_context(&context, Some(format), Recipient::of(None, false)) });
                writeln!(sample, "{line}").expect("a string takes it");
            }
        }
    }
    println!("counted builds: {built}");
    println!("counted budgets too small: {too_small}");
    if let Some(folder) = env::var_os("LEFTOFF_CONTEXTS") {
        fs::write(Path::new(&folder).join("contexts.jsonl"), sample).expect("the folder is there");
    }
}

// Of a log that is read at once: each message alone may cost more in a shape than it does among the others.
#[test]
fn what_fits_as_a_whole_goes_out_whole_in_every_shape() {
    let mut chance = Chance::new(seed());
    let mut tried = 0;
    while tried < scale_count(BUILDS, 1_000) {
        let number = chance.number();
        let history = history(number);
        for format in Format::ALL {
            let by = |budget: usize| {
                build(&history, &request_json(budget, format, r#","reserve":0"#), &Host::default())
            };
            let Ok(all) = by(10_000_000) else { continue };
            // How long a summary is hangs on the budget, and so does how much of a longer log is read.
            let is_read_at_once = history.log.len() <= WHOLE_LOG_BYTES;
            if all.strategy != "full-history" || history.compacted_through.is_some() || !is_read_at_once {
                continue;
            }
            tried += 1;
            let tight = by(all.tokens_used as usize).expect("it fits");
            // Where what has to be there is too much alone, the newest user message is cut before anything is chosen.
            if tight.report.messages.iter().any(|decision| decision.rule == "cut-to-fit") {
                continue;
            }
            let told = format!("history {number}, {}: {}", format.as_str(), all.tokens_used);
            assert_eq!(
                (ids(&tight.messages), tight.tokens_used),
                (ids(&all.messages), all.tokens_used),
                "{told}"
            );
        }
    }
}

// What breaks a law, or may: left out, out of order, twice, without its call, more than fits.
fn spoilt(messages: &[Message], history: &History, chance: &mut Chance) -> Vec<Message> {
    let mut all = messages.to_vec();
    let (one, other) = (chance.number_below(all.len()), chance.number_below(all.len()));
    match chance.number_below(6) {
        0 => drop(all.remove(one)),
        1 => all.swap(one, other),
        2 => all.insert(one, messages[other].clone()),
        3 => all.insert(one, result_message("never-called", "Read", "found")),
        4 => all.extend(history.messages.iter().cloned()),
        _ => all[one].content = "x".repeat(40_000).as_str().into(),
    }
    all
}

#[test]
fn a_strategy_of_the_hosts_keeps_the_laws_or_is_refused_by_name() {
    let mut chance = Chance::new(seed() + 1);
    let (mut taken, mut refused) = (0, 0);
    while taken + refused < scale_count(BUILDS / 50, 300) {
        let history = history(chance.number());
        let request = request_json(window(&mut chance), Format::Leftoff, "");
        let Ok(ours) = build(&history, &request, &Host::default()) else { continue };
        let is_good = chance.one_in(3) || ours.messages.is_empty();
        let offered =
            if is_good { ours.messages.clone() } else { spoilt(&ours.messages, &history, &mut chance) };
        let theirs = r#","strategies":[{"name":"mine","priority":0}]"#;
        let request = request.replace("}", &format!("{theirs}}}"));
        let context = build(&history, &request, &Host { summary: None, strategy_messages: Some(offered) })
            .expect("ours would do");
        check_laws(&history, &context, Format::Leftoff);
        if context.strategy == "mine" {
            taken += 1;
        } else {
            assert!(!is_good, "what keeps the laws is taken: {:?}", context.report.rejected);
            assert_eq!(context.report.rejected[0].strategy, "mine");
            refused += 1;
        }
    }
    assert!(taken > 0 && refused > 0, "{taken} {refused}");
}

#[test]
fn two_writers_records_are_all_there() {
    let mut chance = Chance::new(seed() + 2);
    for _ in 0..scale_count(BUILDS / 1_000, 20) {
        let [one, other] = [history(chance.number()), history(chance.number())];
        let renamed = String::from_utf8_lossy(&other.log).replace("\"m", "\"n");
        let uncounted = |log: &str| log.lines().map(without_checksum).collect::<Vec<_>>();
        let (mut ones, others) = (uncounted(&String::from_utf8_lossy(&one.log)), uncounted(&renamed));
        for line in others {
            ones.insert(chance.number_below(ones.len() + 1), line);
        }
        let log = ones.concat().into_bytes();
        let both = History {
            session: open_session(b"", &log),
            events: Vec::new(),
            log,
            messages: Vec::new(),
            pinned_ids: Vec::new(),
            compacted_through: None,
        };
        let context = build(&both, &request_json(100_000_000, Format::Leftoff, ""), &Host::default())
            .expect("it is enough");
        let there: BTreeSet<&str> = ids(&context.messages).into_iter().collect();
        for (history, letter) in [(&one, "m"), (&other, "n")] {
            let spoken = history.messages.iter().filter(|message| message.role != Some(Role::Tool));
            for id in spoken.map(|message| message.id.replace('m', letter)) {
                assert!(there.contains(id.as_str()), "{id} is lost");
            }
        }
    }
}

// Without its checksum, which says nothing of other words.
fn without_checksum(line: &str) -> String {
    let end = line.rfind(",\"crc\"").unwrap_or(line.len() - 1);
    format!("{}}}\n", &line[..end])
}
