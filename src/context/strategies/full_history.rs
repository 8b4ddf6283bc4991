//! Keeps everything, if it fits.

use crate::context::strategies::{Selection, StepDecision, StrategyInput};

pub(crate) fn select(choice: &StrategyInput<'_>) -> Result<Selection, &'static str> {
    if !choice.is_complete {
        return Err("the newest messages alone exceed the budget");
    }
    let base = if choice.is_summed_up { choice.summary_cost } else { 0 };
    let used = choice.steps.iter().fold(base, |sum, step| sum.saturating_add(step.whole_cost()));
    if used > choice.budget {
        return Err("all messages together exceed the budget");
    }
    let whole = choice.steps.iter().map(|step| StepDecision::All(step.items.iter().map(|_| false).collect()));
    let kept = whole.collect();
    Ok(Selection { decisions: kept, used_tokens: used, has_summary: choice.is_summed_up })
}
