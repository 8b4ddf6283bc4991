//! The newest messages, and for the older ones a summary.

use crate::context::strategies::{Choice, Selection, fill, first_recent};

pub(crate) fn select(choice: &Choice<'_>) -> Result<Selection, &'static str> {
    let recent = first_recent(choice.steps);
    // With the newest results shortened too, everything may fit; then there is nothing to summarise.
    let is_all = |all: &Selection| choice.is_complete && all.kept.iter().all(Option::is_some);
    if let Some(all) = fill(choice, recent, 0).filter(is_all) {
        return Ok(all);
    }
    let selection = fill(choice, recent, choice.summary_cost);
    let selection = selection.ok_or("the newest messages do not fit beside a summary")?;
    Ok(Selection { has_summary: true, ..selection })
}
