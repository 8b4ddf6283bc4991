//! Commits one conversation by git.

use alloc::string::{String, ToString};

use super::super::session::{Session, title_in};
use super::Store;
use crate::json::text::to_json;
use crate::layout::Placement;
use crate::operation::Trouble;

impl Store {
    /// Commits a conversation with its session, or the session alone where only that changed, with git itself. Answer:
    /// `{"commit","message","isSessionOnly","files"}`, where `commit` is null if nothing has changed.
    ///
    /// # Errors
    /// `not_in_workspace`, `not_a_repository`, `git_missing`, `git_busy`, `git_failed`, `session_ignored`; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let refused = store.commit(&store.create("{}")?).map_err(|refused| refused.code().to_string());
    /// assert_eq!(refused, Err("not_in_workspace".into()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn commit(&self, session: &Session) -> Result<String, Trouble> {
        let placement = session.placement();
        if placement == Placement::Workspace {
            session.flush()?;
        }
        // The title goes into a repository, so it is redacted, as in a list.
        let title = session.redact_value(&to_json(&title_in(&session.metadata())?))?;
        let title: String =
            serde_json::from_str(&title).map_err(|error| Trouble::internal(error.to_string()))?;
        self.drive(self.0.core.commit(session.0.files.shown_folder(), placement, title))
    }
}
