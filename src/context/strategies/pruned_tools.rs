//! Keeps every message, shortening tool results from the oldest on until all fit.

use crate::context::strategies::{Selection, StepDecision, StrategyInput, first_recent, full_history};

pub(crate) fn select(choice: &StrategyInput<'_>) -> Result<Selection, &'static str> {
    let mut selection = full_history::select(&StrategyInput { budget: u32::MAX, ..*choice })?;
    if selection.used_tokens == u32::MAX {
        return Err("a message could not be counted");
    }
    let older = &choice.steps[..first_recent(choice.steps)];
    for (step, kept) in older.iter().zip(&mut selection.decisions) {
        let StepDecision::All(flags) = kept else { continue };
        for (item, is_short) in step.items.iter().zip(flags) {
            if selection.used_tokens > choice.budget && item.can_be_shortened() {
                *is_short = true;
                selection.used_tokens -= item.whole_cost() - item.least_cost();
            }
        }
    }
    if selection.used_tokens > choice.budget {
        return Err("the messages exceed the budget with every older tool result shortened");
    }
    Ok(selection)
}
