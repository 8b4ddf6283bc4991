//! The stored hashes: blobs, lines and files are known by them.

use alloc::format;
use alloc::string::String;

use sha2::{Digest, Sha256};

/// Returns the SHA-256 of bytes, as 64 hex digits.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Writes bytes as hex digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
