//! Opening: the session of a folder, where it lies by now, and what is due then.

use alloc::rc::Rc;
use alloc::string::String;

use super::Store;
use crate::json::text::to_json;
use crate::layout::{Place, Placement};
use crate::operation::elsewhere::{is_elsewhere, moved_or_deleted};
use crate::operation::live::Live;
use crate::operation::{Io, Operation, Trouble};

/// How often, at most, one that moves is followed in one go.
const TRIES: u32 = 20;

impl Store {
    /// Opens the session of a folder, as people call it, that the host has not open; where it was moved meanwhile, the one that it is
    /// by now. Answer: it, and what whoever opens it should hear, as [`Live::take_up`] says it.
    ///
    /// # Errors
    /// `not_found` where it was deleted, or moved to where nobody knows.
    pub fn open(
        self: &Rc<Store>,
        shown: String,
        placement: Placement,
    ) -> Operation<'static, (Rc<Live>, String)> {
        let store = self.clone();
        Operation::new(move |io| async move {
            let mut place = store.session_place(&shown, placement)?;
            for _ in 0..TRIES {
                let lies = store.now(&io, place).await?;
                place = lies.ok_or_else(|| moved_or_deleted(&shown))?;
                let live = store.live(&store.setup.shown(&place.folder()), place.placement(), "")?;
                let trouble = match store.opened(&io, &live, &place).await {
                    Err(trouble) if is_elsewhere(&trouble) => trouble,
                    done => return done.map(|told| (live, told)),
                };
                store.forget(&live);
                match store.lying(&io, &live.id()).await? {
                    Some(other) if other != place => place = other,
                    _ => return Err(trouble),
                }
            }
            Err(moved_or_deleted(&shown))
        })
    }

    async fn opened(&self, io: &Io, live: &Rc<Live>, place: &Place) -> Result<String, Trouble> {
        live.opened(io).await?;
        // Of a folder that is gone nothing is read, and that is no session.
        if io.stat(&place.folder()).await?.is_none() {
            return Err(moved_or_deleted(&live.shown()));
        }
        let told = live.taken_up(io, self.setup.idle_ms, true).await?;
        self.meet(io, place).await?;
        Ok(to_json(&told))
    }
}
