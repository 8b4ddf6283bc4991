//! The sessions that a program holds: one shared value for each that the core has open.

use alloc::rc::{Rc, Weak};

use super::super::session::{OpenSession, Session};
use super::Store;
use crate::operation::{Operation, OutgoingRedactor, SessionFiles, Trouble};

impl Store {
    // Drives an operation that ends with a session.
    pub(super) fn drive_to_session(
        &self,
        operation: Operation<'_, Rc<SessionFiles>>,
    ) -> Result<Session, Trouble> {
        self.drive(operation).map(|files| self.session_of(files))
    }

    // However often a session is asked for, its clones share one value.
    pub(super) fn session_of(&self, session_files: Rc<SessionFiles>) -> Session {
        let mut sessions = self.0.sessions.borrow_mut();
        sessions.retain(|one| one.strong_count() > 0);
        let mut open = sessions.iter().filter_map(Weak::upgrade);
        if let Some(opened) = open.find(|opened| Rc::ptr_eq(&opened.files, &session_files)) {
            return Session(opened);
        }
        let (host, store) = (self.0.host.clone(), self.0.core.clone());
        let opened = Rc::new(OpenSession {
            files: session_files,
            host,
            store,
            redactor: OutgoingRedactor::new(&self.0.gate),
        });
        sessions.push(Rc::downgrade(&opened));
        Session(opened)
    }
}
