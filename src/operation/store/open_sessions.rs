//! Opens sessions: one handle for each folder, whoever asks for it meanwhile. Finds where a session lies by now, and
//! pauses it if that is due.
//!
//! No operation has the turns of two sessions at once, so that none waits for another one that waits for it.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use super::current_session::CurrentChoice;
use super::lookup::LookupWay;
use super::places::MAX_PARALLEL_READS;
use crate::json::fields::{Fields, parse_objects};
use crate::layout::{Placement, SessionLocation};
use crate::operation::join::join_all;
use crate::operation::moves::{is_moved_error, moved_or_deleted_error};
use crate::operation::session_files::SessionFiles;
use crate::operation::{Io, Operation, Trouble, Work};
use crate::session::session_list::ListedSession;

/// The most moves of a session that one opening follows.
const MAX_MOVES: u32 = 20;

/// Why a session is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenReason {
    /// A caller asks for it: an idle one is paused first.
    Requested,
    /// It was written just now, for the caller: it is not paused, however long nothing was said in it.
    JustWritten,
}

impl Store {
    /// Opens a session by its id, a unique beginning of one, or its name in a workspace. If it is open already, the
    /// same handle is returned, in step with its files.
    ///
    /// # Errors
    /// `not_found`; `ambiguous` where several ids begin so.
    pub fn session(self: &Rc<Store>, id: String) -> Operation<'static, Rc<SessionFiles>> {
        let store = self.clone();
        Operation::new(|io| async move {
            if let Some(files) = store.refresh_open(&io, &|files| files.id() == id).await? {
                return Ok(files);
            }
            if let Some((shown, placement)) = store.locate_session(&io, &id, LookupWay::ByWholeId).await? {
                let files = store.open_session_at(&io, &shown, placement, OpenReason::Requested).await?;
                // A folder may be named like a session that it does not hold.
                if files.id() == id {
                    return Ok(files);
                }
            }
            let listed = store.locate_session(&io, &id, LookupWay::ByList).await?;
            let (shown, placement) = listed.ok_or_else(|| Trouble::internal("expected a list to tell"))?;
            store.open_session_at(&io, &shown, placement, OpenReason::Requested).await
        })
    }

    /// Opens the project's current session: the one that the pointer names, else the last active one; none where there
    /// is none.
    pub fn current(self: &Rc<Store>) -> Operation<'static, Option<Rc<SessionFiles>>> {
        let store = self.clone();
        Operation::new(|io| async move {
            match store.find_current(&io, CurrentChoice::Any).await? {
                Some(session) => store.open_listed(&io, session).await.map(Some),
                None => Ok(None),
            }
        })
    }

    /// Opens the project's last session that can be resumed, and makes it the current one; if there is none, creates
    /// one from the request, as [`Store::create`] does.
    pub fn go_on(self: &Rc<Store>, request: String) -> Operation<'static, Rc<SessionFiles>> {
        let store = self.clone();
        Operation::new(|io| async move {
            store.parse_create_request(&request)?;
            // So that callers at the same time get the same session.
            io.take_turn_of(&store.setup.project).await?;
            let Some(session) = store.find_current(&io, CurrentChoice::Resumable).await? else {
                return store.create_session(&io, &request).await;
            };
            let files = store.open_listed(&io, session).await?;
            store.point_at(&io, &files).await?;
            Ok(files)
        })
    }

    /// Opens the session in a folder, given by its display path; if it was moved meanwhile, at its new place.
    ///
    /// # Errors
    /// `not_found` where it was deleted, or moved to an unknown place.
    pub fn open(
        self: &Rc<Store>,
        shown: String,
        placement: Placement,
    ) -> Operation<'static, Rc<SessionFiles>> {
        let store = self.clone();
        Operation::new(move |io| async move {
            store.open_session_at(&io, &shown, placement, OpenReason::Requested).await
        })
    }

    /// Opens a session that another store wrote just now: it is not paused, and this process takes a lease.
    pub fn open_written(
        self: &Rc<Store>,
        shown: String,
        placement: Placement,
    ) -> Operation<'static, Rc<SessionFiles>> {
        let store = self.clone();
        Operation::new(move |io| async move {
            store.open_session_at(&io, &shown, placement, OpenReason::JustWritten).await
        })
    }

    /// Opens the sessions of a recording, from the answer of [`Store::record`], of this or another store of the same
    /// home. None of them is paused. The first of the answer is the conversation's own session: it becomes the current
    /// one, and moves beside its workspace conversation, if it belongs to one.
    pub fn open_recorded(self: &Rc<Store>, recording: String) -> Operation<'static, Vec<Rc<SessionFiles>>> {
        let store = self.clone();
        Operation::new(|io| async move { store.open_all_recorded(&io, &recording).await })
    }

    pub(super) async fn open_all_recorded(
        &self,
        io: &Io,
        recording: &str,
    ) -> Result<Vec<Rc<SessionFiles>>, Trouble> {
        let bad_recording = |_| Trouble::internal("expected what was recorded");
        let fields = Fields::parse(recording).map_err(bad_recording)?;
        let at = fields.raw("at").and_then(|raw| Fields::parse(raw).ok());
        let all = parse_objects(fields.raw("all").unwrap_or_default()).unwrap_or_default();
        let mut open = Vec::new();
        for mut place in at.into_iter().chain(all) {
            let mut text = |key: &str| place.take::<String>(key, &mut Vec::new()).unwrap_or_default();
            let (shown, placement) = (text("path"), Placement::from_name(&text("placement")));
            open.push(
                self.open_session_at(
                    io,
                    &shown,
                    placement.unwrap_or(Placement::Home),
                    OpenReason::JustWritten,
                )
                .await?,
            );
        }
        if let (Some(first), Some(beside)) =
            (open.first_mut(), fields.raw("beside").and_then(|raw| raw.strip_prefix('{')))
        {
            let request = format!("{{\"to\":\"workspace\",{beside}");
            *first = self.relocate_session(io, first, &request).await?;
        }
        if let Some(first) = open.first() {
            self.point_at(io, first).await?;
        }
        Ok(open)
    }

    /// Closes all open sessions, and writes the index for the next list: a host's last operation. A session that
    /// cannot be closed does not keep the others open.
    pub fn close(self: &Rc<Store>) -> Operation<'static, ()> {
        let store = self.clone();
        Operation::new(|io| async move {
            let mut open = store.open_sessions.borrow().clone();
            let mut closed = Ok(());
            while !open.is_empty() {
                // A session that moved to another open one's folder waits for that one's turn.
                let mut folders = BTreeSet::new();
                let is_next = |files: &mut Rc<SessionFiles>| {
                    folders.len() < MAX_PARALLEL_READS && folders.insert(files.shown_folder())
                };
                let some = open.extract_if(.., is_next).map(|files| -> Work<'_, ()> {
                    let (store, io) = (&store, &io);
                    Box::pin(async move { store.close_session(io, &files).await })
                });
                let some: Vec<_> = some.collect();
                closed = join_all(some).await.into_iter().fold(closed, Result::and);
            }
            if let Some(end) = store.close_action.take() {
                closed = closed.and(end(&store, &io).await);
            }
            closed.and(store.save_index(&io).await)
        })
    }

    async fn open_listed(&self, io: &Io, session: Rc<ListedSession>) -> Result<Rc<SessionFiles>, Trouble> {
        self.open_session_at(io, &session.path, session.entry.placement, OpenReason::Requested).await
    }

    pub(super) async fn open_session_at(
        &self,
        io: &Io,
        shown: &str,
        placement: Placement,
        why: OpenReason,
    ) -> Result<Rc<SessionFiles>, Trouble> {
        let mut place = self.session_place(shown, placement)?;
        for _ in 0..MAX_MOVES {
            let lies = self.setup.display_path(&place.folder());
            if let Some(files) = self.refresh_open(io, &|files| files.shown_folder() == lies).await? {
                if why == OpenReason::JustWritten {
                    files.acquire_lease(io).await?;
                }
                return Ok(files);
            }
            let now =
                self.current_place(io, place.clone()).await?.ok_or_else(|| moved_or_deleted_error(shown))?;
            if now != place {
                place = now;
                continue;
            }
            io.take_turn_of(&lies).await?;
            let opened = match self.find_open(&lies) {
                // Another caller has opened it meanwhile.
                Some(_) => None,
                None => Some(self.open_at_place(io, &place, why).await),
            };
            io.end_turn_of(&lies);
            match opened {
                None => {}
                Some(Ok(files)) => {
                    self.forget_moved_copies(io, &files).await?;
                    return Ok(files);
                }
                Some(Err((trouble, id))) if is_moved_error(&trouble) => match self.find_place(io, &id).await?
                {
                    Some(other) if other != place => place = other,
                    _ => return Err(trouble),
                },
                Some(Err((trouble, _))) => return Err(trouble),
            }
        }
        Err(moved_or_deleted_error(shown))
    }

    // Opens a handle that nobody else knows yet. A failure comes with the session's id, if that was read.
    async fn open_at_place(
        &self,
        io: &Io,
        place: &SessionLocation,
        why: OpenReason,
    ) -> Result<Rc<SessionFiles>, (Trouble, String)> {
        let files = self.unopened_session(place, "");
        let opened = Box::pin(async {
            files.open_files(io).await?;
            // An opened folder that is gone gives an empty handle, which is no session.
            if io.stat(&place.folder()).await?.is_none() {
                return Err(moved_or_deleted_error(&files.shown_folder()));
            }
            let notices = match why {
                OpenReason::Requested => files.pause_if_idle(io, self.setup.idle_ms, true).await?.notices,
                OpenReason::JustWritten => {
                    files.acquire_lease(io).await?;
                    Vec::new()
                }
            };
            self.register_workspace(io, place).await?;
            Ok(notices)
        });
        let notices = opened.await.map_err(|trouble| (trouble, files.id()))?;
        self.add_open(&files);
        self.deliver_notices(&files);
        self.report_notices(&files.shown_folder(), notices);
        Ok(files)
    }

    /// Brings an open session in step with its files, and returns it. If its folder was moved or deleted, by another
    /// process or by hand, the handle is dropped, and none is returned.
    async fn refresh_open(
        &self,
        io: &Io,
        is: &dyn Fn(&SessionFiles) -> bool,
    ) -> Result<Option<Rc<SessionFiles>>, Trouble> {
        loop {
            let found = self.open_sessions.borrow().iter().find(|files| is(files)).cloned();
            let Some(files) = found else { return Ok(None) };
            let shown = files.shown_folder();
            io.take_turn_of(&shown).await?;
            let is_same = self.is_open(&files) && is(&files);
            let is_there = is_same && files.is_unmoved(io).await?;
            if is_there {
                files.refresh_after_move(io).await?;
            } else if is_same {
                self.forget(&files);
                files.release_lease(io).await?;
            }
            io.end_turn_of(&shown);
            if is_same {
                return Ok(is_there.then_some(files));
            }
        }
    }

    // Drops handles of the same session at former places, where it is held no longer.
    async fn forget_moved_copies(&self, io: &Io, files: &Rc<SessionFiles>) -> Result<(), Trouble> {
        let open = self.open_sessions.borrow().clone();
        for other in open {
            if other.id() == files.id() && !Rc::ptr_eq(&other, files) {
                self.refresh_open(io, &|files| core::ptr::eq(files, &*other)).await?;
            }
        }
        Ok(())
    }

    // Closes a session. If its folder is gone, nothing derived is written; all that was acknowledged went along with
    // the folder.
    pub(super) async fn close_session(&self, io: &Io, files: &Rc<SessionFiles>) -> Result<(), Trouble> {
        let shown = files.shown_folder();
        io.take_turn_of(&shown).await?;
        let ended = match self.is_open(files) {
            true => match files.is_unmoved(io).await {
                Ok(true) => files.close_files(io).await,
                Ok(false) => files.release_lease(io).await,
                Err(trouble) => Err(trouble),
            },
            // Another caller has closed it meanwhile.
            false => Ok(()),
        };
        self.forget(files);
        io.end_turn_of(&shown);
        ended
    }
}
