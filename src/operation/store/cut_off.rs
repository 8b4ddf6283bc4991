//! What was being moved, deleted or purged by a process that is gone, and how that is brought to an end.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Serialize;

use super::Store;
use super::moving::Moving;
use crate::json::text::to_json;
use crate::layout::names::{self, Renamed, Why};
use crate::layout::{self, File, Place, Root, SESSION_FOLDER};
use crate::operation::{Io, Kind, Operation, Trouble, unless_bug};
use crate::session::lease::Lease;

/// No file is written for so long. A process of this number may be another one by now.
const DAY_US: i64 = 24 * 60 * 60_000_000;

/// What is wrong, as a doctor says it.
#[derive(Clone, Serialize)]
pub(super) struct Problem {
    file: String,
    start: u64,
    end: u64,
    code: String,
    message: String,
}

struct Finding {
    problem: Problem,
    mend: Mend,
}

/// How it is brought to an end.
enum Mend {
    /// A move.
    End(Box<Moving>),
    /// The folder of a session that was left is put in the trash.
    Trash(Place, File),
    /// Nobody wants it any more.
    Remove(File),
    /// A place that was taken.
    Free(File),
}

#[derive(Serialize)]
struct Mended {
    fixed: Vec<String>,
    failed: Vec<Problem>,
}

impl Store {
    /// What was cut off; `mends`: it is brought to an end. Answer: `{"fixed":[],"failed":[{"file","start","end","code",
    /// "message"}]}`, JSON: what was done, and what is still there.
    pub fn cut_off(self: &Rc<Store>, mends: bool) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(move |io| async move {
            let findings = store.all_cut_off(&io).await?;
            let mut mended = Mended { fixed: Vec::new(), failed: Vec::new() };
            for Finding { problem, mend } in findings {
                if !mends {
                    mended.failed.push(problem);
                    continue;
                }
                match store.mended(&io, mend).await {
                    Ok(done) => mended.fixed.push(done),
                    Err(trouble) if trouble.is_bug() => return Err(trouble),
                    Err(trouble) => {
                        let message = format!("could not mend it ({}): {}", problem.code, trouble.message());
                        mended.failed.push(Problem { code: trouble.code().into(), message, ..problem });
                    }
                }
            }
            Ok(to_json(&mended))
        })
    }

    async fn mended(&self, io: &Io, mend: Mend) -> Result<String, Trouble> {
        match mend {
            Mend::End(moving) => self.ended(io, &moving).await,
            Mend::Trash(session, lies) => {
                let place = self.to_trash(io, &session, Some(&lies)).await?;
                let (lies, place) = (self.setup.shown(&lies), self.setup.shown(&place));
                Ok(format!("put \"{lies}\" into the trash: \"{place}\""))
            }
            Mend::Remove(file) => {
                io.remove(&file).await?;
                Ok(format!("removed \"{}\"", self.setup.shown(&file)))
            }
            Mend::Free(folder) => {
                self.freed(io, &folder).await?;
                Ok(format!("gave up the place \"{}\"", self.setup.shown(&folder)))
            }
        }
    }

    async fn all_cut_off(&self, io: &Io) -> Result<Vec<Finding>, Trouble> {
        let mut found = Vec::new();
        for moving in self.cut_off_moves(io).await? {
            let pid = moving.by.as_ref().map_or(0, |by| by.pid);
            let shown = |place: &Place| self.setup.shown(&place.folder());
            let (from, to) = (shown(&moving.from), shown(&moving.to));
            let message = format!(
                "process {pid} is gone and was moving the session {} from \"{from}\" to \"{to}\"",
                moving.id
            );
            let problem = problem(moving.file.name(), "cut_off_move", message);
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
                        let problem = problem(&entry.name, "cut_off_delete", message);
                        found.push(Finding { problem, mend: Mend::Trash(session, at) });
                    }
                    _ => found
                        .push(self.removing(at, &format!("process {pid} is gone and was removing a folder"))),
                }
            } else if names::is_taking(&entry.name) && self.is_abandoned(io, &at).await? {
                let message = format!(
                    "expected a session in \"{shown}\", but found a place that a process which is gone took for one"
                );
                let problem = problem(&entry.name, "cut_off_move", message);
                found.push(Finding { problem, mend: Mend::Free(at) });
            }
        }
        Ok(())
    }

    fn removing(&self, file: File, why: &str) -> Finding {
        let message = format!("{why} at \"{}\"", self.setup.shown(&file));
        Finding { problem: problem(file.name(), "left_over", message), mend: Mend::Remove(file) }
    }
}

fn problem(file: &str, code: &str, message: String) -> Problem {
    Problem { file: file.into(), start: 0, end: 0, code: code.to_string(), message }
}

/// Whether a process is gone that left something. `pid` is its number, as it is written.
async fn is_left(io: &Io, file: &File, pid: &str) -> Result<bool, Trouble> {
    let by = Lease { pid: pid.parse().unwrap_or(u64::MAX), ..Lease::default() };
    if io.gone(Vec::from([by])).await? == [true] {
        return Ok(true);
    }
    // A folder that is renamed keeps the time of its content.
    let changed = io.stat(file).await?.map(|stat| stat.modified_us.max(stat.changed_us));
    Ok(changed.is_some_and(|changed| io.now_ms() * 1000 - changed > DAY_US))
}
