//! Finds names and passwords in addresses of any scheme, and in commands that take them without a name.

use core::ops::Range;

use super::random::is_random;
use super::value::is_stand_in;
use crate::privacy::SecretSpan;

const RULE: &str = "basicauth";
const COMMAND_RULE: &str = "password";

/// The most bytes before the host.
const MAX_CREDENTIAL_BYTES: usize = 1024;
/// The length from which a token counts that has no name beside it.
const MIN_TOKEN_CHARS: usize = 16;
/// How far behind the name of a command its option may stand, in bytes.
const MAX_OPTION_DISTANCE_BYTES: usize = 400;
/// Passwords that reveal little: those of examples, and those that an installation begins with.
const DEFAULT_PASSWORDS: &[&str] = &[
    "admin",
    "changeme",
    "guest",
    "pass",
    "passwd",
    "password",
    "postgres",
    "mysql",
    "pw",
    "pwd",
    "redis",
    "root",
    "secret",
    "test",
    "token",
    "user",
    "username",
    "example",
    "key",
    "x-oauth-basic",
    "api_key",
    "apikey",
    "hunter2",
    "pass123",
    "foo",
    "bar",
    "baz",
];

/// The separators between an address' scheme and its name, also in source and in another address.
pub(super) const SCHEME_SEPARATORS: &[&str] = &["://", ":\\/\\/", ESCAPED_SEPARATOR];
const ESCAPED_SEPARATOR: &str = "%3a%2f%2f";

/// A command with an option that a password follows: the word, its options, whether the password is joined to the
/// option, and whether a name and a colon stand before it.
#[derive(Debug)]
pub(super) struct Command(&'static str, &'static [&'static str], bool, bool);

pub(super) const COMMANDS: &[Command] = &[
    Command("curl", &["-u", "--user", "-U", "--proxy-user"], true, true),
    Command("http ", &["-a", "--auth"], false, true),
    Command("mysql", &["-p"], true, false),
    Command("mariadb", &["-p"], true, false),
    Command("sshpass", &["-p"], true, false),
    Command("redis-cli", &["-a"], false, false),
    Command("docker login", &["-p"], false, false),
    Command("podman login", &["-p"], false, false),
    Command("mongosh", &["-p"], false, false),
    Command("mongodump", &["-p"], false, false),
    Command("ldapsearch", &["-w"], false, false),
    Command("add-authtoken", &[""], false, false),
];

/// Finds the password of an address with one of the separators there.
pub(super) fn find_in_address(text: &str, sign: Range<usize>) -> Option<SecretSpan> {
    let is_escaped = sign.len() == ESCAPED_SEPARATOR.len();
    let place = password_in_address(text, sign.end, is_escaped)?;
    Some(SecretSpan { start: place.start, end: place.end, rule: RULE.into() })
}

fn password_in_address(text: &str, start: usize, is_escaped: bool) -> Option<Range<usize>> {
    let (at, colon) = if is_escaped { ("%40", "%3A") } else { ("@", ":") };
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>(),".contains(byte);
    let rest = &text.as_bytes()[start..];
    let length = rest
        .iter()
        .take(MAX_CREDENTIAL_BYTES)
        .position(is_end)
        .unwrap_or(rest.len().min(MAX_CREDENTIAL_BYTES));
    let whole = text.get(start..start + length)?;
    let path = ["%2F", "%2f", "%3F", "%3f"].iter().filter_map(|sign| whole.find(sign)).min();
    let authority = authority_of(if is_escaped { &whole[..path.unwrap_or(whole.len())] } else { whole });
    let host = rfind_ignoring_case(authority, at)?;
    let (login, host) = (&authority[..host], &authority[host + at.len()..]);
    let split = find_ignoring_case(login, colon);
    let (name, secret) = match split {
        Some(split) => (&login[..split], start + split + colon.len()..start + login.len()),
        None => ("", start..start + login.len()),
    };
    let value = &text[secret.clone()];
    let is_secret = match split {
        Some(_) => is_password(value, name, host),
        None => !is_escaped && value.len() >= MIN_TOKEN_CHARS && is_random(value) && !is_stand_in(value),
    };
    (!host.is_empty() && is_secret).then_some(secret)
}

/// Returns the part of an address that may have a password: all before the path; but a password may have a slash, if a
/// host is behind it.
fn authority_of(whole: &str) -> &str {
    let end = whole.find(['/', '?', '#']).unwrap_or(whole.len());
    if whole[..end].contains('@') || !whole[..end].contains(':') {
        return &whole[..end];
    }
    // `name:pass/word@host`: a port is a number.
    let behind = whole[..end].rsplit(':').next().unwrap_or_default();
    let is_port = behind.bytes().all(|byte| byte.is_ascii_digit());
    let end = whole
        .rfind('@')
        .filter(|_| !is_port)
        .map_or(end, |at| whole[at..].find(['/', '?', '#']).map_or(whole.len(), |path| at + path));
    &whole[..end]
}

fn find_ignoring_case(text: &str, sign: &str) -> Option<usize> {
    text.find(sign).or_else(|| text.find(sign.to_ascii_lowercase().as_str()))
}

fn rfind_ignoring_case(text: &str, sign: &str) -> Option<usize> {
    text.rfind(sign).or_else(|| text.rfind(sign.to_ascii_lowercase().as_str()))
}

fn is_password(value: &str, name: &str, host: &str) -> bool {
    let small = value.to_ascii_lowercase();
    let is_bare_word = value.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_nowhere = host.starts_with("localhost") || host.starts_with("127.") || host.starts_with("host");
    let is_default =
        DEFAULT_PASSWORDS.contains(&small.as_str()) || value == name || is_bare_word && is_nowhere;
    value.len() > 2 && !is_default && !is_stand_in(value)
}

impl Command {
    /// Returns the word that begins the command.
    pub(super) fn name(&self) -> &'static str {
        self.0
    }

    /// Finds the password that is given to the command whose name stands there.
    pub(super) fn find_at(&self, text: &str, word: Range<usize>) -> Option<SecretSpan> {
        let is_name = text.get(word.clone())? == self.0;
        let place = if is_name { self.find_password(text, word)? } else { return None };
        Some(SecretSpan { start: place.start, end: place.end, rule: COMMAND_RULE.into() })
    }

    fn find_password(&self, text: &str, word: Range<usize>) -> Option<Range<usize>> {
        let Command(_, options, is_joined, has_name) = self;
        let bytes = text.as_bytes();
        let behind = &bytes[word.end..];
        let line = behind
            .iter()
            .take(MAX_OPTION_DISTANCE_BYTES)
            .position(|byte| *byte == b'\n')
            .unwrap_or(behind.len().min(MAX_OPTION_DISTANCE_BYTES));
        // A backslash goes on with the next line.
        let mut at = word.end;
        let end = word.end + line;
        if options == &[""] {
            return self.value_at(text, if *is_joined { at } else { behind_blanks(bytes, at) });
        }
        while let Some(start) = next_argument(bytes, at, end) {
            let argument_end =
                start + bytes[start..end].iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
            let argument = &bytes[start..argument_end];
            for option in *options {
                let Some(rest) = argument.strip_prefix(option.as_bytes()) else { continue };
                let value = match rest {
                    [] => behind_blanks(bytes, argument_end),
                    [b'=', ..] => start + option.len() + 1,
                    _ if *is_joined && option.len() == 2 => start + option.len(),
                    _ => continue,
                };
                // `mysql -p main`: a password that is asked for is not joined to the option.
                if rest.is_empty() && *is_joined && !*has_name && self.0 != "sshpass" {
                    continue;
                }
                if let Some(place) = self.value_at(text, value) {
                    return Some(place);
                }
            }
            at = argument_end;
        }
        None
    }

    /// Returns the range of the password in an argument that begins there.
    fn value_at(&self, text: &str, start: usize) -> Option<Range<usize>> {
        let bytes = text.as_bytes();
        let quote = bytes.get(start).copied().filter(|byte| matches!(byte, b'"' | b'\''));
        let start = start + usize::from(quote.is_some());
        let is_end = |byte: &u8| match quote {
            Some(quote) => *byte == quote || *byte == b'\n',
            None => byte.is_ascii_whitespace() || b"\"'`|;&<>".contains(byte),
        };
        let length = bytes
            .get(start..)?
            .iter()
            .take(MAX_CREDENTIAL_BYTES)
            .position(is_end)
            .unwrap_or(bytes.len() - start);
        let value = text.get(start..start + length)?;
        let skipped = if self.3 { value.find(':')? + 1 } else { 0 };
        let (name, secret) = (&value[..skipped.saturating_sub(1)], &value[skipped..]);
        let is_secret = secret.len() >= 4 && !secret.starts_with('-') && is_password(secret, name, "");
        let is_told = self.3 || secret.bytes().any(|byte| byte.is_ascii_digit()) || is_random(secret);
        (is_secret && is_told).then_some(start + skipped..start + length)
    }
}

fn behind_blanks(text: &[u8], at: usize) -> usize {
    at + text[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Finds the beginning of a command's next argument.
fn next_argument(text: &[u8], at: usize, end: usize) -> Option<usize> {
    let start = at + text[at..end].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    (start < end).then_some(start)
}
