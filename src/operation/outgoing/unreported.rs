//! What leaves only where a question finds it. Whether it does must not tell what may not leave: so it is looked for in what
//! does, and nobody is told of the rest.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::{OutgoingGate, OutgoingRedactor, RedactMode};
use crate::json::text::to_json;
use crate::layout::File;
use crate::operation::outgoing_pieces::OutgoingPieces;
use crate::operation::{Io, Trouble};
use crate::privacy::{Secret, blank_placeholders};
use crate::record::message::{self, Message};
use crate::record::scan::Record;

impl OutgoingRedactor {
    /// Whether what is found leaves as something else.
    pub(in crate::operation) fn replaces(&self) -> bool {
        self.gate.redact == RedactMode::Replace
    }

    /// The same for what may come not to leave: nobody is told of what is found in it before [`OutgoingRedactor::report_from`].
    pub(in crate::operation) async fn unreported_copy(
        &self,
        io: &Io,
    ) -> Result<Rc<OutgoingRedactor>, Trouble> {
        let aside = OutgoingRedactor::new(&self.gate.with_mode(io, self.gate.redact).await?);
        aside.secrets.replace(self.secrets.borrow().clone());
        Ok(aside)
    }

    /// The same of a session in this folder; where they are replaced, with the secrets of its log.
    pub(in crate::operation) async fn unreported_copy_for(
        &self,
        io: &Io,
        folder: &File,
    ) -> Result<Rc<OutgoingRedactor>, Trouble> {
        let aside = self.unreported_copy(io).await?;
        if self.replaces() {
            let own = self.gate.redactor_for_log(io, folder).await?;
            if self.secrets.borrow().is_empty() {
                aside.cached_known_secrets.replace(Some(own.known_secrets()));
            }
            aside.secrets.borrow_mut().extend(own.secrets.borrow().iter().cloned());
        }
        Ok(aside)
    }

    /// Messages as they may leave, whole: of a part of a secret nobody can tell that it is one.
    pub(in crate::operation) async fn redact_messages(
        &self,
        io: &Io,
        messages: Vec<Message>,
    ) -> Result<Vec<Message>, Trouble> {
        if !self.is_on() {
            return Ok(messages);
        }
        self.redact_each(io, &messages).await?.into_iter().map(parse_message).collect()
    }

    /// The same, each as JSON.
    pub(super) async fn redact_each(&self, io: &Io, messages: &[Message]) -> Result<Vec<String>, Trouble> {
        OutgoingPieces::new(self, io).redact_all(messages.iter().map(to_json).collect()).await
    }

    /// A value as JSON, where what is in it is told as it is; else nothing.
    pub(in crate::operation) fn json_if_reporting<T: Serialize + ?Sized>(&self, value: &T) -> String {
        if self.gate.redact == RedactMode::Report { to_json(value) } else { String::new() }
    }

    /// A value is told, as [`Leaving::reported`] gives it, or a part of it: as it is, or, where secrets are replaced, as it was looked at aside.
    pub(in crate::operation) async fn report_value(
        &self,
        io: &Io,
        aside: &OutgoingRedactor,
        (whole, told): (&str, &str),
    ) -> Result<(), Trouble> {
        match self.gate.redact {
            RedactMode::Off => {}
            RedactMode::Report => self.gate.report_secrets(&self.redact_json(io, whole).await?.secrets),
            RedactMode::Replace => self.report_from(aside, told),
        }
        Ok(())
    }

    /// What was looked at aside is told.
    pub(in crate::operation) fn report_from(&self, aside: &OutgoingRedactor, told: &str) {
        for secret in aside.gate.reported.borrow().iter() {
            let count = told.matches(&*secret.placeholder).count() as u64;
            // What is reported leaves as it is, so that nobody sees where it stood.
            if count > 0 || !self.replaces() {
                self.gate.report_secrets(&[Secret { count: count.max(1), ..secret.clone() }]);
            }
        }
    }
}

impl OutgoingGate {
    /// The same store's, which does this about secrets, and has told nothing yet.
    pub(super) async fn with_mode(&self, io: &Io, redact: RedactMode) -> Result<Rc<OutgoingGate>, Trouble> {
        let door = OutgoingGate::new(redact);
        if redact != RedactMode::Off {
            door.key.replace(Some(self.load_key(io).await?));
        }
        Ok(door)
    }
}

/// A message as it may leave, with what no question asks for in the place of each secret.
pub(in crate::operation) fn without_placeholders(left: &Message) -> Option<Message> {
    parse_message(blank_placeholders(&to_json(left))).ok()
}

/// A message that leaves.
pub(super) fn parse_message(json: String) -> Result<Message, Trouble> {
    let none = || Trouble::internal("expected a message that leaves, but found something else");
    message::read(&Record::from_line(0, json)).0.ok_or_else(none)
}
