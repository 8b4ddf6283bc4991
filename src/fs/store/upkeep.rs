//! Upkeep of a store: facts about a session, the doctor, and relocating a project's sessions.

use alloc::string::String;
use std::path::Path;

use unicode_normalization::UnicodeNormalization;

use super::super::helpers::Helpers;
use super::super::refusal::storage_failure;
use super::super::request::with_fields;
use super::super::session::Session;
use super::Store;
use super::folders::{path_text, real_folder};
use crate::operation::Trouble;

impl Store {
    /// Reads from a session's files all there is to know of it:
    /// `{"id","name","title","type","status","archivedAt","summary","createdAt","lastActive",
    /// "project","placement","path","agent":{"command","model","provider","contextWindow","tools"},"source":{"agent","id"},
    /// "totalTokens","toolExecutions","messageCount","roles","branches","pins","forkedFrom","parent","forks","subagents",
    /// "files":[{"file","bytes","count"}],"health","problems","openIn":[{"program","pid","host","since"}]}`. Unknown
    /// fields are null; messages of all branches count. `forks` and `subagents` are ids, within the project, and
    /// `openIn` says which other processes have it open.
    ///
    /// # Errors
    /// `not_found` where the session is gone; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let session = store.create("{}")?;
    /// session.append(r#"{"role":"user","content":"Hello"}"#, Default::default())?;
    /// let fork = store.fork(&session, "{}")?;
    /// let info = store.info(&session)?;
    /// assert!(info.contains(r#""roles":{"system":0,"user":1,"assistant":0,"tool":0}"#));
    /// assert!(info.contains(&format!(r#""forks":["{}"]"#, fork.id())));
    /// # Ok(())
    /// # }
    /// ```
    pub fn info(&self, session: &Session) -> Result<String, Trouble> {
        session.redact_value(&self.drive(self.0.core.info(&session.0.files))?)
    }

    /// Reports what is wrong with all sessions and the store itself, or with one: `{"id","fix","secrets"}`, all
    /// optional. Without `fix` it changes no byte; with `fix` it mends what can be mended, and never touches a complete
    /// line of a log. `secrets`: also looks for secrets in the files. `helpers.progress` hears of each session before it
    /// is examined. Answer: `[{"id","path","health","problems":[{"file", "code","start","end","message"}],"fixed"}]`;
    /// places are byte offsets.
    ///
    /// # Errors
    /// `invalid_request`; `not_found` or `ambiguous` for an `id` that means none, or several; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// store.create("{}")?;
    /// let report = store.doctor("{}", Default::default())?;
    /// assert!(report.contains(r#""health":"ok","problems":[]"#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn doctor(&self, request: &str, mut helpers: Helpers<'_>) -> Result<String, Trouble> {
        let tells = helpers.progress.is_some().then(|| "true".into());
        let request = with_fields(request, &[("onProgress", tells)])?;
        let report = self.drive_with(self.0.core.doctor(request), &mut helpers)?;
        self.redactor().redact_value(&self.0.host, report)
    }

    /// Mends a session's files where they can be mended. Answer: its report, as of [`Store::doctor`]; null where it is
    /// gone.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let session = store.create("{}")?;
    /// std::fs::remove_file(session.path().join("metadata.json"))?;
    /// assert!(store.mend(&session)?.contains("wrote metadata.json anew"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn mend(&self, session: &Session) -> Result<String, Trouble> {
        session.flush()?;
        self.drive(self.0.core.mend(session.0.files.shown_folder(), session.placement()))
    }

    /// Assigns a folder's sessions to another folder, after a project was moved. Returns how many.
    ///
    /// # Errors
    /// `not_found` where there is no such folder; `open_elsewhere` where another process has one of them open; those of a
    /// storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let id = store.create("{}")?.id();
    /// assert_eq!(store.relocate(store.project(), home.path())?, 1);
    /// assert!(store.session(&id)?.metadata().contains(home.path().to_str().expect("Unicode")));
    /// # Ok(())
    /// # }
    /// ```
    pub fn relocate(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<u64, Trouble> {
        let from = from.as_ref();
        let old =
            std::path::absolute(from).map_err(|error| storage_failure("stat", from, None, error.into()))?;
        let path = real_folder(to.as_ref().into())?;
        let normal = |path: &Path| Ok::<String, Trouble>(path_text(path)?.nfc().collect());
        self.drive(self.0.core.relocate_project(normal(&old)?, path_text(&path)?, normal(&path)?))
    }
}
