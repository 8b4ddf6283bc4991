//! leftoff keeps an AI agent's conversation on disk, rebuilds from it the best context that fits a model's window, and
//! hands it to the next run.
//!
//! # The contract
//!
//! This crate is the core: bytes in, values out. It has no files, no clock, no randomness, no callbacks; time and chance
//! are arguments, see [`time::Stamp`]. What it wants from its host it returns as a value, see [`context::Build`].
//!
//! - A log is read by a push parser: [`record::scan::Scanner`]. One bad line costs that line, and is reported.
//! - A log is written by batches whose outcome is always known: [`session::log::Log`].
//! - A session is its two logs and what is known from them: [`session::handle::Session`].
//! - A context is asked for until it is ready: [`context::Build`].
//!
//! Errors come from input. A panic is a bug.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(all(feature = "fs", unix))]
extern crate std;

#[cfg(feature = "interop")]
pub mod calls;
pub mod context;
pub mod error;
#[cfg(feature = "interop")]
pub mod export;
#[cfg(all(feature = "fs", unix))]
pub mod fs;
#[cfg(feature = "interop")]
pub mod interop;
pub mod json;
pub mod layout;
pub mod nearest;
pub mod operation;
pub mod plain;
pub mod privacy;
pub mod project;
pub mod record;
#[cfg(test)]
mod records;
pub mod resume;
pub mod session;
pub mod settings;
pub mod shapes;
pub mod state;
pub mod time;
pub mod tokens;
