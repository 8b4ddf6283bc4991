//! Redacts what leaves the store and belongs to no single session.

use alloc::string::String;

use super::super::redaction::{self, Redactor};
use super::Store;
use crate::json::text::to_json;
use crate::operation::{OutgoingRedactor, RedactedValue, Trouble};

impl Store {
    /// Redacts a value, JSON: for what you read and pass on yourself. Contexts, exports and lists are redacted already.
    /// Answer: `{"value","secrets":[{"rule","placeholder","count"}]}`.
    ///
    /// # Errors
    /// What the rules that the store was opened with refuse; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// assert_eq!(store.redact(r#"{"a":1}"#)?, r#"{"value":{"a":1},"secrets":[]}"#);
    /// # Ok(())
    /// # }
    /// ```
    pub fn redact(&self, value: &str) -> Result<String, Trouble> {
        let out = self.redactor();
        let left = if out.redactor.is_on() {
            out.redact(&self.0.host, value.into())?
        } else {
            RedactedValue::default()
        };
        Ok(redaction::render_redacted(value, &left))
    }

    /// Secrets found in outgoing text since the store was opened, where it looks for them:
    /// `[{"rule","placeholder","count"}]`.
    pub fn secrets(&self) -> String {
        to_json(&self.0.gate.reported_secrets())
    }

    // The redactor of what belongs to no session.
    pub(super) fn redactor(&self) -> Redactor {
        Redactor { redactor: OutgoingRedactor::new(&self.0.gate), folder: None }
    }
}
