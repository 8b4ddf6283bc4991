//! Tool outputs: large results kept beside the conversations of a run. They are saved, listed, loaded, picked and
//! cleared. The results themselves stay with the host: an operation sees only how they begin, and small ones whole.

mod abandoned;
mod loading;
mod output_prompt;
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
use crate::operation::join::join_in_batches;
use crate::operation::{Io, Operation, Trouble, Work, unless_bug};
use crate::outputs::{OutputPointer, name};
use crate::session::lease::{Lease, Process};
use crate::time;

pub(super) use abandoned::AbandonedOutputs;
pub(in crate::operation) use abandoned::{find_abandoned_outputs, read_cleared_count};

/// Files that are removed at once.
const REMOVAL_BATCH_FILES: usize = 64;
const MEMORY_BYTES_SETTING: &str = "outputs.memoryBytes";

/// The outputs of this run, in the order in which they were saved.
#[derive(Default)]
pub(super) struct Outputs {
    by_number: BTreeMap<u64, StoredOutput>,
    // The number of each output, by its path.
    number_by_path: BTreeMap<String, u64>,
    run: Option<OutputRun>,
}

/// A saved output.
#[derive(Clone)]
struct StoredOutput {
    pointer: OutputPointer,
    place: ResultPlace,
}

/// Where an output's result is, as JSON.
#[derive(Clone)]
enum ResultPlace {
    Memory(Rc<str>),
    /// In the output's file, from this byte on.
    File(u64),
}

/// The run whose outputs these are.
#[derive(Clone)]
struct OutputRun {
    /// The part of file names that identifies the run.
    name: String,
    process: Process,
    /// Outputs of fewer bytes stay in memory.
    memory_bytes: u64,
    /// The file that names the run's process is written.
    has_lease_file: bool,
}

impl Outputs {
    fn add(&mut self, kept: StoredOutput) {
        let number = self.by_number.last_key_value().map_or(0, |(last, _)| last + 1);
        self.number_by_path.insert(kept.pointer.path.clone(), number);
        self.by_number.insert(number, kept);
    }

    fn find(&self, path: &str) -> Option<&StoredOutput> {
        self.by_number.get(self.number_by_path.get(path)?)
    }

    fn of_session<'a>(&'a self, session: Option<&'a str>) -> impl Iterator<Item = &'a StoredOutput> {
        self.by_number
            .values()
            .filter(move |one| session.is_none_or(|session| one.pointer.session == session))
    }

    fn remove(&mut self, path: &str) {
        if let Some(number) = self.number_by_path.remove(path) {
            self.by_number.remove(&number);
        }
    }
}

impl Store {
    /// Lists the outputs in the order in which they were saved: `{"sessionId"}`, those of that session, or all.
    /// Answer: a JSON array of [`OutputPointer`]s.
    pub fn outputs(self: &Rc<Store>, request: String) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|_| async move {
            let session = parse_session_id(&request)?;
            let outputs = store.outputs.borrow();
            Ok(to_json(&outputs.of_session(session.as_deref()).map(|one| &one.pointer).collect::<Vec<_>>()))
        })
    }

    /// Whether there may be outputs, which are to be cleared at the end.
    pub fn has_outputs(&self) -> bool {
        self.outputs.borrow().run.is_some()
    }

    /// Clears outputs: `{"sessionId"}`, those of that session, or all of this run, as a host does when it ends.
    /// Answer: how many there were.
    pub fn clear_outputs(self: &Rc<Store>, request: String) -> Operation<'static, u64> {
        let store = self.clone();
        Operation::new(|io| async move {
            let session = parse_session_id(&request)?;
            store.remove_outputs(&io, session.as_deref()).await
        })
    }

    pub(super) async fn remove_outputs(&self, io: &Io, session: Option<&str>) -> Result<u64, Trouble> {
        let paths: Vec<String> =
            self.outputs.borrow().of_session(session).map(|one| one.pointer.path.clone()).collect();
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for one in self.outputs.borrow().of_session(session) {
            *counts.entry(one.pointer.session.clone()).or_default() += 1;
        }
        let removals = paths.iter().map(|path| {
            let lies = self.outputs.borrow().find(path).map(|kept| kept.place.clone());
            Box::pin(async move {
                if let (Some(ResultPlace::File(_)), Some(file)) = (lies, self.output_file(path)) {
                    io.remove(&file).await?;
                }
                self.outputs.borrow_mut().remove(path);
                Ok(())
            }) as Work<'_, ()>
        });
        join_in_batches(removals, REMOVAL_BATCH_FILES).await?;
        self.add_cleared_counts(io, counts).await?;
        if session.is_none() {
            self.end_run(io).await?;
        }
        Ok(paths.len() as u64)
    }

    // Removes also what an earlier instance of the core saved in this process.
    async fn end_run(&self, io: &Io) -> Result<(), Trouble> {
        let process = io.process().await?;
        let run = name::run_id(&process.name);
        let folder = layout::outputs();
        let found = unless_bug(io.list(&folder).await)?.flatten().unwrap_or_default();
        let mine = found.iter().filter(|entry| name::run_of_output(&entry.name) == Some(&*run));
        let files: Vec<File> = mine.map(|entry| folder.child(&entry.name)).collect();
        let removals =
            files.iter().map(|file| Box::pin(async move { io.remove(file).await }) as Work<'_, ()>);
        join_in_batches(removals, REMOVAL_BATCH_FILES).await?;
        // Removed last: as long as this file is there, the others are known to belong to a run.
        io.remove(&folder.child(&name::run_file_name(&run))).await?;
        self.outputs.borrow_mut().run = None;
        self.close_action.set(None);
        Ok(())
    }

    /// Returns the run, with the settings as they were when it was first asked for.
    async fn current_run(&self, io: &Io) -> Result<OutputRun, Trouble> {
        if let Some(run) = &self.outputs.borrow().run {
            return Ok(run.clone());
        }
        let process = io.process().await?;
        let settings = self.setup.read_settings(io).await?;
        let memory_bytes = settings.value(MEMORY_BYTES_SETTING).parse().unwrap_or(u64::MAX);
        let run =
            OutputRun { name: name::run_id(&process.name), process, memory_bytes, has_lease_file: false };
        self.outputs.borrow_mut().run.get_or_insert(run.clone());
        self.close_action
            .set(Some(|store, io| Box::pin(async { store.remove_outputs(io, None).await.map(drop) })));
        Ok(run)
    }

    // Written before any output's file: so whoever finds one can tell whether it is abandoned.
    async fn write_run_lease(&self, io: &Io, run: &OutputRun) -> Result<(), Trouble> {
        let is_told = self.outputs.borrow().run.as_ref().is_some_and(|run| run.has_lease_file);
        if is_told || run.process.is_alone {
            return Ok(());
        }
        let lease = Lease { since: Some(time::format(io.now_ms())), ..run.process.lease.clone() };
        let file = layout::outputs().child(&name::run_file_name(&run.name));
        io.replace(&file, to_json(&lease).into_bytes(), None).await?;
        if let Some(run) = &mut self.outputs.borrow_mut().run {
            run.has_lease_file = true;
        }
        Ok(())
    }

    /// Returns the file at a path; none unless the path is an output's.
    fn output_file(&self, path: &str) -> Option<File> {
        let below = self.setup.path_below(path, &self.setup.display_path(&layout::outputs()))?;
        name::run_of_output(below).map(|_| layout::outputs().child(below))
    }

    // Does the same for a caller's path, with an error.
    fn parse_output_path(&self, path: &str) -> Result<File, Error> {
        self.output_file(path).ok_or_else(|| {
            let folder = self.setup.display_path(&layout::outputs());
            request::error(format!(
                "expected the path of a tool output in \"{folder}\", but found {} instead",
                to_json(path)
            ))
        })
    }
}

fn parse_session_id(request: &str) -> Result<Option<String>, Error> {
    let (mut fields, bad) = (request::parse(request, "sessionId")?, &mut Vec::new());
    let session = fields.take("sessionId", bad);
    request::reject_bad(bad)?;
    Ok(session)
}
