//! Text on one line, as a reader sees it: nothing in it steers a terminal, nothing is hidden between its letters.

pub mod harmless;
pub(crate) mod wrapping;

use alloc::string::String;
use alloc::vec::Vec;

const JOINER: char = '\u{200d}';
const NON_JOINER: char = '\u{200c}';
/// The flags made of a black flag and unseen letters, without the black flag: England's, Scotland's, Wales'.
const SUBDIVISION_FLAGS: [&str; 3] = [
    "\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

/// Puts a text on one line. Removes escape sequences whole, not only their first byte; white space becomes one blank.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if let Some(behind) = text_after_escape(c, rest) {
            rest = behind;
        } else if let Some(flag) =
            SUBDIVISION_FLAGS.iter().find(|flag| c == '\u{1f3f4}' && rest.starts_with(**flag))
        {
            line.push(c);
            line.push_str(flag);
            rest = &rest[flag.len()..];
        } else if is_unseen(c) {
            if is_joiner(c) && is_joinable(line.chars().last()) && is_joinable(rest.chars().next()) {
                line.push(c);
            }
        } else if c.is_control() || c.is_whitespace() {
            line.push(' ');
        } else {
            line.push(c);
        }
    }
    line.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// True for characters without width that change what is read: marks of direction, joiners, letters only a model sees.
pub(crate) fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// True for the characters that join letters and emoji: without them the letters are others.
pub(crate) fn is_joiner(c: char) -> bool {
    matches!(c, JOINER | NON_JOINER)
}

// Emoji and letters of many scripts change when they are joined or not. No marker has such letters.
fn is_joinable(c: Option<char>) -> bool {
    c.is_some_and(|c| !c.is_ascii() && !is_unseen(c) && !c.is_control() && !c.is_whitespace())
}

// Returns the text behind an escape sequence that begins with this letter; one that never ends takes the rest of its
// line.
fn text_after_escape(c: char, rest: &str) -> Option<&str> {
    let (kind, body) = match c {
        '\u{1b}' => (rest.chars().next().unwrap_or(' '), rest.get(1..).unwrap_or_default()),
        '\u{9b}' => ('[', rest),
        '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => (']', rest),
        _ => return None,
    };
    let behind = match kind {
        '[' => {
            let of_sequence = |c: char| matches!(c, ' '..='?');
            let end = body.trim_start_matches(of_sequence);
            end.strip_prefix(|c| matches!(c, '@'..='~')).unwrap_or(end)
        }
        ']' | 'P' | 'X' | '^' | '_' => {
            let end = body.find(['\u{7}', '\u{1b}', '\u{9c}', '\n']).unwrap_or(body.len());
            let behind = &body[end..];
            ["\u{7}", "\u{1b}\\", "\u{9c}"].iter().find_map(|st| behind.strip_prefix(st)).unwrap_or(behind)
        }
        ' '..='/' => body.trim_start_matches(|c| matches!(c, ' '..='/')).get(1..).unwrap_or_default(),
        '0'..='~' => body,
        _ => rest,
    };
    Some(behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(one_line(text), expected);
        assert_eq!(one_line(expected), expected);
    }

    #[test]
    fn an_escape_goes_whole_and_what_is_no_escape_stays() {
        check("re\u{1b}[1;31md\u{1b}[0m [31m] [x]", "red [31m] [x]");
        check("\u{1b}]0;title\u{7}a\u{1b}]8;;http://b\u{1b}\\link\u{1b}]8;;\u{1b}\\", "alink");
        check("\u{9b}31ma\u{9d}0;t\u{9c}b\u{1b}(Bc\u{1b}7d\u{1b}Me", "abcde");
        check("a\u{1b}]0;never ends\nb \u{1b}[38;5", "a b");
        check("a\u{1b}", "a");
        check("a\u{1b}ü\u{1b}(ü", "aü");
        check("a\u{0}\u{8}b\r\n\tc\u{2028}d\u{85}e", "a b c d e");
    }

    #[test]
    fn letters_that_are_joined_stay_so_and_nothing_hides_in_a_word() {
        for whole in [
            "👩‍👩‍👧‍👦 ü",
            "🏳️‍🌈 ❤️‍🔥 👩🏽‍💻",
            "می\u{200c}خواهم",
            "ක්\u{200d}ෂ",
            "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}!",
        ] {
            check(whole, whole);
        }
        check("sys\u{200b}t\u{200d}em\u{e0041}\u{ad}\u{202e}", "system");
        check("👩\u{200d} a\u{200d}👩 \u{200d}\u{200d}", "👩 a👩");
        check("🏴\u{e0068}\u{e0069}\u{e007f}", "🏴");
    }
}
