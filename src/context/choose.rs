//! Tries the strategies in turn until one serves, and makes its context.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::context::budget::Budget;
use crate::context::build::more_spare;
use crate::context::host_strategies::HostStrategies;
use crate::context::price::Prices;
use crate::context::priced_summary::PricedSummary;
use crate::context::reading::Reading;
use crate::context::recall::{RecallBlock, RecalledQuotes};
use crate::context::report::{Action, Decision, Rejection, Report};
use crate::context::request::Request;
use crate::context::steps::{Item, Step, required_cost};
use crate::context::strategies::{ORDER, Selection, StepDecision, Strategy, StrategyInput};
use crate::context::{Context, Outcome};
use crate::error::{Code, Error};
use crate::record::message::{Message, Role};
use crate::session::input_request::InputRequest;
use crate::shapes;
use crate::tokens::Vocabulary;

/// The material that strategies choose from.
#[derive(Debug, Default)]
pub(super) struct Material {
    pub steps: Vec<Step>,
    pub orphans: Vec<Message>,
    pub summary: PricedSummary,
    /// True if the newest user message was cut to the room beside the other required messages.
    pub is_cut: bool,
}

/// The material, the request, and the counter of a choice.
#[derive(Clone, Copy)]
pub(super) struct Choosing<'a> {
    pub material: &'a Material,
    pub budget: Budget,
    pub vocabulary: Option<&'a Vocabulary>,
    pub request: &'a Request,
    pub reading: &'a Reading,
    pub recalled_quotes: Option<&'a RecalledQuotes>,
    pub host_strategies: &'a HostStrategies,
}

// A built-in strategy, or the index of a host strategy in the request.
#[derive(Clone, Copy)]
enum StrategyRef {
    Ours(Strategy),
    Theirs(usize),
}

impl Choosing<'_> {
    /// Returns the context of the first strategy that serves.
    ///
    /// # Errors
    /// `budget_too_small` if none does.
    pub fn choose_context(&self, prices: &mut Prices) -> Result<Outcome, Error> {
        let mut rejected: Vec<Rejection> = Vec::new();
        for tried in order_strategies(self.request) {
            let (name, context) = match tried {
                StrategyRef::Ours(strategy) => {
                    (strategy.as_str().to_string(), self.build_by_strategy(strategy, prices))
                }
                StrategyRef::Theirs(place) => {
                    let theirs = self.request.strategies[place].clone();
                    if self.budget.available_tokens < theirs.min_tokens {
                        (
                            theirs.name,
                            Err(format!(
                                "the budget is below the {} tokens that it needs",
                                theirs.min_tokens
                            )),
                        )
                    } else if !self.host_strategies.has(&theirs.name) {
                        let budget = self.budget.available_tokens;
                        return Ok(Outcome::Needs(InputRequest::Strategy { name: theirs.name, budget }));
                    } else {
                        let context = self.build_by_host(&theirs.name, prices);
                        (theirs.name, context)
                    }
                }
            };
            match context {
                Ok(context) => return Ok(Outcome::Ready(self.complete_report(context, rejected))),
                Err(why) => rejected.push(Rejection { strategy: name, why }),
            }
        }
        let (needed, found) = (self.required_budget(prices), self.budget.available_tokens);
        let message = format!(
            "the budget of {found} tokens is too small: what the context must hold needs at least {needed}"
        );
        Err(Error::new(Code::BudgetTooSmall, message))
    }

    /// Returns the context that a frame begins with: everything if it fits the budget, else what fits `fill`
    /// thousandths of it, so that there is room for what comes.
    ///
    /// # Errors
    /// `budget_too_small` if nothing fits the budget.
    pub fn cut_context(&self, fill: u32, prices: &mut Prices) -> Result<Outcome, Error> {
        let full = Strategy::FullHistory;
        let only_full = || Vec::from([full.as_str().to_string()]);
        let wants_full = self.request.only_strategies.as_ref().is_none_or(|only| *only == only_full());
        let cut = Budget { available_tokens: self.budget.share(fill), ..self.budget };
        if self.material.is_cut || prices.has_wanted() {
            return self.choose_context(prices);
        }
        if wants_full && let Ok(context) = self.build_by_strategy(full, prices) {
            return Ok(Outcome::Ready(self.complete_report(context, Vec::new())));
        }
        if !prices.has_wanted()
            && let Ok(Outcome::Ready(mut context)) =
                (Choosing { budget: cut, ..*self }).choose_context(prices)
        {
            context.token_budget = self.budget.available_tokens;
            context.report.budget = self.budget;
            return Ok(Outcome::Ready(context));
        }
        self.choose_context(prices)
    }

    pub(super) fn complete_report(&self, mut context: Context, rejected: Vec<Rejection>) -> Context {
        let to = context.recipient(self.request);
        let (files, thoughts) = shapes::report_unsent(&context.messages, self.request.format, to);
        (context.report.unsent_files, context.report.reasoning) = (files, thoughts);
        context.report.rejected = rejected;
        context
    }

    // Returns the least budget that holds the required messages.
    fn required_budget(&self, prices: &mut Prices) -> u32 {
        let steps = &self.material.steps;
        let least = required_cost(steps);
        let alone = StrategyInput { is_full: true, ..self.choice(least) };
        let Some(selection) = Strategy::Fallback.select(&alone).ok().filter(|_| prices.has_provider_shape())
        else {
            return least;
        };
        let sent = self.build_context(Strategy::Fallback, &ContextPlan::without_recall(selection)).messages;
        let more = prices.price_together(&sent, self.vocabulary).map_or(0, |sum| sum.saturating_sub(least));
        let is_cut = |item: &Item| item.is_newest_user && item.short.is_some();
        if !steps.iter().flat_map(|step| &step.items).any(is_cut) {
            return least.saturating_add(more);
        }
        let mut spare = 0;
        while spare < more {
            spare = more_spare(spare);
        }
        least.saturating_add(spare)
    }

    // In a provider's shape, messages cost more or less together than separately. An excess is taken off the budget
    // that is chosen from; room that is left is added to it, if another try is worth it.
    fn build_by_strategy(&self, strategy: Strategy, prices: &mut Prices) -> Result<Context, String> {
        let available = self.budget.available_tokens;
        let mut budget = available;
        let mut best: Option<Context> = None;
        // The budget from which the choice is known to be too large.
        let mut too_much = u32::MAX;
        // A choice too large as a sum may fit when counted together.
        let mut may_be_less =
            prices.has_provider_shape() && !self.material.is_cut && available >= strategy.least_budget();
        loop {
            let selection = match (self.select_with_recall(strategy, budget, prices), &best) {
                (Ok(selection), _) => selection,
                (Err(_), None) if may_be_less => {
                    (may_be_less, budget) = (false, u32::MAX);
                    continue;
                }
                (Err(why), None) => return Err(why.into()),
                (Err(_), Some(_)) => break,
            };
            let mut context = self.build_context(strategy, &selection);
            if !prices.has_provider_shape() {
                return Ok(context);
            }
            let together = prices.price_together(&context.messages, self.vocabulary);
            context.tokens_used = together.ok_or("what it sends could not be counted")?;
            let over = context.tokens_used.saturating_sub(available);
            if over > 0 {
                too_much = budget.min(selection.used_tokens());
                budget = too_much.saturating_sub(over);
                continue;
            }
            if best.as_ref().is_some_and(|best| !is_fuller(&context, best)) {
                break;
            }
            let more = available.saturating_add(selection.used_tokens().saturating_sub(context.tokens_used));
            let is_last = is_nearly_full(&context) || more <= budget || more >= too_much;
            (best, budget) = (Some(context), more);
            if is_last {
                break;
            }
        }
        best.ok_or_else(|| "what has to be there exceeds the budget".into())
    }

    // Selects a strategy's messages beside a recall block that repeats none of them.
    fn select_with_recall(
        &self,
        strategy: Strategy,
        budget: u32,
        prices: &mut Prices,
    ) -> Result<ContextPlan, &'static str> {
        let plain = strategy.select(&self.choice(budget))?;
        let is_all = !plain.has_summary && plain.decisions.iter().all(StepDecision::is_all);
        let Some(recalled) = self.recalled_quotes.filter(|_| !is_all && !self.material.is_cut) else {
            return Ok(ContextPlan::without_recall(plain));
        };
        let room = self.budget.before_cut().share(self.request.recall);
        let beside = self.choice(budget.saturating_sub(room));
        let Ok(least) = strategy.select_beside(&beside) else {
            return match self.has_later_strategy(strategy, &beside) {
                true => Err("the newest messages do not fit beside what is recalled"),
                false => Ok(ContextPlan::without_recall(plain)),
            };
        };
        let mut quoted =
            recalled.quote_best(room, &self.find_kept_ids(recalled, &least), prices, self.vocabulary);
        // The rest of the room goes to the newest messages, of which some may be among the recalled.
        loop {
            let summary = self.summary_beside(&quoted, prices);
            let left = self.choice(budget.saturating_sub(quoted.cost()));
            let choice = StrategyInput { summary_cost: summary.whole_cost(), ..left };
            let Ok(selection) = strategy.select_beside(&choice) else {
                return Ok(ContextPlan::without_recall(plain));
            };
            let kept = self.find_kept_ids(recalled, &selection);
            let is_kept = |place: &usize| kept.contains(recalled.quotes[*place].0.id.as_str());
            if !quoted.quotes.iter().any(is_kept) {
                return Ok(ContextPlan { selection, recall_block: quoted, summary: Some(summary) });
            }
            let rest = quoted.quotes.into_iter().filter(|place| !is_kept(place)).collect();
            quoted = recalled.fit_block(rest, room, prices, self.vocabulary);
        }
    }

    // True if a strategy that is tried later, and keeps less, serves.
    fn has_later_strategy(&self, strategy: Strategy, choice: &StrategyInput<'_>) -> bool {
        let is_wanted = |candidate: &Strategy| {
            *candidate != Strategy::Fallback
                && self
                    .request
                    .only_strategies
                    .as_ref()
                    .is_none_or(|only| only.iter().any(|name| name == candidate.as_str()))
        };
        let mut later =
            ORDER.into_iter().skip_while(|candidate| *candidate != strategy).skip(1).filter(is_wanted);
        later.any(|candidate| candidate.select(choice).is_ok())
    }

    // Returns the ids of the recallable messages, which are few, that the selection has.
    fn find_kept_ids<'b>(&self, recalled: &'b RecalledQuotes, selection: &Selection) -> BTreeSet<&'b str> {
        let ids = recalled.ids();
        let steps = self.material.steps.iter().zip(&selection.decisions);
        let there =
            steps.flat_map(|(step, kept)| sent_items(step, kept)).filter(|(_, is_short)| is_short.is_some());
        there.filter_map(|(item, _)| ids.get(item.message.id.as_str()).copied()).collect()
    }

    // Builds the context of a host strategy.
    fn build_by_host(&self, name: &str, prices: &mut Prices) -> Result<Context, String> {
        let items: Vec<&Item> = self.material.steps.iter().flat_map(|step| &step.items).collect();
        let messages = self.host_strategies.validate_messages(name, &items)?;
        let used =
            prices.price_together(&messages, self.vocabulary).ok_or("what it sends could not be counted")?;
        if used > self.budget.available_tokens {
            return Err(format!(
                "its messages have {used} tokens, the budget {}",
                self.budget.available_tokens
            ));
        }
        let mut report = self.report();
        let there: BTreeSet<&str> = messages.iter().map(|message| message.id.as_str()).collect();
        for item in items.into_iter().filter(|item| item.start.is_some()) {
            let is_there = there.contains(item.message.id.as_str());
            let action = if is_there { Action::Kept } else { Action::Dropped };
            let id = item.message.id.clone();
            report.messages.push(Decision { id, action, rule: "strategy", tokens: item.whole_cost() });
        }
        let included = messages.iter().filter(|message| !message.id.is_empty()).count() as u64;
        let context = self.finish_context(name, messages, (included, 0), report);
        Ok(Context { tokens_used: used, ..context })
    }

    fn choice(&self, budget: u32) -> StrategyInput<'_> {
        StrategyInput {
            steps: &self.material.steps,
            budget,
            is_complete: self.reading.is_complete(),
            is_summed_up: self.reading.compaction().is_some(),
            is_full: self.material.is_cut,
            summary_cost: self.material.summary.item.whole_cost(),
        }
    }

    fn build_context(&self, strategy: Strategy, selected: &ContextPlan) -> Context {
        let ContextPlan { selection, recall_block: quoted, summary } = selected;
        let Choosing { material, .. } = self;
        let summary = summary.as_ref().unwrap_or(&material.summary.item);
        let mut report = self.report();
        let mut messages: Vec<Message> = Vec::new();
        let mut included = BTreeSet::new();
        let mut placed_summary = !selection.has_summary;
        for (step, kept) in material.steps.iter().zip(&selection.decisions) {
            let is_system = step.items.first().is_some_and(|item| item.message.role == Some(Role::System));
            if *kept != StepDecision::No && !is_system && !placed_summary {
                messages.push(summary.message.clone());
                placed_summary = true;
            }
            for (item, is_short) in sent_items(step, kept) {
                report.messages.push(Decision::of(item, is_short, selection.has_summary));
                if let Some(is_short) = is_short {
                    if item.is_newest_user && !quoted.quotes.is_empty() {
                        messages.push(quoted.item.message.clone());
                    }
                    messages.push(item.as_sent(is_short));
                    included.extend(item.start);
                }
            }
        }
        if !placed_summary {
            messages.push(summary.message.clone());
        }
        report.recall = self
            .recalled_quotes
            .and_then(|recalled| recalled.report(quoted, &self.find_kept_ids(recalled, selection)));
        report.summary_tokens = selection.has_summary.then(|| summary.whole_cost());
        if selection.has_summary {
            let quoted =
                self.recalled_quotes.map(|recalled| recalled.quoted_texts(quoted)).unwrap_or_default();
            let shown_texts = [&[summary.message.content.as_str()], &*quoted].concat();
            report.summary_left_out =
                Some(material.summary.count_missing_lines(&shown_texts)).filter(|count| *count > 0);
        }
        let included = included.len() as u64;
        let summarized = if selection.has_summary { u64::MAX } else { 0 };
        let frame = self.request.fill.and_then(|_| {
            self.cut_frame(strategy.as_str(), selected, &summary.message, report.recall.as_ref())
        });
        let context = self.finish_context(strategy.as_str(), messages, (included, summarized), report);
        Context { tokens_used: selected.used_tokens(), frame: frame.map(Box::new), ..context }
    }

    // A quoted sentence is not repeated in the summary.
    fn summary_beside(&self, quoted: &RecallBlock, prices: &mut Prices) -> Item {
        let texts = self.recalled_quotes.map(|recalled| recalled.quoted_texts(quoted)).unwrap_or_default();
        self.material.summary.without_quoted(&texts, prices, self.vocabulary)
    }

    /// Begins a report with the division of the window, and the bytes read.
    pub(super) fn report(&self) -> Report {
        Report {
            budget: self.budget,
            bytes_read: self.reading.bytes_read(),
            encoding: self.request.counter.as_str().into(),
            assumed: self.request.assumed.clone(),
            compacted: self.reading.compaction_start(),
            ..Report::default()
        }
    }

    /// Completes a context, whose report gets a decision for each message in a step. A summary stands for at most the
    /// messages that are not in the context.
    pub(super) fn finish_context(
        &self,
        strategy: &str,
        messages: Vec<Message>,
        (included, summarized): (u64, u64),
        mut report: Report,
    ) -> Context {
        let orphan = |message| Decision::orphan(message, self.reading.is_read_to_start());
        report.messages.extend(self.material.orphans.iter().map(orphan));
        let original = self.reading.message_count();
        let read = report.messages.iter().filter(|decision| !decision.id.is_empty()).count() as u64;
        report.unread_message_count = original.saturating_sub(read);
        Context {
            tokens_used: 0,
            token_budget: report.budget.available_tokens,
            messages,
            strategy: strategy.into(),
            original_message_count: original,
            included_message_count: included,
            summarized_message_count: summarized.min(original.saturating_sub(included)),
            report,
            frame: None,
        }
    }
}

// A selection, and what is recalled beside it.
pub(super) struct ContextPlan {
    pub selection: Selection,
    pub recall_block: RecallBlock,
    // The summary beside the quotes.
    summary: Option<Item>,
}

impl ContextPlan {
    fn without_recall(selection: Selection) -> ContextPlan {
        ContextPlan { selection, recall_block: RecallBlock::default(), summary: None }
    }

    fn used_tokens(&self) -> u32 {
        self.selection.used_tokens.saturating_add(self.recall_block.cost())
    }
}

// Returns each item of a step with whether it is shortened; `None` if it is omitted. A pin appears as its standalone
// form.
fn sent_items<'a>(step: &'a Step, kept: &'a StepDecision) -> impl Iterator<Item = (&'a Item, Option<bool>)> {
    step.items.iter().enumerate().map(move |(place, item)| match kept {
        StepDecision::No => (item, None),
        StepDecision::Pins => match step.pins.iter().find(|pin| pin.start == item.start) {
            Some(pin) => (pin, Some(false)),
            None => (item, None),
        },
        StepDecision::All(flags) => (item, Some(flags.get(place).copied().unwrap_or_default())),
    })
}

// The number of messages decides first: all without a summary may cost less than most of them with one.
fn is_fuller(context: &Context, than: &Context) -> bool {
    context.included_message_count > than.included_message_count || context.tokens_used > than.tokens_used
}

// True if so much of the budget is used that more is not worth another count.
fn is_nearly_full(context: &Context) -> bool {
    u64::from(context.tokens_used) * 100 >= u64::from(context.token_budget) * 85
}

// Sorts by priority; at equal priority ours come first, then the host's in their order. The fallback is always last.
fn order_strategies(request: &Request) -> Vec<StrategyRef> {
    let fallback = i64::MAX;
    let is_wanted = |name: &str| {
        request.only_strategies.as_ref().is_none_or(|only| only.iter().any(|known| known == name))
    };
    let is_replaced = |name: &str| request.strategies.iter().any(|theirs| theirs.name == name);
    let ours = ORDER.into_iter().enumerate().filter_map(|(place, strategy)| {
        if place + 1 == ORDER.len() {
            return Some((fallback, StrategyRef::Ours(strategy)));
        }
        let name = strategy.as_str();
        (is_wanted(name) && !is_replaced(name)).then_some((place as i64 + 1, StrategyRef::Ours(strategy)))
    });
    let theirs = request.strategies.iter().enumerate().filter(|(_, strategy)| is_wanted(&strategy.name));
    let theirs =
        theirs.map(|(place, strategy)| (strategy.priority.min(fallback - 1), StrategyRef::Theirs(place)));
    let mut all: Vec<(i64, StrategyRef)> = ours.chain(theirs).collect();
    all.sort_by_key(|(priority, _)| *priority);
    all.into_iter().map(|(_, tried)| tried).collect()
}
