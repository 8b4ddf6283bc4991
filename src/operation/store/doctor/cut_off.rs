//! What was being moved, deleted or purged by a process that is gone, and how that is brought to an end.

use alloc::format;
use alloc::vec::Vec;

use super::Store;
use super::mending::{Finding, Mend, Problem};
use super::upkeep::is_left;
use crate::layout::names::{self, Renamed, Why};
use crate::layout::{self, File, Place, Root, SESSION_FOLDER};
use crate::operation::{Io, Kind, Trouble, unless_bug};

impl Store {
    /// What was cut off; it can be brought to an end.
    pub(super) async fn cut_off(&self, io: &Io) -> Result<Vec<Finding>, Trouble> {
        let mut found = Vec::new();
        for moving in self.cut_off_moves(io).await? {
            let pid = moving.by.as_ref().map_or(0, |by| by.pid);
            let shown = |place: &Place| self.setup.shown(&place.folder());
            let (from, to) = (shown(&moving.from), shown(&moving.to));
            let message = format!(
                "process {pid} is gone and was moving the session {} from \"{from}\" to \"{to}\"",
                moving.id
            );
            let problem = Problem::new(moving.file.name(), "cut_off_move", message);
            found.push(Finding { problem, mend: Mend::End(moving.into()) });
        }
        for around in self.all_around(io).await? {
            self.cut_off_in(io, &around, &mut found).await?;
        }
        let trash = layout::trash();
        for entry in unless_bug(io.list(&trash).await)?.flatten().unwrap_or_default() {
            let coming = entry.name.strip_prefix(names::COMING).and_then(names::read_renamed);
            let Some(Renamed { pid, .. }) = coming else { continue };
            let file = trash.below(&entry.name);
            if is_left(io, &file, pid).await? {
                found.push(self.removing(file, &format!("process {pid} is gone and left half a copy")));
            }
        }
        Ok(found)
    }

    async fn cut_off_in(&self, io: &Io, around: &File, found: &mut Vec<Finding>) -> Result<(), Trouble> {
        for entry in unless_bug(io.list(around).await)?.flatten().unwrap_or_default() {
            if entry.kind != Kind::Folder {
                continue;
            }
            let at = around.below(&entry.name);
            let shown = self.setup.shown(&at);
            if let Some(Renamed { why, pid, was }) = names::read_renamed(&entry.name) {
                // What a move left, the move takes away.
                if !is_left(io, &at, pid).await? || self.is_of_a_move(io, &at).await? {
                    continue;
                }
                let named = if around.root == Root::Home { was } else { SESSION_FOLDER };
                match (why, Place::of(&around.below(named))) {
                    (Why::Left, Some(session)) => {
                        let message = format!(
                            "process {pid} is gone and was putting a session into the trash: it lies at \"{shown}\""
                        );
                        let problem = Problem::new(&entry.name, "cut_off_delete", message);
                        found.push(Finding { problem, mend: Mend::Trash(session, at) });
                    }
                    _ => found
                        .push(self.removing(at, &format!("process {pid} is gone and was removing a folder"))),
                }
            } else if names::is_taking(&entry.name)
                && unless_bug(self.is_abandoned(io, &at).await)?.unwrap_or_default()
            {
                let message = format!(
                    "expected a session in \"{shown}\", but found a place that a process which is gone took for one"
                );
                let problem = Problem::new(&entry.name, "cut_off_move", message);
                found.push(Finding { problem, mend: Mend::Free(at) });
            }
        }
        Ok(())
    }
}
