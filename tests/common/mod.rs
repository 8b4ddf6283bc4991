//! What the tests share: logs as leftoff writes them, and a host that answers what a context needs.
#![allow(dead_code, reason = "each test crate compiles all of it and uses its part")]

use leftoff::context::{Build, Context, Outcome, Request};
use leftoff::error::Error;
use leftoff::record::message::{Assistant, Message, Role, Tool, ToolCall};
use leftoff::record::scan::{ScanItem, Scanner};
use leftoff::session::context_source::ContextSource;
use leftoff::session::handle::Session;
use leftoff::session::input_request::InputRequest;
use leftoff::time::Stamp;
use leftoff::tokens::{Counting, Vocabulary, estimate};

pub fn stamp(chance: u64) -> Stamp {
    let mut entropy = [0; 32];
    entropy[..8].copy_from_slice(&chance.to_le_bytes());
    Stamp { now_ms: 1_763_812_800_000, offset_minutes: 0, entropy }
}

pub fn text_message(role: Role, content: &str) -> Message {
    Message { role: Some(role), content: content.into(), ..Message::default() }
}

pub fn call_message(content: &str, calls: &[(&str, &str)]) -> Message {
    let call = |(id, name): &(&str, &str)| ToolCall {
        id: (*id).into(),
        name: (*name).into(),
        arguments: "{}".into(),
    };
    let assistant = Assistant { tool_calls: calls.iter().map(call).collect(), ..Assistant::default() };
    Message { assistant: Some(assistant), ..text_message(Role::Assistant, content) }
}

pub fn result_message(id: &str, name: &str, content: &str) -> Message {
    let tool = Tool { call_id: id.into(), name: name.into(), ..Tool::default() };
    Message { tool: Some(tool), ..text_message(Role::Tool, content) }
}

/// Appends to a log and lets the session observe it.
pub fn append(session: &mut Session, log: &mut Vec<u8>, drafts: Vec<Message>) {
    // The length of a log that grows is never the same twice.
    let staged = session
        .stage_messages(drafts, &stamp(log.len() as u64), Counting::with_vocabulary(None))
        .expect("nothing else is staged");
    let end = log.len() as u64;
    log.extend(staged.bytes);
    let found = session.messages().commit(end).expect("the log grew by the batch");
    assert_eq!(session.take_messages(found), []);
}

/// Folds all of a log that is at hand into what the session knows of the conversation.
pub fn learn(session: &mut Session, log: &[u8]) {
    while let Some(span) = session.unfolded_span() {
        session.fold_bytes(&log[span.start as usize..span.end as usize]);
    }
}

/// How the host counts for an encoding that the core does not know.
pub fn host_count(encoding: &str, text: &str) -> u32 {
    match encoding {
        "sparing" => text.len() as u32 / 400 + 1,
        _ => estimate(text) + 1,
    }
}

/// Builds a context of a log that is at hand.
pub fn build(
    source: ContextSource,
    log: &[u8],
    request: &str,
    vocabulary: Option<&Vocabulary>,
) -> Result<Context, Error> {
    let mut build = Build::new(Request::from_json(request)?, source);
    for _ in 0..10_000 {
        match build.next(vocabulary)? {
            Outcome::Ready(context) => return Ok(context),
            Outcome::Needs(InputRequest::Bytes { range }) => {
                build.take_bytes(range.start, &log[range.start as usize..range.end as usize])?;
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

/// What a scan finds that is fed a log in pieces, in file order.
pub fn in_chunks(bytes: &[u8], size: usize, backward: bool) -> Vec<ScanItem> {
    let mut all = Vec::new();
    let mut scanner = if backward { Scanner::backward(bytes.len() as u64) } else { Scanner::forward(0) };
    let chunks: Vec<&[u8]> =
        if backward { bytes.rchunks(size).collect() } else { bytes.chunks(size).collect() };
    for chunk in chunks {
        scanner.feed(chunk);
        all.extend(std::iter::from_fn(|| scanner.next()));
    }
    scanner.finish();
    all.extend(std::iter::from_fn(|| scanner.next()));
    if backward {
        all.reverse();
    }
    all
}
