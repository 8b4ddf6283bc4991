//! Chooses which passages of the matching messages to quote, and writes the recall block.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use crate::json::text::grapheme_boundary;
use crate::plain::harmless::{LINE_ENDS, quotable};
use crate::recall::english::is_forgetful;
use crate::recall::passages::find_passages;
use crate::recall::question::Question;
use crate::recall::rank::TermWeights;
use crate::recall::searchable_texts::{render_call, searchable_texts};
use crate::recall::shortlist::Candidate;
use crate::recall::terms::TermAnalyzer;
use crate::record::blob;
use crate::record::message::{Message, Role};
use crate::record::span::Span;

const BEGIN_MARKER: &str = "[RECALLED]";
const END_MARKER: &str = "[END RECALLED]";
const INTRODUCTION: &str = "Older messages that may answer the next one, quoted:";
// The names that a model may take for a speaker's.
const SPEAKERS: [&str; 6] = ["user", "assistant", "system", "human", "developer", "tool"];
// Replaces the text left out between two passages, and before and after them.
const GAP_MARK: &str = " [...] ";
// The most bytes of a call that stand beside its result.
const MAX_CALL_BYTES: usize = 200;
/// The share of its message's score that a passage gets, in addition to its own.
const MESSAGE_SCORE_SHARE: f32 = 0.5;
/// The weight of a passage of a long message: it says in few words what its message says in many.
const PASSAGE_WEIGHT: f32 = 2.5;
/// The least share of the best score; a passage below it is no answer.
const MIN_BEST_SHARE: f32 = 0.05;
/// How many passages are quoted if the best one scores just enough; the better it scores, the more.
const BASE_PASSAGE_COUNT: f32 = 5.0;

/// A passage that may be quoted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Quote {
    /// The range of its message's line.
    pub line: Span,
    /// The message's id.
    pub id: String,
    /// The message's time, to the minute; empty if unknown.
    pub time: String,
    /// The speaker; for a result, the call that it answers.
    pub speaker: String,
    /// The passage.
    pub text: String,
    /// The message's text that it comes from, its range there, and the length of that text.
    pub place: (usize, Range<usize>, usize),
    /// The passage's own score.
    pub match_alone: f32,
    /// Its own score and its message's together.
    pub score: f32,
    /// The terms of the question in it.
    pub terms: Vec<usize>,
}

/// Collects the quotes for a question.
pub(crate) struct Quoter<'a> {
    pub question: &'a Question,
    pub worth: &'a TermWeights,
    /// The messages that were read, by the offset of their line, each with the offset of the line's end.
    pub read: &'a BTreeMap<u64, (u64, Message)>,
}

impl Quoter<'_> {
    /// Returns the matching passages of these messages, the best first, and the most that may be quoted.
    pub fn collect_quotes(&self, candidates: &[Candidate], words: &mut TermAnalyzer) -> (Vec<Quote>, usize) {
        let mut quotes: Vec<Quote> = candidates.iter().flat_map(|one| self.quotes_of(one, words)).collect();
        quotes.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.line.cmp(&a.line)));
        let best = quotes.iter().map(|quote| quote.match_alone).fold(0.0, f32::max);
        let Some(least) = self.worth.least_score(self.question) else { return (Vec::new(), 0) };
        let over = self.worth.normalize_score(best) / least;
        let first = quotes.first().map_or(0.0, |quote| quote.score);
        quotes.retain(|quote| over >= 1.0 && quote.score >= first * MIN_BEST_SHARE);
        (quotes, (BASE_PASSAGE_COUNT * over * over * over * over) as usize)
    }

    fn quotes_of(&self, candidate: &Candidate, words: &mut TermAnalyzer) -> Vec<Quote> {
        let start = candidate.line.start;
        let Some((end, message)) = self.read.get(&start) else { return Vec::new() };
        let Some(speaker) = self.speaker(candidate, message).filter(|_| !self.is_no_answer(message)) else {
            return Vec::new();
        };
        let folded =
            if blob::blob_ids(message).is_empty() { message.clone() } else { blob::truncate_blobs(message) };
        let mut quotes = Vec::new();
        for (index, (field, text)) in searchable_texts(&folded).into_iter().enumerate() {
            let all = find_passages(&text, field, self.question, self.worth, words);
            let is_whole = all.len() == 1;
            for passage in all {
                if passage.terms.is_empty() && !(is_whole && index == 0) {
                    continue;
                }
                // A short message is scored together with its neighbors.
                let (alone, own) = match is_whole {
                    true => (passage.score.max(candidate.score), candidate.score),
                    false => (passage.score, PASSAGE_WEIGHT * passage.score),
                };
                quotes.push(Quote {
                    line: Span { start, end: *end },
                    id: message.id.clone(),
                    time: message.timestamp.as_deref().map(to_minute).unwrap_or_default(),
                    speaker: speaker.clone(),
                    text: quotable(&text[passage.place.clone()]),
                    place: (index, passage.place, text.len()),
                    match_alone: alone,
                    score: own + MESSAGE_SCORE_SHARE * candidate.score,
                    terms: passage.terms,
                });
            }
        }
        quotes
    }

    // True for a message that repeats the question or says that it remembers nothing.
    fn is_no_answer(&self, message: &Message) -> bool {
        let text = message.content.as_str();
        match message.role {
            Some(Role::User) => text.trim() == self.question.text,
            Some(Role::Assistant) => is_forgetful(text),
            Some(Role::System | Role::Tool) | None => false,
        }
    }

    // `None` for a result whose call is unknown.
    fn speaker(&self, candidate: &Candidate, message: &Message) -> Option<String> {
        match message.role? {
            Role::User => Some("user".into()),
            Role::Assistant => Some("assistant".into()),
            Role::System => None,
            Role::Tool => {
                let tool = message.tool.as_ref()?;
                let (_, caller) = self.read.get(&candidate.caller?.start)?;
                let call = caller.tool_calls().iter().find(|call| call.id == tool.call_id)?;
                let call_text = render_call(call).replace('\n', " ");
                Some(quotable(&call_text[..grapheme_boundary(&call_text, MAX_CALL_BYTES, false)]))
            }
        }
    }
}

/// Builds the message that quotes these, in their order; adjacent ones share one line with their time.
pub(crate) fn recall_message(quotes: &[&Quote]) -> Message {
    let mut quotes: Vec<&Quote> = quotes.to_vec();
    quotes.sort_by_key(|quote| (quote.line, quote.place.0, quote.place.1.start));
    let mut text = format!("{BEGIN_MARKER} {INTRODUCTION}\n");
    let mut last: Option<&Quote> = None;
    let mut day = "";
    for (index, quote) in quotes.iter().enumerate() {
        let is_beside =
            last.is_some_and(|last| last.line == quote.line || is_adjacent(last.line, quote.line));
        if !is_beside {
            let (date, clock) = quote.time.split_once(' ').unwrap_or(("", ""));
            let time = if date == day { clock } else { &quote.time };
            day = date;
            text.push_str(&format!("--- {time}\n"));
        }
        let goes_on = last.filter(|last| (last.line, last.place.0) == (quote.line, quote.place.0));
        match goes_on {
            Some(last) if last.place.1.end == quote.place.1.start => {}
            Some(_) => text.push_str(GAP_MARK),
            None => text.push_str(&format!(
                "{}: {}",
                quote.speaker,
                if quote.place.1.start > 0 { GAP_MARK.trim_start() } else { "" }
            )),
        }
        write_quoted(&mut text, &quote.text);
        let next = quotes.get(index + 1);
        if next.is_none_or(|next| (next.line, next.place.0) != (quote.line, quote.place.0)) {
            text.push_str(if quote.place.1.end < quote.place.2 { GAP_MARK.trim_end() } else { "" });
            text.push('\n');
        }
        last = Some(quote);
    }
    text.push_str(END_MARKER);
    Message { role: Some(Role::User), content: text.into(), ..Message::default() }
}

// Writes a text word for word, but indents a line that looks like one of the block's own: so no text can pose as
// another speaker, or claim another time.
fn write_quoted(to: &mut String, text: &str) {
    for line in text.split_inclusive(LINE_ENDS) {
        if to.ends_with(LINE_ENDS) && (line.starts_with("---") || names_speaker(line)) {
            to.push(' ');
        }
        to.push_str(line);
    }
}

fn names_speaker(line: &str) -> bool {
    let name = line.split_once([':', '\u{ff1a}']).map(|(name, _)| name.trim());
    name.is_some_and(|name| SPEAKERS.iter().any(|known| name.eq_ignore_ascii_case(known)))
}

// True if a line directly follows another.
fn is_adjacent(line: Span, other: Span) -> bool {
    (line.end..=line.end + 1).contains(&other.start)
}

// Cuts `2026-05-08T14:02:11Z` to the minute, as it was written.
fn to_minute(timestamp: &str) -> String {
    let text: Cow<'_, str> = timestamp.get(..16).unwrap_or_default().into();
    text.replace('T', " ").to_string()
}
