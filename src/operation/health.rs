//! Examines a session: reads all of it and reports what is wrong, without repairing anything.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::logs::LogName;
use super::messages::MessageStream;
use super::session_files::SessionFiles;
use super::{Io, Operation, Trouble, unless_bug};
use crate::json::fields::Fields;
use crate::json::text::to_json;
use crate::record::scan::{Problem, ProblemCode};
use crate::record::status::Health;

/// The result of an examination.
#[derive(Debug, Serialize)]
pub(super) struct HealthReport {
    pub health: Health,
    pub problems: Vec<FileProblem>,
}

#[derive(Debug, Serialize)]
pub(super) struct FileProblem {
    pub file: String,
    #[serde(flatten)]
    problem: ProblemDetail,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum ProblemDetail {
    Scanned(Problem),
    /// Records that the document was written from, and that the logs lack.
    Vanished {
        code: &'static str,
        start: u64,
        end: u64,
        message: String,
    },
}

impl FileProblem {
    /// Where the log's whole lines end, if its last line is torn.
    pub fn torn_tail_end(&self) -> Option<u64> {
        match &self.problem {
            ProblemDetail::Scanned(problem) => (problem.code == ProblemCode::TornTail).then_some(problem.end),
            ProblemDetail::Vanished { .. } => None,
        }
    }

    pub fn is_vanished(&self) -> bool {
        matches!(self.problem, ProblemDetail::Vanished { .. })
    }
}

impl SessionFiles {
    /// Reads all of the session. Returns `{"health","problems":[{"file","code","start","end","message"}]}`, JSON.
    pub fn examine(self: &Rc<SessionFiles>) -> Operation<'static, String> {
        let files = self.clone();
        Operation::new(|io| async move {
            files.reject_if_deleted()?;
            files.build_health_report(&io).await.map(|examined| to_json(&examined))
        })
    }

    pub(super) async fn build_health_report(&self, io: &Io) -> Result<HealthReport, Trouble> {
        if io.stat(&self.folder()).await?.is_none() {
            Box::pin(self.reopen_if_changed(io, false)).await?;
        }
        // On a copy: the state of the open session may say more than its files.
        Box::pin(async { self.unopened_copy().scan_for_problems(io).await }).await
    }

    async fn scan_for_problems(&self, io: &Io) -> Result<HealthReport, Trouble> {
        self.begin_with_id(&self.id());
        let mut problems = Vec::new();
        for log in [LogName::Events, LogName::Messages, LogName::Tools] {
            let found = self.observe_whole(io, log).await?;
            problems.extend(
                found.into_iter().map(|problem| self.file_problem(log, ProblemDetail::Scanned(problem))),
            );
        }
        let health = self.with_session(|session| session.health());
        // Damage already explains why something is missing.
        if problems.is_empty() {
            problems = self.find_vanished(io).await?;
        }
        problems.extend(self.find_missing_blobs(io).await?);
        let is_worse = |one: &FileProblem| match &one.problem {
            ProblemDetail::Scanned(problem) => problem.code == ProblemCode::MissingBlob,
            ProblemDetail::Vanished { .. } => true,
        };
        let health =
            if health == Health::Ok && problems.iter().any(is_worse) { Health::Damaged } else { health };
        Ok(HealthReport { health, problems })
    }

    // Finds what the derived document tells of and the logs lack: they were cut, emptied or removed.
    async fn find_vanished(&self, io: &Io) -> Result<Vec<FileProblem>, Trouble> {
        let found = unless_bug(self.read_document(io).await)?.flatten().unwrap_or_default();
        let Ok(document) = Fields::parse(core::str::from_utf8(&found).unwrap_or_default()) else {
            return Ok(Vec::new());
        };
        let of_stats = document.raw("stats").and_then(|stats| Fields::parse(stats).ok()?.raw("messageCount"));
        let was = of_stats.or(document.raw("message_count")).and_then(|count| count.parse::<u64>().ok());
        let as_of = document.raw("asOf").filter(|as_of| *as_of != "null").or(document.raw("as_of"));
        let (file, is) = (self.document_file(), self.with_session(|session| session.log_state().messages));
        let file = file.name();
        let mut problems = Vec::new();
        if let Some(was) = was.filter(|was| *was > is) {
            let message = format!("expected {was} messages, as {file} says, but found {is} instead");
            problems.push(self.vanished_problem(io, LogName::Messages, message).await?);
        }
        let has_events = self.with_session(|session| session.metadata().as_of.is_some());
        if as_of.is_some_and(|as_of| !matches!(as_of, "null" | "\"\"")) && !has_events {
            let message = format!("expected the events that {file} was written from, but found none");
            problems.push(self.vanished_problem(io, LogName::Events, message).await?);
        }
        Ok(problems)
    }

    async fn vanished_problem(&self, io: &Io, log: LogName, message: String) -> Result<FileProblem, Trouble> {
        let end = self.size(io, log).await?;
        Ok(self.file_problem(log, ProblemDetail::Vanished { code: "vanished", start: end, end, message }))
    }

    // Finds missing and damaged blobs, and the lines that name them.
    async fn find_missing_blobs(&self, io: &Io) -> Result<Vec<FileProblem>, Trouble> {
        let mut messages = MessageStream::each_line(self, io, self.seen_size(LogName::Messages));
        while messages.next().await?.is_some() {}
        let missing =
            messages.problems.into_iter().filter(|problem| problem.code == ProblemCode::MissingBlob);
        Ok(missing
            .map(|problem| self.file_problem(LogName::Messages, ProblemDetail::Scanned(problem)))
            .collect())
    }

    fn file_problem(&self, log: LogName, problem: ProblemDetail) -> FileProblem {
        FileProblem { file: self.log_file(log).name().into(), problem }
    }
}
