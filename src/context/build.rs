//! Reads until the budget is covered, then lets the strategies choose.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::context::budget::{Budget, calculate};
use crate::context::price::Prices;
use crate::context::read::{Reading, Source};
use crate::context::report::{Decision, Rejection, Report};
use crate::context::request::Request;
use crate::context::strategies::{Choice, ORDER, Selection, Strategy};
use crate::context::turns::{Item, Step, Steps, group, missing_results, required, with_content};
use crate::context::{Context, Needs, Outcome, shorten, summary};
use crate::error::{Code, Error};
use crate::session::checkpoint::Span;
use crate::session::message::{Message, Role};
use crate::tokens::Vocabulary;

const COUNT_ROUNDS: u32 = 6;
const SHORTEST_USER_TEXT: usize = 200;
// A cut of more bytes a token than any prose has is not worth a count.
const MOST_BYTES_A_TOKEN: usize = 12;
// How far one count of what was read is trusted to tell how much more to read.
const MOST_GROWTH: u64 = 4;
// Of a hundred parts of a budget, a summary has at most so many; and never more tokens than it has things to say.
const SUMMARY_SHARE: u32 = 30;
const LONGEST_SUMMARY: u32 = 4000;
// What surrounds the lines of a summary: its fence and the titles.
const SUMMARY_FRAME: u32 = 100;

/// A context that is being built.
#[derive(Debug)]
pub struct Build {
    request: Request,
    prices: Prices,
    reading: Reading,
    // How far to read by the guess; a count may show that it has to be more than the budget.
    aim: u64,
    rounds: u32,
}

// What the strategies choose from, and what it costs.
struct Material {
    steps: Vec<Step>,
    orphans: Vec<Message>,
    summary: Item,
}

impl Build {
    /// Begins a context.
    pub fn new(request: Request, source: Source) -> Build {
        let prices = Prices::new(request.counter.clone());
        Build { request, prices, reading: Reading::new(source), aim: 0, rounds: 0 }
    }

    /// The context, or what is needed for it.
    ///
    /// # Errors
    /// `budget_too_small`, saying what is needed, where not even the newest user message fits.
    pub fn next(&mut self, vocabulary: Option<&Vocabulary>) -> Result<Outcome, Error> {
        let system = self.prices.text(&self.request.system, vocabulary);
        let tools = self.prices.text(&self.request.tools, vocabulary);
        if let Some(needs) = self.wanted_counts() {
            return Ok(Outcome::Needs(needs));
        }
        let uncounted = || {
            Error::new(
                Code::InvalidRequest,
                "expected a count of the system prompt and the tools, but found none",
            )
        };
        let (system, tools) = system.zip(tools).ok_or_else(uncounted)?;
        let budget = calculate(self.request.window, system, tools, self.request.reserve);
        let available = budget.available_tokens;
        if let Some(range) = self.reading.wanted(self.aim.max(available.into())) {
            return Ok(Outcome::Needs(Needs::Bytes { range }));
        }
        if let Some(id) = self.reading.wanted_blob(u64::from(available) * MOST_BYTES_A_TOKEN as u64) {
            return Ok(Outcome::Needs(Needs::Blob { id }));
        }
        let mut material = self.material(vocabulary);
        if let Some(needs) = self.wanted_counts() {
            return Ok(Outcome::Needs(needs));
        }
        if let Some(range) = self.wanted_beyond(&material.steps, available.into()) {
            return Ok(Outcome::Needs(Needs::Bytes { range }));
        }
        self.shorten_user(&mut material.steps, available, vocabulary);
        material.summary = self.summary(&material.steps, available, vocabulary);
        if let Some(needs) = self.wanted_counts() {
            return Ok(Outcome::Needs(needs));
        }
        self.choose(&material, budget).map(Outcome::Ready)
    }

    /// Takes the bytes that were needed; `start` is where they lie in the log.
    ///
    /// # Errors
    /// `invalid_request` where other bytes were needed.
    pub fn bytes(&mut self, start: u64, bytes: &[u8]) -> Result<(), Error> {
        self.reading.take(start, bytes)
    }

    /// Takes a blob that was needed, if it is there; else the ends of its text are shown.
    pub fn blob(&mut self, id: &str, bytes: Option<&[u8]>) {
        self.reading.take_blob(id, bytes);
    }

    /// Takes the counts of texts that were needed, by the encoding that was asked for.
    pub fn counts(&mut self, counts: Vec<(String, u32)>) {
        for (text, tokens) in counts {
            self.prices.learn(text, tokens);
        }
    }

    fn wanted_counts(&mut self) -> Option<Needs> {
        let texts = self.prices.take_wanted();
        if texts.is_empty() || self.rounds == COUNT_ROUNDS {
            return None;
        }
        self.rounds += 1;
        Some(Needs::Counts { encoding: self.request.counter.as_str().into(), texts })
    }

    // A guess said that enough was read. Where the count says that all of it would fit, as much more is read as the
    // guess was too high.
    fn wanted_beyond(&mut self, steps: &[Step], budget: u64) -> Option<Span> {
        let least: u64 = steps.iter().map(|step| u64::from(step.least())).sum();
        if self.reading.is_complete() || least > budget {
            return None;
        }
        let guess = self.reading.guess();
        let aim = guess.saturating_mul(budget) / least.max(1);
        self.aim = aim.clamp(guess, guess.saturating_mul(MOST_GROWTH));
        self.reading.wanted(self.aim)
    }

    fn material(&mut self, vocabulary: Option<&Vocabulary>) -> Material {
        for item in self.reading.items() {
            item.price(&mut self.prices, vocabulary);
        }
        let Steps { mut steps, orphans } = group(self.reading.placed());
        for step in &mut steps {
            for message in missing_results(step) {
                step.items.push(Item::new(message, None));
            }
        }
        let ours = steps.iter_mut().flat_map(|step| &mut step.items).filter(|item| item.start.is_none());
        for item in ours {
            item.price(&mut self.prices, vocabulary);
        }
        Material { steps, orphans, summary: Item::default() }
    }

    // As much as its share holds; where that cannot be told yet, or it is more after all, only that something is left out.
    fn summary(&mut self, steps: &[Step], budget: u32, vocabulary: Option<&Vocabulary>) -> Item {
        let whole = steps.iter().fold(0u32, |sum, step| sum.saturating_add(step.whole()));
        if self.reading.is_complete() && whole <= budget {
            return Item::default();
        }
        let share = (budget / 100).saturating_mul(SUMMARY_SHARE).min(LONGEST_SUMMARY);
        let count = self.reading.message_count();
        let priced = |lines: &[summary::Line], prices: &mut Prices| {
            let mut item = Item::new(summary::message(lines, count), None);
            item.price(prices, vocabulary);
            item
        };
        let bare = priced(&[], &mut self.prices);
        let lines = summary::candidates(self.reading.known(), share);
        let price = |line: &summary::Line| self.prices.text(&line.text, vocabulary).unwrap_or(u32::MAX);
        let costs: Vec<u32> = lines.iter().map(price).collect();
        let full = summary::chosen(&lines, &costs, share.saturating_sub(SUMMARY_FRAME));
        let full = priced(&full, &mut self.prices);
        if full.whole() <= share { full } else { bare }
    }

    // Where what is required exceeds the budget, the newest user message is cut to what is left.
    fn shorten_user(&mut self, steps: &mut [Step], budget: u32, vocabulary: Option<&Vocabulary>) {
        let sum = required(steps);
        let mut items = steps.iter_mut().rev().flat_map(|step| &mut step.items);
        let is_user = |item: &&mut Item| item.is_required && item.message.role == Some(Role::User);
        let Some(item) = items.find(is_user).filter(|_| sum > budget) else { return };
        let room = budget.saturating_sub(sum.saturating_sub(item.whole()));
        let text = String::from(item.message.content.as_str());
        let mut bytes = text.len();
        while bytes > SHORTEST_USER_TEXT {
            bytes = bytes / 10 * 9;
            let cut = shorten::middle(&text, bytes);
            if cut.len() / MOST_BYTES_A_TOKEN > room as usize && bytes > SHORTEST_USER_TEXT * 10 {
                continue;
            }
            let price = self.prices.message(&with_content(&item.message, &cut), vocabulary);
            if price.is_some_and(|price| price <= room) {
                (item.short, item.short_cost) = (Some(cut), price);
                return;
            }
        }
    }

    fn choose(&self, material: &Material, budget: Budget) -> Result<Context, Error> {
        let choice = Choice {
            steps: &material.steps,
            budget: budget.available_tokens,
            is_complete: self.reading.is_complete(),
            summary_cost: material.summary.whole(),
        };
        let mut report = Report { budget, bytes_read: self.reading.bytes_read(), ..Report::default() };
        report.encoding = self.request.counter.as_str().into();
        for strategy in ORDER {
            match strategy.select(&choice) {
                Ok(selection) => return Ok(self.context(strategy, &selection, material, report)),
                Err(why) => report.rejected.push(Rejection { strategy: strategy.as_str(), why }),
            }
        }
        let (needed, found) = (required(&material.steps), budget.available_tokens);
        let message = format!(
            "expected a budget of at least {needed} tokens for what has to be there, but found {found} instead"
        );
        Err(Error::new(Code::BudgetTooSmall, message))
    }

    fn context(
        &self,
        strategy: Strategy,
        selection: &Selection,
        material: &Material,
        mut report: Report,
    ) -> Context {
        let mut messages: Vec<Message> = Vec::new();
        let mut included = BTreeSet::new();
        let mut placed_summary = !selection.has_summary;
        for (step, kept) in material.steps.iter().zip(&selection.kept) {
            let is_system = step.items.first().is_some_and(|item| item.message.role == Some(Role::System));
            if kept.is_some() && !is_system && !placed_summary {
                messages.push(material.summary.message.clone());
                placed_summary = true;
            }
            for (place, item) in step.items.iter().enumerate() {
                let is_short = kept.as_ref().map(|flags| flags.get(place).copied().unwrap_or_default());
                report.messages.push(Decision::of(item, is_short, selection.has_summary));
                if let Some(is_short) = is_short {
                    messages.push(item.as_sent(is_short));
                    included.extend(item.start);
                }
            }
        }
        if !placed_summary {
            messages.push(material.summary.message.clone());
        }
        let orphan = |message| Decision::orphan(message, self.reading.is_complete());
        report.messages.extend(material.orphans.iter().map(orphan));
        let original = self.reading.message_count();
        let read = report.messages.iter().filter(|decision| !decision.id.is_empty()).count() as u64;
        report.unread_message_count = original.saturating_sub(read);
        let included = included.len() as u64;
        let summarized = if selection.has_summary { original.saturating_sub(included) } else { 0 };
        Context {
            messages,
            strategy: strategy.as_str(),
            tokens_used: selection.used,
            token_budget: report.budget.available_tokens,
            original_message_count: original,
            included_message_count: included,
            summarized_message_count: summarized,
            report,
        }
    }
}
