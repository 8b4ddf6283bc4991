//! Contexts on their way out.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use xxhash_rust::xxh64::xxh64;

use super::built::{Built, counted};
use super::context::{Asked, named_vocabulary};
use super::live::Live;
use super::logs::LogName;
use super::{Io, Trouble, unless_bug};
use crate::context::Counter;
use crate::json::fields::items;
use crate::json::request;
use crate::json::text::to_json;
use crate::layout::names::Kept;
use crate::session::source::Source;
use crate::time;
use crate::tokens::count;

/// A context as it may leave.
pub(super) struct Passed {
    /// As callers get it.
    pub json: String,
    /// The same without its messages.
    rest: String,
    pub tokens_used: u32,
    /// By what its messages are known, as they were built and as they leave.
    pub made: String,
    pub given: String,
    /// A strategy of the caller's chose them.
    is_own: bool,
    /// Which summary it was given that somebody wrote.
    pub summary: Option<String>,
    /// How many messages of the path it leaves out.
    pub left_out: u64,
    pub missing_blobs: u64,
}

/// What it takes to build a context again, beside its report: fields of JSON, which have no text of the conversation.
#[derive(Clone, Debug, Default)]
pub(super) struct Recipe(String);

/// A value as it may leave, of which the host said so.
#[derive(Debug, Default)]
pub(crate) struct Out {
    /// JSON; nothing where it is the same.
    pub value: Option<String>,
    /// What was found in it, a JSON array.
    secrets: String,
    /// The texts that are others now, before and after.
    changed: Vec<(String, String)>,
}

impl Out {
    /// Reads `{"value","secrets","changed"}`.
    pub fn from_json(json: &str) -> Result<Out, Trouble> {
        let (mut fields, bad) = (request::object(json)?, &mut Vec::new());
        let changed = fields.take::<Vec<Vec<String>>>("changed", bad).unwrap_or_default();
        let pair =
            |pair: Vec<String>| <[String; 2]>::try_from(pair).ok().map(|[before, after]| (before, after));
        Ok(Out {
            value: fields.take_raw("value").map(String::from),
            secrets: fields.take_raw("secrets").unwrap_or("[]").into(),
            changed: changed.into_iter().filter_map(pair).collect(),
        })
    }
}

impl Built {
    fn passed(&self, asked: &Asked) -> Passed {
        let context = &self.context;
        let (messages, rest) = self.write(&asked.request);
        let made = known_by(&messages);
        Passed {
            json: whole(&messages, &rest),
            rest,
            tokens_used: context.tokens_used,
            given: made.clone(),
            made,
            is_own: asked.request.strategies.iter().any(|own| own.name == context.strategy),
            summary: self.summary.clone(),
            left_out: context.original_message_count.saturating_sub(context.included_message_count),
            missing_blobs: self.missing_blobs,
        }
    }
}

impl Passed {
    fn with(self, out: Out, used: u32, budget: u32) -> Result<Passed, Trouble> {
        let json = out.value.unwrap_or(self.json);
        let fields = request::object(&json)?;
        let given = known_by(fields.raw("messages").unwrap_or_default());
        let mut parts: Vec<String> = fields
            .iter()
            .map(|(key, value)| match key {
                "\"tokensUsed\"" => format!("{key}:{used}"),
                "\"tokenBudget\"" => format!("{key}:{budget}"),
                _ => format!("{key}:{value}"),
            })
            .collect();
        if items(&out.secrets).is_some_and(|secrets| !secrets.is_empty()) {
            parts.push(format!("\"secrets\":{}", out.secrets));
        }
        let json = format!("{{{}}}", parts.join(","));
        parts.retain(|part| !part.starts_with("\"messages\":"));
        Ok(Passed { json, rest: format!("{{{}}}", parts.join(",")), tokens_used: used, given, ..self })
    }
}

/// A context as callers get it, of its messages and the rest: they are JSON already, of megabytes at times, and not read again.
pub(super) fn whole(messages: &str, rest: &str) -> String {
    ["{\"messages\":", messages, ",", &rest[1..]].concat()
}

// Of each context there is one, so it has to be cheap: SHA-256 takes sixty times as long. Nobody changes a log so that its
// contexts look the same.
fn known_by(messages: &str) -> String {
    format!("{:016x}", xxh64(messages.as_bytes(), 0))
}

impl Asked {
    // How many tokens texts have more than those they stand for, at most.
    async fn grown_by(&self, io: &Io, changed: &[(String, String)]) -> Result<u32, Trouble> {
        if changed.is_empty() {
            return Ok(0);
        }
        let texts: Vec<String> =
            changed.iter().flat_map(|(before, after)| [before.clone(), after.clone()]).collect();
        let counts: Vec<u32> = match &self.request.counter {
            Counter::Host(encoding) => {
                counted(io, encoding.clone(), texts).await?.into_iter().map(|(_, count)| count).collect()
            }
            Counter::Core(encoding) => {
                let vocabulary = named_vocabulary(io, encoding.as_str()).await?;
                texts.iter().map(|text| count(text, vocabulary.as_deref()).tokens).collect()
            }
        };
        // Where a text begins and ends beside others, it may have one more.
        Ok(counts.chunks(2).map(|pair| pair[1].saturating_sub(pair[0]) + 1).sum())
    }
}

impl Live {
    /// What a context is built from that is asked for now: a request, in `parts`, and a session.
    pub(super) fn recipe(&self, mut parts: Vec<String>) -> Recipe {
        // What their texts cost the report says.
        parts.retain(|part| !part.starts_with("\"system\":") && !part.starts_with("\"tools\":"));
        let events = self.end(LogName::Events);
        self.with(|session| {
            let messages = session.known().bytes;
            let project = session.metadata().project.as_ref().map(|project| &project.path);
            let (request, project) = (parts.join(","), to_json(&project));
            Recipe(format!(
                "\"request\":{{{request}}},\"messages\":{messages},\"events\":{events},\"project\":{project}"
            ))
        })
    }

    /// Keeps what a context was made of, without its texts, for whoever asks later: a report, and on a second line how to build
    /// it again. That it cannot is no reason to have no context.
    pub(super) async fn keep_report(&self, io: &Io, asked: &Asked, passed: &Passed) -> Result<(), Trouble> {
        let at = to_json(&time::format(io.now_ms()));
        let Passed { rest, made, given, is_own, .. } = passed;
        let (recipe, summary, embeds) = (&asked.recipe.0, to_json(&passed.summary), asked.request.embeds);
        let report = format!(
            "{{\"at\":{at},{}\n{{{recipe},\"summary\":{summary},\"own\":{is_own},\"embeds\":{embeds},\"made\":\"{made}\",\"given\":\"{given}\"}}",
            &rest[1..]
        );
        unless_bug(io.keep(&self.cached(Kept::Report), report.into_bytes()).await).map(drop)
    }

    /// A context as it may leave. A placeholder may be longer than what it stands for: what is over the budget then is taken
    /// from the next try.
    pub(super) async fn passed(&self, io: &Io, asked: &Asked, source: Source) -> Result<Passed, Trouble> {
        if !asked.leaves {
            let built = self.built(io, asked, source, None).await?;
            return Ok(built.passed(asked));
        }
        Box::pin(self.passed_out(io, asked.clone(), source)).await
    }

    async fn passed_out(&self, io: &Io, mut asked: Asked, source: Source) -> Result<Passed, Trouble> {
        let mut first = None;
        loop {
            let built = self.built(io, &asked, source.clone(), None).await?;
            let passed = built.passed(&asked);
            let budget = *first.get_or_insert(built.context.token_budget);
            let out = io.out(passed.json.clone()).await?;
            if !asked.request.masks_reasoning && built.context.changes_reasoning(out.value.as_deref()) {
                asked.request.masks_reasoning = true;
                continue;
            }
            let used = passed.tokens_used + asked.grown_by(io, &out.changed).await?;
            if used <= budget {
                return passed.with(out, used, budget);
            }
            let reserved = built.context.report.budget.reserve_for_response;
            asked.request.reserve = Some(reserved + (used - budget));
        }
    }
}
