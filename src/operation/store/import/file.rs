//! Imports one file of an agent: each session in it goes into a session of the store.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;

use serde::Serialize;

use super::continuations::ConversationPart;
use super::new_messages::WriteProgress;
use super::{ImportProgress, ImportReport, Importer, NO_SESSION_CODES};
use crate::interop::talk::COMMAND_ANSWER;
use crate::interop::{self, AgentName, ImportedSession, Loss, QUEUED_KEY};
use crate::json::text::to_json;
use crate::operation::{AgentDocument, Trouble};
use crate::record::event::Parent;
use crate::record::session_file;
use crate::resume::block;

/// A client that has written nothing for so long may still be at work. What it has queued it later delivers as a
/// message.
const MAX_IDLE_MS: i64 = 3_600_000;

/// A session that was imported into.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ImportEntry<'a> {
    id: String,
    agent: &'a str,
    path: &'a str,
    message_count: usize,
    added: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a Parent>,
    losses: &'a [Loss],
}

#[derive(Serialize)]
struct ImportProblem<'a> {
    path: &'a str,
    code: &'a str,
    message: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProgressReport<'a> {
    path: &'a str,
    done: usize,
    total: usize,
    bytes: u64,
    total_bytes: u64,
}

/// The share of a file that a document is, for progress reports.
pub(super) struct DocumentShare<'a> {
    pub path: &'a str,
    pub progress: &'a ImportProgress,
    pub start_share: f64,
    pub own_share: f64,
}

/// Renders an imported session as JSON. `counts`: how many messages the file has, and how many of them were new.
pub(super) fn import_entry_json(
    id: String,
    (agent, path): (&str, &str),
    (message_count, added): (usize, usize),
    parent: Option<&Parent>,
    losses: &[Loss],
) -> String {
    to_json(&ImportEntry { id, agent, path, message_count, added, parent, losses })
}

/// Renders a problem of a file as JSON.
pub(super) fn import_problem_json(path: &str, trouble: &Trouble) -> String {
    to_json(&ImportProblem { path, code: trouble.code(), message: trouble.message() })
}

impl Importer<'_> {
    /// Imports one file, whether or not it changed.
    pub(super) async fn import_one_file(
        &self,
        path: &str,
        agent: Option<AgentName>,
        only: &str,
        progress: &ImportProgress,
    ) -> Result<ImportReport, Trouble> {
        let of = |begun: f64, own: f64| DocumentShare { path, progress, start_share: begun, own_share: own };
        self.report_progress(&of(0.0, 0.0), 0.0).await?;
        let (taken, mut result, mut is_first) = (Cell::new(0), ImportReport::default(), true);
        let share = || {
            let share =
                if progress.file_bytes == 0 { 0.0 } else { taken.get() as f64 / progress.file_bytes as f64 };
            share.min(1.0)
        };
        while let Some(mut document) = self.io.next_document(path, only, is_first).await? {
            is_first = false;
            let is_alone = document.is_alone;
            if is_alone {
                document.bytes = self.with_base(path, document.bytes).await?;
            }
            let begun = share();
            // How many sessions a database has is not known before its end.
            taken.set(taken.get() + document.bytes.len() as u64);
            let own = if is_alone { 1.0 } else { share() - begun };
            match self.import_document(document, agent, &of(begun, own)).await {
                Ok(found) => result.add_report(found),
                // A database has other sessions that can be read, and one of them may be empty.
                Err(trouble) if is_alone || trouble.is_bug() => return Err(trouble),
                Err(trouble) if NO_SESSION_CODES.contains(&trouble.code()) => {}
                Err(trouble) => result.problems.push(import_problem_json(path, &trouble)),
            }
            if is_alone {
                break;
            }
        }
        Ok(result)
    }

    async fn import_document(
        &self,
        document: AgentDocument,
        agent: Option<AgentName>,
        share: &DocumentShare<'_>,
    ) -> Result<ImportReport, Trouble> {
        let AgentDocument { bytes, failure, is_alone } = document;
        if let Some(failure) = failure {
            return Err(failure.into());
        }
        if agent.is_none_or(|agent| agent == AgentName::Leftoff) && session_file::is_session_file(&bytes) {
            return Box::pin(self.import_session_file(&bytes, share)).await;
        }
        let beside = if is_alone { self.read_companion(share.path).await? } else { None };
        let name = self.to_slash_path(share.path.strip_suffix(".zst").unwrap_or(share.path));
        let mut read = interop::read_with(&bytes, &name, agent, beside.as_deref())?;
        // What a client that is at work will still deliver is not known.
        let may_come = is_alone && !self.is_ongoing && self.deliver_typed(&name, &mut read.sessions).await?;
        let speaks = |of: &str| memchr::memmem::find(&bytes, of.as_bytes()).is_some();
        // A session of the store may have been resumed in it, or it may be about the store alone.
        let is_about_store = speaks(block::END) || speaks(COMMAND_ANSWER);
        drop(bytes);
        // Reading a file takes as long as writing what it holds.
        self.report_progress(share, 0.0).await?;
        let total = read.sessions.iter().map(|session| session.messages.len()).sum();
        let mut written = WriteProgress { importing: self, share, written_count: 0, message_count: total };
        let mut found = ImportReport::default();
        for mut session in read.sessions {
            // The folder is a part of the file's own path.
            if let Some(folder) = &mut session.folder
                && name.strip_prefix(&**folder).is_some_and(|rest| rest.starts_with('/'))
            {
                *folder = self.to_native_path(folder);
            }
            let created_ms = session.began_ms();
            let mut messages = core::mem::take(&mut session.messages);
            let is_at_work = self.is_ongoing
                || session.last_ms.is_some_and(|last_ms| self.io.now_ms() - last_ms < MAX_IDLE_MS);
            found.is_open |= is_at_work && may_come;
            while is_at_work && messages.last().is_some_and(|message| message.has_source_mark(QUEUED_KEY)) {
                messages.pop();
                found.is_open = true;
            }
            if messages.is_empty() {
                continue;
            }
            session.created_ms = created_ms;
            for part in self.split_parts(&session, messages, is_about_store).await? {
                match &self.dry_run {
                    Some(redactor) => {
                        found.imported.extend(self.describe_part(&session, part, redactor, share).await?)
                    }
                    None => found.imported.push(self.import_part(&session, part, &mut written).await?),
                }
            }
        }
        found.problems.extend(read.problems.iter().map(|problem| {
            let problem = to_json(problem);
            format!("{{\"path\":{},{}", to_json(share.path), problem.strip_prefix('{').unwrap_or_default())
        }));
        Ok(found)
    }

    async fn import_part(
        &self,
        imported: &ImportedSession,
        ConversationPart { messages, resumed: goes_on }: ConversationPart,
        written: &mut WriteProgress<'_>,
    ) -> Result<String, Trouble> {
        let messages = Rc::new(messages);
        let files = match &goes_on {
            Some(files) => files.clone(),
            None => self.open_target_session(imported, &messages).await?,
        };
        let appended = self.append_new_messages(&files, (&messages, goes_on.is_some()), written).await;
        if appended.is_err() {
            self.give_up_lease(&files).await;
        }
        let added = appended?;
        self.finish_session(files.clone(), imported, added).await?;
        let counts = (messages.len(), added);
        Ok(import_entry_json(
            files.id(),
            (&imported.agent, written.share.path),
            counts,
            imported.parent.as_ref(),
            &imported.losses,
        ))
    }

    /// Reports progress, if the caller wants it. `written`: the share of the messages that are written.
    pub(super) async fn report_progress(
        &self,
        share: &DocumentShare<'_>,
        written: f64,
    ) -> Result<(), Trouble> {
        if !self.reports_progress {
            return Ok(());
        }
        let DocumentShare { path, progress, start_share: begun, own_share: own } = share;
        let done = begun + own * (0.5 + written / 2.0);
        let bytes = progress.start_bytes + (done * progress.file_bytes as f64) as u64;
        let (done, total, total_bytes) = (progress.done_files, progress.total_files, progress.total_bytes);
        let report = ProgressReport { path, done, total, bytes, total_bytes };
        self.io.write_page(Vec::from(to_json(&report))).await
    }
}
