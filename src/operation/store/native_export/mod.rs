//! A session on its way into another agent: written where its client looks for it, as one of its own. What is refused is refused
//! before anything is written; and nothing is written where the client has it all already, in a session of its own or in what
//! was written for it before.

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

/// So often a name is looked for that another process takes meanwhile.
const TRIES: u32 = 20;

/// Where a client keeps what it has.
struct AgentClient<'a> {
    store: &'a Store,
    io: &'a Io,
    /// The home folder of whoever works.
    user_home: &'a str,
    /// The folder below which its sessions lie.
    agent_home: String,
}

/// What a client calls a folder that is worked in.
struct FolderName {
    name: String,
    /// Whether nobody has called it so before.
    is_new: bool,
}

impl Store {
    /// Writes a session as another agent keeps its own, where its client looks for it, so that it resumes it: `{"agent","session",
    /// "title","model","folder","variables","context","resumed","command","previews","isFitted"}`, JSON, with either a context, asked for with `stored` in the
    /// [`format`](crate::interop::native::format_of) of the agent, or what resuming the session gave. `folder` is the one that is worked
    /// in, `variables` what is set for the client, `command` the text of the command that began the session, where that is another one
    /// by now; with `previews` nothing is written. Where the session is resumed and the client's own one that it was imported from has
    /// all of it, that one goes on, unless `isFitted` says that a context of a certain kind is wanted. What is said in the client goes on with the session, once it is imported. Answer: what the caller is told.
    ///
    /// # Errors
    /// `empty_file` where nothing was said; `unknown_format` where no session of this agent can be written; `already_exists` where a file
    /// is in its place; `invalid_request`.
    pub fn write_for_agent(self: &Rc<Store>, asked: String) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move { Ok(to_json(&store.export_for_agent(&io, &asked).await?)) })
    }

    async fn export_for_agent(&self, io: &Io, asked: &str) -> Result<ExportReport, Trouble> {
        let mut handing = NativeExport::read(asked)?;
        let user = handing.variables.get("HOME").filter(|home| !home.is_empty()).cloned();
        let user = user.unwrap_or_else(|| self.setup.user.clone());
        let home = folder_of(handing.agent, &user, &handing.variables).unwrap_or_default();
        let client = AgentClient { store: self, io, user_home: &user, agent_home: home };
        if handing.agent == AgentName::OpenCode && handing.model.is_none() {
            handing.model = client.find_opencode_model(&handing.folder, &handing.variables).await?;
        }
        let live = open_for_reading(self, io, &handing.session).await?;
        if let Some(live) = &live
            && let Some(told) = client.reuse_existing(&mut handing, live).await?
        {
            return Ok(told);
        }
        for _ in 0..TRIES {
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
            if let Some(live) = &live {
                client.save_copy(&handing, &handed, live).await?;
            }
            return Ok(handed.report);
        }
        let message = format!("expected a name for \"{}\", but others took each", handing.folder);
        Err(Trouble::new(Code::AlreadyExists, message))
    }
}

impl AgentClient<'_> {
    // What is told where nothing has to be written.
    async fn reuse_existing(
        &self,
        handing: &mut NativeExport,
        live: &SessionFiles,
    ) -> Result<Option<ExportReport>, Trouble> {
        if handing.may_reuse_own
            && let Some(ClientSession { id, path, folder }) = self.find_original(handing, live).await?
        {
            return Ok(Some(handing.report_own(id, path, folder)));
        }
        let Some(copy) = self.find_copy(handing).await? else { return Ok(None) };
        let is_as_it_was = copy.made_of == handing.fingerprint() && self.is_unchanged(&copy).await?;
        let is_held =
            is_as_it_was || handing.may_reuse_own && self.has_all_in_copy(handing, &copy, live).await?;
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

    /// What it calls a folder, where its files are named by that and not by the path alone.
    async fn folder_name(&self, agent: AgentName, folder: &str) -> Result<Option<FolderName>, Trouble> {
        match agent {
            AgentName::Gemini => Ok(Some(self.gemini_folder_name(folder).await?)),
            // There it knows no capitals.
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

    /// What lies below a folder, by a path with `/`.
    fn outside_file(&self, folder: &str, below: &str) -> File {
        File::new(Root::Outside, format!("{folder}/{below}").replace('/', &self.store.setup.separator))
    }

    async fn read_text(&self, file: &File) -> Result<Option<String>, Trouble> {
        let bytes = self.io.read_all(file).await?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }
}
