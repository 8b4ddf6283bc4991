//! What a hook asks before it loads anything else.

use alloc::vec::Vec;

use wasm_bindgen::prelude::*;

use leftoff::operation;

/// Counts the turns, this one first, that certainly need no answer; see `operation::count_quiet_turns`.
#[wasm_bindgen(js_name = countQuietTurns)]
pub fn count_quiet_turns(prompt: &str, reminder: Option<Vec<u8>>) -> f64 {
    operation::count_quiet_turns(prompt, reminder.as_deref()) as f64
}
