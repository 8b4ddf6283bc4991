//! Whoever imports a growing file, and however many at once: the log comes to hold what one import of its end holds.
//! Tries: src/interop/import_diff.rs, src/session/checkpoint.rs
#![cfg(feature = "interop")]

use std::sync::Arc;

use crate::common;

use common::{build, learn, stamp};
use leftoff::interop::import_diff::ImportDiff;
use leftoff::record::message::{self, Assistant, Message, Role};
use leftoff::session::checkpoint::Checkpoint;
use leftoff::session::handle::Session;
use leftoff::session::input_request::InputRequest;
use leftoff::session::message_reader::{HighestRevisions, MessageBatch, MessageReader};
use leftoff::state::State;
use leftoff::tokens::Counting;
use proptest::prelude::*;

/// A message of the source as it is at its end.
fn message(place: usize, is_timed: bool) -> Message {
    let is_answer = place % 2 == 1;
    Message {
        id: format!("m{place}"),
        parent_id: place.checked_sub(1).map(|before| format!("m{before}")),
        timestamp: is_timed.then(|| format!("2026-01-01T00:00:{:02}.000Z", place % 60)),
        role: Some(if is_answer { Role::Assistant } else { Role::User }),
        content: format!("what is said {place}").into(),
        assistant: is_answer
            .then(|| Assistant { finish_reason: Some("stop".into()), ..Assistant::default() }),
        source: Some(message::LineOrigin {
            agent: "claude-code".into(),
            id: format!("u{place}"),
            ..message::LineOrigin::default()
        }),
        ..Message::default()
    }
}

/// The source when so many of its messages were there; of the last one, an answer, `part` of its words.
fn grow_source(all: &[Message], count: usize, part: usize) -> Vec<Message> {
    let mut source = all[..count].to_vec();
    if let Some(last) = source.last_mut().filter(|last| last.role == Some(Role::Assistant) && part < 4) {
        let words = last.content.as_str().to_string();
        last.content = words[..words.len() * (part + 1) / 5].into();
        last.assistant = Some(Assistant::default());
    }
    source
}

/// One process that imports: it looks at the log, asks what is missing, writes it; each a step of its own.
struct Importer {
    fresh: ImportDiff,
    session: Session,
    fed_bytes: usize,
    missing: Option<Vec<Message>>,
    is_done: bool,
}

impl Importer {
    fn new(source: Vec<Message>) -> Importer {
        let (fresh, session) = (ImportDiff::new(source), Session::new(None));
        Importer { fresh, session, fed_bytes: 0, missing: None, is_done: false }
    }

    fn step(&mut self, log: &mut Vec<u8>, most: usize) {
        let Some(missing) = self.missing.take() else {
            self.fresh.feed(&log[self.fed_bytes..]);
            let found = self
                .session
                .messages()
                .observe(&log[self.fed_bytes..], self.fed_bytes as u64)
                .expect("the next");
            self.session.take_messages(found);
            self.fed_bytes = log.len();
            let missing = self.fresh.next_missing(most);
            self.is_done = missing.is_empty();
            self.missing = Some(missing).filter(|missing| !missing.is_empty());
            return;
        };
        let staged = self
            .session
            .stage_messages(missing, &stamp(0), Counting::with_vocabulary(None))
            .expect("no batch is open");
        self.session.messages().abort().expect("it is open");
        log.extend(staged.bytes);
    }
}

fn read(log: &[u8], mut reader: MessageReader, is_backward: bool) -> Vec<Message> {
    let mut messages = Vec::new();
    let mut take = |reader: &mut MessageReader| loop {
        let MessageBatch { messages: more, needs, .. } = reader.next_batch();
        messages.extend(more);
        let Some(InputRequest::Bytes { range }) = needs else { break };
        reader.take_bytes(range.start, &log[range.start as usize..range.end as usize]);
    };
    let chunks: Vec<&[u8]> = if is_backward { log.rchunks(97).collect() } else { log.chunks(97).collect() };
    for chunk in chunks {
        reader.feed(chunk);
        take(&mut reader);
    }
    reader.finish();
    take(&mut reader);
    messages
}

// Which revision it is, and how it is counted, hangs on who came first.
fn without_revisions(messages: &[Message]) -> Vec<Message> {
    let plain = |message: &Message| Message { rev: 0, seq: None, tokens: None, ..message.clone() };
    messages.iter().map(plain).collect()
}

fn open_log(log: &[u8]) -> Session {
    let mut session = Session::new(None);
    let found = session.messages().observe(log, 0).expect("from its start");
    assert_eq!(session.take_messages(found), [], "nothing is wrong with it");
    session
}

fn check(log: &[u8], all: &[Message]) {
    let mut revisions = HighestRevisions::new(0);
    revisions.feed(log);
    assert_eq!(without_revisions(&read(log, MessageReader::oldest_first(0, revisions), false)), all);
    let session = open_log(log);
    assert_eq!(session.log_state().messages, all.len() as u64);
    assert_eq!(session.log_state().last_id.as_deref(), all.last().map(|last| last.id.as_str()));
    let backward = MessageReader::newest_first(log.len() as u64, session.log_state().repeated.clone());
    let mut newest_first = without_revisions(&read(log, backward, true));
    newest_first.reverse();
    assert_eq!(newest_first, all);
    // Who learns from it, and who reads its end backward for a context, is told what one import says.
    let mut one = Importer::new(all.to_vec());
    let mut once = Vec::new();
    while !one.is_done {
        one.step(&mut once, 256);
    }
    let [(raced, context), (alone, expected)] = [state_and_context(log), state_and_context(&once)];
    assert_eq!(context, expected);
    assert_eq!(raced, alone);
}

type StateAndContext = (Arc<State>, (u64, Vec<(Option<Role>, String)>));

fn state_and_context(log: &[u8]) -> StateAndContext {
    let mut session = open_log(log);
    learn(&mut session, log);
    assert!(session.checkpoint().is_some(), "it has one path");
    let source = session.source();
    let request = r#"{"window":600,"encoding":"estimate-1"}"#;
    let context = build(source.clone(), log, request, None).expect("it fits");
    let said = context.messages.iter().map(|message| (message.role, message.content.as_str().into()));
    (source.state, (source.message_count, said.collect()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn whatever_interleaves_the_log_is_that_of_one_import_of_the_end(
        count in 2..40_usize,
        is_timed in any::<bool>(),
        most in 1..9_usize,
        sources in prop::collection::vec((0..40_usize, 0..5_usize), 1..8),
        steps in prop::collection::vec(0..9_usize, 0..200),
    ) {
        let all: Vec<Message> = (0..count).map(|place| message(place, is_timed)).collect();
        let mut importers: Vec<Importer> = sources
            .iter()
            .map(|(end, part)| Importer::new(grow_source(&all, (*end).clamp(1, count), *part)))
            .collect();
        // One at least sees the end.
        importers.push(Importer::new(all.clone()));
        let mut log = Vec::new();
        let end = importers.len();
        for step in steps.into_iter().map(|step| step % end) {
            if !importers[step].is_done {
                importers[step].step(&mut log, most);
            }
        }
        for importer in &mut importers {
            let mut rounds = 0;
            while !importer.is_done {
                importer.step(&mut log, most);
                rounds += 1;
                prop_assert!(rounds < 1000, "it ends");
            }
        }
        check(&log, &all);
    }
}

#[test]
fn a_checkpoint_that_covers_the_first_line_leaves_what_comes_again_out() {
    let all: Vec<Message> = (0..6).map(|place| message(place, true)).collect();
    let mut log = Vec::new();
    let mut late = Importer::new(all[..4].to_vec());
    late.step(&mut log, 256);
    let mut first = Importer::new(all.clone());
    while !first.is_done {
        first.step(&mut log, 256);
    }
    let checkpoint = open_log(&log).checkpoint().cloned().expect("it has one");
    late.step(&mut log, 256);
    let mut session = Session::new(Some(checkpoint.clone()));
    let covered = checkpoint.bytes as usize;
    let found = session.messages().observe(&log[covered..], covered as u64).expect("the next");
    session.take_messages(found);
    assert!(session.needs_whole_log(), "the first lines lie before what was read");
    check(&log, &all);
    // And what is kept of it then says so.
    let kept = open_log(&log).checkpoint().map(Checkpoint::to_json).expect("one");
    let kept = Checkpoint::from_json(kept.as_bytes()).expect("a checkpoint");
    assert_eq!(kept.repeated.len(), 1);
    assert!(kept.repeated[0].start >= checkpoint.bytes);
}

/// The log of an import.
fn log_of(messages: Vec<Message>) -> Vec<u8> {
    let mut log = Vec::new();
    let mut one = Importer::new(messages);
    while !one.is_done {
        one.step(&mut log, 256);
    }
    log
}

/// What is missing in a log that has all of one import, of another one.
fn missing_of(before: Message, now: Message) -> Vec<Message> {
    let log = log_of(vec![message(0, true), before]);
    let mut fresh = ImportDiff::new(vec![message(0, true), now]);
    fresh.feed(&log);
    fresh.next_missing(256)
}

#[test]
fn an_answer_that_was_read_before_its_end_becomes_whole_and_never_less() {
    let answer = |text: &str, is_whole: bool| {
        let finish_reason = is_whole.then(|| "stop".into());
        let assistant = Some(Assistant { finish_reason, ..Assistant::default() });
        Message { content: text.into(), partial: !is_whole, assistant, ..message(1, true) }
    };
    for (before, now, is_taken) in [
        (answer("half", false), answer("half and half", true), true),
        (answer("half", false), answer("half", true), true),
        (answer("half", false), answer("half and", false), true),
        (answer("half", true), answer("half", false), false),
        (answer("half and half", true), answer("half", false), false),
        (answer("half and", false), answer("half", true), false),
    ] {
        let missing = missing_of(before.clone(), now.clone());
        let expected = if is_taken { vec![Message { rev: 1, ..now }] } else { vec![] };
        assert_eq!(missing, expected, "{before:?}");
    }
    // One that a user interrupted is the same text, and cut short.
    let going_on = Message { assistant: Some(Assistant::default()), partial: false, ..answer("half", true) };
    assert_eq!(missing_of(going_on.clone(), answer("half", false)).len(), 1);
    assert_eq!(missing_of(answer("half", false), going_on).len(), 0);
}

#[test]
fn a_recorded_answer_ends_as_its_source_says_also_shorter_than_it_was() {
    let answer = |text: &str, partial: bool| {
        let finish_reason = (!partial).then(|| "stop".into());
        let assistant = Some(Assistant { finish_reason, ..Assistant::default() });
        // A message that is recorded follows what the log has.
        Message { content: text.into(), partial, assistant, parent_id: None, ..message(1, true) }
    };
    let log = log_of(vec![message(0, true), answer("half and half", true)]);
    for (now, is_taken) in [
        (answer("half", false), true),
        (answer("", false), true),
        (answer("half", true), false),
        (answer("half and half", true), false),
    ] {
        let mut diff = ImportDiff::for_recording();
        diff.feed(&log);
        diff.set_messages(vec![now.clone()], false);
        let expected = if is_taken { vec![Message { rev: 1, ..now.clone() }] } else { vec![] };
        assert_eq!(diff.next_missing(256), expected, "{now:?}");
        diff.feed(&log_of(expected));
        assert_eq!(diff.next_missing(256), vec![], "again {now:?}");
    }
    // An end that was said is not cut again.
    let mut diff = ImportDiff::for_recording();
    diff.feed(&log_of(vec![answer("half and half", false)]));
    diff.set_messages(vec![answer("half", true)], false);
    assert_eq!(diff.next_missing(256), vec![]);
}
