//! What lies in a log: lines, the records on them, and what these are: messages, events, tool executions.

pub(crate) mod batch;
pub mod blob;
pub mod document_edit;
pub mod draft;
pub mod event;
pub mod id;
pub mod line;
pub mod message;
mod resync;
pub mod scan;
#[cfg(feature = "interop")]
pub mod session_file;
pub mod span;
pub mod status;
pub mod tool_execution;
