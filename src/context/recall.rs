//! Older messages that match the newest user message: found in the log, quoted within a share of the budget.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use crate::context::price::Prices;
use crate::context::report::{Match, Recall};
use crate::context::steps::Item;
use crate::recall::question::Question;
use crate::recall::quotes::{Quote, Quoting, caller, message};
use crate::recall::rank::{Ranked, Worth, rank};
use crate::recall::scan::{Asked, Row, Scan};
use crate::recall::words::Words;
use crate::record::message::{self, Message};
use crate::record::scan::records;
use crate::record::span::Span;
use crate::session::source::Source;
use crate::tokens::Vocabulary;

// How far back a log is read for it, in bytes: whoever asks at every turn waits for it at every turn, however long the log is.
const FARTHEST: u64 = 2 * 1024 * 1024;
const READ: u64 = 1024 * 1024;
// How many messages are looked at for what of them answers.
const MOST_MESSAGES: usize = 64;
// Messages that lie so close are read together.
const CLOSE: u64 = 8 * 1024;
// What the fence and its first line cost, and what a quote costs beside its text.
const FRAME: u32 = 30;
const LINE: u32 = 6;
const MOST_LEFT_OUT: usize = 3;

/// How far it is.
#[derive(Debug, Default)]
pub(super) enum Recalling {
    #[default]
    Unasked,
    Scanning(Scanning),
    Reading(Reading),
    Ready(Recalled),
}

/// What matches, the best first.
#[derive(Debug, Default)]
pub(super) struct Recalled {
    pub question: Question,
    pub quotes: Vec<(Quote, Option<u32>)>,
}

pub(super) struct Scanning {
    question: Question,
    words: Words,
    scan: Scan,
    at: u64,
    end: u64,
}

pub(super) struct Reading {
    question: Question,
    words: Words,
    rows: Vec<Row>,
    worth: Worth,
    ranked: Vec<Ranked>,
    // Their lines, and those of the calls that they answer; what is not read yet.
    places: BTreeMap<u64, usize>,
    wanted: Vec<Span>,
    read: BTreeMap<usize, Message>,
}

impl core::fmt::Debug for Scanning {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Scanning").field("question", &self.question).finish_non_exhaustive()
    }
}

impl core::fmt::Debug for Reading {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Reading").field("question", &self.question).finish_non_exhaustive()
    }
}

impl Recalling {
    /// Begins with what the newest user message says, whose line begins there.
    pub fn ask(&mut self, said: &str, at: u64) {
        let mut words = Words::default();
        let question = Question::new(said, &mut words);
        let start = at.saturating_sub(FARTHEST);
        *self = match question.terms.is_empty() || at == 0 {
            true => Recalling::Ready(Recalled::default()),
            false => {
                Recalling::Scanning(Scanning { question, words, scan: Scan::new(start), at: start, end: at })
            }
        };
    }

    /// The bytes to read next.
    pub fn wanted(&self) -> Option<Span> {
        match self {
            Recalling::Scanning(Scanning { at, end, .. }) => {
                Some(Span { start: *at, end: (*at + READ).min(*end) })
            }
            Recalling::Reading(reading) => reading.wanted.last().copied(),
            Recalling::Unasked | Recalling::Ready(_) => None,
        }
    }

    /// Takes what was wanted.
    pub fn take(&mut self, bytes: &[u8], source: &Source) {
        *self = match core::mem::take(self) {
            Recalling::Scanning(mut scanning) => {
                scanning.at += bytes.len() as u64;
                let is_last = scanning.at >= scanning.end || bytes.is_empty();
                let Scanning { question, words, scan, .. } = &mut scanning;
                scan.feed(bytes, is_last, &Asked { question, source }, words);
                if is_last { Reading::of(scanning).next() } else { Recalling::Scanning(scanning) }
            }
            Recalling::Reading(mut reading) => {
                reading.take(bytes);
                reading.next()
            }
            other => other,
        }
    }

    pub fn recalled(&self) -> Option<&Recalled> {
        match self {
            Recalling::Ready(recalled) if !recalled.quotes.is_empty() => Some(recalled),
            _ => None,
        }
    }

    /// Prices what has no price yet.
    pub fn price(&mut self, prices: &mut Prices, vocabulary: Option<&Vocabulary>) {
        if let Recalling::Ready(recalled) = self {
            for (quote, cost) in &mut recalled.quotes {
                *cost = cost.or_else(|| prices.text(&quote.text, vocabulary));
            }
        }
    }
}

impl Reading {
    fn of(Scanning { question, words, scan, .. }: Scanning) -> Reading {
        let rows = scan.into_rows();
        let worth = Worth::new(&question, &rows);
        let mut ranked = rank(&question, &rows, &worth);
        ranked.truncate(MOST_MESSAGES);
        // A question about something else need not be looked up.
        if worth.least(&question).is_none() {
            ranked.clear();
        }
        let called = ranked.iter().filter_map(|one| caller(&rows, one.row));
        let wanted = ranked.iter().map(|one| one.row).chain(called);
        let places: BTreeMap<u64, usize> = wanted.map(|row| (rows[row].place.start, row)).collect();
        let mut spans: Vec<Span> = Vec::new();
        for row in places.values() {
            let place = rows[*row].place;
            match spans.last_mut() {
                Some(last) if place.start < last.end + CLOSE && place.end - last.start < READ => {
                    last.end = place.end
                }
                Some(_) | None => spans.push(place),
            }
        }
        spans.reverse();
        Reading { question, words, rows, worth, ranked, places, wanted: spans, read: BTreeMap::new() }
    }

    fn take(&mut self, bytes: &[u8]) {
        let Some(Span { start, .. }) = self.wanted.pop() else { return };
        for mut record in records(bytes) {
            record.start += start;
            let Some(row) = self.places.get(&record.start) else { continue };
            if let Some(message) = message::read(&record).0 {
                self.read.insert(*row, message);
            }
        }
    }

    fn next(self) -> Recalling {
        if !self.wanted.is_empty() {
            return Recalling::Reading(self);
        }
        let Reading { question, mut words, rows, worth, ranked, read, .. } = self;
        let quoting = Quoting { question: &question, worth: &worth, rows: &rows, read: &read };
        let quotes = quoting.quotes(&ranked, &mut words).into_iter().map(|quote| (quote, None)).collect();
        Recalling::Ready(Recalled { question, quotes })
    }
}

/// What is quoted in a context.
#[derive(Clone, Debug, Default)]
pub(super) struct Quoted {
    pub item: Item,
    /// The places of the quotes.
    pub quotes: Vec<usize>,
}

impl Quoted {
    pub fn cost(&self) -> u32 {
        if self.quotes.is_empty() { 0 } else { self.item.whole() }
    }
}

impl Recalled {
    /// The best that so many tokens hold of what is not in the context.
    pub fn quoted(
        &self,
        room: u32,
        there: &BTreeSet<String>,
        prices: &mut Prices,
        vocabulary: Option<&Vocabulary>,
    ) -> Quoted {
        let mut left = room.saturating_sub(FRAME);
        let mut quotes: Vec<usize> = Vec::new();
        for (place, (quote, cost)) in self.quotes.iter().enumerate() {
            if there.contains(&quote.id) {
                continue;
            }
            let cost = cost.unwrap_or(u32::MAX).saturating_add(LINE);
            if cost > left {
                break;
            }
            left -= cost;
            quotes.push(place);
        }
        self.fitted(quotes, room, prices, vocabulary)
    }

    /// What is told of it; nothing where nothing is quoted.
    pub fn report(&self, quoted: &Quoted, there: &BTreeSet<String>) -> Option<Recall> {
        if quoted.quotes.is_empty() {
            return None;
        }
        let is_quoted = |place: &usize| quoted.quotes.contains(place);
        let messages = self.matches(quoted.quotes.iter().copied());
        let is_new =
            |one: &Match| !there.contains(&one.id) && messages.iter().all(|quoted| quoted.id != one.id);
        let rest = self.matches((0..self.quotes.len()).filter(|place| !is_quoted(place)));
        let left_out = rest.into_iter().filter(is_new).take(MOST_LEFT_OUT).collect();
        Some(Recall {
            words: self.words(0..self.question.terms.len()),
            tokens: quoted.cost(),
            messages,
            left_out,
        })
    }

    // Each message once, with the words that all its passages have.
    fn matches(&self, quotes: impl Iterator<Item = usize>) -> Vec<Match> {
        let mut found: Vec<(String, BTreeSet<usize>)> = Vec::new();
        for (quote, _) in quotes.map(|place| &self.quotes[place]) {
            match found.iter_mut().find(|(id, _)| *id == quote.id) {
                Some((_, terms)) => terms.extend(&quote.terms),
                None => found.push((quote.id.clone(), quote.terms.iter().copied().collect())),
            }
        }
        found.into_iter().map(|(id, terms)| Match { id, words: self.words(terms) }).collect()
    }

    fn words(&self, terms: impl IntoIterator<Item = usize>) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        for term in terms {
            let word = &self.question.terms[term].word;
            if !words.contains(word) {
                words.push(word.clone());
            }
        }
        words
    }

    /// These, as many of the best as so many tokens hold.
    pub fn fitted(
        &self,
        mut quotes: Vec<usize>,
        room: u32,
        prices: &mut Prices,
        vocabulary: Option<&Vocabulary>,
    ) -> Quoted {
        while !quotes.is_empty() {
            let chosen: Vec<&Quote> = quotes.iter().map(|place| &self.quotes[*place].0).collect();
            let mut item = Item::new(message(&chosen), None);
            item.price(prices, vocabulary);
            if item.whole() <= room {
                return Quoted { item, quotes };
            }
            quotes.pop();
        }
        Quoted::default()
    }
}
