//! The binding for hosts of WebAssembly components.
#![allow(unsafe_code, reason = "written by wit_bindgen's macros")]

use alloc::string::String;

wit_bindgen::generate!({ world: "leftoff", path: "src/world.wit", runtime_path: "wit_bindgen::rt" });

struct Core;

export!(Core);

impl Guest for Core {
    fn version() -> String {
        env!("CARGO_PKG_VERSION").into()
    }
}
