//! What is held against bytes that a fuzzer made. Each `check` panics where a law is broken; fuzz/ runs it on new bytes,
//! tests/fuzz.rs on those that were kept.
#![allow(dead_code, reason = "a fuzz target uses its part of it")]

#[cfg(feature = "interop")]
pub mod agents;
pub mod events;
pub mod laws;
#[path = "../common/lines.rs"]
mod lines;
#[cfg(feature = "tokens")]
#[path = "../common/reference.rs"]
mod reference;
pub mod resync;
pub mod scan;
pub mod text;
#[cfg(feature = "tokens")]
pub mod tokens;

use leftoff::record::message::Message;
use leftoff::session::handle::{Session, StagedBatch};
use leftoff::time::Stamp;
use leftoff::tokens::Counting;

type Target = (&'static str, fn(&[u8]));

/// The targets, by the names of their folders.
pub const TARGETS: &[Target] = &[
    ("scan", scan::check),
    ("events", events::check),
    ("text", text::check),
    ("blob", text::check_in_blob),
    ("resync", resync::check),
    #[cfg(feature = "interop")]
    ("write", agents::check_written),
    #[cfg(feature = "tokens")]
    ("tokens", tokens::check),
];

/// Messages as a batch that nothing was written before.
fn stage(session: &mut Session, drafts: Vec<Message>, entropy: u8) -> StagedBatch {
    let stamp = Stamp { now_ms: 1_763_812_800_000, offset_minutes: 0, entropy: [entropy; 32] };
    session.stage_messages(drafts, &stamp, Counting::Off).expect("nothing else is staged")
}
