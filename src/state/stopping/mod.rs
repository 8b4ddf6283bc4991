//! Detects that the user wants to stop the conversation for now.
//!
//! The English phrases must fill a clause: "let's stop here" does, "let's stop using REST" does not. Quoted text does
//! not count. A wrong guess must cost nothing: a session may be paused by it, since whoever continues makes it active
//! again.

mod clauses;
mod matcher;
mod phrases;

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use matcher::Matcher;

/// A longer clause, in UTF-16 units, tells of something.
const MAX_CLAUSE_UNITS: usize = 200;

/// Returns the clause of a user's message that wants to stop; `None` for a text that only resembles one, such as
/// "stop the server". A session may be paused then, and whoever continues makes it active again; before anything that
/// cannot be undone, ask.
pub fn find_stop_phrase(text: &str) -> Option<String> {
    let text = clauses::without_quotes(text);
    let clauses = clauses::relevant_clauses(&text);
    clauses
        .into_iter()
        .find(|clause| clause.encode_utf16().count() < MAX_CLAUSE_UNITS && is_stop(clause))
        .map(ToOwned::to_owned)
}

fn is_stop(clause: &str) -> bool {
    let words = clauses::words(clause);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Matcher::new(&words).is_whole(phrases::CLAUSE)
}

#[cfg(test)]
mod tests;
