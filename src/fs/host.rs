//! Drives the core's operations: answers their host requests until they end. This host needs to know no more of an
//! operation.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::{Cell, OnceCell, RefCell};
use core::time::Duration;
use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::agents::{self, FileScope};
use super::clock::Clock;
use super::disk::{Disk, TreePath};
use super::git::{self, GitCall};
use super::helpers::{Helpers, SummaryPrompt, text_response};
use super::process::{self, is_gone};
use super::redaction::{Redactor, Rules};
use super::tree::Tree;
use crate::json::hash::sha256;
use crate::json::text::to_json;
use crate::layout::{File, Root};
use crate::operation::{
    AgentDocument, CountingMode, Failure, HostRequest, HostResponse, Operation, Step, Trouble,
};
use crate::record::id;
use crate::session::lease::{Lease, Process};
use crate::tokens::Vocabulary;

/// The host of a store, shared by all its sessions.
#[derive(Debug)]
pub(super) struct Host {
    pub home: PathBuf,
    pub project: PathBuf,
    pub clock: Box<dyn Clock>,
    disk: RefCell<Disk>,
    vocabularies: RefCell<BTreeMap<String, Rc<Vocabulary>>>,
    // The name of its leases.
    lease_name: OnceCell<String>,
    is_uncounted: bool,
    has_ended: Cell<bool>,
    rules: Option<Box<dyn Rules>>,
    // Documents still to be handed out from the agent's file being read.
    documents: RefCell<VecDeque<AgentDocument>>,
    /// The output being saved, JSON.
    pub saved_output: RefCell<String>,
    /// The output loaded for the caller.
    pub loaded_output: RefCell<Vec<u8>>,
}

impl Host {
    pub fn new(
        home: PathBuf,
        project: PathBuf,
        is_uncounted: bool,
        clock: Box<dyn Clock>,
        rules: Option<Box<dyn Rules>>,
    ) -> Host {
        Host {
            home,
            project,
            clock,
            disk: RefCell::default(),
            vocabularies: RefCell::default(),
            lease_name: OnceCell::new(),
            is_uncounted,
            has_ended: Cell::default(),
            rules,
            documents: RefCell::default(),
            saved_output: RefCell::default(),
            loaded_output: RefCell::default(),
        }
    }

    /// Releases all files; from then on none can be reached.
    pub fn end(&self) {
        self.disk.take();
        self.has_ended.set(true);
    }

    /// Whether the host has ended.
    pub fn has_ended(&self) -> bool {
        self.has_ended.get()
    }

    /// Refuses any further work once the host has ended.
    pub fn reject_ended(&self) -> Result<(), Trouble> {
        if !self.has_ended() {
            return Ok(());
        }
        let message = "the store is closed".into();
        Err(Failure { code: "storage_closed".into(), message, ..Failure::default() }.into())
    }

    /// Drives an operation to its end.
    pub fn drive<T>(&self, operation: Operation<'_, T>) -> Result<T, Trouble> {
        self.drive_with(operation, &mut Helpers::default())
    }

    /// Drives an operation with the caller's functions.
    pub fn drive_with<T>(
        &self,
        operation: Operation<'_, T>,
        helpers: &mut Helpers<'_>,
    ) -> Result<T, Trouble> {
        self.drive_outgoing(operation, helpers, None)
    }

    /// Drives a session's operation whose answer leaves the store.
    pub fn drive_outgoing<T>(
        &self,
        mut operation: Operation<'_, T>,
        helpers: &mut Helpers<'_>,
        out: Option<&Redactor>,
    ) -> Result<T, Trouble> {
        let mut step = operation.begin(self.clock.stamp()?);
        loop {
            let requests = match step {
                Step::Done(done) => return done,
                Step::Requests(requests) => requests,
            };
            let answers = self.answer_all(requests, helpers, out);
            step = operation.next(self.clock.now_ms(), answers);
        }
    }

    /// Answers the requests of a step.
    pub fn answer_all(
        &self,
        requests: Vec<HostRequest>,
        helpers: &mut Helpers<'_>,
        out: Option<&Redactor>,
    ) -> Vec<HostResponse> {
        requests.into_iter().map(|request| self.answer(request, helpers, out)).collect()
    }

    fn answer(
        &self,
        request: HostRequest,
        helpers: &mut Helpers<'_>,
        out: Option<&Redactor>,
    ) -> HostResponse {
        let at = |file: &File| self.tree_path(file);
        match request {
            HostRequest::Read { file, start, end } => self.read(&file, start, end),
            HostRequest::Stat { file } => {
                to_response(self.disk.borrow().stat(&at(&file)), HostResponse::Stat)
            }
            HostRequest::List { folder, names } => {
                to_response(self.disk.borrow().list(&at(&folder), &names), HostResponse::Entries)
            }
            HostRequest::Append { file, bytes, durable, within } => {
                self.append(&file, &bytes, durable, within.as_deref())
            }
            HostRequest::Replace { file, bytes, within } => self.replace(&file, &bytes, within.as_deref()),
            HostRequest::ReplaceLazily { file, bytes } => self.replace(&file, &bytes, None),
            HostRequest::Remove { file } => done_response(self.disk.borrow_mut().remove(&at(&file))),
            HostRequest::Copy { from, to, missing } => self.copy(&from, &to, missing),
            HostRequest::Move { from, to } => self.move_path(&from, &to),
            HostRequest::Link { file, target } => {
                done_response(self.disk.borrow_mut().link(&at(&file), &target))
            }
            HostRequest::Document { path, is_first, .. } => {
                to_response(self.document(&path, is_first), HostResponse::Document)
            }
            HostRequest::Command { bytes } => helpers.find_command(&bytes),
            HostRequest::RealPath { path } => HostResponse::Text(real_path(&path)),
            HostRequest::NormalizePath { path } => HostResponse::Text(path.nfc().collect()),
            HostRequest::RemoveMarks { text } => HostResponse::Text(without_marks(&text)),
            HostRequest::Git { folder, arguments, variables, without: unset_variables, bytes, limit_ms } => {
                let (folder, limit) = (Path::new(&folder), Duration::from_millis(limit_ms.into()));
                let arguments = &arguments;
                let call = GitCall { folder, arguments, variables, unset_variables, input: bytes, limit };
                to_response(git::run(call), HostResponse::GitRun)
            }
            HostRequest::Hash { file, start, end } => self.hash(&file, start, end),
            HostRequest::ReadSaved { end } => self.saved_output_head(end),
            HostRequest::WriteSaved { file, bytes, at } => self.write_output(&file, &bytes, at),
            HostRequest::HandRange { file, start, end } => self.load_output(&file, start, end),
            HostRequest::Wait { ms } => wait(ms),
            // The store runs one operation at a time, so a turn needs no waiting.
            HostRequest::TakeTurn { .. } | HostRequest::EndTurn { .. } => HostResponse::Done,
            HostRequest::Process => self.process(),
            HostRequest::CheckProcesses { processes } => check_processes(&processes),
            HostRequest::Vocabulary { encoding } => {
                to_response(self.vocabulary(&encoding), HostResponse::Vocabulary)
            }
            HostRequest::Counts { encoding, texts } => helpers.count_texts(&texts, &encoding),
            HostRequest::Vectors { texts } => helpers.embed_texts(&texts),
            request @ HostRequest::Summary { .. } => {
                self.summary(request, helpers, out).unwrap_or_else(trouble_response)
            }
            HostRequest::Redact { bytes } => {
                self.redact_outgoing(out, bytes).unwrap_or_else(trouble_response)
            }
            HostRequest::Secrets { texts } => self.secrets(&texts),
            // `Pages` reads the pages of paged operations; in the others a page reports progress.
            HostRequest::Page { bytes } => helpers.report_progress(&bytes),
            HostRequest::Strategy { name, budget, encoding } => {
                helpers.choose_messages(&name, budget, &encoding)
            }
        }
    }

    fn move_path(&self, from: &File, to: &File) -> HostResponse {
        done_response(self.disk.borrow_mut().rename(&self.tree_path(from), &self.tree_path(to)))
    }

    fn read(&self, file: &File, start: u64, end: Option<u64>) -> HostResponse {
        to_response(self.disk.borrow().read(&self.tree_path(file), start, end), HostResponse::Bytes)
    }

    fn append(&self, file: &File, bytes: &[u8], durable: bool, within: Option<&str>) -> HostResponse {
        let appended = self.disk.borrow_mut().append(&self.tree_path(file), bytes, durable, within);
        to_response(appended, |end| HostResponse::End(end, None))
    }

    fn replace(&self, file: &File, bytes: &[u8], within: Option<&str>) -> HostResponse {
        done_response(self.disk.borrow_mut().replace(&self.tree_path(file), bytes, within))
    }

    fn copy(&self, from: &File, to: &File, missing: bool) -> HostResponse {
        let copied = self.disk.borrow_mut().copy(&self.tree_path(from), &self.tree_path(to), missing);
        to_response(copied, |bytes| HostResponse::End(bytes, None))
    }

    fn hash(&self, file: &File, start: u64, end: u64) -> HostResponse {
        let is_whole = |bytes: &[u8]| bytes.len() as u64 == end - start;
        to_response(self.disk.borrow().read(&self.tree_path(file), start, Some(end)), |bytes| {
            let hex = bytes.filter(|bytes| is_whole(bytes)).map(|bytes| sha256(&bytes));
            hex.map_or(HostResponse::Done, HostResponse::Text)
        })
    }

    // The first bytes of the output being saved.
    fn saved_output_head(&self, end: u64) -> HostResponse {
        let given = self.saved_output.borrow();
        let end = usize::try_from(end).unwrap_or(usize::MAX).min(given.len());
        HostResponse::Bytes(Some(given.as_bytes()[..end].into()))
    }

    // Writes the whole output, with the bytes around it in its file.
    fn write_output(&self, file: &File, around: &[u8], at: u64) -> HostResponse {
        let (before, behind) = around.split_at(at.min(around.len() as u64) as usize);
        let given = self.saved_output.borrow();
        done_response(self.disk.borrow_mut().put(&self.tree_path(file), &[before, given.as_bytes(), behind]))
    }

    // Reads an output for the caller.
    fn load_output(&self, file: &File, start: u64, end: u64) -> HostResponse {
        to_response(self.disk.borrow().read(&self.tree_path(file), start, Some(end)), |bytes| match bytes {
            None => HostResponse::Bytes(None),
            Some(bytes) => {
                let length = bytes.len() as u64;
                self.loaded_output.replace(bytes);
                HostResponse::End(length, None)
            }
        })
    }

    // A prompt for a model is outgoing text, too.
    fn summary(
        &self,
        request: HostRequest,
        helpers: &mut Helpers<'_>,
        out: Option<&Redactor>,
    ) -> Result<HostResponse, Trouble> {
        let HostRequest::Summary {
            system,
            user,
            max_tokens,
            previous,
            start_message_id,
            end_message_id,
            message_count,
        } = request
        else {
            return Ok(HostResponse::Done);
        };
        let left = |text: String| out.map_or(Ok(text.clone()), |out| out.redact_text(self, text));
        let (system, user) = (left(system)?, left(user)?);
        let previous = previous.map(left).transpose()?;
        Ok(helpers.write_summary(&SummaryPrompt {
            system: &system,
            user: &user,
            max_tokens,
            start_message_id: &start_message_id,
            end_message_id: &end_message_id,
            message_count,
            previous: previous.as_deref(),
        }))
    }

    fn redact_outgoing(&self, out: Option<&Redactor>, json: Vec<u8>) -> Result<HostResponse, Trouble> {
        let Some(out) = out else { return Ok(HostResponse::Text("{}".into())) };
        let json = String::from_utf8(json).map_err(|_| Trouble::internal("expected JSON of UTF-8"))?;
        Ok(HostResponse::Text(out.redact(self, json)?.to_json()))
    }

    fn secrets(&self, texts: &[String]) -> HostResponse {
        let found = self.rules.as_ref().map_or(Ok(Vec::new()), |rules| rules.secrets(texts));
        text_response(found.map(|found| to_json(&found)))
    }

    // The next document of the file being read; files are read one after another.
    fn document(&self, path: &str, is_first: bool) -> Result<Option<AgentDocument>, Failure> {
        if is_first {
            self.documents.replace(agents::documents(&self.disk.borrow(), path)?);
        }
        Ok(self.documents.borrow_mut().pop_front())
    }

    /// Finds agents' files.
    pub fn agent_files(&self, wanted: &FileScope<'_>) -> Vec<agents::AgentFile> {
        agents::find_files(&self.disk.borrow(), wanted)
    }

    fn process(&self) -> HostResponse {
        let name = match self.lease_name.get() {
            Some(name) => name.clone(),
            None => match self.clock.stamp() {
                Ok(stamp) => self.lease_name.get_or_init(|| id::new(&stamp, 0)).clone(),
                Err(Trouble::Failed(failure)) => return HostResponse::Failed(*failure),
                Err(Trouble::Refused(_)) => String::new(),
            },
        };
        HostResponse::Process(Process { lease: process::this_process(), name, is_alone: false })
    }

    fn tree_path(&self, file: &File) -> TreePath {
        let tree = match &file.root {
            Root::Home => Tree::restricted_to(self.home.clone()),
            Root::Project => Tree::restricted_to(self.project.clone()),
            Root::Workspace(folder) => Tree::restricted_to(PathBuf::from(folder)),
            Root::Outside => Tree::of_disk(),
        };
        // An environment variable may name a relative path: it is taken from the program's working folder.
        let is_of_folder = file.root == Root::Outside && Path::new(&file.path).is_relative();
        let whole =
            is_of_folder.then(|| std::path::absolute(&file.path).ok()?.into_os_string().into_string().ok());
        let path = whole.flatten().unwrap_or_else(|| file.path.clone());
        TreePath { tree: if self.has_ended() { tree.into_ended() } else { tree }, path }
    }

    /// How stored messages are counted: by the vocabulary, where the program has it.
    pub fn counting_mode(&self) -> CountingMode {
        if self.is_uncounted {
            return CountingMode::Off;
        }
        self.vocabulary("o200k_base").map_or(CountingMode::Estimate, CountingMode::Exact)
    }

    /// Loads a vocabulary, each once: loading takes longer than counting.
    pub fn vocabulary(&self, encoding: &str) -> Result<Rc<Vocabulary>, Failure> {
        if let Some(known) = self.vocabularies.borrow().get(encoding) {
            return Ok(known.clone());
        }
        let made = embedded_vocabulary(encoding).ok_or_else(|| {
            let message = format!(
                "expected the vocabulary of \"{encoding}\", but found none: the feature of its name has it"
            );
            Failure { code: "missing_dependency".into(), message, ..Failure::default() }
        })?;
        let made = Rc::new(made);
        self.vocabularies.borrow_mut().insert(encoding.into(), made.clone());
        Ok(made)
    }
}

fn embedded_vocabulary(encoding: &str) -> Option<Vocabulary> {
    match encoding {
        #[cfg(feature = "o200k")]
        "o200k_base" => Some(Vocabulary::o200k_base()),
        #[cfg(feature = "cl100k")]
        "cl100k_base" => Some(Vocabulary::cl100k_base()),
        _ => None,
    }
}

// The path without links, as far as it exists.
fn real_path(path: &str) -> String {
    let path = Path::new(path);
    let found = path
        .is_absolute()
        .then(|| path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?))));
    let real = found.flatten().and_then(|(above, real)| Some(real.join(path.strip_prefix(above).ok()?)));
    // Joining an empty rest leaves a separator at the end; `components` removes it.
    let real: PathBuf = real.as_deref().unwrap_or(path).components().collect();
    real.to_str().unwrap_or_default().into()
}

fn without_marks(text: &str) -> String {
    text.nfkd().filter(|letter| !is_combining_mark(*letter)).collect()
}

fn trouble_response(trouble: Trouble) -> HostResponse {
    let (code, message) = (trouble.code().into(), trouble.message().into());
    HostResponse::Failed(Failure { code, message, ..Failure::default() })
}

fn check_processes(processes: &[Lease]) -> HostResponse {
    HostResponse::Flags(processes.iter().map(is_gone).collect())
}

fn wait(ms: u32) -> HostResponse {
    std::thread::sleep(Duration::from_millis(ms.into()));
    HostResponse::Done
}

fn done_response(done: Result<(), Failure>) -> HostResponse {
    to_response(done, |()| HostResponse::Done)
}

fn to_response<T>(found: Result<T, Failure>, answer: impl FnOnce(T) -> HostResponse) -> HostResponse {
    found.map_or_else(HostResponse::Failed, answer)
}
