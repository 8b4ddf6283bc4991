//! Has the caller's model write summaries: of messages in chunks that it can read at once, each extending the one
//! before.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::mem;

use super::append::CountingMode;
use super::context::ContextRequest;
use super::stored_summaries::{StoredSummary, SummaryResponse, Thousandths, summary_error};
use super::{HostRequest, Io, Trouble};
use crate::context::{render_message, summary_prompt};
use crate::json::fields::Fields;
use crate::record::event::{SummaryRange, SummaryText};
use crate::record::id;
use crate::record::message::Message;
use crate::time;
use crate::tokens::count;

/// A text of more letters than these has more tokens, in about any language.
const CHARS_PER_TOKEN: usize = 4;
/// Tokens that an answer may exceed its limit by.
pub(super) const BUFFER_TOKENS: u32 = 100;
/// A model reads at most so many tokens at once, unless its window is known.
const MAX_PIECE_TOKENS: u32 = 50_000;

/// Cuts messages into chunks.
#[derive(Default)]
pub(super) struct SummaryChunks {
    limit: u64,
    pub waiting: alloc::vec::IntoIter<Message>,
    current: SummaryChunk,
    size: u64,
}

impl SummaryChunks {
    /// Makes chunks of at most so many tokens each.
    pub fn of(limit: u32, messages: Vec<Message>) -> SummaryChunks {
        SummaryChunks { limit: limit.into(), waiting: messages.into_iter(), ..SummaryChunks::default() }
    }

    /// Returns the next full chunk; if there is none, all waiting messages are in the one that is being filled.
    pub fn next(&mut self, cost_of: impl Fn(&str) -> u64) -> Option<SummaryChunk> {
        for message in self.waiting.by_ref() {
            let all = render_message(&message);
            // Of a long message a model gets as much as it can read at once.
            let text = truncate_letters(&all, self.limit as usize * CHARS_PER_TOKEN);
            let cost = cost_of(text);
            let is_full = self.current.count > 0 && self.size + cost > self.limit;
            let full = is_full.then(|| mem::take(&mut self.current));
            self.size = cost + if is_full { 0 } else { self.size };
            self.current.add_message(&message, text, cost);
            if full.is_some() {
                return full;
            }
        }
        None
    }

    pub fn last(&mut self) -> Option<SummaryChunk> {
        (self.current.count > 0).then(|| mem::take(&mut self.current))
    }
}

impl SummaryChunk {
    /// An empty chunk, after that message.
    pub fn empty_after(last: (String, Option<u64>)) -> SummaryChunk {
        SummaryChunk { last, ..SummaryChunk::default() }
    }

    fn add_message(&mut self, message: &Message, text: &str, cost: u64) {
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(text);
        self.first.get_or_insert_with(|| (message.id.clone(), message.seq));
        self.last = (message.id.clone(), message.seq);
        self.count += 1;
        self.cost += message.tokens.as_ref().map_or(cost, |tokens| tokens.count.into());
    }

    fn range(&self, previous: Option<&StoredSummary>) -> SummaryRange {
        let begins = previous.map(|one| (one.range.start_message_id.clone(), one.range.start_seq));
        let (start_message_id, start_seq) = begins.or(self.first.clone()).unwrap_or_default();
        let (end_message_id, end_seq) = self.last.clone();
        let message_count = previous.map_or(0, |one| one.range.message_count) + self.count;
        let end_byte = previous.and_then(|one| one.range.end_byte).filter(|_| self.count == 0);
        SummaryRange { start_message_id, end_message_id, start_seq, end_seq, message_count, end_byte }
    }
}

/// A chunk of messages as a model reads them.
#[derive(Default)]
pub(super) struct SummaryChunk {
    text: String,
    first: Option<(String, Option<u64>)>,
    last: (String, Option<u64>),
    count: u64,
    cost: u64,
}

impl ContextRequest {
    // Roughly how many tokens the model reads at once.
    pub(super) fn max_chunk_tokens(&self) -> u32 {
        self.window.unwrap_or(2 * MAX_PIECE_TOKENS) / 2
    }
}

impl SummaryResponse {
    // A context goes on without it.
    pub(super) fn from_result(
        done: Result<Option<StoredSummary>, Trouble>,
    ) -> Result<SummaryResponse, Trouble> {
        match done {
            Ok(cached) => Ok(SummaryResponse { summary: cached, refusal: None }),
            Err(trouble) if trouble.is_bug() => Err(trouble),
            Err(trouble) => Ok(SummaryResponse { summary: None, refusal: Some(trouble.message().into()) }),
        }
    }
}

/// Writes a new summary of messages that none covers, where the caller has a model.
pub(super) async fn summarize_messages(
    io: &Io,
    messages: Vec<Message>,
    tokens: u32,
    request: &ContextRequest,
) -> Result<SummaryResponse, Trouble> {
    let (mut pieces, vocabulary) =
        (SummaryChunks::of(request.max_chunk_tokens(), messages), request.counts.vocabulary());
    let cost = |text: &str| count(text, vocabulary.as_deref()).tokens.into();
    let mut known = None;
    while let Some(piece) = pieces.next(cost).or_else(|| pieces.last()) {
        match SummaryResponse::from_result(
            write_summary(io, piece, known.as_ref(), (tokens, &request.counts)).await.map(Some),
        )? {
            SummaryResponse { summary: Some(cached), .. } => known = Some(cached),
            refused => return Ok(refused),
        }
    }
    Ok(SummaryResponse { summary: known, refusal: None })
}

pub(super) async fn write_summary(
    io: &Io,
    piece: SummaryChunk,
    previous: Option<&StoredSummary>,
    (tokens, counts): (u32, &CountingMode),
) -> Result<StoredSummary, Trouble> {
    let range = piece.range(previous);
    let before = previous.map(|one| one.summary.content.clone());
    let [system, user] = summary_prompt(&piece.text, before.as_deref(), tokens);
    let need = HostRequest::Summary {
        system,
        user,
        max_tokens: tokens + BUFFER_TOKENS,
        start_message_id: range.start_message_id.clone(),
        end_message_id: range.end_message_id.clone(),
        message_count: range.message_count,
        previous: before,
    };
    let (content, model) = ask_model(io, need).await?;
    let found = u64::from(count(&content, counts.vocabulary().as_deref()).tokens);
    let original_tokens = previous.map_or(0, |one| one.original_tokens) + piece.cost;
    let most = u64::from(tokens + BUFFER_TOKENS).min(original_tokens.saturating_sub(1));
    if found > most {
        return Err(summary_error(format!(
            "the summary has {found} tokens, but may have at most {most}: it replaces {original_tokens}"
        )));
    }
    let stamp = io.stamp();
    Ok(StoredSummary {
        id: id::new(&stamp, 0),
        created_at: time::format(stamp.now_ms),
        range,
        original_tokens,
        summary: SummaryText { content: content.trim().to_string(), tokens: found, model },
        compression_ratio: Thousandths::of(found, original_tokens),
        covers: None,
    })
}

// Asks the caller's model, and accepts any answer.
async fn ask_model(io: &Io, need: HostRequest) -> Result<(String, String), Trouble> {
    let answer = match io.request_text(need).await {
        Err(trouble) if trouble.is_bug() => return Err(trouble),
        Err(trouble) => {
            return Err(summary_error(format!("the model failed to summarize: {}", trouble.message())));
        }
        Ok(answer) => answer,
    };
    let bad = &mut Vec::new();
    let other = || summary_error(format!("expected a summary as text, but found {answer} instead"));
    let mut fields = Fields::parse(&answer).map_err(|_| other())?;
    let shown = fields.raw("content").unwrap_or("undefined");
    let content = fields.take::<String>("content", bad).filter(|content| !content.trim().is_empty());
    let model = fields.take("model", bad).unwrap_or_default();
    let none = || {
        summary_error(format!("expected a summary as text, but found {} instead", shown.trim_matches('"')))
    };
    Ok((content.ok_or_else(none)?, model))
}

// Counts letters as JavaScript does.
fn truncate_letters(text: &str, most: usize) -> &str {
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
