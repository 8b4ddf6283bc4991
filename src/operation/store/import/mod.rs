//! Other agents' sessions on their way into the store. The host lists and reads the agents' files; what is in them, where it
//! goes here and what of it is new, is found out here.

mod appending;
mod arrivals;
mod continued;
mod file;
mod notes;
mod original;
mod recording;
mod request;
mod seen;
mod source;
mod typed;
mod unpacking;
mod whole;

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use super::Store;
use crate::error::Error;
use crate::interop::AgentName;
use crate::operation::live::Live;
use crate::operation::{Counts, Io, Operation, Trouble};

use arrivals::Met;
pub(super) use original::read_original;
use request::{FileRequest, FolderRequest};
use seen::Seen;
use typed::PromptLog;

/// What is found in folders and is no session is no trouble.
const NONE: [&str; 2] = ["unknown_format", "empty_file"];

/// What came of files: JSON each.
#[derive(Default)]
struct Result {
    imported: Vec<String>,
    problems: Vec<String>,
    /// What it holds may come to more, though it does not change.
    is_open: bool,
}

impl Result {
    fn take(&mut self, other: Result) {
        self.imported.extend(other.imported);
        self.problems.extend(other.problems);
        self.is_open |= other.is_open;
    }

    fn failed(path: &str, trouble: &Trouble) -> Result {
        Result { problems: Vec::from([file::problem(path, trouble)]), ..Result::default() }
    }

    fn to_json(&self, unchanged: usize) -> String {
        let [imported, problems] = [&self.imported, &self.problems].map(|all| all.join(","));
        alloc::format!("{{\"imported\":[{imported}],\"problems\":[{problems}],\"unchanged\":{unchanged}}}")
    }
}

/// One import.
struct Importing<'a> {
    store: &'a Store,
    io: &'a Io,
    counts: Counts,
    /// What is read goes on there.
    is_on: bool,
    /// Whoever asked can tell which command began it.
    has_command: bool,
    /// Whoever asked wants to be told how far it is.
    tells: bool,
    /// Whoever asked keeps notes.
    is_noted: bool,
    /// Which session of the store one of an agent's is.
    met: RefCell<Met>,
    /// The sessions that were written to, where it goes on.
    recorded: RefCell<Vec<Rc<Live>>>,
    /// What the user typed, by the file in which a client writes that down for all sessions.
    typed: RefCell<BTreeMap<String, PromptLog>>,
}

/// How far it is, as it is told.
struct Progress {
    done: usize,
    total: usize,
    /// Those of the files before it.
    start: u64,
    /// Its own.
    size: u64,
    total_bytes: u64,
}

impl Store {
    /// Reads an agent's file into the store: `{"path","from","size","tells"}`, JSON. `from` is the agent, where the content is
    /// not to tell; `size` how long the file is, and pages tell how far it is, `{"path","done","total","bytes","totalBytes"}`,
    /// where `tells` is true. Answer: `{"imported","problems","unchanged"}`.
    pub fn import_file(self: &Rc<Store>, request: String, counts: Counts) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move {
            let FileRequest { path, from, only, size, tells, .. } = FileRequest::from_json(&request)?;
            let importing = Importing::new(&store, &io, counts, tells);
            let progress = Progress { done: 0, total: 1, start: 0, size, total_bytes: size };
            let result = importing.file(&path, named(from.as_deref())?, &only, &progress).await?;
            Ok(result.to_json(0))
        })
    }

    /// The same of many files, as far as they have changed since: `{"files":[{"path","agent","size","bytes"}],"from","tells"}`,
    /// where a file's `size` is another text once it has changed, and `bytes` how long it is. Pages give `{"note"}` where the
    /// request has `notes`, an array: whoever keeps those that came, and begins again with them after a trap, loses one file.
    pub fn import_files(self: &Rc<Store>, request: String, counts: Counts) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move {
            let FolderRequest { files, from, notes, tells } = FolderRequest::from_json(&request)?;
            // Refused before any is read.
            named(from.as_deref())?;
            let importing =
                Importing { is_noted: notes.is_some(), ..Importing::new(&store, &io, counts, tells) };
            let (mut seen, mut result) = (Seen::load(&io).await?, Result::default());
            let begun = notes::taken_up(notes.unwrap_or_default(), &io, &mut seen, &mut result).await?;
            let all = files.len();
            let print = |file: &request::Found| {
                let agent = from.as_deref().or(file.agent.as_deref());
                (
                    String::from(agent.unwrap_or_default()),
                    alloc::format!("{} {}", file.size, agent.unwrap_or_default()),
                )
            };
            let files: Vec<_> = files.into_iter().map(|file| (print(&file), file)).collect();
            let files: Vec<_> = files
                .into_iter()
                .filter(|((_, print), file)| begun.contains(&file.path) || !seen.has(&file.path, print))
                .collect();
            let total_bytes = files.iter().map(|(_, file)| file.bytes).sum();
            let (total, mut start) = (files.len(), 0);
            for (done, ((agent, print), file)) in files.into_iter().enumerate() {
                let progress = Progress { done, total, start, size: file.bytes, total_bytes };
                start += file.bytes;
                if begun.contains(&file.path) {
                    continue;
                }
                let agent = named(Some(&*agent).filter(|agent| !agent.is_empty()))?;
                result.take(importing.noted(file.path, agent, print, &progress, &mut seen).await?);
            }
            seen.save(&io).await?;
            Ok(result.to_json(all - total))
        })
    }
}

impl<'a> Importing<'a> {
    fn new(store: &'a Store, io: &'a Io, counts: Counts, tells: bool) -> Importing<'a> {
        let (met, recorded, typed) = (RefCell::default(), RefCell::default(), RefCell::default());
        let (is_on, has_command, is_noted) = (false, false, false);
        Importing { store, io, counts, is_on, has_command, tells, is_noted, met, recorded, typed }
    }

    // One of many: what is wrong with it is told with the rest.
    async fn noted(
        &self,
        path: String,
        agent: Option<AgentName>,
        print: String,
        progress: &Progress,
        seen: &mut Seen,
    ) -> core::result::Result<Result, Trouble> {
        self.note_begun(&path).await?;
        let (found, print) = match self.file(&path, agent, "null", progress).await {
            Ok(found) if found.is_open => (found, None),
            Ok(found) => (found, Some(print)),
            Err(trouble) if trouble.is_bug() => return Err(trouble),
            Err(trouble) if NONE.contains(&trouble.code()) => (Result::default(), Some(print)),
            Err(trouble) => (Result::failed(&path, &trouble), None),
        };
        self.note_done(&path, &found, print.as_deref()).await?;
        if let Some(print) = print {
            seen.add(self.io, path, print).await?;
        }
        Ok(found)
    }
}

fn named(agent: Option<&str>) -> core::result::Result<Option<AgentName>, Error> {
    agent.map(AgentName::parse).transpose()
}
