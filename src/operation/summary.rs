//! Summaries that a model wrote: kept beside the session, taken where they reach far enough, else extended.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::mem;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::append::Counts;
use super::context::{Asked, most_tokens, object};
use super::io::each;
use super::kept::Covers;
use super::live::Live;
use super::logs::LogName;
use super::messages::Messages;
use super::pages::refuse_bad;
use super::{Io, Need, Operation, Trouble, unless_bug};
use crate::context::{extract, prompt, told};
use crate::error::Code;
use crate::json::fields::Fields;
use crate::json::text::to_json;
use crate::layout::{File, SUMMARIES};
use crate::record::event::{SummaryRange, SummaryText};
use crate::record::id;
use crate::record::message::Message;
use crate::record::span::Span;
use crate::session::handle::Session;
use crate::time;
use crate::tokens::{Counting, count};

/// A text of more letters than these has more tokens, in about any language.
const LETTERS_A_TOKEN: usize = 4;
/// An answer may be so much longer than was asked for.
const BUFFER: u32 = 100;
/// A model reads at most so many tokens at once, unless its window is known.
const PIECE: u32 = 50_000;

/// What is wanted: a summary of at most `tokens` that stands for all before the byte `least`; a new one for the range.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub range: Span,
    pub least: u64,
    pub tokens: u32,
}

/// A summary, or why there is no new one.
#[derive(Default)]
pub(super) struct Written {
    pub cached: Option<Cached>,
    pub refused: Option<String>,
}

/// A summary as it is kept in `summaries/`; without an id, as an event has it.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Cached {
    pub id: String,
    created_at: String,
    pub range: SummaryRange,
    pub original_tokens: u64,
    pub summary: SummaryText,
    pub compression_ratio: Thousandths,
    // The bytes of the log that it was made from, and all before them.
    #[serde(skip_serializing_if = "Option::is_none")]
    covers: Option<Covers>,
}

/// A ratio without a floating point, whose printing would be a tenth of all this.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Thousandths(u64);

/// Messages as a model is told of them.
#[derive(Default)]
struct Piece {
    told: String,
    first: Option<(String, Option<u64>)>,
    last: (String, Option<u64>),
    count: u64,
    cost: u64,
}

impl Live {
    /// A summary of the messages from one to another, `{"startMessageId","endMessageId","maxTokens"}`, JSON: what a model wrote
    /// of just these, if that is kept, else what was learned of them. Answer: a text.
    pub fn summary_of(self: &Rc<Live>, asked: String, counts: Counts) -> Operation<'static, String> {
        let live = self.clone();
        Operation::new(|io| async move {
            let bad = &mut Vec::new();
            let mut fields = object(&asked)?;
            let mut take = |key| fields.take::<String>(key, bad).unwrap_or_default();
            let (start, end) = (take("startMessageId"), take("endMessageId"));
            refuse_bad(bad)?;
            let most = most_tokens(&mut fields)?;
            live.in_turn(&io, &|| Box::pin(live.caught_up(&io))).await?;
            let is_it =
                |one: &&Cached| one.range.start_message_id == start && one.range.end_message_id == end;
            let kept = live.kept_summaries(&io).await?;
            match kept.iter().find(is_it).filter(|one| one.summary.tokens <= u64::from(most)) {
                Some(one) => Ok(one.summary.content.clone()),
                None => Ok(brief_of(&io, live.between(&io, &start, &end).await?, most, &counts)?),
            }
        })
    }

    /// The summary that reaches farthest, where it reaches far enough; else a new one, where a model writes one.
    pub(super) async fn summary(&self, io: &Io, wanted: Wanted, asked: &Asked) -> Result<Written, Trouble> {
        let kept = self.kept_summaries(io).await?;
        let most = u64::from(wanted.tokens + BUFFER);
        let reaches = |one: &&Cached| match &asked.summary {
            Some(that) => one.id == *that,
            None => one.range.end_byte >= Some(wanted.least) && one.summary.tokens <= most,
        };
        let known = kept.iter().find(reaches).cloned();
        if known.is_some() || !asked.summarizes {
            return Ok(Written { cached: known, refused: None });
        }
        let previous = kept.into_iter().find(|one| one.range.end_byte <= Some(wanted.range.end));
        let limit = asked.window.unwrap_or(2 * PIECE) / 2;
        // A context does without it.
        match Box::pin(self.extended(io, wanted, (previous, limit), &asked.counts)).await {
            Ok(cached) => Ok(Written { cached, refused: None }),
            Err(trouble) if trouble.is_bug() => Err(trouble),
            Err(trouble) => Ok(Written { cached: None, refused: Some(trouble.message().into()) }),
        }
    }

    // Those of the current path whose last message is where they say, the one that reaches farthest first.
    async fn kept_summaries(&self, io: &Io) -> Result<Vec<Cached>, Trouble> {
        let folder = self.summaries();
        let entries = unless_bug(io.list(&folder).await)?.flatten().unwrap_or_default();
        let files: Vec<File> = entries.iter().map(|entry| folder.below(&entry.name)).collect();
        let reads = files.iter().map(|file| io.read_all(file)).collect();
        let mut found = Vec::new();
        for read in each(reads).await {
            found.extend(unless_bug(read)?.flatten().and_then(|json| Cached::read(&json)));
        }
        found.extend(self.compacted_summary());
        found.sort_by_key(|one| core::cmp::Reverse(one.range.end_byte));
        let mut kept = Vec::new();
        for one in found {
            let last = one.range.end_message_id.as_str();
            let is_on_path = self.with(|session| session.are_on_path([last].into_iter())[0]);
            if is_on_path && self.ends_there(io, &one.range).await? && self.is_as_it_was(io, &one).await? {
                kept.push(one);
            }
        }
        Ok(kept)
    }

    async fn ends_there(&self, io: &Io, range: &SummaryRange) -> Result<bool, Trouble> {
        let end = range.end_byte.unwrap_or_default();
        if end == 0 || end > self.size(io, LogName::Messages).await? {
            return Ok(false);
        }
        let found = Messages::last_before(self, io, end).next().await?;
        Ok(found.is_some_and(|some| some.first().is_some_and(|message| message.id == range.end_message_id)))
    }

    // What an event says is no cache.
    async fn is_as_it_was(&self, io: &Io, one: &Cached) -> Result<bool, Trouble> {
        if one.id.is_empty() || self.kept.borrow().summaries.contains(&one.id) {
            return Ok(true);
        }
        let Some(covers) = &one.covers else { return Ok(false) };
        let is_same = self.holds(io, covers).await?.is_some();
        if is_same {
            self.kept.borrow_mut().summaries.insert(one.id.clone());
        }
        Ok(is_same)
    }

    // Piece by piece, each extending the one before; the last one is kept.
    async fn extended(
        &self,
        io: &Io,
        Wanted { range, tokens, .. }: Wanted,
        (previous, limit): (Option<Cached>, u32),
        counts: &Counts,
    ) -> Result<Option<Cached>, Trouble> {
        let start = previous.as_ref().and_then(|one| one.range.end_byte).unwrap_or(range.start);
        let mut messages = Messages::within(self, io, Span { start, end: range.end }).await?;
        let mut pieces = Pieces { limit: limit.into(), ..Pieces::default() };
        let mut known: Option<Cached> = None;
        while let Some(piece) = self.piece(&mut messages, &mut pieces, counts).await? {
            let before = known.as_ref().or(previous.as_ref());
            known = Some(self.written(io, piece, before, (tokens, counts)).await?);
        }
        if let Some(known) = &mut known {
            known.range.end_byte = Some(range.end);
        } else if let Some(previous) = &previous {
            // It reaches far enough, and is too long.
            let last = (previous.range.end_message_id.clone(), previous.range.end_seq);
            let nothing = Piece { last, ..Piece::default() };
            known = Some(self.written(io, nothing, Some(previous), (tokens, counts)).await?);
        }
        if let Some(known) = &mut known {
            self.keep_summary(io, known, previous.as_ref().filter(|one| !one.id.is_empty())).await?;
        }
        Ok(known)
    }

    async fn written(
        &self,
        io: &Io,
        piece: Piece,
        previous: Option<&Cached>,
        (tokens, counts): (u32, &Counts),
    ) -> Result<Cached, Trouble> {
        let range = piece.range(previous);
        let before = previous.map(|one| one.summary.content.clone());
        let [system, user] = prompt(&piece.told, before.as_deref(), tokens);
        let need = Need::Summary {
            system,
            user,
            max_tokens: tokens + BUFFER,
            start_message_id: range.start_message_id.clone(),
            end_message_id: range.end_message_id.clone(),
            message_count: range.message_count,
            previous: before,
        };
        let (content, model) = answered(io, need).await?;
        let found = u64::from(count(&content, counts.vocabulary().as_deref()).tokens);
        let original_tokens = previous.map_or(0, |one| one.original_tokens) + piece.cost;
        let most = u64::from(tokens + BUFFER).min(original_tokens.saturating_sub(1));
        if found > most {
            return Err(refused(format!(
                "expected a summary of at most {most} tokens, for {original_tokens} that it replaces, but found {found} instead"
            )));
        }
        let stamp = io.stamp();
        Ok(Cached {
            id: id::new(&stamp, 0),
            created_at: time::format(stamp.now_ms),
            range,
            original_tokens,
            summary: SummaryText { content: content.trim().to_string(), tokens: found, model },
            compression_ratio: Thousandths::of(found, original_tokens),
            covers: None,
        })
    }

    // Keeps one; the one that it extends is needed no longer.
    async fn keep_summary(
        &self,
        io: &Io,
        cached: &mut Cached,
        extended: Option<&Cached>,
    ) -> Result<(), Trouble> {
        if self.refuse_newer().is_err() {
            return Ok(());
        }
        let folder = self.folder();
        // Somebody may have deleted it while the model was at work.
        if io.stat(&folder).await?.is_none() {
            let shown = self.shown();
            return Err(refused(format!(
                "expected the session in {shown}, but found none: its summary is not kept"
            )));
        }
        let known = extended.and_then(|one| one.covers.clone());
        cached.covers = Some(self.covers(io, cached.range.end_byte.unwrap_or_default(), known).await?);
        self.kept.borrow_mut().summaries.insert(cached.id.clone());
        let file = self.summary_file(cached);
        io.replace(&file, to_json(cached).into_bytes(), Some(&folder)).await?;
        if let Some(old) = extended.map(|one| self.summary_file(one)).filter(|old| *old != file) {
            io.remove(&old).await?;
        }
        Ok(())
    }

    // The next piece of messages that a model can read at once.
    async fn piece(
        &self,
        messages: &mut Messages<'_>,
        pieces: &mut Pieces,
        counts: &Counts,
    ) -> Result<Option<Piece>, Trouble> {
        let vocabulary = counts.vocabulary();
        loop {
            if let Some(piece) = pieces.next(|text| count(text, vocabulary.as_deref()).tokens.into()) {
                return Ok(Some(piece));
            }
            let Some(some) = messages.next().await? else { return Ok(pieces.last()) };
            let ids = some.iter().map(|message| message.id.as_str());
            let is_on = self.with(|session| session.are_on_path(ids));
            let those = some.into_iter().zip(is_on).filter(|(_, is_on)| *is_on);
            pieces.waiting = those.map(|(message, _)| message).collect::<Vec<_>>().into_iter();
        }
    }

    async fn between(&self, io: &Io, start: &str, end: &str) -> Result<Vec<Message>, Trouble> {
        let mut found: Vec<Message> = Vec::new();
        let mut messages = Messages::oldest_first(self, io, self.size(io, LogName::Messages).await?).await?;
        while let Some(some) = messages.next().await? {
            let ids = some.iter().map(|message| message.id.as_str());
            let is_on = self.with(|session| session.are_on_path(ids));
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
        let message = format!("expected a message \"{missing}\" in this session, but found none");
        Err(Trouble::refused(Code::NotFound, message))
    }

    // The compaction in force, where somebody wrote its summary.
    fn compacted_summary(&self) -> Option<Cached> {
        let compaction = self.with(|session| session.compaction().clone());
        let range = compaction.range.filter(|range| range.end_byte.is_some())?;
        let original_tokens = compaction.original_tokens.unwrap_or_default();
        Some(Cached { range, summary: compaction.summary?, original_tokens, ..Cached::default() })
    }

    fn summaries(&self) -> File {
        self.folder().below(SUMMARIES)
    }

    fn summary_file(&self, Cached { range, .. }: &Cached) -> File {
        let range = to_json(&[&range.start_message_id, &range.end_message_id]);
        self.summaries().below(&format!("{}.json", id::derived(&[range.as_bytes()])))
    }
}

/// Messages on their way into pieces.
#[derive(Default)]
struct Pieces {
    limit: u64,
    waiting: alloc::vec::IntoIter<Message>,
    piece: Piece,
    size: u64,
}

impl Pieces {
    // A piece that is full; else all that waited is in the one that is being filled.
    fn next(&mut self, cost_of: impl Fn(&str) -> u64) -> Option<Piece> {
        for message in self.waiting.by_ref() {
            let all = told(&message);
            // A model cannot read more of a message than fits at once.
            let text = first_letters(&all, self.limit as usize * LETTERS_A_TOKEN);
            let cost = cost_of(text);
            let is_full = self.piece.count > 0 && self.size + cost > self.limit;
            let full = is_full.then(|| mem::take(&mut self.piece));
            self.size = cost + if is_full { 0 } else { self.size };
            self.piece.take(&message, text, cost);
            if full.is_some() {
                return full;
            }
        }
        None
    }

    fn last(&mut self) -> Option<Piece> {
        (self.piece.count > 0).then(|| mem::take(&mut self.piece))
    }
}

impl Piece {
    fn take(&mut self, message: &Message, text: &str, cost: u64) {
        if !self.told.is_empty() {
            self.told.push_str("\n\n");
        }
        self.told.push_str(text);
        self.first.get_or_insert_with(|| (message.id.clone(), message.seq));
        self.last = (message.id.clone(), message.seq);
        self.count += 1;
        self.cost += message.tokens.as_ref().map_or(cost, |tokens| tokens.count.into());
    }

    fn range(&self, previous: Option<&Cached>) -> SummaryRange {
        let begins = previous.map(|one| (one.range.start_message_id.clone(), one.range.start_seq));
        let (start_message_id, start_seq) = begins.or(self.first.clone()).unwrap_or_default();
        let (end_message_id, end_seq) = self.last.clone();
        let message_count = previous.map_or(0, |one| one.range.message_count) + self.count;
        let end_byte = previous.and_then(|one| one.range.end_byte).filter(|_| self.count == 0);
        SummaryRange { start_message_id, end_message_id, start_seq, end_seq, message_count, end_byte }
    }
}

impl Cached {
    // A cache that cannot be read costs one summary.
    fn read(json: &[u8]) -> Option<Cached> {
        let bad = &mut Vec::new();
        let mut fields = Fields::parse(core::str::from_utf8(json).ok()?).ok()?;
        let summary = Fields::parse(fields.raw("summary")?).ok()?;
        summary.raw("tokens")?.parse::<u64>().ok()?;
        let cached = Cached {
            id: fields.take("id", bad).unwrap_or_default(),
            created_at: fields.take("createdAt", bad).unwrap_or_default(),
            range: fields.take("range", bad)?,
            original_tokens: fields.take("originalTokens", bad).unwrap_or_default(),
            summary: fields.take("summary", bad)?,
            // Told to people; nobody decides by it.
            compression_ratio: Thousandths::default(),
            covers: fields.take("covers", bad),
        };
        cached.range.end_byte.is_some().then_some(cached)
    }
}

impl Thousandths {
    // Half of one is rounded up.
    fn of(part: u64, whole: u64) -> Thousandths {
        Thousandths((part * 2000 / whole.max(1)).div_ceil(2))
    }

    /// As JSON has it: 0.25, or 1.
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

// What the caller's model answers, whatever that is.
async fn answered(io: &Io, need: Need) -> Result<(String, String), Trouble> {
    let answer = match io.made(need).await {
        Err(trouble) if trouble.is_bug() => return Err(trouble),
        Err(trouble) => {
            return Err(refused(format!("expected a summary, but the model failed: {}", trouble.message())));
        }
        Ok(answer) => answer,
    };
    let bad = &mut Vec::new();
    let other = || refused(format!("expected a summary as text, but found {answer} instead"));
    let mut fields = Fields::parse(&answer).map_err(|_| other())?;
    let said = fields.raw("content").unwrap_or("undefined");
    let content = fields.take::<String>("content", bad).filter(|content| !content.trim().is_empty());
    let model = fields.take("model", bad).unwrap_or_default();
    let none =
        || refused(format!("expected a summary as text, but found {} instead", said.trim_matches('"')));
    Ok((content.ok_or_else(none)?, model))
}

// What was learned of some messages alone.
fn brief_of(io: &Io, messages: Vec<Message>, tokens: u32, counts: &Counts) -> Result<String, Trouble> {
    let stamp = io.stamp();
    let mut session = Session::new(None).with_id(&id::new(&stamp, 0));
    let lines = session.stage_messages(messages, &stamp, Counting::Off)?.bytes;
    session.commit_messages(0)?;
    while let Some(span) = session.unlearned() {
        session.learn(lines.get(span.start as usize..span.end as usize).unwrap_or_default());
    }
    let vocabulary = counts.vocabulary();
    Ok(extract(session.source().known(&[]), tokens, &|text| count(text, vocabulary.as_deref()).tokens))
}

// As JavaScript counts letters.
fn first_letters(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let mut letters = 0;
    let end = text.char_indices().find(|(_, letter)| {
        letters += letter.len_utf16();
        letters > most
    });
    end.map_or(text, |(at, _)| &text[..at])
}

fn refused(message: String) -> Trouble {
    Trouble::refused(Code::InvalidSummary, message)
}
