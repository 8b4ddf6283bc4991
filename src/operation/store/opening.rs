//! Opening: the one session of a folder, whoever asks for it meanwhile; where it lies by now, and what is due then.
//!
//! No operation has the turns of two sessions at once, so that none waits for another one that waits for it.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use super::finding::Finding;
use super::places::AT_ONCE;
use super::pointing::Current;
use crate::json::fields::{Fields, objects};
use crate::layout::{Place, Placement};
use crate::operation::elsewhere::{is_elsewhere, moved_or_deleted};
use crate::operation::io::all;
use crate::operation::live::Live;
use crate::operation::{Io, Operation, Trouble, Work};
use crate::session::listed::Listed;

/// How often, at most, one that moves is followed in one go.
const TRIES: u32 = 20;

/// Why one is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    /// Somebody asks for it: it is taken up.
    Asked,
    /// It was written just now, for who has it now: it does not rest, however long nothing was said in it.
    Written,
}

impl Store {
    /// Opens a session by its id, a unique beginning of one, or its name in a workspace. One that is open is the same again, as
    /// its files say by now.
    ///
    /// # Errors
    /// `not_found`; `ambiguous` where several begin so.
    pub fn session(self: &Rc<Store>, id: String) -> Operation<'static, Rc<Live>> {
        let store = self.clone();
        Operation::new(|io| async move {
            if let Some(live) = store.known(&io, &|one| one.id() == id).await? {
                return Ok(live);
            }
            if let Some((shown, placement)) = store.found_as(&io, &id, Finding::Placed).await? {
                let live = store.session_at(&io, &shown, placement, Opening::Asked).await?;
                // A folder may be named like a session that it does not hold.
                if live.id() == id {
                    return Ok(live);
                }
            }
            let listed = store.found_as(&io, &id, Finding::Listed).await?;
            let (shown, placement) = listed.ok_or_else(|| Trouble::internal("expected a list to tell"))?;
            store.session_at(&io, &shown, placement, Opening::Asked).await
        })
    }

    /// Opens the project's current session: the one that is pointed to, else the last active one; nothing where there is none.
    pub fn current(self: &Rc<Store>) -> Operation<'static, Option<Rc<Live>>> {
        let store = self.clone();
        Operation::new(|io| async move {
            match store.current_one(&io, Current::Any).await? {
                Some(one) => store.opened_listed(&io, one).await.map(Some),
                None => Ok(None),
            }
        })
    }

    /// Opens the last session of the project that goes on, which is its current one from then on; or begins one, as
    /// [`Store::create`] is asked for it.
    pub fn go_on(self: &Rc<Store>, request: String) -> Operation<'static, Rc<Live>> {
        let store = self.clone();
        Operation::new(|io| async move {
            store.asked(&request)?;
            // Who asks meanwhile goes on with the same one.
            io.turn_of(&store.setup.project).await?;
            let Some(one) = store.current_one(&io, Current::GoesOn).await? else {
                return store.created(&io, &request).await;
            };
            let live = store.opened_listed(&io, one).await?;
            store.point(&io, &live).await?;
            Ok(live)
        })
    }

    /// Opens the session of a folder, as people call it; where it was moved meanwhile, the one that it is by now.
    ///
    /// # Errors
    /// `not_found` where it was deleted, or moved to where nobody knows.
    pub fn open(self: &Rc<Store>, shown: String, placement: Placement) -> Operation<'static, Rc<Live>> {
        let store = self.clone();
        Operation::new(
            move |io| async move { store.session_at(&io, &shown, placement, Opening::Asked).await },
        )
    }

    /// The same of one that was written just now, beside this store: this process has it open, and it does not rest.
    pub fn kept(self: &Rc<Store>, shown: String, placement: Placement) -> Operation<'static, Rc<Live>> {
        let store = self.clone();
        Operation::new(
            move |io| async move { store.session_at(&io, &shown, placement, Opening::Written).await },
        )
    }

    /// Opens what was recorded, as [`Store::record`] of this store or another one of the same home has told it: none of it rests, and
    /// the one that it is, the first of the answer, is the current one, beside its conversation where it belongs there.
    pub fn recorded(self: &Rc<Store>, told: String) -> Operation<'static, Vec<Rc<Live>>> {
        let store = self.clone();
        Operation::new(|io| async move { store.opened_recorded(&io, &told).await })
    }

    pub(super) async fn opened_recorded(&self, io: &Io, told: &str) -> Result<Vec<Rc<Live>>, Trouble> {
        let said = |_| Trouble::internal("expected what was recorded");
        let fields = Fields::parse(told).map_err(said)?;
        let at = fields.raw("at").and_then(|raw| Fields::parse(raw).ok());
        let all = objects(fields.raw("all").unwrap_or_default()).unwrap_or_default();
        let mut open = Vec::new();
        for mut place in at.into_iter().chain(all) {
            let mut text = |key: &str| place.take::<String>(key, &mut Vec::new()).unwrap_or_default();
            let (shown, placement) = (text("path"), Placement::named(&text("placement")));
            open.push(
                self.session_at(io, &shown, placement.unwrap_or(Placement::Home), Opening::Written).await?,
            );
        }
        if let (Some(first), Some(beside)) =
            (open.first_mut(), fields.raw("beside").and_then(|raw| raw.strip_prefix('{')))
        {
            let request = format!("{{\"to\":\"workspace\",{beside}");
            *first = self.moved_to(io, first, &request).await?;
        }
        if let Some(first) = open.first() {
            self.point(io, first).await?;
        }
        Ok(open)
    }

    /// Closes all that are open, and writes what was found out about sessions for the next list: what a host does last. One that
    /// cannot be closed does not keep the others open.
    pub fn close(self: &Rc<Store>) -> Operation<'static, ()> {
        let store = self.clone();
        Operation::new(|io| async move {
            let mut open = store.open.borrow().clone();
            let mut closed = Ok(());
            while !open.is_empty() {
                // One that followed another to its folder waits for the turn of that one.
                let mut folders = BTreeSet::new();
                let is_next = |live: &mut Rc<Live>| folders.len() < AT_ONCE && folders.insert(live.shown());
                let some = open.extract_if(.., is_next).map(|live| -> Work<'_, ()> {
                    let (store, io) = (&store, &io);
                    Box::pin(async move { store.shut(io, &live).await })
                });
                let some: Vec<_> = some.collect();
                closed = all(some).await.into_iter().fold(closed, Result::and);
            }
            if let Some(end) = store.at_end.take() {
                closed = closed.and(end(&store, &io).await);
            }
            closed.and(store.save_index(&io).await)
        })
    }

    async fn opened_listed(&self, io: &Io, one: Rc<Listed>) -> Result<Rc<Live>, Trouble> {
        self.session_at(io, &one.path, one.entry.placement, Opening::Asked).await
    }

    pub(super) async fn session_at(
        &self,
        io: &Io,
        shown: &str,
        placement: Placement,
        why: Opening,
    ) -> Result<Rc<Live>, Trouble> {
        let mut place = self.session_place(shown, placement)?;
        for _ in 0..TRIES {
            let lies = self.setup.shown(&place.folder());
            if let Some(live) = self.known(io, &|one| one.shown() == lies).await? {
                if why == Opening::Written {
                    live.hold(io).await?;
                }
                return Ok(live);
            }
            let now = self.now(io, place.clone()).await?.ok_or_else(|| moved_or_deleted(shown))?;
            if now != place {
                place = now;
                continue;
            }
            io.turn_of(&lies).await?;
            let opened = match self.open_at(&lies) {
                // Whoever asked first has opened it meanwhile.
                Some(_) => None,
                None => Some(self.opened(io, &place, why).await),
            };
            io.leave_of(&lies);
            match opened {
                None => {}
                Some(Ok(live)) => {
                    self.without_others(io, &live).await?;
                    return Ok(live);
                }
                Some(Err((trouble, id))) if is_elsewhere(&trouble) => match self.lying(io, &id).await? {
                    Some(other) if other != place => place = other,
                    _ => return Err(trouble),
                },
                Some(Err((trouble, _))) => return Err(trouble),
            }
        }
        Err(moved_or_deleted(shown))
    }

    // Nobody else knows it until it is open. Where that fails, beside why, the id as far as it was read.
    async fn opened(&self, io: &Io, place: &Place, why: Opening) -> Result<Rc<Live>, (Trouble, String)> {
        let live = self.unread(place, "");
        let opened = Box::pin(async {
            live.opened(io).await?;
            // Of a folder that is gone nothing is read, and that is no session.
            if io.stat(&place.folder()).await?.is_none() {
                return Err(moved_or_deleted(&live.shown()));
            }
            let notices = match why {
                Opening::Asked => live.taken_up(io, self.setup.idle_ms, true).await?.notices,
                Opening::Written => {
                    live.hold(io).await?;
                    Vec::new()
                }
            };
            self.meet(io, place).await?;
            Ok(notices)
        });
        let notices = opened.await.map_err(|trouble| (trouble, live.id()))?;
        self.keep(&live);
        self.heard(&live);
        self.tell(&live.shown(), notices);
        Ok(live)
    }

    /// One that is open, as its files say by now. Where its folder was moved or deleted meanwhile, by another process or by hand,
    /// it is open no longer, and none is.
    async fn known(&self, io: &Io, is: &dyn Fn(&Live) -> bool) -> Result<Option<Rc<Live>>, Trouble> {
        loop {
            let found = self.open.borrow().iter().find(|live| is(live)).cloned();
            let Some(live) = found else { return Ok(None) };
            let shown = live.shown();
            io.turn_of(&shown).await?;
            let is_same = self.is_open(&live) && is(&live);
            let is_there = is_same && live.is_where_it_was(io).await?;
            if is_there {
                live.looked_here(io).await?;
            } else if is_same {
                self.forget(&live);
                live.released(io).await?;
            }
            io.leave_of(&shown);
            if is_same {
                return Ok(is_there.then_some(live));
            }
        }
    }

    // The same one where it lay before: it is held there no longer.
    async fn without_others(&self, io: &Io, live: &Rc<Live>) -> Result<(), Trouble> {
        let open = self.open.borrow().clone();
        for other in open {
            if other.id() == live.id() && !Rc::ptr_eq(&other, live) {
                self.known(io, &|one| core::ptr::eq(one, &*other)).await?;
            }
        }
        Ok(())
    }

    // What was derived from one that is gone is nobody's any more; what was acknowledged went along with its folder.
    async fn shut(&self, io: &Io, live: &Rc<Live>) -> Result<(), Trouble> {
        let shown = live.shown();
        io.turn_of(&shown).await?;
        let ended = match self.is_open(live) {
            true => match live.is_where_it_was(io).await {
                Ok(true) => live.closed(io).await,
                Ok(false) => live.released(io).await,
                Err(trouble) => Err(trouble),
            },
            // Somebody else has closed it meanwhile.
            false => Ok(()),
        };
        self.forget(live);
        io.leave_of(&shown);
        ended
    }
}
