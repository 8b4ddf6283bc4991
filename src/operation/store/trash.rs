//! Deletes sessions: they lie in the trash, whole, until they are purged there.
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
    /// Deletes a session: moves it to the trash, whole; or, with `purges`, removes it for good, and its line in the
    /// index. A session that a newer version wrote can be deleted, too: its user may want that, and nothing of it is
    /// misread. The session is no longer open. Answer: its display path in the trash; none where it is gone.
    ///
    /// # Errors
    /// `open_elsewhere` where another process has it open.
    pub fn delete(
        self: &Rc<Store>,
        files: &Rc<SessionFiles>,
        purges: bool,
    ) -> Operation<'static, Option<String>> {
        let (store, files) = (self.clone(), files.clone());
        Operation::new(move |io| async move { store.delete_session(&io, &files, purges).await })
    }

    pub(super) async fn delete_session(
        &self,
        io: &Io,
        files: &Rc<SessionFiles>,
        purges: bool,
    ) -> Result<Option<String>, Trouble> {
        io.take_turn_of(&files.shown_folder()).await?;
        files.follow_moves(io).await?;
        files.reject_if_open(io).await?;
        files.refresh_after_move(io).await?;
        files.close_files(io).await?;
        let trash = self.forget_during(files, self.delete_files(io, files, purges)).await?;
        files.is_deleted.set(true);
        Ok(trash)
    }

    async fn delete_files(
        &self,
        io: &Io,
        files: &SessionFiles,
        purges: bool,
    ) -> Result<Option<String>, Trouble> {
        let shown = files.shown_folder();
        let place = self.session_place(&shown, files.placement())?;
        let trash = if purges {
            purge_folder(io, &place.folder()).await?;
            None
        } else {
            Some(self.setup.display_path(&self.move_to_trash(io, &place, None).await?))
        };
        for what in names::CachedKind::ALL {
            unless_bug(io.remove(&layout::cached_file(&files.id(), what)).await)?;
        }
        self.move_pointer(io, &shown, None).await?;
        if purges {
            self.remove_line(io, &shown).await?;
        }
        Ok(trash)
    }

    /// Closes a session's handle while its folder goes elsewhere; if that fails, the session is as open as before.
    pub(super) async fn forget_during<T>(
        &self,
        files: &Rc<SessionFiles>,
        going: impl Future<Output = Result<T, Trouble>>,
    ) -> Result<T, Trouble> {
        self.forget(files);
        let gone = going.await;
        if gone.is_err() {
            self.add_open(files);
        }
        gone
    }

    /// Moves a session's folder to the trash, and returns where it lies there. `lies`: where the folder is, if it was
    /// left already.
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
            // Another process may do the same at once: the one whose name the folder has by now copies it.
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

    // Copies from another root, perhaps another disk. Until the copy is whole it is not in the trash.
    async fn copy_to_trash(
        &self,
        io: &Io,
        session: &SessionLocation,
        name: &str,
        left: &File,
    ) -> Result<File, Trouble> {
        let coming = layout::trash().child(&format!("{}{}", names::COMING_SUFFIX, left.name()));
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

    // Renames into the trash, to a name that nobody else used at the same moment.
    async fn rename_into_trash(
        &self,
        io: &Io,
        session: &SessionLocation,
        name: &str,
        from: &File,
    ) -> Result<File, Trouble> {
        loop {
            let place = self.trash_path(io, name);
            // The origin is written first: without it nobody would know the way back.
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

    /// Returns a path in the trash for something of this name that is deleted now.
    pub(super) fn trash_path(&self, io: &Io, name: &str) -> File {
        // Two may have the same name, so no two get the same time.
        let ms = io.now_ms().max(self.last_trash_ms.get() + 1);
        self.last_trash_ms.set(ms);
        layout::trash().child(&names::trash_name(name, ms))
    }
}

// Renames a folder before removing it, for one that is removed in part must not be taken for a session that was left.
async fn purge_folder(io: &Io, folder: &File) -> Result<(), Trouble> {
    let gone = discarded_path(io, folder).await?;
    io.rename(folder, &gone).await?;
    io.remove(&gone).await
}
