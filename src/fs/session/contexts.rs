//! What a session gives to model calls: contexts, briefs, summaries, resuming and compaction.

use alloc::format;
use alloc::string::{String, ToString};

use super::super::helpers::Helpers;
use super::super::request::check_json;
use super::{Compact, Resume, Session, build_request};
use crate::json::text::to_json;
use crate::operation::Trouble;
use crate::tokens::Encoding;

impl Session {
    /// Builds what a model call gets: messages within the budget, each call with its result, and a report that says
    /// why. The request is as [`Request::from_json`](crate::context::Request::from_json) reads it.
    ///
    /// # Errors
    /// `budget_too_small` where the newest user message does not fit, not even shortened; `no_counter` for an encoding that
    /// needs `count`; `invalid_request`; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// session.append(r#"{"role":"user","content":"Hello"}"#, Default::default())?;
    /// let context = session.context(r#"{"window":8000,"format":"openai-chat"}"#, Default::default())?;
    /// assert!(context.starts_with(r#"{"messages":[{"role":"user","content":"Hello"}]"#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn context(&self, request: &str, mut helpers: Helpers<'_>) -> Result<String, Trouble> {
        let request_json = self.0.redactor.add_leaves_flag(build_request(request, &helpers, &[])?);
        self.0.host.drive_outgoing(
            self.0.files.context(request_json, self.counting_mode()),
            &mut helpers,
            Some(&self.redactor()),
        )
    }

    /// Reads the report of the last context, without its texts: the budget, and for each message why it is in or not;
    /// `null` where none was built. It is kept on disk, so another process may ask.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// assert_eq!(session.last_context()?, "null");
    /// session.append(r#"{"role":"user","content":"Hello"}"#, Default::default())?;
    /// session.context(r#"{"window":8000}"#, Default::default())?;
    /// assert!(session.last_context()?.contains(r#""strategy":"full-history""#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn last_context(&self) -> Result<String, Trouble> {
        self.drive_redacted(self.0.files.last_context())
    }

    /// Reads the last report with its messages, built again from the session as it was then: `isVerified` where they
    /// equal those that were given, else `differences` say why not, `[{"code","message"}]`.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// session.append(r#"{"role":"user","content":"Hello"}"#, Default::default())?;
    /// session.context(r#"{"window":8000,"format":"openai-chat"}"#, Default::default())?;
    /// session.append(r#"{"role":"assistant","content":"Hello to you"}"#, Default::default())?;
    /// let sent = session.sent_context()?;
    /// assert!(sent.ends_with(r#""isVerified":true,"differences":[],"messages":[{"role":"user","content":"Hello"}]}"#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn sent_context(&self) -> Result<String, Trouble> {
        let sent = self.0.files.sent_context(self.0.redactor.is_on());
        self.0.host.drive_outgoing(sent, &mut Helpers::default(), Some(&self.redactor()))
    }

    /// Returns the task, pinned messages, open tasks, files and decisions, as a text of at most so many tokens: for a
    /// compaction hook. Empty where nothing is known.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// use leftoff::tokens::Encoding;
    ///
    /// session.append(r#"{"role":"user","content":"Rename the parser's entry point."}"#, Default::default())?;
    /// assert!(session.brief(2000, Encoding::Estimate1)?.contains("the parser's entry point"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn brief(&self, max_tokens: u32, encoding: Encoding) -> Result<String, Trouble> {
        let request = format!("{{\"maxTokens\":{max_tokens},\"encoding\":{}}}", to_json(encoding.as_str()));
        let brief = self.0.files.brief(self.0.redactor.add_leaves_flag(request));
        self.0.host.drive_outgoing(brief, &mut Helpers::default(), Some(&self.redactor()))
    }

    /// Resumes the session: returns the command that began it, the resume block, and the history that fits. A paused
    /// session becomes active again. The request is that of [`Session::context`]. Answer:
    /// `{"id","command","block","warnings", "context"}`.
    ///
    /// # Errors
    /// What [`Session::context`] refuses.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// session.append(r#"{"role":"user","content":"Hello"}"#, Default::default())?;
    /// session.stop(None)?;
    /// let resumed = session.resume(r#"{"window":8000}"#, Default::default(), Default::default())?;
    /// assert!(resumed.contains("[RESUMED CONVERSATION]"));
    /// assert!(session.metadata().contains(r#""lifecycle": "active""#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn resume(
        &self,
        request: &str,
        how: Resume<'_>,
        mut helpers: Helpers<'_>,
    ) -> Result<String, Trouble> {
        let Resume { overrides, revives, now, max_bytes } = how;
        let about = [
            ("override", Some(overrides.to_string())),
            ("revives", Some(revives.to_string())),
            ("now", now.map(check_json).transpose()?.map(String::from)),
            ("maxBytes", max_bytes.map(|bytes| bytes.to_string())),
        ];
        let request_json = self.0.redactor.add_leaves_flag(build_request(request, &helpers, &about)?);
        self.0.host.drive_outgoing(
            self.0.files.resume(request_json, self.counting_mode()),
            &mut helpers,
            Some(&self.redactor()),
        )
    }

    /// Returns a summary of the messages from one to another, `{"startMessageId","endMessageId","maxTokens"}`: a
    /// model's summary of just these, if one is kept, else one made from the session state.
    ///
    /// # Errors
    /// `not_found` for a message that is not on the path; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// let said = session.append(r#"{"role":"user","content":"Fix the parser."}"#, Default::default())?.messages();
    /// let id = &said[0].id;
    /// let asked = format!(r#"{{"startMessageId":"{id}","endMessageId":"{id}","maxTokens":200}}"#);
    /// assert!(session.summary_of(&asked)?.contains("Fix the parser."));
    /// # Ok(())
    /// # }
    /// ```
    pub fn summary_of(&self, request: &str) -> Result<String, Trouble> {
        let summary =
            self.0.files.summary_of(self.0.redactor.add_leaves_flag(request.into()), self.counting_mode());
        self.0.host.drive_outgoing(summary, &mut Helpers::default(), Some(&self.redactor()))
    }

    /// Starts future contexts after a summary; without `apply` it only says what it would do. The request is that of
    /// [`Session::context`].
    ///
    /// # Errors
    /// What [`Session::context`] refuses.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// session.append(r#"{"role":"user","content":"Hello"}"#, Default::default())?;
    /// let plan = session.compact(r#"{"window":8000}"#, Default::default(), Default::default())?;
    /// assert!(plan.contains(r#""isApplied":false"#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn compact(&self, request: &str, how: Compact, mut helpers: Helpers<'_>) -> Result<String, Trouble> {
        let Compact { apply, undo, keep } = how;
        let how = [
            ("apply", Some(apply.to_string())),
            ("undo", Some(undo.to_string())),
            ("keep", keep.map(|tokens| tokens.to_string())),
        ];
        let request_json = self.0.redactor.add_leaves_flag(build_request(request, &helpers, &how)?);
        self.0.host.drive_outgoing(
            self.0.files.compact(request_json, self.counting_mode()),
            &mut helpers,
            Some(&self.redactor()),
        )
    }
}
