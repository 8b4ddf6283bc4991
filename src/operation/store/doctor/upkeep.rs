//! What a store and its sessions have that they should not have, beside what is wrong in the logs: torn tails, derived files
//! that are no good, things that processes left which are gone.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use super::mending::{Finding, Mend, Problem};
use crate::json::fields::Fields;
use crate::json::text::to_json;
use crate::layout::{self, BLOBS, File, Place, Placement, SUMMARIES, names};
use crate::operation::examine::Placed;
use crate::operation::lease::{lease_files, leases_in};
use crate::operation::live::Live;
use crate::operation::store::left_outputs;
use crate::operation::{Io, Kind, Trouble, unless_bug};
use crate::session::lease::Lease;

/// No file is written for so long. A process of this number may be another one by now.
const DAY_US: i64 = 24 * 60 * 60_000_000;

impl Store {
    /// What there is to mend of a session; `problems`: of its logs.
    pub(super) async fn of_session(
        &self,
        io: &Io,
        place: &Place,
        live: &Rc<Live>,
        problems: &[Placed],
    ) -> Result<Vec<Finding>, Trouble> {
        let folder = place.folder();
        let torn = problems.iter().filter_map(|one| {
            let mend = Mend::Seal { log: folder.below(&one.file), end: one.torn_at()? };
            // The examination says more.
            Some(Finding { problem: Problem::new(&one.file, "torn_tail", String::new()), mend })
        });
        let mut found: Vec<Finding> = torn.collect();
        // One that tells of what is gone is all that tells of it.
        if !problems.iter().any(Placed::is_vanished) && !live.is_empty() {
            found.extend(self.bad_document(io, live).await?);
        }
        if !live.has_good_checkpoint(io).await? {
            let file = live.cached(names::Kept::Checkpoint);
            let shown = self.setup.shown(&file);
            let message =
                format!("expected a checkpoint of this log at \"{shown}\", but found something else");
            let problem = Problem::new(file.name(), "bad_checkpoint", message);
            found.push(Finding { problem, mend: Mend::Checkpoint { of: live.clone() } });
        }
        let count = live.leases(io).await?.iter().filter(|one| one.is_left).count();
        if count > 0 {
            let s = if count == 1 { "" } else { "es" };
            let message = format!("{count} process{s} that had it open ended without closing it");
            let problem = Problem::new(live.cached(names::Kept::Leases).name(), "dead_lease", message);
            found.push(Finding { problem, mend: Mend::Leases { of: live.clone(), count } });
        }
        let (blobs, summaries) = (folder.below(BLOBS), folder.below(SUMMARIES));
        for folder in [folder, blobs, summaries] {
            found.extend(self.left_over(io, &folder).await?);
        }
        Ok(found)
    }

    async fn bad_document(&self, io: &Io, live: &Rc<Live>) -> Result<Option<Finding>, Trouble> {
        let file = live.document_file();
        let bytes = io.read_all(&file).await?;
        let json = bytes.as_deref().and_then(|bytes| core::str::from_utf8(bytes).ok());
        let document = json.and_then(|json| Fields::parse(json).ok());
        let raw = |key| document.as_ref()?.raw(key).filter(|value| *value != "null");
        let count =
            raw("stats").and_then(|stats| Fields::parse(stats).ok()?.raw("messageCount")?.parse().ok());
        let as_of = raw("asOf").or(raw("as_of"));
        let (known, is) = live.with(|session| (session.metadata().as_of.clone(), session.known().messages));
        let is_behind = live.placement() == Placement::Home && count != Some(is);
        let is_other = as_of != known.map(|id| to_json(&id)).as_deref();
        if !live.is_stale() && !is_behind && !is_other {
            return Ok(None);
        }
        let found = match &bytes {
            None => "found none",
            Some(_) if live.is_stale() => "found something else",
            Some(_) => "found one that is older",
        };
        let shown = self.setup.shown(&file);
        let message = format!("expected what the logs say in \"{shown}\", but {found}");
        let problem = Problem::new(file.name(), "bad_document", message);
        let was = bytes.filter(|bytes| !bytes.is_empty() && live.is_stale());
        Ok(Some(Finding { problem, mend: Mend::Document { of: live.clone(), was } }))
    }

    /// Temporary files of processes that are gone; or why nobody can look into the folder.
    pub(super) async fn left_over(&self, io: &Io, folder: &File) -> Result<Vec<Finding>, Trouble> {
        let mut found = Vec::new();
        let entries = match io.list(folder).await {
            Err(trouble) if !trouble.is_bug() => {
                return Ok(Vec::from([Finding::by_hand(folder.name(), trouble)]));
            }
            entries => entries?.unwrap_or_default(),
        };
        for entry in entries {
            let pid = names::temporary(&entry.name).filter(|_| entry.kind == Kind::File);
            let file = folder.below(&entry.name);
            if let Some(pid) = pid
                && is_left(io, &file, pid).await?
            {
                let why = format!("process {pid} is gone and left a temporary file");
                found.push(self.removing(file, &why));
            }
        }
        Ok(found)
    }

    /// What is kept of sessions that are gone: their folders were taken away by hand. `ids`: of those that are there.
    pub(super) async fn of_nobody(&self, io: &Io, ids: &BTreeSet<&str>) -> Result<Vec<Finding>, Trouble> {
        let mut found = Vec::new();
        for entry in unless_bug(io.list(&layout::cache()).await)?.flatten().unwrap_or_default() {
            let Some((id, what)) = names::read_kept(&entry.name) else { continue };
            let file = layout::cache().below(&entry.name);
            // It may lie wherever this process cannot look.
            if ids.contains(id) || (what == names::Kept::Leases && is_open(io, &file).await?) {
                continue;
            }
            let shown = self.setup.shown(&file);
            let message = format!("expected the session {id}, of which \"{shown}\" is, but found none");
            let problem = Problem::new(&entry.name, "left_over", message);
            found.push(Finding { problem, mend: Mend::Remove(file) });
        }
        Ok(found)
    }

    /// Tool outputs of runs that are gone.
    pub(super) async fn of_runs(&self, io: &Io) -> Result<Vec<Finding>, Trouble> {
        let left = left_outputs(io).await?.into_iter().map(|left| {
            let whose = left.pid.as_deref().map_or("a process".into(), |pid| format!("process {pid}"));
            let message = format!("{whose} is gone and left {}", left.what());
            Finding {
                problem: Problem::new(layout::outputs().name(), "left_over", message),
                mend: Mend::Outputs(left),
            }
        });
        Ok(left.collect())
    }

    /// What is only to be taken away.
    pub(super) fn removing(&self, file: File, why: &str) -> Finding {
        let message = format!("{why} at \"{}\"", self.setup.shown(&file));
        Finding { problem: Problem::new(file.name(), "left_over", message), mend: Mend::Remove(file) }
    }
}

// Whether a process has the session open whose leases these are.
async fn is_open(io: &Io, leases: &File) -> Result<bool, Trouble> {
    let found = leases_in(io, lease_files(io, leases).await?).await?;
    Ok(found.iter().any(|one| !one.is_left))
}

/// Whether a process is gone that left something. `pid` is its number, as it is written.
pub(super) async fn is_left(io: &Io, file: &File, pid: &str) -> Result<bool, Trouble> {
    let by = Lease { pid: pid.parse().unwrap_or(u64::MAX), ..Lease::default() };
    if io.gone(Vec::from([by])).await? == [true] {
        return Ok(true);
    }
    // A folder that is renamed keeps the time of its content.
    let changed = io.stat(file).await?.map(|stat| stat.modified_us.max(stat.changed_us));
    Ok(changed.is_some_and(|changed| io.now_ms() * 1000 - changed > DAY_US))
}
