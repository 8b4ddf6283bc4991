//! What is stored: messages, events, the documents about a session, and the logs they lie in.

pub mod id;
pub mod line;
pub mod message;
pub mod scan;
