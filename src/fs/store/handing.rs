//! A session on its way into another agent: written where its client looks for it, as one of its own.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::agents;
use super::super::helpers::Helpers;
use super::super::refusal::refused;
use super::super::request::with;
use super::super::session::{Resume, Session};
use super::Store;
use super::folders::text;
use crate::interop::native::{self, About, Client, Native};
use crate::interop::{AgentName, read_with};
use crate::json::text::to_json;
use crate::operation::{Failure, Trouble};
use crate::record::id;
use crate::shapes::{self, Format};

/// Which agent a session is written for, and how.
#[derive(Clone, Debug, Default)]
pub struct WriteForAgent<'a> {
    /// The agent's name.
    pub agent: &'a str,
    /// The folder that is worked in there; the store's project unless given.
    pub folder: Option<&'a Path>,
    /// What is set for the client, which may say where it keeps its files; what is set for this program unless given.
    pub variables: Option<BTreeMap<String, String>>,
    /// The session is resumed, and the client's model reads the command and the block before the history.
    pub resume: Option<Resume<'a>>,
    /// The text of the command, where the session is resumed; as it was stored unless given.
    pub command: Option<&'a str>,
}

/// A context, of what is said here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Built {
    messages: Box<RawValue>,
    original_message_count: u64,
    included_message_count: u64,
    report: Report,
    secrets: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Report {
    assumed: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Resumed {
    command: Option<String>,
    block: String,
    context: Built,
    warnings: Box<RawValue>,
}

#[derive(Default, Deserialize)]
struct Asked {
    model: Option<String>,
}

#[derive(Deserialize)]
struct Known {
    display: Titled,
}

#[derive(Deserialize)]
struct Titled {
    title: String,
}

/// What goes to the client.
struct Handed {
    context: Built,
    first: Option<String>,
    warnings: Option<Box<RawValue>>,
}

impl Store {
    /// Writes a session as another agent keeps its own, where its client looks for it, so that it resumes it. What is said there
    /// goes on with this session, once it is imported. The request is that of [`Session::context`]. Answer: `{"id","agent","path",
    /// "folder","command","takes","messageCount","included","losses","warnings","assumed","secrets"}`, where `command` starts the
    /// client, and `takes` has it take the file in first, where it keeps none.
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
        let Asked { model } = serde_json::from_str(request).unwrap_or_default();
        let fixed = [
            ("assumes", Some("true".into())),
            ("format", Some(to_json(&format.as_str()))),
            ("stored", Some("true".into())),
        ];
        let handed = handed(session, &how, &with(request, &fixed)?, helpers)?;
        if handed.context.original_message_count == 0 {
            let message = format!(
                "expected a session in which something was said, but nothing was said in \"{}\"",
                session.id()
            );
            return Err(Failure { code: "empty_file".into(), message, ..Failure::default() }.into());
        }
        let variables = how.variables.unwrap_or_else(agents::variables);
        let user =
            variables.get("HOME").filter(|home| !home.is_empty()).cloned().unwrap_or_else(agents::user);
        let folder = text(how.folder.unwrap_or(self.project()))?;
        let home = native::folder_of(agent, &user, &variables).unwrap_or_default();
        let place = match agent {
            AgentName::Gemini => Some(
                agents::gemini_place(Path::new(&home), &folder)
                    .map_err(|error| refused("replace", Path::new(&home), None, error.into()))?,
            ),
            _ => None,
        };
        let opencode = || agents::opencode_model(&user, &variables, Path::new(&folder));
        let model = model.or_else(|| (agent == AgentName::OpenCode).then(opencode).flatten());
        let client = Client::of(agent)?;
        let stamp = self.0.host.clock.stamp()?;
        let new_id = if client.wants_random_id { id::random(&stamp) } else { id::new(&stamp, 0) };
        let known: Known = read(&session.out(&session.metadata())?)?;
        let about = About {
            id: new_id,
            folder: folder.clone(),
            place,
            git_branch: None,
            title: Some(known.display.title),
            model,
            first: handed.first,
            now_ms: stamp.now_ms,
        };
        let messages = shapes::read(handed.context.messages.get(), Format::Leftoff)?;
        let native = native::write(agent, &messages, &about)?;
        let path = format!("{home}/{}", native.path);
        self.0.host.write_outside(Path::new(&path), native.text.as_bytes())?;
        self.noted(session, agent, &path, &native)?;
        let words = [
            ("id", Some(to_json(&native.id))),
            ("agent", Some(to_json(&agent.as_str()))),
            ("path", Some(to_json(&path))),
            ("folder", Some(to_json(&folder))),
            ("command", Some(to_json(&client.resumes(&native.id)))),
            ("takes", client.takes(&path).map(|takes| to_json(&takes))),
            ("messageCount", Some(handed.context.original_message_count.to_string())),
            ("included", Some(handed.context.included_message_count.to_string())),
            ("losses", Some(to_json(&native.losses))),
            ("warnings", handed.warnings.map(|warnings| warnings.get().to_owned())),
            ("assumed", handed.context.report.assumed.map(|assumed| assumed.get().to_owned())),
            ("secrets", handed.context.secrets.map(|secrets| secrets.get().to_owned())),
        ];
        Ok(with("{}", &words)?)
    }

    // What is said there goes on with this session: as it is read back, behind its last message.
    fn noted(&self, session: &Session, agent: AgentName, path: &str, native: &Native) -> Result<(), Trouble> {
        let read = read_with(native.text.as_bytes(), path, Some(agent), None)?;
        let Some((one, last)) = read.sessions.first().and_then(|one| Some((one, one.messages.last()?)))
        else {
            return Ok(());
        };
        let of = [one.agent.to_owned(), one.source_id.clone()];
        self.drive(self.0.core.note_written(of, session.id(), last.id.clone()))
    }
}

// What the next run is told, and before it how it goes on.
fn handed(
    session: &Session,
    how: &WriteForAgent<'_>,
    request: &str,
    helpers: Helpers<'_>,
) -> Result<Handed, Trouble> {
    let Some(resume) = how.resume else {
        let context = read(&session.context(request, helpers)?)?;
        return Ok(Handed { context, first: None, warnings: None });
    };
    let Resumed { command, block, context, warnings } = read(&session.resume(request, resume, helpers)?)?;
    let begins = how.command.map(String::from).or(command).filter(|command| !command.is_empty());
    let first = begins.map_or_else(|| block.clone(), |begins| format!("{begins}\n\n{block}"));
    Ok(Handed { context, first: Some(first), warnings: Some(warnings) })
}

fn read<T: for<'de> Deserialize<'de>>(json: &str) -> Result<T, Trouble> {
    serde_json::from_str(json).map_err(|error| Trouble::internal(error.to_string()))
}
