//! leftoff keeps an AI agent's conversation on disk and rebuilds from it the best context that fits a model.
#![cfg_attr(not(test), no_std)]
// The macro of the component's binding writes unsafe code.
#![cfg_attr(not(feature = "component"), forbid(unsafe_code))]

extern crate alloc;

#[cfg(all(feature = "component", target_arch = "wasm32"))]
mod component;
pub mod context;
pub mod error;
#[cfg(feature = "interop")]
pub mod interop;
pub mod session;
pub mod text;
pub mod time;
pub mod tokens;
#[cfg(all(feature = "wasm", target_arch = "wasm32"))]
pub mod wasm;
