//! One session of an agent's, read from the agent's own file, and not imported.

use alloc::format;
use alloc::string::String;

use super::Importing;
use crate::interop::{self, AgentName, ImportedSession};
use crate::json::text::to_json;
use crate::operation::store::Store;
use crate::operation::{Counts, Document, Io, Trouble, unless_bug};

/// The session of an id that the agent gave it, in a file; nothing where the file has none such, or cannot be read.
pub(in crate::operation::store) async fn read_original(
    store: &Store,
    io: &Io,
    path: &str,
    agent: AgentName,
    source_id: &str,
) -> Result<Option<ImportedSession>, Trouble> {
    let importing = Importing::new(store, io, Counts::Off, false);
    let only = match agent {
        AgentName::OpenCode => format!("{{\"session\":{}}}", to_json(&source_id)),
        _ => String::from("null"),
    };
    let mut is_first = true;
    while let Some(document) = unless_bug(io.document(path, &only, is_first).await)?.flatten() {
        is_first = false;
        let is_alone = document.is_alone;
        let found = unless_bug(importing.session_of(document, path, agent, source_id).await)?.flatten();
        if found.is_some() || is_alone {
            return Ok(found);
        }
    }
    Ok(None)
}

impl Importing<'_> {
    async fn session_of(
        &self,
        document: Document,
        path: &str,
        agent: AgentName,
        source_id: &str,
    ) -> Result<Option<ImportedSession>, Trouble> {
        let Document { bytes, failure, is_alone } = document;
        if let Some(failure) = failure {
            return Err(failure.into());
        }
        let bytes = if is_alone { self.with_base(path, bytes).await? } else { bytes };
        let beside = if is_alone { self.beside(path).await? } else { None };
        let name = self.plain(path.strip_suffix(".zst").unwrap_or(path));
        let read = interop::read_with(&bytes, &name, Some(agent), beside.as_deref())?;
        Ok(read.sessions.into_iter().find(|session| session.source_id == source_id))
    }
}
