//! All native tests, in one program, which is compiled and linked once; the tests inside WebAssembly are the other one.
#![allow(missing_docs)]
#![allow(clippy::duplicate_mod, reason = "the fuzzer has the modules of fuzz_checks/ too, and no others")]
#![cfg(not(target_arch = "wasm32"))]

mod agents;
#[cfg(feature = "o200k")]
#[path = "common/any_text.rs"]
mod any_text;
#[cfg(feature = "interop")]
mod ask;
#[path = "common/chance.rs"]
mod chance;
mod common;
mod conformance;
mod context;
mod context_files;
#[cfg(feature = "interop")]
mod context_frames;
mod context_laws;
mod context_reading;
mod context_recall;
mod cuts;
mod documents;
mod documents_by_hand;
#[cfg(feature = "interop")]
mod export;
mod facts;
mod flips;
mod forged_markers;
mod format;
mod fuzz;
mod fuzz_checks;
#[cfg(feature = "interop")]
#[path = "common/histories.rs"]
mod histories;
mod images;
#[cfg(feature = "interop")]
mod imports;
mod index;
mod json_suite;
#[path = "common/lines.rs"]
mod lines;
mod log;
mod native;
#[cfg(feature = "interop")]
mod operations;
#[cfg(feature = "interop")]
#[path = "common/pairs.rs"]
mod pairs;
mod privacy;
mod reader;
#[cfg(feature = "o200k")]
#[path = "common/reference.rs"]
mod reference;
mod revisions;
mod scan;
#[cfg(feature = "interop")]
mod search;
mod sequences;
mod shapes;
mod shapes_kept;
mod state;
mod stored_values;
mod summary;
#[cfg(feature = "o200k")]
#[path = "common/texts.rs"]
mod texts;
mod token_equality;
mod tokens;
mod tokens_estimate;
