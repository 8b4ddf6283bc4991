//! Checks apart from the logs' own problems: torn tails that can be sealed, derived files that are damaged or old, and
//! what processes left that are gone.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use super::mend::{DoctorProblem, Finding, Mend};
use crate::json::fields::Fields;
use crate::json::text::to_json;
use crate::layout::names::{self, CachedKind};
use crate::layout::{self, BLOBS, File, Placement, SUMMARIES, SessionLocation};
use crate::operation::health::FileProblem;
use crate::operation::lease::{list_lease_files, read_leases};
use crate::operation::session_files::SessionFiles;
use crate::operation::store::find_abandoned_outputs;
use crate::operation::{FileKind, Io, Trouble, unless_bug};
use crate::session::lease::Lease;

/// One day: no file takes so long to write, and a process of the same number may by then be another one.
const DAY_US: i64 = 24 * 60 * 60_000_000;

/// The names of the files in the cache.
pub(super) type CachedNames = BTreeSet<String>;

impl Store {
    /// Finds what can be mended of a session. `problems`: those of its logs; `cached`: what the cache has of sessions,
    /// where that is known.
    pub(super) async fn find_session_problems(
        &self,
        io: &Io,
        place: &SessionLocation,
        files: &Rc<SessionFiles>,
        (problems, cached): (&[FileProblem], Option<&CachedNames>),
    ) -> Result<Vec<Finding>, Trouble> {
        let folder = place.folder();
        let may_be_cached = |what| cached.is_none_or(|names| names.contains(files.cached_file(what).name()));
        let torn = problems.iter().filter_map(|one| {
            let mend = Mend::Seal { log: folder.child(&one.file), end: one.torn_tail_end()? };
            // No message, for the health report has one.
            Some(Finding { problem: DoctorProblem::new(&one.file, "torn_tail", String::new()), mend })
        });
        let mut found: Vec<Finding> = torn.collect();
        // If files have vanished, the document may be the only trace of them, so it is not rewritten.
        if !problems.iter().any(FileProblem::is_vanished) && !files.is_empty() {
            found.extend(self.check_document(io, files).await?);
        }
        if may_be_cached(CachedKind::Checkpoint) && !files.has_good_checkpoint(io).await? {
            let file = files.cached_file(CachedKind::Checkpoint);
            let shown = self.setup.display_path(&file);
            let message =
                format!("expected a checkpoint of this log at \"{shown}\", but found something else");
            let problem = DoctorProblem::new(file.name(), "bad_checkpoint", message);
            found.push(Finding { problem, mend: Mend::Checkpoint { of: files.clone() } });
        }
        let leases =
            if may_be_cached(CachedKind::Leases) { files.other_leases(io).await? } else { Vec::new() };
        let count = leases.iter().filter(|one| one.is_abandoned).count();
        if count > 0 {
            let s = if count == 1 { "" } else { "es" };
            let message = format!("{count} process{s} that had it open ended without closing it");
            let problem =
                DoctorProblem::new(files.cached_file(CachedKind::Leases).name(), "dead_lease", message);
            found.push(Finding { problem, mend: Mend::Leases { of: files.clone(), count } });
        }
        found.extend(self.find_temporary_files(io, &folder, &[BLOBS, SUMMARIES]).await?);
        Ok(found)
    }

    async fn check_document(&self, io: &Io, files: &Rc<SessionFiles>) -> Result<Option<Finding>, Trouble> {
        let file = files.document_file();
        let bytes = io.read_all(&file).await?;
        let json = bytes.as_deref().and_then(|bytes| core::str::from_utf8(bytes).ok());
        let document = json.and_then(|json| Fields::parse(json).ok());
        let raw = |key| document.as_ref()?.raw(key).filter(|value| *value != "null");
        let count =
            raw("stats").and_then(|stats| Fields::parse(stats).ok()?.raw("messageCount")?.parse().ok());
        let as_of = raw("asOf").or(raw("as_of"));
        let (known, is) =
            files.with_session(|session| (session.metadata().as_of.clone(), session.log_state().messages));
        let is_behind = files.placement() == Placement::Home && count != Some(is);
        let is_other = as_of != known.map(|id| to_json(&id)).as_deref();
        if !files.is_stale() && !is_behind && !is_other {
            return Ok(None);
        }
        let found = match &bytes {
            None => "found none",
            Some(_) if files.is_stale() => "found something else",
            Some(_) => "found one that is older",
        };
        let shown = self.setup.display_path(&file);
        let message = format!("expected what the logs say in \"{shown}\", but {found}");
        let problem = DoctorProblem::new(file.name(), "bad_document", message);
        let was = bytes.filter(|bytes| !bytes.is_empty() && files.is_stale());
        Ok(Some(Finding { problem, mend: Mend::Document { of: files.clone(), was } }))
    }

    /// Finds temporary files of processes that are gone, also in these folders inside; a folder that cannot be read is
    /// itself a finding.
    pub(super) async fn find_temporary_files(
        &self,
        io: &Io,
        folder: &File,
        inside: &[&str],
    ) -> Result<Vec<Finding>, Trouble> {
        let mut found = Vec::new();
        let entries = match io.list(folder).await {
            Err(trouble) if !trouble.is_bug() => {
                found.push(Finding::by_hand(folder.name(), trouble));
                None
            }
            entries => Some(entries?.unwrap_or_default()),
        };
        let is_there = |name: &&&str| {
            entries.as_ref().is_none_or(|entries| entries.iter().any(|entry| entry.name == **name))
        };
        let inside: Vec<_> = inside.iter().filter(is_there).map(|name| folder.child(name)).collect();
        for entry in entries.unwrap_or_default() {
            let pid = names::parse_temporary_name(&entry.name).filter(|_| entry.kind == FileKind::File);
            let file = folder.child(&entry.name);
            if let Some(pid) = pid
                && is_abandoned_by(io, &file, pid).await?
            {
                let why = format!("process {pid} is gone and left a temporary file");
                found.push(self.removal_finding(file, &why));
            }
        }
        for folder in inside {
            found.extend(Box::pin(self.find_temporary_files(io, &folder, &[])).await?);
        }
        Ok(found)
    }

    /// Finds cached files of sessions whose folders were removed by hand. `ids`: those of existing sessions.
    pub(super) async fn find_orphaned_files(
        &self,
        io: &Io,
        ids: &BTreeSet<&str>,
    ) -> Result<Vec<Finding>, Trouble> {
        let mut found = Vec::new();
        for entry in unless_bug(io.list(&layout::cache()).await)?.flatten().unwrap_or_default() {
            let Some((id, what)) = names::parse_cached_name(&entry.name) else { continue };
            let file = layout::cache().child(&entry.name);
            // A session that a process has open may lie where this process cannot look.
            if ids.contains(id) || (what == CachedKind::Leases && has_open_lease(io, &file).await?) {
                continue;
            }
            let shown = self.setup.display_path(&file);
            let message = format!("expected the session {id}, of which \"{shown}\" is, but found none");
            let problem = DoctorProblem::new(&entry.name, "left_over", message);
            found.push(Finding { problem, mend: Mend::Remove(file) });
        }
        Ok(found)
    }

    /// Finds tool outputs of runs that are gone.
    pub(super) async fn find_abandoned_runs(&self, io: &Io) -> Result<Vec<Finding>, Trouble> {
        let left = find_abandoned_outputs(io).await?.into_iter().map(|left| {
            let whose = left.pid.as_deref().map_or("a process".into(), |pid| format!("process {pid}"));
            let message = format!("{whose} is gone and left {}", left.describe());
            Finding {
                problem: DoctorProblem::new(layout::outputs().name(), "left_over", message),
                mend: Mend::Outputs(left),
            }
        });
        Ok(left.collect())
    }

    /// Makes a finding for a file that only has to be removed.
    pub(super) fn removal_finding(&self, file: File, why: &str) -> Finding {
        let message = format!("{why} at \"{}\"", self.setup.display_path(&file));
        Finding { problem: DoctorProblem::new(file.name(), "left_over", message), mend: Mend::Remove(file) }
    }
}

// Whether a process that still runs has a lease here.
async fn has_open_lease(io: &Io, leases: &File) -> Result<bool, Trouble> {
    let found = read_leases(io, list_lease_files(io, leases).await?).await?;
    Ok(found.iter().any(|one| !one.is_abandoned))
}

/// Whether the process that left a file is gone. `pid`: its number, as written in the name.
pub(super) async fn is_abandoned_by(io: &Io, file: &File, pid: &str) -> Result<bool, Trouble> {
    let by = Lease { pid: pid.parse().unwrap_or(u64::MAX), ..Lease::default() };
    if io.are_gone(Vec::from([by])).await? == [true] {
        return Ok(true);
    }
    // The later of two times, for a renamed folder keeps the time of its content.
    let changed = io.stat(file).await?.map(|stat| stat.modified_us.max(stat.changed_us));
    Ok(changed.is_some_and(|changed| io.now_ms() * 1000 - changed > DAY_US))
}
