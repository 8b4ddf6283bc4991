//! Finds private keys, however they are shown: with line numbers, in a diff, quoted, within a string of source code, on
//! one line, encrypted, and also if a cut took the end away, or the beginning.

use alloc::boxed::Box;
use alloc::vec::Vec;

use once_cell::race::OnceBox;
use regex_automata::meta::Regex;

use super::rules::compile_pattern;
use crate::privacy::SecretSpan;

const RULE: &str = "privatekey";
/// The length from which a word is no word.
const MIN_KEY_WORD_BYTES: usize = 16;
/// The shortest whole line of a key, in every form.
const MIN_KEY_LINE_CHARS: usize = 40;
/// The most digits of a line's number.
const MAX_LINE_NUMBER_DIGITS: usize = 7;
/// The bytes behind a word that tell whether it stands alone, if no line ends there.
const LOOKAHEAD_BYTES: usize = 120;

const BEGIN_PATTERN: &str =
    r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|PuTTY-User-Key-File-\d+:[^\n]{0,300}";
const END_PATTERN: &str = r" ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}";
const HEADER_PATTERN: &str = r"\A(?:Proc-Type: \d,ENCRYPTED|DEK-Info: [\w-]+,[0-9A-Fa-f]+|(?:Version|Comment|Hash|Charset|MessageID|Encryption|Subject|Key-Derivation|Argon2-\w+|Public-Lines|Private-Lines|Private-MAC|Private-Hash):[^\n]{0,360}?(?:\s\s|\n|\z))";

#[derive(Debug)]
struct KeyPatterns {
    begin: Regex,
    end: Regex,
    ends_here: Regex,
    header: Regex,
}

/// Finds the private keys in a text.
pub(super) fn find_keys(text: &str) -> Vec<SecretSpan> {
    static KEY_PATTERNS: OnceBox<KeyPatterns> = OnceBox::new();
    let forms = KEY_PATTERNS.get_or_init(|| Box::new(KeyPatterns::new()));
    let mut found = forms.find_begun_keys(text);
    forms.find_ended_keys(text, &mut found);
    found
}

impl KeyPatterns {
    fn new() -> KeyPatterns {
        KeyPatterns {
            begin: compile_pattern(BEGIN_PATTERN),
            end: compile_pattern(&["-{4,5}", END_PATTERN].concat()),
            // Where a diff removes a line, there is one dash more.
            ends_here: compile_pattern(&[r"\A[- ]*-{4}", END_PATTERN].concat()),
            header: compile_pattern(HEADER_PATTERN),
        }
    }

    /// Finds the keys whose beginning is there.
    fn find_begun_keys(&self, text: &str) -> Vec<SecretSpan> {
        let mut found: Vec<SecretSpan> = Vec::new();
        let mut done = 0;
        for head in self.begin.find_iter(text.as_bytes()) {
            if head.start() < done {
                continue;
            }
            let Some(end) = self.body_end(text.as_bytes(), head.end()) else { continue };
            found.push(span(head.start(), end));
            done = end;
        }
        found
    }

    /// Adds the keys of which only the end is there.
    fn find_ended_keys(&self, text: &str, found: &mut Vec<SecretSpan>) {
        let begun = found.len();
        let (mut next, mut least) = (0, 0);
        for foot in self.end.find_iter(text.as_bytes()) {
            // Keys that begin before this end are done: both lists go forward.
            while next < begun && found[next].start <= foot.start() {
                least = least.max(found[next].end);
                next += 1;
            }
            if foot.start() < least {
                continue;
            }
            let start = body_start(text, foot.start(), least);
            if start < foot.start() {
                found.push(span(start, foot.end()));
            }
            least = foot.end();
        }
    }

    /// Finds the end of the body that begins there; `None` if no body does.
    fn body_end(&self, text: &[u8], start: usize) -> Option<usize> {
        let (mut end, mut last, mut at) = (None, 0, start);
        loop {
            at = skip_decoration(text, at);
            if end.is_some()
                && let Some(foot) = self.end_at(text, at)
            {
                return Some(foot);
            }
            if let Some(header) = self.header.find(&text[at..]) {
                at += text[at..][header.range()].trim_ascii_end().len();
                continue;
            }
            let next = at + text[at..].iter().take_while(|byte| is_body(**byte)).count();
            let size = next - at;
            // The last line may be short: if it stands alone, or the key ends behind it.
            let ends_behind = || self.end_at(text, skip_decoration(text, next)).is_some();
            let is_last =
                || last >= MIN_KEY_LINE_CHARS && size > 1 && (is_alone(text, next) || ends_behind());
            if size < MIN_KEY_WORD_BYTES && !is_last() {
                return end;
            }
            (end, last, at) = (Some(next), size, next);
            if size < MIN_KEY_WORD_BYTES && !ends_behind() {
                return end;
            }
        }
    }

    /// Finds what follows the end line of a key that stands there; its dashes look like those of a diff.
    fn end_at(&self, text: &[u8], at: usize) -> Option<usize> {
        let start = start_of_dashes(text, at);
        self.ends_here.find(&text[start..]).map(|found| start + found.end())
    }
}

fn span(start: usize, end: usize) -> SecretSpan {
    SecretSpan { start, end, rule: RULE.into() }
}

fn is_body(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_')
}

/// Skips what a line may have before or behind its text: numbers, arrows, marks of diffs and quotes, signs of strings
/// and comments.
fn skip_decoration(text: &[u8], start: usize) -> usize {
    let mut at = start;
    loop {
        let rest = &text[at..];
        at += match rest {
            [0xe2, 0x86, 0x92, ..] | [0xe2, 0x94, 0x82, ..] => 3, // An arrow, a bar.
            [byte, ..] if byte.is_ascii_whitespace() || *byte == 0x0b => 1,
            [byte, ..] if b">|+-#*:.,\"'`\\;%(){}[]&$@!~<".contains(byte) => 1,
            _ => {
                let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let is_number = (1..=MAX_LINE_NUMBER_DIGITS).contains(&digits);
                match &rest[digits..] {
                    [0xe2, 0x86, 0x92, ..] if is_number => digits,
                    [byte, ..] if is_number && (byte.is_ascii_whitespace() || b":|>.)-".contains(byte)) => {
                        digits
                    }
                    _ => return at,
                }
            }
        };
    }
}

/// Finds the beginning of the body that ends there.
fn body_start(text: &str, end: usize, least: usize) -> usize {
    let (mut start, mut at, mut is_last) = (end, end, true);
    while at > least {
        let line_start = text[least..at].rfind('\n').map_or(least, |feed| least + feed + 1);
        let line = &text[line_start..at];
        let longest = line.as_bytes().split(|byte| !is_body(*byte)).map(<[u8]>::len).max().unwrap_or(0);
        // The last line of a key may be short, if there are more.
        let is_blank = line.trim().is_empty();
        if longest >= MIN_KEY_WORD_BYTES {
            start = line_start;
        } else if !is_blank && at != end && !is_last {
            break;
        }
        is_last &= at == end || is_blank;
        // Before the line feed, which the remaining text may lack.
        at = line_start.saturating_sub(1);
    }
    start
}

fn start_of_dashes(text: &[u8], at: usize) -> usize {
    let mut start = at;
    while text[..start].ends_with(b"-") || text[..start].ends_with(b"- ") {
        start -= 1;
    }
    start
}

fn is_alone(text: &[u8], at: usize) -> bool {
    let rest = &text[at..];
    let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len()).min(LOOKAHEAD_BYTES);
    !rest[..end].iter().any(u8::is_ascii_alphanumeric)
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    use super::super::merge_overlaps;
    use super::*;

    /// The lines of a key, with those that name it.
    fn key() -> Vec<String> {
        let body = |first: char| format!("{first}{}", "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW".repeat(2));
        let name = "-----BEGIN RSA PRIVATE KEY-----";
        let mut lines = Vec::from([name.into()]);
        lines.extend(['M', 'Q', 'x', '+'].map(body));
        lines.extend(["k9/Zt3==".into(), name.replace("BEGIN", "END")]);
        lines
    }

    fn render_key(form: impl Fn(usize, &str) -> String, between: &str) -> String {
        let lines: Vec<String> = key().iter().enumerate().map(|(at, line)| form(at + 1, line)).collect();
        lines.join(between)
    }

    fn left_of(text: &str) -> String {
        let mut left = String::from(text);
        for SecretSpan { start, end, .. } in merge_overlaps(find_keys(text)).into_iter().rev() {
            left.replace_range(start..end, "[key]");
        }
        left
    }

    #[test]
    fn a_key_is_found_in_each_form_and_nothing_beside_it() {
        let forms = [
            ("", render_key(|_, line| line.into(), "\n"), ""),
            (
                "     1→",
                render_key(|at, line| if at == 1 { line.into() } else { format!("{at:6}→{line}") }, "\n"),
                "",
            ),
            (
                "1:",
                render_key(|at, line| if at == 1 { line.into() } else { format!("{at}:{line}") }, "\n"),
                "",
            ),
            ("", render_key(|at, line| if at == 1 { line.into() } else { format!("-{line}") }, "\n"), ""),
            ("> ", render_key(|at, line| if at == 1 { line.into() } else { format!("> {line}") }, "\n"), ""),
            ("\"", render_key(|_, line| line.into(), "  \" +\n  \""), "  \""),
            ("", render_key(|_, line| line.into(), " "), ""),
            ("", render_key(|_, line| line.into(), ""), ""),
            ("", render_key(|_, line| line.into(), "\r\n\r\n"), ""),
        ];
        for (before, key, behind) in forms {
            let text = format!("the first word\n{before}{key}{behind}\nthe last words");
            assert_eq!(left_of(&text), format!("the first word\n{before}[key]{behind}\nthe last words"));
        }
    }

    #[test]
    fn what_stands_before_a_key_without_its_beginning_is_none_of_it() {
        let lines = key();
        let (ended, apart) = (lines[1..].join("\n"), lines[1..].join("\n\n"));
        for before in ["see\nthis\n", "see\n\nthis one\n\n"] {
            assert_eq!(
                left_of(&format!("{before}{ended}\nthe last words")),
                format!("{before}[key]\nthe last words")
            );
            assert_eq!(
                left_of(&format!("{before}{apart}\nthe last words")),
                format!("{before}[key]\nthe last words")
            );
        }
        let text = format!("{}\na word\n{ended}\nthe last words", lines[1]);
        assert_eq!(left_of(&text), format!("{}\na word\n[key]\nthe last words", lines[1]));
    }

    #[test]
    fn a_key_is_found_without_its_end_and_without_its_beginning() {
        let lines = key();
        let (begun, ended) = (lines[..6].join("\n"), lines[1..].join("\n"));
        assert_eq!(left_of(&format!("see\n{begun}\n\nthe last words")), "see\n[key]\n\nthe last words");
        assert_eq!(left_of(&format!("see\n{ended}\nthe last words")), "see\n[key]\nthe last words");
        let cut = &begun[..200];
        assert_eq!(left_of(&format!("see\n{cut}\nthe last words")), "see\n[key]\nthe last words");
        // One behind another, of which the first was cut.
        assert_eq!(left_of(&format!("{ended}\nand\n{begun}")), "[key]\nand\n[key]");
    }

    #[test]
    fn what_names_a_key_in_its_head_belongs_to_it() {
        let head = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,0123456789ABCDEF\n\n";
        let mut lines = key();
        lines[1].insert_str(0, head);
        assert_eq!(left_of(&format!("{}\nthen", lines.join("\n"))), "[key]\nthen");
    }

    #[test]
    fn a_comment_in_its_head_may_be_of_any_script() {
        let mut lines = key();
        lines[1].insert_str(0, &format!("Comment: {}\n\n", "é".repeat(70)));
        assert_eq!(left_of(&format!("{}\nthen", lines.join("\n"))), "[key]\nthen");
    }

    #[test]
    fn what_only_speaks_of_keys_is_none() {
        let name = &key()[0];
        for text in [
            format!("a file begins with {name} and goes on"),
            format!("`{name}`"),
            name.replace("PRIVATE", "PUBLIC") + "\n" + &key()[1..6].join("\n"),
            format!("grep -e '{}' .", key()[6]),
            String::new(),
        ] {
            assert_eq!(find_keys(&text), []);
        }
    }
}
