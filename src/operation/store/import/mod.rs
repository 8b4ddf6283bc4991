//! Other agents' sessions on their way into the store. The host lists and reads the agents' files; what is in them, where it
//! goes here and what of it is new, is found out here.

mod companion_files;
mod continuations;
mod file;
mod imported_files;
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
use crate::operation::{CountingMode, Io, Operation, Trouble};

use imported_files::ImportedFiles;
pub(super) use original::read_original;
use request::{FileRequest, FilesRequest};
use target_session::KnownPlaces;
use typed_prompts::PromptLog;

/// What is found in folders and is no session is no trouble.
const NONE: [&str; 2] = ["unknown_format", "empty_file"];

/// What came of files: JSON each.
#[derive(Default)]
struct ImportReport {
    imported: Vec<String>,
    problems: Vec<String>,
    /// What it holds may come to more, though it does not change.
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

/// One import.
struct Importer<'a> {
    store: &'a Store,
    io: &'a Io,
    counts: CountingMode,
    /// What is read goes on there.
    is_ongoing: bool,
    /// Whoever asked can tell which command began it.
    has_command: bool,
    /// Whoever asked wants to be told how far it is.
    reports_progress: bool,
    /// Whoever asked keeps notes.
    sends_notes: bool,
    /// Which session of the store one of an agent's is.
    known_places: RefCell<KnownPlaces>,
    /// The sessions that were written to, where it goes on.
    recorded_sessions: RefCell<Vec<Rc<SessionFiles>>>,
    /// What the user typed, by the file in which a client writes that down for all sessions.
    typed: RefCell<BTreeMap<String, PromptLog>>,
}

/// How far it is, as it is told.
struct ImportProgress {
    done_files: usize,
    total_files: usize,
    /// Those of the files before it.
    start_bytes: u64,
    /// Its own.
    file_bytes: u64,
    total_bytes: u64,
}

impl Store {
    /// Reads an agent's file into the store: `{"path","from","size","tells"}`, JSON. `from` is the agent, where the content is
    /// not to tell; `size` how long the file is, and pages tell how far it is, `{"path","done","total","bytes","totalBytes"}`,
    /// where `tells` is true. Answer: `{"imported","problems","unchanged"}`.
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
                done_files: 0,
                total_files: 1,
                start_bytes: 0,
                file_bytes: size,
                total_bytes: size,
            };
            let result =
                importing.import_one_file(&path, parse_agent(from.as_deref())?, &only, &progress).await?;
            Ok(result.to_json(0))
        })
    }

    /// The same of many files, as far as they have changed since: `{"files":[{"path","agent","size","bytes"}],"from","tells"}`,
    /// where a file's `size` is another text once it has changed, and `bytes` how long it is. Pages give `{"note"}` where the
    /// request has `notes`, an array: whoever keeps those that came, and begins again with them after a trap, loses one file.
    pub fn import_files(
        self: &Rc<Store>,
        request: String,
        counts: CountingMode,
    ) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move {
            let FilesRequest { files, agent: from, notes, reports_progress: tells } =
                FilesRequest::from_json(&request)?;
            // Refused before any is read.
            parse_agent(from.as_deref())?;
            let importing =
                Importer { sends_notes: notes.is_some(), ..Importer::new(&store, &io, counts, tells) };
            let (mut seen, mut result) = (ImportedFiles::load(&io).await?, ImportReport::default());
            let begun = notes::apply_notes(notes.unwrap_or_default(), &io, &mut seen, &mut result).await?;
            let all = files.len();
            let print = |file: &request::ImportFile| {
                let agent = from.as_deref().or(file.agent.as_deref());
                (
                    String::from(agent.unwrap_or_default()),
                    alloc::format!("{} {}", file.change_mark, agent.unwrap_or_default()),
                )
            };
            let files: Vec<_> = files.into_iter().map(|file| (print(&file), file)).collect();
            let files: Vec<_> = files
                .into_iter()
                .filter(|((_, print), file)| begun.contains(&file.path) || !seen.contains(&file.path, print))
                .collect();
            let total_bytes = files.iter().map(|(_, file)| file.byte_len).sum();
            let (total, mut start) = (files.len(), 0);
            for (done, ((agent, print), file)) in files.into_iter().enumerate() {
                let progress = ImportProgress {
                    done_files: done,
                    total_files: total,
                    start_bytes: start,
                    file_bytes: file.byte_len,
                    total_bytes,
                };
                start += file.byte_len;
                if begun.contains(&file.path) {
                    continue;
                }
                let agent = parse_agent(Some(&*agent).filter(|agent| !agent.is_empty()))?;
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
            typed,
        }
    }

    // One of many: what is wrong with it is told with the rest.
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
            Err(trouble) if NONE.contains(&trouble.code()) => (ImportReport::default(), Some(print)),
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
