//! The placeholder of a secret: it names the rule that found it, and is the same for the same secret in one store.
//! Without the store's key nobody can try guesses.

use alloc::format;
use alloc::string::String;

use sha2::{Digest, Sha256};

/// The block size of SHA-256, in bytes.
const SHA256_BLOCK_BYTES: usize = 64;

/// The beginning of each placeholder.
pub(super) const PLACEHOLDER_PREFIX: &str = "[redacted:";

/// Makes the placeholder of a secret.
pub(super) fn placeholder_for(secret: &str, rule: &str, key: &[u8]) -> String {
    let name: String =
        hmac(key, secret.as_bytes()).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{PLACEHOLDER_PREFIX}{rule}:{name}]")
}

/// True if a text is a placeholder already.
pub(super) fn is_placeholder(text: &str) -> bool {
    let inside = text.strip_prefix(PLACEHOLDER_PREFIX).and_then(|rest| rest.strip_suffix(']'));
    inside.and_then(|inside| inside.rsplit_once(':')).is_some_and(|(rule, name)| {
        let is_of_rule = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        !rule.is_empty() && rule.bytes().all(is_of_rule) && name.len() == 8 && name.bytes().all(is_hex)
    })
}

/// Replaces each placeholder in a text by a character that no word has.
#[cfg(feature = "interop")]
pub(crate) fn blank_placeholders(text: &str) -> String {
    let (mut blank, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = rest.find(PLACEHOLDER_PREFIX) {
        let behind = start + PLACEHOLDER_PREFIX.len();
        let is_outside = |letter: char| !letter.is_ascii_alphanumeric() && !"_-:".contains(letter);
        let end = rest[behind..].find(is_outside).map_or(rest.len(), |end| behind + end + 1);
        let is_one = rest.get(start..end).is_some_and(is_placeholder);
        blank.push_str(&rest[..start]);
        blank.push_str(if is_one { "\u{2588}" } else { PLACEHOLDER_PREFIX });
        rest = &rest[if is_one { end } else { behind }..];
    }
    blank + rest
}

/// Computes HMAC-SHA256, by RFC 2104.
fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0u8; SHA256_BLOCK_BYTES];
    if key.len() > SHA256_BLOCK_BYTES {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let keyed = |pad: u8, message: &[u8]| -> [u8; 32] {
        Sha256::new().chain_update(block.map(|byte| byte ^ pad)).chain_update(message).finalize().into()
    };
    keyed(0x5c, &keyed(0x36, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(key: &[u8], message: &[u8], expected: &str) {
        let hex: String = hmac(key, message).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, expected);
    }

    // RFC 4231, test cases 1, 2, 4 and 6.
    #[test]
    fn it_is_the_function_of_the_rfc() {
        check(&[0x0b; 20], b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
        check(
            b"Jefe",
            b"what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        );
        let key: [u8; 25] = core::array::from_fn(|at| at as u8 + 1);
        check(&key, &[0xcd; 50], "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
        let message = b"Test Using Larger Than Block-Size Key - Hash Key First";
        check(&[0xaa; 131], message, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    }

    #[test]
    fn a_key_of_up_to_a_block_is_filled_with_zeros() {
        for length in 0..=SHA256_BLOCK_BYTES {
            let mut filled = [0; SHA256_BLOCK_BYTES];
            filled[..length].fill(0xaa);
            assert_eq!(
                hmac(&[0xaa; SHA256_BLOCK_BYTES][..length], b"message"),
                hmac(&filled, b"message"),
                "{length}"
            );
            // A key of one block differs from the hash that HMAC makes of a longer key.
            assert_ne!(hmac(&filled, b"message"), hmac(&Sha256::digest(filled), b"message"), "{length}");
        }
    }
}
