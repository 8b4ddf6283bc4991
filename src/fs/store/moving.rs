//! Moves sessions into the other placement, and into the trash and back.

use alloc::string::String;
use std::path::PathBuf;

use super::super::session::Session;
use super::Store;
use crate::operation::Trouble;

impl Store {
    /// Moves a session into the other placement, with all that belongs to it: `{"to","name","day","title"}`, where `to`
    /// is `home` or `workspace`, and a name is made from the title unless given. The old folder goes to the trash.
    ///
    /// # Errors
    /// `open_elsewhere` where another process has it open; `already_exists`; `invalid_request` for another placement; those of a
    /// storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// use leftoff::fs::{Options, Store};
    /// use leftoff::layout::Placement;
    ///
    /// let options = Options { project: Some(folder.path().into()), ..Options::default() };
    /// let store = Store::open_with(folder.path().join("home"), options)?;
    /// let session = store.create(r#"{"title":"The parser"}"#)?;
    /// let moved = store.move_to(&session, r#"{"to":"workspace"}"#)?;
    /// assert_eq!((moved.placement(), moved.id()), (Placement::Workspace, session.id()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn move_to(&self, session: &Session, request: &str) -> Result<Session, Trouble> {
        self.drive_to_session(self.0.core.move_to(&session.0.files, request.into()))
    }

    /// Deletes a session: moves it into the trash, whole, and returns its place there. With `purges` it is gone for
    /// good.
    ///
    /// # Errors
    /// `open_elsewhere` where another process has it open; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let trash = store.delete(&store.create("{}")?, false)?;
    /// assert!(trash.is_some_and(|folder| folder.is_dir()));
    /// assert_eq!(store.list("{}")?, "[]");
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete(&self, session: &Session, purges: bool) -> Result<Option<PathBuf>, Trouble> {
        let trash = self.drive(self.0.core.delete_with_words(&session.0.files, purges))?;
        Ok(trash.map(PathBuf::from))
    }

    /// Lists the sessions in the trash, last deleted first: `[{"id","title","deleted","path","placement","from"}]`.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// store.delete(&store.create(r#"{"title":"The parser"}"#)?, false)?;
    /// assert!(store.list_trash()?.contains("The parser"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn list_trash(&self) -> Result<String, Trouble> {
        let trash = self.drive(self.0.core.list_trash())?;
        self.redactor().redact_value(&self.0.host, trash)
    }

    /// Brings a session back from the trash to where it was, by its id or a unique beginning of one. Answer:
    /// `{"id","title","path"}`.
    ///
    /// # Errors
    /// `not_found`, `ambiguous`; `already_exists` where the store has a session of this id; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let session = store.create("{}")?;
    /// let id = session.id();
    /// store.delete(&session, false)?;
    /// store.restore(&id)?;
    /// assert_eq!(store.session(&id)?.id(), id);
    /// # Ok(())
    /// # }
    /// ```
    pub fn restore(&self, id: &str) -> Result<String, Trouble> {
        let restored = self.drive(self.0.core.restore(id.into()))?;
        self.redactor().redact_value(&self.0.host, restored)
    }
}
