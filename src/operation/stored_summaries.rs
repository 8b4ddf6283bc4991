//! Stores summaries that a model wrote: kept beside the session, used where they reach far enough, else extended.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::append::CountingMode;
use super::checkpoint_cache::LogFingerprint;
use super::context::{ContextRequest, fit_outgoing_text, parse_max_tokens, redact_text};
use super::join::collect_responses;
use super::logs::LogName;
use super::messages::MessageStream;
use super::session_files::SessionFiles;
use super::summary_writing::{BUFFER_TOKENS, SummaryChunk, SummaryChunks, write_summary};
use super::{Io, Operation, Trouble, unless_bug};
use crate::context::extract_summary;
use crate::error::Code;
use crate::json::fields::Fields;
use crate::json::request;
use crate::json::text::to_json;
use crate::layout::{File, SUMMARIES};
use crate::record::event::{SummaryRange, SummaryText};
use crate::record::id;
use crate::record::message::Message;
use crate::record::span::Span;
use crate::session::handle::Session;
use crate::tokens::{Counting, count};

/// A request for a summary of at most `tokens` that stands for all before the byte `least`; a new one for the range.
#[derive(Clone, Copy)]
pub(super) struct SummaryRequest {
    pub range: Span,
    pub min_end_byte: u64,
    pub tokens: u32,
}

/// A summary, or why there is no new one.
#[derive(Default)]
pub(super) struct SummaryResponse {
    pub summary: Option<StoredSummary>,
    pub refusal: Option<String>,
}

/// A summary as stored in `summaries/`; without an id, as a compaction event has it.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoredSummary {
    pub id: String,
    pub created_at: String,
    pub range: SummaryRange,
    pub original_tokens: u64,
    pub summary: SummaryText,
    pub compression_ratio: Thousandths,
    // Fingerprint of the log up to the end of what it was made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covers: Option<LogFingerprint>,
}

/// A ratio without floating point, whose formatting would be a tenth of all this code.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Thousandths(u64);

impl SessionFiles {
    /// Returns a summary of the messages from one to another, `{"startMessageId","endMessageId","maxTokens"}`, JSON:
    /// one that a model wrote of exactly these, if stored, else one from the facts folded from them. Returns a text.
    pub fn summary_of(
        self: &Rc<SessionFiles>,
        request: String,
        counts: CountingMode,
    ) -> Operation<'static, String> {
        let files = self.clone();
        Operation::new(|io| async move {
            let bad = &mut Vec::new();
            // The range may name messages as events do.
            let known =
                "startMessageId, endMessageId, startSeq, endSeq, messageCount, endByte, maxTokens or leaves";
            let mut fields = request::parse(&request, known)?;
            let mut take = |key| fields.take::<String>(key, bad).unwrap_or_default();
            let (start, end) = (take("startMessageId"), take("endMessageId"));
            let leaves: bool = fields.take("leaves", bad).unwrap_or_default();
            request::reject_bad(bad)?;
            let most = parse_max_tokens(&mut fields)?;
            files.run_in_turn(&io, &|| Box::pin(files.observe_logs(&io))).await?;
            let is_it = |stored: &&StoredSummary| {
                stored.range.start_message_id == start && stored.range.end_message_id == end
            };
            let kept = files.read_summaries(&io).await?;
            match kept.iter().find(is_it).filter(|stored| stored.summary.tokens <= u64::from(most)) {
                Some(stored) if !leaves => return Ok(stored.summary.content.clone()),
                Some(stored) => {
                    let text = redact_text(&io, stored.summary.content.clone()).await?;
                    let vocabulary = counts.vocabulary();
                    if count(&text, vocabulary.as_deref()).tokens <= most {
                        return Ok(text);
                    }
                }
                None => {}
            }
            render_brief(&io, leaves, files.messages_between(&io, &start, &end).await?, (most, &counts)).await
        })
    }

    /// Finds the stored summary that reaches farthest, if it reaches far enough; else has a model write a new one,
    /// where there is a model.
    pub(super) async fn find_or_write_summary(
        &self,
        io: &Io,
        wanted: SummaryRequest,
        request: &ContextRequest,
    ) -> Result<SummaryResponse, Trouble> {
        let kept = self.read_summaries(io).await?;
        let most = u64::from(wanted.tokens + BUFFER_TOKENS);
        let reaches = |stored: &&StoredSummary| match &request.summary_id {
            Some(that) => stored.id == *that,
            None => stored.range.end_byte >= Some(wanted.min_end_byte) && stored.summary.tokens <= most,
        };
        let known = kept.iter().find(reaches).cloned();
        if known.is_some() || !request.summarizes {
            return Ok(SummaryResponse { summary: known, refusal: None });
        }
        let previous = kept.into_iter().find(|stored| stored.range.end_byte <= Some(wanted.range.end));
        let limit = request.max_chunk_tokens();
        SummaryResponse::from_result(
            Box::pin(self.extend_summary(io, wanted, (previous, limit), &request.counts)).await,
        )
    }

    // Reads the summaries of the current path whose last message is where they say, the one that reaches farthest
    // first.
    async fn read_summaries(&self, io: &Io) -> Result<Vec<StoredSummary>, Trouble> {
        let folder = self.summaries_folder();
        let entries = unless_bug(io.list(&folder).await)?.flatten().unwrap_or_default();
        let files: Vec<File> = entries.iter().map(|entry| folder.child(&entry.name)).collect();
        let reads = files.iter().map(|file| io.read_all(file)).collect();
        let mut found = Vec::new();
        for read in collect_responses(reads).await {
            found.extend(unless_bug(read)?.flatten().and_then(|json| StoredSummary::parse(&json)));
        }
        found.extend(self.compaction_summary());
        found.sort_by_key(|stored| core::cmp::Reverse(stored.range.end_byte));
        let mut kept = Vec::new();
        for stored in found {
            let last = stored.range.end_message_id.as_str();
            // A summary whose last line moved, as a merge does, is as good as none.
            let is_on_path = self.with_session(|session| session.are_on_path([last].into_iter())[0]);
            if is_on_path
                && self.has_valid_end(io, &stored.range).await?
                && self.is_summary_current(io, &stored).await?
            {
                kept.push(stored);
            }
        }
        Ok(kept)
    }

    async fn has_valid_end(&self, io: &Io, range: &SummaryRange) -> Result<bool, Trouble> {
        let end = range.end_byte.unwrap_or_default();
        if end == 0 || end > self.size(io, LogName::Messages).await? {
            return Ok(false);
        }
        let found = MessageStream::last_before(self, io, end).next().await?;
        Ok(found.is_some_and(|some| some.first().is_some_and(|message| message.id == range.end_message_id)))
    }

    // A summary in an event is no cache.
    async fn is_summary_current(&self, io: &Io, stored: &StoredSummary) -> Result<bool, Trouble> {
        if stored.id.is_empty() || self.verified.borrow().summary_ids.contains(&stored.id) {
            return Ok(true);
        }
        let Some(covers) = &stored.covers else { return Ok(false) };
        let is_same = self.check_fingerprint(io, covers).await?.is_some();
        if is_same {
            self.verified.borrow_mut().summary_ids.insert(stored.id.clone());
        }
        Ok(is_same)
    }

    // Extends it chunk by chunk; the last summary is stored.
    async fn extend_summary(
        &self,
        io: &Io,
        SummaryRequest { range, tokens, .. }: SummaryRequest,
        (previous, limit): (Option<StoredSummary>, u32),
        counts: &CountingMode,
    ) -> Result<Option<StoredSummary>, Trouble> {
        let start = previous.as_ref().and_then(|stored| stored.range.end_byte).unwrap_or(range.start);
        let mut messages = MessageStream::in_range(self, io, Span { start, end: range.end }).await?;
        let mut pieces = SummaryChunks::of(limit, Vec::new());
        let mut known: Option<StoredSummary> = None;
        while let Some(piece) = self.next_chunk(&mut messages, &mut pieces, counts).await? {
            let before = known.as_ref().or(previous.as_ref());
            known = Some(write_summary(io, piece, before, (tokens, counts)).await?);
        }
        if let Some(known) = &mut known {
            known.range.end_byte = Some(range.end);
        } else if let Some(previous) = &previous {
            // The previous summary reaches far enough, and is too long.
            let last = (previous.range.end_message_id.clone(), previous.range.end_seq);
            known = Some(
                write_summary(io, SummaryChunk::empty_after(last), Some(previous), (tokens, counts)).await?,
            );
        }
        if let Some(known) = &mut known {
            self.save_summary(io, known, previous.as_ref().filter(|stored| !stored.id.is_empty())).await?;
        }
        Ok(known)
    }

    // Stores a summary; the one that it extends is not needed any longer.
    async fn save_summary(
        &self,
        io: &Io,
        cached: &mut StoredSummary,
        extended: Option<&StoredSummary>,
    ) -> Result<(), Trouble> {
        if self.reject_newer().is_err() {
            return Ok(());
        }
        let folder = self.folder();
        // Somebody may have deleted the session while the model was at work.
        if io.stat(&folder).await?.is_none() {
            let shown = self.shown_folder();
            return Err(summary_error(format!(
                "expected the session in {shown}, but found none: its summary is not kept"
            )));
        }
        let known = extended.and_then(|stored| stored.covers.clone());
        cached.covers =
            Some(self.fingerprint_log(io, cached.range.end_byte.unwrap_or_default(), known).await?);
        self.verified.borrow_mut().summary_ids.insert(cached.id.clone());
        let file = self.summary_file(cached);
        io.replace(&file, to_json(cached).into_bytes(), Some(&folder)).await?;
        if let Some(old) = extended.map(|stored| self.summary_file(stored)).filter(|old| *old != file) {
            io.remove(&old).await?;
        }
        Ok(())
    }

    // The next chunk of messages that a model can read at once.
    async fn next_chunk(
        &self,
        messages: &mut MessageStream<'_>,
        pieces: &mut SummaryChunks,
        counts: &CountingMode,
    ) -> Result<Option<SummaryChunk>, Trouble> {
        let vocabulary = counts.vocabulary();
        loop {
            if let Some(piece) = pieces.next(|text| count(text, vocabulary.as_deref()).tokens.into()) {
                return Ok(Some(piece));
            }
            let Some(some) = messages.next().await? else { return Ok(pieces.last()) };
            let ids = some.iter().map(|message| message.id.as_str());
            let is_on = self.with_session(|session| session.are_on_path(ids));
            let those = some.into_iter().zip(is_on).filter(|(_, is_on)| *is_on);
            pieces.waiting = those.map(|(message, _)| message).collect::<Vec<_>>().into_iter();
        }
    }

    async fn messages_between(&self, io: &Io, start: &str, end: &str) -> Result<Vec<Message>, Trouble> {
        let mut found: Vec<Message> = Vec::new();
        let mut messages =
            MessageStream::oldest_first(self, io, self.size(io, LogName::Messages).await?).await?;
        while let Some(some) = messages.next().await? {
            let ids = some.iter().map(|message| message.id.as_str());
            let is_on = self.with_session(|session| session.are_on_path(ids));
            for (message, _) in some.into_iter().zip(is_on).filter(|(_, is_on)| *is_on) {
                if found.is_empty() && message.id != start {
                    continue;
                }
                let is_last = message.id == end;
                found.push(message);
                if is_last {
                    return Ok(found);
                }
            }
        }
        let missing = if found.is_empty() { start } else { end };
        let message = format!("no message \"{missing}\" in this session");
        Err(Trouble::new(Code::NotFound, message))
    }

    // The compaction in force, where it has a written summary.
    fn compaction_summary(&self) -> Option<StoredSummary> {
        let compaction = self.with_session(|session| session.compaction().clone());
        let range = compaction.range.filter(|range| range.end_byte.is_some())?;
        let original_tokens = compaction.original_tokens.unwrap_or_default();
        Some(StoredSummary {
            range,
            summary: compaction.summary?,
            original_tokens,
            ..StoredSummary::default()
        })
    }

    fn summaries_folder(&self) -> File {
        self.folder().child(SUMMARIES)
    }

    fn summary_file(&self, StoredSummary { range, .. }: &StoredSummary) -> File {
        let range = to_json(&[&range.start_message_id, &range.end_message_id]);
        self.summaries_folder().child(&format!("{}.json", id::from_parts(&[range.as_bytes()])))
    }
}

impl StoredSummary {
    // A cache that cannot be read costs one summary.
    fn parse(json: &[u8]) -> Option<StoredSummary> {
        let bad = &mut Vec::new();
        let mut fields = Fields::parse(core::str::from_utf8(json).ok()?).ok()?;
        let summary = Fields::parse(fields.raw("summary")?).ok()?;
        summary.raw("tokens")?.parse::<u64>().ok()?;
        let cached = StoredSummary {
            id: fields.take("id", bad).unwrap_or_default(),
            created_at: fields.take("createdAt", bad).unwrap_or_default(),
            range: fields.take("range", bad)?,
            original_tokens: fields.take("originalTokens", bad).unwrap_or_default(),
            summary: fields.take("summary", bad)?,
            // For people to see; no decision uses it.
            compression_ratio: Thousandths::default(),
            covers: fields.take("covers", bad),
        };
        cached.range.end_byte.is_some().then_some(cached)
    }
}

impl Thousandths {
    // Rounds half up.
    pub fn of(part: u64, whole: u64) -> Thousandths {
        Thousandths((part * 2000 / whole.max(1)).div_ceil(2))
    }

    /// Writes it as JSON: 0.25, or 1.
    pub fn to_json(self) -> String {
        let digits = format!("{:03}", self.0 % 1000);
        let (whole, digits) = (self.0 / 1000, digits.trim_end_matches('0'));
        if digits.is_empty() { format!("{whole}") } else { format!("{whole}.{digits}") }
    }
}

impl Serialize for Thousandths {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.to_json()).expect("digits are a number").serialize(serializer)
    }
}

// Renders the state folded from some messages alone.
async fn render_brief(
    io: &Io,
    leaves: bool,
    messages: Vec<Message>,
    (tokens, counts): (u32, &CountingMode),
) -> Result<String, Trouble> {
    let stamp = io.stamp();
    let mut session = Session::new(None).with_id(&id::new(&stamp, 0));
    let lines = session.stage_messages(messages, &stamp, Counting::Off)?.bytes;
    session.commit_messages(0)?;
    while let Some(span) = session.unfolded_span() {
        session.fold_bytes(lines.get(span.start as usize..span.end as usize).unwrap_or_default());
    }
    let vocabulary = counts.vocabulary();
    let source = session.source();
    let cost = |text: &str| count(text, vocabulary.as_deref()).tokens;
    fit_outgoing_text(
        io,
        leaves,
        tokens,
        &|room| extract_summary(source.summary_input(&[]), room, &cost),
        &cost,
    )
    .await
}

pub(super) fn summary_error(message: String) -> Trouble {
    Trouble::new(Code::InvalidSummary, message)
}
