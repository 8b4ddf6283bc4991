//! Ids: uuids of versions 4, 7 and 8, made from what the caller hands over.

use alloc::format;
use alloc::string::String;

use sha2::{Digest, Sha256};

use crate::error::{Code, Error};
use crate::time::Stamp;

const MAX_GIVEN_ID_BYTES: usize = 128;

/// Makes a new id of shape v7, which sorts by time. `place` keeps the ids of one stamp apart and, below 4096, in order.
pub fn new(stamp: &Stamp, place: u32) -> String {
    let mut chance = [0; 8];
    chance.copy_from_slice(&stamp.entropy[..8]);
    let chance = u64::from_be_bytes(chance).wrapping_add(place.into()).to_be_bytes();
    let counter = (place.min(0xfff) as u16).to_be_bytes();
    v7(stamp.now_ms, [&counter, &chance])
}

/// Makes a new id of shape v4 from random bytes alone; it reveals no time.
pub fn random(stamp: &Stamp) -> String {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&stamp.entropy[..16]);
    format_uuid(bytes, 4)
}

/// Makes the id of an imported record: the same at every import, sorting by the time it has in its source.
pub fn from_source(agent: &str, session: &str, native: &str, ms: i64) -> String {
    let hash = hash(&[agent.as_bytes(), session.as_bytes(), native.as_bytes()]);
    v7(ms, [&hash[..2], &hash[2..10]])
}

/// Makes the id of a record stored without one: shape v8, from its bytes and, if they can repeat, its place.
pub fn from_parts(parts: &[&[u8]]) -> String {
    let hash = hash(parts);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    format_uuid(bytes, 8)
}

/// Derives the random bytes for the nth further use from those that a host gave.
pub(crate) fn chance_after(entropy: &[u8; 32], nth: u32) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(entropy);
    hash.update(nth.to_be_bytes());
    hash.finalize().into()
}

/// True if the id may name a file: a name that a person may give, or an id that leftoff makes.
pub(crate) fn is_safe(id: &str) -> bool {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    id.len() <= MAX_GIVEN_ID_BYTES
        && id.bytes().all(is_safe)
        && id.starts_with(|first: char| first.is_ascii_alphanumeric())
        && !id.contains("..")
}

/// Checks a name that a person gives: `^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`, no `..`, no Windows device name,
/// no trailing dot.
///
/// # Errors
/// `invalid_id`, saying why.
pub fn check_given(id: &str) -> Result<(), Error> {
    let wrong = |why: &str| {
        Err(Error::new(Code::InvalidId, format!("{id:?} cannot be used as a name or an id: {why}")))
    };
    let stem = id.split('.').next().unwrap_or_default().to_ascii_uppercase();
    let numbered = |device: &str| {
        stem.strip_prefix(device)
            .is_some_and(|n| n.len() == 1 && n != "0" && n.bytes().all(|b| b.is_ascii_digit()))
    };
    if id.len() > MAX_GIVEN_ID_BYTES {
        return wrong("it is longer than 128 characters");
    }
    if !id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-')) {
        return wrong("only letters, digits, '.', '_' and '-' are allowed");
    }
    if !id.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return wrong("it must begin with a letter or digit");
    }
    if id.contains("..") || id.ends_with('.') {
        return wrong("it has two dots in a row or ends with a dot");
    }
    if matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL") || numbered("COM") || numbered("LPT") {
        return wrong("Windows reserves that name for a device");
    }
    Ok(())
}

// Each part is preceded by its length, so that ("ab","c") and ("a","bc") differ.
fn hash(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

fn v7(ms: i64, chance: [&[u8]; 2]) -> String {
    let mut bytes = [0; 16];
    bytes[..6].copy_from_slice(&(ms.max(0) as u64).to_be_bytes()[2..]);
    bytes[6..8].copy_from_slice(chance[0]);
    bytes[8..].copy_from_slice(chance[1]);
    format_uuid(bytes, 7)
}

fn format_uuid(mut bytes: [u8; 16], version: u8) -> String {
    bytes[6] = (bytes[6] & 0x0f) | (version << 4);
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let mut id = String::with_capacity(36);
    for (place, byte) in bytes.into_iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            id.push('-');
        }
        let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
        id.extend([digit(byte >> 4), digit(byte & 15)]);
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_one_stamp_differ_and_sort_in_their_order() {
        let stamp = Stamp { now_ms: 1_763_812_800_123, offset_minutes: 0, entropy: [7; 32] };
        let mut ids: alloc::vec::Vec<String> = (0..4096).map(|place| new(&stamp, place)).collect();
        assert!(ids.is_sorted() && ids.iter().all(|id| id.len() == 36 && &id[14..15] == "7"));
        ids.extend((4096..9000).chain([u32::MAX]).map(|place| new(&stamp, place)));
        ids.sort();
        assert!(ids.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn an_import_gives_the_same_id_each_time_and_another_one_for_each_source() {
        let id = from_source("claude-code", "s", "m", 5);
        assert_eq!(id, from_source("claude-code", "s", "m", 5));
        assert_ne!(id, from_source("claude-code", "sm", "", 5));
        assert!(id.starts_with("00000000-0005-7"));
        assert_eq!(&from_parts(&[b"x"])[14..15], "8");
    }

    #[test]
    fn a_given_id_is_refused_where_a_filesystem_could_read_more_into_it() {
        for good in ["001-brainstorm-topic", "a", "A.b_c-9", "com", "COM0", "console"] {
            assert_eq!(check_given(good), Ok(()), "{good}");
        }
        let long = "a".repeat(129);
        for bad in
            ["", ".", "..", "a..b", "a.", "-a", "a/b", "a\\b", "a b", "ä", "NUL", "con.txt", "LPT1", &long]
        {
            assert_eq!(check_given(bad).map_err(|e| e.code), Err(Code::InvalidId), "{bad}");
        }
    }

    #[test]
    fn what_may_name_a_file_leads_nowhere_else() {
        for safe in
            ["019aaaca-0000-7000-8000-000000000001", "a", "0", "A.b_c-9", &"a".repeat(MAX_GIVEN_ID_BYTES)]
        {
            assert!(is_safe(safe), "{safe}");
        }
        let long = "a".repeat(MAX_GIVEN_ID_BYTES + 1);
        for other in ["", ".", "..", "a..b", ".a", "-a", "_a", "a/b", "/a", "a\\b", "a b", "a\n", "ä", &long]
        {
            assert!(!is_safe(other), "{other}");
        }
    }
}
