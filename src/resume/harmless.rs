//! Text from the store that can be shown: it forges no marker, ends no line and steers no terminal.

use alloc::string::String;
use alloc::vec::Vec;

/// What other products' models take for the beginning or the end of something, beside names with `-`, `_` or `:`.
const NAMES: &[&str] = &[
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

/// What a marker in brackets begins with, leftoff's own and Llama's.
const MARKERS: &[&str] =
    &["resumed", "end resumed", "earlier conversation", "end earlier", "inst]", "/inst]"];

/// Text from the store on one line, without anything that reads as a marker or steers a terminal.
pub fn harmless(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '[' | '\u{ff3b}' | '\u{3010}' | '\u{27e6}' => line.push('('),
            ']' | '\u{ff3d}' | '\u{3011}' | '\u{27e7}' => line.push(')'),
            '\u{ff1c}' | '\u{fe64}' => line.push('‹'),
            c if is_unseen(c) => {}
            c if c.is_control() || c.is_whitespace() => line.push(' '),
            c => line.push(c),
        }
    }
    let line = line.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    untagged(line)
}

/// What takes no place and changes what is read: marks of direction, joiners, and letters that only a model sees.
pub(crate) fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Whether what follows a `<` makes a tag of it that some model or client obeys: `<system-reminder>`, `</s>`, `<|im_end|>`.
pub(crate) fn opens_tag(rest: &str) -> bool {
    let rest = rest.trim_start_matches([' ', '/']);
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':');
    let name = &rest[..rest.find(|c| !is_of_name(c)).unwrap_or(rest.len())];
    let is_joined = name.starts_with(char::is_alphabetic) && name.contains(['-', '_', ':']);
    rest.starts_with('|') || is_joined || NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Whether what follows a `[` makes a marker of it.
pub(crate) fn opens_marker(rest: &str) -> bool {
    let begins =
        |marker: &&str| rest.get(..marker.len()).is_some_and(|found| found.eq_ignore_ascii_case(marker));
    MARKERS.iter().any(begins)
}

// Most `<` are none of a tag's: `Vec<String>`, `a < b`, `sort <names`.
fn untagged(line: String) -> String {
    if !line.contains('<') {
        return line;
    }
    let mut rest = &*line;
    let mut text = String::with_capacity(line.len() + 2);
    while let Some(at) = rest.find('<') {
        let (before, behind) = (&rest[..at], &rest[at + 1..]);
        text.push_str(before);
        text.push(if opens_tag(behind) { '‹' } else { '<' });
        rest = behind;
    }
    text.push_str(rest);
    text
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
        check("a\u{61c}\u{202e}\u{9b}31m\u{85}b\n\tc", "a 31m b c");
    }
}
