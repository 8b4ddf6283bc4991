//! Native export: writes a session as one of another agent's own, where its client looks for it.

use alloc::collections::BTreeMap;
use alloc::string::String;
use std::path::Path;

use serde::Deserialize;

use super::super::agents;
use super::super::helpers::Helpers;
use super::super::request::with_fields;
use super::super::session::{Resume, Session, title_in};
use super::Store;
use super::folders::{absolute_path, path_text};
use crate::interop::AgentName;
use crate::interop::native;
use crate::json::fields::Fields;
use crate::json::text::to_json;
use crate::operation::Trouble;

/// The options of writing a session for an agent.
#[derive(Clone, Debug, Default)]
pub struct WriteForAgent<'a> {
    /// The agent's name.
    pub agent: &'a str,
    /// The folder to work in there; the store's project unless given.
    pub folder: Option<&'a Path>,
    /// The client's environment variables, which may say where it keeps its files; this program's unless given.
    pub variables: Option<BTreeMap<String, String>>,
    /// Resumes the session: the client's model reads the command and the resume block before the history.
    pub resume: Option<Resume<'a>>,
    /// The command's text, for resuming; as stored unless given.
    pub command: Option<&'a str>,
}

#[derive(Default, Deserialize)]
struct ModelRequest {
    model: Option<String>,
}

impl Store {
    /// Writes a session as another agent keeps its own, where its client looks for it, so that the client resumes it.
    /// What is said there continues this session once it is imported. The request is that of [`Session::context`].
    /// Answer: `{"id","agent","path",
    /// "folder","copy","command","takes","messageCount","included","losses","warnings","assumed","secrets"}`, where
    /// `command` starts the client, and `takes`, run first, makes a client without session files take this one in.
    /// `copy` is `none` where the session is resumed and the client's own session that it was imported from has all of
    /// it, `reused` where an earlier copy has, else `new`.
    ///
    /// # Errors
    /// `invalid_request` and `unknown_format` for an agent that takes no sessions; `empty_file` where nothing was said; what
    /// [`Session::context`] refuses.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// use leftoff::fs::{Store, WriteForAgent};
    ///
    /// let store = Store::open(home.path().join("store"))?;
    /// let session = store.create(r#"{"model":"gpt-5"}"#)?;
    /// session.append(r#"{"role":"user","content":"Hello"}"#, Default::default())?;
    /// let codex = home.path().join("codex").to_str().expect("Unicode").into();
    /// let variables = Some([("CODEX_HOME".into(), codex)].into());
    /// let how = WriteForAgent { agent: "codex", variables, ..Default::default() };
    /// let written = store.write_for_agent(&session, how, "{}", Default::default())?;
    /// assert!(written.contains(r#""command":["codex","resume","#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn write_for_agent(
        &self,
        session: &Session,
        how: WriteForAgent<'_>,
        request: &str,
        helpers: Helpers<'_>,
    ) -> Result<String, Trouble> {
        let agent = AgentName::parse(how.agent)?;
        let format = native::format_of(agent)?;
        let ModelRequest { model } = serde_json::from_str(request).unwrap_or_default();
        let is_fitted = Fields::parse(request).is_ok_and(|fields| fields.decoded_entries().next().is_some());
        let fixed = [
            ("assumes", Some("true".into())),
            ("format", Some(to_json(&format.as_str()))),
            ("stored", Some("true".into())),
        ];
        let request = with_fields(request, &fixed)?;
        let begins = match how.resume {
            Some(resume) => ("resumed", Some(session.resume(&request, resume, helpers)?)),
            None => ("context", Some(session.context(&request, helpers)?)),
        };
        let variables = how.variables.unwrap_or_else(agents::variables);
        let folder = path_text(&absolute_path(how.folder.unwrap_or(self.project()))?)?;
        let title = title_in(&session.redact_value(&session.metadata())?)?;
        let request_fields = [
            ("agent", Some(to_json(&how.agent))),
            ("session", Some(to_json(&session.id()))),
            ("title", Some(to_json(&title))),
            ("model", model.map(|model| to_json(&model))),
            ("folder", Some(to_json(&folder))),
            ("variables", Some(to_json(&variables))),
            ("command", how.command.map(to_json)),
            ("isFitted", is_fitted.then(|| "true".into())),
            begins,
        ];
        self.drive(self.0.core.write_for_agent(with_fields("{}", &request_fields)?))
    }
}
