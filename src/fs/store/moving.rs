//! Sessions that go elsewhere: into the other placement, and into the trash and back.

use alloc::string::String;
use std::path::PathBuf;

use super::super::request::{no_request, with};
use super::super::session::Session;
use super::{Store, with_words};
use crate::json::fields::Fields;
use crate::json::text::to_json;
use crate::operation::Trouble;

impl Store {
    /// Puts a session into the other placement, with all that is known of it: `{"to","name","day","title"}`, where `to` is `home`
    /// or `workspace`, and a name is made of the title unless given. Where it lay before, it goes to the trash.
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
        let live = &session.0.live;
        self.0.host.drive(live.refuse_if_open())?;
        self.0.host.drive(live.flush(true))?;
        let (shown, placement, metadata) = (live.shown(), live.placement(), session.metadata());
        let asked = Fields::parse(request).map_err(|_| no_request())?;
        if asked.raw("to") == Some(&to_json(placement.as_str())) {
            return Ok(session.clone());
        }
        let known = Fields::parse(&metadata).map_err(|_| no_request())?;
        let display = known.raw("display").and_then(|raw| Fields::parse(raw).ok());
        let title = display.as_ref().and_then(|display| display.raw("title")).filter(|_| !asked.has("title"));
        let own = [
            ("id", Some(to_json(&live.id()))),
            ("type", known.raw("type").map(String::from)),
            ("title", title.map(String::from)),
        ];
        let about = with_words(&with(request, &own)?)?;
        session.clone().close()?;
        let moved = self.drive(self.0.core.carry(shown, placement, about))?;
        self.at(moved.ok_or_else(|| Trouble::internal("expected a place, but found none"))?)
    }

    /// Deletes a session: it lies in the trash then, whole, which is the answer. With `purges` it is gone for good.
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
        let live = &session.0.live;
        self.0.host.drive(live.refuse_if_open())?;
        self.0.host.drive(live.look())?;
        let (at, id) = ((live.shown(), live.placement()), live.id());
        session.clone().close()?;
        Ok(self.drive(self.0.core.delete(at, id, purges))?.map(PathBuf::from))
    }

    /// The sessions in the trash, deleted last first: `[{"id","title","deleted","path","placement","from"}]`.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// store.delete(&store.create(r#"{"title":"The parser"}"#)?, false)?;
    /// assert!(store.trashed()?.contains("The parser"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn trashed(&self) -> Result<String, Trouble> {
        self.drive(self.0.core.trashed())
    }

    /// Brings a session in the trash back to where it was: by its id, or a unique beginning of one. Answer:
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
        self.drive(self.0.core.restore(id.into()))
    }
}
