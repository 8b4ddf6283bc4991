//! A session: its logs, the documents about it, and what is known from them.

pub mod ask;
pub mod batch;
pub mod begin;
pub mod branch;
pub mod checkpoint;
pub mod documents;
pub mod folded_state;
pub(crate) mod folding;
pub mod handle;
pub mod index;
pub mod lease;
pub mod listed;
pub mod log;
pub mod metadata;
pub mod names;
pub mod needs;
pub mod prints;
pub mod reader;
pub(crate) mod revised;
pub mod said;
pub mod source;
pub mod tidy;
pub mod title;
