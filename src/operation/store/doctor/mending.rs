//! What can be mended, and how: each finding is told, and nothing is changed until somebody says so.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::Store;
use crate::json::text::to_json;
use crate::layout::pointer::Pointer;
use crate::layout::{File, Place, names};
use crate::operation::live::Live;
use crate::operation::store::moving::Moving;
use crate::operation::store::outputs::LeftOutputs;
use crate::operation::{Io, Trouble};
use crate::session::listed::{Listed, Wanted};

/// What is wrong, beside what is wrong in the logs.
#[derive(Serialize)]
pub(super) struct Problem {
    file: String,
    start: u64,
    end: u64,
    code: String,
    message: String,
}

impl Problem {
    pub fn new(file: &str, code: &str, message: String) -> Problem {
        Problem { file: file.into(), start: 0, end: 0, code: code.into(), message }
    }

    pub fn to_json(&self) -> String {
        to_json(self)
    }
}

pub(super) struct Finding {
    pub problem: Problem,
    pub mend: Mend,
}

impl Finding {
    /// What nobody can look into: that is mended by whoever may.
    pub fn by_hand(file: &str, trouble: Trouble) -> Finding {
        let problem = Problem::new(file, trouble.code(), trouble.message().into());
        Finding { problem, mend: Mend::ByHand(trouble) }
    }
}

/// How it is mended.
pub(super) enum Mend {
    /// What is torn at this end of a log gets a line feed behind it.
    Seal { log: File, end: u64 },
    /// The document is written anew. What cannot be read may be somebody's work all the same: it goes to the trash.
    Document { of: Rc<Live>, was: Option<Vec<u8>> },
    /// The checkpoint is made again.
    Checkpoint { of: Rc<Live> },
    /// Leases of processes that are gone are taken away.
    Leases { of: Rc<Live>, count: usize },
    /// What is no line of the index is taken away.
    Index { damaged: u64 },
    /// The project is pointed to another session, or to none.
    Pointer,
    /// Nobody wants it any more.
    Remove(File),
    /// The outputs of a run that is gone are taken away.
    Outputs(LeftOutputs),
    /// A move is brought to an end.
    End(Box<Moving>),
    /// The folder of a session that was left is put in the trash.
    Trash(Place, File),
    /// A place that was taken is given up.
    Free(File),
    /// Whose it is that stands there, only a person knows.
    ByHand(Trouble),
}

/// What was done; and of what is still there the problems, JSON each.
#[derive(Default)]
pub(super) struct Mended {
    pub fixed: Vec<String>,
    pub failed: Vec<String>,
}

impl Mended {
    /// None of these could be mended.
    pub fn refused(findings: &[Finding], trouble: &Trouble) -> Mended {
        let failed = findings.iter().map(|one| unmended(&one.problem, trouble)).collect();
        Mended { fixed: Vec::new(), failed }
    }
}

fn unmended(Problem { file, code, .. }: &Problem, trouble: &Trouble) -> String {
    let message = format!("could not mend it ({code}): {}", trouble.message());
    Problem::new(file, trouble.code(), message).to_json()
}

impl Store {
    pub(super) async fn mended_if(
        &self,
        io: &Io,
        findings: Vec<Finding>,
        mends: bool,
    ) -> Result<Mended, Trouble> {
        if mends {
            return self.mended(io, findings).await;
        }
        let failed = findings.iter().map(|one| one.problem.to_json()).collect();
        Ok(Mended { fixed: Vec::new(), failed })
    }

    /// Mends what can be, and says what it did; of what could not, why.
    pub(super) async fn mended(&self, io: &Io, findings: Vec<Finding>) -> Result<Mended, Trouble> {
        let mut mended = Mended::default();
        for Finding { problem, mend } in findings {
            match Box::pin(self.mended_one(io, mend)).await {
                Ok(done) => mended.fixed.push(done),
                Err(trouble) if trouble.is_bug() => return Err(trouble),
                Err(trouble) => mended.failed.push(unmended(&problem, &trouble)),
            }
        }
        Ok(mended)
    }

    // What it did, as people are told it.
    async fn mended_one(&self, io: &Io, mend: Mend) -> Result<String, Trouble> {
        let shown = |file: &File| self.setup.shown(file);
        Ok(match mend {
            Mend::Seal { log, end } => {
                io.append(&log, b"\n".into(), true, Some(&log.folder())).await?;
                format!("sealed {} behind byte {end} with a line feed", log.name())
            }
            Mend::Document { of, was } => self.document_anew(io, &of, was).await?,
            Mend::Checkpoint { of } => {
                let file = of.cached(names::Kept::Checkpoint);
                io.remove(&file).await?;
                of.revived(io).await?;
                of.save_checkpoint(io, true).await?;
                format!("dropped the checkpoint at \"{}\"; it is made again where it is needed", shown(&file))
            }
            Mend::Leases { of, count } => {
                of.taken_up(io, i64::MAX, true).await?;
                let s = if count == 1 { "" } else { "s" };
                format!("cleared away {count} lease{s} of processes that are gone")
            }
            Mend::Index { damaged } => {
                self.compact_index(io, &[]).await?;
                format!("wrote the index anew without {damaged} damaged lines")
            }
            Mend::Pointer => self.pointed_anew(io).await?,
            Mend::Remove(file) => {
                io.remove(&file).await?;
                format!("removed \"{}\"", shown(&file))
            }
            Mend::Outputs(left) => {
                self.clear_left(io, &left).await?;
                format!("removed {} from \"{}\"", left.what(), shown(&crate::layout::outputs()))
            }
            Mend::End(moving) => self.ended(io, &moving).await?,
            Mend::Trash(session, lies) => {
                let place = self.to_trash(io, &session, Some(&lies)).await?;
                format!("put \"{}\" into the trash: \"{}\"", shown(&lies), shown(&place))
            }
            Mend::Free(folder) => {
                self.freed(io, &folder).await?;
                format!("gave up the place \"{}\"", shown(&folder))
            }
            Mend::ByHand(trouble) => return Err(trouble),
        })
    }

    async fn document_anew(&self, io: &Io, live: &Live, was: Option<Vec<u8>>) -> Result<String, Trouble> {
        let file = live.document_file();
        let mut lies = String::new();
        if let Some(bytes) = was {
            let copy = self.in_trash(io, &format!("{}-{}", live.id(), file.name()));
            io.replace(&copy, bytes, None).await?;
            lies = format!("; as it was, it lies at \"{}\"", self.setup.shown(&copy));
        }
        live.save(io).await?;
        Ok(format!("wrote {} anew from the logs{lies}", file.name()))
    }

    async fn pointed_anew(&self, io: &Io) -> Result<String, Trouble> {
        let wanted = Wanted::from_json(r#"{"type":null}"#)?;
        let all = self.looked_for(io, false).await?;
        let is_meant = |one: &Rc<Listed>| wanted.has(one) && one.entry.lifecycle.is_some();
        let Some(other) = all.into_iter().find(is_meant) else {
            self.unpointed(io).await?;
            return Ok("took away the pointer to the current session".into());
        };
        let pointer = Pointer { id: other.entry.id.clone(), path: other.path.clone() };
        self.pointed_to(io, &pointer).await?;
        Ok(format!("pointed the project to its last session, {}", pointer.id))
    }
}
