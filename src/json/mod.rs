//! The ground floor: JSON as it was stored, and the hashes of bytes.

pub mod blob;
pub(crate) mod fields;
pub mod hash;
pub(crate) mod indent;
pub(crate) mod request;
pub mod syntax_error;
pub mod text;
