//! Deleting: what a user deletes lies in the trash, whole, until it is purged there.
//!
//! The trash lies in the home, also for sessions of workspaces: a repository must not fill up with what was deleted.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;

use super::Store;
use super::relocation_steps::{discarded_path, left_path};
use crate::error::Code;
use crate::json::text::to_json;
use crate::layout::{self, File, Root, SessionLocation, names};
use crate::operation::session_files::SessionFiles;
use crate::operation::{Io, Operation, Trouble, unless_bug};

impl Store {
    /// Deletes a session: it lies in the trash then, whole; or, `purges`, it is gone for good, and no line of the index is about
    /// it any more. Also one that a newer version wrote: its user may want that, and nothing of it is misread. Answer: where it
    /// lies now, as people call it; nothing where it is gone. It is open no longer.
    ///
    /// # Errors
    /// Refused with `open_elsewhere` where another process has it open.
    pub fn delete(
        self: &Rc<Store>,
        live: &Rc<SessionFiles>,
        purges: bool,
    ) -> Operation<'static, Option<String>> {
        let (store, live) = (self.clone(), live.clone());
        Operation::new(move |io| async move { store.delete_session(&io, &live, purges).await })
    }

    pub(super) async fn delete_session(
        &self,
        io: &Io,
        live: &Rc<SessionFiles>,
        purges: bool,
    ) -> Result<Option<String>, Trouble> {
        io.take_turn_of(&live.shown_folder()).await?;
        live.follow_moves(io).await?;
        live.reject_if_open(io).await?;
        live.refresh_after_move(io).await?;
        live.close_files(io).await?;
        let trash = self.forget_during(live, self.delete_files(io, live, purges)).await?;
        live.is_deleted.set(true);
        Ok(trash)
    }

    async fn delete_files(
        &self,
        io: &Io,
        live: &SessionFiles,
        purges: bool,
    ) -> Result<Option<String>, Trouble> {
        let shown = live.shown_folder();
        let place = self.session_place(&shown, live.placement())?;
        let trash = if purges {
            purge_folder(io, &place.folder()).await?;
            None
        } else {
            Some(self.setup.display_path(&self.move_to_trash(io, &place, None).await?))
        };
        for what in names::CachedKind::ALL {
            unless_bug(io.remove(&layout::cached_file(&live.id(), what)).await)?;
        }
        self.move_pointer(io, &shown, None).await?;
        if purges {
            self.remove_line(io, &shown).await?;
        }
        Ok(trash)
    }

    /// A session is open no longer, once it went elsewhere; where that fails it is as open as before.
    pub(super) async fn forget_during<T>(
        &self,
        live: &Rc<SessionFiles>,
        going: impl Future<Output = Result<T, Trouble>>,
    ) -> Result<T, Trouble> {
        self.forget(live);
        let gone = going.await;
        if gone.is_err() {
            self.add_open(live);
        }
        gone
    }

    /// Puts the folder of a session in the trash; `lies`: where it was left. Answer: where it lies now.
    pub(super) async fn move_to_trash(
        &self,
        io: &Io,
        session: &SessionLocation,
        lies: Option<&File>,
    ) -> Result<File, Trouble> {
        Box::pin(async {
            let folder = session.folder();
            let name = match session {
                SessionLocation::Home { .. } => folder.name().into(),
                SessionLocation::Workspace { name, .. } => format!("{name}{}", folder.name()),
            };
            if folder.root == Root::Home {
                return self.rename_into_trash(io, session, &name, lies.unwrap_or(&folder)).await;
            }
            // Somebody else may do the same at once: whose name it has by now copies it.
            let left = left_path(io, &folder, &io.process().await?.lease);
            let lay = lies.unwrap_or(&folder);
            io.rename(lay, &left).await?;
            match self.copy_to_trash(io, session, &name, &left).await {
                Ok(place) => purge_folder(io, &left).await.map(|()| place),
                Err(trouble) => {
                    unless_bug(io.rename(&left, lay).await)?;
                    Err(trouble)
                }
            }
        })
        .await
    }

    // From another root, perhaps another disk: copied whole. What is copied in part is not in the trash yet.
    async fn copy_to_trash(
        &self,
        io: &Io,
        session: &SessionLocation,
        name: &str,
        left: &File,
    ) -> Result<File, Trouble> {
        let coming = layout::trash().child(&format!("{}{}", names::COMING, left.name()));
        let copied = async {
            io.copy(left, &coming, false).await?;
            self.rename_into_trash(io, session, name, &coming).await
        };
        let copied = copied.await;
        if copied.is_err() {
            unless_bug(io.remove(&coming).await)?;
        }
        copied
    }

    // Under a name that nobody else gave to something at the same moment.
    async fn rename_into_trash(
        &self,
        io: &Io,
        session: &SessionLocation,
        name: &str,
        from: &File,
    ) -> Result<File, Trouble> {
        loop {
            let place = self.trash_path(io, name);
            // Before it goes: else nobody would know the way back.
            let origin = format!(
                "{{\"v\":1,\"trash\":{},\"path\":{},\"placement\":\"{}\"}}\n",
                to_json(place.name()),
                to_json(&self.setup.display_path(&session.folder())),
                session.placement().as_str()
            );
            unless_bug(io.append(&layout::trash_origins(), origin.into_bytes(), false, None).await)?;
            match io.rename(from, &place).await {
                Err(trouble) if trouble.code() == Code::AlreadyExists.as_str() => {}
                done => return done.map(|()| place),
            }
        }
    }

    /// Where something of this name comes to lie that is deleted now.
    pub(super) fn trash_path(&self, io: &Io, name: &str) -> File {
        // Two may have the same name.
        let ms = io.now_ms().max(self.last_trash_ms.get() + 1);
        self.last_trash_ms.set(ms);
        layout::trash().child(&names::trash_name(name, ms))
    }
}

// What is removed in part is not a session that was left.
async fn purge_folder(io: &Io, folder: &File) -> Result<(), Trouble> {
    let gone = discarded_path(io, folder).await?;
    io.rename(folder, &gone).await?;
    io.remove(&gone).await
}
