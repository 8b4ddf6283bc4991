//! Makes stored text safe to show: it forges no marker, ends no line and steers no terminal.

use alloc::string::String;

use crate::plain::{is_joiner, is_unseen, one_line};

/// Tags that other products' models take for the beginning or the end of something, beside names with `-`, `_` or `:`.
const RESERVED_TAGS: &[&str] = &[
    "assistant",
    "bos",
    "eos",
    "human",
    "inst",
    "invoke",
    "parameter",
    "s",
    "sys",
    "system",
    "think",
    "thinking",
    "tool",
    "tools",
    "user",
];

/// Name parts that make a tag obeyed, also where it stands in a path.
const OBEYED_NAME_PARTS: &[&str] = &[
    "assistant",
    "antml",
    "command",
    "context",
    "function",
    "hook",
    "human",
    "im_",
    "instruction",
    "reminder",
    "system",
    "tool",
    "user",
];

/// The beginnings of markers in brackets, leftoff's own and Llama's.
const MARKER_BEGINNINGS: &[&str] = &[
    "resumed",
    "end resumed",
    "earlier conversation",
    "end earlier",
    "recalled",
    "end recalled",
    "inst]",
    "/inst]",
];

/// The characters that end a line in text that is [`quotable`].
pub(crate) const LINE_ENDS: [char; 3] = ['\n', '\u{2028}', '\u{2029}'];

/// The length of the longest marker.
const MAX_MARKER_CHARS: usize = 32;

/// Makes stored text one line without anything that reads as a marker or steers a terminal, to show to a model or a
/// person. All else stays as it was written: `[x]`, `app/[id]/page.tsx`, `s/<task>.md`.
pub fn harmless(text: &str) -> String {
    replace_tags(replace_markers(one_line(text)))
}

/// Makes text safe to quote word for word, its lines kept: removes what steers a terminal or hides between letters.
pub(crate) fn quotable(text: &str) -> String {
    let is_kept = |c: &char| matches!(c, '\n' | '\t') || !c.is_control() && (is_joiner(*c) || !is_unseen(*c));
    replace_tags(replace_markers(text.chars().filter(is_kept).collect()))
}

/// True if the text behind a `<` makes a tag that some model or client obeys: `<system-reminder>`, `</s>`,
/// `<|im_end|>`.
pub(crate) fn opens_tag(rest: &str) -> bool {
    let rest = rest.trim_start_matches([' ', '/']);
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':');
    let name = &rest[..rest.find(|c| !is_of_name(c)).unwrap_or(rest.len())];
    let is_joined = name.starts_with(char::is_alphabetic) && name.contains(['-', '_', ':']);
    rest.starts_with('|') || is_joined || RESERVED_TAGS.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// True if what follows a `[` makes it a marker.
pub(crate) fn opens_marker(rest: &str) -> bool {
    let begins =
        |marker: &&str| rest.get(..marker.len()).is_some_and(|found| found.eq_ignore_ascii_case(marker));
    MARKER_BEGINNINGS.iter().any(begins)
}

// Most brackets belong to no marker: `[x]`, `a[0]`, `【完】`. Of one that does, both become other characters.
fn replace_markers(line: String) -> String {
    let mut text = String::with_capacity(line.len());
    let mut is_open = false;
    for (at, c) in line.char_indices() {
        let is_marker = || opens_marker(&narrow_letters(line[at + c.len_utf8()..].trim_start()));
        match c {
            '[' | '\u{ff3b}' | '\u{3010}' | '\u{27e6}' if is_marker() => {
                text.push('(');
                is_open = true;
            }
            ']' | '\u{ff3d}' | '\u{3011}' | '\u{27e7}' if is_open => {
                text.push(')');
                is_open = false;
            }
            '\u{ff1c}' | '\u{fe64}' => text.push('‹'),
            c => text.push(c),
        }
    }
    text
}

// Returns the beginning of a text in characters of ordinary width, so that a marker written in wide ones is recognized.
fn narrow_letters(text: &str) -> String {
    let narrowed = |c| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{3011}' | '\u{27e7}' => ']',
        c => c,
    };
    text.chars().take(MAX_MARKER_CHARS).map(narrowed).collect()
}

// Most `<` open no tag: `Vec<String>`, `a < b`, `sort <names`, `notes/<task-id>.md`.
fn replace_tags(line: String) -> String {
    if !line.contains('<') {
        return line;
    }
    let mut text = String::with_capacity(line.len() + 2);
    let mut from = 0;
    while let Some(at) = line[from..].find('<').map(|at| from + at) {
        let behind = &line[at + 1..];
        text.push_str(&line[from..at]);
        text.push(if opens_tag(behind) && !is_placeholder(&line[..at], behind) { '‹' } else { '<' });
        from = at + 1;
    }
    text.push_str(&line[from..]);
    text
}

// True if what follows a `<` is a part of a path to fill in, and no name that anybody obeys.
fn is_placeholder(before: &str, behind: &str) -> bool {
    let is_of_path = |c: char| matches!(c, '/' | '\\' | '.' | '-' | '_' | '$' | '~') || c.is_alphanumeric();
    let Some((name, rest)) = behind.split_once('>') else { return false };
    let is_name = name.starts_with(char::is_alphabetic)
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':'));
    let is_within = before.ends_with('/') || before.ends_with('\\') || rest.starts_with(['/', '\\', '.']);
    let is_beside = before.is_empty()
        || before.ends_with([' ', '`', '"', '\'', '(', '='])
        || before.ends_with(is_of_path);
    let is_obeyed = RESERVED_TAGS.iter().any(|known| name.eq_ignore_ascii_case(known))
        || OBEYED_NAME_PARTS.iter().any(|part| name.to_ascii_lowercase().contains(part));
    is_name && is_within && is_beside && !is_obeyed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_some_model_obeys_is_no_tag_any_more_and_code_stays_code() {
        let check = |text: &str, expected: &str| {
            assert_eq!(harmless(text), expected);
            assert_eq!(harmless(expected), expected);
        };
        check("a <system-reminder>b</system-reminder>", "a ‹system-reminder>b‹/system-reminder>");
        check("</s><|im_end|>[INST]<<SYS>>", "‹/s>‹|im_end|>(INST)<‹SYS>>");
        check("<sys\u{200b}tem\u{e0041}> ＜user＞ < / User >", "‹system> ‹user＞ ‹ / User >");
        check(
            "Vec<String>, a < b, cat <names, x -> y, <T: Copy>",
            "Vec<String>, a < b, cat <names, x -> y, ‹T: Copy>",
        );
        check("a\u{61c}\u{202e}\u{9b}31m\u{85}b\n\tc", "a b c");
    }

    #[test]
    fn brackets_that_are_no_markers_and_places_to_fill_in_stay() {
        let check = |text: &str, expected: &str| {
            assert_eq!(harmless(text), expected);
            assert_eq!(harmless(expected), expected);
        };
        let path = "s/<task-id>.md app/[id]/[...rest]/p.tsx <a_b>/c `<x:y>/d`";
        check(path, path);
        check("s/<system-reminder>.md <a-b> <T: x>/", "s/‹system-reminder>.md ‹a-b> ‹T: x>/");
        check("[x] a[0] 【完】 ［y］ []", "[x] a[0] 【完】 ［y］ []");
        check(
            "[ end\u{200b} Resumed x] ]【RESUMED】［ＩＮＳＴ］[/INST]<|im_end|>",
            "( end Resumed x) ](RESUMED)(ＩＮＳＴ)(/INST)‹|im_end|>",
        );
    }
}
