//! Which session of the project is its current one: written beside the project, as [`pointer`] has it.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use super::listing::Seen;
use super::places::FoundPlace;
use crate::error::Code;
use crate::layout::pointer::{self, Pointer};
use crate::layout::{File, Place, Placement, Root};
use crate::operation::live::Live;
use crate::operation::{Io, Kind, Operation, Trouble, unless_bug};
use crate::record::id::is_safe;
use crate::record::status::Status;
use crate::session::listed::{Listed, Wanted};

/// What the project goes on with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Current {
    /// The session that is pointed to, else the last active one.
    Any,
    /// The same of those that go on: not one of another folder that is still there.
    GoesOn,
}

impl Store {
    /// Makes a session the project's current one, by its id and its folder, as people call it. Answer: whether the project can
    /// have one. Refused with `not_found` where this store has no session there.
    pub fn point_to(self: &Rc<Store>, id: String, path: String) -> Operation<'static, bool> {
        let store = self.clone();
        Operation::new(|io| async move {
            let Some(path) = store.where_it_lies(&io, &id, &path).await? else {
                let message = format!("no session of this store in \"{path}\"");
                return Err(Trouble::refused(Code::NotFound, message));
            };
            store.pointed_to(&io, &Pointer { id, path }).await
        })
    }

    // Where it was moved meanwhile, not where it lay; of several copies the one that is meant.
    async fn where_it_lies(&self, io: &Io, id: &str, path: &str) -> Result<Option<String>, Trouble> {
        for placement in [Placement::Home, Placement::Workspace] {
            if let Some(place) = self.setup.place(path, placement)
                && io.stat(&place.folder()).await?.is_some()
            {
                return Ok(Some(path.into()));
            }
        }
        let there = if is_safe(id) { self.whereabouts(io, id).await? } else { None };
        Ok(there.map(|(_, path)| path))
    }

    /// Takes the pointer away.
    pub fn unpoint(self: &Rc<Store>) -> Operation<'static, ()> {
        let store = self.clone();
        Operation::new(|io| async move { store.unpointed(&io).await })
    }

    /// A project that cannot be written in has no pointer, nor has a folder of many projects.
    pub(super) async fn point(&self, io: &Io, live: &Live) -> Result<bool, Trouble> {
        self.pointed_to(io, &Pointer { id: live.id(), path: live.shown() }).await
    }

    pub(super) async fn unpointed(&self, io: &Io) -> Result<(), Trouble> {
        io.remove(&pointer::file()).await?;
        // What is no link was put there by somebody, and may be all that there is of it.
        let link = pointer::link();
        let beside = io.list(&link.folder()).await?.unwrap_or_default();
        let is_link = beside.iter().any(|one| one.name == link.name() && one.kind == Kind::Other);
        if is_link { io.remove(&link).await } else { Ok(()) }
    }

    pub(super) async fn pointed_to(&self, io: &Io, pointer: &Pointer) -> Result<bool, Trouble> {
        let project = &self.setup.project;
        if !pointer::may_have(project, &self.setup.around(project), &self.setup.user) {
            return Ok(false);
        }
        Ok(unless_bug(written(io, pointer).await)?.is_some())
    }

    /// Has the pointer follow a session from where it lay to where it lies now, or be gone with it.
    pub(super) async fn repoint(&self, io: &Io, from: &str, to: Option<&Pointer>) -> Result<(), Trouble> {
        if self.pointed(io).await?.is_none_or(|pointer| pointer.path != from) {
            return Ok(());
        }
        match to {
            Some(pointer) => self.pointed_to(io, pointer).await.map(drop),
            None => unless_bug(self.unpointed(io).await).map(drop),
        }
    }

    /// What the project's pointer says; whether there is such a session, the caller looks.
    pub(super) async fn pointed(&self, io: &Io) -> Result<Option<Pointer>, Trouble> {
        let bytes = unless_bug(io.read_all(&pointer::file()).await)?.flatten();
        Ok(bytes.and_then(|bytes| pointer::read(&String::from_utf8_lossy(&bytes))))
    }

    pub(super) async fn current_one(&self, io: &Io, of: Current) -> Result<Option<Rc<Listed>>, Trouble> {
        let among = Wanted::usual(of == Current::Any);
        let pointer = self.pointed(io).await?;
        if let Some(pointer) = &pointer
            && let Some(one) = self.there(io, pointer).await?
            && among.has(&one)
            && (of == Current::Any || self.goes_on(io, &one).await?)
        {
            return Ok(Some(one));
        }
        let mut first = None;
        for one in self.all_listed(io, &among).await? {
            let is_pointed = pointer.as_ref().is_some_and(|to| to.id == one.entry.id && to.path == one.path);
            let may_be = match of {
                Current::Any => self.may_be_current(&one),
                Current::GoesOn => (is_pointed || first.is_none()) && self.goes_on(io, &one).await?,
            };
            if is_pointed && (may_be || of == Current::Any) {
                return Ok(Some(one));
            }
            if may_be && first.is_none() {
                first = Some(one);
            }
        }
        Ok(first)
    }

    fn may_be_current(&self, one: &Listed) -> bool {
        one.entry.lifecycle.is_some() && !one.entry.is_archived && one.entry.session_type != "subagent"
    }

    // The session that it says, as its files are now: where it lies in the project's own folder of the home, or in its
    // workspace.
    async fn there(&self, io: &Io, pointer: &Pointer) -> Result<Option<Rc<Listed>>, Trouble> {
        let places = [Placement::Home, Placement::Workspace].map(|way| self.setup.place(&pointer.path, way));
        let is_mine = |place: &Place| match place {
            Place::Home { project, .. } => *project == self.hash,
            Place::Workspace { root, .. } => root == self.setup.workspace(),
        };
        let Some(place) = places.into_iter().flatten().find(is_mine) else { return Ok(None) };
        match self.looked(io, FoundPlace::unseen(place), (None, false)).await? {
            Some(Seen::Sure(_, one)) if one.entry.id == pointer.id => Ok(Some(one)),
            _ => Ok(None),
        }
    }

    async fn goes_on(&self, io: &Io, one: &Listed) -> Result<bool, Trouble> {
        if !matches!(one.entry.lifecycle, Some(Status::Active | Status::Paused)) {
            return Ok(false);
        }
        let is_here = one.entry.placement == Placement::Workspace || one.folder.is_empty();
        Ok(is_here || one.folder == self.setup.project || !is_folder(io, &one.folder).await?)
    }
}

// Also one that may not be looked at.
async fn is_folder(io: &Io, path: &str) -> Result<bool, Trouble> {
    match io.stat(&File::new(Root::Outside, path)).await {
        Ok(stat) => Ok(stat.is_some_and(|stat| stat.kind == Kind::Folder)),
        Err(trouble) => match trouble.code() {
            "permission_denied" => Ok(true),
            "not_a_folder" => Ok(false),
            _ => Err(trouble),
        },
    }
}

async fn written(io: &Io, pointer: &Pointer) -> Result<(), Trouble> {
    if io.stat(&pointer::ignore_file()).await?.is_none() {
        io.replace(&pointer::ignore_file(), Vec::from(pointer::IGNORED), None).await?;
    }
    io.replace(&pointer::file(), pointer::write(pointer).into_bytes(), None).await?;
    unless_bug(io.link(&pointer::link(), &pointer.path).await)?;
    Ok(())
}
