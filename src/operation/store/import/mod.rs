//! Import: other agents' sessions taken into the store. The host lists and reads the agents' files; this module parses
//! them, finds the session each goes into, and appends what is new.

mod claim;
mod companion_files;
mod continuations;
mod file;
mod importable;
mod imported_files;
mod live;
mod new_messages;
mod notes;
mod original;
mod recording;
mod request;
mod session_unpacking;
mod source_lookup;
mod target_session;
mod typed_prompts;

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use super::Store;
use crate::error::Error;
use crate::interop::AgentName;
use crate::operation::session_files::SessionFiles;
use crate::operation::{CountingMode, Io, Operation, OutgoingRedactor, Trouble};

pub use importable::ImportableList;
use imported_files::ImportedFiles;
pub use live::LiveRecording;
pub(super) use original::read_original;
use request::{FileRequest, FilesRequest};
use target_session::KnownPlaces;
use typed_prompts::PromptLog;

/// Codes of files that are no session: folders have such files, and they are no problem.
const NO_SESSION_CODES: [&str; 2] = ["unknown_format", "empty_file"];

/// What an import did: its entries and problems, each as JSON.
#[derive(Default)]
struct ImportReport {
    imported: Vec<String>,
    problems: Vec<String>,
    /// The file's sessions may get more messages although the file does not change.
    is_open: bool,
}

impl ImportReport {
    fn add_report(&mut self, other: ImportReport) {
        self.imported.extend(other.imported);
        self.problems.extend(other.problems);
        self.is_open |= other.is_open;
    }

    fn from_failure(path: &str, trouble: &Trouble) -> ImportReport {
        ImportReport {
            problems: Vec::from([file::import_problem_json(path, trouble)]),
            ..ImportReport::default()
        }
    }

    fn to_json(&self, unchanged: usize) -> String {
        let [imported, problems] = [&self.imported, &self.problems].map(|all| all.join(","));
        alloc::format!("{{\"imported\":[{imported}],\"problems\":[{problems}],\"unchanged\":{unchanged}}}")
    }
}

/// An import in progress.
struct Importer<'a> {
    store: &'a Store,
    io: &'a Io,
    counts: CountingMode,
    /// The conversation is recorded while it goes on in its client.
    is_ongoing: bool,
    /// The caller can tell which command began a conversation.
    has_command: bool,
    /// The caller wants progress reports.
    reports_progress: bool,
    /// The caller keeps notes of each file.
    sends_notes: bool,
    /// Where sessions of the store lie, by which an agent's session is found again.
    known_places: RefCell<KnownPlaces>,
    /// The sessions that were written to, when recording.
    recorded_sessions: RefCell<Vec<Rc<SessionFiles>>>,
    /// Nothing is written: the import is only described, with its texts redacted by this.
    dry_run: Option<Rc<OutgoingRedactor>>,
    /// The user's prompts, by the file to which a client writes those of all sessions.
    typed: RefCell<BTreeMap<String, PromptLog>>,
}

/// The progress of an import, for reports: the file that is being read, among all.
#[derive(Default)]
struct ImportProgress {
    done_files: usize,
    total_files: usize,
    /// Bytes of the files before this one.
    start_bytes: u64,
    /// Bytes of this file.
    file_bytes: u64,
    /// When this file last changed, where the host says so.
    changed_ms: Option<i64>,
    total_bytes: u64,
}

impl Store {
    /// Imports an agent's file: `{"path","from","size","tells"}`, JSON. `from` is the agent, where the content alone
    /// is not to decide; `size` the file's length in bytes. With `tells`, pages report progress as
    /// `{"path","done","total","bytes","totalBytes"}`. Answer: `{"imported","problems","unchanged"}`.
    pub fn import_file(
        self: &Rc<Store>,
        request: String,
        counts: CountingMode,
    ) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move {
            let FileRequest {
                path, agent: from, session_filter: only, size, reports_progress: tells, ..
            } = FileRequest::from_json(&request)?;
            let importing = Importer::new(&store, &io, counts, tells);
            let progress = ImportProgress {
                total_files: 1,
                file_bytes: size,
                total_bytes: size,
                ..ImportProgress::default()
            };
            let result =
                importing.import_one_file(&path, parse_agent(from.as_deref())?, &only, &progress).await?;
            Ok(result.to_json(0))
        })
    }

    /// Imports many files, those that changed since they were last imported:
    /// `{"files":[{"path","agent","size","bytes"}],"from","tells"}`. A file's `size` is any text that differs once the
    /// file has changed, and `bytes` its length. If the request has `notes`, an array, pages also give `{"note"}`: a
    /// host that keeps the notes it got, and after a trap begins again with them, loses one file only.
    pub fn import_files(
        self: &Rc<Store>,
        request: String,
        counts: CountingMode,
    ) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move {
            let FilesRequest { files, agent: from, notes, reports_progress: tells } =
                FilesRequest::from_json(&request)?;
            // Reject an unknown agent before any file is read.
            parse_agent(from.as_deref())?;
            let importing =
                Importer { sends_notes: notes.is_some(), ..Importer::new(&store, &io, counts, tells) };
            let (mut seen, mut result) = (ImportedFiles::load(&io).await?, ImportReport::default());
            let begun = notes::apply_notes(notes.unwrap_or_default(), &io, &mut seen, &mut result).await?;
            let all = files.len();
            let files: Vec<_> = files.into_iter().map(|file| (file.print(from.as_deref()), file)).collect();
            let files: Vec<_> = files
                .into_iter()
                .filter(|(print, file)| begun.contains(&file.path) || !seen.contains(&file.path, print))
                .collect();
            let total_bytes = files.iter().map(|(_, file)| file.byte_len).sum();
            let (total, mut start) = (files.len(), 0);
            for (done, (print, file)) in files.into_iter().enumerate() {
                let progress = ImportProgress {
                    done_files: done,
                    total_files: total,
                    start_bytes: start,
                    file_bytes: file.byte_len,
                    total_bytes,
                    ..ImportProgress::default()
                };
                start += file.byte_len;
                if begun.contains(&file.path) {
                    continue;
                }
                let agent = parse_agent(file.agent(from.as_deref()))?;
                result.add_report(
                    importing.import_noted_file(file.path, agent, print, &progress, &mut seen).await?,
                );
            }
            seen.save(&io).await?;
            Ok(result.to_json(all - total))
        })
    }
}

impl<'a> Importer<'a> {
    fn new(store: &'a Store, io: &'a Io, counts: CountingMode, tells: bool) -> Importer<'a> {
        let (met, recorded, typed) = (RefCell::default(), RefCell::default(), RefCell::default());
        let (is_on, has_command, is_noted) = (false, false, false);
        Importer {
            store,
            io,
            counts,
            is_ongoing: is_on,
            has_command,
            reports_progress: tells,
            sends_notes: is_noted,
            known_places: met,
            recorded_sessions: recorded,
            dry_run: None,
            typed,
        }
    }

    // Imports one of many files: its failure is reported with the others' results.
    async fn import_noted_file(
        &self,
        path: String,
        agent: Option<AgentName>,
        print: String,
        progress: &ImportProgress,
        seen: &mut ImportedFiles,
    ) -> core::result::Result<ImportReport, Trouble> {
        self.note_begun(&path).await?;
        let (found, print) = match self.import_one_file(&path, agent, "null", progress).await {
            Ok(found) if found.is_open => (found, None),
            Ok(found) => (found, Some(print)),
            Err(trouble) if trouble.is_bug() => return Err(trouble),
            Err(trouble) if NO_SESSION_CODES.contains(&trouble.code()) => {
                (ImportReport::default(), Some(print))
            }
            Err(trouble) => (ImportReport::from_failure(&path, &trouble), None),
        };
        self.note_done(&path, &found, print.as_deref()).await?;
        if let Some(print) = print {
            seen.add(self.io, path, print).await?;
        }
        Ok(found)
    }
}

fn parse_agent(agent: Option<&str>) -> core::result::Result<Option<AgentName>, Error> {
    agent.map(AgentName::parse).transpose()
}
