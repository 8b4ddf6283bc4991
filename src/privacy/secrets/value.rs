//! The value behind a name: finds it, in whatever syntax, and decides whether it is a secret.

use alloc::vec::Vec;
use core::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::random::{entropy, is_made_of_words, is_random};
use crate::privacy::placeholder::PLACEHOLDER_PREFIX as PLACEHOLDER;

/// The longest value of one line.
const MAX_VALUE_BYTES: usize = 4096;
/// The most blanks between a name and its value.
const MAX_BLANKS: usize = 40;
/// How far before a password a file of logins has the name, in bytes.
const LOGIN_LOOKBACK_BYTES: usize = 160;
/// The shortest password that counts.
const MIN_PASSWORD_CHARS: usize = 6;
/// The shortest key.
const MIN_KEY_CHARS: usize = 12;
/// The shortest value of a weak name.
const MIN_WEAK_VALUE_CHARS: usize = 20;
/// The shortest credential of an authorization.
const MIN_CREDENTIAL_CHARS: usize = 8;
/// The digits from which a number alone is a password.
const MIN_NUMERIC_DIGITS: usize = 6;
/// The bits a letter of a password made of letters and signs.
const MIN_PASSWORD_BITS_PER_CHAR: f64 = 2.5;

/// Parts of values that stand for a secret.
const STAND_INS: &[&str] = &[
    "example",
    "your",
    "placeholder",
    "changeme",
    "change_me",
    "change-me",
    "redacted",
    "xxxx",
    "****",
    "....",
    "dummy",
    "insert",
    "replace",
    "<",
    "${",
    "{{",
    "$(",
    "#{",
    "process.env",
    "os.environ",
    "getenv",
    "...",
];
/// The beginnings of values that refer to a secret.
const REFERENCE_BEGINNINGS: &[&str] = &[
    "$", "{", "[", "(", "%", "@", "&", "*", "//", "./", "../", "~/", "arn:", "vault:", "file:", "env:",
    "ref:",
];
/// Words given in place of a password, and values of other types.
const PLACEHOLDER_WORDS: &[&str] =
    &["password", "passwd", "passw0rd", "secret", "token", "test", "user", "admin", "pass", "demo", "sample"];

/// The kind of value that a name promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameKind {
    /// A password: a person may have chosen it.
    Password,
    /// A key: a program drew it.
    Key,
    /// A value whose name is used for other things, too.
    Weak,
    /// An authorization: its scheme, and then the secret.
    Authorization,
    /// Cookies: names and values.
    Cookie,
}

/// The surroundings of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueForm {
    Quoted,
    /// The rest of the line behind the name, as in files of settings, or a part of an address.
    Bare,
    /// Within a line of something else, which may be source.
    Loose,
}

/// The place of a value.
#[derive(Debug)]
pub(super) struct Value {
    pub place: Range<usize>,
    pub form: ValueForm,
}

/// Finds the value behind a name; `None` if there is none.
pub(super) fn value_behind(text: &str, name: &Range<usize>, kind: NameKind) -> Option<Value> {
    let bytes = text.as_bytes();
    let mut at = behind_sign(bytes, name, kind)?;
    at = behind_block(bytes, at);
    if kind == NameKind::Authorization || text[name.clone()].eq_ignore_ascii_case("bearer") {
        at = behind_scheme(bytes, at);
    }
    // The prefix that marks a string of source, as bytes or raw.
    if matches!(bytes.get(at..at + 2), Some([b'b' | b'r' | b'f' | b'u', b'"' | b'\''])) {
        at += 1;
    }
    let quote = bytes.get(at).copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    let (place, form) = match quote {
        Some(quote) => (quoted_range(bytes, at + 1, quote, name.start == 0), ValueForm::Quoted),
        None => bare_range(text, name, at, kind),
    };
    (!place.is_empty() && place.len() <= MAX_VALUE_BYTES).then_some(Value { place, form })
}

/// Finds what follows the sign between a name and its value.
fn behind_sign(text: &[u8], name: &Range<usize>, kind: NameKind) -> Option<usize> {
    let before = &text[..name.start];
    let is_quoted = before.last().is_some_and(is_quote);
    let mut at = name.end;
    while at < name.end + 2 && text.get(at).is_some_and(|byte| is_quote(byte) || *byte == b']') {
        at += 1;
    }
    let blank = behind_blanks(text, at);
    let rest = &text[blank..];
    let is_spaced = blank > at && text[at..blank].iter().all(|byte| matches!(byte, b' ' | b'\t'));
    let is_option = text[name.clone()].starts_with(b"-");
    let is_login = kind == NameKind::Password && is_spaced && has_login(before);
    // A password may begin with the sign that stands between names and values.
    let is_long = rest.len() >= MIN_PASSWORD_CHARS
        && !rest.iter().take(MIN_PASSWORD_CHARS).any(u8::is_ascii_whitespace);
    if is_spaced && (is_option || is_login) && is_long && !rest.iter().take(3).any(is_quote) {
        return Some(blank);
    }
    let sign = match rest {
        [b':', b':', ..] | [b':', b'/', b'/', ..] => return None,
        // The result of a test.
        [b':', ..] if text[name.clone()] == *b"PASS" => return None,
        [b'=', b'=', b'=', ..] => 3,
        [b'=', b'>' | b'=', ..] | [b':' | b'?', b'=', ..] => 2,
        [b'=' | b':', ..] => 1,
        [b',', ..] if is_quoted => 1,
        [b'>', ..] if before.ends_with(b"<") => 1,
        _ => 0,
    };
    if sign > 0 {
        return Some(behind_blanks(text, blank + sign));
    }
    if is_name_of_pair(before)
        && let Some(value) = behind_value(text, at)
    {
        return Some(value);
    }
    let is_quote_next = rest.first().is_some_and(is_quote) && kind == NameKind::Password;
    let is_bearer = text[name.clone()].eq_ignore_ascii_case(b"bearer");
    (is_spaced && (is_option || is_quote_next || is_bearer || is_login)).then_some(blank)
}

fn is_quote(byte: &u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

fn behind_blanks(text: &[u8], at: usize) -> usize {
    at + text[at..].iter().take(MAX_BLANKS).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// True if the name is the value of a `name` field; the secret is then in the `value` field beside it.
fn is_name_of_pair(before: &[u8]) -> bool {
    let before = before.trim_ascii_end();
    let before =
        before.strip_suffix(b"\"").or_else(|| before.strip_suffix(b"'")).unwrap_or(before).trim_ascii_end();
    let Some(before) = before.strip_suffix(b":").or_else(|| before.strip_suffix(b"=")) else { return false };
    let before = before.trim_ascii_end();
    let before = before.strip_suffix(b"\"").unwrap_or(before);
    [&b"name"[..], b"Name", b"key", b"Key"].iter().any(|name| before.ends_with(name))
}

fn behind_value(text: &[u8], at: usize) -> Option<usize> {
    let is_between = |byte: &&u8| byte.is_ascii_whitespace() || is_quote(byte) || matches!(byte, b',' | b';');
    let at = at + text[at..].iter().take(MAX_BLANKS).take_while(is_between).count();
    let word = text.get(at..at + 5)?;
    let at = if word.eq_ignore_ascii_case(b"value") { at + 5 } else { return None };
    let at = behind_blanks(text, at + usize::from(text.get(at).is_some_and(is_quote)));
    matches!(text.get(at), Some(b':' | b'=')).then(|| behind_blanks(text, at + 1))
}

/// True if a line of logins begins there, as netrc has them.
fn has_login(before: &[u8]) -> bool {
    let before = &before[before.len().saturating_sub(LOGIN_LOOKBACK_BYTES)..];
    memchr::memmem::find(before, b"login ").is_some() || memchr::memmem::find(before, b"machine ").is_some()
}

/// Finds what follows YAML's sign for a text in the next line.
fn behind_block(text: &[u8], at: usize) -> usize {
    let signs = text[at..].iter().take(2).take_while(|byte| b"|>-+".contains(byte)).count();
    let feed = at + signs;
    let feed = feed + usize::from(text.get(feed) == Some(&b'\r'));
    if signs == 0 || text.get(feed) != Some(&b'\n') {
        return at;
    }
    let next = behind_blanks(text, feed + 1);
    if next > feed + 1 { next } else { at }
}

/// Finds what follows the scheme of an authorization.
fn behind_scheme(text: &[u8], at: usize) -> usize {
    let at = at + usize::from(text.get(at).is_some_and(is_quote));
    let is_of_scheme = |byte: &&u8| byte.is_ascii_alphabetic() || **byte == b'-';
    let scheme = text[at..].iter().take(24).take_while(is_of_scheme).count();
    let behind = behind_blanks(text, at + scheme);
    if scheme > 0 && behind > at + scheme { behind } else { at }
}

/// Returns the range that a quote ends; of a text that is looked at with its key, all.
fn quoted_range(text: &[u8], start: usize, quote: u8, is_whole: bool) -> Range<usize> {
    if is_whole && text.last() == Some(&quote) && !text[start..].contains(&b'\n') {
        return start..text.len() - 1;
    }
    let end =
        text[start..].iter().take(MAX_VALUE_BYTES + 1).position(|byte| *byte == quote || *byte == b'\n');
    match end {
        Some(end) if text[start + end] == quote => start..start + end,
        // Nothing closes it: a cut took the end away.
        None if text.len() - start <= MAX_VALUE_BYTES => start..text.len(),
        _ => start..start,
    }
}

fn bare_range(text: &str, name: &Range<usize>, start: usize, kind: NameKind) -> (Range<usize>, ValueForm) {
    let bytes = text.as_bytes();
    let is_line = begins_line(&bytes[..name.start]);
    let before = &bytes[..name.start];
    let is_of_value = matches!(before.last(), Some(b'?' | b'&' | b';'))
        || bytes[name.clone()].starts_with(b"-")
        || has_login(before);
    let is_end = |byte: &u8| {
        byte.is_ascii_whitespace()
            || matches!(byte, b'"' | b'\'' | b'`')
            || !is_line && b"<>,;&)]}|\\".contains(byte)
    };
    // Outside JSON and source, such a sign may be a part of the value; one before a bracket is none.
    let length =
        bytes[start..].iter().take(MAX_VALUE_BYTES + 1).position(is_end).unwrap_or(bytes.len() - start);
    let mut end = start + length.min(bytes.len() - start);
    while end > start
        && (matches!(bytes[end - 1], b',' | b';') || kind != NameKind::Password && bytes[end - 1] == b'.')
    {
        end -= 1;
    }
    let is_end_of_line = bytes.get(end).is_none_or(|byte| matches!(byte, b'\n' | b'\r'));
    let form = if is_line && is_end_of_line || is_of_value { ValueForm::Bare } else { ValueForm::Loose };
    (start..end, form)
}

/// True if a line begins there, or something that begins one in files of settings.
fn begins_line(before: &[u8]) -> bool {
    let near = &before[before.len().saturating_sub(MAX_BLANKS)..];
    let line = match memchr::memrchr(b'\n', near) {
        Some(feed) => near[feed + 1..].trim_ascii(),
        None if near.len() == before.len() => near.trim_ascii(),
        None => return false,
    };
    [&b""[..], b"export", b"set", b"-", b"ENV", b"ARG", b"+", b"#", b"\"", b"'"].contains(&line)
}

/// Finds the values of the cookies in a header whose name ends there.
pub(super) fn cookies_in(text: &str, end: usize) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let quote = usize::from(bytes.get(end).is_some_and(is_quote));
    let mut at = behind_blanks(bytes, end + quote);
    if !matches!(bytes.get(at), Some(b':' | b'=')) {
        return Vec::new();
    }
    at = behind_blanks(bytes, at + 1);
    at += usize::from(bytes.get(at).is_some_and(is_quote));
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'`');
    let line = bytes[at..]
        .iter()
        .take(MAX_VALUE_BYTES)
        .position(is_end)
        .unwrap_or(bytes.len().min(at + MAX_VALUE_BYTES) - at);
    let mut found = Vec::new();
    let mut start = at;
    for pair in bytes[at..at + line].split(|byte| *byte == b';') {
        let behind = start + pair.len() + 1;
        if let Some(sign) = memchr::memchr(b'=', pair) {
            let place = start + sign + 1..start + pair.trim_ascii_end().len().max(sign + 1);
            let value = text.get(place.clone()).unwrap_or_default();
            if Value::is_secret(value, NameKind::Cookie, ValueForm::Bare) {
                found.push(place);
            }
        }
        start = behind;
    }
    found
}

impl Value {
    /// True if a value is a secret, by its name and its surroundings.
    pub(super) fn is_secret(value: &str, kind: NameKind, form: ValueForm) -> bool {
        if is_reference(value) {
            return false;
        }
        let has_blank = value.contains([' ', '\t']);
        match kind {
            NameKind::Password => !has_blank && is_password(value, form) || is_in_groups(value),
            NameKind::Key => !has_blank && value.len() >= MIN_KEY_CHARS && is_random_value(value),
            NameKind::Weak => {
                !has_blank
                    && (value.len() >= MIN_WEAK_VALUE_CHARS && is_random_value(value) || is_login(value))
            }
            NameKind::Authorization => {
                !has_blank
                    && value.len() >= MIN_CREDENTIAL_CHARS
                    && (is_random_value(value) || is_login(value))
            }
            NameKind::Cookie => !has_blank && value.len() >= MIN_KEY_CHARS && is_random_value(value),
        }
    }
}

/// True if a value stands for a secret: a variable, or a word where one belongs.
pub(super) fn is_stand_in(value: &str) -> bool {
    let small = value.to_ascii_lowercase();
    is_filled_in(&small) || small.starts_with(['$', '{', '[', '%', '<', '*'])
}

/// True if a value says where a secret is, or stands for one.
fn is_reference(value: &str) -> bool {
    let small = value.to_ascii_lowercase();
    is_filled_in(&small)
        || REFERENCE_BEGINNINGS.iter().any(|sign| small.starts_with(sign)) && !is_random_value(value)
        || is_path(&small)
        || is_name_of_source(value)
}

/// True if the value is to be filled in: a word for it, or a name in braces.
fn is_filled_in(small: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    small.contains(PLACEHOLDER)
        || STAND_INS.iter().any(|word| small.contains(word))
        || small.split('{').skip(1).any(|rest| rest.split_once('}').is_some_and(|(name, _)| is_name(name)))
}

fn is_path(value: &str) -> bool {
    (value.matches('/').count() > 1
        || value.starts_with('/')
        || value.contains("://")
        || value.contains(":\\"))
        && is_made_of_words(value)
}

/// True if the value is a name in source: parts with full stops between them, or a call.
fn is_name_of_source(value: &str) -> bool {
    let name = value.split(['(', '[']).next().unwrap_or_default();
    let is_called = name.len() < value.len() && !name.is_empty();
    let is_name = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'?' | b'!'))
    };
    let parts = name.split(['.', ':']).filter(|part| !part.is_empty()).count();
    let is_of_names = name.split(['.', ':']).all(|part| part.is_empty() || is_name(part));
    is_of_names && (is_called && parts > 1 || (is_called || parts > 1) && is_made_of_words(name))
}

fn is_password(value: &str, form: ValueForm) -> bool {
    let has = |is: fn(&u8) -> bool| value.bytes().any(|byte| is(&byte));
    let letters = has(u8::is_ascii_alphabetic) || !value.is_ascii();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let signs =
        value.trim_matches(['!', '?', '.', ':', '*']).bytes().any(|byte| b"!@#$%^&*+=~?".contains(&byte));
    if value.len() < MIN_PASSWORD_CHARS || is_word_for_password(value) {
        return false;
    }
    match (letters, digits) {
        (true, 0) => {
            signs
                && form != ValueForm::Loose
                && value.len() > MIN_PASSWORD_CHARS
                && entropy(value) > MIN_PASSWORD_BITS_PER_CHAR
                || value.len() >= MIN_KEY_CHARS && is_random(value)
        }
        (true, _) => form != ValueForm::Loose || signs || !is_made_of_words(value),
        (false, _) => form != ValueForm::Loose && digits >= MIN_NUMERIC_DIGITS && digits == value.len(),
    }
}

/// True if the value is a usual word for a password, with a number or without.
fn is_word_for_password(value: &str) -> bool {
    let small = value.to_ascii_lowercase();
    let is_sign = |c: char| !c.is_ascii_alphabetic();
    let words = || small.split(is_sign).filter(|word| !word.is_empty());
    words().next().is_some()
        && words().all(|word| PLACEHOLDER_WORDS.contains(&word))
        && !small.contains(['!', '@', '#', '$', '%'])
}

/// True for four groups of four small letters, as Google gives passwords to apps.
fn is_in_groups(value: &str) -> bool {
    let groups = || value.split(' ');
    let is_group = |group: &str| group.len() == 4 && group.bytes().all(|byte| byte.is_ascii_lowercase());
    groups().count() == 4 && groups().all(is_group)
}

fn is_random_value(value: &str) -> bool {
    let small = value.to_ascii_lowercase();
    is_random(value)
        && !small.contains("0123456789abcdef")
        && !small.contains("1234567890")
        && !is_path_of_words(value)
}

/// True if slashes part the value, as in a path, and most of its parts are words.
fn is_path_of_words(value: &str) -> bool {
    let parts = || value.split('/').filter(|part| !part.is_empty());
    parts().count() > 2
        && parts().filter(|part| part.len() > 2 && is_made_of_words(part)).count() * 2 > parts().count()
}

/// True if the value is a name and a password in base64.
fn is_login(value: &str) -> bool {
    let bytes = STANDARD_NO_PAD.decode(value.trim_end_matches('=')).unwrap_or_default();
    let is_plain = |byte: &u8| byte.is_ascii_graphic() || *byte >= 0x80;
    bytes.len() > MIN_PASSWORD_CHARS && bytes.contains(&b':') && bytes.iter().all(is_plain)
}
