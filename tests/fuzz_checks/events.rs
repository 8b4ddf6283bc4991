//! Any bytes as both logs of a session: its state is the same in any pieces, its documents come back as they were, and
//! who goes on from a checkpoint knows what the others know.

use leftoff::record::scan::Problem;
use leftoff::session::checkpoint::Checkpoint;
use leftoff::session::documents::{DocumentName, MetadataJson};
use leftoff::session::handle::Session;
use serde_json::Value;

use super::lines::seal_line;

const NEXT_LINE: &str = "{\"id\":\"next\",\"role\":\"user\",\"content\":\"what came after\"}\n";

/// The first byte says how the rest is cut.
pub fn check(data: &[u8]) {
    let Some((cut, log)) = data.split_first() else { return };
    let (whole, problems) = observe_chunks(log, log.len().max(1));
    let (pieces, the_same) = observe_chunks(log, usize::from(*cut) + 1);
    assert_eq!(problems, the_same, "in pieces of {} bytes", usize::from(*cut) + 1);
    assert_eq!(state(&whole), state(&pieces));
    document(&whole);
    checkpoint(whole, log);
    any_checkpoint(log);
}

fn observe_chunks(log: &[u8], size: usize) -> (Session, Vec<Problem>) {
    let mut session = Session::new(None);
    let mut problems = Vec::new();
    for (place, chunk) in log.chunks(size).enumerate() {
        let found = session.events().observe(chunk, (place * size) as u64).expect("the next bytes");
        problems.extend(session.take_events(found));
    }
    let found = session.events().observe_tail();
    problems.extend(session.take_events(found));
    for (place, chunk) in log.chunks(size).enumerate() {
        problems.extend(observe(&mut session, chunk, (place * size) as u64));
    }
    let found = session.messages().observe_tail();
    problems.extend(session.take_messages(found));
    (session, problems)
}

fn observe(session: &mut Session, bytes: &[u8], offset: u64) -> Vec<Problem> {
    let found = session.messages().observe(bytes, offset).expect("the next bytes");
    session.take_messages(found)
}

fn state(session: &Session) -> String {
    format!("{:?} {:?} {:?}", session.metadata(), session.log_state().to_json(), session.health())
}

fn document(session: &Session) {
    let json = session.document(DocumentName::MetadataJson);
    serde_json::from_str::<Value>(&json).expect("a document is JSON");
    let (read, bad) = MetadataJson::read(json.as_bytes()).expect("a document is an object");
    assert_eq!(bad, [""; 0]);
    assert_eq!(read.to_json(), json);
    let metadata = session.metadata();
    // A title and a type that say nothing are none, once they were written.
    if metadata.given_title.as_deref() != Some("") && !metadata.session_type.is_empty() {
        assert_eq!(MetadataJson::new(&read.metadata(), session.log_state()).keeping(&read).to_json(), json);
    }
}

fn checkpoint(mut whole: Session, log: &[u8]) {
    let Some(known) = whole.checkpoint() else { return };
    let json = known.to_json();
    let read = Checkpoint::from_json(json.as_bytes()).expect("what is kept can be read");
    assert_eq!(read.to_json(), json);
    if known.messages > 0 {
        let line = &log[read.last_line.start as usize..read.last_line.end as usize];
        assert!(read.matches_line(line), "the last covered line is {:?}", String::from_utf8_lossy(line));
    }

    let covered = read.bytes as usize;
    let seal: &[u8] = if log.last().is_none_or(|byte| *byte == b'\n') { b"" } else { b"\n" };
    let next = [seal, NEXT_LINE.as_bytes()].concat();
    let mut later = Session::new(Some(read));
    observe(&mut later, &[&log[covered..], &next].concat(), covered as u64);
    observe(&mut whole, &next, log.len() as u64);
    assert_eq!(without_problems(&later), without_problems(&whole));
}

// Who read a torn tail before reports it once more when it is complete.
fn without_problems(session: &Session) -> Value {
    let mut known: Value =
        serde_json::from_str(&session.log_state().to_json()).expect("a checkpoint is JSON");
    for derived in ["problems", "crc"] {
        known.as_object_mut().expect("an object").remove(derived);
    }
    known
}

// A checkpoint of which only the checksum is right.
fn any_checkpoint(log: &[u8]) {
    let line = log.split(|byte| *byte == b'\n').next().and_then(|line| std::str::from_utf8(line).ok());
    let fields = line.and_then(|line| line.trim().strip_prefix('{')?.strip_suffix('}'));
    let Some(Ok(read)) = fields.map(|fields| Checkpoint::from_json(seal_line(fields).as_bytes())) else {
        return;
    };
    let json = read.to_json();
    assert_eq!(Checkpoint::from_json(json.as_bytes()).map(|again| again.to_json()).ok(), Some(json));
    let offset = read.bytes;
    let mut session = Session::new(Some(read));
    observe(&mut session, NEXT_LINE.as_bytes(), offset);
    observe(&mut session, log, offset + NEXT_LINE.len() as u64);
    session.source();
}
