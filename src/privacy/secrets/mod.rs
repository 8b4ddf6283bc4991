//! Finds secrets: by gitleaks' rules and leftoff's own, and private keys in whatever form they are shown. A host may
//! add what it knows. The rules are the core's, since in JavaScript alone no Rust program and no component had them.

mod addresses;
#[rustfmt::skip]
mod gitleaks;
mod hints;
mod keys;
mod names;
mod own_rules;
mod random;
mod rules;
mod tokens;
mod value;

use alloc::string::String;
use alloc::vec::Vec;

use super::SecretSpan;

/// Normalizes a text for the rules, each byte in its place: within JSON, quotes and line ends have backslashes, and
/// text from a page has blanks of other scripts, which no rule knows; they become as many plain ones.
pub(crate) fn normalize_text(text: String) -> String {
    let blanks: Vec<(usize, char)> =
        text.char_indices().filter(|(_, letter)| is_wide_blank(*letter)).collect();
    let mut bytes = text.into_bytes();
    for (at, blank) in blanks {
        bytes[at..at + blank.len_utf8()].fill(b' ');
    }
    let mut at = 0;
    while let Some(start) = memchr::memchr(b'\\', &bytes[at..]).map(|found| at + found) {
        at = start + bytes[start..].iter().take_while(|byte| **byte == b'\\').count();
        let end = match bytes.get(at) {
            Some(b'n' | b'r' | b't') => at + 1,
            Some(b'"' | b'\'' | b'`') => at,
            _ => continue,
        };
        bytes[start..end].fill(b' ');
    }
    String::from_utf8(bytes).expect("ASCII in the place of ASCII")
}

fn is_wide_blank(letter: char) -> bool {
    !letter.is_ascii() && (letter.is_whitespace() || letter == '\u{feff}')
}

/// Finds the secrets in a [normalized](normalize_text) text, and joins those that a host found: in order, without
/// overlap.
pub(crate) fn find_secrets(text: &str, of_host: Vec<SecretSpan>) -> Vec<SecretSpan> {
    let mut all = of_host;
    all.extend(rules::find_by_rules(text));
    all.extend(keys::find_keys(text));
    merge_overlaps(all)
}

/// Rules that go by a secret's name alone: the name of any other rule says more.
const GENERAL_RULES: &[&str] = &["key", "password"];

/// Merges secrets that overlap, named by the first rule that is not general.
fn merge_overlaps(mut found: Vec<SecretSpan>) -> Vec<SecretSpan> {
    found.sort_by(|one, other| one.start.cmp(&other.start).then(other.end.cmp(&one.end)));
    let mut all: Vec<SecretSpan> = Vec::new();
    for one in found {
        match all.last_mut() {
            Some(last) if one.start < last.end => {
                last.end = last.end.max(one.end);
                if GENERAL_RULES.contains(&last.rule.as_str()) {
                    last.rule = one.rule;
                }
            }
            _ => all.push(one),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn escapes_are_blanks_and_every_byte_keeps_its_place() {
        for (text, expected) in [
            (r#"a\nb\"c\'d\`e"#, r#"a  b "c 'd `e"#),
            (r#"a\\\nb\\\"c"#, r#"a    b   "c"#),
            (r"a\xb\", r"a\xb\"),
            ("key\u{a0}=\u{3000}x\u{feff}", "key  =   x   "),
            (r"\u00e9 C:\dir\é", r"\u00e9 C:\dir\é"),
            ("", ""),
        ] {
            assert_eq!(normalize_text(text.to_string()), expected);
        }
    }

    #[test]
    fn what_overlaps_is_one_secret_by_the_name_of_the_first() {
        let span = |start, end, rule: &str| SecretSpan { start, end, rule: rule.into() };
        let found = [span(4, 9, "b"), span(0, 3, "a"), span(8, 12, "c"), span(4, 10, "d"), span(12, 13, "e")];
        assert_eq!(merge_overlaps(found.into()), [span(0, 3, "a"), span(4, 12, "d"), span(12, 13, "e")]);
    }
}
