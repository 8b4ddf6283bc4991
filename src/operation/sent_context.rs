//! Rebuilds the last context that was sent, from the session as it was then and the recipe that was stored. The hash
//! of its messages shows whether it is the same; if not, the differences are reported.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::append::CountingMode;
use super::context::ContextRequest;
use super::lease::Notice;
use super::logs::LogName;
use super::outgoing_context::{OutgoingContext, Recipe};
use super::session_files::SessionFiles;
use super::{Io, Operation, Trouble};
use crate::context::{Counter, FrameName, Request};
use crate::error::Code;
use crate::json::fields::Fields;
use crate::json::request;
use crate::json::text::to_json;
use crate::tokens::Encoding;

/// What a context was built from, and the hash of its messages.
struct SentContext {
    request: String,
    token_budget: u32,
    // Where the logs ended.
    messages_end: u64,
    events_end: u64,
    project: String,
    summary_id: Option<String>,
    missing_blobs: u64,
    has_own_strategy: bool,
    embeds: bool,
    extended_frame: Option<FrameName>,
    built_hash: String,
    outgoing_hash: String,
}

impl SessionFiles {
    /// Rebuilds the last context with its messages from the session as it was then; `leaves`: the host redacts them.
    /// Returns what [`SessionFiles::last_context`] gives, and
    /// `"isVerified","differences":[{"code","message"}],"messages"`. Where it cannot be built, `messages` is missing;
    /// null where no context was built.
    pub fn sent_context(self: &Rc<SessionFiles>, leaves: bool) -> Operation<'static, String> {
        // On a copy, so that the session as it is now stays as it is.
        let files = self.unopened_copy();
        Operation::new(|io| async move {
            let Some((report, recipe)) = files.read_report(&io).await? else { return Ok("null".into()) };
            let (messages, differences) = match SentContext::read(&report, &recipe) {
                Some(then) => files.rebuild_sent(&io, &then, leaves).await?,
                None => {
                    let found = "expected how the context was built, but found its report alone";
                    (None, Vec::from([difference_notice("no_recipe", found)]))
                }
            };
            let is_verified = differences.is_empty();
            let messages = messages.map_or_else(String::new, |messages| format!(",\"messages\":{messages}"));
            let report = report.strip_suffix('}').unwrap_or(&report);
            let differences = to_json(&differences);
            Ok(format!("{report},\"isVerified\":{is_verified},\"differences\":{differences}{messages}}}"))
        })
    }

    // Rebuilds its messages, JSON, and reports why they differ from those sent.
    async fn rebuild_sent(
        &self,
        io: &Io,
        then: &SentContext,
        leaves: bool,
    ) -> Result<(Option<String>, Vec<Notice>), Trouble> {
        let passed =
            match self.retry_after_move(io, &|| Box::pin(self.rebuild_context(io, then, leaves))).await {
                Ok(passed) => passed,
                Err(trouble) => return Ok((None, Vec::from([refusal_notice(trouble)?]))),
            };
        let messages = request::parse_object(&passed.json)?.take_raw("messages").map(String::from);
        Ok((messages, then.differences(&passed)))
    }

    // Lines that others appended since, and later events, are not read.
    async fn rebuild_context(
        &self,
        io: &Io,
        then: &SentContext,
        leaves: bool,
    ) -> Result<OutgoingContext, Trouble> {
        self.begin_with_id(&self.id());
        for (log, end) in [(LogName::Events, then.events_end), (LogName::Messages, then.messages_end)] {
            self.observe_part(io, log, end).await?;
        }
        self.fold_messages(io).await?;
        let mut source = self.with_session(|session| session.source());
        source.project.clone_from(&then.project);
        let mut request = then.to_request(leaves)?;
        if let Some(name) = &then.extended_frame {
            request.frame = self.find_frame(io, name, then.messages_end).await?;
        }
        let mut rebuilt = self.build_outgoing(io, &request, source).await?;
        rebuilt.extended_frame = request.frame.and(then.extended_frame.clone());
        Ok(rebuilt)
    }
}

impl SentContext {
    fn read(report: &str, recipe: &str) -> Option<SentContext> {
        let (bad, mut report, mut recipe) =
            (&mut Vec::new(), Fields::parse(report).ok()?, Fields::parse(recipe).ok()?);
        Some(SentContext {
            request: recipe.take_raw("request")?.into(),
            token_budget: report.take("tokenBudget", bad)?,
            messages_end: recipe.take("messages", bad)?,
            events_end: recipe.take("events", bad)?,
            project: recipe.take("project", bad).unwrap_or_default(),
            summary_id: recipe.take("summary", bad),
            missing_blobs: report.take("missingBlobs", bad).unwrap_or_default(),
            has_own_strategy: recipe.take("own", bad)?,
            embeds: recipe.take("embeds", bad).unwrap_or_default(),
            extended_frame: recipe.take("extended", bad),
            built_hash: recipe.take("made", bad)?,
            outgoing_hash: recipe.take("given", bad)?,
        })
    }

    // The caller's own parts are gone with the caller: a strategy counts as one that chooses nothing, and the core
    // counts.
    fn to_request(&self, leaves: bool) -> Result<ContextRequest, Trouble> {
        let mut request = Request::from_json(&self.request)?;
        // `token_budget` already excludes the system prompt and the tools.
        request.reserve = Some(request.window.saturating_sub(self.token_budget));
        request.summaries = self.summary_id.is_some();
        if self.has_counter(&request) {
            request.counter = Counter::Core(Encoding::O200kBase);
        }
        Ok(ContextRequest {
            request,
            summarizes: false,
            is_outgoing: leaves,
            window: None,
            counts: CountingMode::Estimate,
            recipe: Recipe::default(),
            summary_id: self.summary_id.clone(),
            frame: None,
        })
    }

    fn has_counter(&self, request: &Request) -> bool {
        matches!(request.counter, Counter::Host(_))
    }

    fn differences(&self, passed: &OutgoingContext) -> Vec<Notice> {
        if passed.outgoing_hash == self.outgoing_hash {
            return Vec::new();
        }
        let is_counted = Request::from_json(&self.request).is_ok_and(|request| self.has_counter(&request));
        let found = [
            (passed.built_hash == self.built_hash, "redaction_changed", "other rules say now what may leave"),
            (self.has_own_strategy, "own_strategy", "a strategy of the caller's chose its messages"),
            (self.embeds, "own_order", "vectors of the caller's ordered what it recalls"),
            (is_counted, "own_counter", "a counter of the caller's said what fits"),
            (
                passed.summary_id != self.summary_id,
                "summary_gone",
                "a summary in it that a model wrote is gone",
            ),
            (
                passed.extended_frame != self.extended_frame,
                "frame_gone",
                "what it was cut to, which it extended, is gone",
            ),
            (
                passed.missing_blob_count > self.missing_blobs,
                "blob_gone",
                "a large text or file in it is gone",
            ),
        ];
        let mismatches = found.into_iter().filter(|(is_so, ..)| *is_so);
        let differences: Vec<Notice> = mismatches.map(|(_, code, why)| mismatch_notice(code, why)).collect();
        if !differences.is_empty() {
            return differences;
        }
        let why = "its log was changed otherwise than at its end, or it was built by another version";
        Vec::from([mismatch_notice("context_changed", why)])
    }
}

// Only what the session and its rules say is a difference, not a failure to read them.
fn refusal_notice(trouble: Trouble) -> Result<Notice, Trouble> {
    match &trouble {
        Trouble::Refused(error) if error.code == Code::LogShrunk => {
            Ok(difference_notice("log_shrunk", &error.message))
        }
        Trouble::Refused(error) if matches!(error.code, Code::BudgetTooSmall | Code::InvalidRequest) => {
            Ok(difference_notice("context_changed", &error.message))
        }
        Trouble::Refused(_) | Trouble::Failed(_) => Err(trouble),
    }
}

fn mismatch_notice(code: &'static str, why: &str) -> Notice {
    difference_notice(code, &format!("expected the messages that were sent, but found others: {why}"))
}

fn difference_notice(code: &'static str, message: &str) -> Notice {
    Notice { code, message: message.into() }
}
