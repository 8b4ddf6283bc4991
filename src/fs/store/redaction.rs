//! What leaves of no session alone.

use alloc::string::String;

use super::super::redaction::{self, Redactor};
use super::Store;
use crate::json::text::to_json;
use crate::operation::{OutgoingRedactor, RedactedValue, Trouble};

impl Store {
    /// A value that leaves, JSON, as it may: the door for what you read and pass on yourself. Contexts, exports and lists have been
    /// through it. Answer: `{"value","secrets":[{"rule","placeholder","count"}]}`.
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

    /// The secrets in what left since the store was opened, where it looks for them: `[{"rule","placeholder","count"}]`.
    pub fn secrets(&self) -> String {
        to_json(&self.0.gate.reported_secrets())
    }

    // What leaves of no session.
    pub(super) fn redactor(&self) -> Redactor {
        Redactor { redactor: OutgoingRedactor::new(&self.0.gate), folder: None }
    }
}
