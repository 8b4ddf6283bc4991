//! Finds the line of a failed result that says what went wrong.

use alloc::format;
use alloc::string::String;

use crate::json::fields::Fields;
use crate::json::text::{Text, grapheme_boundary};
use crate::plain::one_line;
use crate::state::cut_text;

// The bytes of a long result that are examined, at its beginning and at its end.
const HEAD_BYTES: usize = 4 * 1024;
const TAIL_BYTES: usize = 4 * 1024;
const MAX_ERROR_BYTES: usize = 240;

// Marks of an error's own line, the surest first, lowercase.
const ERROR_MARKS: [&[&str]; 3] = [
    &["error[", "error:", "fatal:", "panicked at", "exception:", "err!"],
    &["not found", "no such file", "denied", "refused", "timed out", "unable to", "cannot ", "could not"],
    &["failed", "failure", "fail ", "error", "invalid", "missing"],
];
// Beginnings of script or listing lines: they show what would be printed, not what was.
const SOURCE_BEGINNINGS: [&str; 9] = ["echo ", "printf ", "print(", "console.", "#", "//", "/*", "* ", "$ "];
// Phrases that clients add around the output, lowercase.
const CLIENT_PHRASES: [&str; 9] = [
    "exit code",
    "exited with code",
    "process exited",
    "command failed with exit",
    "wall time",
    "chunk id",
    "original token count",
    "output:",
    "shell cwd was reset",
];
// The JSON fields in which clients put the output.
const OUTPUT_KEYS: [&str; 6] = ["stderr", "error", "message", "output", "content", "stdout"];

/// Returns the error's line, made a single line; `None` if nothing was printed.
pub(crate) fn find_error_line(result: &str) -> Option<String> {
    let printed = unwrap_json(result);
    let result = printed.as_deref().unwrap_or(result);
    let ends = if result.len() <= HEAD_BYTES + TAIL_BYTES {
        [result, ""]
    } else {
        [cut_text(result, HEAD_BYTES), &result[grapheme_boundary(result, result.len() - TAIL_BYTES, true)..]]
    };
    let lines = || ends.iter().flat_map(|part| part.lines()).map(bare_line).filter(|line| is_printed(line));
    let has = |line: &str, marks: &[&str]| {
        let line = line.to_ascii_lowercase();
        marks.iter().any(|mark| line.contains(mark))
    };
    let found = ERROR_MARKS.iter().find_map(|marks| lines().find(|line| has(line, marks)));
    found.or_else(|| lines().next_back()).map(shorten)
}

fn shorten(line: &str) -> String {
    let line = one_line(line);
    if line.len() <= MAX_ERROR_BYTES { line } else { format!("{}…", cut_text(&line, MAX_ERROR_BYTES)) }
}

fn unwrap_json(result: &str) -> Option<String> {
    let json = result.trim_ascii();
    let fields = json.starts_with('{').then(|| Fields::parse(json).ok()).flatten()?;
    let printed = OUTPUT_KEYS.iter().filter_map(|name| Text::decode(fields.raw(name)?));
    printed.map(|text| String::from(text.as_str())).find(|text| !text.trim_ascii().is_empty())
}

// Removes the tags that clients put around an error.
fn bare_line(line: &str) -> &str {
    let mut line = line.trim_ascii();
    while let Some((tag, rest)) = line.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        if tag.is_empty() || tag.contains(' ') {
            break;
        }
        line = rest.trim_ascii();
    }
    line.rsplit_once("</")
        .filter(|(_, tag)| tag.ends_with('>'))
        .map_or(line, |(before, _)| before.trim_ascii())
}

fn is_printed(line: &str) -> bool {
    let small = cut_text(line, 80).to_ascii_lowercase();
    let has_letters = line.chars().filter(|c| c.is_alphabetic()).count() > 2;
    has_letters
        && !SOURCE_BEGINNINGS.iter().any(|begins| line.starts_with(begins))
        && !CLIENT_PHRASES.iter().any(|begins| small.trim_start_matches(['[', '(']).starts_with(begins))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_says_what_went_wrong_is_found_in_every_clients_results() {
        for (result, expected) in [
            ("Exit code 1\nrunning 3 tests\nerror: test failed", Some("error: test failed")),
            (
                "echo \"deploy failed\"\nls: x: No such file or directory",
                Some("ls: x: No such file or directory"),
            ),
            (
                "# Errors\n\nTraceback (most recent call last):\n  File \"a.py\"\nValueError: no 7",
                Some("ValueError: no 7"),
            ),
            (
                "<tool_use_error>String to replace not found in file.</tool_use_error>",
                Some("String to replace not found in file."),
            ),
            (
                r#"{"output":"a\nmake: *** [all] Error 2\n","metadata":{"exit_code":2}}"#,
                Some("make: *** [all] Error 2"),
            ),
            ("Output: \nProcess exited with code 1", None),
            ("one\ntwo words", Some("two words")),
            ("", None),
        ] {
            assert_eq!(find_error_line(result).as_deref(), expected, "{result}");
        }
    }
}
