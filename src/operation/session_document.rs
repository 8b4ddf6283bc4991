//! The document beside a session's logs: which one it is, what is taken from it, and whether it is stale.

use alloc::vec::Vec;

use super::session_files::SessionFiles;
use super::{Io, Trouble};
use crate::layout::{File, Placement};
use crate::session::documents::{Document, DocumentName};

impl SessionFiles {
    /// Which of the two documents lies beside its logs.
    pub(super) fn document_name(&self) -> DocumentName {
        match self.placement() {
            Placement::Home => DocumentName::MetadataJson,
            Placement::Workspace => DocumentName::SessionJson,
        }
    }

    pub(super) fn document_file(&self) -> File {
        self.folder().child(self.placement().document())
    }

    pub(super) async fn read_document(&self, io: &Io) -> Result<Option<Vec<u8>>, Trouble> {
        io.read_all(&self.document_file()).await
    }

    pub(super) async fn reread_document(&self, io: &Io) -> Result<(), Trouble> {
        let was_stale = self.is_stale.get();
        let document = self.read_document(io).await?;
        self.take_document(document.as_deref());
        self.is_stale.set(self.is_stale.get() || was_stale);
        Ok(())
    }

    pub(super) fn take_document(&self, document: Option<&[u8]>) {
        // A merge conflict, or anything else that is no document, is written anew.
        let read = document.and_then(|json| Document::read(self.document_name(), json).ok());
        self.is_stale.set(read.as_ref().is_none_or(|(_, bad)| !bad.is_empty()));
        let has_old_title = self.with_session(|session| {
            session.take_document(read.map(|(document, _)| document));
            session.has_old_title()
        });
        self.is_stale.set(self.is_stale.get() || has_old_title);
        self.check_summary();
    }

    /// Marks the document as stale where its summary was made from messages that have been revised since.
    pub(super) fn check_summary(&self) {
        let has_old_summary = self.with_session(|session| session.has_old_summary());
        self.is_stale.set(self.is_stale.get() || has_old_summary);
    }

    pub(super) fn mark_document_written(&self) {
        self.with_session(|session| session.mark_document_written());
        self.is_stale.set(false);
    }
}
