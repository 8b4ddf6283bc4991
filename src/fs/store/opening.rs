//! The sessions that a program has: one value for each that the core has open.

use alloc::rc::{Rc, Weak};

use super::super::session::{Opened, Session};
use super::Store;
use crate::operation::{Leaving, Live, Operation, Trouble};

impl Store {
    // Ends with a session.
    pub(super) fn opening(&self, operation: Operation<'_, Rc<Live>>) -> Result<Session, Trouble> {
        self.drive(operation).map(|live| self.session_of(live))
    }

    // However often it is asked for, its clones share one.
    pub(super) fn session_of(&self, live: Rc<Live>) -> Session {
        let mut sessions = self.0.sessions.borrow_mut();
        sessions.retain(|one| one.strong_count() > 0);
        let mut open = sessions.iter().filter_map(Weak::upgrade);
        if let Some(opened) = open.find(|opened| Rc::ptr_eq(&opened.live, &live)) {
            return Session(opened);
        }
        let (host, store) = (self.0.host.clone(), self.0.core.clone());
        let opened = Rc::new(Opened { live, host, store, leaving: Leaving::new(&self.0.door) });
        sessions.push(Rc::downgrade(&opened));
        Session(opened)
    }
}
