//! What stands in a context for the messages that it leaves out: asked for, where somebody writes summaries, and priced.

use alloc::string::String;
use alloc::vec::Vec;

use memchr::memmem;

use crate::context::build::{Build, Written};
use crate::context::price::Prices;
use crate::context::steps::{Item, Step};
use crate::context::strategies::{Choice, fill_beside_summary, first_recent};
use crate::context::summary::{self, Line};
use crate::record::span::Span;
use crate::session::needs::Needs;
use crate::tokens::Vocabulary;

// Of a hundred parts of a budget, a summary has at most so many; and never more tokens than it has things to say.
const SHARE: u32 = 30;
const LONGEST: u32 = 4000;
// What surrounds the lines of a summary: its fence and the titles.
const FRAME: u32 = 100;
// How often lines are left out, where together they cost more than each of them said.
const TRIES: u32 = 4;

fn share(budget: u32) -> u32 {
    (budget / 100).saturating_mul(SHARE).min(LONGEST)
}

impl Build {
    /// The summary that is wanted, where something is left out and nobody was asked yet. It has to cover what is left out;
    /// it may cover as much more as half of the budget does not hold, so that the next one is wanted later.
    pub(super) fn wanted_summary(&mut self, steps: &[Step], budget: u32) -> Option<Needs> {
        if !self.request.summaries || !matches!(self.written, Written::Unasked) {
            return None;
        }
        let share = share(budget);
        let choice = Choice {
            steps,
            budget,
            is_complete: self.reading.is_complete(),
            is_summed_up: self.reading.compacted().is_some(),
            is_full: false,
            summary_cost: share,
        };
        let selection = fill_beside_summary(&choice, first_recent(steps))
            .or_else(|| fill_beside_summary(&choice, steps.len()))?;
        let read_from = self.reading.lines_from();
        let start = |step: &Step| step.items.first().and_then(|item| item.start).unwrap_or_default();
        let first_read = steps.iter().position(|step| start(step) >= read_from).unwrap_or(steps.len());
        let first_kept = selection.kept.iter().rposition(|kept| !kept.is_all()).map_or(0, |place| place + 1);
        if first_kept <= first_read && self.reading.is_complete() {
            return None;
        }
        let first_kept = first_kept.max(first_read);
        let mut room = budget.saturating_sub(share) / 2;
        let fits = |step: &&Step| {
            let is_in = step.least() <= room;
            room = room.saturating_sub(step.least());
            is_in
        };
        let newest = steps[first_kept..].iter().rev().take_while(fits).count();
        // The line of a revision lies behind its place.
        let starts_at = |place: usize| steps[place..].iter().map(start).min().unwrap_or(self.reading.end());
        let range = Span { start: 0, end: starts_at(steps.len() - newest) };
        let tokens = summary::part_of_written(share);
        Some(Needs::Summary { range, least: starts_at(first_kept), tokens })
    }

    /// As much as its share holds; where that cannot be told yet, or it is more after all, only that something is left out.
    pub(super) fn summary(
        &mut self,
        steps: &[Step],
        budget: u32,
        vocabulary: Option<&Vocabulary>,
    ) -> Omitted {
        let whole = steps.iter().fold(0u32, |sum, step| sum.saturating_add(step.whole()));
        let compacted = self.reading.compacted().cloned();
        if self.reading.is_complete() && whole <= budget && compacted.is_none() {
            return Omitted::default();
        }
        let share = share(budget);
        // What a compaction sums up may be less than what is left out.
        let is_complete = self.reading.is_complete();
        let written = match &self.written {
            Written::Some(text) => Some((text.as_str(), true)),
            Written::None | Written::Unasked => {
                compacted.as_ref().and_then(|one| Some((one.summary.as_deref()?, is_complete)))
            }
        };
        let written = written.map(|(text, is_all)| summary::Written { text, is_all });
        let (lines, more) = summary::candidates(self.reading.known(), written, share);
        let mut price = |line: &Line| self.prices.text(&line.text, vocabulary).unwrap_or(u32::MAX);
        let costs: Vec<u32> = lines.iter().map(&mut price).collect();
        let count = self.reading.message_count();
        let mut omitted = Omitted { lines, more, costs, share, count, item: Item::default() };
        omitted.item = omitted.within(share, &mut self.prices, vocabulary);
        omitted
    }
}

/// What stands for what is left out, and what it was chosen from.
#[derive(Debug, Default)]
pub(super) struct Omitted {
    pub item: Item,
    lines: Vec<Line>,
    // How many lines a share as large could not even hold.
    more: usize,
    costs: Vec<u32>,
    share: u32,
    count: u64,
}

impl Omitted {
    /// How many of its lines these texts do not tell.
    pub fn count_untold(&self, texts: &[&str]) -> u32 {
        let told = texts.iter().map(|text| spaced(text)).collect::<Vec<_>>().join("\n");
        let is_untold = |line: &&Line| memmem::find(told.as_bytes(), spaced(&line.text).as_bytes()).is_none();
        (self.lines.iter().filter(is_untold).count() + self.more) as u32
    }

    /// The same without the sentences that are quoted beside it, for no more.
    pub fn beside(&self, quoted: &[&str], prices: &mut Prices, vocabulary: Option<&Vocabulary>) -> Item {
        let quoted = quoted.iter().map(|text| spaced(text)).collect::<Vec<_>>().join("\n");
        let is_quoted = |line: &Line| {
            line.is_sentence && memmem::find(quoted.as_bytes(), spaced(&line.text).as_bytes()).is_some()
        };
        let rest = self.lines.iter().zip(&self.costs).filter(|(line, _)| !is_quoted(line));
        let (lines, costs): (Vec<Line>, Vec<u32>) = rest.map(|(line, cost)| (line.clone(), *cost)).unzip();
        if lines.len() == self.lines.len() {
            return self.item.clone();
        }
        Omitted { lines, costs, item: Item::default(), ..*self }.within(self.item.whole(), prices, vocabulary)
    }

    fn within(&self, most: u32, prices: &mut Prices, vocabulary: Option<&Vocabulary>) -> Item {
        let mut room = self.share.saturating_sub(FRAME);
        let bare = priced(&[], self.count, prices, vocabulary);
        for _ in 0..TRIES {
            let chosen = summary::chosen(&self.lines, &self.costs, room);
            let full = priced(&chosen, self.count, prices, vocabulary);
            if full.whole() <= most {
                return full;
            }
            room = room.saturating_sub(full.whole().saturating_sub(most));
        }
        bare
    }
}

// Lines may be broken in one of two texts alone.
fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn priced(lines: &[Line], count: u64, prices: &mut Prices, vocabulary: Option<&Vocabulary>) -> Item {
    let mut item = Item::new(summary::message(lines, count), None);
    item.price(prices, vocabulary);
    item
}
