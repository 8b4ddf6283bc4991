//! Every message, with older tool results shortened, oldest first, until it fits.

use crate::context::strategies::{Choice, Kept, Selection, first_recent, full_history};

pub(crate) fn select(choice: &Choice<'_>) -> Result<Selection, &'static str> {
    let mut selection = full_history::select(&Choice { budget: u32::MAX, ..*choice })?;
    if selection.used == u32::MAX {
        return Err("a message could not be counted");
    }
    let older = &choice.steps[..first_recent(choice.steps)];
    for (step, kept) in older.iter().zip(&mut selection.kept) {
        let Kept::All(flags) = kept else { continue };
        for (item, is_short) in step.items.iter().zip(flags) {
            if selection.used > choice.budget && item.can_be_shortened() {
                *is_short = true;
                selection.used -= item.whole() - item.least();
            }
        }
    }
    if selection.used > choice.budget {
        return Err("the messages exceed the budget with every older tool result shortened");
    }
    Ok(selection)
}
