//! Hands a session to the next run: what the run is told, and how the session is found.

pub mod block;
pub mod drift;
#[cfg(feature = "interop")]
pub(crate) mod excerpt;
pub mod history;
pub mod listing;
#[cfg(feature = "interop")]
pub mod log_match;
pub mod outline;
pub mod session_match;
