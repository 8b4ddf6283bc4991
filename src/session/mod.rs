//! What is stored: messages, events, the documents about a session, and the logs they lie in.

pub mod ask;
pub mod begin;
pub mod blob;
pub mod branch;
pub mod checkpoint;
pub mod documents;
pub mod draft;
pub mod edited;
pub mod event;
pub mod handle;
pub mod id;
pub mod index;
pub mod learned;
pub mod line;
pub mod log;
pub mod message;
pub mod metadata;
pub mod project;
pub mod reader;
mod resync;
pub mod scan;
pub mod status;
pub mod title;
pub mod tool_execution;
