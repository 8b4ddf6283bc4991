//! Outputs of runs that ended without clearing them, and how many outputs of a session were cleared.

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

/// The outputs of a run that ended without clearing them.
pub(in crate::operation) struct AbandonedOutputs {
    output_files: Vec<File>,
    // The file that names the run's process.
    lease_file: File,
    output_count: usize,
    /// The process's number; none where it is not known.
    pub pid: Option<String>,
}

impl AbandonedOutputs {
    /// Describes them for a person; a run may have ended before it had any.
    pub fn describe(&self) -> String {
        match self.output_count {
            0 => "the note that it may have tool outputs".into(),
            1 => "1 tool output".into(),
            count => format!("{count} tool outputs"),
        }
    }

    /// Counts those of a session.
    pub fn count_of_session(&self, id: &str) -> u64 {
        let is_of = |file: &&File| file.name().strip_prefix(id).is_some_and(|rest| rest.starts_with('-'));
        self.output_files.iter().filter(is_of).count() as u64
    }
}

/// Finds the outputs of runs whose processes are gone.
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
        let run_file = folder.child(&name::run_file_name(&run));
        let pid = match read_owner(io, &run_file).await? {
            Some(LeaseFile { is_abandoned: false, .. }) => continue,
            Some(LeaseFile { lease, .. }) => lease.map(|Lease { pid, .. }| pid.to_string()),
            None => None,
        };
        files.retain(|file| *file != run_file);
        // A process that has just ended removed its outputs first, and then the file that names it.
        let is_there = match files.first() {
            Some(first) => io.stat(first).await?.is_some(),
            None => true,
        };
        if is_there {
            left.push(AbandonedOutputs {
                output_count: files.len(),
                output_files: files,
                lease_file: run_file,
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

/// Reads how many outputs of a session were cleared, as far as that was noted.
pub(in crate::operation) async fn read_cleared_count(io: &Io, id: &str) -> Result<u64, Trouble> {
    let noted = unless_bug(io.read_all(&layout::cached_file(id, CachedKind::Outputs)).await)?
        .flatten()
        .unwrap_or_default();
    Ok(core::str::from_utf8(&noted).ok().and_then(|count| count.trim().parse().ok()).unwrap_or_default())
}

impl Store {
    /// Clears the outputs that a run left.
    pub(in crate::operation::store) async fn clear_abandoned_outputs(
        &self,
        io: &Io,
        left: &AbandonedOutputs,
    ) -> Result<(), Trouble> {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for file in &left.output_files {
            io.remove(file).await?;
            // The name begins with the session's id, if it is one of the store's; other sessions may have any id.
            if let Some(id) = file.name().get(..UUID_CHARS) {
                *counts.entry(id.into()).or_default() += 1;
            }
        }
        // Removed last: as long as this file is there, the others are known to belong to a run.
        io.remove(&left.lease_file).await?;
        self.add_cleared_counts(io, counts).await
    }

    /// Adds to the numbers of cleared outputs, which whoever resumes a session is told. Only for sessions of the
    /// store.
    pub(super) async fn add_cleared_counts(
        &self,
        io: &Io,
        counts: BTreeMap<String, u64>,
    ) -> Result<(), Trouble> {
        for (id, count) in counts {
            // The id of a session that is not of the store may be anything.
            if id.len() != UUID_CHARS || !self.has_session(io, &id).await? {
                continue;
            }
            let count = read_cleared_count(io, &id).await?.saturating_add(count);
            // A failure to note it is no reason to keep them.
            let noted = io
                .replace(&layout::cached_file(&id, CachedKind::Outputs), count.to_string().into_bytes(), None)
                .await;
            unless_bug(noted)?;
        }
        Ok(())
    }
}

/// The length of a session's id.
const UUID_CHARS: usize = 36;
