//! Deleting: what a user deletes lies in the trash, whole, until it is purged there.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;

use super::Store;
use super::carrying::{gone_at, left_at};
use crate::error::Code;
use crate::json::text::to_json;
use crate::layout::{self, File, Place, Root, names};
use crate::operation::live::Live;
use crate::operation::{Io, Operation, Trouble, unless_bug};

impl Store {
    /// Deletes a session: it lies in the trash then, whole; or, `purges`, it is gone for good, and no line of the index is about
    /// it any more. Also one that a newer version wrote: its user may want that, and nothing of it is misread. Answer: where it
    /// lies now, as people call it; nothing where it is gone. It is open no longer.
    ///
    /// # Errors
    /// Refused with `open_elsewhere` where another process has it open.
    pub fn delete(self: &Rc<Store>, live: &Rc<Live>, purges: bool) -> Operation<'static, Option<String>> {
        let (store, live) = (self.clone(), live.clone());
        Operation::new(move |io| async move { store.delete_now(&io, &live, purges).await })
    }

    pub(super) async fn delete_now(
        &self,
        io: &Io,
        live: &Rc<Live>,
        purges: bool,
    ) -> Result<Option<String>, Trouble> {
        io.turn_of(&live.shown()).await?;
        live.arrived(io).await?;
        live.refused_if_open(io).await?;
        live.looked_here(io).await?;
        live.closed(io).await?;
        let trash = self.let_go(live, self.deleted(io, live, purges)).await?;
        live.is_deleted.set(true);
        Ok(trash)
    }

    async fn deleted(&self, io: &Io, live: &Live, purges: bool) -> Result<Option<String>, Trouble> {
        let shown = live.shown();
        let place = self.session_place(&shown, live.placement())?;
        let trash = if purges {
            purged(io, &place.folder()).await?;
            None
        } else {
            Some(self.setup.shown(&self.to_trash(io, &place, None).await?))
        };
        for what in names::Kept::ALL {
            unless_bug(io.remove(&layout::kept(&live.id(), what)).await)?;
        }
        self.repoint(io, &shown, None).await?;
        if purges {
            self.forget_line(io, &shown).await?;
        }
        Ok(trash)
    }

    /// A session is open no longer, once it went elsewhere; where that fails it is as open as before.
    pub(super) async fn let_go<T>(
        &self,
        live: &Rc<Live>,
        going: impl Future<Output = Result<T, Trouble>>,
    ) -> Result<T, Trouble> {
        self.forget(live);
        let gone = going.await;
        if gone.is_err() {
            self.keep(live);
        }
        gone
    }

    /// Puts the folder of a session in the trash; `lies`: where it was left. Answer: where it lies now.
    pub(super) async fn to_trash(
        &self,
        io: &Io,
        session: &Place,
        lies: Option<&File>,
    ) -> Result<File, Trouble> {
        Box::pin(async {
            let folder = session.folder();
            let name = match session {
                Place::Home { .. } => folder.name().into(),
                Place::Workspace { name, .. } => format!("{name}{}", folder.name()),
            };
            if folder.root == Root::Home {
                return self.lies_in_trash(io, session, &name, lies.unwrap_or(&folder)).await;
            }
            // Somebody else may do the same at once: whose name it has by now copies it.
            let left = left_at(io, &folder, &io.process().await?.lease);
            let lay = lies.unwrap_or(&folder);
            io.rename(lay, &left).await?;
            match self.copied_to_trash(io, session, &name, &left).await {
                Ok(place) => purged(io, &left).await.map(|()| place),
                Err(trouble) => {
                    unless_bug(io.rename(&left, lay).await)?;
                    Err(trouble)
                }
            }
        })
        .await
    }

    // From another root, perhaps another disk: copied whole. What is copied in part is not in the trash yet.
    async fn copied_to_trash(
        &self,
        io: &Io,
        session: &Place,
        name: &str,
        left: &File,
    ) -> Result<File, Trouble> {
        let coming = layout::trash().below(&format!("{}{}", names::COMING, left.name()));
        let copied = async {
            io.copy(left, &coming, false).await?;
            self.lies_in_trash(io, session, name, &coming).await
        };
        let copied = copied.await;
        if copied.is_err() {
            unless_bug(io.remove(&coming).await)?;
        }
        copied
    }

    // Under a name that nobody else gave to something at the same moment.
    async fn lies_in_trash(
        &self,
        io: &Io,
        session: &Place,
        name: &str,
        from: &File,
    ) -> Result<File, Trouble> {
        loop {
            let place = self.in_trash(io, name);
            // Before it goes: else nobody would know the way back.
            let origin = format!(
                "{{\"v\":1,\"trash\":{},\"path\":{},\"placement\":\"{}\"}}\n",
                to_json(place.name()),
                to_json(&self.setup.shown(&session.folder())),
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
    pub(super) fn in_trash(&self, io: &Io, name: &str) -> File {
        // Two may have the same name.
        let ms = io.now_ms().max(self.trashed_ms.get() + 1);
        self.trashed_ms.set(ms);
        layout::trash().below(&names::trashed(name, ms))
    }
}

// What is removed in part is not a session that was left.
async fn purged(io: &Io, folder: &File) -> Result<(), Trouble> {
    let gone = gone_at(io, folder).await?;
    io.rename(folder, &gone).await?;
    io.remove(&gone).await
}
