//! The project's current session: a pointer beside the project names it, in the format of [`pointer`].
//!
//! `continue` goes on with a session of this folder, or of one that is gone; lists show those of other clones, too: two clones
//! are two places of work.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use super::places::FoundPlace;
use super::session_index::FoundSession;
use crate::error::Code;
use crate::layout::pointer::{self, SessionPointer};
use crate::layout::{File, Placement, Root, SessionLocation};
use crate::operation::session_files::SessionFiles;
use crate::operation::{FileKind, Io, Operation, Trouble, unless_bug};
use crate::record::id::is_safe;
use crate::record::status::Status;
use crate::session::session_list::{ListRequest, ListedSession};

/// Which sessions may be the current one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CurrentChoice {
    /// Any: the session that the pointer names, else the last active one.
    Any,
    /// Only sessions that can be resumed here: not one of another folder that still exists.
    Resumable,
}

impl Store {
    /// Makes a session the project's current one, given its id and its folder's display path. Answer: whether the
    /// project can have one.
    ///
    /// # Errors
    /// `not_found` where this store has no session there.
    pub fn point_to(self: &Rc<Store>, id: String, path: String) -> Operation<'static, bool> {
        let store = self.clone();
        Operation::new(|io| async move {
            let Some(path) = store.find_pointed_path(&io, &id, &path).await? else {
                let message = format!("no session of this store in \"{path}\"");
                return Err(Trouble::new(Code::NotFound, message));
            };
            store.set_pointer(&io, &SessionPointer { id, path }).await
        })
    }

    // Follows a session that was moved meanwhile; among several copies, returns the one that was given.
    async fn find_pointed_path(&self, io: &Io, id: &str, path: &str) -> Result<Option<String>, Trouble> {
        for placement in [Placement::Home, Placement::Workspace] {
            if let Some(place) = self.setup.parse_place(path, placement)
                && io.stat(&place.folder()).await?.is_some()
            {
                return Ok(Some(path.into()));
            }
        }
        let there = if is_safe(id) { self.find_current_folder(io, id).await? } else { None };
        Ok(there.map(|(_, path)| path))
    }

    /// Removes the pointer.
    pub fn unpoint(self: &Rc<Store>) -> Operation<'static, ()> {
        let store = self.clone();
        Operation::new(|io| async move { store.remove_pointer(&io).await })
    }

    /// Points at a session, and returns whether it could: neither a project that cannot be written nor a folder of
    /// many projects has a pointer.
    pub(super) async fn point_at(&self, io: &Io, files: &SessionFiles) -> Result<bool, Trouble> {
        self.set_pointer(io, &SessionPointer { id: files.id(), path: files.shown_folder() }).await
    }

    pub(super) async fn remove_pointer(&self, io: &Io) -> Result<(), Trouble> {
        io.remove(&pointer::file()).await?;
        // Anything other than a link was put there by somebody, and may be the only copy.
        let link = pointer::link();
        let beside = io.list(&link.folder()).await?.unwrap_or_default();
        let is_link = beside.iter().any(|entry| entry.name == link.name() && entry.kind == FileKind::Other);
        if is_link { io.remove(&link).await } else { Ok(()) }
    }

    pub(super) async fn set_pointer(&self, io: &Io, pointer: &SessionPointer) -> Result<bool, Trouble> {
        let project = &self.setup.project;
        if !pointer::may_have(project, &self.setup.parent_folder(project), &self.setup.user) {
            return Ok(false);
        }
        Ok(unless_bug(write_pointer(io, pointer).await)?.is_some())
    }

    /// Moves the pointer along with a session from its old folder, or removes it with the session.
    pub(super) async fn move_pointer(
        &self,
        io: &Io,
        from: &str,
        to: Option<&SessionPointer>,
    ) -> Result<(), Trouble> {
        if self.read_pointer(io).await?.is_none_or(|pointer| pointer.path != from) {
            return Ok(());
        }
        match to {
            Some(pointer) => self.set_pointer(io, pointer).await.map(drop),
            None => unless_bug(self.remove_pointer(io).await).map(drop),
        }
    }

    /// Reads the pointer. The caller has to check that there is such a session.
    pub(super) async fn read_pointer(&self, io: &Io) -> Result<Option<SessionPointer>, Trouble> {
        let bytes = unless_bug(io.read_all(&pointer::file()).await)?.flatten();
        Ok(bytes.and_then(|bytes| pointer::read(&String::from_utf8_lossy(&bytes))))
    }

    pub(super) async fn find_current(
        &self,
        io: &Io,
        of: CurrentChoice,
    ) -> Result<Option<Rc<ListedSession>>, Trouble> {
        let among = ListRequest::usual(of == CurrentChoice::Any);
        let pointer = self.read_pointer(io).await?;
        if let Some(pointer) = &pointer
            && let Some(session) = self.find_pointed_session(io, pointer).await?
            && among.includes(&session)
            && (of == CurrentChoice::Any || self.can_go_on(io, &session).await?)
        {
            return Ok(Some(session));
        }
        let mut first = None;
        for session in self.list_matching(io, &among).await? {
            let is_pointed =
                pointer.as_ref().is_some_and(|to| to.id == session.entry.id && to.path == session.path);
            let may_be = match of {
                CurrentChoice::Any => self.may_be_current(&session),
                CurrentChoice::Resumable => {
                    (is_pointed || first.is_none()) && self.can_go_on(io, &session).await?
                }
            };
            if is_pointed && (may_be || of == CurrentChoice::Any) {
                return Ok(Some(session));
            }
            if may_be && first.is_none() {
                first = Some(session);
            }
        }
        Ok(first)
    }

    fn may_be_current(&self, session: &ListedSession) -> bool {
        session.entry.lifecycle.is_some()
            && !session.entry.is_archived
            && session.entry.session_type != "subagent"
    }

    // Returns the session that the pointer names, as its files are now, if it lies in the project's own folder of the
    // home, or in its workspace.
    async fn find_pointed_session(
        &self,
        io: &Io,
        pointer: &SessionPointer,
    ) -> Result<Option<Rc<ListedSession>>, Trouble> {
        let places =
            [Placement::Home, Placement::Workspace].map(|way| self.setup.parse_place(&pointer.path, way));
        let is_mine = |place: &SessionLocation| match place {
            SessionLocation::Home { project, .. } => *project == self.project_hash,
            SessionLocation::Workspace { root, .. } => root == self.setup.workspace(),
        };
        let Some(place) = places.into_iter().flatten().find(is_mine) else { return Ok(None) };
        match self.open_and_index(io, FoundPlace::unread(place), (None, false)).await? {
            Some(FoundSession::Verified(_, session)) if session.entry.id == pointer.id => Ok(Some(session)),
            _ => Ok(None),
        }
    }

    async fn can_go_on(&self, io: &Io, session: &ListedSession) -> Result<bool, Trouble> {
        if !matches!(session.entry.lifecycle, Some(Status::Active | Status::Paused)) {
            return Ok(false);
        }
        let is_here = session.entry.placement == Placement::Workspace || session.folder.is_empty();
        Ok(is_here || session.folder == self.setup.project || !is_folder(io, &session.folder).await?)
    }
}

// A folder that may not be looked at counts, too.
async fn is_folder(io: &Io, path: &str) -> Result<bool, Trouble> {
    match io.stat(&File::new(Root::Outside, path)).await {
        Ok(stat) => Ok(stat.is_some_and(|stat| stat.kind == FileKind::Folder)),
        Err(trouble) => match trouble.code() {
            "permission_denied" => Ok(true),
            "not_a_folder" => Ok(false),
            _ => Err(trouble),
        },
    }
}

async fn write_pointer(io: &Io, pointer: &SessionPointer) -> Result<(), Trouble> {
    let is_ignored = io.stat(&pointer::ignore_file()).await?.is_some();
    // Asked for in one step.
    let ignoring =
        (!is_ignored).then(|| io.replace(&pointer::ignore_file(), Vec::from(pointer::IGNORE_RULES), None));
    io.replace(&pointer::file(), pointer::write(pointer).into_bytes(), None).await?;
    if let Some(written) = ignoring {
        written.await?;
    }
    unless_bug(io.link(&pointer::link(), &pointer.path).await)?;
    Ok(())
}
