//! Compaction: makes future contexts begin after a message, with a summary before it. No message is touched.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::append::CountingMode;
use super::context::ContextRequest;
use super::session_files::SessionFiles;
use super::stored_summaries::{StoredSummary, SummaryRequest, SummaryResponse};
use super::{Io, Operation, Trouble, unless_bug};
use crate::context::{Action, Context, Decision, Request};
use crate::error::Code;
use crate::json::request;
use crate::json::text::to_json;
use crate::record::event::SummaryRange;
use crate::record::message::{Message, Role};
use crate::record::span::Span;
use crate::session::change_request::ChangeRequest;
use crate::session::context_source::ContextSource;
use crate::shapes::Format;

/// Compaction is due from this share of the budget, in hundredths.
const DUE_SHARE_PERCENT: u64 = 80;
/// After a compaction, the context may grow to so many halves of its size then before the next one.
const MAX_GROWTH_HALVES: u64 = 3;
/// A model's summary may have this share of what is kept, in thousandths: the share of all summaries, less what is
/// said beside it.
const SUMMARY_SHARE_THOUSANDTHS: u64 = 165;
const MAX_SUMMARY_TOKENS: u32 = 2200;

/// What compaction would do, or did.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct CompactionReport {
    is_applied: bool,
    is_due: bool,
    message_count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_before: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_after: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_budget: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    through: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary_refused: Option<String>,
    #[serde(skip)]
    end_byte: Option<u64>,
    #[serde(skip)]
    summary_tokens: u32,
}

impl SessionFiles {
    /// Compacts the session: `{"request","summarizes","apply","undo","keep"}`, JSON; reports what it would do, and
    /// does it with `apply`. Returns
    /// `{"isApplied","isDue","messageCount","tokensBefore","tokensAfter","tokenBudget","reason",
    /// "through","summaryRefused"}`, JSON.
    pub fn compact(
        self: &Rc<SessionFiles>,
        options: String,
        counts: CountingMode,
    ) -> Operation<'static, String> {
        let files = self.clone();
        Operation::new(|io| async move {
            files.reject_if_deleted()?;
            let bad = &mut Vec::new();
            let known = "apply, undo, keep, request, summarizes, embeds or leaves";
            let mut fields = request::parse(&options, known)?;
            let apply = fields.take("apply", bad).unwrap_or_default();
            let undo = fields.take("undo", bad).unwrap_or_default();
            let keep = fields.take_raw("keep").map(parse_keep).transpose();
            request::reject_bad(bad)?;
            if undo && (apply || !matches!(keep, Ok(None))) {
                let message = "\"undo\" cannot be combined with \"apply\" or \"keep\"";
                return Err(Trouble::new(Code::InvalidRequest, message));
            }
            let done = if undo {
                files.undo_compaction(&io, &options, &counts).await?
            } else {
                let known = files.current_request(&io, &options, &counts, false).await?;
                files.run_compaction(&io, known, keep, apply).await?
            };
            Ok(to_json(&done))
        })
    }

    async fn run_compaction(
        &self,
        io: &Io,
        (request, source): (ContextRequest, ContextSource),
        keep: Result<Option<u32>, Trouble>,
        apply: bool,
    ) -> Result<CompactionReport, Trouble> {
        if apply {
            // Checked before a model is asked.
            self.reject_newer()?;
        }
        let plain = request.without_host_parts();
        let mut plan = self.plan_compaction(io, &plain, &source, keep).await?;
        if !apply || plan.reason.is_some() {
            return Ok(plan);
        }
        let end = plan.end_byte.unwrap_or_default();
        let wanted =
            SummaryRequest { range: Span { start: 0, end }, min_end_byte: end, tokens: plan.summary_tokens };
        let SummaryResponse { summary: cached, refusal: refused } =
            self.find_or_write_summary(io, wanted, &request).await?;
        let event = self.compaction_event(io, &plan, cached.as_ref()).await?;
        let changes = ChangeRequest::from_json(&event)?;
        self.run_in_turn(io, &|| Box::pin(self.refresh_and_record(io, changes.clone()))).await?;
        plan.is_applied = true;
        // Without a model's summary the plan stands.
        if cached.is_some() {
            plan.tokens_after = Some(self.current_context(io, &plain).await?.tokens_used);
        }
        plan.summary_refused = refused;
        Ok(plan)
    }

    // That contexts cannot be built, or that their window is unknown, is no reason not to take a compaction back.
    async fn undo_compaction(
        &self,
        io: &Io,
        options: &str,
        counts: &CountingMode,
    ) -> Result<CompactionReport, Trouble> {
        let caught_up = || async {
            self.observe_logs(io).await?;
            let is_compacted = self.with_session(|session| session.compaction().range.is_some());
            Ok((is_compacted, self.parse_request(options, counts, false).ok()))
        };
        let (is_compacted, request) = self.run_in_turn(io, &|| Box::pin(caught_up())).await?;
        if !is_compacted {
            return Ok(CompactionReport {
                reason: Some("it is not compacted".into()),
                ..CompactionReport::default()
            });
        }
        let plain = request.map(|request| request.without_host_parts());
        let before = self.try_context(io, plain.as_ref()).await?;
        let changes = ChangeRequest::from_json(r#"[{"type":"compaction"}]"#)?;
        self.run_in_turn(io, &|| Box::pin(self.refresh_and_record(io, changes.clone()))).await?;
        let after = self.try_context(io, plain.as_ref()).await?;
        Ok(CompactionReport {
            is_applied: true,
            tokens_before: before.map(|context| context.tokens_used),
            tokens_after: after.as_ref().map(|context| context.tokens_used),
            token_budget: after.map(|context| context.token_budget),
            ..CompactionReport::default()
        })
    }

    async fn try_context(
        &self,
        io: &Io,
        request: Option<&ContextRequest>,
    ) -> Result<Option<Context>, Trouble> {
        let Some(request) = request else { return Ok(None) };
        unless_bug(self.current_context(io, request).await)
    }

    async fn current_context(&self, io: &Io, request: &ContextRequest) -> Result<Context, Trouble> {
        let source = self.current_source(io).await?;
        Ok(self.build_context(io, request, source, None).await?.context)
    }

    async fn plan_compaction(
        &self,
        io: &Io,
        context_request: &ContextRequest,
        source: &ContextSource,
        keep: Result<Option<u32>, Trouble>,
    ) -> Result<CompactionReport, Trouble> {
        let before = self.build_context(io, context_request, source.clone(), None).await?.context;
        let current = self.with_session(|session| session.compaction().range.clone());
        // By default a compaction leaves half of the budget, and is refused until the conversation has grown by half
        // again, so that it cannot loop. The newest turn is never compacted, however long it is.
        let most = keep?.unwrap_or(before.token_budget / 2);
        let is_all = before.strategy == "full-history";
        let used = before.tokens_used;
        let report = CompactionReport {
            is_due: !is_all || u64::from(used) * 100 > u64::from(before.token_budget) * DUE_SHARE_PERCENT,
            tokens_before: Some(used),
            tokens_after: Some(used),
            token_budget: Some(before.token_budget),
            summary_tokens: ((u64::from(most) * SUMMARY_SHARE_THOUSANDTHS / 1000) as u32)
                .min(MAX_SUMMARY_TOKENS),
            ..CompactionReport::default()
        };
        let because = |reason: String| Ok(CompactionReport { reason: Some(reason), ..report.clone() });
        // With less growth than this, compaction would soon be due again.
        let halves = u64::from(most) * if current.is_some() { MAX_GROWTH_HALVES } else { 2 };
        if is_all && u64::from(used) * 2 <= halves {
            return because(format!("the conversation has {used} tokens, and {} are kept", halves / 2));
        }
        let alone = ContextRequest {
            request: conversation_only(&context_request.request, most),
            ..context_request.clone()
        };
        let plan = self.build_context(io, &alone, source.clone(), None).await?.context;
        let through = last_compacted_message(&plan);
        if through.is_some() && through.as_ref() == current.as_ref().map(|range| &range.end_message_id) {
            let reason = Some("what was said since is the newest turn alone".into());
            return Ok(CompactionReport { is_due: false, reason, ..report });
        }
        let Some(through) = through else {
            return because("with older tool results shortened, all of it fits into what is kept".into());
        };
        let after = self.build_context(io, context_request, source.clone(), Some(&through)).await?.context;
        if after.tokens_used >= used {
            return because("it would not be smaller".into());
        }
        Ok(CompactionReport {
            through: Some(through),
            message_count: after.report.unread_message_count,
            tokens_after: Some(after.tokens_used),
            end_byte: after.report.compacted.and_then(|begins| begins.end_byte),
            ..report
        })
    }

    // Makes the request for the compaction event.
    async fn compaction_event(
        &self,
        io: &Io,
        plan: &CompactionReport,
        cached: Option<&StoredSummary>,
    ) -> Result<String, Trouble> {
        let start_message_id = match self.with_session(|session| session.compaction().range.clone()) {
            Some(range) => range.start_message_id,
            None => self.first_message_id(io).await?,
        };
        let range = SummaryRange {
            start_message_id,
            end_message_id: plan.through.clone().unwrap_or_default(),
            start_seq: Some(0),
            end_seq: None,
            message_count: plan.message_count,
            end_byte: plan.end_byte,
        };
        let written = cached.map_or_else(String::new, |stored| {
            let (summary, ratio) = (to_json(&stored.summary), stored.compression_ratio.to_json());
            let tokens = stored.original_tokens;
            format!(",\"summary\":{summary},\"originalTokens\":{tokens},\"compressionRatio\":{ratio}")
        });
        // The event has the model's words in it, so that the compaction holds without the cache. If something was merged
        // before its end, contexts begin with the first message again, and nothing is hidden.
        Ok(format!("[{{\"type\":\"compaction\",\"range\":{}{written}}}]", to_json(&range)))
    }
}

// A request for the stored conversation alone, with nothing beside it.
fn conversation_only(request: &Request, most: u32) -> Request {
    Request {
        window: most,
        reserve: Some(0),
        system: String::new(),
        tools: String::new(),
        format: Format::Leftoff,
        ..request.clone()
    }
}

// The last message before those kept: of a step that did not fit, but not of the newest turn.
fn last_compacted_message(plan: &Context) -> Option<String> {
    let is_user = |message: &&Message| message.role == Some(Role::User) && !message.id.is_empty();
    let newest_user = plan.messages.iter().rfind(is_user).map(|message| message.id.as_str());
    let decisions = &plan.report.messages;
    let turn = decisions
        .iter()
        .position(|decision| Some(decision.id.as_str()) == newest_user)
        .unwrap_or(decisions.len());
    let (before, behind) = decisions.split_at(turn);
    let last = if behind.iter().any(is_omitted) {
        before.last()
    } else {
        before.iter().rfind(|decision| is_omitted(decision))
    };
    last.map(|decision| decision.id.clone())
}

// A step that did not fit; results without a call do not count.
fn is_omitted(decision: &Decision) -> bool {
    decision.rule == "did-not-fit" && matches!(decision.action, Action::Dropped | Action::Summarized)
}

fn parse_keep(raw: &str) -> Result<u32, Trouble> {
    raw.parse().ok().filter(|keep| *keep > 0).ok_or_else(|| {
        let message = format!("expected a whole number of tokens for \"keep\", but found {raw} instead");
        Trouble::new(Code::InvalidRequest, message)
    })
}
