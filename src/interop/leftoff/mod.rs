//! Reads leftoff's own sessions, each exported as one file, see [`crate::record::session_file`]. A store takes such a
//! file in as it is; here it is read as a transcript, for a caller that stores nothing. The reader needs all that a
//! session is, which is too much for a page's smallest module: the feature `session-file` has it.

#[cfg(feature = "session-file")]
mod session_reader;

use crate::interop::Coverage;
#[cfg(not(feature = "session-file"))]
use crate::{
    error::{Code, Error},
    interop::Import,
};

/// The reader's coverage: all that is in a session.
pub const COVERAGE: Coverage = Coverage { tested_versions: &[], mapped_fields: &[], whole_fields: &[] };

pub(crate) use crate::record::session_file::is_session_file;
#[cfg(feature = "session-file")]
pub use session_reader::read;

/// Rejects the file by name: this build reads other agents' files alone.
///
/// # Errors
/// `unknown_format`.
#[cfg(not(feature = "session-file"))]
pub fn read(_: &[u8]) -> Result<Import, Error> {
    let message = "a session as one file is read where agents.wasm is loaded, or imported into a store";
    Err(Error::new(Code::UnknownFormat, message))
}
