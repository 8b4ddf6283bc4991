//! Shortens tool results by the rule of their tool, and cuts a message that is too long by itself.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use unicode_segmentation::UnicodeSegmentation;

use crate::json::text::grapheme_boundary;
use crate::record::message::Message;

// The longest preview of few, very long lines, in graphemes. A rule of lines would leave a minified file whole.
const MAX_PREVIEW_GRAPHEMES: usize = 4000;

/// Shortens a tool result by the rule of its tool; `None` if the rule leaves it whole. Sizes are in graphemes.
pub(crate) fn shorten_tool_result(content: &str, tool: &str) -> Option<String> {
    match tool {
        "Read" | "read_file" => shorten_file(content),
        "Bash" | "execute_bash" => {
            let chars = count_if_longer(content, 1000)?;
            Some(format!(
                "[Command output: {chars} chars]\n{}\n...\n{}",
                first_graphemes(content, 400),
                last_graphemes(content, 400)
            ))
        }
        "Grep" | "search" => {
            count_if_longer(content, 800)?;
            let matches = content.matches('\n').count() + 1;
            Some(format!("[Search: {matches} results]\n{}...", first_graphemes(content, 600)))
        }
        _ => {
            let chars = count_if_longer(content, 800)?;
            Some(format!("[Tool output: {chars} chars]\n{}...", first_graphemes(content, 600)))
        }
    }
}

/// Returns the message with other content and without its count, which no longer holds.
pub(crate) fn with_content(message: &Message, content: &str) -> Message {
    Message { content: content.into(), tokens: None, ..message.clone() }
}

/// Cuts the middle out of a text, leaving about this many bytes.
pub(crate) fn cut_middle(text: &str, bytes: usize) -> String {
    let head = &text[..grapheme_boundary(text, bytes * 2 / 3, false)];
    let tail = &text[grapheme_boundary(text, text.len().saturating_sub(bytes / 3), true)..];
    format!("{head}\n[... {} bytes left out ...]\n{tail}", text.len() - head.len() - tail.len())
}

fn shorten_file(content: &str) -> Option<String> {
    let lines: Vec<&str> = content.split('\n').collect();
    let preview = if lines.len() > 20 {
        let (first, last) = (lines[..10].join("\n"), lines[lines.len() - 10..].join("\n"));
        format!(
            "[File: {} lines]\n{first}\n\n... [{} lines omitted] ...\n\n{last}",
            lines.len(),
            lines.len() - 20
        )
    } else {
        String::from(content)
    };
    match count_if_longer(&preview, MAX_PREVIEW_GRAPHEMES) {
        Some(_) => Some(cut_middle(&preview, MAX_PREVIEW_GRAPHEMES)),
        None => (lines.len() > 20).then_some(preview),
    }
}

// Counts the graphemes if there are more than this many; bytes decide first, since a grapheme has at least one.
fn count_if_longer(text: &str, graphemes: usize) -> Option<usize> {
    if text.len() <= graphemes {
        return None;
    }
    if text.is_ascii() {
        return Some(text.len());
    }
    let count = count_graphemes(text);
    (count > graphemes).then_some(count)
}

// Counts the graphemes of a text. There is always a boundary between two ASCII letters, so only the surroundings of
// other characters are examined; a carriage return may be half of one.
fn count_graphemes(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut count, mut start) = (0, 0);
    for at in 1..=bytes.len() {
        if at == bytes.len() || (is_plain(bytes[at - 1]) && is_plain(bytes[at])) {
            count += if at == start + 1 { 1 } else { text[start..at].graphemes(true).count() };
            start = at;
        }
    }
    count
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii() && byte != b'\r'
}

fn first_graphemes(text: &str, graphemes: usize) -> &str {
    if text.as_bytes().iter().take(graphemes + 1).all(|byte| is_plain(*byte)) {
        return &text[..graphemes.min(text.len())];
    }
    text.grapheme_indices(true).nth(graphemes).map_or(text, |(end, _)| &text[..end])
}

fn last_graphemes(text: &str, graphemes: usize) -> &str {
    if text.as_bytes().iter().rev().take(graphemes + 1).all(|byte| is_plain(*byte)) {
        return &text[text.len().saturating_sub(graphemes)..];
    }
    let start = text.grapheme_indices(true).rev().nth(graphemes.saturating_sub(1));
    start.map_or(text, |(start, _)| &text[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tool_is_shortened_by_its_own_rule_and_only_past_its_threshold() {
        let check = |tool: &str, content: &str, expected: Option<&str>| {
            assert_eq!(shorten_tool_result(content, tool).as_deref(), expected, "{tool} {}", content.len());
        };
        let lines = |n: usize| (1..=n).map(|i| format!("{i}")).collect::<Vec<_>>().join("\n");
        check("Read", &lines(20), None);
        let ends = format!(
            "{}\n\n... [5 lines omitted] ...\n\n{}",
            lines(10),
            "16\n17\n18\n19\n20\n21\n22\n23\n24\n25"
        );
        check("read_file", &lines(25), Some(&format!("[File: 25 lines]\n{ends}")));
        let long = "x".repeat(1001);
        check("Bash", &long[..1000], None);
        let (first, last) = ("x".repeat(400), "x".repeat(400));
        check("execute_bash", &long, Some(&format!("[Command output: 1001 chars]\n{first}\n...\n{last}")));
        check("Grep", &"a\n".repeat(401), Some(&format!("[Search: 402 results]\n{}...", "a\n".repeat(300))));
        check("other", &long[..800], None);
        check("other", &long[..801], Some(&format!("[Tool output: 801 chars]\n{}...", "x".repeat(600))));
    }

    #[test]
    fn a_cut_never_falls_inside_a_grapheme() {
        let family = "👨‍👩‍👧";
        let text = family.repeat(900);
        let short = shorten_tool_result(&text, "other").unwrap_or_default();
        assert_eq!(short, format!("[Tool output: 900 chars]\n{}...", family.repeat(600)));
        for bytes in 0..200 {
            let cut = cut_middle(&text, bytes);
            let whole = |part: &str| part.is_empty() || part == family.repeat(part.len() / family.len());
            let (head, rest) = cut.split_once("\n[").unwrap_or_default();
            let tail = rest.split_once("]\n").unwrap_or_default().1;
            assert!(whole(head) && whole(tail), "{bytes}");
        }
    }

    #[test]
    fn letters_of_ascii_beside_others_are_counted_and_cut_as_graphemes() {
        // Combining marks, a joiner, a flag, carriage returns, a mark that joins what follows it.
        let parts = [
            "ab",
            "e\u{301}",
            "\r\n",
            "x\r",
            "\u{301}",
            "👨\u{200d}👩",
            "🇩🇪🇫",
            "\u{600}1",
            "한",
            " \t",
            "\n",
        ];
        for first in parts {
            for second in parts {
                for third in parts {
                    let text = [first, second, third, "yz", second].concat();
                    let whole: Vec<(usize, &str)> = text.grapheme_indices(true).collect();
                    assert_eq!(count_graphemes(&text), whole.len(), "{text:?}");
                    for n in 1..=whole.len() {
                        let end = whole.get(n).map_or(text.len(), |(at, _)| *at);
                        assert_eq!(first_graphemes(&text, n), &text[..end], "{text:?} {n}");
                        assert_eq!(
                            last_graphemes(&text, n),
                            &text[whole[whole.len() - n].0..],
                            "{text:?} {n}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_file_of_few_long_lines_is_cut_too() {
        let short = shorten_tool_result(&"x".repeat(100_000), "Read").unwrap_or_default();
        assert!(short.len() < 4100);
    }
}
