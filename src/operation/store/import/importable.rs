//! A dry run: lists the sessions that an import of agents' files would take in, and writes nothing.

use alloc::collections::BTreeSet;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::continuations::ConversationPart;
use super::file::DocumentShare;
use super::imported_files::ImportedFiles;
use super::request::ImportableRequest;
use super::{ImportProgress, ImportReport, Importer, NO_SESSION_CODES, parse_agent};
use crate::interop::ImportedSession;
use crate::interop::import_diff::ImportDiff;
use crate::json::text::to_json;
use crate::operation::store::Store;
use crate::operation::{CountingMode, Operation, OutgoingRedactor, Trouble};
use crate::record::event::Parent;
use crate::record::message::{Message, Role};
use crate::session::title::{Titles, shorten_title};
use crate::time;

/// A session of which the store lacks something.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ImportableSession<'a> {
    id: String,
    is_new: bool,
    agent: &'a str,
    source_id: &'a str,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a Parent>,
    message_count: usize,
    new_messages: usize,
    path: &'a str,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<String>,
}

/// A list of the sessions that an import of agents' files would take in.
pub struct ImportableList;

impl ImportableList {
    /// Lists the sessions of these files, those of the files that changed last at first:
    /// `{"files":[{"path","agent","size","bytes","changed"}],"from","limit","isNamed","tells"}`, JSON. The files are
    /// those of [`Store::import_files`]; `changed` is the time of a file's last change in milliseconds since 1970, and
    /// `limit` how many sessions at most. With `isNamed` the user named the file: it is read whether or not it changed
    /// since its last import, and what is wrong with it is an error. With `tells`, pages report progress as
    /// `{"path","done","total","bytes","totalBytes"}`. Titles are redacted. Answer: `{"importable","problems"}`.
    ///
    /// # Errors
    /// Of a file with `isNamed`, what [`Store::import_file`] refuses.
    pub fn of_store(
        store: &Rc<Store>,
        request: String,
        redactor: &Rc<OutgoingRedactor>,
    ) -> Operation<'static, String> {
        let (store, redactor) = (store.clone(), redactor.clone());
        Operation::new(|io| async move {
            let request = ImportableRequest::from_json(&request)?;
            let mut importing = Importer::new(&store, &io, CountingMode::Off, request.reports_progress);
            importing.dry_run = Some(redactor);
            importing.list_files(request).await
        })
    }
}

impl Importer<'_> {
    async fn list_files(&self, request: ImportableRequest) -> Result<String, Trouble> {
        let ImportableRequest { mut files, agent: from, limit, is_named, .. } = request;
        parse_agent(from.as_deref())?;
        let seen = ImportedFiles::load(self.io).await?;
        let mut met = BTreeSet::new();
        files.retain(|file| {
            let is_unchanged = || seen.contains(&file.path, &file.print(from.as_deref()));
            met.insert(file.path.clone()) && (is_named || !is_unchanged())
        });
        files.sort_by_key(|file| core::cmp::Reverse(file.changed_ms));
        let mut progress = ImportProgress {
            total_files: files.len(),
            total_bytes: files.iter().map(|file| file.byte_len).sum(),
            ..ImportProgress::default()
        };
        let mut listed = ImportReport::default();
        for file in files {
            if listed.imported.len() >= limit {
                break;
            }
            (progress.file_bytes, progress.changed_ms) = (file.byte_len, file.changed_ms);
            let agent = parse_agent(file.agent(from.as_deref()))?;
            match self.import_one_file(&file.path, agent, "null", &progress).await {
                Ok(found) => listed.add_report(found),
                Err(trouble) if is_named || trouble.is_bug() => return Err(trouble),
                Err(trouble) if NO_SESSION_CODES.contains(&trouble.code()) => {}
                Err(trouble) => listed.add_report(ImportReport::from_failure(&file.path, &trouble)),
            }
            progress.done_files += 1;
            progress.start_bytes += file.byte_len;
        }
        listed.imported.truncate(limit);
        let [sessions, problems] = [&listed.imported, &listed.problems].map(|all| all.join(","));
        Ok(alloc::format!("{{\"importable\":[{sessions}],\"problems\":[{problems}]}}"))
    }

    /// Describes what an import would do with a part of an agent's session; none where the store lacks nothing of it.
    pub(super) async fn describe_part(
        &self,
        imported: &ImportedSession,
        ConversationPart { messages, resumed }: ConversationPart,
        redactor: &OutgoingRedactor,
        share: &DocumentShare<'_>,
    ) -> Result<Option<String>, Trouble> {
        let message_count = messages.len();
        let is_continuation = resumed.is_some();
        let files = match resumed {
            Some(files) => Some(files),
            None => self.find_stored_session(imported).await?,
        };
        let (new_messages, messages) = match &files {
            None => (message_count, messages),
            Some(files) => {
                let mut diff = ImportDiff::of_part(messages, is_continuation);
                self.feed_log(files, &mut diff, &mut 0).await?;
                (diff.count_missing(), diff.into_messages())
            }
        };
        let is_new = files.is_none();
        let id = files.map_or_else(|| imported.id.clone(), |files| files.id());
        let counts = (message_count, new_messages);
        self.describe_session((imported, &messages), (id, is_new), counts, redactor, share).await
    }

    /// Describes what an import would do with a session; none where the store lacks nothing of it. `counts`: how many
    /// messages the file has, and how many of them are new.
    pub(super) async fn describe_session(
        &self,
        (imported, messages): (&ImportedSession, &[Message]),
        (id, is_new): (String, bool),
        (message_count, new_messages): (usize, usize),
        redactor: &OutgoingRedactor,
        share: &DocumentShare<'_>,
    ) -> Result<Option<String>, Trouble> {
        if new_messages == 0 {
            return Ok(None);
        }
        let described = ImportableSession {
            id,
            is_new,
            agent: &imported.agent,
            source_id: &imported.source_id,
            title: self.redacted_title(imported, messages, redactor).await?,
            folder: imported.folder.as_deref(),
            parent: imported.parent.as_ref(),
            message_count,
            new_messages,
            path: share.path,
            bytes: share.progress.file_bytes,
            changed: share.progress.changed_ms.map(time::format),
        };
        Ok(Some(to_json(&described)))
    }

    // Returns the title that the session would have. It is cut only once secrets are redacted: half a secret is not
    // known for one.
    async fn redacted_title(
        &self,
        imported: &ImportedSession,
        messages: &[Message],
        redactor: &OutgoingRedactor,
    ) -> Result<String, Trouble> {
        if let Some(title) = &imported.title {
            let told = Message { content: title.as_str().into(), ..Message::default() };
            let told = redactor.redact_messages(self.io, Vec::from([told])).await?;
            return Ok(told.first().map(|told| shorten_title(told.content.as_str())).unwrap_or_default());
        }
        let mut titles = Titles::default();
        for message in messages.iter().filter(|message| message.role == Some(Role::User)) {
            for message in redactor.redact_messages(self.io, Vec::from([message.clone()])).await? {
                titles.add_message(&message, 0);
            }
            if titles.are_found() {
                break;
            }
        }
        Ok(titles.best().or(titles.first_line()).map(shorten_title).unwrap_or_default())
    }
}
