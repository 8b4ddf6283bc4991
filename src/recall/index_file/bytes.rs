//! The encoding of an index file: numbers of variable length, lists of postings, checksums.

use alloc::vec::Vec;

use crate::recall::documents::Posting;
use crate::record::line::crc32c;

/// The length of a checksum.
pub const CHECKSUM_BYTES: usize = 4;

/// Appends a number, seven bits in each byte, the lowest first.
pub fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends the checksum of the bytes from `from` on.
pub fn seal(out: &mut Vec<u8>, from: usize) {
    let check = crc32c().checksum(&out[from..]);
    out.extend_from_slice(&check.to_le_bytes());
}

/// Returns the sealed bytes; `None` if they have changed.
pub fn unseal(bytes: &[u8]) -> Option<&[u8]> {
    let (inside, check) = bytes.split_at_checked(bytes.len().checked_sub(CHECKSUM_BYTES)?)?;
    (crc32c().checksum(inside).to_le_bytes() == check).then_some(inside)
}

/// Reads values from bytes, one after another. Each returns `None` if too few bytes are left, so no stored length is
/// trusted.
#[derive(Clone, Debug)]
pub struct ByteReader<'a>(pub &'a [u8]);

impl<'a> ByteReader<'a> {
    /// Reads the next number.
    pub fn read_number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.read_byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// Reads a number that counts something in memory.
    pub fn read_count(&mut self) -> Option<usize> {
        usize::try_from(self.read_number()?).ok()
    }

    /// Reads the next byte.
    pub fn read_byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// Reads `count` bytes.
    pub fn read_bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// Reads four bytes, little-endian.
    pub fn read_u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.read_bytes(4)?.try_into().ok()?))
    }

    /// Reads eight bytes, little-endian.
    pub fn read_u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.read_bytes(8)?.try_into().ok()?))
    }
}

/// Appends a posting after that of the document `before`, which is zero for the first.
pub fn put_posting(out: &mut Vec<u8>, before: u32, (document, times): Posting) {
    put_number(out, u64::from(document - before) << 1 | u64::from(times > 1));
    if times > 1 {
        put_number(out, u64::from(times - 2));
    }
}

/// Encodes postings as a list.
pub fn encode_postings(postings: &[Posting]) -> Vec<u8> {
    let (mut bytes, mut before) = (Vec::new(), 0);
    for posting in postings {
        put_posting(&mut bytes, before, *posting);
        before = posting.0;
    }
    bytes
}

/// Calls `work` with each of `count` postings; `None` if they are damaged.
pub fn for_each_posting(list: &mut ByteReader<'_>, count: u32, mut work: impl FnMut(Posting)) -> Option<()> {
    let mut document = 0_u32;
    for _ in 0..count {
        let head = list.read_number()?;
        document = document.checked_add(u32::try_from(head >> 1).ok()?)?;
        let more = if head & 1 == 1 { u32::try_from(list.read_number()?).ok()?.checked_add(1)? } else { 0 };
        work((document, 1 + more));
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_read_as_they_were_written(numbers: Vec<u64>) {
            let mut out = Vec::new();
            numbers.iter().for_each(|number| put_number(&mut out, *number));
            let mut bytes = ByteReader(&out);
            let read: Vec<u64> = numbers.iter().map_while(|_| bytes.read_number()).collect();
            prop_assert_eq!(&read, &numbers);
            prop_assert_eq!(bytes.read_byte(), None);
        }
    }
}
