//! Blobs: bytes that lie in a file of their own, named by their SHA-256.

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::fields::{BadValue, Field, reject};
use crate::json::hash::sha256;

/// A blob and its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// SHA-256 of the bytes, 64 hex digits: the name of its file.
    pub id: String,
    /// The content: a text as UTF-8, or as JSON if a lone surrogate stands in it; or an attachment's bytes.
    pub bytes: Vec<u8>,
}

impl Blob {
    /// Makes a blob of these bytes.
    pub fn new(bytes: Vec<u8>) -> Blob {
        Blob { id: sha256(&bytes), bytes }
    }
}

/// The id of a blob as a line names it; it is part of a path, so nothing but 64 hex digits passes.
pub(crate) struct BlobId(pub String);

impl Field for BlobId {
    fn read(raw: &str, path: &str, bad: &mut Vec<BadValue>) -> Option<BlobId> {
        let id = String::read(raw, path, bad)?;
        let is_hash = id.len() == 64 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if is_hash { Some(BlobId(id)) } else { reject(raw, path, "64 hex digits", bad) }
    }
}
