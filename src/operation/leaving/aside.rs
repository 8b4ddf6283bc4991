//! What leaves only where a question finds it. Whether it does must not tell what may not leave: so it is looked for in what
//! does, and nobody is told of the rest.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::{Door, Leaving, Redact};
use crate::json::text::to_json;
use crate::layout::File;
use crate::operation::pieces::Pieces;
use crate::operation::{Io, Trouble};
use crate::privacy::{Secret, blanked};
use crate::record::message::{self, Message};
use crate::record::scan::Record;

impl Leaving {
    /// Whether what is found leaves as something else.
    pub(in crate::operation) fn replaces(&self) -> bool {
        self.door.redact == Redact::Replace
    }

    /// The same for what may come not to leave: nobody is told of what is found in it before [`Leaving::tell_of`].
    pub(in crate::operation) async fn aside(&self, io: &Io) -> Result<Rc<Leaving>, Trouble> {
        let aside = Leaving::new(&self.door.apart(io, self.door.redact).await?);
        aside.secrets.replace(self.secrets.borrow().clone());
        Ok(aside)
    }

    /// The same of a session in this folder; where they are replaced, with the secrets of its log.
    pub(in crate::operation) async fn aside_of(
        &self,
        io: &Io,
        folder: &File,
    ) -> Result<Rc<Leaving>, Trouble> {
        let aside = self.aside(io).await?;
        if self.replaces() {
            let own = self.door.of_log(io, folder).await?;
            if self.secrets.borrow().is_empty() {
                aside.known.replace(Some(own.known()));
            }
            aside.secrets.borrow_mut().extend(own.secrets.borrow().iter().cloned());
        }
        Ok(aside)
    }

    /// Messages as they may leave, whole: of a part of a secret nobody can tell that it is one.
    pub(in crate::operation) async fn messages(
        &self,
        io: &Io,
        messages: Vec<Message>,
    ) -> Result<Vec<Message>, Trouble> {
        if !self.is_on() {
            return Ok(messages);
        }
        self.each_left(io, &messages).await?.into_iter().map(read).collect()
    }

    /// The same, each as JSON.
    pub(super) async fn each_left(&self, io: &Io, messages: &[Message]) -> Result<Vec<String>, Trouble> {
        Pieces::new(self, io).all(messages.iter().map(to_json).collect()).await
    }

    /// A value as JSON, where what is in it is told as it is; else nothing.
    pub(in crate::operation) fn reported<T: Serialize + ?Sized>(&self, value: &T) -> String {
        if self.door.redact == Redact::Report { to_json(value) } else { String::new() }
    }

    /// A value is told, as [`Leaving::reported`] gives it, or a part of it: as it is, or, where secrets are replaced, as it was looked at aside.
    pub(in crate::operation) async fn tell(
        &self,
        io: &Io,
        aside: &Leaving,
        (whole, told): (&str, &str),
    ) -> Result<(), Trouble> {
        match self.door.redact {
            Redact::Off => {}
            Redact::Report => self.door.tell(&self.left(io, whole).await?.secrets),
            Redact::Replace => self.tell_of(aside, told),
        }
        Ok(())
    }

    /// What was looked at aside is told.
    pub(in crate::operation) fn tell_of(&self, aside: &Leaving, told: &str) {
        for secret in aside.door.told.borrow().iter() {
            let count = told.matches(&*secret.placeholder).count() as u64;
            // What is reported leaves as it is, so that nobody sees where it stood.
            if count > 0 || !self.replaces() {
                self.door.tell(&[Secret { count: count.max(1), ..secret.clone() }]);
            }
        }
    }
}

impl Door {
    /// The same store's, which does this about secrets, and has told nothing yet.
    pub(super) async fn apart(&self, io: &Io, redact: Redact) -> Result<Rc<Door>, Trouble> {
        let door = Door::new(redact);
        if redact != Redact::Off {
            door.key.replace(Some(self.key(io).await?));
        }
        Ok(door)
    }
}

/// A message as it may leave, with what no question asks for in the place of each secret.
pub(in crate::operation) fn without_placeholders(left: &Message) -> Option<Message> {
    read(blanked(&to_json(left))).ok()
}

/// A message that leaves.
pub(super) fn read(json: String) -> Result<Message, Trouble> {
    let none = || Trouble::internal("expected a message that leaves, but found something else");
    message::read(&Record::at(0, json)).0.ok_or_else(none)
}
