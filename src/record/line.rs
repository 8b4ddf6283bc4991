//! A stored line: `{"v":1,` first, `,"crc":"<8 hex>"}` last, then a line feed.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use crc::{CRC_32_ISCSI, Crc, Table};
use memchr::memmem;
use once_cell::race::OnceBox;

use crate::error::{Code, Error};
use crate::json::text::{Open, to_open_json};

/// The longest line that is written, its line feed included, in bytes.
pub const MAX_LINE: usize = 8 * 1024 * 1024;

/// The version of the lines that are written; a reader shows the known fields of a higher one.
pub const VERSION: u64 = 1;

/// The first bytes of a line, by which a reader finds one inside a damaged region.
pub(crate) const START: &[u8] = b"{\"v\":";

/// The bytes before the checksum; the checksum covers all that precedes them.
pub(crate) const CRC_KEY: &[u8] = b",\"crc\":\"";

const CRC_TEMPLATE: &[u8] = b",\"crc\":\"........\"}";

/// The length of what follows [`CRC_KEY`]: eight hex digits, a quote and a brace.
pub(crate) const CRC_REST_BYTES: usize = 10;

/// CRC-32C. Its table is computed at its first use: 16 KB that no compression makes smaller would be a twelfth of a
/// download, and they take microseconds to compute.
pub(crate) fn crc32c() -> &'static Crc<u32, Table<16>> {
    static CRC32C: OnceBox<Crc<u32, Table<16>>> = OnceBox::new();
    CRC32C.get_or_init(|| Box::new(Crc::<u32, Table<16>>::new(&CRC_32_ISCSI)))
}

/// Whether a line's checksum matches its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checksum {
    Absent,
    Right,
    Wrong,
}

/// Returns the version that a line names; a line that names none is of the first.
pub(crate) fn version(json: &str) -> u64 {
    let rest = json.as_bytes().strip_prefix(START).unwrap_or_default();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let digits = core::str::from_utf8(&rest[..digits]).unwrap_or_default();
    digits.parse().unwrap_or(if digits.is_empty() { VERSION } else { u64::MAX })
}

/// Checks a line, given without its line feed.
pub(crate) fn checksum(line: &[u8]) -> Checksum {
    let Some(at) = line.len().checked_sub(CRC_KEY.len() + CRC_REST_BYTES) else {
        return Checksum::Absent;
    };
    let (covered, rest) = line.split_at(at);
    // One changed byte in the key itself must not make a line look as if it never had a checksum.
    let differing = rest
        .iter()
        .zip(CRC_TEMPLATE)
        .filter(|(found, expected)| **expected != b'.' && found != expected)
        .count();
    match differing {
        0 => {}
        1 => return Checksum::Wrong,
        _ => return Checksum::Absent,
    }
    let digits = &rest[CRC_KEY.len()..CRC_KEY.len() + 8];
    if hex(crc32c().checksum(covered)) == digits { Checksum::Right } else { Checksum::Wrong }
}

/// Serializes a record as the line to store.
///
/// # Errors
/// `line_too_long` where it would exceed [`MAX_LINE`].
pub(crate) fn write(record: &impl Open) -> Result<String, Error> {
    write_behind("", record)
}

/// Serializes a record after fields of the line's own, each given with a comma behind it.
///
/// # Errors
/// As of [`write`].
pub(crate) fn write_behind(front: &str, record: &impl Open) -> Result<String, Error> {
    let mut json = to_open_json(record);
    // Most lines have no second brace; to look for one is cheaper than to look for more.
    let may_quote = memchr::memchr(b'{', &json.as_bytes()[1..]).is_some();
    if may_quote && memmem::find(json.as_bytes(), START).is_some() {
        // A record quoted in an unknown field would be taken for one if this line is torn. Between tokens a space is
        // free.
        json = json.replace("{\"v\":", "{ \"v\":");
    }
    json.replace_range(..1, "{\"v\":1,");
    json.insert_str(START.len() + 2, front);
    let mut line = seal(json);
    line.push('\n');
    if line.len() > MAX_LINE {
        let found = line.len();
        return Err(Error::new(
            Code::LineTooLong,
            format!("expected a line of at most {MAX_LINE} bytes, but found {found} bytes instead"),
        ));
    }
    Ok(line)
}

/// Adds the checksum of an object's bytes as its last key.
pub(crate) fn seal(mut object: String) -> String {
    object.pop();
    let crc = hex(crc32c().checksum(object.as_bytes()));
    object.push_str(",\"crc\":\"");
    object.extend(crc.map(char::from));
    object.push_str("\"}");
    object
}

// The standard library's formatting takes as long as the checksum of a short line.
fn hex(crc: u32) -> [u8; 8] {
    core::array::from_fn(|at| b"0123456789abcdef"[(crc >> (28 - 4 * at) & 15) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::message::{Message, Role};

    fn line(content: &str) -> Result<String, Error> {
        write(&Message {
            id: "a".into(),
            role: Some(Role::User),
            content: content.into(),
            ..Message::default()
        })
    }

    #[test]
    fn a_line_begins_with_its_version_and_ends_with_its_checksum() {
        let written = line("x").unwrap();
        // CRC-32C of the bytes before `,"crc"`, by RFC 3720's polynomial, computed bit by bit by a separate script.
        assert_eq!(
            written,
            "{\"v\":1,\"id\":\"a\",\"role\":\"user\",\"content\":\"x\",\"crc\":\"6796c94e\"}\n"
        );
    }

    #[test]
    fn each_changed_byte_is_noticed() {
        let written = line("some words").unwrap();
        let line = &written.as_bytes()[..written.len() - 1];
        assert_eq!(checksum(line), Checksum::Right);
        for place in 0..line.len() - CRC_REST_BYTES {
            let mut changed = line.to_vec();
            changed[place] ^= 1;
            assert_ne!(checksum(&changed), Checksum::Right, "{place}");
        }
        assert_eq!(checksum(b"{\"role\":\"user\"}"), Checksum::Absent);
        assert_eq!(checksum(b""), Checksum::Absent);
    }

    #[test]
    fn a_longer_line_is_refused() {
        assert!(line(&"x".repeat(MAX_LINE - 100)).is_ok());
        assert_eq!(line(&"x".repeat(MAX_LINE)).map_err(|e| e.code), Err(Code::LineTooLong));
    }
}
