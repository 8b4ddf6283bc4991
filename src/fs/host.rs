//! Answers what the core's operations need until they have ended: all that this host has to know of them.

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

use super::agents::{self, Wanted};
use super::clock::Clock;
use super::disk::{At, Disk};
use super::git::{self, How};
use super::helpers::{Asked, Helpers, made};
use super::process::{self, is_gone};
use super::rules::{Out, Rules};
use super::tree::Tree;
use crate::json::hash::sha256;
use crate::json::text::to_json;
use crate::layout::{File, Root};
use crate::operation::{Answer, Counts, Document, Failure, Need, Operation, Step, Trouble};
use crate::record::id;
use crate::session::lease::Process;
use crate::tokens::Vocabulary;

/// What all sessions of a store share.
#[derive(Debug)]
pub(super) struct Host {
    pub home: PathBuf,
    pub project: PathBuf,
    pub clock: Box<dyn Clock>,
    disk: RefCell<Disk>,
    vocabularies: RefCell<BTreeMap<String, Rc<Vocabulary>>>,
    // What its leases are called.
    lease: OnceCell<String>,
    is_uncounted: bool,
    has_ended: Cell<bool>,
    rules: Option<Box<dyn Rules>>,
    // Of the agents' file that is read.
    documents: RefCell<VecDeque<Document>>,
    /// The output that is saved, JSON.
    pub given: RefCell<String>,
    /// What was read of one for the caller.
    pub handed: RefCell<Vec<u8>>,
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
            lease: OnceCell::new(),
            is_uncounted,
            has_ended: Cell::default(),
            rules,
            documents: RefCell::default(),
            given: RefCell::default(),
            handed: RefCell::default(),
        }
    }

    /// Lets go of all files: from then on none is reached.
    pub fn end(&self) {
        self.disk.take();
        self.has_ended.set(true);
    }

    /// Whether it has let go.
    pub fn has_ended(&self) -> bool {
        self.has_ended.get()
    }

    /// That nothing more is done once it has.
    pub fn refuse_ended(&self) -> Result<(), Trouble> {
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

    /// The same, with what the caller does for it.
    pub fn drive_with<T>(
        &self,
        operation: Operation<'_, T>,
        helpers: &mut Helpers<'_>,
    ) -> Result<T, Trouble> {
        self.drive_out(operation, helpers, None)
    }

    /// The same of a session, where something of it leaves.
    pub fn drive_out<T>(
        &self,
        mut operation: Operation<'_, T>,
        helpers: &mut Helpers<'_>,
        out: Option<&Out>,
    ) -> Result<T, Trouble> {
        let mut step = operation.begin(self.clock.stamp()?);
        loop {
            let needs = match step {
                Step::Done(done) => return done,
                Step::Needs(needs) => needs,
            };
            let answers = self.answers(needs, helpers, out);
            step = operation.next(self.clock.now_ms(), answers);
        }
    }

    /// What it says to the needs of a step.
    pub fn answers(&self, needs: Vec<Need>, helpers: &mut Helpers<'_>, out: Option<&Out>) -> Vec<Answer> {
        needs.into_iter().map(|need| self.answer(need, helpers, out)).collect()
    }

    fn answer(&self, need: Need, helpers: &mut Helpers<'_>, out: Option<&Out>) -> Answer {
        match need {
            Need::Read { file, start, end } => {
                told(self.disk.borrow().read(&self.at(&file), start, end), Answer::Bytes)
            }
            Need::Stat { file } => told(self.disk.borrow().stat(&self.at(&file)), Answer::Stat),
            Need::List { folder, names } => {
                told(self.disk.borrow().list(&self.at(&folder), &names), Answer::Entries)
            }
            Need::Append { file, bytes, durable, within } => {
                let mut disk = self.disk.borrow_mut();
                let appended = disk.append(&self.at(&file), &bytes, durable, within.as_deref());
                told(appended, |end| Answer::End(end, None))
            }
            Need::Replace { file, bytes, within } => {
                let mut disk = self.disk.borrow_mut();
                done(disk.replace(&self.at(&file), &bytes, within.as_deref()))
            }
            Need::Keep { file, bytes } => done(self.disk.borrow_mut().replace(&self.at(&file), &bytes, None)),
            Need::Remove { file } => done(self.disk.borrow_mut().remove(&self.at(&file))),
            Need::Copy { from, to, missing } => {
                let copied = self.disk.borrow_mut().copy(&self.at(&from), &self.at(&to), missing);
                told(copied, |bytes| Answer::End(bytes, None))
            }
            Need::Move { from, to } => done(self.disk.borrow_mut().rename(&self.at(&from), &self.at(&to))),
            Need::Link { file, target } => done(self.disk.borrow_mut().link(&self.at(&file), &target)),
            Need::Document { path, is_first, .. } => told(self.document(&path, is_first), Answer::Document),
            Need::Command { bytes } => helpers.command(&bytes),
            Need::RealPath { path } => Answer::Text(real_path(&path)),
            Need::Normal { path } => Answer::Text(path.nfc().collect()),
            Need::Unmarked { text } => Answer::Text(unmarked(&text)),
            Need::Git { folder, arguments, variables, without, bytes, limit_ms } => {
                let at = Path::new(&folder);
                let limit = Duration::from_millis(limit_ms.into());
                let how = How { at, arguments: &arguments, variables, without, input: bytes, limit };
                told(git::run(how), Answer::Ran)
            }
            Need::Hash { file, start, end } => self.hash(&file, start, end),
            Need::Given { end } => self.given(end),
            Need::Put { file, bytes, at } => self.put(&file, &bytes, at),
            Need::Hand { file, start, end } => self.hand(&file, start, end),
            Need::Wait { ms } => {
                std::thread::sleep(Duration::from_millis(ms.into()));
                Answer::Done
            }
            // One operation after another has the store.
            Need::Turn { .. } | Need::Leave { .. } => Answer::Done,
            Need::Process => self.process(),
            Need::Gone { processes } => Answer::Flags(processes.iter().map(is_gone).collect()),
            Need::Vocabulary { encoding } => told(self.vocabulary(&encoding), Answer::Vocabulary),
            Need::Counts { encoding, texts } => helpers.counts(&texts, &encoding),
            Need::Vectors { texts } => helpers.vectors(&texts),
            need @ Need::Summary { .. } => self.summary(need, helpers, out).unwrap_or_else(failed),
            Need::Out { bytes } => self.left(out, bytes).unwrap_or_else(failed),
            Need::Secrets { texts } => self.secrets(&texts),
            // Of what comes in pages, `Pages` reads them; of the rest a page says how far it is.
            Need::Page { bytes } => helpers.told(&bytes),
            Need::Strategy { name, budget, encoding } => helpers.chosen(&name, budget, &encoding),
        }
    }

    fn hash(&self, file: &File, start: u64, end: u64) -> Answer {
        let is_whole = |bytes: &[u8]| bytes.len() as u64 == end - start;
        told(self.disk.borrow().read(&self.at(file), start, Some(end)), |bytes| {
            let hex = bytes.filter(|bytes| is_whole(bytes)).map(|bytes| sha256(&bytes));
            hex.map_or(Answer::Done, Answer::Text)
        })
    }

    // How the output begins that is saved.
    fn given(&self, end: u64) -> Answer {
        let given = self.given.borrow();
        let end = usize::try_from(end).unwrap_or(usize::MAX).min(given.len());
        Answer::Bytes(Some(given.as_bytes()[..end].into()))
    }

    // The whole output, with what stands around it in its file.
    fn put(&self, file: &File, around: &[u8], at: u64) -> Answer {
        let (before, behind) = around.split_at(at.min(around.len() as u64) as usize);
        let given = self.given.borrow();
        done(self.disk.borrow_mut().put(&self.at(file), &[before, given.as_bytes(), behind]))
    }

    // An output on its way to the caller.
    fn hand(&self, file: &File, start: u64, end: u64) -> Answer {
        told(self.disk.borrow().read(&self.at(file), start, Some(end)), |bytes| match bytes {
            None => Answer::Bytes(None),
            Some(bytes) => {
                let length = bytes.len() as u64;
                self.handed.replace(bytes);
                Answer::End(length, None)
            }
        })
    }

    // What a model is told has left, too.
    fn summary(&self, need: Need, helpers: &mut Helpers<'_>, out: Option<&Out>) -> Result<Answer, Trouble> {
        let Need::Summary {
            system,
            user,
            max_tokens,
            previous,
            start_message_id,
            end_message_id,
            message_count,
        } = need
        else {
            return Ok(Answer::Done);
        };
        let left = |text: String| out.map_or(Ok(text.clone()), |out| out.text(self, text));
        let (system, user) = (left(system)?, left(user)?);
        let previous = previous.map(left).transpose()?;
        Ok(helpers.summary(&Asked {
            system: &system,
            user: &user,
            max_tokens,
            start_message_id: &start_message_id,
            end_message_id: &end_message_id,
            message_count,
            previous: previous.as_deref(),
        }))
    }

    fn left(&self, out: Option<&Out>, json: Vec<u8>) -> Result<Answer, Trouble> {
        let Some(out) = out else { return Ok(Answer::Text("{}".into())) };
        let json = String::from_utf8(json).map_err(|_| Trouble::internal("expected JSON of UTF-8"))?;
        Ok(Answer::Text(out.left(self, json)?.to_json()))
    }

    fn secrets(&self, texts: &[String]) -> Answer {
        let found = self.rules.as_ref().map_or(Ok(Vec::new()), |rules| rules.secrets(texts));
        made(found.map(|found| to_json(&found)))
    }

    // The next document of a file that is read; one file after another.
    fn document(&self, path: &str, is_first: bool) -> Result<Option<Document>, Failure> {
        if is_first {
            self.documents.replace(agents::documents(&self.disk.borrow(), path)?);
        }
        Ok(self.documents.borrow_mut().pop_front())
    }

    /// The files of agents that are there.
    pub fn agents_files(&self, wanted: &Wanted<'_>) -> Vec<agents::Found> {
        agents::found(&self.disk.borrow(), wanted)
    }

    fn process(&self) -> Answer {
        let name = match self.lease.get() {
            Some(name) => name.clone(),
            None => match self.clock.stamp() {
                Ok(stamp) => self.lease.get_or_init(|| id::new(&stamp, 0)).clone(),
                Err(Trouble::Failed(failure)) => return Answer::Failed(*failure),
                Err(Trouble::Refused(_)) => String::new(),
            },
        };
        Answer::Process(Process { lease: process::this(), name, is_alone: false })
    }

    fn at(&self, file: &File) -> At {
        let tree = match &file.root {
            Root::Home => Tree::closed(self.home.clone()),
            Root::Project => Tree::closed(self.project.clone()),
            Root::Workspace(folder) => Tree::closed(PathBuf::from(folder)),
            Root::Outside => Tree::all(),
        };
        // As a variable of the environment may name it: in the folder that the program is in.
        let is_of_folder = file.root == Root::Outside && Path::new(&file.path).is_relative();
        let whole =
            is_of_folder.then(|| std::path::absolute(&file.path).ok()?.into_os_string().into_string().ok());
        let path = whole.flatten().unwrap_or_else(|| file.path.clone());
        At { tree: if self.has_ended() { tree.ended() } else { tree }, path }
    }

    /// What is stored is counted by the vocabulary, where the program has it.
    pub fn counts(&self) -> Counts {
        if self.is_uncounted {
            return Counts::Off;
        }
        self.vocabulary("o200k_base").map_or(Counts::Estimate, Counts::Exact)
    }

    /// Each is read once: that takes longer than to count by it.
    pub fn vocabulary(&self, encoding: &str) -> Result<Rc<Vocabulary>, Failure> {
        if let Some(known) = self.vocabularies.borrow().get(encoding) {
            return Ok(known.clone());
        }
        let made = embedded(encoding).ok_or_else(|| {
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

fn embedded(encoding: &str) -> Option<Vocabulary> {
    match encoding {
        #[cfg(feature = "o200k")]
        "o200k_base" => Some(Vocabulary::o200k_base()),
        #[cfg(feature = "cl100k")]
        "cl100k_base" => Some(Vocabulary::cl100k_base()),
        _ => None,
    }
}

// Links are followed as far as there is something.
fn real_path(path: &str) -> String {
    let path = Path::new(path);
    let found = path
        .is_absolute()
        .then(|| path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?))));
    let real = found.flatten().and_then(|(above, real)| Some(real.join(path.strip_prefix(above).ok()?)));
    // What is joined to an empty rest ends with a separator.
    let real: PathBuf = real.as_deref().unwrap_or(path).components().collect();
    real.to_str().unwrap_or_default().into()
}

fn unmarked(text: &str) -> String {
    text.nfkd().filter(|letter| !is_combining_mark(*letter)).collect()
}

fn failed(trouble: Trouble) -> Answer {
    let (code, message) = (trouble.code().into(), trouble.message().into());
    Answer::Failed(Failure { code, message, ..Failure::default() })
}

fn done(done: Result<(), Failure>) -> Answer {
    told(done, |()| Answer::Done)
}

fn told<T>(found: Result<T, Failure>, answer: impl FnOnce(T) -> Answer) -> Answer {
    found.map_or_else(Answer::Failed, answer)
}
