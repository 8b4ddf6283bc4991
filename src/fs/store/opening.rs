//! The sessions that somebody has open: one for each folder, whoever asks meanwhile.

use alloc::boxed::Box;
use alloc::rc::{Rc, Weak};
use alloc::vec::Vec;
use core::cell::RefCell;

use serde_json::value::RawValue;

use super::super::host::Found;
use super::super::session::{Opened, Session};
use super::Store;
use crate::operation::{Leaving, Live, Trouble};

impl Store {
    // The one of a folder.
    pub(super) fn at(&self, found: Found) -> Result<Session, Trouble> {
        let path = found.0.clone();
        if let Some(known) = self.known(|one| one.live.shown() == path)? {
            return Ok(known);
        }
        let (live, taken_up) = self.drive(self.0.core.open(found.0, found.1))?;
        let (id, shown) = (live.id(), live.shown());
        // The same one where it lay before: it is held there no longer.
        self.known(|one| one.live.id() == id && one.live.shown() != shown)?;
        let mut notices: Vec<Box<RawValue>> = Vec::new();
        self.0.unsaid.borrow_mut().retain(|told| {
            let is_of_it = told.path == shown;
            notices.extend(is_of_it.then(|| told.notice.clone()));
            !is_of_it
        });
        let session = self.session_of(live, notices);
        session.heard(&taken_up);
        Ok(session)
    }

    // One that was just written, for whoever has it now: it is not taken up, however long nothing was said in it.
    pub(super) fn kept(&self, (shown, placement): Found) -> Result<Session, Trouble> {
        let known = self.known(|one| one.live.shown() == shown)?;
        let session = match known {
            Some(known) => known,
            None => {
                let live = self.0.core.live(&shown, placement, "")?;
                self.0.host.drive(live.open())?;
                self.session_of(live, Vec::new())
            }
        };
        self.0.host.drive(session.0.live.take_open())?;
        Ok(session)
    }

    // That somebody has open, as its files say by now; unless its folder was moved or deleted meanwhile.
    pub(super) fn known(&self, is: impl Fn(&Opened) -> bool) -> Result<Option<Session>, Trouble> {
        let found = self.0.sessions.borrow().iter().filter_map(Weak::upgrade).find(|one| is(one));
        let Some(opened) = found else { return Ok(None) };
        if self.0.host.drive(opened.live.is_there())? {
            self.0.host.drive(opened.live.look())?;
            return Ok(Some(Session(opened)));
        }
        self.0.core.forget(&opened.live);
        self.forget(&opened);
        self.0.host.drive(opened.live.release())?;
        Ok(None)
    }

    // Whoever asks next gets another one.
    pub(super) fn forget(&self, opened: &Rc<Opened>) {
        self.0.sessions.borrow_mut().retain(|one| !core::ptr::eq(one.as_ptr(), Rc::as_ptr(opened)));
    }

    // One for a folder, however often it is asked for.
    pub(super) fn session_of(&self, live: Rc<Live>, notices: Vec<Box<RawValue>>) -> Session {
        let mut sessions = self.0.sessions.borrow_mut();
        sessions.retain(|one| one.strong_count() > 0);
        let mut open = sessions.iter().filter_map(Weak::upgrade);
        if let Some(opened) = open.find(|opened| Rc::ptr_eq(&opened.live, &live)) {
            return Session(opened);
        }
        let (host, store, notices) = (self.0.host.clone(), self.0.core.clone(), RefCell::new(notices));
        let leaving = Leaving::new(&self.0.door);
        let opened = Rc::new(Opened { live, host, store, leaving, notices });
        sessions.push(Rc::downgrade(&opened));
        Session(opened)
    }
}
