//! Follows sessions that move: an operation that finds other files than were read, or none, looks where the session
//! lies now, and goes on there.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use super::logs::{LogName, is_file_mismatch};
use super::session_files::SessionFiles;
use super::{Io, Trouble, Work};
use crate::error::Code;
use crate::layout::Placement;

/// How often, at most, one operation looks for a moved session.
const MAX_ATTEMPTS: u32 = 20;

impl SessionFiles {
    /// Does work with the session's files. Where they lie elsewhere by now, or others took their place, the work is
    /// done again with those.
    pub(super) async fn retry_after_move<'a, T>(
        &self,
        io: &Io,
        work: &dyn Fn() -> Work<'a, T>,
    ) -> Result<T, Trouble> {
        self.reject_if_deleted()?;
        let mut tries_left = MAX_ATTEMPTS;
        loop {
            let trouble = match work().await {
                Err(trouble) if is_file_mismatch(&trouble) && tries_left > 0 => trouble,
                done => return done,
            };
            tries_left -= 1;
            let is_replaced = trouble.code() == Code::LogReplaced.as_str();
            let is_found = Box::pin(self.reopen_if_changed(io, is_replaced)).await?;
            if !is_found && !is_moved_error(&trouble) {
                return Err(trouble);
            }
        }
    }

    /// Moves to where the session lies now, if it is not where it was looked for.
    pub(super) async fn follow_moves(&self, io: &Io) -> Result<(), Trouble> {
        self.retry_after_move(io, &|| {
            Box::pin(async {
                if self.is_open.get() {
                    self.grown_size(io, LogName::Events).await?;
                    self.grown_size(io, LogName::Messages).await?;
                }
                if io.stat(&self.folder()).await?.is_none() { Err(self.moved_error()) } else { Ok(()) }
            })
        })
        .await
    }

    /// Whether its files are those that were read: not moved, not deleted, not another session's.
    pub(super) async fn is_unmoved(&self, io: &Io) -> Result<bool, Trouble> {
        if self.is_open.get() {
            for log in [LogName::Events, LogName::Messages] {
                if !self.is_same_file(io, log).await? {
                    return Ok(false);
                }
            }
        }
        Ok(io.stat(&self.folder()).await?.is_some())
    }

    /// Opens it anew, as and where it is now; true if anything has changed.
    pub(super) async fn reopen_if_changed(&self, io: &Io, is_replaced: bool) -> Result<bool, Trouble> {
        let is_unread = !self.is_open.get() && self.opened_times() > 0;
        if !is_replaced && !is_unread && self.is_unmoved(io).await? {
            return Ok(false);
        }
        let id = self.id();
        let found = match self.store() {
            Some(store) => Box::pin(store.find_current_folder(io, &id)).await?,
            None => None,
        };
        // At the old place there may be a copy that is not the session yet.
        let is_there = found.is_some() || io.stat(&self.folder()).await?.is_some();
        if let Some((folder, shown)) = found {
            self.move_to(folder, shown);
        }
        if is_there && self.reopen(io).await? { Ok(true) } else { Err(self.moved_error()) }
    }

    /// Opens it anew; true if it is the same session. Another one's files may have taken its place, and none of them
    /// is taken for this one's. While they are read they may be moved again: whoever works with them notices.
    pub(super) async fn reopen(&self, io: &Io) -> Result<bool, Trouble> {
        let mut read = ReopenGuard { files: self, id: self.id(), is_done: false };
        match self.open_files(io).await {
            Err(trouble) if is_file_mismatch(&trouble) => return Ok(true),
            done => done?,
        }
        // A session without an id is whatever lies in its folder.
        let is_named = self.placement() == Placement::Home
            || self.with_session(|session| !session.metadata().id.is_empty());
        read.is_done = !is_named || self.id() == read.id;
        Ok(read.is_done)
    }

    pub(super) fn reject_if_deleted(&self) -> Result<(), Trouble> {
        if self.is_deleted.get() { Err(self.moved_error()) } else { Ok(()) }
    }

    /// The error for a session that does not lie where it lay.
    pub(super) fn moved_error(&self) -> Trouble {
        moved_or_deleted_error(&self.shown_folder())
    }
}

// Guards a session that is being opened anew. When that is dropped or fails, the session is left to be opened as the
// one that it was.
struct ReopenGuard<'a> {
    files: &'a SessionFiles,
    id: String,
    is_done: bool,
}

impl Drop for ReopenGuard<'_> {
    fn drop(&mut self) {
        self.files.set_id(&self.id);
        self.files.is_open.set(self.is_done);
    }
}

pub(super) fn moved_or_deleted_error(shown: &str) -> Trouble {
    let message = format!("the session in \"{shown}\" was moved or deleted meanwhile");
    Trouble::new(Code::NotFound, message)
}

// The core's own code, no storage's.
pub(super) fn is_moved_error(trouble: &Trouble) -> bool {
    matches!(trouble, Trouble::Refused(error) if error.code == Code::NotFound)
}
