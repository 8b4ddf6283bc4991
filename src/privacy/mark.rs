//! What stands for a secret: it tells the rule that found it, and is the same for the same secret of one store. Without the
//! store's key nobody can try guesses.

use alloc::format;
use alloc::string::String;

use sha2::{Digest, Sha256};

/// What SHA-256 takes at once.
const BLOCK: usize = 64;

/// What each placeholder begins with.
pub(crate) const BEGIN: &str = "[redacted:";

/// The placeholder of a secret.
pub(super) fn placeholder(secret: &str, rule: &str, key: &[u8]) -> String {
    let name: String =
        hmac(key, secret.as_bytes()).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{BEGIN}{rule}:{name}]")
}

/// HMAC-SHA256, as RFC 2104 has it.
fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0u8; BLOCK];
    if key.len() > BLOCK {
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
}
