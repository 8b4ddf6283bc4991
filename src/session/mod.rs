//! What is stored: messages, events, the documents about a session, and the logs they lie in.

pub mod branch;
pub mod checkpoint;
pub mod id;
pub mod line;
pub mod log;
pub mod message;
mod resync;
pub mod scan;
