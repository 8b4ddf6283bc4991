//! The binding for hosts of WebAssembly components, as `world.wit` describes it. It translates and decides nothing.

#![no_std]
#![allow(missing_docs, reason = "world.wit documents what the macro makes of it")]

extern crate alloc;

use alloc::string::String;
use alloc::vec::Vec;

use leftoff::calls;
use leftoff::error::Error as CoreError;

wit_bindgen::generate!({ world: "leftoff", path: "world.wit", runtime_path: "wit_bindgen::rt" });

use self::Error as Told;

struct Core;

export!(Core);

impl Guest for Core {
    fn scan(log: Vec<u8>) -> Vec<u8> {
        calls::scan_log(&log).into_bytes()
    }

    fn context(log: Vec<u8>, request: Vec<u8>) -> Result<Vec<u8>, Told> {
        let request = utf8(request)?;
        calls::context_of_log(&log, &request, None).map(String::into_bytes).map_err(told)
    }

    fn resume_block(session: Vec<u8>, stamp: Vec<u8>) -> Result<Vec<u8>, Told> {
        let (session, stamp) = (utf8(session)?, utf8(stamp)?);
        calls::resume_block(&session, &stamp).map(String::into_bytes).map_err(told)
    }

    fn drift(about: Vec<u8>) -> Result<Vec<u8>, Told> {
        calls::drift(&utf8(about)?).map(String::into_bytes).map_err(told)
    }
}

fn told(error: CoreError) -> Told {
    Told { code: error.code.as_str().into(), message: error.message }
}

fn utf8(json: Vec<u8>) -> Result<String, Told> {
    let message = "expected UTF-8, but found other bytes instead".into();
    String::from_utf8(json).map_err(|_| Told { code: "invalid_json".into(), message })
}
