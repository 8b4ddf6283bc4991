//! What is wrong with a session: all of it is read, and nothing is mended.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::live::Live;
use super::logs::LogName;
use super::messages::Messages;
use super::{Io, Operation, Trouble, unless_bug};
use crate::json::fields::Fields;
use crate::json::text::to_json;
use crate::record::scan::{Problem, ProblemCode};
use crate::record::status::Health;

/// What is wrong, and where.
#[derive(Debug, Serialize)]
pub(super) struct Examined {
    pub health: Health,
    pub problems: Vec<Placed>,
}

#[derive(Debug, Serialize)]
pub(super) struct Placed {
    pub file: String,
    #[serde(flatten)]
    problem: Wrong,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Wrong {
    Met(Problem),
    /// What a document was written from, and the logs do not have.
    Vanished {
        code: &'static str,
        start: u64,
        end: u64,
        message: String,
    },
}

impl Placed {
    /// Where the log ends, where its last line is torn.
    pub fn torn_at(&self) -> Option<u64> {
        match &self.problem {
            Wrong::Met(problem) => (problem.code == ProblemCode::TornTail).then_some(problem.end),
            Wrong::Vanished { .. } => None,
        }
    }

    pub fn is_vanished(&self) -> bool {
        matches!(self.problem, Wrong::Vanished { .. })
    }
}

impl Live {
    /// Reads all of it. Answer: `{"health","problems":[{"file","code","start","end","message"}]}`, JSON.
    pub fn examine(self: &Rc<Live>) -> Operation<'static, String> {
        let live = self.clone();
        Operation::new(|io| async move {
            live.refuse_if_deleted()?;
            live.examined(&io).await.map(|examined| to_json(&examined))
        })
    }

    pub(super) async fn examined(&self, io: &Io) -> Result<Examined, Trouble> {
        if io.stat(&self.folder()).await?.is_none() {
            Box::pin(self.found_again(io, false)).await?;
        }
        // What is known of it already may be more than its files say.
        Box::pin(async { self.anew().examined_anew(io).await }).await
    }

    async fn examined_anew(&self, io: &Io) -> Result<Examined, Trouble> {
        self.begin_as(&self.id());
        let mut problems = Vec::new();
        for log in [LogName::Events, LogName::Messages, LogName::Tools] {
            let found = self.observe_whole(io, log).await?;
            problems.extend(found.into_iter().map(|problem| self.placed(log, Wrong::Met(problem))));
        }
        let health = self.with(|session| session.health());
        // Where something is damaged, that says already why there is less.
        if problems.is_empty() {
            problems = self.vanished(io).await?;
        }
        problems.extend(self.missing_blobs(io).await?);
        let is_worse = |one: &Placed| match &one.problem {
            Wrong::Met(problem) => problem.code == ProblemCode::MissingBlob,
            Wrong::Vanished { .. } => true,
        };
        let health =
            if health == Health::Ok && problems.iter().any(is_worse) { Health::Damaged } else { health };
        Ok(Examined { health, problems })
    }

    // What the derived document tells of, and the logs do not: they were cut, emptied or removed.
    async fn vanished(&self, io: &Io) -> Result<Vec<Placed>, Trouble> {
        let found = unless_bug(self.document_found(io).await)?.flatten().unwrap_or_default();
        let Ok(document) = Fields::parse(core::str::from_utf8(&found).unwrap_or_default()) else {
            return Ok(Vec::new());
        };
        let of_stats = document.raw("stats").and_then(|stats| Fields::parse(stats).ok()?.raw("messageCount"));
        let was = of_stats.or(document.raw("message_count")).and_then(|count| count.parse::<u64>().ok());
        let as_of = document.raw("asOf").filter(|as_of| *as_of != "null").or(document.raw("as_of"));
        let (file, is) = (self.document_file(), self.with(|session| session.known().messages));
        let file = file.name();
        let mut problems = Vec::new();
        if let Some(was) = was.filter(|was| *was > is) {
            let message = format!("expected {was} messages, as {file} says, but found {is} instead");
            problems.push(self.at_end(io, LogName::Messages, message).await?);
        }
        let has_events = self.with(|session| session.metadata().as_of.is_some());
        if as_of.is_some_and(|as_of| !matches!(as_of, "null" | "\"\"")) && !has_events {
            let message = format!("expected the events that {file} was written from, but found none");
            problems.push(self.at_end(io, LogName::Events, message).await?);
        }
        Ok(problems)
    }

    async fn at_end(&self, io: &Io, log: LogName, message: String) -> Result<Placed, Trouble> {
        let end = self.size(io, log).await?;
        Ok(self.placed(log, Wrong::Vanished { code: "vanished", start: end, end, message }))
    }

    // Which blobs are missing or damaged, and where the lines lie that name them.
    async fn missing_blobs(&self, io: &Io) -> Result<Vec<Placed>, Trouble> {
        let end = self.size(io, LogName::Messages).await?;
        let mut messages = Messages::each_line(self, io, end);
        while messages.next().await?.is_some() {}
        let missing =
            messages.problems.into_iter().filter(|problem| problem.code == ProblemCode::MissingBlob);
        Ok(missing.map(|problem| self.placed(LogName::Messages, Wrong::Met(problem))).collect())
    }

    fn placed(&self, log: LogName, problem: Wrong) -> Placed {
        Placed { file: self.log_file(log).name().into(), problem }
    }
}
