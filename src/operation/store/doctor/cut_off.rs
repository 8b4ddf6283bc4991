//! Finds relocations, deletions and purges that were cut off, since their processes are gone, and how each is ended.

use alloc::format;
use alloc::vec::Vec;

use super::Store;
use super::checks::is_abandoned_by;
use super::mend::{DoctorProblem, Finding, Mend};
use crate::layout::names::{self, RetireReason, RetiredName};
use crate::layout::{self, File, RESERVATION_FILE, Root, SESSION_FOLDER, SessionLocation};
use crate::operation::store::places::list_folder;
use crate::operation::{FileKind, Io, Trouble, unless_bug};

impl Store {
    /// Finds operations that were cut off and can be ended.
    pub(super) async fn find_cut_off(&self, io: &Io) -> Result<Vec<Finding>, Trouble> {
        let mut found = Vec::new();
        for moving in self.find_cut_off_relocations(io).await? {
            let pid = moving.process.as_ref().map_or(0, |by| by.pid);
            let shown = |place: &SessionLocation| self.setup.display_path(&place.folder());
            let (from, to) = (shown(&moving.from), shown(&moving.to));
            let message = format!(
                "process {pid} is gone and was moving the session {} from \"{from}\" to \"{to}\"",
                moving.id
            );
            let problem = DoctorProblem::new(moving.file.name(), "cut_off_move", message);
            found.push(Finding { problem, mend: Mend::End(moving.into()) });
        }
        for around in self.session_parents(io).await? {
            self.find_cut_off_in(io, &around, &mut found).await?;
        }
        let trash = layout::trash();
        for entry in unless_bug(io.list(&trash).await)?.flatten().unwrap_or_default() {
            let coming = entry.name.strip_prefix(names::COMING_SUFFIX).and_then(names::parse_retired_name);
            let Some(RetiredName { pid, .. }) = coming else { continue };
            let file = trash.child(&entry.name);
            if is_abandoned_by(io, &file, pid).await? {
                found
                    .push(self.removal_finding(file, &format!("process {pid} is gone and left half a copy")));
            }
        }
        Ok(found)
    }

    async fn find_cut_off_in(&self, io: &Io, around: &File, found: &mut Vec<Finding>) -> Result<(), Trouble> {
        for entry in unless_bug(list_folder(io, around, &[RESERVATION_FILE]).await)?.unwrap_or_default() {
            if entry.kind != FileKind::Folder {
                continue;
            }
            let at = around.child(&entry.name);
            let shown = self.setup.display_path(&at);
            let may_be_taken = entry.files.is_none_or(|files| files.iter().any(Option::is_some));
            if let Some(RetiredName { reason: why, pid, old_name: was }) =
                names::parse_retired_name(&entry.name)
            {
                // A folder that a relocation left is removed when that is ended.
                if !is_abandoned_by(io, &at, pid).await? || self.is_part_of_relocation(io, &at).await? {
                    continue;
                }
                let named = if around.root == Root::Home { was } else { SESSION_FOLDER };
                match (why, SessionLocation::of(&around.child(named))) {
                    (RetireReason::Left, Some(session)) => {
                        let message = format!(
                            "process {pid} is gone and was putting a session into the trash: it lies at \"{shown}\""
                        );
                        let problem = DoctorProblem::new(&entry.name, "cut_off_delete", message);
                        found.push(Finding { problem, mend: Mend::Trash(session, at) });
                    }
                    _ => found.push(
                        self.removal_finding(at, &format!("process {pid} is gone and was removing a folder")),
                    ),
                }
            } else if may_be_taken
                && names::is_reserved_name(&entry.name)
                && unless_bug(self.is_abandoned(io, &at).await)?.unwrap_or_default()
            {
                let message = format!(
                    "expected a session in \"{shown}\", but found a place that a process which is gone took for one"
                );
                let problem = DoctorProblem::new(&entry.name, "cut_off_move", message);
                found.push(Finding { problem, mend: Mend::Free(at) });
            }
        }
        Ok(())
    }
}
