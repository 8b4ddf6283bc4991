//! Reading an agent's transcript without storing it.

use alloc::format;
use std::io::ErrorKind;
use std::path::Path;

use crate::interop::Transcript;
use crate::operation::{Failure, Trouble};

/// Reads a transcript of any known agent. Nothing is stored.
///
/// # Errors
/// `not_found`, `not_a_file`, `permission_denied`, `storage_failed`; what [`Transcript::read`] refuses.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("s1.jsonl");
/// let said = r#"{"type":"user","uuid":"u1","sessionId":"s1","message":{"role":"user","content":"Hello"}}"#;
/// std::fs::write(&path, said)?;
/// assert_eq!(leftoff::fs::read_transcript(&path)?.messages().len(), 1);
/// # Ok(())
/// # }
/// ```
pub fn read_transcript(path: impl AsRef<Path>) -> Result<Transcript, Trouble> {
    let path = path.as_ref();
    let shown = path.display();
    let refused = |code: &str, found: &str| {
        let message = format!("expected a file at \"{shown}\", but {found}");
        Failure { code: code.into(), message, ..Failure::default() }
    };
    let unread = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => refused("not_found", "found none"),
        ErrorKind::PermissionDenied => refused("permission_denied", "it may not be read"),
        _ => refused("storage_failed", &format!("it could not be read: {error}")),
    };
    let found = std::fs::metadata(path).map_err(unread)?;
    if found.is_dir() {
        return Err(refused("not_a_file", "found a folder: store.import reads all that is in one").into());
    }
    // Opening a pipe would wait for a writer.
    if !found.is_file() {
        return Err(refused("not_a_file", "found something else").into());
    }
    let bytes = std::fs::read(path).map_err(unread)?;
    Ok(Transcript::read(&bytes, &path.to_string_lossy(), None)?)
}
