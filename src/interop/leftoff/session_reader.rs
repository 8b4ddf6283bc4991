//! Reads a session file as the messages of its current path.

use crate::error::Error;
use crate::interop::{AgentName, Import, ImportedSession};
use crate::layout::{EVENTS, MESSAGES};
use crate::record::blob::BlobRestoration;
use crate::record::message::{self, Message};
use crate::record::scan::records;
use crate::record::session_file::SessionFile;
use crate::session::handle::Session;
use crate::time;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Reads the messages of the current path.
///
/// # Errors
/// `newer_version`; `damaged` if nothing names the session.
pub fn read(bytes: &[u8]) -> Result<Import, Error> {
    let file = SessionFile::read(bytes)?;
    let session = observe(&file)?;
    let messages = path_messages(&session, &file);
    let metadata = session.metadata();
    let last = messages.iter().rev().find_map(|message| message.timestamp.as_deref());
    let imported = ImportedSession {
        id: file.id.clone(),
        agent: AgentName::Leftoff.as_str().into(),
        source_id: file.id.clone(),
        parent: metadata.parent.clone(),
        fork: metadata.forked_from.clone(),
        title: Some(metadata.title(&session.log_state().titles)).filter(|title| !title.is_empty()),
        folder: metadata.project.as_ref().map(|project| project.path.clone()),
        model: metadata.agent.model.clone(),
        tools: metadata.agent.tools.clone(),
        created_ms: messages.iter().find_map(|message| time::parse(message.timestamp.as_deref()?)),
        last_ms: last.and_then(time::parse),
        messages,
        ..ImportedSession::default()
    };
    Ok(Import { sessions: Vec::from([imported]), problems: file.problems })
}

fn observe(file: &SessionFile) -> Result<Session, Error> {
    let mut session = Session::new(None).with_id(&file.id);
    let mut found = session.events().observe(file.log(EVENTS), 0)?;
    found.extend(session.events().observe_tail());
    session.take_events(found);
    let mut found = session.messages().observe(file.log(MESSAGES), 0)?;
    found.extend(session.messages().observe_tail());
    session.take_messages(found);
    Ok(session)
}

// Each message once, as its highest revision, at the place of its first line.
fn path_messages(session: &Session, file: &SessionFile) -> Vec<Message> {
    let mut places: BTreeMap<_, usize> = BTreeMap::new();
    let mut all: Vec<Message> = Vec::new();
    for message in records(file.log(MESSAGES)).filter_map(|record| message::read(&record).0) {
        match places.get(&message.id) {
            Some(place) if all[*place].rev < message.rev => all[*place] = message,
            Some(_) => {}
            None => {
                places.insert(message.id.clone(), all.len());
                all.push(message);
            }
        }
    }
    let on_path = session.are_on_path(all.iter().map(|message| &*message.id));
    let on_path = all.into_iter().zip(on_path).filter_map(|(message, is_on)| is_on.then_some(message));
    on_path.map(|message| restore(message, file)).collect()
}

fn restore(message: Message, file: &SessionFile) -> Message {
    let mut unfolding = BlobRestoration::new(message);
    while let Some(id) = unfolding.next_blob().map(alloc::string::String::from) {
        let bytes = file.blobs().find(|(name, _)| *name == id).map(|(_, bytes)| bytes);
        // A missing blob is shown by the ends of its text.
        unfolding.take(&id, bytes).ok();
    }
    unfolding.into_message()
}
