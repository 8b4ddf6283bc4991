//! Reads a session from an agent's own file, without importing it.

use alloc::format;
use alloc::string::String;

use super::Importer;
use crate::interop::{self, AgentName, ImportedSession};
use crate::json::text::to_json;
use crate::operation::store::Store;
use crate::operation::{AgentDocument, CountingMode, Io, Trouble, unless_bug};

/// Reads the session with the agent's id from a file; none where the file has no such session, or cannot be read.
pub(in crate::operation::store) async fn read_original(
    store: &Store,
    io: &Io,
    path: &str,
    agent: AgentName,
    source_id: &str,
) -> Result<Option<ImportedSession>, Trouble> {
    let importing = Importer::new(store, io, CountingMode::Off, false);
    let only = match agent {
        AgentName::OpenCode => format!("{{\"session\":{}}}", to_json(&source_id)),
        _ => String::from("null"),
    };
    let mut is_first = true;
    while let Some(document) = unless_bug(io.next_document(path, &only, is_first).await)?.flatten() {
        is_first = false;
        let is_alone = document.is_alone;
        let found = unless_bug(importing.find_session(document, path, agent, source_id).await)?.flatten();
        if found.is_some() || is_alone {
            return Ok(found);
        }
    }
    Ok(None)
}

impl Importer<'_> {
    async fn find_session(
        &self,
        document: AgentDocument,
        path: &str,
        agent: AgentName,
        source_id: &str,
    ) -> Result<Option<ImportedSession>, Trouble> {
        let AgentDocument { bytes, failure, is_alone } = document;
        if let Some(failure) = failure {
            return Err(failure.into());
        }
        let bytes = if is_alone { self.with_base(path, bytes).await? } else { bytes };
        let beside = if is_alone { self.read_companion(path).await? } else { None };
        let name = self.to_slash_path(path.strip_suffix(".zst").unwrap_or(path));
        let read = interop::read_with(&bytes, &name, Some(agent), beside.as_deref())?;
        Ok(read.sessions.into_iter().find(|session| session.source_id == source_id))
    }
}
