//! What runs left that are gone, and how many outputs of a session were taken away.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Store;
use crate::layout::names::CachedKind;
use crate::layout::{self, File};
use crate::operation::lease::{LeaseFile, read_leases};
use crate::operation::{FileKind, Io, Trouble, unless_bug};
use crate::outputs::name;
use crate::session::lease::Lease;

/// The outputs of a run that has ended without taking them away.
pub(in crate::operation) struct AbandonedOutputs {
    output_files: Vec<File>,
    // What says whose they are.
    lease_file: File,
    output_count: usize,
    /// The number of its process; nothing where nothing says that.
    pub pid: Option<String>,
}

impl AbandonedOutputs {
    /// What they are, for a person: a run may be gone before it had any.
    pub fn describe(&self) -> String {
        match self.output_count {
            0 => "the note that it may have tool outputs".into(),
            1 => "1 tool output".into(),
            count => format!("{count} tool outputs"),
        }
    }

    /// How many of them are of a session.
    pub fn count_of_session(&self, id: &str) -> u64 {
        let is_of = |file: &&File| file.name().strip_prefix(id).is_some_and(|rest| rest.starts_with('-'));
        self.output_files.iter().filter(is_of).count() as u64
    }
}

/// Those of each run whose process is gone.
pub(in crate::operation) async fn find_abandoned_outputs(io: &Io) -> Result<Vec<AbandonedOutputs>, Trouble> {
    let folder = layout::outputs();
    let found = unless_bug(io.list(&folder).await)?.flatten().unwrap_or_default();
    let mut runs: BTreeMap<String, Vec<File>> = BTreeMap::new();
    for entry in found.into_iter().filter(|entry| entry.kind == FileKind::File) {
        let run = name::run_of_output(&entry.name).or_else(|| name::run_of_file(&entry.name));
        if let Some(run) = run {
            runs.entry(run.into()).or_default().push(folder.child(&entry.name));
        }
    }
    let mut left = Vec::new();
    for (run, mut files) in runs {
        let told = folder.child(&name::run_file_name(&run));
        let pid = match read_owner(io, &told).await? {
            Some(LeaseFile { is_abandoned: false, .. }) => continue,
            Some(LeaseFile { lease, .. }) => lease.map(|Lease { pid, .. }| pid.to_string()),
            None => None,
        };
        files.retain(|file| *file != told);
        // Whoever has just ended took away first the outputs, then what says that they are its own.
        let is_there = match files.first() {
            Some(first) => io.stat(first).await?.is_some(),
            None => true,
        };
        if is_there {
            left.push(AbandonedOutputs {
                output_count: files.len(),
                output_files: files,
                lease_file: told,
                pid,
            });
        }
    }
    Ok(left)
}

async fn read_owner(io: &Io, file: &File) -> Result<Option<LeaseFile>, Trouble> {
    let is_there = io.stat(file).await?.is_some();
    let found = if is_there { read_leases(io, [file.clone()].into()).await? } else { Vec::new() };
    Ok(found.into_iter().next())
}

/// How many outputs of a session were taken away, as far as somebody noted it.
pub(in crate::operation) async fn read_cleared_count(io: &Io, id: &str) -> Result<u64, Trouble> {
    let noted = unless_bug(io.read_all(&layout::cached_file(id, CachedKind::Outputs)).await)?
        .flatten()
        .unwrap_or_default();
    Ok(core::str::from_utf8(&noted).ok().and_then(|count| count.trim().parse().ok()).unwrap_or_default())
}

impl Store {
    /// Takes away what a run left.
    pub(in crate::operation::store) async fn clear_abandoned_outputs(
        &self,
        io: &Io,
        left: &AbandonedOutputs,
    ) -> Result<(), Trouble> {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for file in &left.output_files {
            io.remove(file).await?;
            // Its name begins with the session, where that is one of the store's: another one may have any id.
            if let Some(id) = file.name().get(..UUID) {
                *counts.entry(id.into()).or_default() += 1;
            }
        }
        // Last: as long as it is there, the others are known to be somebody's.
        io.remove(&left.lease_file).await?;
        self.add_cleared_counts(io, counts).await
    }

    /// Of sessions that the store has, whoever resumes them hears how many outputs are gone.
    pub(super) async fn add_cleared_counts(
        &self,
        io: &Io,
        counts: BTreeMap<String, u64>,
    ) -> Result<(), Trouble> {
        for (id, count) in counts {
            // Whoever has no session of the store may call it anything.
            if id.len() != UUID || !self.has_session(io, &id).await? {
                continue;
            }
            let count = read_cleared_count(io, &id).await?.saturating_add(count);
            // That it cannot be noted is no reason to keep them.
            let noted = io
                .replace(&layout::cached_file(&id, CachedKind::Outputs), count.to_string().into_bytes(), None)
                .await;
            unless_bug(noted)?;
        }
        Ok(())
    }
}

/// So long is the id of a session.
const UUID: usize = 36;
