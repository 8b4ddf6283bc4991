//! Builds a context from whatever holds the messages: a session's files, or the memory of whoever has read them.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::context::ContextRequest;
use super::stored_summaries::{SummaryRequest, SummaryResponse};
use super::vectors::order_recalled;
use super::{HostRequest, Io, Trouble};
use crate::context::{Build, Context, FrameEnd, Outcome, Recollection, Request, write_context_in_parts};
use crate::error::Code;
use crate::json::fields::{kind_of, parse_items};
use crate::json::request;
use crate::json::text::to_json;
use crate::record::message::Message;
use crate::record::span::Span;
use crate::session::context_source::ContextSource;
use crate::session::input_request::InputRequest;
use crate::shapes::{self, Format};
use crate::tokens::Encoding;

/// Provides a context build with messages and stored summaries.
pub(super) trait InputProvider {
    /// Reads a range of the log; less where there is less.
    async fn bytes(&self, io: &Io, range: Span) -> Result<Vec<u8>, Trouble>;

    /// Finds recalled messages without reading the log, where possible; else tells the build to read it.
    async fn look_up_recalled(&self, io: &Io, build: &mut Build) -> Result<(), Trouble>;

    /// Caches a recollection for the next request with the same question.
    fn cache_recollection(&self, recollection: Option<Recollection>);

    /// Reads a blob; `None` where it is missing.
    async fn blob(&self, io: &Io, id: &str) -> Result<Option<Vec<u8>>, Trouble>;

    /// Finds the wanted summary, where there is one.
    async fn summary(
        &self,
        io: &Io,
        wanted: SummaryRequest,
        request: &ContextRequest,
    ) -> Result<SummaryResponse, Trouble>;
}

/// A context, and what else is reported with it.
pub(super) struct BuiltContext {
    pub context: Context,
    // Counts that the caller's strategy gave, where its messages were accepted.
    strategy_counts: Vec<(&'static str, u64)>,
    summary_refusal: Option<String>,
    // Why recalled messages are ordered by words only.
    vector_refusal: Option<String>,
    pub missing_blobs: u64,
    /// The written summary that it was given.
    pub summary_id: Option<String>,
    /// Why it does not extend the frame that it was given.
    pub frame_end: Option<FrameEnd>,
}

/// Builds a context. Its source does not change any more: appends need not wait for it, nor it for a counter that
/// appends.
pub(super) async fn build_context(
    holder: &impl InputProvider,
    io: &Io,
    request: &ContextRequest,
    source: ContextSource,
) -> Result<BuiltContext, Trouble> {
    let mut build = Build::new(request.request.clone(), source).with_frame(request.frame.clone());
    let mut vocabulary = request.counts.vocabulary();
    let mut strategy_counts = Vec::new();
    let (mut refused, mut unordered, mut missing_blobs, mut summary) = (None, None, 0, None);
    loop {
        match build.next(vocabulary.as_deref())? {
            Outcome::Ready(context) => {
                holder.cache_recollection(build.recollection());
                strategy_counts.retain(|(name, _)| *name == context.strategy);
                let strategy_counts = strategy_counts.into_iter().map(|(_, count)| count).collect();
                return Ok(BuiltContext {
                    context,
                    strategy_counts,
                    summary_refusal: refused,
                    vector_refusal: unordered,
                    missing_blobs,
                    summary_id: summary,
                    frame_end: build.frame_end(),
                });
            }
            Outcome::Needs(InputRequest::Bytes { .. }) if build.pending_question().is_some() => {
                holder.look_up_recalled(io, &mut build).await?;
            }
            Outcome::Needs(InputRequest::Bytes { range }) => {
                let bytes = holder.bytes(io, range).await?;
                build.take_bytes(range.start, &bytes)?;
            }
            Outcome::Needs(InputRequest::Vectors { texts }) => {
                unordered = order_recalled(io, &mut build, texts, request.is_outgoing).await?;
            }
            Outcome::Needs(InputRequest::Blob { id }) => {
                let bytes = holder.blob(io, &id).await?;
                missing_blobs += u64::from(!build.take_blob(&id, bytes.as_deref()));
            }
            Outcome::Needs(InputRequest::Summary { range, least, tokens }) => {
                let SummaryResponse { summary: cached, refusal: why } = holder
                    .summary(io, SummaryRequest { range, min_end_byte: least, tokens }, request)
                    .await?;
                refused = why.or(refused);
                summary = cached.as_ref().map(|cached| cached.id.clone());
                build.take_summary(cached.map(|cached| cached.summary.content));
            }
            Outcome::Needs(InputRequest::Strategy { name, budget }) => {
                let made = run_strategy(io, &name, budget, request.request.counter.as_str()).await?;
                strategy_counts
                    .extend(made.iter().flat_map(|made| made.1.clone()).map(|count| (name.clone(), count)));
                build.take_strategy_result(&name, made.map(|(messages, _)| messages));
            }
            Outcome::Needs(InputRequest::Counts { encoding, texts }) => match Encoding::parse(&encoding) {
                Some(_) => vocabulary = Some(io.vocabulary(&encoding).await?),
                None => build.take_counts(count_by_host(io, encoding, texts).await?),
            },
        }
    }
}

impl BuiltContext {
    /// Renders its messages, and an object of the rest.
    pub(super) fn render_parts(&self, request: &Request) -> (String, String) {
        let (messages, mut json) =
            write_context_in_parts(&self.context, request.shape(), self.context.recipient(request));
        json.pop();
        for (name, count) in &self.strategy_counts {
            json.push_str(&format!(",\"{name}\":{count}"));
        }
        if let Some(refused) = &self.summary_refusal {
            json.push_str(&format!(",\"summaryRefused\":{}", to_json(refused)));
        }
        if let Some(refused) = &self.vector_refusal {
            json.push_str(&format!(",\"embedRefused\":{}", to_json(refused)));
        }
        if self.missing_blobs > 0 {
            json.push_str(&format!(",\"missingBlobs\":{}", self.missing_blobs));
        }
        json.push('}');
        (messages, json)
    }
}

type StrategyResult = Result<(Vec<Message>, Vec<(&'static str, u64)>), String>;

// A strategy that throws is refused with what it threw.
async fn run_strategy(io: &Io, name: &str, budget: u32, encoding: &str) -> Result<StrategyResult, Trouble> {
    let made = match io
        .request_text(HostRequest::Strategy { name: name.into(), budget, encoding: encoding.into() })
        .await
    {
        Ok(made) => made,
        Err(trouble) if trouble.is_bug() => return Err(trouble),
        Err(trouble) => return Ok(Err(format!("it failed: {}", trouble.message()))),
    };
    let mut fields = request::parse_object(&made)?;
    let messages = fields.take_raw("messages").unwrap_or("undefined");
    if !messages.starts_with('[') {
        return Ok(Err(format!("it failed: expected an array of messages, but found {messages} instead")));
    }
    let count_keys =
        [("includedCount", "includedMessageCount"), ("summarizedCount", "summarizedMessageCount")];
    let counts =
        count_keys.iter().filter_map(|(key, field)| Some((*field, fields.raw(key)?.parse().ok()?))).collect();
    Ok(shapes::read(messages, Format::Leftoff)
        .map(|messages| (messages, counts))
        .map_err(|error| error.message))
}

pub(super) async fn count_by_host(
    io: &Io,
    encoding: String,
    texts: Vec<String>,
) -> Result<Vec<(String, u32)>, Trouble> {
    let made = io.request_text(HostRequest::Counts { encoding, texts: texts.clone() }).await?;
    let wrong = |found: String| {
        let expected = texts.len();
        let message = format!("expected {expected} counts from \"count\", but found {found} instead");
        Trouble::new(Code::InvalidRequest, message)
    };
    let counts = parse_items(&made).ok_or_else(|| wrong(kind_of(&made).into()))?;
    if counts.len() != texts.len() {
        return Err(wrong(counts.len().to_string()));
    }
    let number = |raw: &&str| raw.parse::<u32>().map_err(|_| wrong(format!("{raw} among them")));
    let counts = counts.iter().map(number).collect::<Result<Vec<_>, _>>()?;
    Ok(texts.iter().cloned().zip(counts).collect())
}
