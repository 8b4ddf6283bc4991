//! Keeps the required messages, then whatever fits.

use crate::context::strategies::{Selection, StrategyInput, fill};

pub(crate) fn select(choice: &StrategyInput<'_>) -> Result<Selection, &'static str> {
    fill(choice, choice.steps.len(), 0).ok_or("what has to be there exceeds the budget")
}
