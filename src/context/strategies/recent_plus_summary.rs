//! Keeps the newest messages, and a summary for the older ones.

use crate::context::strategies::{Selection, StrategyInput, fill_beside_summary, first_recent};

pub(crate) fn select(choice: &StrategyInput<'_>) -> Result<Selection, &'static str> {
    let selection = fill_beside_summary(choice, first_recent(choice.steps));
    selection.ok_or("the newest messages do not fit beside a summary")
}
