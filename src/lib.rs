//! leftoff keeps an AI agent's conversation on disk and rebuilds from it the best context that fits a model.
#![cfg_attr(not(test), no_std)]

extern crate alloc;

pub mod context;
pub mod error;
#[cfg(feature = "interop")]
pub mod interop;
pub mod session;
pub mod text;
pub mod time;
pub mod tokens;
