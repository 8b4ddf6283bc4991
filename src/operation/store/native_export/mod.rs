//! Native export: writes a session where another agent's client looks for its own, in the agent's own format. Requests
//! are rejected before anything is written; and nothing is written if the client has all of it already, in a session
//! of its own or in an earlier export.

mod client_session;
mod copies;
mod gemini;
mod opencode;

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;

use super::Store;
use crate::error::Code;
use crate::interop::AgentName;
use crate::interop::native::{Continuation, ExportReport, NativeExport, folder_of};
use crate::json::text::to_json;
use crate::layout::{File, Root};
use crate::operation::session_files::SessionFiles;
use crate::operation::{Io, Operation, Trouble};

use client_session::{ClientSession, open_for_reading};

/// Attempts to find a name that no other process takes meanwhile.
const MAX_ATTEMPTS: u32 = 20;

/// A client, and where it keeps its files.
struct AgentClient<'a> {
    store: &'a Store,
    io: &'a Io,
    /// The user's home folder.
    user_home: &'a str,
    /// The folder below which the client's sessions lie.
    agent_home: String,
}

/// The client's name for a project folder.
struct FolderName {
    name: String,
    /// The client has not used this name before.
    is_new: bool,
}

impl Store {
    /// Writes a session in another agent's format, where its client looks for it and can resume it.
    ///
    /// Request:
    /// `{"agent","session","title","model","folder","variables","context","resumed","command","previews","isFitted"}`,
    /// JSON, with either a context, requested with `stored` in the [`format`](crate::interop::native::format_of) of
    /// the agent, or the result of resuming the session. `folder` is the project's, `variables` the client's
    /// environment, `command` the text of the command that began the session, where that has changed; with `previews`
    /// nothing is written.
    ///
    /// If the session is resumed, and the client's own session from which it was imported has all of it, that one is
    /// used, unless `isFitted` says that a particular context is wanted. What is said in the client continues the
    /// session, once it is imported. Answer: the report for the caller.
    ///
    /// # Errors
    /// `empty_file` where nothing was said; `unknown_format` where sessions of this agent cannot be written;
    /// `already_exists` where there is a file at its path; `invalid_request`.
    pub fn write_for_agent(self: &Rc<Store>, request: String) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move { Ok(to_json(&store.export_for_agent(&io, &request).await?)) })
    }

    async fn export_for_agent(&self, io: &Io, request: &str) -> Result<ExportReport, Trouble> {
        let mut handing = NativeExport::read(request)?;
        let user = handing.variables.get("HOME").filter(|home| !home.is_empty()).cloned();
        let user = user.unwrap_or_else(|| self.setup.user.clone());
        let home = folder_of(handing.agent, &user, &handing.variables).unwrap_or_default();
        let client = AgentClient { store: self, io, user_home: &user, agent_home: home };
        if handing.agent == AgentName::OpenCode && handing.model.is_none() {
            handing.model = client.find_opencode_model(&handing.folder, &handing.variables).await?;
        }
        let files = open_for_reading(self, io, &handing.session).await?;
        if let Some(files) = &files
            && let Some(report) = client.reuse_existing(&mut handing, files).await?
        {
            return Ok(report);
        }
        for _ in 0..MAX_ATTEMPTS {
            let place = client.folder_name(handing.agent, &handing.folder).await?;
            let name = place.as_ref().map(|place| &*place.name);
            let handed =
                handing.prepare_session(&client.agent_home, name, &self.setup.separator, &io.stamp())?;
            let file = File::new(Root::Outside, &*handed.path);
            if io.stat(&file).await?.is_some() {
                let message = format!("expected no file at \"{}\", but found one", handed.path);
                return Err(Trouble::new(Code::AlreadyExists, message));
            }
            if handing.is_preview {
                return Ok(handed.report);
            }
            if let Some(FolderName { name, is_new: true }) = place
                && !client.claim_name(&name, &handing.folder).await?
            {
                continue;
            }
            io.replace(&file, handed.text.as_bytes().to_vec(), None).await?;
            if let Some(Continuation { agent, source_id, last }) = &handed.continuation {
                self.note_native_export(io, [agent, source_id], &handing.session, last).await?;
            }
            if let Some(files) = &files {
                client.save_copy(&handing, &handed, files).await?;
            }
            return Ok(handed.report);
        }
        let message = format!("expected a name for \"{}\", but others took each", handing.folder);
        Err(Trouble::new(Code::AlreadyExists, message))
    }
}

impl AgentClient<'_> {
    // Returns the report if nothing has to be written.
    async fn reuse_existing(
        &self,
        handing: &mut NativeExport,
        files: &SessionFiles,
    ) -> Result<Option<ExportReport>, Trouble> {
        if handing.may_reuse_own
            && let Some(ClientSession { id, path, folder }) = self.find_original(handing, files).await?
        {
            return Ok(Some(handing.report_own(id, path, folder)));
        }
        let Some(copy) = self.find_copy(handing).await? else { return Ok(None) };
        let is_as_it_was = copy.made_of == handing.fingerprint() && self.is_unchanged(&copy).await?;
        let is_held =
            is_as_it_was || handing.may_reuse_own && self.has_all_in_copy(handing, &copy, files).await?;
        if !is_held {
            return Ok(None);
        }
        let place = self.folder_name(handing.agent, &handing.folder).await?;
        let place = place.as_ref().map(|place| &*place.name);
        let handed = handing.prepare_session(
            &self.agent_home,
            place,
            &self.store.setup.separator,
            &self.io.stamp(),
        )?;
        Ok(Some(handing.report_reused(&copy, handed.report)))
    }

    /// Returns the client's name for a folder, if its files are named by that and not by the path alone.
    async fn folder_name(&self, agent: AgentName, folder: &str) -> Result<Option<FolderName>, Trouble> {
        match agent {
            AgentName::Gemini => Ok(Some(self.gemini_folder_name(folder).await?)),
            // On Windows it writes these names in lower case.
            AgentName::Qwen if self.is_windows() => {
                let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
                let name = folder.to_lowercase().chars().map(plain).collect();
                Ok(Some(FolderName { name, is_new: false }))
            }
            _ => Ok(None),
        }
    }

    fn is_windows(&self) -> bool {
        self.store.setup.separator == "\\"
    }

    /// Returns a file below a folder, given by a path with `/`.
    fn outside_file(&self, folder: &str, below: &str) -> File {
        File::new(Root::Outside, format!("{folder}/{below}").replace('/', &self.store.setup.separator))
    }

    async fn read_text(&self, file: &File) -> Result<Option<String>, Trouble> {
        let bytes = self.io.read_all(file).await?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }
}
