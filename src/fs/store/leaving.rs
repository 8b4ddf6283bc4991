//! What leaves of no session alone.

use alloc::string::String;

use super::super::rules::{self, Out};
use super::Store;
use crate::json::text::to_json;
use crate::operation::{Leaving, Left, Trouble};

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
    /// assert_eq!(store.redacted(r#"{"a":1}"#)?, r#"{"value":{"a":1},"secrets":[]}"#);
    /// # Ok(())
    /// # }
    /// ```
    pub fn redacted(&self, value: &str) -> Result<String, Trouble> {
        let out = self.out();
        let left = if out.leaving.is_on() { out.left(&self.0.host, value.into())? } else { Left::default() };
        Ok(rules::told(value, &left))
    }

    /// The secrets in what left since the store was opened, where it looks for them: `[{"rule","placeholder","count"}]`.
    pub fn secrets(&self) -> String {
        to_json(&self.0.door.told())
    }

    // What leaves of no session.
    pub(super) fn out(&self) -> Out {
        Out { leaving: Leaving::new(&self.0.door), folder: None }
    }
}
