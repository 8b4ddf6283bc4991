//! Mends: each finding says how it can be mended, and nothing is changed until a caller asks for that.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::Store;
use crate::json::text::to_json;
use crate::layout::pointer::SessionPointer;
use crate::layout::{File, SessionLocation, names};
use crate::operation::session_files::SessionFiles;
use crate::operation::store::outputs::AbandonedOutputs;
use crate::operation::store::relocation::Relocation;
use crate::operation::{Io, Trouble};
use crate::session::session_list::{ListRequest, ListedSession};

/// A problem apart from those in the logs.
#[derive(Serialize)]
pub(super) struct DoctorProblem {
    file: String,
    start: u64,
    end: u64,
    code: String,
    message: String,
}

impl DoctorProblem {
    pub fn new(file: &str, code: &str, message: String) -> DoctorProblem {
        DoctorProblem { file: file.into(), start: 0, end: 0, code: code.into(), message }
    }

    pub fn to_json(&self) -> String {
        to_json(self)
    }
}

pub(super) struct Finding {
    pub problem: DoctorProblem,
    pub mend: Mend,
}

impl Finding {
    /// A finding in a folder that cannot be read: a person with access has to mend it.
    pub fn by_hand(file: &str, trouble: Trouble) -> Finding {
        let problem = DoctorProblem::new(file, trouble.code(), trouble.message().into());
        Finding { problem, mend: Mend::ByHand(trouble) }
    }
}

/// How a finding is mended.
pub(super) enum Mend {
    /// Append a line feed to a log with a torn tail that ends at this byte.
    Seal { log: File, end: u64 },
    /// Write the document anew. One that cannot be read may be somebody's work all the same, and goes to the trash.
    Document { of: Rc<SessionFiles>, was: Option<Vec<u8>> },
    /// Drop the checkpoint and make it again.
    Checkpoint { of: Rc<SessionFiles> },
    /// Remove the leases of processes that are gone.
    Leases { of: Rc<SessionFiles>, count: usize },
    /// Remove damaged lines from the session index.
    Index { damaged: u64 },
    /// Point the project to another session, or to none.
    Pointer,
    /// Remove a file that nobody needs.
    Remove(File),
    /// Clear the tool outputs of a run that is gone.
    Outputs(AbandonedOutputs),
    /// End a relocation.
    End(Box<Relocation>),
    /// Move the folder of a session that was left to the trash.
    Trash(SessionLocation, File),
    /// Release a folder that was reserved.
    Free(File),
    /// Leave it to a person, who alone knows whose it is.
    ByHand(Trouble),
}

/// What was mended, in sentences; and the problems that remain, JSON each.
#[derive(Default)]
pub(super) struct MendReport {
    pub fixed: Vec<String>,
    pub failed: Vec<String>,
}

impl MendReport {
    /// Reports that none of these could be mended.
    pub fn all_failed(findings: &[Finding], trouble: &Trouble) -> MendReport {
        let failed = findings.iter().map(|one| failed_mend_json(&one.problem, trouble)).collect();
        MendReport { fixed: Vec::new(), failed }
    }
}

fn failed_mend_json(DoctorProblem { file, code, .. }: &DoctorProblem, trouble: &Trouble) -> String {
    let message = format!("could not mend it ({code}): {}", trouble.message());
    DoctorProblem::new(file, trouble.code(), message).to_json()
}

impl Store {
    pub(super) async fn mend_if(
        &self,
        io: &Io,
        findings: Vec<Finding>,
        mends: bool,
    ) -> Result<MendReport, Trouble> {
        if mends {
            return self.mend_all(io, findings).await;
        }
        let failed = findings.iter().map(|one| one.problem.to_json()).collect();
        Ok(MendReport { fixed: Vec::new(), failed })
    }

    /// Mends what can be mended; for the rest, reports why not.
    pub(super) async fn mend_all(&self, io: &Io, findings: Vec<Finding>) -> Result<MendReport, Trouble> {
        let mut mended = MendReport::default();
        for Finding { problem, mend } in findings {
            match Box::pin(self.mend_one(io, mend)).await {
                Ok(done) => mended.fixed.push(done),
                Err(trouble) if trouble.is_bug() => return Err(trouble),
                Err(trouble) => mended.failed.push(failed_mend_json(&problem, &trouble)),
            }
        }
        Ok(mended)
    }

    // Returns a sentence for people that says what was done.
    async fn mend_one(&self, io: &Io, mend: Mend) -> Result<String, Trouble> {
        let shown = |file: &File| self.setup.display_path(file);
        Ok(match mend {
            Mend::Seal { log, end } => {
                io.append(&log, b"\n".into(), true, Some(&log.folder())).await?;
                format!("sealed {} behind byte {end} with a line feed", log.name())
            }
            Mend::Document { of, was } => self.rewrite_document(io, &of, was).await?,
            Mend::Checkpoint { of } => {
                let file = of.cached_file(names::CachedKind::Checkpoint);
                io.remove(&file).await?;
                of.ensure_open(io).await?;
                of.save_checkpoint(io, true).await?;
                format!("dropped the checkpoint at \"{}\"; it is made again where it is needed", shown(&file))
            }
            Mend::Leases { of, count } => {
                of.pause_if_idle(io, i64::MAX, true).await?;
                let s = if count == 1 { "" } else { "s" };
                format!("cleared away {count} lease{s} of processes that are gone")
            }
            Mend::Index { damaged } => {
                self.compact_index(io, &[]).await?;
                format!("wrote the index anew without {damaged} damaged lines")
            }
            Mend::Pointer => self.reset_pointer(io).await?,
            Mend::Remove(file) => {
                io.remove(&file).await?;
                format!("removed \"{}\"", shown(&file))
            }
            Mend::Outputs(left) => {
                self.clear_abandoned_outputs(io, &left).await?;
                format!("removed {} from \"{}\"", left.describe(), shown(&crate::layout::outputs()))
            }
            Mend::End(moving) => self.end_relocation(io, &moving).await?,
            Mend::Trash(session, lies) => {
                let place = self.move_to_trash(io, &session, Some(&lies)).await?;
                format!("put \"{}\" into the trash: \"{}\"", shown(&lies), shown(&place))
            }
            Mend::Free(folder) => {
                self.free_folder(io, &folder).await?;
                format!("gave up the place \"{}\"", shown(&folder))
            }
            Mend::ByHand(trouble) => return Err(trouble),
        })
    }

    async fn rewrite_document(
        &self,
        io: &Io,
        files: &SessionFiles,
        was: Option<Vec<u8>>,
    ) -> Result<String, Trouble> {
        let file = files.document_file();
        let mut lies = String::new();
        if let Some(bytes) = was {
            let copy = self.trash_path(io, &format!("{}-{}", files.id(), file.name()));
            io.replace(&copy, bytes, None).await?;
            lies = format!("; as it was, it lies at \"{}\"", self.setup.display_path(&copy));
        }
        files.save_document(io).await?;
        Ok(format!("wrote {} anew from the logs{lies}", file.name()))
    }

    async fn reset_pointer(&self, io: &Io) -> Result<String, Trouble> {
        let wanted = ListRequest::from_json(r#"{"type":null}"#)?;
        let all = self.list_without_changes(io, false).await?;
        let is_meant = |one: &Rc<ListedSession>| wanted.includes(one) && one.entry.lifecycle.is_some();
        let Some(other) = all.into_iter().find(is_meant) else {
            self.remove_pointer(io).await?;
            return Ok("took away the pointer to the current session".into());
        };
        let pointer = SessionPointer { id: other.entry.id.clone(), path: other.path.clone() };
        self.set_pointer(io, &pointer).await?;
        Ok(format!("pointed the project to its last session, {}", pointer.id))
    }
}
