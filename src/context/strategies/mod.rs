//! The strategies, in the order in which they are tried.

mod fallback;
mod full_history;
mod minimal_state;
mod pruned_tools;
mod recent_plus_summary;

use alloc::vec::Vec;

use crate::context::steps::Step;

/// The number of newest messages that a strategy keeps as they are if it can: three exchanges.
pub(crate) const RECENT_MESSAGES: usize = 6;

/// The built-in strategies, in the order of trial, in which a new one takes its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    FullHistory,
    PrunedTools,
    RecentPlusSummary,
    MinimalState,
    Fallback,
}

pub(crate) const ORDER: [Strategy; 5] = [
    Strategy::FullHistory,
    Strategy::PrunedTools,
    Strategy::RecentPlusSummary,
    Strategy::MinimalState,
    Strategy::Fallback,
];

/// The input of a strategy.
pub(crate) struct StrategyInput<'a> {
    pub steps: &'a [Step],
    pub budget: u32,
    /// True if the steps are all there are.
    pub is_complete: bool,
    /// True if the conversation was compacted: a summary stands for what comes before the steps in any case.
    pub is_summed_up: bool,
    /// True if the required messages take all of the budget.
    pub is_full: bool,
    /// The cost of the summary.
    pub summary_cost: u32,
}

/// The decision about a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StepDecision {
    /// Omitted.
    No,
    /// Only its pins are kept.
    Pins,
    /// Kept; for each item, whether it is shortened.
    All(Vec<bool>),
}

impl StepDecision {
    pub fn is_all(&self) -> bool {
        matches!(self, StepDecision::All(_))
    }
}

/// The selection of a strategy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    /// The decision about each step.
    pub decisions: Vec<StepDecision>,
    /// The cost of all that is kept.
    pub used_tokens: u32,
    /// True if the summary is included.
    pub has_summary: bool,
}

impl Strategy {
    pub fn as_str(self) -> &'static str {
        match self {
            Strategy::FullHistory => "full-history",
            Strategy::PrunedTools => "pruned-tools",
            Strategy::RecentPlusSummary => "recent-plus-summary",
            Strategy::MinimalState => "minimal-state",
            Strategy::Fallback => "fallback",
        }
    }

    /// The least budget with which the strategy is tried.
    pub fn least_budget(self) -> u32 {
        match self {
            Strategy::FullHistory | Strategy::Fallback => 0,
            Strategy::PrunedTools => 2000,
            Strategy::RecentPlusSummary => 1500,
            Strategy::MinimalState => 400,
        }
    }

    /// Selects, or says why it cannot.
    pub fn select(self, choice: &StrategyInput<'_>) -> Result<Selection, &'static str> {
        if choice.budget < self.least_budget() {
            return Err("the budget is below what the strategy needs");
        }
        self.select_beside(choice)
    }

    /// Like [`Strategy::select`], within the rest of a budget that was enough to try the strategy.
    pub fn select_beside(self, choice: &StrategyInput<'_>) -> Result<Selection, &'static str> {
        match self {
            Strategy::FullHistory => full_history::select(choice),
            Strategy::PrunedTools => pruned_tools::select(choice),
            Strategy::RecentPlusSummary => recent_plus_summary::select(choice),
            Strategy::MinimalState => minimal_state::select(choice),
            Strategy::Fallback => fallback::select(choice),
        }
    }
}

/// Returns the first of the newest steps that hold at least [`RECENT_MESSAGES`] messages.
pub(crate) fn first_recent(steps: &[Step]) -> usize {
    let mut messages = 0;
    for (place, step) in steps.iter().enumerate().rev() {
        messages += step.items.len();
        if messages >= RECENT_MESSAGES {
            return place;
        }
    }
    0
}

/// Fills a budget newest first: required steps, the recent ones, then older ones while they fit.
///
/// The least cost of a step decides whether it is kept; results are made whole only within half of the budget, or
/// from what is left at the end. So twice the budget never keeps fewer steps, which a test proves.
pub(crate) fn fill(choice: &StrategyInput<'_>, first_recent: usize, base: u32) -> Option<Selection> {
    let steps = choice.steps;
    let mut kept: Vec<StepDecision> = steps.iter().map(|_| StepDecision::No).collect();
    let mut used = base;
    let fits = |used: u32, cost: u32| used.checked_add(cost).filter(|sum| *sum <= choice.budget);
    // A message that was cut takes all the room, and nothing optional stands beside it: twice the budget, which keeps
    // the message whole, could keep no more.
    let first_recent = if choice.is_full { steps.len() } else { first_recent };
    for (place, step) in steps.iter().enumerate() {
        let is_recent = place >= first_recent;
        if !is_recent && !step.is_required() {
            continue;
        }
        let are_pins = !is_recent && !step.pins.is_empty();
        used = fits(used, if are_pins { step.least_required_cost() } else { step.least_cost() })?;
        kept[place] = if are_pins { StepDecision::Pins } else { keep_shortened(step) };
    }
    restore_whole_items(&steps[first_recent..], &mut kept[first_recent..], &mut used, choice.budget / 2);
    let older = if choice.is_full { 0 } else { first_recent };
    for place in (0..older).rev() {
        let step = &steps[place];
        let before = match kept[place] {
            StepDecision::All(_) => continue,
            StepDecision::Pins => used - step.least_required_cost(),
            StepDecision::No => used,
        };
        let Some(sum) = fits(before, step.least_cost()) else { break };
        used = sum;
        kept[place] = keep_shortened(step);
    }
    restore_whole_items(steps, &mut kept, &mut used, choice.budget);
    Some(Selection { decisions: kept, used_tokens: used, has_summary: false })
}

/// Like [`fill`], beside a summary; without one if everything fits and there is nothing to summarize.
pub(crate) fn fill_beside_summary(choice: &StrategyInput<'_>, first_recent: usize) -> Option<Selection> {
    let is_all = |all: &Selection| {
        choice.is_complete && !choice.is_summed_up && all.decisions.iter().all(StepDecision::is_all)
    };
    if let Some(all) = fill(choice, first_recent, 0).filter(is_all) {
        return Some(all);
    }
    let selection = fill(choice, first_recent, choice.summary_cost)?;
    Some(Selection { has_summary: true, ..selection })
}

fn keep_shortened(step: &Step) -> StepDecision {
    StepDecision::All(step.items.iter().map(|item| item.can_be_shortened()).collect())
}

// Makes shortened items whole, newest first, as long as they fit.
fn restore_whole_items(steps: &[Step], kept: &mut [StepDecision], used: &mut u32, limit: u32) {
    for (step, flags) in steps.iter().zip(kept).rev() {
        let StepDecision::All(flags) = flags else { continue };
        for (item, is_short) in step.items.iter().zip(flags).rev() {
            let whole = used.saturating_add(item.whole_cost() - item.least_cost());
            if *is_short && whole <= limit {
                (*is_short, *used) = (false, whole);
            }
        }
    }
}
