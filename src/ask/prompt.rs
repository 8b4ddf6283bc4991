//! Builds the input of an engine: instructions, the conversation so far, the question.

use alloc::format;
use alloc::string::String;

/// The default prompt: instructions for an agent that searches.
pub const DEFAULT_PROMPT: &str = include_str!("prompt.md");

const INSTRUCTIONS_TAG: &str = "system_instructions";

/// Builds the text for an engine's standard input. `history` is the conversation so far as text, empty if there is
/// none; see [`resume::history::render_history`](crate::resume::history::render_history).
///
/// Nothing in the instructions can close their tag, and nothing in the history or the question can open or close one.
///
/// ```
/// assert_eq!(
///     leftoff::ask::prompt("Be brief.\n", "", "Where are retries?"),
///     "<system_instructions>\nBe brief.\n</system_instructions>\n\nWhere are retries?\n",
/// );
/// ```
pub fn prompt(instructions: &str, history: &str, question: &str) -> String {
    let [instructions, history, question] =
        [instructions, history, question].map(|text| escape_tag(text.trim_end()));
    let before = if history.is_empty() { history } else { format!("{history}\n\n") };
    format!("<{INSTRUCTIONS_TAG}>\n{instructions}\n</{INSTRUCTIONS_TAG}>\n\n{before}{question}\n")
}

// A model also recognizes a tag with blanks in it, or in capitals.
fn escape_tag(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for piece in text.split_inclusive('<') {
        safe.push_str(piece);
        let behind = &text[text.len().min(offset_of(text, piece) + piece.len())..];
        let name = behind.trim_start().trim_start_matches('/').trim_start();
        if piece.ends_with('<')
            && name
                .get(..INSTRUCTIONS_TAG.len())
                .is_some_and(|name| name.eq_ignore_ascii_case(INSTRUCTIONS_TAG))
        {
            safe.pop();
            safe.push_str("&lt;");
        }
    }
    safe
}

fn offset_of(text: &str, piece: &str) -> usize {
    piece.as_ptr() as usize - text.as_ptr() as usize
}
