//! Keeps the required messages and a summary of the rest, then whatever fits.

use crate::context::strategies::{Selection, StrategyInput, fill_beside_summary};

pub(crate) fn select(choice: &StrategyInput<'_>) -> Result<Selection, &'static str> {
    let selection = fill_beside_summary(choice, choice.steps.len());
    selection.ok_or("what has to be there does not fit beside what is known of the rest")
}
