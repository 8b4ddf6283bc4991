//! Finds the conversations that a text names: a session may belong to one that its messages were about.

use alloc::vec::Vec;

use memchr::memmem;

use super::{CONVERSATIONS, names};

/// Returns day and name of each conversation whose path stands in a text, `conversations/2026-11-22/001-chat`, with
/// either separator, also doubled as JSON has `\`; in the order of the text.
pub fn find_conversations(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = memmem::find(rest.as_bytes(), CONVERSATIONS.as_bytes()) {
        rest = &rest[at + CONVERSATIONS.len()..];
        if let Some((day, name, behind)) = parse_place(rest) {
            found.push((day, name));
            rest = behind;
        }
    }
    found
}

fn parse_place(rest: &str) -> Option<(&str, &str, &str)> {
    const DAY_CHARS: usize = "0000-00-00".len();
    let (day, rest) = strip_separators(rest)?.split_at_checked(DAY_CHARS)?;
    let rest = strip_separators(rest)?;
    let end = rest.find(is_end).unwrap_or(rest.len());
    let is_name = names::is_day(day) && end > 0 && !rest.starts_with('.');
    is_name.then(|| (day, &rest[..end], &rest[end..]))
}

fn strip_separators(text: &str) -> Option<&str> {
    let name = text.trim_start_matches(['/', '\\']);
    (name.len() < text.len()).then_some(name)
}

// True for characters that end a path in a text, or that some system forbids in file names.
fn is_end(letter: char) -> bool {
    matches!(letter, '/' | '\\' | '"' | '\'' | ':' | '*' | '?' | '<' | '>' | '|' | '\u{feff}')
        || letter.is_whitespace() && letter != '\u{85}'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str)]) {
        assert_eq!(find_conversations(text), expected, "{text}");
    }

    #[test]
    fn a_conversation_is_named_by_a_path_to_it() {
        let named = [("2026-11-22", "001-chat")];
        check("read conversations/2026-11-22/001-chat/notes.md", &named);
        check(r#"{"path":"C:\\w\\conversations\\2026-11-22\\001-chat\\a.md"}"#, &named);
        check("in `conversations//2026-11-22/001-chat: it", &named);
        check(
            "conversations/2026-11-22/a conversations/2026-11-23/b",
            &[("2026-11-22", "a"), ("2026-11-23", "b")],
        );
    }

    #[test]
    fn what_only_resembles_one_names_none() {
        for text in [
            "conversations",
            "conversations/today/a",
            "conversations2026-11-22/a",
            "conversations/2026-11-22",
            "conversations/2026-11-22/.hidden",
            "conversations/2026-11-22/ a",
        ] {
            check(text, &[]);
        }
    }
}
