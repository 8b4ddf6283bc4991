//! The summary of omitted messages: requested if the host writes summaries, and priced.
//!
//! A summary takes at most 0.3 of the budget, and at most 4,000 tokens: beyond that there is nothing left to say.

use alloc::string::String;
use alloc::vec::Vec;

use memchr::memmem;

use crate::context::build::{Build, HostSummary};
use crate::context::price::Prices;
use crate::context::steps::{Item, Step};
use crate::context::strategies::{StrategyInput, fill_beside_summary, first_recent};
use crate::context::summary::{self, SummaryLine};
use crate::record::span::Span;
use crate::session::input_request::InputRequest;
use crate::tokens::Vocabulary;

// The percentage of a budget that a summary may take. `MAX_SUMMARY_TOKENS` bounds it where there is nothing more to
// say.
const SUMMARY_SHARE_PERCENT: u32 = 30;
const MAX_SUMMARY_TOKENS: u32 = 4000;
// The tokens around the lines of a summary: its fence and titles.
const SUMMARY_FRAME_TOKENS: u32 = 100;

fn summary_share(budget: u32) -> u32 {
    (budget / 100).saturating_mul(SUMMARY_SHARE_PERCENT).min(MAX_SUMMARY_TOKENS)
}

impl Build {
    /// Returns the request for a summary if something is omitted and none was requested yet. It must cover all
    /// omitted messages, and may cover all but the newest half of the budget: so the next one is wanted later, a
    /// model is asked seldom, and each message is summarized once.
    pub(super) fn wanted_summary(&mut self, steps: &[Step], budget: u32) -> Option<InputRequest> {
        if !self.request.summaries || !matches!(self.host_summary, HostSummary::Unasked) {
            return None;
        }
        let share = summary_share(budget);
        let choice = StrategyInput {
            steps,
            budget,
            is_complete: self.reading.is_complete(),
            is_summed_up: self.reading.compaction().is_some(),
            is_full: false,
            summary_cost: share,
        };
        let selection = fill_beside_summary(&choice, first_recent(steps))
            .or_else(|| fill_beside_summary(&choice, steps.len()))?;
        let read_from = self.reading.lines_from();
        let start = |step: &Step| step.items.first().and_then(|item| item.start).unwrap_or_default();
        let first_read = steps.iter().position(|step| start(step) >= read_from).unwrap_or(steps.len());
        let first_kept =
            selection.decisions.iter().rposition(|kept| !kept.is_all()).map_or(0, |place| place + 1);
        if first_kept <= first_read && self.reading.is_complete() {
            return None;
        }
        let first_kept = first_kept.max(first_read);
        let mut room = budget.saturating_sub(share) / 2;
        let fits = |step: &&Step| {
            let is_in = step.least_cost() <= room;
            room = room.saturating_sub(step.least_cost());
            is_in
        };
        let newest = steps[first_kept..].iter().rev().take_while(fits).count();
        // The line of a revision lies behind its message's place.
        let starts_at = |place: usize| steps[place..].iter().map(start).min().unwrap_or(self.reading.end());
        let range = Span { start: 0, end: starts_at(steps.len() - newest) };
        let tokens = summary::written_summary_share(share);
        Some(InputRequest::Summary { range, least: starts_at(first_kept), tokens })
    }

    /// Builds the summary that fits its share; while lines have no price, or if none fits, it only says that messages
    /// are omitted.
    pub(super) fn build_summary(
        &mut self,
        steps: &[Step],
        budget: u32,
        vocabulary: Option<&Vocabulary>,
    ) -> PricedSummary {
        let whole = steps.iter().fold(0u32, |sum, step| sum.saturating_add(step.whole_cost()));
        let compacted = self.reading.compaction().cloned();
        if self.reading.is_complete() && whole <= budget && compacted.is_none() {
            return PricedSummary::default();
        }
        let share = summary_share(budget);
        // A compaction may cover less than what is omitted now.
        let is_complete = self.reading.is_complete();
        let written = match &self.host_summary {
            HostSummary::Some(text) => Some((text.as_str(), true)),
            HostSummary::None | HostSummary::Unasked => {
                compacted.as_ref().and_then(|one| Some((one.summary.as_deref()?, is_complete)))
            }
        };
        let written = written.map(|(text, is_all)| summary::WrittenSummary { text, is_all });
        let (lines, more) = summary::candidate_lines(self.reading.summary_input(), written, share);
        let mut price =
            |line: &SummaryLine| self.prices.price_text(&line.text, vocabulary).unwrap_or(u32::MAX);
        let costs: Vec<u32> = lines.iter().map(&mut price).collect();
        let count = self.reading.message_count();
        let mut omitted = PricedSummary {
            lines,
            dropped_line_count: more,
            costs,
            share,
            message_count: count,
            item: Item::default(),
        };
        omitted.item = omitted.fit_item(share, &mut self.prices, vocabulary);
        omitted
    }
}

/// The summary message, and the lines that it was chosen from.
#[derive(Debug, Default)]
pub(super) struct PricedSummary {
    pub item: Item,
    lines: Vec<SummaryLine>,
    // The number of lines beyond what even such a share could hold.
    dropped_line_count: usize,
    costs: Vec<u32>,
    share: u32,
    message_count: u64,
}

impl PricedSummary {
    /// Returns how many lines are missing from these texts.
    pub fn count_missing_lines(&self, texts: &[&str]) -> u32 {
        let shown_text = texts.iter().map(|text| collapse_whitespace(text)).collect::<Vec<_>>().join("\n");
        let is_untold = |line: &&SummaryLine| {
            memmem::find(shown_text.as_bytes(), collapse_whitespace(&line.text).as_bytes()).is_none()
        };
        (self.lines.iter().filter(is_untold).count() + self.dropped_line_count) as u32
    }

    /// Returns the summary without the sentences quoted beside it, at no higher cost.
    pub fn without_quoted(
        &self,
        quoted: &[&str],
        prices: &mut Prices,
        vocabulary: Option<&Vocabulary>,
    ) -> Item {
        let quoted = quoted.iter().map(|text| collapse_whitespace(text)).collect::<Vec<_>>().join("\n");
        let is_quoted = |line: &SummaryLine| {
            line.is_sentence
                && memmem::find(quoted.as_bytes(), collapse_whitespace(&line.text).as_bytes()).is_some()
        };
        let rest = self.lines.iter().zip(&self.costs).filter(|(line, _)| !is_quoted(line));
        let (lines, costs): (Vec<SummaryLine>, Vec<u32>) =
            rest.map(|(line, cost)| (line.clone(), *cost)).unzip();
        if lines.len() == self.lines.len() {
            return self.item.clone();
        }
        PricedSummary { lines, costs, item: Item::default(), ..*self }.fit_item(
            self.item.whole_cost(),
            prices,
            vocabulary,
        )
    }

    fn fit_item(&self, most: u32, prices: &mut Prices, vocabulary: Option<&Vocabulary>) -> Item {
        let mut room = self.share.saturating_sub(SUMMARY_FRAME_TOKENS);
        // Lines cost more together than separately, and others take the place of those that are dropped: each round
        // leaves off twice as much.
        let mut share_of_excess = 1;
        while room > 0 {
            let chosen = summary::choose_lines(&self.lines, &self.costs, room);
            let full = price_lines(&chosen, self.message_count, prices, vocabulary);
            if full.whole_cost() <= most {
                return full;
            }
            let excess = full.whole_cost().saturating_sub(most);
            room = room.saturating_sub(excess.saturating_mul(share_of_excess));
            share_of_excess *= 2;
        }
        price_lines(&[], self.message_count, prices, vocabulary)
    }
}

// Line breaks may differ between the two texts.
fn collapse_whitespace(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn price_lines(
    lines: &[SummaryLine],
    count: u64,
    prices: &mut Prices,
    vocabulary: Option<&Vocabulary>,
) -> Item {
    let mut item = Item::new(summary::summary_message(lines, count), None);
    item.price(prices, vocabulary);
    item
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;
    use crate::context::request::Request;
    use crate::context::summary::SummaryInput;
    use crate::record::message::{Message, Role};
    use crate::state::State;
    use crate::tokens::estimate;

    // By how much a line costs more in the summary than it is said to.
    const UNPRICED_TOKENS: u32 = 2;

    #[test]
    fn of_lines_that_cost_more_together_as_many_are_kept_as_fit() {
        let mut state = State::default();
        for number in 0..80 {
            let text =
                format!("We decided that queue {number} is called {}.", "a-name ".repeat(1 + number % 9));
            state.take_message(&Message {
                role: Some(Role::User),
                content: text.into(),
                ..Message::default()
            });
        }
        let input = SummaryInput { state: &state, project: "", pins: &[] };
        let (lines, _) = summary::candidate_lines(input, None, MAX_SUMMARY_TOKENS);
        let costs: Vec<u32> =
            lines.iter().map(|line| estimate(&line.text).saturating_sub(UNPRICED_TOKENS)).collect();
        let request = Request::from_json(r#"{"window":8000,"encoding":"estimate-1"}"#).expect("a request");
        let mut prices = Prices::new(&request);
        for (share, less) in (300..1500).step_by(7).flat_map(|share| (70..130).map(move |less| (share, less)))
        {
            let priced = PricedSummary {
                lines: lines.clone(),
                costs: costs.clone(),
                share,
                message_count: 80,
                ..PricedSummary::default()
            };
            let item = priced.fit_item(share - less, &mut prices, None);
            assert!(item.whole_cost() <= share - less, "{share} less {less}");
            assert!(item.message.content.as_str().contains("We decided"), "{share} less {less}");
        }
    }
}
