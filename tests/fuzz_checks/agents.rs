//! Any bytes as a file of an agent, and any log as a session for one: what is read can be stored, is the same each time,
//! and is no more than the file can say; what is written reads back.

#[path = "../common/pairs.rs"]
mod pairs;

use std::collections::BTreeSet;

use leftoff::error::Code;
use leftoff::interop::import_diff::ImportDiff;
use leftoff::interop::native::{NativeHeader, format_of, write};
use leftoff::interop::{AgentName, Import, ImportedSession, detect, read};
use leftoff::record::message::{self, Message, Role};
use leftoff::record::scan::{ScanItem, scan};
use leftoff::session::handle::Session;

use super::{laws, stage};
use pairs::check_pairs;

const FILE_NAME: &str = "a-folder/a-file.jsonl";

/// What is read of a byte at most, in bytes of JSON. A record of some 20 bytes can be a message, which has 400 that do not
/// stand there (two ids, a time, the agent, names of fields), and may repeat a name of at most 1024. Nothing else is said
/// twice, so no file becomes many times its size.
const MAX_BYTES_PER_BYTE: usize = 64;
/// The same of a file, whatever it holds: its session's ids, what is lost and why.
const MIN_LIMIT_BYTES: usize = 4096;

/// A file of this agent, or what somebody takes for one.
pub fn check(agent: AgentName, data: &[u8]) {
    let found = read(data, FILE_NAME, Some(agent));
    assert_eq!(found, read(data, FILE_NAME, Some(agent)), "another time something else");
    let is_known = detect(data) == Some(agent);
    let import = match found {
        Ok(import) => import,
        Err(error) => {
            assert!(!is_known || error.code != Code::UnknownFormat, "it was known, and is not: {error}");
            return;
        }
    };
    for problem in &import.problems {
        assert!(
            problem.start <= problem.end && problem.end <= data.len() as u64,
            "outside the file: {problem:?}"
        );
    }
    check_bounded(&import, data.len());
    assert!(!import.sessions.is_empty());
    let mut ids = BTreeSet::new();
    for session in &import.sessions {
        assert!(!session.messages.is_empty(), "nothing was said in {session:?}");
        check_ids(session, &mut ids);
        check_stored(session);
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("it can be written")
}

fn check_bounded(import: &Import, length: usize) {
    let of = |session: &ImportedSession| {
        let ImportedSession { messages, losses, sub_agents, parent, .. } = session;
        let said = [&session.title, &session.folder, &session.git_branch, &session.model, &session.version];
        let said: usize = said.into_iter().flatten().map(String::len).sum();
        let flags = |message: &Message| {
            message.source.as_ref().map_or(0, |s| s.extra.iter().map(|(k, v)| k.len() + v.len()).sum())
        };
        let flags: usize = messages.iter().map(flags).sum();
        session.source_id.len() + said + flags + json(&(messages, losses, sub_agents, parent)).len()
    };
    let size = import.sessions.iter().map(of).sum::<usize>() + json(&import.problems).len();
    assert!(size <= MAX_BYTES_PER_BYTE * length + MIN_LIMIT_BYTES, "{size} bytes were read of {length}");
}

// Each id is there once, of any file, and who is followed stands before.
fn check_ids(session: &ImportedSession, ids: &mut BTreeSet<String>) {
    assert!(ids.insert(session.id.clone()), "{}", session.id);
    let mut before = BTreeSet::new();
    for message in &session.messages {
        let parent = message.parent_id.as_ref();
        assert!(parent.is_none_or(|parent| before.contains(parent)), "{message:?}");
        assert!(ids.insert(message.id.clone()), "{message:?}");
        before.insert(message.id.clone());
        let source = message.source.as_ref().expect("it was imported");
        assert_eq!(source.agent, session.agent);
    }
}

// A log takes the messages as they are, and who imports them again has nothing to add.
fn check_stored(session: &ImportedSession) {
    let staged = stage(&mut Session::new(None), session.messages.clone(), 3);
    let found = scan(&staged.bytes);
    laws::hold(&staged.bytes, &found);
    assert_eq!(found.len(), session.messages.len());
    let mut log = Session::new(None);
    let observed = log.messages().observe(&staged.bytes, 0).expect("the next bytes");
    assert_eq!(log.take_messages(observed), []);
    for (found, message) in found.iter().zip(&session.messages) {
        let ScanItem::Record(record) = found else { panic!("{found:?}") };
        let (stored, problems) = message::read(record);
        assert_eq!(problems, []);
        let stored = stored.expect("a message");
        if staged.blobs.is_empty() {
            let stored = Message { seq: None, ..stored };
            assert_eq!(&stored, message);
        }
    }
    let mut fresh = ImportDiff::new(session.messages.clone());
    fresh.feed(&staged.bytes);
    assert_eq!(fresh.next_missing(1), []);
}

/// The messages of a log, written for each client that can be handed a session.
pub fn check_written(log: &[u8]) {
    let message = |found: &ScanItem| match found {
        ScanItem::Record(record) => message::read(record).0,
        ScanItem::Problem(_) => None,
    };
    let messages: Vec<Message> = scan(log).iter().filter_map(message).collect();
    for agent in AgentName::ALL.into_iter().filter(|agent| format_of(*agent).is_ok()) {
        check_written_for(agent, &messages);
    }
}

fn check_written_for(agent: AgentName, messages: &[Message]) {
    let about = NativeHeader {
        id: "01999999-0000-7000-8000-000000000001".into(),
        folder: "/home/dev/a project".into(),
        folder_name: Some("a-project".into()),
        now_ms: 1_800_000_000_000,
        ..NativeHeader::default()
    };
    let native = write(agent, messages, &about).expect("it can be written");
    assert_eq!(write(agent, messages, &about).expect("it was"), native, "another time something else");
    let import = match read(native.text.as_bytes(), &native.path, Some(agent)) {
        Ok(import) => import,
        // Where there was nothing to say.
        Err(error) => return assert_eq!(error.code, Code::EmptyFile, "{agent:?}: {error}\n{}", native.text),
    };
    assert_eq!(detect(native.text.as_bytes()), Some(agent), "{}", native.text);
    assert_eq!(import.problems, [], "{agent:?}");
    let [session] = &import.sessions[..] else { panic!("{agent:?}: one session was written") };
    check_pairs(agent, &session.messages);
    assert!(session.messages.iter().all(|message| message.role != Some(Role::System)), "{agent:?}");
}
