//! Builds contexts within operations: the build asks for inputs, and gets them, until it is complete.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::append::CountingMode;
use super::context_build::{BuiltContext, InputProvider, build_context};
use super::logs::LogName;
use super::outgoing_context::Recipe;
use super::session_files::SessionFiles;
use super::stored_summaries::{SummaryRequest, SummaryResponse};
use super::{Io, Operation, Trouble, Work, unless_other, vectors};
use crate::context::{Build, Frame, Recollection, Request, extract_summary};
use crate::error::Code;
use crate::json::fields::Fields;
use crate::json::request;
use crate::json::text::to_json;
use crate::layout::names::CachedKind as Cached;
use crate::record::scan::records;
use crate::record::span::Span;
use crate::record::{message, message::Message};
use crate::session::context_source::{CompactionPoint, ContextSource};
use crate::tokens::{Encoding, Vocabulary, count};

/// Length of a brief in tokens, unless given.
const BRIEF_TOKENS: u32 = 2000;

/// A caller's request for a context.
#[derive(Clone, Debug)]
pub(super) struct ContextRequest {
    pub request: Request,
    /// A model writes summaries.
    pub summarizes: bool,
    /// The host redacts the context.
    pub is_outgoing: bool,
    /// The window that the caller gave.
    pub window: Option<u32>,
    /// How stored messages are counted.
    pub counts: CountingMode,
    /// What is stored of the request, so that the same context can be built again.
    pub recipe: Recipe,
    /// The summary to use, when a context is rebuilt.
    pub summary_id: Option<String>,
    /// The frame to extend.
    pub frame: Option<Frame>,
}

impl ContextRequest {
    /// Reads a caller's request; where it gives neither model nor window, the known ones hold. With `is_framed`, a
    /// frame is wanted unless the request says otherwise. Returns the fields of its `request`, too.
    pub fn parse(
        given: &str,
        model: Option<String>,
        window: Option<u64>,
        counts: &CountingMode,
        is_framed: bool,
    ) -> Result<(ContextRequest, Vec<String>), Trouble> {
        let bad = &mut Vec::new();
        let mut given = request::parse_object(given)?;
        let summarizes = given.take("summarizes", bad).unwrap_or_default();
        let leaves = given.take("leaves", bad).unwrap_or_default();
        let embeds = given.take("embeds", bad).unwrap_or_default();
        request::reject_bad(bad)?;
        let fields = request::parse_object(given.take_raw("request").unwrap_or("{}"))?;
        let own_window = fields.raw("window").and_then(|window| window.parse().ok());
        if let Some(own) = ["recorded", "summaries"].into_iter().find(|own| fields.has(own)) {
            let message =
                format!("expected what a context is asked for, but found \"{own}\", which the session says");
            return Err(request::error(message).into());
        }
        let mut parts: Vec<String> =
            fields.decoded_entries().map(|(key, value)| format!("{}:{value}", to_json(key))).collect();
        if is_framed && !fields.has("frame") {
            parts.push("\"frame\":true".into());
        }
        let model = model.filter(|model| !model.is_empty());
        let model = model.map(|model| format!("\"model\":{}", to_json(&model)));
        let window = window.filter(|window| *window > 0).map(|window| format!("\"window\":{window}"));
        let recorded: Vec<String> = model.into_iter().chain(window).collect();
        parts.push(format!("\"recorded\":{{{}}},\"summaries\":true", recorded.join(",")));
        let request = Request::from_json(&format!("{{{}}}", parts.join(",")))?;
        let request = Request { embeds, ..request };
        let (counts, recipe) = (counts.clone(), Recipe::default());
        Ok((
            ContextRequest {
                request,
                summarizes,
                is_outgoing: leaves,
                window: own_window,
                counts,
                recipe,
                summary_id: None,
                frame: None,
            },
            parts,
        ))
    }

    /// The request without what only its caller can do for it.
    pub fn without_host_parts(&self) -> ContextRequest {
        let request = Request { strategies: Vec::new(), recall: 0, ..self.request.clone() };
        ContextRequest { request, summarizes: false, ..self.clone() }
    }
}

impl SessionFiles {
    /// Builds what a model call gets: `{"request","summarizes","embeds","leaves"}`, JSON, where `request` is as
    /// [`Request::from_json`] reads it. Returns what [`write_context`](crate::context::write_context) writes, with
    /// `summaryRefused`, `embedRefused` and `missingBlobs` where there are such.
    pub fn context(
        self: &Rc<SessionFiles>,
        request: String,
        counts: CountingMode,
    ) -> Operation<'static, String> {
        let files = self.clone();
        Operation::new(|io| async move {
            request::parse(&request, "request, summarizes, embeds or leaves")?;
            let (request, source) = files.current_request(&io, &request, &counts, true).await?;
            let passed = files.build_framed(&io, &request, source).await?;
            files.write_report(&io, &request, &passed).await?;
            Ok(passed.json)
        })
    }

    /// Reads the report of the last context, without its texts. Returns JSON, null where none was built, or where the
    /// stored report is damaged.
    pub fn last_context(self: &Rc<SessionFiles>) -> Operation<'static, String> {
        let files = self.clone();
        Operation::new(|io| async move {
            Ok(files.read_report(&io).await?.map_or_else(|| "null".into(), |(report, _)| report))
        })
    }

    /// Reads a stored report and its recipe, if undamaged.
    pub(super) async fn read_report(&self, io: &Io) -> Result<Option<(String, String)>, Trouble> {
        self.reject_if_deleted()?;
        let kept = unless_other(io.read_all(&self.cached_file(Cached::Report)).await)?.unwrap_or_default();
        let Ok(kept) = String::from_utf8(kept) else { return Ok(None) };
        let (report, recipe) = kept.split_once('\n').unwrap_or((&kept, ""));
        Ok(Fields::check(report).is_ok().then(|| (report.into(), recipe.into())))
    }

    /// Returns the session state as JSON.
    pub fn state(self: &Rc<SessionFiles>) -> Operation<'static, String> {
        let files = self.clone();
        Operation::new(|io| async move {
            let source = files.current_source(&io).await?;
            Ok(to_json(&source.state.to_session_state(&source.project)))
        })
    }

    /// Renders the session state and the pinned messages as a text: `{"maxTokens","encoding"}`, JSON; 2,000 tokens of
    /// o200k_base unless given. Returns the text; empty where nothing is known.
    pub fn brief(self: &Rc<SessionFiles>, request: String) -> Operation<'static, String> {
        let files = self.clone();
        Operation::new(|io| async move {
            let bad = &mut Vec::new();
            let mut fields = request::parse(&request, "maxTokens, encoding or leaves")?;
            let is_said = fields.has("maxTokens");
            let tokens = if is_said { parse_max_tokens(&mut fields)? } else { BRIEF_TOKENS };
            let encoding: Option<String> = fields.take("encoding", bad);
            let leaves = fields.take("leaves", bad).unwrap_or_default();
            request::reject_bad(bad)?;
            let encoding = encoding.unwrap_or_else(|| Encoding::O200kBase.as_str().into());
            let source = files.current_source(&io).await?;
            let vocabulary = load_vocabulary(&io, &encoding).await?;
            let pins = files.read_pinned_messages(&io, &source).await?;
            let pins: Vec<String> = pins.into_iter().map(|pin| pin.content.as_str().into()).collect();
            let cost = |text: &str| count(text, vocabulary.as_deref()).tokens;
            fit_outgoing_text(
                &io,
                leaves,
                tokens,
                &|room| extract_summary(source.summary_input(&pins), room, &cost),
                &cost,
            )
            .await
        })
    }

    /// Lists the messages that are in every context. Returns a JSON array of their ids.
    pub fn pins(self: &Rc<SessionFiles>) -> Operation<'static, String> {
        let files = self.clone();
        Operation::new(|io| async move {
            let caught_up = || async {
                files.observe_logs(&io).await?;
                Ok(files.with_session(|session| session.source()))
            };
            let source = files.run_in_turn(&io, &|| Box::pin(caught_up())).await?;
            let pins = files.read_pinned_messages(&io, &source).await?;
            Ok(to_json(&pins.into_iter().map(|pin| pin.id).collect::<Vec<_>>()))
        })
    }

    /// Does work in the session's turn, and again where the session lies after a move. The session's state must be
    /// read inside: afterwards another operation may have begun to read all anew.
    pub(super) async fn run_in_turn<'a, T>(
        &self,
        io: &Io,
        work: &dyn Fn() -> Work<'a, T>,
    ) -> Result<T, Trouble> {
        io.take_turn().await?;
        let done = self.retry_after_move(io, work).await?;
        io.end_turn();
        Ok(done)
    }

    /// Returns the source that a context of the session as it is now is built from.
    pub(super) async fn current_source(&self, io: &Io) -> Result<ContextSource, Trouble> {
        let learned = || async {
            self.observe_and_fold(io).await?;
            Ok(self.with_session(|session| session.source()))
        };
        self.run_in_turn(io, &|| Box::pin(learned())).await
    }

    /// The same, and a caller's request.
    pub(super) async fn current_request(
        &self,
        io: &Io,
        request: &str,
        counts: &CountingMode,
        is_framed: bool,
    ) -> Result<(ContextRequest, ContextSource), Trouble> {
        let learned = || async {
            self.observe_and_fold(io).await?;
            Ok((
                self.parse_request(request, counts, is_framed)?,
                self.with_session(|session| session.source()),
            ))
        };
        self.run_in_turn(io, &|| Box::pin(learned())).await
    }

    /// Reads a caller's request; where it gives neither window nor model, the session's own hold.
    pub(super) fn parse_request(
        &self,
        request: &str,
        counts: &CountingMode,
        is_framed: bool,
    ) -> Result<ContextRequest, Trouble> {
        let agent = self.with_session(|session| session.metadata().agent.clone());
        let (mut request, parts) =
            ContextRequest::parse(request, agent.model, agent.context_window, counts, is_framed)?;
        request.recipe = self.recipe(parts);
        Ok(request)
    }

    /// Builds a context of the session's known state; as if compacted through that message, where one is given.
    pub(super) fn build_context<'a>(
        &'a self,
        io: &'a Io,
        request: &'a ContextRequest,
        mut source: ContextSource,
        through: Option<&str>,
    ) -> Work<'a, BuiltContext> {
        let through = through
            .map(|through| CompactionPoint { last_message_id: through.into(), ..CompactionPoint::default() });
        source.compaction = through.or(source.compaction);
        Box::pin(build_context(self, io, request, source))
    }

    pub(super) async fn read_pinned_messages(
        &self,
        io: &Io,
        source: &ContextSource,
    ) -> Result<Vec<Message>, Trouble> {
        let mut pinned: Vec<Message> = Vec::new();
        for span in &source.pins {
            let line = io.read_range(&self.log_file(LogName::Messages), span.start, span.end).await?;
            for message in records(&line).filter_map(|record| message::read(&record).0) {
                // A pinned message may have several of these lines; it stands where the first is, with the text of
                // the last.
                match pinned.iter_mut().find(|known| known.id == message.id) {
                    Some(known) if message.rev > known.rev => *known = message,
                    Some(_) => {}
                    None => pinned.push(message),
                }
            }
        }
        Ok(pinned)
    }
}

impl InputProvider for SessionFiles {
    async fn bytes(&self, io: &Io, range: Span) -> Result<Vec<u8>, Trouble> {
        io.read_range(&self.log_file(LogName::Messages), range.start, range.end).await
    }

    async fn blob(&self, io: &Io, id: &str) -> Result<Option<Vec<u8>>, Trouble> {
        self.read_blob(io, id).await
    }

    async fn summary(
        &self,
        io: &Io,
        wanted: SummaryRequest,
        request: &ContextRequest,
    ) -> Result<SummaryResponse, Trouble> {
        self.find_or_write_summary(io, wanted, request).await
    }

    async fn look_up_recalled(&self, io: &Io, build: &mut Build) -> Result<(), Trouble> {
        Box::pin(self.find_recalled(io, build)).await
    }

    fn cache_recollection(&self, recollection: Option<Recollection>) {
        self.cached_recollection.replace(recollection.map(|one| (self.recall_version(), one)));
    }
}

impl CountingMode {
    /// The vocabulary for exact counts.
    pub(super) fn vocabulary(&self) -> Option<Rc<Vocabulary>> {
        match self {
            CountingMode::Exact(vocabulary) => Some(vocabulary.clone()),
            CountingMode::Estimate | CountingMode::Off => None,
        }
    }
}

/// Renders a text that costs at most so many tokens, also after redaction: a placeholder may cost more than its
/// secret.
pub(super) async fn fit_outgoing_text(
    io: &Io,
    leaves: bool,
    most: u32,
    made: &dyn Fn(u32) -> String,
    cost: &dyn Fn(&str) -> u32,
) -> Result<String, Trouble> {
    let mut room = most;
    loop {
        let text = made(room);
        if !leaves {
            return Ok(text);
        }
        let left = redact_text(io, text).await?;
        let over = cost(&left).saturating_sub(most);
        if over == 0 || room == 0 {
            return Ok(left);
        }
        // Placeholders may be far longer than their secrets: a smaller text has fewer of them, too.
        room = room.saturating_sub(over.min(room / 4 + 1));
    }
}

/// Redacts a text.
pub(super) async fn redact_text(io: &Io, text: String) -> Result<String, Trouble> {
    Ok(vectors::redact_texts(io, Vec::from([text])).await?.pop().unwrap_or_default())
}

pub(super) async fn load_vocabulary(io: &Io, encoding: &str) -> Result<Option<Rc<Vocabulary>>, Trouble> {
    match Encoding::parse(encoding) {
        Some(Encoding::Estimate1) => Ok(None),
        Some(known) => Ok(Some(io.vocabulary(known.as_str()).await?)),
        None => {
            let message = format!(
                "expected the encoding \"o200k_base\", \"cl100k_base\" or \"estimate-1\", but found \"{encoding}\" instead"
            );
            Err(Trouble::new(Code::NoCounter, message))
        }
    }
}

/// Reads the token limit of a text.
pub(super) fn parse_max_tokens(fields: &mut Fields<'_>) -> Result<u32, Trouble> {
    let raw = fields.take_raw("maxTokens").unwrap_or("nothing");
    raw.parse().map_err(|_| {
        let message = format!("expected a whole number of tokens for \"maxTokens\", but found {raw} instead");
        Trouble::new(Code::InvalidRequest, message)
    })
}
