//! Sessions: their logs, the documents about them, the session index, and the state folded from them.

pub mod batch;
pub mod branch;
pub mod change_request;
pub mod checkpoint;
pub mod context_source;
pub mod document_claims;
pub mod documents;
pub mod file_prints;
pub mod folded_state;
pub(crate) mod folding;
pub mod handle;
pub mod index;
pub mod input_request;
pub mod lease;
pub mod log;
pub mod message_reader;
pub mod metadata;
pub mod name_order;
pub mod new_session;
pub(crate) mod revisions;
pub mod session_list;
pub mod tidy;
pub mod title;
#[cfg(feature = "interop")]
pub mod usage;
