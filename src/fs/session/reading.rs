//! Reads a session: its messages, tools, state and pins; search, export and examination.

use alloc::string::String;

use super::super::helpers::Helpers;
use super::super::pages::{MessageFeed, Pages};
use super::super::request::with_embeds;
use super::{OpenSession, Session};
use crate::operation::Trouble;

impl Session {
    /// Reads the messages of the current path, as contexts have it, in pages of a JSON array each: each message once,
    /// as its highest revision. `reading` is `{"newestFirst","leaf","allBranches"}`, all optional.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// session.append(r#"{"role":"user","content":"Hello"}"#, Default::default())?;
    /// let pages = session.messages("{}").collect::<Result<Vec<_>, _>>()?;
    /// assert!(pages[0].contains(r#""content":"Hello""#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn messages(&self, reading: &str) -> Pages<'static> {
        Pages::new(&self.0.host, self.0.files.messages(reading.into()), Helpers::default())
    }

    /// Searches the session for a question or words, best hit first, as [`Store::search`](super::super::Store::search)
    /// does. The request is `{"role","since","until","limit","regex","numbers"}`, all optional: by whom and when it was
    /// said, how many messages at most, 20 unless given, whether the question is a regular expression, and whether each
    /// hit has the `number` of its message.
    ///
    /// # Errors
    /// `not_found` where the session is gone; `storage_closed` where its store is.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// session.append(r#"{"role":"user","content":"Rename the parser."}"#, Default::default())?;
    /// let found = session.search("where were parsers renamed?", "{}", Default::default())?.collect::<Result<Vec<_>, _>>()?;
    /// assert!(found[0].contains(r#"{"text":"parser","isHit":true}"#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn search<'a>(
        &self,
        question: &str,
        request: &str,
        helpers: Helpers<'a>,
    ) -> Result<Pages<'a>, Trouble> {
        let OpenSession { files, store, redactor, host, .. } = &*self.0;
        host.reject_ended()?;
        let request = with_embeds(request, &helpers)?;
        Ok(Pages::new(host, store.search_in(files.id(), question.into(), request, redactor), helpers))
    }

    /// Follows what is appended from now on, by any process.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// let mut followed = session.follow()?;
    /// assert_eq!(followed.look()?, None);
    /// session.append(r#"{"role":"user","content":"Hello"}"#, Default::default())?;
    /// assert!(followed.look()?.expect("something new").contains("Hello"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn follow(&self) -> Result<MessageFeed, Trouble> {
        MessageFeed::new(Pages::new(&self.0.host, self.0.files.follow(), Helpers::default()))
    }

    /// Reads the tool executions, oldest first, each with its result: a JSON array.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// assert_eq!(session.tools()?, "[]");
    /// # Ok(())
    /// # }
    /// ```
    pub fn tools(&self) -> Result<String, Trouble> {
        self.drive_redacted(self.0.files.tools())
    }

    /// Returns the session state: the task, files, decisions and blockers, open tasks and failed commands. No model
    /// is asked.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// session.append(r#"{"role":"user","content":"Rename the parser's entry point."}"#, Default::default())?;
    /// assert!(session.state()?.contains(r#""originalTask":"Rename the parser's entry point.""#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn state(&self) -> Result<String, Trouble> {
        self.drive_redacted(self.0.files.state())
    }

    /// Lists the pinned messages, which are in every context: a JSON array of their ids.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// assert_eq!(session.pins()?, "[]");
    /// # Ok(())
    /// # }
    /// ```
    pub fn pins(&self) -> Result<String, Trouble> {
        self.0.host.drive(self.0.files.pins())
    }

    /// Exports the session as one text, in pieces: `{"format","allBranches"}`, of `json` or `markdown`.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// session.append(r#"{"role":"user","content":"Hello"}"#, Default::default())?;
    /// let text = session.export(r#"{"format":"markdown"}"#).collect::<Result<String, _>>()?;
    /// assert!(text.contains("Hello"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn export(&self, request: &str) -> Pages<'static> {
        // Reads the session anew, as JavaScript's second module does: this handle's own state stays as it is.
        Pages::new(
            &self.0.host,
            self.0.files.unopened_copy().export(request.into(), &self.0.redactor),
            Helpers::default(),
        )
    }

    /// Reads all of the session's files and reports what is wrong; nothing is mended. Places are byte offsets.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// assert!(session.examine()?.contains(r#""health":"ok""#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn examine(&self) -> Result<String, Trouble> {
        self.drive_redacted(self.0.files.examine())
    }
}
