//! The last context that was sent, built again: of the session as it was then, and of what is kept of it. That it is the same
//! its messages show, by which it was known; else it is said why not.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::append::Counts;
use super::context::Asked;
use super::lease::Notice;
use super::live::Live;
use super::logs::LogName;
use super::passed::{Passed, Recipe};
use super::{Io, Operation, Trouble};
use crate::context::{Counter, Request};
use crate::error::Code;
use crate::json::fields::Fields;
use crate::json::request;
use crate::json::text::to_json;
use crate::tokens::Encoding;

/// What a context was built from, and by what its messages are known.
struct Then {
    request: String,
    token_budget: u32,
    // Where the logs ended.
    messages: u64,
    events: u64,
    project: String,
    summary: Option<String>,
    missing_blobs: u64,
    own: bool,
    embeds: bool,
    made: String,
    given: String,
}

impl Live {
    /// The last context with its messages, built again from the session as it was then; `leaves`: the host is asked how they may
    /// leave. Answer: what [`Live::last_context`] gives, and `"isVerified","differences":[{"code","message"}],"messages"`.
    /// Where it cannot be built, there are no messages; null where none was built.
    pub fn sent_context(self: &Rc<Live>, leaves: bool) -> Operation<'static, String> {
        // What is known of the session as it is now stays so.
        let live = self.anew();
        Operation::new(|io| async move {
            let Some((report, recipe)) = live.kept_report(&io).await? else { return Ok("null".into()) };
            let (messages, differences) = match Then::read(&report, &recipe) {
                Some(then) => live.sent(&io, &then, leaves).await?,
                None => {
                    let found = "expected how the context was built, but found its report alone";
                    (None, Vec::from([differs("no_recipe", found)]))
                }
            };
            let is_verified = differences.is_empty();
            let messages = messages.map_or_else(String::new, |messages| format!(",\"messages\":{messages}"));
            let report = report.strip_suffix('}').unwrap_or(&report);
            let differences = to_json(&differences);
            Ok(format!("{report},\"isVerified\":{is_verified},\"differences\":{differences}{messages}}}"))
        })
    }

    // Its messages, JSON, and why they are not those that were sent.
    async fn sent(
        &self,
        io: &Io,
        then: &Then,
        leaves: bool,
    ) -> Result<(Option<String>, Vec<Notice>), Trouble> {
        let passed = match self.here(io, &|| Box::pin(self.built_as_then(io, then, leaves))).await {
            Ok(passed) => passed,
            Err(trouble) => return Ok((None, Vec::from([refusal(trouble)?]))),
        };
        let messages = request::object(&passed.json)?.take_raw("messages").map(String::from);
        Ok((messages, then.differences(&passed)))
    }

    // What others appended since, or said of the session, is not read.
    async fn built_as_then(&self, io: &Io, then: &Then, leaves: bool) -> Result<Passed, Trouble> {
        self.begin_as(&self.id());
        for (log, end) in [(LogName::Events, then.events), (LogName::Messages, then.messages)] {
            self.observe_part(io, log, end).await?;
        }
        self.folded(io).await?;
        let mut source = self.with(|session| session.source());
        source.project.clone_from(&then.project);
        self.passed(io, &then.asked(leaves)?, source).await
    }
}

impl Then {
    fn read(report: &str, recipe: &str) -> Option<Then> {
        let (bad, mut report, mut recipe) =
            (&mut Vec::new(), Fields::parse(report).ok()?, Fields::parse(recipe).ok()?);
        Some(Then {
            request: recipe.take_raw("request")?.into(),
            token_budget: report.take("tokenBudget", bad)?,
            messages: recipe.take("messages", bad)?,
            events: recipe.take("events", bad)?,
            project: recipe.take("project", bad).unwrap_or_default(),
            summary: recipe.take("summary", bad),
            missing_blobs: report.take("missingBlobs", bad).unwrap_or_default(),
            own: recipe.take("own", bad)?,
            embeds: recipe.take("embeds", bad).unwrap_or_default(),
            made: recipe.take("made", bad)?,
            given: recipe.take("given", bad)?,
        })
    }

    // What a caller did for it is gone with the caller: a strategy is as one that chooses nothing, and the core counts.
    fn asked(&self, leaves: bool) -> Result<Asked, Trouble> {
        let mut request = Request::from_json(&self.request)?;
        // The system prompt and the tools are in what is left.
        request.reserve = Some(request.window.saturating_sub(self.token_budget));
        request.summaries = self.summary.is_some();
        if self.has_counter(&request) {
            request.counter = Counter::Core(Encoding::O200kBase);
        }
        Ok(Asked {
            request,
            summarizes: false,
            leaves,
            window: None,
            counts: Counts::Estimate,
            recipe: Recipe::default(),
            summary: self.summary.clone(),
        })
    }

    fn has_counter(&self, request: &Request) -> bool {
        matches!(request.counter, Counter::Host(_))
    }

    fn differences(&self, passed: &Passed) -> Vec<Notice> {
        if passed.given == self.given {
            return Vec::new();
        }
        let is_counted = Request::from_json(&self.request).is_ok_and(|request| self.has_counter(&request));
        let found = [
            (passed.made == self.made, "redaction_changed", "other rules say now what may leave"),
            (self.own, "own_strategy", "a strategy of the caller's chose its messages"),
            (self.embeds, "own_order", "vectors of the caller's ordered what it recalls"),
            (is_counted, "own_counter", "a counter of the caller's said what fits"),
            (passed.summary != self.summary, "summary_gone", "a summary in it that a model wrote is gone"),
            (passed.missing_blobs > self.missing_blobs, "blob_gone", "a large text or file in it is gone"),
        ];
        let said = found.into_iter().filter(|(is_so, ..)| *is_so);
        let differences: Vec<Notice> = said.map(|(_, code, why)| because(code, why)).collect();
        if !differences.is_empty() {
            return differences;
        }
        let why = "its log was changed otherwise than at its end, or it was built by another version";
        Vec::from([because("context_changed", why)])
    }
}

// Only what the session and its rules say is a difference, not that they cannot be read.
fn refusal(trouble: Trouble) -> Result<Notice, Trouble> {
    match &trouble {
        Trouble::Refused(error) if error.code == Code::LogShrunk => Ok(differs("log_shrunk", &error.message)),
        Trouble::Refused(error) if matches!(error.code, Code::BudgetTooSmall | Code::InvalidRequest) => {
            Ok(differs("context_changed", &error.message))
        }
        Trouble::Refused(_) | Trouble::Failed(_) => Err(trouble),
    }
}

fn because(code: &'static str, why: &str) -> Notice {
    differs(code, &format!("expected the messages that were sent, but found others: {why}"))
}

fn differs(code: &'static str, message: &str) -> Notice {
    Notice { code, message: message.into() }
}
