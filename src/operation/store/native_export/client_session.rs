//! Finds out whether a client has all of a session already, in one of its own: then that is resumed, and nothing is
//! written.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::AgentClient;
use crate::interop::AgentName;
use crate::interop::locations::{FilePattern, System, transcript_locations};
use crate::interop::native::{NativeCopy, NativeExport};
use crate::json::hash::sha256;
use crate::layout::{File, Root};
use crate::operation::message_pages::{MessagesRequest, PathMessages};
use crate::operation::session_files::SessionFiles;
use crate::operation::store::Store;
use crate::operation::store::import::read_original;
use crate::operation::{FileKind, Io, Trouble, unless_bug};
use crate::record::message::{Message, ToolCall};

// Characters of an id in the names of Gemini CLI's files.
const SHORT_ID_CHARS: usize = 8;
// The folder of archived sessions, which the client does not resume.
const ARCHIVE_FOLDER: &str = "archived_sessions";

/// A session of a client's own.
pub(super) struct ClientSession {
    pub id: String,
    pub path: String,
    /// The folder that the session was begun in.
    pub folder: String,
}

/// A digest of a session's messages: their ids and revisions, in the log's order.
pub(super) struct MessageDigest {
    pub count: u64,
    pub hash: String,
}

/// Opens a session as its files are, for a reader that changes nothing; returns the open handle if there is one.
pub(super) async fn open_for_reading(
    store: &Store,
    io: &Io,
    id: &str,
) -> Result<Option<Rc<SessionFiles>>, Trouble> {
    let Some(place) = store.find_place(io, id).await? else { return Ok(None) };
    let files = store.unopened_session(&place, "");
    if let Some(open) = store.find_open(&files.shown_folder()) {
        return Ok(Some(open));
    }
    files.open_files(io).await?;
    Ok(Some(files))
}

impl AgentClient<'_> {
    /// Returns the client's session from which this one was imported, if the client finds it, and it has all of this
    /// one.
    pub(super) async fn find_original(
        &self,
        handing: &mut NativeExport,
        files: &SessionFiles,
    ) -> Result<Option<ClientSession>, Trouble> {
        let (imported, is_compacted) = files.with_session(|session| {
            let is_compacted = session.compaction().range.is_some();
            (session.metadata().imported.clone(), is_compacted)
        });
        let agent = handing.agent;
        let Some(source) = imported.filter(|source| source.agent == agent.as_str() && !is_compacted) else {
            return Ok(None);
        };
        for path in self.find_session_files(agent, &source.source_id, &handing.variables).await? {
            let found = read_original(self.store, self.io, &path, agent, &source.source_id).await?;
            let Some(one) = found else { continue };
            let Some(folder) = one.folder else { continue };
            if !self.is_folder(&folder).await? || !self.has_all_messages(files, &one.messages, 0).await? {
                continue;
            }
            let wanted = core::mem::replace(&mut handing.folder, folder.clone());
            let place = self.folder_name(agent, &handing.folder).await?;
            let place = place.as_ref().map(|place| &*place.name);
            let is_looked_for = handing.is_found_by_client(
                &self.to_slash_path(&self.agent_home),
                place,
                &self.to_slash_path(&path),
            );
            handing.folder = wanted;
            if is_looked_for {
                return Ok(Some(ClientSession { id: source.source_id, path, folder }));
            }
        }
        Ok(None)
    }

    /// Whether an earlier export, which was continued in the client, has all of the session by now.
    pub(super) async fn has_all_in_copy(
        &self,
        handing: &NativeExport,
        copy: &NativeCopy,
        files: &SessionFiles,
    ) -> Result<bool, Trouble> {
        let roll = self.digest_messages(files, Some(copy.count)).await?;
        if roll.count < copy.count || roll.hash != copy.messages || handing.agent == AgentName::OpenCode {
            return Ok(false);
        }
        let source_id = &copy.continues.source_id;
        let found = read_original(self.store, self.io, &copy.path, handing.agent, source_id).await?;
        let Some(mut messages) = found.map(|one| one.messages) else { return Ok(false) };
        let Some(end) = messages.iter().position(|message| message.id == copy.continues.last) else {
            return Ok(false);
        };
        let behind = messages.split_off(end + 1);
        // If nothing was said there yet, the model is to be told what has changed since.
        let is_news = behind.is_empty() && copy.made_of != handing.fingerprint();
        if is_news { Ok(false) } else { self.has_all_messages(files, &behind, copy.count).await }
    }

    /// Digests the first `most` messages of a session, or all.
    pub(super) async fn digest_messages(
        &self,
        files: &SessionFiles,
        most: Option<u64>,
    ) -> Result<MessageDigest, Trouble> {
        let (mut count, mut names) = (0, String::new());
        let reading = MessagesRequest { all_branches: true, ..MessagesRequest::default() };
        let mut path = PathMessages::begin(files, self.io, reading).await?;
        while let Some(some) = path.next().await? {
            for (message, _) in some {
                if most.is_none_or(|most| count < most) {
                    names.push_str(&format!("{} {}\n", message.id, message.rev));
                }
                count += 1;
            }
        }
        Ok(MessageDigest { count, hash: sha256(names.as_bytes()) })
    }

    // Whether `messages` has each message of a session, except its first `first`.
    async fn has_all_messages(
        &self,
        files: &SessionFiles,
        messages: &[Message],
        first: u64,
    ) -> Result<bool, Trouble> {
        let by_id: BTreeMap<&str, &Message> =
            messages.iter().map(|message| (message.id.as_str(), message)).collect();
        let reading = MessagesRequest { all_branches: true, ..MessagesRequest::default() };
        let mut path = PathMessages::begin(files, self.io, reading).await?;
        let mut place = 0;
        while let Some(some) = path.next().await? {
            for (message, _) in some {
                place += 1;
                let is_there =
                    || by_id.get(message.id.as_str()).is_some_and(|own| covers_message(own, &message));
                if place > first && !is_there() {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    // Finds files that are named by an id, below the folders where the agent keeps its sessions.
    async fn find_session_files(
        &self,
        agent: AgentName,
        id: &str,
        variables: &BTreeMap<String, String>,
    ) -> Result<Vec<String>, Trouble> {
        let short = |id: &str| id.chars().filter(char::is_ascii_alphanumeric).take(SHORT_ID_CHARS).collect();
        let last = |id: &str| {
            let letters: Vec<char> = id.chars().filter(char::is_ascii_alphanumeric).collect();
            letters[letters.len().saturating_sub(SHORT_ID_CHARS)..].iter().collect()
        };
        let keys: Vec<String> = match agent {
            AgentName::Gemini => Vec::from([short(id), last(id)]),
            _ => Vec::from([String::from(id)]),
        };
        let mut found = Vec::new();
        for place in transcript_locations("", self.user_home, variables, System::Other) {
            if place.agent != agent || place.path.ends_with(ARCHIVE_FOLDER) {
                continue;
            }
            let is_it = |below: &str| {
                let (above, name) = below.rsplit_once('/').unwrap_or(("", below));
                let is_named = || keys.iter().any(|key| name.contains(key.as_str()));
                let folder = above.rsplit('/').next().unwrap_or_default();
                place.names.matches(below)
                    && (place.names == FilePattern::Databases
                        || is_named()
                        || keys.iter().any(|key| key == folder))
            };
            found.extend(self.list_files_below(&place.path, is_it).await?);
        }
        Ok(found)
    }

    // Lists files below a folder. A folder that cannot be read has none.
    async fn list_files_below(
        &self,
        root: &str,
        is_it: impl Fn(&str) -> bool,
    ) -> Result<Vec<String>, Trouble> {
        let (mut found, mut folders) = (Vec::new(), Vec::from([String::new()]));
        while let Some(below) = folders.pop() {
            let folder = if below.is_empty() { root.into() } else { format!("{root}/{below}") };
            let listed = self.io.list(&File::new(Root::Outside, self.to_native_path(&folder))).await;
            for entry in unless_bug(listed)?.flatten().unwrap_or_default() {
                let path = if below.is_empty() { entry.name } else { format!("{below}/{}", entry.name) };
                if entry.kind == FileKind::Folder {
                    folders.push(path);
                } else if is_it(&path) {
                    found.push(self.to_native_path(&format!("{root}/{path}")));
                }
            }
        }
        Ok(found)
    }

    async fn is_folder(&self, path: &str) -> Result<bool, Trouble> {
        let stat =
            unless_bug(self.io.stat(&File::new(Root::Outside, self.to_native_path(path))).await)?.flatten();
        Ok(stat.is_some_and(|stat| stat.kind == FileKind::Folder))
    }

    fn to_native_path(&self, path: &str) -> String {
        path.replace('/', &self.store.setup.separator)
    }

    fn to_slash_path(&self, path: &str) -> String {
        path.replace(&*self.store.setup.separator, "/")
    }
}

// Whether the client's message has all that the stored one has; it may have grown since.
fn covers_message(own: &Message, stored: &Message) -> bool {
    let is_begun = |own: &str, stored: &str| own.starts_with(stored);
    let is_same = |(own, stored): (&ToolCall, &ToolCall)| {
        own.id == stored.id && own.name == stored.name && own.arguments == stored.arguments
    };
    let (calls, stored_calls) = (own.tool_calls(), stored.tool_calls());
    own.role == stored.role
        && is_begun(own.content.as_str(), stored.content.as_str())
        && own.tool.as_ref().map(|tool| &tool.call_id) == stored.tool.as_ref().map(|tool| &tool.call_id)
        && calls.len() >= stored_calls.len()
        && calls.iter().zip(stored_calls).all(is_same)
        && own.attachments.len() >= stored.attachments.len()
}
