//! Redacts text that goes out only if a question finds it. Whether it is found must not reveal a secret: so the
//! search is in the redacted text, and secrets in the rest are not reported.

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
    /// Whether secrets are replaced.
    pub(in crate::operation) fn replaces(&self) -> bool {
        self.gate.redact == RedactMode::Replace
    }

    /// A copy for text that may not go out after all: its secrets are not reported before
    /// [`OutgoingRedactor::report_from`].
    pub(in crate::operation) async fn unreported_copy(
        &self,
        io: &Io,
    ) -> Result<Rc<OutgoingRedactor>, Trouble> {
        let aside = OutgoingRedactor::new(&self.gate.with_mode(io, self.gate.redact).await?);
        aside.secrets.replace(self.secrets.borrow().clone());
        Ok(aside)
    }

    /// The same for the session in this folder; in replacing mode, with the secrets of its log.
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

    /// Redacts messages whole: a part of a secret cannot be recognized as one.
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

    /// Serializes a value where its secrets are reported and left as they are; else an empty string.
    pub(in crate::operation) fn json_if_reporting<T: Serialize + ?Sized>(&self, value: &T) -> String {
        if self.gate.redact == RedactMode::Report { to_json(value) } else { String::new() }
    }

    /// Reports the secrets of a value that goes out, `told` being the part that does: those found in `whole`, or, in
    /// replacing mode, those that `aside` replaced.
    pub(in crate::operation) async fn report_value(
        &self,
        io: &Io,
        aside: &OutgoingRedactor,
        (whole, shown): (&str, &str),
    ) -> Result<(), Trouble> {
        match self.gate.redact {
            RedactMode::Off => {}
            RedactMode::Report => self.gate.report_secrets(&self.redact_json(io, whole).await?.secrets),
            RedactMode::Replace => self.report_from(aside, shown),
        }
        Ok(())
    }

    /// Reports those secrets of `aside` whose placeholders are in the outgoing text.
    pub(in crate::operation) fn report_from(&self, aside: &OutgoingRedactor, shown: &str) {
        for secret in aside.gate.reported.borrow().iter() {
            let count = shown.matches(&*secret.placeholder).count() as u64;
            // In reporting mode no placeholder shows where a secret stood.
            if count > 0 || !self.replaces() {
                self.gate.report_secrets(&[Secret { count: count.max(1), ..secret.clone() }]);
            }
        }
    }
}

impl OutgoingGate {
    /// A gate of the same store in another mode, which has reported nothing yet.
    pub(super) async fn with_mode(&self, io: &Io, redact: RedactMode) -> Result<Rc<OutgoingGate>, Trouble> {
        let gate = OutgoingGate::new(redact);
        if redact != RedactMode::Off {
            gate.key.replace(Some(self.load_key(io).await?));
        }
        Ok(gate)
    }
}

/// A redacted message, with text that no question matches in place of each placeholder.
pub(in crate::operation) fn without_placeholders(left: &Message) -> Option<Message> {
    parse_message(blank_placeholders(&to_json(left))).ok()
}

/// Parses a redacted message.
pub(super) fn parse_message(json: String) -> Result<Message, Trouble> {
    let none = || Trouble::internal("expected a message that leaves, but found something else");
    message::read(&Record::from_line(0, json)).0.ok_or_else(none)
}
