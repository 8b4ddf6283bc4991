//! Contexts on their way out: built, redacted within the budget, and recorded so that they can be built again.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use xxhash_rust::xxh64::xxh64;

use super::cache_marks::mark_messages;
use super::context::{ContextRequest, load_vocabulary};
use super::context_build::{BuiltContext, count_by_host};
use super::logs::LogName;
use super::redaction_response::RedactionResponse;
use super::session_files::SessionFiles;
use super::{Io, Trouble, unless_bug};
use crate::context::{CacheReport, Counter, Frame, FrameEnd, FrameName};
use crate::json::fields::parse_items;
use crate::json::request;
use crate::json::text::to_json;
use crate::layout::names::CachedKind;
use crate::session::context_source::ContextSource;
use crate::shapes::Format;
use crate::time;
use crate::tokens::count;

/// A context after redaction.
pub(super) struct OutgoingContext {
    /// The JSON that callers get.
    pub json: String,
    /// The same without its messages.
    rest_json: String,
    pub tokens_used: u32,
    /// The tokens of the system prompt and the tools, which a call has before its messages.
    pub prompt_tokens: u32,
    /// Hash of the messages as built.
    pub built_hash: String,
    pub outgoing_hash: String,
    /// A strategy of the caller's chose them.
    has_own_strategy: bool,
    /// The written summary that it was given.
    pub summary_id: Option<String>,
    /// How many messages of the path it omits.
    pub omitted_count: u64,
    pub missing_blob_count: u64,
    /// What the next context extends.
    pub frame: Option<Box<Frame>>,
    /// Why it does not extend the frame that it was given.
    pub frame_end: Option<FrameEnd>,
    /// The frame that it extends.
    pub extended_frame: Option<FrameName>,
}

/// What it takes to build a context again, besides its report: fields of JSON, without text of the conversation.
#[derive(Clone, Debug, Default)]
pub(super) struct Recipe(String);

impl BuiltContext {
    fn to_outgoing(&self, request: &ContextRequest) -> OutgoingContext {
        let context = &self.context;
        let (messages, rest) = self.render_parts(&request.request);
        let made = hash_messages(&messages);
        let budget = &context.report.budget;
        OutgoingContext {
            json: join_context_json(&messages, &rest),
            rest_json: rest,
            tokens_used: context.tokens_used,
            prompt_tokens: budget.system_prompt_tokens + budget.tool_definition_tokens,
            outgoing_hash: made.clone(),
            built_hash: made,
            has_own_strategy: request.request.strategies.iter().any(|own| own.name == context.strategy),
            summary_id: self.summary_id.clone(),
            omitted_count: context.original_message_count.saturating_sub(context.included_message_count),
            missing_blob_count: self.missing_blobs,
            frame: context.frame.clone(),
            frame_end: self.frame_end,
            extended_frame: None,
        }
    }
}

impl OutgoingContext {
    /// Adds to the report what a provider may have in its cache, and, in a given shape, marks to the messages up to
    /// which a provider is to keep them: the last one, and the last that is unchanged.
    pub fn with_cache_report(
        mut self,
        cache: &CacheReport,
        marked_format: Option<Format>,
    ) -> Result<OutgoingContext, Trouble> {
        let unchanged = cache.unchanged_messages as usize;
        let (cache, rest) = (to_json(cache), request::parse_object(&self.rest_json)?);
        let parts = rest.iter().map(|(key, value)| match (key, value.strip_suffix('}')) {
            ("\"report\"", Some(report)) => format!("{key}:{report},\"cache\":{cache}}}"),
            _ => format!("{key}:{value}"),
        });
        let rest_json = format!("{{{}}}", parts.collect::<Vec<_>>().join(","));
        let messages = request::parse_object(&self.json)?.take_raw("messages").unwrap_or("[]");
        let marked = marked_format.map(|format| mark_messages(messages, unchanged, format));
        let json = join_context_json(marked.as_deref().unwrap_or(messages), &rest_json);
        (self.json, self.rest_json) = (json, rest_json);
        Ok(self)
    }

    fn apply_redaction(
        self,
        out: RedactionResponse,
        used: u32,
        budget: u32,
    ) -> Result<OutgoingContext, Trouble> {
        let json = out.value.unwrap_or(self.json);
        let fields = request::parse_object(&json)?;
        let given = hash_messages(fields.raw("messages").unwrap_or_default());
        let mut parts: Vec<String> = fields
            .iter()
            .map(|(key, value)| match key {
                "\"tokensUsed\"" => format!("{key}:{used}"),
                "\"tokenBudget\"" => format!("{key}:{budget}"),
                _ => format!("{key}:{value}"),
            })
            .collect();
        if parse_items(&out.secrets).is_some_and(|secrets| !secrets.is_empty()) {
            parts.push(format!("\"secrets\":{}", out.secrets));
        }
        let json = format!("{{{}}}", parts.join(","));
        parts.retain(|part| !part.starts_with("\"messages\":"));
        Ok(OutgoingContext {
            json,
            rest_json: format!("{{{}}}", parts.join(",")),
            tokens_used: used,
            outgoing_hash: given,
            ..self
        })
    }
}

/// Joins a context's messages and the rest: both are JSON already, at times megabytes, and are not parsed again.
pub(super) fn join_context_json(messages: &str, rest: &str) -> String {
    ["{\"messages\":", messages, ",", &rest[1..]].concat()
}

// Every context is hashed, so the hash has to be cheap: SHA-256 takes sixty times as long. Nobody changes a log so
// that its contexts look the same.
fn hash_messages(messages: &str) -> String {
    hash_bytes(messages.as_bytes())
}

/// Hashes bytes whose equality nobody would forge.
pub(super) fn hash_bytes(bytes: &[u8]) -> String {
    format!("{:016x}", xxh64(bytes, 0))
}

impl ContextRequest {
    // How many tokens redaction adds to texts, at most.
    async fn count_growth(&self, io: &Io, changed: &[(String, String)]) -> Result<u32, Trouble> {
        if changed.is_empty() {
            return Ok(0);
        }
        let texts: Vec<String> =
            changed.iter().flat_map(|(before, after)| [before.clone(), after.clone()]).collect();
        let counts: Vec<u32> = match &self.request.counter {
            Counter::Host(encoding) => count_by_host(io, encoding.clone(), texts)
                .await?
                .into_iter()
                .map(|(_, count)| count)
                .collect(),
            Counter::Core(encoding) => {
                let vocabulary = load_vocabulary(io, encoding.as_str()).await?;
                texts.iter().map(|text| count(text, vocabulary.as_deref()).tokens).collect()
            }
        };
        // Where a text begins and ends next to others, it may have one token more.
        Ok(counts.chunks(2).map(|pair| pair[1].saturating_sub(pair[0]) + 1).sum())
    }
}

impl SessionFiles {
    /// Records what a context asked for now is built from: a request, in `parts`, and a session.
    pub(super) fn recipe(&self, mut parts: Vec<String>) -> Recipe {
        // The report has what their texts cost.
        parts.retain(|part| !part.starts_with("\"system\":") && !part.starts_with("\"tools\":"));
        let events = self.end(LogName::Events);
        self.with_session(|session| {
            let messages = session.log_state().bytes;
            let project = session.metadata().project.as_ref().map(|project| &project.path);
            let (request, project) = (parts.join(","), to_json(&project));
            Recipe(format!(
                "\"request\":{{{request}}},\"messages\":{messages},\"events\":{events},\"project\":{project}"
            ))
        })
    }

    /// Stores a context's report, and on a second line how to build it again, without its texts. A failure of that is
    /// no reason to have no context.
    pub(super) async fn write_report(
        &self,
        io: &Io,
        request: &ContextRequest,
        passed: &OutgoingContext,
    ) -> Result<(), Trouble> {
        let at = to_json(&time::format(io.now_ms()));
        let OutgoingContext {
            rest_json: rest,
            built_hash: made,
            outgoing_hash: given,
            has_own_strategy: is_own,
            ..
        } = passed;
        let (recipe, summary, embeds) =
            (&request.recipe.0, to_json(&passed.summary_id), request.request.embeds);
        let extended = to_json(&passed.extended_frame);
        let report = format!(
            "{{\"at\":{at},{}\n{{{recipe},\"summary\":{summary},\"own\":{is_own},\"embeds\":{embeds},\"extended\":{extended},\"made\":\"{made}\",\"given\":\"{given}\"}}",
            &rest[1..]
        );
        unless_bug(io.replace_lazily(&self.cached_file(CachedKind::Report), report.into_bytes()).await)
            .map(drop)
    }

    /// Builds a context and redacts it. A placeholder may be longer than its secret: tokens over the budget are taken
    /// off the budget of the next attempt.
    pub(super) async fn build_outgoing(
        &self,
        io: &Io,
        request: &ContextRequest,
        source: ContextSource,
    ) -> Result<OutgoingContext, Trouble> {
        if !request.is_outgoing {
            let built = self.build_context(io, request, source, None).await?;
            return Ok(built.to_outgoing(request));
        }
        Box::pin(self.build_redacted(io, request.clone(), source)).await
    }

    async fn build_redacted(
        &self,
        io: &Io,
        mut request: ContextRequest,
        source: ContextSource,
    ) -> Result<OutgoingContext, Trouble> {
        let mut first = None;
        loop {
            let built = self.build_context(io, &request, source.clone(), None).await?;
            let passed = built.to_outgoing(&request);
            let budget = *first.get_or_insert(built.context.token_budget);
            let out = io.redact_outgoing(passed.json.clone()).await?;
            if !request.request.masks_reasoning && built.context.changes_reasoning(out.value.as_deref()) {
                request.request.masks_reasoning = true;
                continue;
            }
            let used = passed.tokens_used + request.count_growth(io, &out.changed).await?;
            if used <= budget {
                return passed.apply_redaction(out, used, budget);
            }
            let reserved = built.context.report.budget.reserve_for_response;
            request.request.reserve = Some(reserved + (used - budget));
        }
    }
}
