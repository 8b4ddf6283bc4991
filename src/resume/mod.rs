//! Handing a session to the next run: what it is told, and how the session is found.

pub mod block;
pub mod drift;
#[cfg(feature = "interop")]
pub(crate) mod excerpt;
pub mod find;
pub mod history;
pub mod listing;
pub mod outline;
#[cfg(feature = "interop")]
pub mod search;
