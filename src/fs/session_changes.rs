//! Changes to a session's status, title, archive, pins and agent, each recorded as an event.

use alloc::format;

use super::request::check_json;
use super::session::Session;
use crate::json::text::to_json;
use crate::operation::Trouble;

impl Session {
    /// Pauses the session; it can be resumed. `summary`: where it stopped.
    ///
    /// # Errors
    /// `invalid_transition` where it was completed; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// session.stop(Some("The parser is renamed, its tests are not."))?;
    /// assert!(session.metadata().contains(r#""lifecycle": "paused""#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn stop(&self, summary: Option<&str>) -> Result<(), Trouble> {
        self.set_status("paused", summary)
    }

    /// Marks the session as completed. `summary`: its result.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// session.complete(None)?;
    /// assert_eq!(session.stop(None).map_err(|refused| refused.code().to_string()), Err("invalid_transition".into()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn complete(&self, summary: Option<&str>) -> Result<(), Trouble> {
        self.set_status("completed", summary)
    }

    /// Gives the session a title.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// session.rename("The parser's entry point")?;
    /// assert!(session.metadata().contains("The parser's entry point"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn rename(&self, title: &str) -> Result<(), Trouble> {
        self.record_changes(&format!("{{\"type\":\"title\",\"title\":{}}}", to_json(title)))
    }

    /// Hides the session from lists. No byte of it is moved.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// session.archive()?;
    /// assert!(session.metadata().contains(r#""status": "archived""#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn archive(&self) -> Result<(), Trouble> {
        self.record_changes(r#"{"type":"archived"}"#)
    }

    /// Shows the session in lists again, as it was.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// session.archive()?;
    /// session.unarchive()?;
    /// assert!(session.metadata().contains(r#""status": "active""#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn unarchive(&self) -> Result<(), Trouble> {
        self.record_changes(r#"{"type":"unarchived"}"#)
    }

    /// Keeps a message in every context.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// let said = session.append(r#"{"role":"user","content":"Never touch the schema."}"#, Default::default())?;
    /// let id = said.messages()[0].id.clone();
    /// session.pin(&id)?;
    /// assert_eq!(session.pins()?, format!("[\"{id}\"]"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn pin(&self, message_id: &str) -> Result<(), Trouble> {
        self.record_changes(&format!("{{\"type\":\"pin\",\"messageId\":{}}}", to_json(message_id)))
    }

    /// Unpins a message: contexts may omit it again.
    ///
    /// # Errors
    /// Those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// let said = session.append(r#"{"role":"user","content":"Never touch the schema."}"#, Default::default())?;
    /// let id = said.messages()[0].id.clone();
    /// session.pin(&id)?;
    /// session.unpin(&id)?;
    /// assert_eq!(session.pins()?, "[]");
    /// # Ok(())
    /// # }
    /// ```
    pub fn unpin(&self, message_id: &str) -> Result<(), Trouble> {
        self.record_changes(&format!("{{\"type\":\"unpin\",\"messageId\":{}}}", to_json(message_id)))
    }

    /// Replaces the agent from now on:
    /// `{"command","systemPromptHash","promptFile","tools","provider","model","contextWindow","baseUrl"}`.
    ///
    /// # Errors
    /// `invalid_request` for a field of another kind; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create("{}")?;
    /// session.set_agent(r#"{"command":"/brainstorm","model":"gpt-5","tools":["Read"]}"#)?;
    /// assert!(session.metadata().contains("/brainstorm"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_agent(&self, agent: &str) -> Result<(), Trouble> {
        self.record_changes(&format!("{{\"type\":\"agent\",\"agent\":{}}}", check_json(agent)?))
    }

    /// Updates fields of the agent; others stay, except that a new model drops the window and a new provider the
    /// address.
    ///
    /// # Errors
    /// Those of [`Session::set_agent`].
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let session = leftoff::fs::Store::open(home.path())?.create(r#"{"agent":{"tools":["Read"]}}"#)?;
    /// session.update_agent(r#"{"model":"gpt-5"}"#)?;
    /// assert!(session.metadata().contains("gpt-5") && session.metadata().contains("Read"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn update_agent(&self, fields: &str) -> Result<(), Trouble> {
        self.record_changes(&format!(
            "{{\"type\":\"agent\",\"partial\":true,\"agent\":{}}}",
            check_json(fields)?
        ))
    }

    fn record_changes(&self, request: &str) -> Result<(), Trouble> {
        self.0.host.drive(self.0.files.record_changes(format!("[{request}]")))
    }

    // The session's tool outputs are kept until it is stopped or completed.
    fn set_status(&self, status: &str, summary: Option<&str>) -> Result<(), Trouble> {
        let summary = summary.map(|text| format!("{{\"type\":\"summary\",\"summary\":{}}},", to_json(text)));
        self.record_changes(&format!(
            "{}{{\"type\":\"status\",\"status\":\"{status}\"}}",
            summary.unwrap_or_default()
        ))?;
        if self.0.store.has_outputs() {
            self.0
                .host
                .drive(self.0.store.clear_outputs(format!("{{\"sessionId\":{}}}", to_json(&self.id()))))?;
        }
        Ok(())
    }
}
