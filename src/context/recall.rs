//! Older messages that match the newest user message: found in the log, quoted within a share of the budget.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use crate::context::price::Prices;
use crate::context::report::{Match, Recall};
use crate::context::steps::Item;
use crate::recall::meaning;
use crate::recall::question::Question;
use crate::recall::quotes::{Quote, Quoting, message};
use crate::recall::scan::Scan;
use crate::recall::shortlist::{Shortlist, best};
use crate::recall::words::Words;
use crate::record::message::{self, Message};
use crate::record::scan::records;
use crate::record::span::Span;
use crate::session::source::Source;
use crate::tokens::Vocabulary;

/// How far back a log is looked through, in bytes, where no index has its words; and how much of it is indexed at once. It is more than
/// almost any session has: what lies farther back is recalled only once all is indexed.
pub(crate) const FARTHEST: u64 = 64 * 1024 * 1024;
const READ: u64 = 1024 * 1024;
// What the fence and its first line cost, and what a quote costs beside its text.
const FRAME: u32 = 30;
const LINE: u32 = 6;
const MOST_LEFT_OUT: usize = 3;

/// How far it is.
#[derive(Debug, Default)]
pub(super) enum Recalling {
    #[default]
    Unasked,
    Scanning(Box<Scanning>),
    Reading(Box<Reading>),
    Ready(Recalled),
}

/// What matches, the best first.
#[derive(Debug, Default)]
pub(super) struct Recalled {
    pub question: Question,
    before: u64,
    pub quotes: Vec<(Quote, Option<u32>)>,
    order: Order,
}

// In which order they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    // That of their words, where nobody was asked yet how near they are; so many of them are quoted.
    Unasked(usize),
    // That of their words, or the one that somebody joined with it.
    Words,
    Meaning,
}

/// What was recalled for a question, so that who asks it again, as at each step of a turn, need not look again.
#[derive(Clone, Debug)]
pub(crate) struct Recollection {
    said: String,
    before: u64,
    // So many lines of the log were said again by then.
    repeated: usize,
    quotes: Vec<Quote>,
    order: Order,
}

pub(super) struct Scanning {
    question: Question,
    words: Words,
    scan: Scan,
    at: u64,
    end: u64,
    // Where the line of the question begins: what answers it stands before.
    before: u64,
    // Nobody was asked yet who knows it without reading.
    is_new: bool,
}

pub(super) struct Reading {
    question: Question,
    before: u64,
    words: Words,
    shortlist: Shortlist,
    // What is not read yet of their lines, and of those of the calls that they answer.
    wanted: Vec<Span>,
    // Where these begin; what was read, with where it ends.
    places: BTreeSet<u64>,
    read: BTreeMap<u64, (u64, Message)>,
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
    /// Begins with what the newest user message says, whose line begins there, in a log that ends there.
    pub fn ask(&mut self, said: &str, before: u64, end: u64) {
        let mut words = Words::default();
        let question = Question::new(said, &mut words);
        let at = before.saturating_sub(FARTHEST);
        *self = match question.terms.is_empty() || before == 0 {
            true => Recalling::Ready(Recalled { before, question, ..Recalled::default() }),
            false => {
                let scan = Scan::new(at);
                Recalling::Scanning(Box::new(Scanning {
                    question,
                    words,
                    scan,
                    at,
                    end,
                    before,
                    is_new: true,
                }))
            }
        };
    }

    /// What is looked for, and before which line, as long as nothing was read for it.
    pub fn asked(&self) -> Option<(&Question, u64)> {
        match self {
            Recalling::Scanning(one) if one.is_new => Some((&one.question, one.before)),
            _ => None,
        }
    }

    /// Nobody knows it without reading: all of the log, or no more than whoever waits for it at every turn can wait for.
    pub fn scans(&mut self, is_all: bool) {
        if let Recalling::Scanning(one) = self {
            one.is_new = false;
            if is_all {
                (one.scan, one.at) = (Scan::new(0), 0);
            }
        }
    }

    /// Takes what somebody knows.
    pub fn shortlisted(&mut self, shortlist: Shortlist) {
        *self = match core::mem::take(self) {
            Recalling::Scanning(scanning) => Reading::of(*scanning, shortlist).next(),
            other => other,
        }
    }

    /// What to read of the log for what is known, in the order in which it is taken.
    pub fn lines(&self) -> Vec<Span> {
        match self {
            Recalling::Reading(reading) => reading.wanted.iter().rev().copied().collect(),
            _ => Vec::new(),
        }
    }

    /// What was recalled. A log with more than one path is looked at each time.
    pub fn recollection(&self, source: &Source) -> Option<Recollection> {
        let Recalling::Ready(Recalled { question, before, quotes, order }) = self else { return None };
        let quotes = quotes.iter().map(|(quote, _)| quote.clone()).collect();
        let (said, before, repeated) = (question.said.clone(), *before, source.repeated.len());
        source.path.is_none().then_some(Recollection { said, before, repeated, quotes, order: *order })
    }

    /// Whether that was recalled for the same question, in the order that is wanted, and nothing was said again since: then it is
    /// taken.
    pub fn remembers(&mut self, known: &Recollection, source: &Source, is_by_meaning: bool) -> bool {
        let Some((question, before)) = self.asked() else { return false };
        let is_same = (&question.said, before, source.repeated.len(), source.path.is_none())
            == (&known.said, known.before, known.repeated, true)
            && is_by_meaning == (known.order == Order::Meaning);
        if is_same {
            let quotes = known.quotes.iter().map(|quote| (quote.clone(), None)).collect();
            let order = known.order;
            *self = Recalling::Ready(Recalled { question: question.clone(), before, quotes, order });
        }
        is_same
    }

    /// The bytes to read next.
    pub fn wanted(&self) -> Option<Span> {
        match self {
            Recalling::Scanning(one) => Some(Span { start: one.at, end: (one.at + READ).min(one.end) }),
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
                let Scanning { question, words, scan, .. } = &mut *scanning;
                scan.feed(bytes, is_last, question, words);
                scanning.is_new = false;
                if is_last { scanning.found() } else { Recalling::Scanning(scanning) }
            }
            Recalling::Reading(mut reading) => {
                reading.take(bytes, source);
                reading.next()
            }
            other => other,
        }
    }

    /// The texts of which somebody is to say how near they are to the question, which is the first; none where that is not wanted, or
    /// was said.
    pub fn texts(&mut self, is_by_meaning: bool) -> Option<Vec<String>> {
        let Recalling::Ready(recalled) = self else { return None };
        if !is_by_meaning || recalled.quotes.len() < 2 {
            recalled.settle(None);
        }
        let Order::Unasked(_) = recalled.order else { return None };
        let texts = recalled.quotes.iter().take(meaning::MOST).map(|(quote, _)| quote.text.clone());
        Some(core::iter::once(recalled.question.said.clone()).chain(texts).collect())
    }

    /// Takes how near each of them is; nothing where nobody can tell.
    pub fn settle(&mut self, nearness: Option<&[f32]>) {
        if let Recalling::Ready(recalled) = self {
            recalled.settle(nearness);
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

impl Scanning {
    fn found(mut self: Box<Scanning>) -> Recalling {
        let (corpus, places) = core::mem::replace(&mut self.scan, Scan::new(0)).found(self.before);
        let place = |field: usize, number: u32| places[field].get(number as usize).copied();
        let shortlist = Shortlist::of(&self.question, best(&self.question, &corpus), &place);
        Reading::of(*self, shortlist).next()
    }
}

impl Reading {
    fn of(Scanning { question, words, end, before, .. }: Scanning, shortlist: Shortlist) -> Reading {
        let all = shortlist.candidates.iter().flat_map(|one| [Some(one.line), one.caller]).flatten();
        let lines: BTreeSet<Span> = all.collect();
        let places = lines.iter().map(|line| line.start).collect();
        let mut wanted =
            Span::together(lines.into_iter().map(|line| Span { end: line.end.min(end), ..line }));
        wanted.reverse();
        Reading { question, before, words, shortlist, wanted, places, read: BTreeMap::new() }
    }

    fn take(&mut self, bytes: &[u8], source: &Source) {
        let Some(Span { start, .. }) = self.wanted.pop() else { return };
        for mut record in records(bytes) {
            (record.start, record.end) = (record.start + start, record.end + start);
            if !self.places.contains(&record.start) || Span::any_holds(&source.repeated, record.start) {
                continue;
            }
            let path = source.path.as_ref();
            let is_on =
                |message: &Message| path.is_none_or(|(branches, path)| branches.is_on(path, &message.id));
            if let Some(message) = message::read(&record).0.filter(is_on) {
                self.read.insert(record.start, (record.end, message));
            }
        }
    }

    fn next(self) -> Recalling {
        if !self.wanted.is_empty() {
            return Recalling::Reading(Box::new(self));
        }
        let Reading { question, before, mut words, shortlist, read, .. } = self;
        let quoting = Quoting { question: &question, worth: &shortlist.worth, read: &read };
        let (quotes, most) = quoting.quotes(&shortlist.candidates, &mut words);
        let quotes = quotes.into_iter().map(|quote| (quote, None)).collect();
        Recalling::Ready(Recalled { question, before, quotes, order: Order::Unasked(most) })
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

impl Default for Order {
    fn default() -> Order {
        Order::Unasked(0)
    }
}

impl Recalled {
    fn settle(&mut self, nearness: Option<&[f32]>) {
        let Order::Unasked(most) = self.order else { return };
        self.order = if nearness.is_some() { Order::Meaning } else { Order::Words };
        meaning::ordered(&mut self.quotes, nearness.unwrap_or_default());
        self.quotes.truncate(most);
    }

    /// The messages that are quoted.
    pub fn ids(&self) -> BTreeSet<&str> {
        self.quotes.iter().map(|(quote, _)| quote.id.as_str()).collect()
    }

    /// The best that so many tokens hold of what is not in the context.
    pub fn quoted(
        &self,
        room: u32,
        there: &BTreeSet<&str>,
        prices: &mut Prices,
        vocabulary: Option<&Vocabulary>,
    ) -> Quoted {
        let mut left = room.saturating_sub(FRAME);
        let mut quotes: Vec<usize> = Vec::new();
        for (place, (quote, cost)) in self.quotes.iter().enumerate() {
            if there.contains(quote.id.as_str()) {
                continue;
            }
            let cost = cost.unwrap_or(u32::MAX).saturating_add(LINE);
            if cost > left {
                // By their words, what stands behind it matches worse.
                if self.order == Order::Meaning {
                    continue;
                }
                break;
            }
            left -= cost;
            quotes.push(place);
        }
        self.fitted(quotes, room, prices, vocabulary)
    }

    /// What of them is quoted.
    pub fn texts_of(&self, quoted: &Quoted) -> Vec<&str> {
        quoted.quotes.iter().map(|place| self.quotes[*place].0.text.as_str()).collect()
    }

    /// What is told of it; nothing where nothing is quoted.
    pub fn report(&self, quoted: &Quoted, there: &BTreeSet<&str>) -> Option<Recall> {
        if quoted.quotes.is_empty() {
            return None;
        }
        let is_quoted = |place: &usize| quoted.quotes.contains(place);
        let messages = self.matches(quoted.quotes.iter().copied());
        let is_new = |one: &Match| {
            !there.contains(one.id.as_str()) && messages.iter().all(|quoted| quoted.id != one.id)
        };
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
