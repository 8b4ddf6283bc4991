//! Finds secrets by the name before them: in settings, source, headers, options of commands, addresses. The name
//! decides what may be its value; a value that only refers to a secret, or stands for one, is none.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::value::{NameKind, Value, cookies_in, value_behind};
use crate::privacy::SecretSpan;

/// Word stems, one of which stands in each name of a secret.
pub(super) const STEMS: &[&str] = &[
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "auth",
    "cred",
    "cookie",
    "bearer",
    "jwt",
    "dsn",
    "sid",
    "sig",
    "_pat",
    "_pw",
    "identified by",
    "connectionstring",
];
/// The longest name.
const MAX_NAME_BYTES: usize = 64;
/// Words that may follow in a secret's name without making it the name of something else.
const SUFFIXES: &[&str] = &[
    "admin",
    "b64",
    "base64",
    "current",
    "default",
    "dev",
    "development",
    "env",
    "live",
    "local",
    "main",
    "new",
    "old",
    "plain",
    "prod",
    "production",
    "raw",
    "root",
    "stage",
    "staging",
    "test",
    "testing",
    "v",
    "value",
];
const PASSWORDS: &[&str] =
    &["pass", "pw", "dbpass", "userpass", "rootpass", "smtppass", "authpass", "passcode", "by", "passwort"];
const PASSWORD_ENDS: &[&str] = &["password", "passwd", "passphrase", "pwd", "secret"];
const KEYS: &[&str] =
    &["pat", "jwt", "dsn", "credential", "credentials", "creds", "apitoken", "connectionstring"];
const KEY_ENDS: &[&str] =
    &["token", "apikey", "secretkey", "accesskey", "authkey", "privatekey", "sharedkey", "masterkey"];
/// Words before `key` that make it a secret.
const SECRET_KEY_WORDS: &[&str] = &[
    "access",
    "account",
    "admin",
    "api",
    "app",
    "application",
    "auth",
    "client",
    "deploy",
    "encryption",
    "license",
    "master",
    "preshared",
    "private",
    "project",
    "read",
    "rest",
    "role",
    "secret",
    "server",
    "service",
    "shared",
    "signing",
    "webhook",
    "write",
];
/// Words before `key` or `token` that make it no secret.
const PUBLIC_KEY_WORDS: &[&str] = &[
    "cache",
    "continuation",
    "csrf",
    "foreign",
    "idempotency",
    "index",
    "next",
    "page",
    "partition",
    "primary",
    "pub",
    "public",
    "publishable",
    "row",
    "sort",
    "sync",
    "xsrf",
];
/// Names that mark only a long value as a secret.
const WEAK_NAMES: &[&str] = &["auth", "sid", "sig", "signature", "bearer", "cookie", "secretid"];

/// Looks at the names in a text, from its beginning on.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Where the last name ends, or its value.
    min_start: usize,
}

impl Names {
    /// Finds the secret of the name around a stem.
    pub(super) fn find_at(&mut self, text: &str, stem: Range<usize>, found: &mut Vec<SecretSpan>) {
        if stem.start < self.min_start {
            return;
        }
        let name = name_around(text.as_bytes(), stem);
        self.min_start = name.end;
        if name.len() > MAX_NAME_BYTES {
            return;
        }
        let Some(kind) = kind_of(&text[name.clone()]) else { return };
        // Elsewhere a signature proves what somebody said, and opens nothing.
        let is_signature = kind == NameKind::Weak && text[name.clone()].to_ascii_lowercase().contains("sig");
        if is_signature && !matches!(text.as_bytes()[..name.start].last(), Some(b'?' | b'&' | b';')) {
            return;
        }
        if kind == NameKind::Cookie && take_cookies(text, name.end, found) {
            return;
        }
        let Some(Value { place, form }) = value_behind(text, &name, kind) else { return };
        if Value::is_secret(&text[place.clone()], kind, form) {
            self.min_start = place.end;
            found.push(SecretSpan { start: place.start, end: place.end, rule: rule_of(kind).into() });
        }
    }
}

fn rule_of(kind: NameKind) -> &'static str {
    match kind {
        NameKind::Password => "password",
        NameKind::Key | NameKind::Weak => "key",
        NameKind::Authorization => "authorization",
        NameKind::Cookie => "cookie",
    }
}

/// Takes the values of a header with cookies; returns true if there is one.
fn take_cookies(text: &str, end: usize, found: &mut Vec<SecretSpan>) -> bool {
    let cookies = cookies_in(text, end);
    let is_there = !cookies.is_empty();
    found.extend(cookies.into_iter().map(|Range { start, end }| SecretSpan {
        start,
        end,
        rule: rule_of(NameKind::Cookie).into(),
    }));
    is_there
}

/// Returns the name around a stem.
fn name_around(text: &[u8], stem: Range<usize>) -> Range<usize> {
    let is_of_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let before = text[..stem.start].iter().rev().take(MAX_NAME_BYTES).take_while(is_of_name).count();
    let behind = text[stem.end..].iter().take(MAX_NAME_BYTES).take_while(is_of_name).count();
    stem.start - before..stem.end + behind
}

/// Returns the kind of value that a name promises; `None` if it is no secret's name.
fn kind_of(name: &str) -> Option<NameKind> {
    let words = words_of(name);
    let is_suffix =
        |word: &&String| SUFFIXES.contains(&word.as_str()) || word.bytes().all(|byte| byte.is_ascii_digit());
    let suffixes = words.iter().rev().take_while(is_suffix).count();
    let (last, before) = words[..words.len() - suffixes].split_last()?;
    let qualifier = before.last().map(String::as_str).unwrap_or_default();
    let (last, unnumbered) = (last.as_str(), last.trim_end_matches(|c: char| c.is_ascii_digit()));
    let ends_by = |ends: &[&str]| ends.iter().any(|end| unnumbered.ends_with(end));
    if last == "authorization" {
        return Some(NameKind::Authorization);
    }
    if last == "cookie" && (before.is_empty() || qualifier == "set") {
        return Some(NameKind::Cookie);
    }
    if PUBLIC_KEY_WORDS.contains(&qualifier) {
        return None;
    }
    if PASSWORDS.contains(&unnumbered) || ends_by(PASSWORD_ENDS) {
        return Some(NameKind::Password);
    }
    let is_shouted = || !before.is_empty() && !name.bytes().any(|byte| byte.is_ascii_lowercase());
    let is_key = unnumbered == "key" && (SECRET_KEY_WORDS.contains(&qualifier) || is_shouted());
    if is_key || KEYS.contains(&unnumbered) || ends_by(KEY_ENDS) {
        return Some(NameKind::Key);
    }
    WEAK_NAMES.contains(&unnumbered).then_some(NameKind::Weak)
}

/// Splits a name into words, in lower case: at signs between them, or at capitals.
fn words_of(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    for part in name.split(|c: char| !c.is_ascii_alphanumeric()) {
        let mut word = String::new();
        let mut was_small = false;
        for letter in part.chars() {
            if was_small && letter.is_ascii_uppercase() {
                words.push(core::mem::take(&mut word));
            }
            was_small = letter.is_ascii_lowercase() || letter.is_ascii_digit();
            word.push(letter.to_ascii_lowercase());
        }
        if !word.is_empty() {
            words.push(word);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_its_value_is() {
        for (name, kind) in [
            ("password", Some(NameKind::Password)),
            ("DB_PASSWORD_2", Some(NameKind::Password)),
            ("PGPASSWORD", Some(NameKind::Password)),
            ("clientSecret", Some(NameKind::Password)),
            ("apiKey", Some(NameKind::Key)),
            ("X-API-Key", Some(NameKind::Key)),
            ("MISTRAL_KEY", Some(NameKind::Key)),
            ("--token", Some(NameKind::Key)),
            ("_authToken", Some(NameKind::Key)),
            ("sig", Some(NameKind::Weak)),
            ("Set-Cookie", Some(NameKind::Cookie)),
            ("Proxy-Authorization", Some(NameKind::Authorization)),
            ("password_length", None),
            ("passing", None),
            ("max_tokens", None),
            ("csrf_token", None),
            ("PRIMARY_KEY", None),
            ("cacheKey", None),
            ("key", None),
            ("author", None),
        ] {
            assert_eq!(kind_of(name), kind, "{name}");
        }
    }
}
