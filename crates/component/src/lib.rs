//! The binding for hosts of WebAssembly components, as `wit/` describes it. It translates and decides nothing.

#![no_std]
#![allow(missing_docs, reason = "wit/ documents what the macro makes of it")]

extern crate alloc;

mod host_requests;
mod host_responses;
mod session;
mod store;
mod texts;
mod transcripts;

use alloc::string::String;

use leftoff::error::Error as Refusal;
use leftoff::operation::Trouble;
use leftoff::time::Stamp as Moment;

use exports::leftoff::core::protocol::{Error, Guest, Stamp};

wit_bindgen::generate!({ world: "leftoff", path: "wit", runtime_path: "wit_bindgen::rt" });

struct Core;

export!(Core);

impl Guest for Core {
    type Vocabulary = texts::Counter;
}

fn to_error(error: Refusal) -> Error {
    Error { code: error.code.as_str().into(), message: error.message, origin: None }
}

fn trouble_error(trouble: &Trouble) -> Error {
    let (code, message) = (trouble.code().into(), String::from(trouble.message()));
    Error { code, message, origin: trouble.origin() }
}

fn to_moment(stamp: Stamp) -> Moment {
    let Stamp { now_ms, offset_minutes, entropy: (first, second, third, fourth) } = stamp;
    let mut entropy = [0; 32];
    for (bytes, part) in entropy.chunks_exact_mut(8).zip([first, second, third, fourth]) {
        bytes.copy_from_slice(&part.to_be_bytes());
    }
    Moment { now_ms, offset_minutes, entropy }
}
