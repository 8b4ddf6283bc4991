//! Reading a log message by message gives each once, as its highest revision in its first place, both ways.
//! Tries: src/session/message_reader.rs
#![cfg(not(target_arch = "wasm32"))]

use crate::common;

use common::{stamp, text_message};
use leftoff::json::blob::Blob;
use leftoff::record::blob::MAX_TEXT;
use leftoff::record::message::{Message, Role};
use leftoff::record::scan::{Problem, ProblemCode};
use leftoff::session::handle::Session;
use leftoff::session::input_request::InputRequest;
use leftoff::session::message_reader::{HighestRevisions, MessageBatch, MessageReader};
use leftoff::tokens::Counting;
use proptest::prelude::*;

/// What the host has: the log, and the blobs that are there.
struct Host {
    log: Vec<u8>,
    blobs: Vec<Blob>,
}

impl Host {
    /// A log of these messages, each a batch of its own.
    fn new(messages: &[Message]) -> Host {
        let mut host = Host { log: Vec::new(), blobs: Vec::new() };
        for (place, message) in messages.iter().enumerate() {
            let staged =
                Session::new(None).stage_messages(vec![message.clone()], &stamp(place as u64), Counting::Off);
            let staged = staged.expect("nothing else is staged");
            host.log.extend(staged.bytes);
            host.blobs.extend(staged.blobs);
        }
        host
    }

    fn oldest_first(&self, chunk: usize) -> (Vec<Message>, Vec<Problem>) {
        let mut revisions = HighestRevisions::new(0);
        self.log.chunks(chunk).for_each(|bytes| revisions.feed(bytes));
        let mut reader = MessageReader::oldest_first(0, revisions);
        self.read(&mut reader, self.log.chunks(chunk))
    }

    fn newest_first(&self, chunk: usize) -> (Vec<Message>, Vec<Problem>) {
        self.read(
            &mut MessageReader::newest_first(self.log.len() as u64, Vec::new()),
            self.log.rchunks(chunk),
        )
    }

    fn read<'a>(
        &self,
        reader: &mut MessageReader,
        chunks: impl Iterator<Item = &'a [u8]>,
    ) -> (Vec<Message>, Vec<Problem>) {
        let (mut messages, mut problems) = (Vec::new(), Vec::new());
        let mut take = |reader: &mut MessageReader| loop {
            let MessageBatch { messages: more, problems: found, needs } = reader.next_batch();
            messages.extend(more);
            problems.extend(found);
            match needs {
                None => break,
                Some(InputRequest::Bytes { range }) => {
                    reader.take_bytes(range.start, &self.log[range.start as usize..range.end as usize]);
                }
                Some(InputRequest::Blob { id }) => {
                    let blob = self.blobs.iter().find(|blob| blob.id == id);
                    reader.take_blob(&id, blob.map(|blob| &blob.bytes[..]));
                }
                Some(other) => panic!("{other:?}"),
            }
        };
        for chunk in chunks {
            reader.feed(chunk);
            take(reader);
        }
        reader.finish();
        take(reader);
        (messages, problems)
    }
}

fn line(id: &str, rev: u64) -> Message {
    Message { id: id.into(), rev, ..text_message(Role::User, &format!("{id} {rev}")) }
}

fn contents(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|message| message.content.as_str()).collect()
}

#[test]
fn a_message_that_two_processes_import_is_one_whatever_number_and_count_they_give_it() {
    let draft = Message {
        id: "imported".into(),
        timestamp: Some("2025-11-22T12:00:00Z".into()),
        ..text_message(Role::User, "hello")
    };
    let mut log = Vec::new();
    let mut first = Session::new(None);
    common::append(&mut first, &mut log, vec![text_message(Role::User, "before")]);
    common::append(&mut first, &mut log, vec![draft.clone()]);
    let again = Session::new(None)
        .stage_messages(vec![draft], &stamp(9), Counting::Estimate)
        .expect("one draft")
        .bytes;
    log.extend(again);
    assert_eq!(log.iter().filter(|byte| **byte == b'\n').count(), 3);
    let mut session = Session::new(None);
    let found = session.messages().observe(&log, 0).expect("the first observation");
    assert_eq!(session.take_messages(found), []);
    assert_eq!(session.log_state().messages, 2);
    let mut reader = MessageReader::oldest_first(0, HighestRevisions::new(0));
    reader.feed(&log);
    assert_eq!(reader.next_batch().messages.len(), 2);
    let mut backward = MessageReader::newest_first(log.len() as u64, Vec::new());
    backward.feed(&log);
    backward.finish();
    assert_eq!(backward.next_batch().messages.len(), 2);
    let request = r#"{"window":8000,"encoding":"estimate-1"}"#;
    let context = common::build(session.source(), &log, request, None).expect("it fits");
    assert_eq!(context.messages.len(), 2);
}

proptest! {
    // Each message is written again some times, with others between, as agents do that stream.
    #[test]
    fn each_message_comes_once_as_its_highest_revision_in_its_first_place(
        order in prop::collection::vec(0_u8..12, 1..60),
        repeated in prop::collection::vec(any::<bool>(), 60),
        chunk in 1_usize..2000,
    ) {
        let mut written: Vec<Message> = Vec::new();
        let mut highest: Vec<(String, u64)> = Vec::new();
        for (id, is_repeated) in order.iter().zip(repeated) {
            let id = format!("m{id}");
            let known = highest.iter_mut().find(|(known, _)| *known == id);
            let rev = known.map(|known| { known.1 += 1; known.1 });
            if rev.is_none() {
                highest.push((id.clone(), 0));
            }
            written.push(line(&id, rev.unwrap_or_default()));
            if is_repeated {
                written.extend(written.last().cloned());
            }
        }
        let expected: Vec<String> = highest.iter().map(|(id, rev)| format!("{id} {rev}")).collect();
        let host = Host::new(&written);
        let (oldest_first, problems) = host.oldest_first(chunk);
        prop_assert_eq!(contents(&oldest_first), expected.iter().map(String::as_str).collect::<Vec<_>>());
        prop_assert_eq!(problems, vec![]);
        let (newest_first, problems) = host.newest_first(chunk);
        prop_assert_eq!(contents(&newest_first), expected.iter().rev().map(String::as_str).collect::<Vec<_>>());
        prop_assert_eq!(problems, vec![]);
    }

    // As a merge may leave them: whatever the order is, nothing of a highest revision is missing, and nothing twice.
    #[test]
    fn in_any_order_each_line_of_a_highest_revision_comes_once(
        order in prop::collection::vec((0_u8..6, 0_u64..4, 0_u8..2), 1..40),
        chunk in 1_usize..2000,
    ) {
        let name = |(id, rev, double): &(u8, u64, u8)| (format!("m{id}"), *rev, format!("m{id} {rev} {double}"));
        let written: Vec<(String, u64, String)> = order.iter().map(name).collect();
        let message = |(id, rev, text): &(String, u64, String)| Message { content: text.as_str().into(), ..line(id, *rev) };
        let host = Host::new(&written.iter().map(message).collect::<Vec<_>>());
        let is_highest = |line: &&(String, u64, String)| written.iter().all(|other| other.0 != line.0 || other.1 <= line.1);
        let mut expected: Vec<&str> = written.iter().filter(is_highest).map(|line| line.2.as_str()).collect();
        expected.sort_unstable();
        expected.dedup();
        let (oldest_first, _) = host.oldest_first(chunk);
        let mut found = contents(&oldest_first);
        found.sort_unstable();
        prop_assert_eq!(&found, &expected);
        let (newest_first, _) = host.newest_first(chunk);
        let found = contents(&newest_first);
        for line in expected {
            prop_assert_eq!(found.iter().filter(|found| **found == line).count(), 1, "{}", line);
        }
    }
}

#[test]
fn a_missing_blob_is_reported_with_the_place_of_its_line() {
    let messages = [line("a", 0), text_message(Role::User, &"x".repeat(MAX_TEXT + 1)), line("b", 0)];
    let mut host = Host::new(&messages);
    let whole = host.oldest_first(1000).0;
    assert_eq!(contents(&whole), messages.iter().map(|message| message.content.as_str()).collect::<Vec<_>>());
    host.blobs.clear();
    let feeds: Vec<usize> = (0..host.log.len()).filter(|at| host.log[*at] == b'\n').collect();
    for (messages, problems) in [host.oldest_first(1000), host.newest_first(1000)] {
        assert_eq!(messages.len(), 3);
        assert!(messages[1].content.as_str().len() < 10_000);
        let [problem] = &problems[..] else { panic!("{problems:?}") };
        assert_eq!(
            (problem.code, problem.start, problem.end),
            (ProblemCode::MissingBlob, feeds[0] as u64 + 1, feeds[1] as u64)
        );
    }
}
