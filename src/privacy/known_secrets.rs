//! Finds parts of known secrets: a text that was cut, truncated or summarized may hold a piece of a secret in which no
//! rule finds it any more. The secrets of the whole texts find each piece of eight letters.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// The shortest part of a secret, in bytes.
const MIN_PART_BYTES: usize = 8;
/// The fewest letters in a part: fewer tell nothing, as in a row of zeros.
const MIN_PART_LETTERS: usize = 3;
/// The bytes that a part of an address needs from its name and password.
const MIN_CREDENTIAL_CHARS: usize = 4;
/// The rule that finds private keys.
const PRIVATE_KEY_RULE: &str = "privatekey";
/// The words in the lines that begin and end a private key.
const PRIVATE_KEY_LABEL: &str = "PRIVATE KEY";
const DASHES: &str = "----";
const PUTTY_HEADER: &str = "PuTTY-User-Key-File-";
const HASH_FACTOR: u32 = 31;
/// The factor of the oldest of eight bytes in the rolling hash.
const OLDEST_BYTE_FACTOR: u32 = HASH_FACTOR.wrapping_pow(MIN_PART_BYTES as u32 - 1);
/// Slots of the table for each part: so many that nearly no part of a text is compared with any.
const SLOTS_PER_PART: usize = 8;

/// Secrets that were found in whole texts, indexed by their parts.
#[derive(Clone, Debug, Default)]
pub struct KnownSecrets {
    secrets: Vec<(String, String)>,
    /// Each part, with the index of its secret.
    parts: Vec<(Box<str>, usize)>,
    /// The parts' indexes plus one, by their hashes; zero in an empty slot.
    table: Vec<u32>,
}

/// A place where parts of a known secret stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretPart<'a> {
    /// The bytes of the text.
    pub place: Range<usize>,
    /// The whole secret.
    pub secret: &'a str,
    /// The rule that found it.
    pub rule: &'a str,
}

impl KnownSecrets {
    /// Indexes secrets, each given with the rule that found it.
    pub fn new(secrets: Vec<(String, String)>) -> KnownSecrets {
        let mut parts: Vec<(Box<str>, usize)> = Vec::new();
        let mut met: BTreeSet<&str> = BTreeSet::new();
        for (owner, (secret, rule)) in secrets.iter().enumerate() {
            for part in parts_of(secret, rule) {
                if part.chars().collect::<BTreeSet<char>>().len() >= MIN_PART_LETTERS && met.insert(part) {
                    parts.push((Box::from(part), owner));
                }
            }
        }
        let mut table = Vec::new();
        if !parts.is_empty() {
            table.resize((parts.len() * SLOTS_PER_PART).next_power_of_two(), 0);
        }
        for (place, (part, _)) in parts.iter().enumerate() {
            let mut at = part.chars().fold(0, roll_hash) as usize % table.len();
            while table[at] != 0 {
                at = (at + 1) % table.len();
            }
            table[at] = place as u32 + 1;
        }
        KnownSecrets { secrets, parts, table }
    }

    /// Finds the parts of the secrets in a text; those that meet become one.
    pub fn find(&self, text: &str) -> Vec<SecretPart<'_>> {
        let mut found: Vec<SecretPart<'_>> = Vec::new();
        if self.table.is_empty() {
            return found;
        }
        let mut hash = 0u32;
        let mut starts = text.char_indices();
        for (nth, (at, letter)) in text.char_indices().enumerate() {
            hash = roll_hash(hash, letter);
            if nth + 1 < MIN_PART_BYTES {
                continue;
            }
            let Some((start, oldest)) = starts.next() else { break };
            let place = start..at + letter.len_utf8();
            if let Some(owner) = self.find_owner(hash, &text[place.clone()]) {
                let (secret, rule) = &self.secrets[owner];
                match found.last_mut().filter(|last| place.start <= last.place.end) {
                    Some(last) => last.place.end = place.end,
                    None => found.push(SecretPart { place, secret, rule }),
                }
            }
            hash = hash.wrapping_sub(u32::from(oldest).wrapping_mul(OLDEST_BYTE_FACTOR));
        }
        found
    }

    fn find_owner(&self, hash: u32, part: &str) -> Option<usize> {
        let mut at = hash as usize % self.table.len();
        loop {
            let (known, owner) = self.parts.get((self.table[at] as usize).checked_sub(1)?)?;
            if **known == *part {
                return Some(*owner);
            }
            at = (at + 1) % self.table.len();
        }
    }
}

fn roll_hash(hash: u32, letter: char) -> u32 {
    hash.wrapping_mul(HASH_FACTOR).wrapping_add(u32::from(letter))
}

fn parts_of<'a>(secret: &'a str, rule: &str) -> Vec<&'a str> {
    if let Some(own) = credentials_in_address(secret) {
        let is_telling = |part: &Range<usize>| {
            let shared = part.start.max(own.start)..part.end.min(own.end);
            secret.get(shared).is_some_and(|shared| shared.chars().count() >= MIN_CREDENTIAL_CHARS)
        };
        return windows(secret).filter(is_telling).map(|part| &secret[part]).collect();
    }
    let of_body = |body: &'a str| windows(body).map(move |part| &body[part]);
    if rule == PRIVATE_KEY_RULE || secret.contains("PRIVATE KEY") {
        return key_bodies(secret).flat_map(of_body).collect();
    }
    secret.split_whitespace().flat_map(of_body).collect()
}

/// Returns each range of eight letters in a row.
fn windows(text: &str) -> impl Iterator<Item = Range<usize>> {
    let ends = text.char_indices().skip(MIN_PART_BYTES - 1).map(|(at, letter)| at + letter.len_utf8());
    text.char_indices().map(|(start, _)| start).zip(ends).map(|(start, end)| start..end)
}

/// Returns the name and the password of an address: the rest is no secret.
fn credentials_in_address(secret: &str) -> Option<Range<usize>> {
    let scheme = secret.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "_+.-".contains(c));
    let behind = scheme.strip_prefix(':').unwrap_or(scheme).strip_prefix("//")?;
    let host = behind.find(|c: char| c.is_whitespace() || "/?#".contains(c)).unwrap_or(behind.len());
    let start = secret.len() - behind.len();
    Some(start..start + behind[..host].rfind('@')?)
}

/// Returns the secret parts of a private key: not the lines that name its kind.
fn key_bodies(key: &str) -> impl Iterator<Item = &str> {
    let is_body = |c: char| c.is_ascii_alphanumeric() || "+/=_".contains(c);
    let pieces = without_names(key).into_iter().flat_map(without_first_lines);
    pieces.flat_map(move |piece| piece.split(move |c| !is_body(c)))
}

/// Removes the lines by which PuTTY begins a key.
fn without_first_lines(piece: &str) -> impl Iterator<Item = &str> {
    piece
        .split(PUTTY_HEADER)
        .enumerate()
        .map(|(nth, part)| if nth == 0 { part } else { part.find('\n').map_or("", |end| &part[end..]) })
}

fn without_names(key: &str) -> Vec<&str> {
    let (mut pieces, mut done) = (Vec::new(), 0);
    for name in key.match_indices(PRIVATE_KEY_LABEL).filter_map(|(at, _)| name_around(key, at)) {
        pieces.extend(key.get(done..name.start));
        done = name.end;
    }
    pieces.extend(key.get(done..));
    pieces
}

/// Finds the line that begins or ends a key: dashes around `BEGIN ... PRIVATE KEY`, where `PRIVATE KEY` stands there.
fn name_around(key: &str, at: usize) -> Option<Range<usize>> {
    let of_kind = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == ' ';
    let before = key[..at].trim_end_matches(of_kind);
    let kind = key[before.len()..at].trim_start_matches(' ');
    let is_name = kind.starts_with("BEGIN ") || kind.starts_with("END ");
    let behind = &key[at + PRIVATE_KEY_LABEL.len()..];
    let behind = behind.strip_prefix(" BLOCK").unwrap_or(behind);
    let behind = behind.strip_prefix(' ').unwrap_or(behind);
    (is_name && before.ends_with(DASHES) && behind.starts_with(DASHES))
        .then(|| before.len()..key.len() - behind.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    fn known_secrets(secrets: &[(&str, &str)]) -> KnownSecrets {
        KnownSecrets::new(
            secrets.iter().map(|(secret, rule)| (String::from(*secret), String::from(*rule))).collect(),
        )
    }

    fn places(known: &KnownSecrets, text: &str) -> Vec<Range<usize>> {
        known.find(text).into_iter().map(|part| part.place).collect()
    }

    #[test]
    fn each_eight_letters_of_a_secret_are_found_and_fewer_are_not() {
        for secret in ["q7Xw0Lk2Zt9Bv4Ym6Rn8", "пароль-für-😀-жук"] {
            let known = known_secrets(&[(secret, "a")]);
            let at: Vec<usize> = secret.char_indices().map(|(at, _)| at).chain([secret.len()]).collect();
            for (first, start) in at.iter().enumerate() {
                for (last, end) in at.iter().enumerate().skip(first) {
                    let part = &secret[*start..*end];
                    let expected = (last - first >= MIN_PART_BYTES).then_some(5..5 + part.len());
                    assert_eq!(
                        places(&known, &format!("sée {part} there")),
                        Vec::from_iter(expected),
                        "{part}"
                    );
                }
            }
        }
    }

    #[test]
    fn of_an_address_the_name_and_the_password_are_the_secret() {
        let known = known_secrets(&[
            ("https://someone:s3cr3tPassw0rd@example.com/path", "b"),
            (&"0".repeat(40), "c"),
        ]);
        for text in ["https://example.com/path", "see https://", &"0".repeat(20), "someone", "", "q7Xw0Lk"] {
            assert!(places(&known, text).is_empty(), "{text}");
        }
        assert_eq!(places(&known, "https://someone:s3cr3t").len(), 1);
    }

    #[test]
    fn of_a_private_key_the_lines_that_name_its_kind_are_nobodys() {
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ";
        for (begin, end) in [
            ("-----BEGIN ENCRYPTED PRIVATE KEY-----", "-----END ENCRYPTED PRIVATE KEY-----"),
            ("----- BEGIN ENCRYPTED PRIVATE KEY BLOCK -----", ""),
            ("PuTTY-User-Key-File-2: ecdsa-sha2-nistp256", ""),
        ] {
            let known = known_secrets(&[(&format!("{begin}\n{body}\n{end}"), "privatekey")]);
            assert!(places(&known, &format!("{begin} {end} ENCRYPTED nistp256")).is_empty(), "{begin}");
            assert_eq!(places(&known, &body[4..20]).len(), 1);
        }
        let other = known_secrets(&[(&format!("ENCRYPTED {body}"), "privatekey")]);
        assert_eq!(places(&other, "ENCRYPTED").len(), 1, "what stands in no such line is of the key");
    }

    #[test]
    fn parts_that_meet_are_one_and_have_the_name_of_the_first() {
        let known = known_secrets(&[("abcdefgh", "a"), ("12345678", "b")]);
        let found = known.find("abcdefgh12345678 12345678");
        let all: Vec<_> = found.iter().map(|part| (part.place.clone(), part.rule)).collect();
        assert_eq!(all, [(0..16, "a"), (17..25, "b")]);
    }
}
