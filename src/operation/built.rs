//! A context, built of what holds the messages: a session's files, or the memory of whoever has read them.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::context::Asked;
use super::summary::{Wanted, Written};
use super::vectors::ordered;
use super::{Io, Need, Trouble};
use crate::context::{Build, Context, Outcome, Recollection, Request, write_apart};
use crate::error::Code;
use crate::json::fields::{items, kind_of};
use crate::json::request;
use crate::json::text::to_json;
use crate::record::message::Message;
use crate::record::span::Span;
use crate::session::needs::Needs;
use crate::session::source::Source;
use crate::shapes::{self, Format};
use crate::tokens::Encoding;

/// What holds the messages that a context is built of, and what somebody wrote of them.
pub(super) trait Holder {
    /// A part of their log; less where there is less.
    async fn bytes(&self, io: &Io, range: Span) -> Result<Vec<u8>, Trouble>;

    /// Has what a context recalls found without reading the log, where somebody knows it; else that is said.
    async fn looked_up(&self, io: &Io, build: &mut Build) -> Result<(), Trouble>;

    /// Keeps what was recalled for whoever asks the same again.
    fn recalls(&self, recollection: Option<Recollection>);

    /// The bytes of a blob; nothing where it is not there.
    async fn blob(&self, io: &Io, id: &str) -> Result<Option<Vec<u8>>, Trouble>;

    /// The summary that is wanted, where there is one.
    async fn summary(&self, io: &Io, wanted: Wanted, asked: &Asked) -> Result<Written, Trouble>;
}

/// A context, and what else is to be said of it.
pub(super) struct Built {
    pub context: Context,
    // What the caller's strategy said of itself, where its messages were taken.
    told: Vec<(&'static str, u64)>,
    refused: Option<String>,
    // Why what is recalled stands in the order of its words.
    unordered: Option<String>,
    pub missing_blobs: u64,
    /// Which summary it was given that somebody wrote.
    pub summary: Option<String>,
}

/// A context of what is known. What it is built from does not change any more: appends need not wait for it, nor it for a
/// counter that appends.
pub(super) async fn built(
    holder: &impl Holder,
    io: &Io,
    asked: &Asked,
    source: Source,
) -> Result<Built, Trouble> {
    let mut build = Build::new(asked.request.clone(), source);
    let mut vocabulary = asked.counts.vocabulary();
    let mut told = Vec::new();
    let (mut refused, mut unordered, mut missing_blobs, mut summary) = (None, None, 0, None);
    loop {
        match build.next(vocabulary.as_deref())? {
            Outcome::Ready(context) => {
                holder.recalls(build.recollection());
                told.retain(|(name, _)| *name == context.strategy);
                let told = told.into_iter().map(|(_, count)| count).collect();
                return Ok(Built { context, told, refused, unordered, missing_blobs, summary });
            }
            Outcome::Needs(Needs::Bytes { .. }) if build.asked().is_some() => {
                holder.looked_up(io, &mut build).await?;
            }
            Outcome::Needs(Needs::Bytes { range }) => {
                let bytes = holder.bytes(io, range).await?;
                build.bytes(range.start, &bytes)?;
            }
            Outcome::Needs(Needs::Vectors { texts }) => {
                unordered = ordered(io, &mut build, texts, asked.leaves).await?;
            }
            Outcome::Needs(Needs::Blob { id }) => {
                let bytes = holder.blob(io, &id).await?;
                missing_blobs += u64::from(!build.blob(&id, bytes.as_deref()));
            }
            Outcome::Needs(Needs::Summary { range, least, tokens }) => {
                let Written { cached, refused: why } =
                    holder.summary(io, Wanted { range, least, tokens }, asked).await?;
                refused = why.or(refused);
                summary = cached.as_ref().map(|cached| cached.id.clone());
                build.written(cached.map(|cached| cached.summary.content));
            }
            Outcome::Needs(Needs::Strategy { name, budget }) => {
                let made = strategy(io, &name, budget, asked.request.counter.as_str()).await?;
                told.extend(made.iter().flat_map(|made| made.1.clone()).map(|count| (name.clone(), count)));
                build.offer(&name, made.map(|(messages, _)| messages));
            }
            Outcome::Needs(Needs::Counts { encoding, texts }) => match Encoding::parse(&encoding) {
                Some(_) => vocabulary = Some(io.vocabulary(&encoding).await?),
                None => build.counts(counted(io, encoding, texts).await?),
            },
        }
    }
}

impl Built {
    /// Its messages, and an object of the rest.
    pub(super) fn write(&self, request: &Request) -> (String, String) {
        let (messages, mut json) = write_apart(&self.context, request.shape(), request.recipient());
        json.pop();
        for (name, count) in &self.told {
            json.push_str(&format!(",\"{name}\":{count}"));
        }
        if let Some(refused) = &self.refused {
            json.push_str(&format!(",\"summaryRefused\":{}", to_json(refused)));
        }
        if let Some(refused) = &self.unordered {
            json.push_str(&format!(",\"embedRefused\":{}", to_json(refused)));
        }
        if self.missing_blobs > 0 {
            json.push_str(&format!(",\"missingBlobs\":{}", self.missing_blobs));
        }
        json.push('}');
        (messages, json)
    }
}

type Made = Result<(Vec<Message>, Vec<(&'static str, u64)>), String>;

// What a strategy throws is why it is not taken.
async fn strategy(io: &Io, name: &str, budget: u32, encoding: &str) -> Result<Made, Trouble> {
    let made = match io.made(Need::Strategy { name: name.into(), budget, encoding: encoding.into() }).await {
        Ok(made) => made,
        Err(trouble) if trouble.is_bug() => return Err(trouble),
        Err(trouble) => return Ok(Err(format!("it failed: {}", trouble.message()))),
    };
    let mut fields = request::object(&made)?;
    let messages = fields.take_raw("messages").unwrap_or("undefined");
    if !messages.starts_with('[') {
        return Ok(Err(format!("it failed: expected an array of messages, but found {messages} instead")));
    }
    let said = [("includedCount", "includedMessageCount"), ("summarizedCount", "summarizedMessageCount")];
    let counts =
        said.iter().filter_map(|(key, told)| Some((*told, fields.raw(key)?.parse().ok()?))).collect();
    Ok(shapes::read(messages, Format::Leftoff)
        .map(|messages| (messages, counts))
        .map_err(|error| error.message))
}

pub(super) async fn counted(
    io: &Io,
    encoding: String,
    texts: Vec<String>,
) -> Result<Vec<(String, u32)>, Trouble> {
    let made = io.made(Need::Counts { encoding, texts: texts.clone() }).await?;
    let wrong = |found: String| {
        let expected = texts.len();
        let message = format!("expected {expected} counts from \"count\", but found {found} instead");
        Trouble::refused(Code::InvalidRequest, message)
    };
    let counts = items(&made).ok_or_else(|| wrong(kind_of(&made).into()))?;
    if counts.len() != texts.len() {
        return Err(wrong(counts.len().to_string()));
    }
    let number = |raw: &&str| raw.parse::<u32>().map_err(|_| wrong(format!("{raw} among them")));
    let counts = counts.iter().map(number).collect::<Result<Vec<_>, _>>()?;
    Ok(texts.iter().cloned().zip(counts).collect())
}
