//! A native export: what is written for a client, how it is started, and which session it continues.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Client, NativeHeader, write};
use crate::error::{Code, Error};
use crate::interop::{AgentName, Loss, read_with};
use crate::json::hash::sha256;
use crate::json::request;
use crate::json::text::to_json;
use crate::record::id;
use crate::record::message::Message;
use crate::resume::block::LAST_ACTIVE;
use crate::shapes::{self, Format};
use crate::time::Stamp;

/// A request for a native export. The context is one that was asked for with `stored`, in the client's
/// [`format`](super::format_of).
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ExportRequest {
    agent: String,
    session: String,
    title: Option<String>,
    model: Option<String>,
    folder: String,
    #[serde(default)]
    variables: BTreeMap<String, String>,
    context: Option<ContextResponse>,
    resumed: Option<ResumeResponse>,
    command: Option<String>,
    #[serde(default)]
    previews: bool,
    #[serde(default)]
    is_fitted: bool,
}

/// A native export that was checked: its session can be written.
pub struct NativeExport {
    /// The client's agent.
    pub agent: AgentName,
    /// The session's id.
    pub session: String,
    /// The model that is named, or that the client is set to.
    pub model: Option<String>,
    /// The folder that the client works in.
    pub folder: String,
    /// The client's environment variables.
    pub variables: BTreeMap<String, String>,
    /// True if nothing is to be written: the caller only gets the report.
    pub is_preview: bool,
    /// True if the client may go on with a session of its own that has all that this one has: the stored session is
    /// being resumed, and nobody asked for a context of a certain kind.
    pub may_reuse_own: bool,
    client: Client,
    title: Option<String>,
    messages: Vec<Message>,
    first_prompt: Option<String>,
    context: ContextResponse,
    warnings: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContextResponse {
    messages: Box<RawValue>,
    original_message_count: u64,
    included_message_count: u64,
    report: ContextReport,
    secrets: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct ContextReport {
    assumed: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct ResumeResponse {
    command: Option<String>,
    block: String,
    context: ContextResponse,
    warnings: Box<RawValue>,
}

/// A file that was written for a client before, and may serve once more.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct NativeCopy {
    /// The client's id of it.
    pub id: String,
    /// Its file.
    pub path: String,
    /// The hash of that file.
    pub hash: String,
    /// The hash of its sources, as [`NativeExport::fingerprint`] gives it.
    pub made_of: String,
    /// The number of messages that the session had then.
    pub count: u64,
    /// The hash of the messages' ids and revisions.
    pub messages: String,
    /// The session that continues there.
    pub continues: Continuation,
}

/// The file that a client goes on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CopyState {
    /// None was written: the client goes on with its own.
    None,
    /// None was written: an earlier file has all of it.
    Reused,
    /// A new file.
    New,
}

/// A session that a client can go on with, once its file is written.
pub struct PreparedExport {
    /// The file's path: nothing may lie there yet.
    pub path: String,
    /// The file's text.
    pub text: String,
    /// The continuation that ties the client's session to this one; `None` if the client would read nothing of it.
    pub continuation: Option<Continuation>,
    /// The report for the caller.
    pub report: ExportReport,
}

/// A client's session that continues a stored one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Continuation {
    /// The agent, as its own files name it.
    pub agent: String,
    /// The client's id of its session.
    pub source_id: String,
    /// The last message that the client was given, as it is read back.
    pub last: String,
}

/// The report of a native export.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportReport {
    /// The id by which the client resumes it.
    pub id: String,
    /// The agent.
    pub agent: &'static str,
    /// The path of the file.
    pub path: String,
    /// The folder that the client works in.
    pub folder: String,
    /// Whether a file was written for it.
    pub copy: CopyState,
    /// The command that starts the client.
    pub command: Vec<String>,
    /// The command that has it import the file first, if it keeps no files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub takes: Option<Vec<String>>,
    /// The number of the session's messages.
    pub message_count: u64,
    /// The number of messages that the client is given.
    pub included: u64,
    /// The losses.
    pub losses: Vec<Loss>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    assumed: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    secrets: Option<Box<RawValue>>,
}

impl NativeExport {
    /// Reads
    /// `{"agent","session","title","model","folder","variables","context","resumed","command","previews","isFitted"}`,
    /// JSON, with either a context as a session gives it, or the result of resuming the session. `command`: the text of
    /// the command that began the session, if it has changed since.
    ///
    /// # Errors
    /// `empty_file` if nothing was said; `unknown_format` if no session of this agent can be written; `invalid_request`
    /// for what is no such object.
    pub fn read(request: &str) -> Result<NativeExport, Error> {
        let request: ExportRequest = serde_json::from_str(request).map_err(|error| {
            let message = format!("expected a session to hand over, but found something else: {error}");
            Error::new(Code::InvalidRequest, message)
        })?;
        let agent = AgentName::parse(&request.agent)?;
        let client = Client::of(agent)?;
        let Some((context, first, warnings)) =
            choose_beginning(request.context, request.resumed, request.command)
        else {
            let message = "expected a context or a session that is resumed, but found neither";
            return Err(Error::new(Code::InvalidRequest, message));
        };
        let session = request.session;
        if session.is_empty() {
            return Err(request::error("expected the id of a session for \"session\", but found none"));
        }
        if context.original_message_count == 0 {
            let message = format!(
                "expected a session in which something was said, but nothing was said in \"{session}\""
            );
            return Err(Error::new(Code::EmptyFile, message));
        }
        let may_be_own = warnings.is_some() && !request.is_fitted;
        let messages = shapes::read(context.messages.get(), Format::Leftoff)?;
        let (title, model, folder, variables) =
            (request.title, request.model, request.folder, request.variables);
        Ok(NativeExport {
            agent,
            client,
            session,
            title,
            model,
            folder,
            variables,
            is_preview: request.previews,
            may_reuse_own: may_be_own,
            messages,
            first_prompt: first,
            context,
            warnings,
        })
    }

    /// Writes the session in the client's format, below the client's own folder; `place`: the client's name for the
    /// folder that it works in, if its files have that. `separator`: what stands between the names in a path.
    ///
    /// # Errors
    /// Those of reading it back.
    pub fn prepare_session(
        &self,
        home: &str,
        place: Option<&str>,
        separator: &str,
        stamp: &Stamp,
    ) -> Result<PreparedExport, Error> {
        let about = NativeHeader {
            id: if self.client.wants_random_id { id::random(stamp) } else { id::new(stamp, 0) },
            folder: self.folder.clone(),
            folder_name: place.map(String::from),
            git_branch: None,
            title: self.title.clone(),
            model: self.model.clone(),
            first_prompt: self.first_prompt.clone(),
            now_ms: stamp.now_ms,
        };
        let native = write(self.agent, &self.messages, &about)?;
        let path = format!("{home}/{}", native.path).replace('/', separator);
        let continues = find_continuation(self.agent, &path, &native.text)?;
        let report = ExportReport {
            agent: self.agent.as_str(),
            copy: CopyState::New,
            command: self.client.resume_command(&native.id),
            takes: self.client.import_command(&path),
            id: native.id,
            path: path.clone(),
            folder: about.folder,
            message_count: self.context.original_message_count,
            included: self.context.included_message_count,
            losses: native.losses,
            warnings: self.warnings.clone(),
            assumed: self.context.report.assumed.clone(),
            secrets: self.context.secrets.clone(),
        };
        Ok(PreparedExport { path, text: native.text, continuation: continues, report })
    }

    /// Makes the report for a client that goes on with a session of its own, in the folder that it was begun in.
    pub fn report_own(&self, id: String, path: String, folder: String) -> ExportReport {
        let count = self.context.original_message_count;
        ExportReport {
            agent: self.agent.as_str(),
            copy: CopyState::None,
            command: self.client.resume_command(&id),
            takes: None,
            id,
            path,
            folder,
            message_count: count,
            included: count,
            losses: Vec::new(),
            warnings: self.warnings.clone(),
            assumed: None,
            secrets: None,
        }
    }

    /// Makes the report for an earlier file that has all of the session.
    pub fn report_reused(&self, copy: &NativeCopy, report: ExportReport) -> ExportReport {
        let (id, path) = (copy.id.clone(), copy.path.clone());
        let (command, takes) = (self.client.resume_command(&id), self.client.import_command(&path));
        ExportReport { copy: CopyState::Reused, command, takes, id, path, ..report }
    }

    /// Hashes all that is written for the client, but for the time.
    pub fn fingerprint(&self) -> String {
        let is_lasting = |line: &&str| !line.starts_with(LAST_ACTIVE);
        let first: Option<String> = self
            .first_prompt
            .as_ref()
            .map(|first| first.lines().filter(is_lasting).collect::<Vec<_>>().join("\n"));
        let parts = to_json(&(
            (self.agent, &self.folder, &self.title, &self.model),
            (first, &self.warnings, &self.context.messages),
        ));
        sha256(parts.as_bytes())
    }

    /// True if the client, started in the folder that it is to work in, would look for sessions in the folder of this
    /// file; `place` is the client's name for the folder that it works in.
    pub fn is_found_by_client(&self, home: &str, place: Option<&str>, path: &str) -> bool {
        if matches!(self.agent, AgentName::Codex | AgentName::Copilot | AgentName::OpenCode) {
            return true;
        }
        let about = NativeHeader {
            id: String::from("0"),
            folder: self.folder.clone(),
            folder_name: place.map(String::from),
            ..NativeHeader::default()
        };
        let above = |path: &str| path.rsplit_once('/').map(|(above, _)| String::from(above));
        write(self.agent, &[], &about)
            .is_ok_and(|native| above(&format!("{home}/{}", native.path)) == above(path))
    }
}

// Chooses the context, the text that stands before it, and what has changed since.
fn choose_beginning(
    context: Option<ContextResponse>,
    resumed: Option<ResumeResponse>,
    command: Option<String>,
) -> Option<(ContextResponse, Option<String>, Option<Box<RawValue>>)> {
    let Some(ResumeResponse { command: stored, block, context, warnings }) = resumed else {
        return context.map(|context| (context, None, None));
    };
    let begins = command.or(stored).filter(|command| !command.is_empty());
    let first = begins.map_or_else(|| block.clone(), |begins| format!("{begins}\n\n{block}"));
    Some((context, Some(first), Some(warnings)))
}

// The file is read back: what is said in the client stands behind its last message.
fn find_continuation(agent: AgentName, path: &str, text: &str) -> Result<Option<Continuation>, Error> {
    let read = read_with(text.as_bytes(), path, Some(agent), None)?;
    let last = read.sessions.first().and_then(|one| Some((one, one.messages.last()?)));
    Ok(last.map(|(one, last)| Continuation {
        agent: one.agent.to_owned(),
        source_id: one.source_id.clone(),
        last: last.id.clone(),
    }))
}
