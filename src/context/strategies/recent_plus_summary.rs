//! The newest messages, and for the older ones a summary.

use crate::context::strategies::{Choice, Selection, fill, first_recent};

pub(crate) fn select(choice: &Choice<'_>) -> Result<Selection, &'static str> {
    let selection = fill(choice, first_recent(choice.steps), choice.summary_cost);
    let selection = selection.ok_or("the newest messages do not fit beside a summary")?;
    Ok(Selection { has_summary: true, ..selection })
}
