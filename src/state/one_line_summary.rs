//! Summarizes a conversation in one line, for lists and for whoever continues it.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{FactKind, State, cut_text};
use crate::plain::one_line;

const MAX_SUMMARY_BYTES: usize = 120;
const MAX_FILES: usize = 3;

impl State {
    /// Returns the changed files, the last decision, the open tasks and the last statement; `None` if nothing was
    /// said.
    pub fn render_line(&self, project: &str) -> Option<String> {
        let files: Vec<&str> = self
            .changed_files(project)
            .into_iter()
            .map(|(path, _)| super::relative_path(path, project))
            .collect();
        let changed = (!files.is_empty()).then(|| format!("changed {}", render_files(&files)));
        let last = |kind: FactKind| self.facts_of(kind).next_back().map(|fact| first_sentence(&fact.text));
        let (status, task) = (last(FactKind::Status), last(FactKind::Task));
        // A question decides nothing.
        let decided =
            last(FactKind::Decision).filter(|text| !text.ends_with('?') && status.as_ref() != Some(text));
        let end = match status {
            Some(status) => Some(format!("at the end: {status}")),
            None => task.map(|task| format!("asked, and not answered yet: {task}")),
        };
        let said = |how: &str, text: Option<String>| text.map(|text| format!("{how}: {text}"));
        let parts = [changed, said("decided", decided), said("open", last(FactKind::Open)), end];
        let line = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
        (!line.is_empty()).then_some(line)
    }
}

fn render_files(files: &[&str]) -> String {
    let named: Vec<String> = files.iter().rev().take(MAX_FILES).map(|path| one_line(path)).collect();
    match files.len().saturating_sub(MAX_FILES) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

// Returns the first sentence, or as much of it as a line takes.
fn first_sentence(text: &str) -> String {
    let line = one_line(text);
    let end = line.find(['.', '!', '?']).filter(|at| line[at + 1..].starts_with(' '));
    let line = end.map_or(&*line, |at| &line[..=at]);
    if line.len() <= MAX_SUMMARY_BYTES {
        return line.trim_end_matches('.').to_string();
    }
    // Never cuts within a word: no rule could recognize a part of a secret.
    format!("{}…", cut_text(line, MAX_SUMMARY_BYTES).rsplit_once(' ').map_or("", |(words, _)| words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::message::{Message, Role};

    fn of(said: &[(Role, &str)]) -> Option<String> {
        let mut state = State::default();
        for (role, text) in said {
            state.take_message(&Message { role: Some(*role), content: (*text).into(), ..Message::default() });
        }
        state.render_line("/p")
    }

    #[test]
    fn the_end_is_said_and_where_nobody_answered_what_was_asked() {
        assert_eq!(of(&[]), None);
        let question = (Role::User, "Shall we use REST? I am not sure.");
        assert_eq!(of(&[question]).as_deref(), Some("asked, and not answered yet: Shall we use REST?"));
        let answered = (Role::Assistant, "REST is\nsimpler. It has caches.");
        assert_eq!(of(&[question, answered]).as_deref(), Some("at the end: REST is simpler"));
    }

    #[test]
    fn no_word_is_cut_in_two_and_nothing_steers_a_terminal() {
        let secret = "x".repeat(200);
        let line = of(&[(Role::Assistant, &format!("The \u{1b}[31mtoken is {secret} now"))]);
        assert_eq!(line.as_deref(), Some("at the end: The token is…"));
    }
}
