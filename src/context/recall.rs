//! Recalls older messages that match the newest user message: finds them in the log, and quotes them within a share of
//! the budget.
//!
//! The recall block keeps its room: where the newest messages leave none, the next strategy, which keeps fewer of
//! them, is tried. A quoted sentence is left out of the summary beside it. Two variants measured worse and were not
//! taken (share of the answers' words for coding questions at budgets of 2,000, 4,000 and 8,000): halving the summary
//! beside the block, 65.8, 79.5 and 87.9 % against 65.6, 81.6 and 89.3 % with all of it; and leaving its sentences
//! out, 66.2, 78.9 and 87.4 %.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use crate::context::price::Prices;
use crate::context::report::{Match, Recall};
use crate::context::steps::Item;
use crate::recall::meaning;
use crate::recall::question::Question;
use crate::recall::quotes::{Quote, Quoter, recall_message};
use crate::recall::scan::QuestionScan;
use crate::recall::shortlist::{Shortlist, rank_best};
use crate::recall::terms::TermAnalyzer;
use crate::record::message::{self, Message};
use crate::record::scan::records;
use crate::record::span::Span;
use crate::session::context_source::ContextSource;
use crate::tokens::Vocabulary;

/// The most bytes of a log that are scanned without an index, and that are indexed at once. Almost no session
/// is longer; what lies farther back is recalled only once all is indexed.
pub(crate) const MAX_SCAN_BYTES: u64 = 64 * 1024 * 1024;
const READ_BYTES: u64 = 1024 * 1024;
// The tokens of the fence and its first line, and of a quote beside its text.
const FRAME_TOKENS: u32 = 30;
const LINE_TOKENS: u32 = 6;
const MAX_OMITTED: usize = 3;

/// The progress of recall.
#[derive(Debug, Default)]
pub(super) enum RecallState {
    #[default]
    Unasked,
    Scanning(Box<QuoteScan>),
    Reading(Box<QuoteReading>),
    Ready(RecalledQuotes),
}

/// The matching quotes, the best first.
#[derive(Debug, Default)]
pub(super) struct RecalledQuotes {
    pub question: Question,
    question_start: u64,
    pub quotes: Vec<(Quote, Option<u32>)>,
    order: QuoteOrder,
}

// The order of the quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QuoteOrder {
    // By words, before vectors were requested; holds how many of them are quoted.
    Unasked(usize),
    // Final: by words alone, or by words and meaning.
    Words,
    Meaning,
}

/// The quotes for a question, kept so that asking it again, as at each step of a turn, needs no second search.
#[derive(Clone, Debug)]
pub(crate) struct Recollection {
    question_text: String,
    question_start: u64,
    // The number of revised lines in the log by then.
    repeated_count: usize,
    quotes: Vec<Quote>,
    order: QuoteOrder,
}

pub(super) struct QuoteScan {
    question: Question,
    words: TermAnalyzer,
    scan: QuestionScan,
    offset: u64,
    end: u64,
    // The offset of the question's line: its answers come before it.
    question_start: u64,
    // True until the host was asked for a shortlist from its index.
    is_new: bool,
}

pub(super) struct QuoteReading {
    question: Question,
    question_start: u64,
    words: TermAnalyzer,
    shortlist: Shortlist,
    // The lines still to read, of candidates and of the calls that they answer.
    spans_to_read: Vec<Span>,
    // The offsets of those lines, and the messages read with the offset of their end.
    places: BTreeSet<u64>,
    messages: BTreeMap<u64, (u64, Message)>,
}

impl core::fmt::Debug for QuoteScan {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Scanning").field("question", &self.question).finish_non_exhaustive()
    }
}

impl core::fmt::Debug for QuoteReading {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Reading").field("question", &self.question).finish_non_exhaustive()
    }
}

impl RecallState {
    /// Begins with the newest user message, whose line begins at `before`, in a log that ends at `end`.
    pub fn begin(&mut self, question_text: &str, before: u64, end: u64) {
        let mut words = TermAnalyzer::default();
        let question = Question::new(question_text, &mut words);
        let at = before.saturating_sub(MAX_SCAN_BYTES);
        *self = match question.terms.is_empty() || before == 0 {
            true => RecallState::Ready(RecalledQuotes {
                question_start: before,
                question,
                ..RecalledQuotes::default()
            }),
            false => {
                let scan = QuestionScan::new(at);
                RecallState::Scanning(Box::new(QuoteScan {
                    question,
                    words,
                    scan,
                    offset: at,
                    end,
                    question_start: before,
                    is_new: true,
                }))
            }
        };
    }

    /// Returns the question and the offset that answers come before, until a scan has begun.
    pub fn pending_question(&self) -> Option<(&Question, u64)> {
        match self {
            RecallState::Scanning(scanning) if scanning.is_new => {
                Some((&scanning.question, scanning.question_start))
            }
            _ => None,
        }
    }

    /// Scans the log, as no index has the answer: all of it, or as much as a user can wait for at every turn.
    pub fn begin_scan(&mut self, is_all: bool) {
        if let RecallState::Scanning(scanning) = self {
            scanning.is_new = false;
            if is_all {
                (scanning.scan, scanning.offset) = (QuestionScan::new(0), 0);
            }
        }
    }

    /// Takes a shortlist from the index.
    pub fn take_shortlist(&mut self, shortlist: Shortlist) {
        *self = match core::mem::take(self) {
            RecallState::Scanning(scanning) => QuoteReading::new(*scanning, shortlist).next(),
            other => other,
        }
    }

    /// Returns the lines to read for the shortlist, in order.
    pub fn lines_to_read(&self) -> Vec<Span> {
        match self {
            RecallState::Reading(reading) => reading.spans_to_read.iter().rev().copied().collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the quotes, for reuse. A log with more than one path is searched each time.
    pub fn recollection(&self, source: &ContextSource) -> Option<Recollection> {
        let RecallState::Ready(RecalledQuotes { question, question_start: before, quotes, order }) = self
        else {
            return None;
        };
        let quotes = quotes.iter().map(|(quote, _)| quote.clone()).collect();
        let (question_text, before, repeated) = (question.text.clone(), *before, source.skipped.len());
        source.path.is_none().then_some(Recollection {
            question_text,
            question_start: before,
            repeated_count: repeated,
            quotes,
            order: *order,
        })
    }

    /// Takes earlier quotes if they are for the same question and in the wanted order, and no message was revised
    /// since.
    pub fn reuse_recollection(
        &mut self,
        known: &Recollection,
        source: &ContextSource,
        is_by_meaning: bool,
    ) -> bool {
        let Some((question, before)) = self.pending_question() else { return false };
        let is_same = (&question.text, before, source.skipped.len(), source.path.is_none())
            == (&known.question_text, known.question_start, known.repeated_count, true)
            && is_by_meaning == (known.order == QuoteOrder::Meaning);
        if is_same {
            let quotes = known.quotes.iter().map(|quote| (quote.clone(), None)).collect();
            let order = known.order;
            *self = RecallState::Ready(RecalledQuotes {
                question: question.clone(),
                question_start: before,
                quotes,
                order,
            });
        }
        is_same
    }

    /// Returns the next range to read.
    pub fn next_range(&self) -> Option<Span> {
        match self {
            RecallState::Scanning(scanning) => {
                Some(Span { start: scanning.offset, end: (scanning.offset + READ_BYTES).min(scanning.end) })
            }
            RecallState::Reading(reading) => reading.spans_to_read.last().copied(),
            RecallState::Unasked | RecallState::Ready(_) => None,
        }
    }

    /// Takes the requested bytes.
    pub fn take(&mut self, bytes: &[u8], source: &ContextSource) {
        *self = match core::mem::take(self) {
            RecallState::Scanning(mut scanning) => {
                scanning.offset += bytes.len() as u64;
                let is_last = scanning.offset >= scanning.end || bytes.is_empty();
                let QuoteScan { question, words, scan, .. } = &mut *scanning;
                scan.feed(bytes, is_last, question, words);
                scanning.is_new = false;
                if is_last { scanning.finish_scan() } else { RecallState::Scanning(scanning) }
            }
            RecallState::Reading(mut reading) => {
                reading.take(bytes, source);
                reading.next()
            }
            other => other,
        }
    }

    /// Returns the texts whose vectors are wanted, the question first; `None` if they are not wanted or were taken.
    pub fn texts_to_embed(&mut self, is_by_meaning: bool) -> Option<Vec<String>> {
        let RecallState::Ready(recalled) = self else { return None };
        if !is_by_meaning || recalled.quotes.len() < 2 {
            recalled.apply_nearness(None);
        }
        let QuoteOrder::Unasked(_) = recalled.order else { return None };
        let texts = recalled.quotes.iter().take(meaning::MAX_TEXTS).map(|(quote, _)| quote.text.clone());
        Some(core::iter::once(recalled.question.text.clone()).chain(texts).collect())
    }

    /// Reorders by nearness; `None` leaves the order by words.
    pub fn apply_nearness(&mut self, nearness: Option<&[f32]>) {
        if let RecallState::Ready(recalled) = self {
            recalled.apply_nearness(nearness);
        }
    }

    pub fn recalled_quotes(&self) -> Option<&RecalledQuotes> {
        match self {
            RecallState::Ready(recalled) if !recalled.quotes.is_empty() => Some(recalled),
            _ => None,
        }
    }

    /// Prices the quotes that have no price.
    pub fn price_quotes(&mut self, prices: &mut Prices, vocabulary: Option<&Vocabulary>) {
        if let RecallState::Ready(recalled) = self {
            for (quote, cost) in &mut recalled.quotes {
                *cost = cost.or_else(|| prices.price_text(&quote.text, vocabulary));
            }
        }
    }
}

impl QuoteScan {
    fn finish_scan(mut self: Box<QuoteScan>) -> RecallState {
        let (corpus, places) =
            core::mem::replace(&mut self.scan, QuestionScan::new(0)).into_hits_before(self.question_start);
        let place = |field: usize, number: u32| places[field].get(number as usize).copied();
        let shortlist = Shortlist::new(&self.question, rank_best(&self.question, &corpus), &place);
        QuoteReading::new(*self, shortlist).next()
    }
}

impl QuoteReading {
    fn new(
        QuoteScan { question, words, end, question_start: before, .. }: QuoteScan,
        shortlist: Shortlist,
    ) -> QuoteReading {
        let all = shortlist
            .candidates
            .iter()
            .flat_map(|candidate| [Some(candidate.line), candidate.caller])
            .flatten();
        let lines: BTreeSet<Span> = all.collect();
        let places = lines.iter().map(|line| line.start).collect();
        let mut wanted =
            Span::merge_close(lines.into_iter().map(|line| Span { end: line.end.min(end), ..line }));
        wanted.reverse();
        QuoteReading {
            question,
            question_start: before,
            words,
            shortlist,
            spans_to_read: wanted,
            places,
            messages: BTreeMap::new(),
        }
    }

    fn take(&mut self, bytes: &[u8], source: &ContextSource) {
        let Some(Span { start, .. }) = self.spans_to_read.pop() else { return };
        for mut record in records(bytes) {
            (record.start, record.end) = (record.start + start, record.end + start);
            if !self.places.contains(&record.start) || Span::any_holds(&source.skipped, record.start) {
                continue;
            }
            let path = source.path.as_ref();
            let is_on =
                |message: &Message| path.is_none_or(|(branches, path)| branches.is_on(path, &message.id));
            if let Some(message) = message::read(&record).0.filter(is_on) {
                self.messages.insert(record.start, (record.end, message));
            }
        }
    }

    fn next(self) -> RecallState {
        if !self.spans_to_read.is_empty() {
            return RecallState::Reading(Box::new(self));
        }
        let QuoteReading { question, question_start: before, mut words, shortlist, messages: read, .. } =
            self;
        let quoting = Quoter { question: &question, worth: &shortlist.worth, read: &read };
        let (quotes, most) = quoting.collect_quotes(&shortlist.candidates, &mut words);
        let quotes = quotes.into_iter().map(|quote| (quote, None)).collect();
        RecallState::Ready(RecalledQuotes {
            question,
            question_start: before,
            quotes,
            order: QuoteOrder::Unasked(most),
        })
    }
}

/// The quotes in a context.
#[derive(Clone, Debug, Default)]
pub(super) struct RecallBlock {
    pub item: Item,
    /// The indexes of the quotes.
    pub quotes: Vec<usize>,
}

impl RecallBlock {
    pub fn cost(&self) -> u32 {
        if self.quotes.is_empty() { 0 } else { self.item.whole_cost() }
    }
}

impl Default for QuoteOrder {
    fn default() -> QuoteOrder {
        QuoteOrder::Unasked(0)
    }
}

impl RecalledQuotes {
    fn apply_nearness(&mut self, nearness: Option<&[f32]>) {
        let QuoteOrder::Unasked(most) = self.order else { return };
        self.order = if nearness.is_some() { QuoteOrder::Meaning } else { QuoteOrder::Words };
        meaning::reorder_by_nearness(&mut self.quotes, nearness.unwrap_or_default());
        self.quotes.truncate(most);
    }

    /// Returns the ids of the quoted messages.
    pub fn ids(&self) -> BTreeSet<&str> {
        self.quotes.iter().map(|(quote, _)| quote.id.as_str()).collect()
    }

    /// Quotes the best messages that are not in the context, within `room` tokens.
    pub fn quote_best(
        &self,
        room: u32,
        there: &BTreeSet<&str>,
        prices: &mut Prices,
        vocabulary: Option<&Vocabulary>,
    ) -> RecallBlock {
        let mut left = room.saturating_sub(FRAME_TOKENS);
        let mut quotes: Vec<usize> = Vec::new();
        for (place, (quote, cost)) in self.quotes.iter().enumerate() {
            if there.contains(quote.id.as_str()) {
                continue;
            }
            let cost = cost.unwrap_or(u32::MAX).saturating_add(LINE_TOKENS);
            if cost > left {
                // In the order by words, all behind it match worse.
                if self.order == QuoteOrder::Meaning {
                    continue;
                }
                break;
            }
            left -= cost;
            quotes.push(place);
        }
        self.fit_block(quotes, room, prices, vocabulary)
    }

    /// Returns the quoted texts.
    pub fn quoted_texts(&self, quoted: &RecallBlock) -> Vec<&str> {
        quoted.quotes.iter().map(|place| self.quotes[*place].0.text.as_str()).collect()
    }

    /// Reports what was recalled; `None` if nothing is quoted.
    pub fn report(&self, quoted: &RecallBlock, there: &BTreeSet<&str>) -> Option<Recall> {
        if quoted.quotes.is_empty() {
            return None;
        }
        let is_quoted = |place: &usize| quoted.quotes.contains(place);
        let messages = self.matches(quoted.quotes.iter().copied());
        let is_new = |candidate: &Match| {
            !there.contains(candidate.id.as_str()) && messages.iter().all(|quoted| quoted.id != candidate.id)
        };
        let rest = self.matches((0..self.quotes.len()).filter(|place| !is_quoted(place)));
        let left_out = rest.into_iter().filter(is_new).take(MAX_OMITTED).collect();
        Some(Recall {
            words: self.term_words(0..self.question.terms.len()),
            tokens: quoted.cost(),
            messages,
            left_out,
        })
    }

    // Lists each message once, with the words that all its passages have.
    fn matches(&self, quotes: impl Iterator<Item = usize>) -> Vec<Match> {
        let mut found: Vec<(String, BTreeSet<usize>)> = Vec::new();
        for (quote, _) in quotes.map(|place| &self.quotes[place]) {
            match found.iter_mut().find(|(id, _)| *id == quote.id) {
                Some((_, terms)) => terms.extend(&quote.terms),
                None => found.push((quote.id.clone(), quote.terms.iter().copied().collect())),
            }
        }
        found.into_iter().map(|(id, terms)| Match { id, words: self.term_words(terms) }).collect()
    }

    fn term_words(&self, terms: impl IntoIterator<Item = usize>) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        for term in terms {
            let word = &self.question.terms[term].word;
            if !words.contains(word) {
                words.push(word.clone());
            }
        }
        words
    }

    /// Fits as many of these quotes as `room` tokens hold, the best first.
    pub fn fit_block(
        &self,
        mut quotes: Vec<usize>,
        room: u32,
        prices: &mut Prices,
        vocabulary: Option<&Vocabulary>,
    ) -> RecallBlock {
        while !quotes.is_empty() {
            let chosen: Vec<&Quote> = quotes.iter().map(|place| &self.quotes[*place].0).collect();
            let mut item = Item::new(recall_message(&chosen), None);
            item.price(prices, vocabulary);
            if item.whole_cost() <= room {
                return RecallBlock { item, quotes };
            }
            quotes.pop();
        }
        RecallBlock::default()
    }
}
