//! Contexts within operations: the build says what it needs, and gets it, until it is ready.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::append::Counts;
use super::live::Live;
use super::logs::LogName;
use super::pages::refuse_bad;
use super::passed::Recipe;
use super::summary::{Wanted, Written};
use super::{Io, Need, Operation, Trouble, Work};
use crate::context::{Build, Context, Outcome, Request, extract, write_apart};
use crate::error::Code;
use crate::json::fields::{Fields, items, kind_of};
use crate::json::text::to_json;
use crate::layout::names::Kept as Cached;
use crate::record::scan::records;
use crate::record::{message, message::Message};
use crate::session::needs::Needs;
use crate::session::source::{Compacted, Source};
use crate::shapes::{self, Format};
use crate::tokens::{Encoding, Vocabulary, count};

/// What a caller asks a context for.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub request: Request,
    /// A model writes summaries.
    pub summarizes: bool,
    /// The host is asked how it may leave.
    pub leaves: bool,
    /// The window that the caller said.
    pub window: Option<u32>,
    /// Who counts what is stored.
    pub counts: Counts,
    /// What is kept of it, so that the same can be built again.
    pub recipe: Recipe,
    /// The summary that stands in it, where it is built again.
    pub summary: Option<String>,
}

impl Asked {
    /// Without what a caller does for it.
    pub fn plain(&self) -> Asked {
        let request = Request { strategies: Vec::new(), recall: 0, ..self.request.clone() };
        Asked { request, summarizes: false, ..self.clone() }
    }
}

/// A context, and what else is to be said of it.
pub(super) struct Built {
    pub context: Context,
    // What the caller's strategy said of itself, where its messages were taken.
    told: Vec<(&'static str, u64)>,
    refused: Option<String>,
    pub missing_blobs: u64,
    /// Which summary it was given that somebody wrote.
    pub summary: Option<String>,
}

impl Live {
    /// What a model call gets: `{"request","summarizes","leaves"}`, JSON, where `request` is as [`Request::from_json`] reads it.
    /// Answer: as [`write_context`](crate::context::write_context) writes it, with `summaryRefused` and `missingBlobs` where there are such.
    pub fn context(self: &Rc<Live>, asked: String, counts: Counts) -> Operation<'static, String> {
        let live = self.clone();
        Operation::new(|io| async move {
            let (asked, source) = live.learned_request(&io, &asked, &counts).await?;
            let passed = live.passed(&io, &asked, source).await?;
            live.keep_report(&io, &asked, &passed).await?;
            Ok(passed.json)
        })
    }

    /// What the last context was made of, without its texts. Answer: JSON, null where none was built, or what is kept of it is not
    /// as it was written.
    pub fn last_context(self: &Rc<Live>) -> Operation<'static, String> {
        let live = self.clone();
        Operation::new(|io| async move {
            Ok(live.kept_report(&io).await?.map_or_else(|| "null".into(), |(report, _)| report))
        })
    }

    /// A report and the recipe behind it, where they are as they were written.
    pub(super) async fn kept_report(&self, io: &Io) -> Result<Option<(String, String)>, Trouble> {
        self.refuse_if_deleted()?;
        let kept = io.read_all(&self.cached(Cached::Report)).await?.unwrap_or_default();
        let Ok(kept) = String::from_utf8(kept) else { return Ok(None) };
        let (report, recipe) = kept.split_once('\n').unwrap_or((&kept, ""));
        Ok(Fields::check(report).is_ok().then(|| (report.into(), recipe.into())))
    }

    /// What the conversation has come to. Answer: JSON.
    pub fn state(self: &Rc<Live>) -> Operation<'static, String> {
        let live = self.clone();
        Operation::new(|io| async move {
            let source = live.learned_source(&io).await?;
            Ok(to_json(&source.state.shown(&source.project)))
        })
    }

    /// What the conversation has come to and its pinned messages, as a text: `{"maxTokens","encoding"}`, JSON. Answer: the
    /// text; empty where nothing is known.
    pub fn brief(self: &Rc<Live>, asked: String) -> Operation<'static, String> {
        let live = self.clone();
        Operation::new(|io| async move {
            let bad = &mut Vec::new();
            let mut fields = object(&asked)?;
            let tokens = most_tokens(&mut fields)?;
            let encoding: Option<String> = fields.take("encoding", bad);
            refuse_bad(bad)?;
            let encoding = encoding.unwrap_or_else(|| Encoding::O200kBase.as_str().into());
            let source = live.learned_source(&io).await?;
            let vocabulary = named_vocabulary(&io, &encoding).await?;
            let pins = live.pinned(&io, &source).await?;
            let pins: Vec<String> = pins.into_iter().map(|pin| pin.content.as_str().into()).collect();
            let cost = |text: &str| count(text, vocabulary.as_deref()).tokens;
            Ok(extract(source.known(&pins), tokens, &cost))
        })
    }

    /// The messages that are in every context. Answer: a JSON array of their ids.
    pub fn pins(self: &Rc<Live>) -> Operation<'static, String> {
        let live = self.clone();
        Operation::new(|io| async move {
            let caught_up = || async {
                live.caught_up(&io).await?;
                Ok(live.with(|session| session.source()))
            };
            let source = live.in_turn(&io, &|| Box::pin(caught_up())).await?;
            let pins = live.pinned(&io, &source).await?;
            Ok(to_json(&pins.into_iter().map(|pin| pin.id).collect::<Vec<_>>()))
        })
    }

    /// Does something while no other operation of this process has the session, and again where it lies by then. What is
    /// known of the session is looked at in it: afterwards another operation may have begun to read all anew.
    pub(super) async fn in_turn<'a, T>(&self, io: &Io, work: &dyn Fn() -> Work<'a, T>) -> Result<T, Trouble> {
        io.turn().await?;
        let done = self.here(io, work).await?;
        io.leave();
        Ok(done)
    }

    /// What a context is built from, of the session as it is now.
    pub(super) async fn learned_source(&self, io: &Io) -> Result<Source, Trouble> {
        let learned = || async {
            self.learned(io).await?;
            Ok(self.with(|session| session.source()))
        };
        self.in_turn(io, &|| Box::pin(learned())).await
    }

    /// The same, and the request of a caller.
    pub(super) async fn learned_request(
        &self,
        io: &Io,
        asked: &str,
        counts: &Counts,
    ) -> Result<(Asked, Source), Trouble> {
        let learned = || async {
            self.learned(io).await?;
            Ok((self.asked(asked, counts)?, self.with(|session| session.source())))
        };
        self.in_turn(io, &|| Box::pin(learned())).await
    }

    /// The request of a caller; where it says neither window nor model, the session's own hold.
    pub(super) fn asked(&self, asked: &str, counts: &Counts) -> Result<Asked, Trouble> {
        let bad = &mut Vec::new();
        let mut asked = object(asked)?;
        let summarizes = asked.take("summarizes", bad).unwrap_or_default();
        let leaves = asked.take("leaves", bad).unwrap_or_default();
        refuse_bad(bad)?;
        let json = asked.take_raw("request").unwrap_or("{}");
        let fields = object(json)?;
        let window = fields.raw("window").and_then(|window| window.parse().ok());
        let given = fields.named().filter(|(key, _)| !matches!(*key, "recorded" | "summaries"));
        let mut parts: Vec<String> = given.map(|(key, value)| format!("{}:{value}", to_json(key))).collect();
        let agent = self.with(|session| session.metadata().agent.clone());
        let model = agent
            .model
            .filter(|model| !model.is_empty())
            .map(|model| format!("\"model\":{}", to_json(&model)));
        let recorded =
            agent.context_window.filter(|window| *window > 0).map(|window| format!("\"window\":{window}"));
        let recorded: Vec<String> = model.into_iter().chain(recorded).collect();
        parts.push(format!("\"recorded\":{{{}}},\"summaries\":true", recorded.join(",")));
        let json = format!("{{{}}}", parts.join(","));
        let request = Request::from_json(&json)?;
        let recipe = self.recipe(parts);
        Ok(Asked { request, summarizes, leaves, window, counts: counts.clone(), recipe, summary: None })
    }

    /// A context of what is known of the session; as if it had been compacted through that message, where one is given. What
    /// it is built from does not change any more: appends need not wait for it, nor it for a counter that appends.
    pub(super) async fn built(
        &self,
        io: &Io,
        asked: &Asked,
        mut source: Source,
        through: Option<&str>,
    ) -> Result<Built, Trouble> {
        let through = through.map(|through| Compacted { through: through.into(), ..Compacted::default() });
        source.compacted = through.or(source.compacted);
        let mut build = Build::new(asked.request.clone(), source);
        let mut vocabulary = asked.counts.vocabulary();
        let mut told = Vec::new();
        let (mut refused, mut missing_blobs, mut summary) = (None, 0, None);
        loop {
            match build.next(vocabulary.as_deref())? {
                Outcome::Ready(context) => {
                    told.retain(|(name, _)| *name == context.strategy);
                    let told = told.into_iter().map(|(_, count)| count).collect();
                    return Ok(Built { context, told, refused, missing_blobs, summary });
                }
                Outcome::Needs(Needs::Bytes { range }) => {
                    let bytes =
                        io.read_range(&self.log_file(LogName::Messages), range.start, range.end).await?;
                    build.bytes(range.start, &bytes)?;
                }
                Outcome::Needs(Needs::Blob { id }) => {
                    let bytes = self.blob(io, &id).await?;
                    missing_blobs += u64::from(!build.blob(&id, bytes.as_deref()));
                }
                Outcome::Needs(Needs::Summary { range, least, tokens }) => {
                    let Written { cached, refused: why } =
                        self.summary(io, Wanted { range, least, tokens }, asked).await?;
                    refused = why.or(refused);
                    summary = cached.as_ref().map(|cached| cached.id.clone());
                    build.written(cached.map(|cached| cached.summary.content));
                }
                Outcome::Needs(Needs::Strategy { name, budget }) => {
                    let made = strategy(io, &name, budget, asked.request.counter.as_str()).await?;
                    told.extend(
                        made.iter().flat_map(|made| made.1.clone()).map(|count| (name.clone(), count)),
                    );
                    build.offer(&name, made.map(|(messages, _)| messages));
                }
                Outcome::Needs(Needs::Counts { encoding, texts }) => match Encoding::parse(&encoding) {
                    Some(_) => vocabulary = Some(io.vocabulary(&encoding).await?),
                    None => build.counts(counted(io, encoding, texts).await?),
                },
            }
        }
    }

    async fn pinned(&self, io: &Io, source: &Source) -> Result<Vec<Message>, Trouble> {
        let mut pinned = Vec::new();
        for span in &source.pins {
            let line = io.read_range(&self.log_file(LogName::Messages), span.start, span.end).await?;
            pinned.extend(records(&line).filter_map(|record| message::read(&record).0));
        }
        Ok(pinned)
    }
}

impl Counts {
    /// Who counts exactly.
    pub(super) fn vocabulary(&self) -> Option<Rc<Vocabulary>> {
        match self {
            Counts::Exact(vocabulary) => Some(vocabulary.clone()),
            Counts::Estimate | Counts::Off => None,
        }
    }
}

impl Built {
    /// Its messages, and an object of the rest.
    pub(super) fn write(&self, shape: Option<Format>) -> (String, String) {
        let (messages, mut json) = write_apart(&self.context, shape);
        json.pop();
        for (name, count) in &self.told {
            json.push_str(&format!(",\"{name}\":{count}"));
        }
        if let Some(refused) = &self.refused {
            json.push_str(&format!(",\"summaryRefused\":{}", to_json(refused)));
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
    let mut fields = object(&made)?;
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

pub(super) async fn named_vocabulary(io: &Io, encoding: &str) -> Result<Option<Rc<Vocabulary>>, Trouble> {
    match Encoding::parse(encoding) {
        Some(Encoding::Estimate1) => Ok(None),
        Some(known) => Ok(Some(io.vocabulary(known.as_str()).await?)),
        None => {
            let message = format!(
                "expected the encoding \"o200k_base\", \"cl100k_base\" or \"estimate-1\", but found \"{encoding}\" instead"
            );
            Err(Trouble::refused(Code::NoCounter, message))
        }
    }
}

/// What is asked for, as its fields.
pub(super) fn object(json: &str) -> Result<Fields<'_>, Trouble> {
    Fields::parse(json).map_err(|found| {
        Trouble::refused(
            Code::InvalidRequest,
            format!("expected a request object, but found {found} instead"),
        )
    })
}

/// How many tokens a text may have.
pub(super) fn most_tokens(fields: &mut Fields<'_>) -> Result<u32, Trouble> {
    let raw = fields.take_raw("maxTokens").unwrap_or("nothing");
    raw.parse().map_err(|_| {
        let message = format!("expected a whole number of tokens for \"maxTokens\", but found {raw} instead");
        Trouble::refused(Code::InvalidRequest, message)
    })
}
