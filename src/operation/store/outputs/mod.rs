//! Large tool outputs beside the conversations of a run: saved, listed, loaded, picked, cleared. The results themselves stay with the
//! host: an operation sees their beginnings, and of small ones all.

mod asking;
mod left;
mod loading;
mod saving;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use crate::error::Error;
use crate::json::request;
use crate::json::text::to_json;
use crate::layout::{self, File};
use crate::operation::io::some;
use crate::operation::{Io, Operation, Trouble, Work, unless_bug};
use crate::outputs::{Pointer, name};
use crate::session::lease::{Lease, Process};
use crate::time;

pub(super) use left::LeftOutputs;
pub(in crate::operation) use left::{cleared_outputs, left_outputs};

/// So many files are taken away at a time.
const TOGETHER: usize = 64;
const MEMORY_BYTES: &str = "outputs.memoryBytes";

/// The outputs that are there, in the order in which they were saved.
#[derive(Default)]
pub(super) struct Outputs {
    all: BTreeMap<u64, Kept>,
    // The number of each by its path.
    places: BTreeMap<String, u64>,
    run: Option<Run>,
}

/// An output that is there.
#[derive(Clone)]
struct Kept {
    pointer: Pointer,
    lies: Lies,
}

/// Where the result of one is, JSON.
#[derive(Clone)]
enum Lies {
    Memory(Rc<str>),
    /// In the file, behind so many bytes.
    File(u64),
}

/// Whose outputs these are.
#[derive(Clone)]
struct Run {
    /// By what its files are known.
    name: String,
    process: Process,
    /// Below so many bytes an output stays in memory.
    memory_bytes: u64,
    /// A file says which process it is of.
    is_told: bool,
}

impl Outputs {
    fn keep(&mut self, kept: Kept) {
        let number = self.all.last_key_value().map_or(0, |(last, _)| last + 1);
        self.places.insert(kept.pointer.path.clone(), number);
        self.all.insert(number, kept);
    }

    fn at(&self, path: &str) -> Option<&Kept> {
        self.all.get(self.places.get(path)?)
    }

    fn of<'a>(&'a self, session: Option<&'a str>) -> impl Iterator<Item = &'a Kept> {
        self.all.values().filter(move |one| session.is_none_or(|session| one.pointer.session == session))
    }

    fn forget(&mut self, path: &str) {
        if let Some(number) = self.places.remove(path) {
            self.all.remove(&number);
        }
    }
}

impl Store {
    /// The outputs that are there, in the order in which they were saved: `{"sessionId"}`, of that one, or of all. Answer: a JSON array
    /// of [`Pointer`]s.
    pub fn outputs(self: &Rc<Store>, asked: String) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|_| async move {
            let session = session_of(&asked)?;
            let outputs = store.outputs.borrow();
            Ok(to_json(&outputs.of(session.as_deref()).map(|one| &one.pointer).collect::<Vec<_>>()))
        })
    }

    /// Whether any may be there: whoever ends takes them away.
    pub fn has_outputs(&self) -> bool {
        self.outputs.borrow().run.is_some()
    }

    /// Takes outputs away, `{"sessionId"}`, those of that one, or all of this run: what a host does when it ends. Answer: how many they
    /// were.
    pub fn clear_outputs(self: &Rc<Store>, asked: String) -> Operation<'static, u64> {
        let store = self.clone();
        Operation::new(|io| async move {
            let session = session_of(&asked)?;
            store.cleared(&io, session.as_deref()).await
        })
    }

    pub(super) async fn cleared(&self, io: &Io, session: Option<&str>) -> Result<u64, Trouble> {
        let paths: Vec<String> =
            self.outputs.borrow().of(session).map(|one| one.pointer.path.clone()).collect();
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for one in self.outputs.borrow().of(session) {
            *counts.entry(one.pointer.session.clone()).or_default() += 1;
        }
        let removals = paths.iter().map(|path| {
            let lies = self.outputs.borrow().at(path).map(|kept| kept.lies.clone());
            Box::pin(async move {
                if let (Some(Lies::File(_)), Some(file)) = (lies, self.output_file(path)) {
                    io.remove(&file).await?;
                }
                self.outputs.borrow_mut().forget(path);
                Ok(())
            }) as Work<'_, ()>
        });
        some(removals, TOGETHER).await?;
        self.note_cleared(io, counts).await?;
        if session.is_none() {
            self.end_run(io).await?;
        }
        Ok(paths.len() as u64)
    }

    // Also what an instance of the core had that is gone.
    async fn end_run(&self, io: &Io) -> Result<(), Trouble> {
        let process = io.process().await?;
        let run = name::run(&process.name);
        let folder = layout::outputs();
        let found = unless_bug(io.list(&folder).await)?.flatten().unwrap_or_default();
        let mine = found.iter().filter(|entry| name::run_of(&entry.name) == Some(&*run));
        let files: Vec<File> = mine.map(|entry| folder.below(&entry.name)).collect();
        let removals =
            files.iter().map(|file| Box::pin(async move { io.remove(file).await }) as Work<'_, ()>);
        some(removals, TOGETHER).await?;
        // Last: as long as it is there, the others are known to be somebody's.
        io.remove(&folder.below(&name::of_run(&run))).await?;
        self.outputs.borrow_mut().run = None;
        self.at_end.set(None);
        Ok(())
    }

    /// Whose outputs are saved here; settings hold as they were when that was asked first.
    async fn run(&self, io: &Io) -> Result<Run, Trouble> {
        if let Some(run) = &self.outputs.borrow().run {
            return Ok(run.clone());
        }
        let process = io.process().await?;
        let settings = self.setup.read_settings(io).await?;
        let memory_bytes = settings.value(MEMORY_BYTES).parse().unwrap_or(u64::MAX);
        let run = Run { name: name::run(&process.name), process, memory_bytes, is_told: false };
        self.outputs.borrow_mut().run.get_or_insert(run.clone());
        self.at_end.set(Some(|store, io| Box::pin(async { store.cleared(io, None).await.map(drop) })));
        Ok(run)
    }

    // Before there is any file of the run: so whoever finds one can tell whether it is left.
    async fn tell_run(&self, io: &Io, run: &Run) -> Result<(), Trouble> {
        let is_told = self.outputs.borrow().run.as_ref().is_some_and(|run| run.is_told);
        if is_told || run.process.is_alone {
            return Ok(());
        }
        let lease = Lease { since: Some(time::format(io.now_ms())), ..run.process.lease.clone() };
        let file = layout::outputs().below(&name::of_run(&run.name));
        io.replace(&file, to_json(&lease).into_bytes(), None).await?;
        if let Some(run) = &mut self.outputs.borrow_mut().run {
            run.is_told = true;
        }
        Ok(())
    }

    /// The file that a path means; nothing where it is that of no output.
    fn output_file(&self, path: &str) -> Option<File> {
        let below = self.setup.below(path, &self.setup.shown(&layout::outputs()))?;
        name::run_of(below).map(|_| layout::outputs().below(below))
    }

    // The same, for a caller.
    fn meant_output(&self, path: &str) -> Result<File, Error> {
        self.output_file(path).ok_or_else(|| {
            let folder = self.setup.shown(&layout::outputs());
            request::wrong(format!(
                "expected the path of a tool output in \"{folder}\", but found {} instead",
                to_json(path)
            ))
        })
    }
}

fn session_of(asked: &str) -> Result<Option<String>, Error> {
    let (mut fields, bad) = (request::read(asked, "sessionId")?, &mut Vec::new());
    let session = fields.take("sessionId", bad);
    request::refuse_bad(bad)?;
    Ok(session)
}
