//! Finds a session by the id that it has in an agent's own files.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;

use super::Importer;
use super::continuations::{continuation_name, read_continuation};
use super::live::SessionSource;
use crate::error::Code;
use crate::interop::{AgentName, ImportedSession};
use crate::json::text::to_json;
use crate::layout::{self, SessionLocation};
use crate::operation::store::{LookupWay, Store};
use crate::operation::{CountingMode, Io, Operation, Trouble};
use crate::record::id;

impl Store {
    /// Returns the id of the session that an agent's session, `{"agent","id"}`, JSON, was imported or recorded into.
    /// If a session of the store was resumed in it, that one's id.
    ///
    /// # Errors
    ///
    /// `not_found` where nothing of it was imported or recorded.
    pub fn find_by_source(self: &Rc<Store>, source: String) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move {
            let source = SessionSource::from_json(&source)?;
            source.find_session(&store, &io).await?.ok_or_else(|| {
                let (agent, id) = (&source.agent, to_json(&source.id));
                Trouble::new(Code::NotFound, format!("no session was imported from {agent}'s {id}"))
            })
        })
    }
}

impl SessionSource {
    /// Makes the id of the session that an agent's session, begun at `ms`, goes into: the one that an import gives it.
    /// What is another program's comes by no import, so its id depends on no time, and two processes that begin it at
    /// once begin one session.
    pub fn session_id(&self, ms: i64) -> String {
        match AgentName::parse(&self.agent) {
            Ok(agent) => id::from_source(agent.as_str(), &self.id, "", ms),
            Err(_) => id::from_parts(&[self.agent.as_bytes(), self.id.as_bytes()]),
        }
    }

    /// Returns the id of the session that an agent's session goes into; none where nothing of it is here.
    pub async fn find_session(&self, store: &Store, io: &Io) -> Result<Option<String>, Trouble> {
        let SessionSource { agent, id } = self;
        if let Some(pointed) = read_continuation(io, &continuation_name(agent, id)).await?
            && has_session(store, io, &pointed.id).await?
        {
            return Ok(Some(pointed.id));
        }
        let importing = Importer::new(store, io, CountingMode::Off, false);
        match importing.find_by_id(agent, &self.session_id(0)).await? {
            Some(SessionLocation::Home { id, .. }) => Ok(Some(id)),
            Some(place) => {
                let files = store.unopened_session(&place, "");
                files.open_files(io).await?;
                Ok(Some(files.id()))
            }
            None => Ok(None),
        }
    }
}

async fn has_session(store: &Store, io: &Io, id: &str) -> Result<bool, Trouble> {
    for how in [LookupWay::ByWholeId, LookupWay::ByList] {
        match store.locate_session(io, id, how).await {
            Ok(None) => {}
            Ok(Some(_)) => return Ok(true),
            Err(trouble) if trouble.code() == Code::NotFound.as_str() => return Ok(false),
            Err(trouble) => return Err(trouble),
        }
    }
    Ok(false)
}

impl Importer<'_> {
    /// Notes that an agent's session continues the session of this id, whose text was given to it.
    pub(super) async fn note_continuation(&self, one: &ImportedSession, id: String) -> Result<(), Trouble> {
        let name = continuation_name(&one.agent, &one.source_id);
        let known = read_continuation(self.io, &name).await?;
        // If it was written from a session, the pointer is there already.
        if known.is_some_and(|known| known.id == id || !known.last_message.is_empty()) {
            return Ok(());
        }
        let json = format!("{{\"version\":1,\"session\":{}}}", to_json(&id));
        self.io.replace(&layout::continuation(&name), json.into_bytes(), None).await
    }
}
