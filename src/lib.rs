//! leftoff keeps an AI agent's conversation on disk, rebuilds from it the best context that fits a model's window, and
//! hands it to the next run.
//!
//! # The contract
//!
//! This crate is the core: bytes in, values out. It has no files, no clock, no randomness, no callbacks; time and random
//! bytes are arguments, see [`time::Stamp`]. Requests to its host are return values.
//!
//! - A log is read by a push parser: [`record::scan::Scanner`]. One bad line costs that line, and is reported.
//! - A log is written by batches whose outcome is always known: [`session::log::Log`].
//! - A session is the state read from its logs of messages and events: [`session::handle::Session`].
//! - Work that takes more than one look at the files is an [`operation`], which returns host requests until it has ended.
//!   A host that answers [`HostRequest`](operation::HostRequest)s runs every operation, and needs to know none of them.
//!
//! Errors come from input. A panic is a bug.
//!
//! # A host
//!
//! For Rust programs on Unix there is a host, [`fs`](https://docs.rs/leftoff/latest/leftoff/fs), by the feature of that name.
//! A program that keeps its bytes elsewhere writes its own. This is all of one, with its files in memory:
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use leftoff::layout::{self, SessionLocation};
//! use leftoff::operation::{
//!     AppendRequest, CountingMode, Drafts, Failure, FileKind, HostRequest, HostResponse, Operation, SessionFiles, Stat, Step, Trouble,
//! };
//! use leftoff::session::lease::{Lease, Process};
//! use leftoff::shapes::Format;
//! use leftoff::time::Stamp;
//!
//! #[derive(Default)]
//! struct Host {
//!     files: BTreeMap<String, Vec<u8>>,
//!     moments: u64,
//! }
//!
//! impl Host {
//!     /// Drives any operation to its end.
//!     fn drive<T>(&mut self, mut operation: Operation<'_, T>) -> Result<T, Trouble> {
//!         let mut step = operation.begin(self.stamp());
//!         loop {
//!             let requests = match step {
//!                 Step::Done(done) => return done,
//!                 Step::Requests(requests) => requests,
//!             };
//!             let responses = requests.into_iter().map(|request| self.answer(request)).collect();
//!             step = operation.next(self.stamp().now_ms, responses);
//!         }
//!     }
//!
//!     fn answer(&mut self, request: HostRequest) -> HostResponse {
//!         match request {
//!             HostRequest::Read { file, start, end } => HostResponse::Bytes(self.files.get(&file.path).map(|bytes| {
//!                 let end = end.map_or(bytes.len(), |end| bytes.len().min(end as usize));
//!                 bytes.get(start as usize..end).unwrap_or_default().to_vec()
//!             })),
//!             HostRequest::Stat { file } => HostResponse::Stat(self.stat(&file.path)),
//!             HostRequest::List { .. } => HostResponse::Entries(None),
//!             HostRequest::Append { file, bytes, .. } => {
//!                 let log = self.files.entry(file.path).or_default();
//!                 log.extend(bytes);
//!                 HostResponse::End(log.len() as u64, None)
//!             }
//!             HostRequest::Replace { file, bytes, .. } => {
//!                 self.files.insert(file.path, bytes);
//!                 HostResponse::Done
//!             }
//!             HostRequest::Remove { file } => {
//!                 self.files.remove(&file.path);
//!                 HostResponse::Done
//!             }
//!             // Nobody else comes to these files, so nobody has to be told who has them open, nor to wait.
//!             HostRequest::Process => HostResponse::Process(Process { lease: Lease::default(), name: String::new(), is_alone: true }),
//!             HostRequest::TakeTurn { .. } | HostRequest::EndTurn { .. } => HostResponse::Done,
//!             HostRequest::Wait { .. } => HostResponse::Done,
//!             // What a host cannot do it says, and the operation decides.
//!             other => HostResponse::Failed(Failure {
//!                 code: "unsupported".into(),
//!                 message: format!("this host has no answer to {other:?}"),
//!                 ..Failure::default()
//!             }),
//!         }
//!     }
//!
//!     fn stat(&self, path: &str) -> Option<Stat> {
//!         let file = self.files.get(path).map(|bytes| (FileKind::File, bytes.len() as u64));
//!         let below = format!("{path}/");
//!         let folder = self.files.keys().any(|one| one.starts_with(&below)).then_some((FileKind::Folder, 0));
//!         let (kind, size) = file.or(folder)?;
//!         Some(Stat { kind, size, modified_us: 0, changed_us: 0, file: None })
//!     }
//!
//!     /// The clock's moment and the system's chance, in a program.
//!     fn stamp(&mut self) -> Stamp {
//!         self.moments += 1;
//!         let mut entropy = [0; 32];
//!         entropy[..8].copy_from_slice(&self.moments.to_le_bytes());
//!         Stamp {
//!             now_ms: 1_763_812_800_000 + self.moments as i64,
//!             offset_minutes: 0,
//!             entropy,
//!         }
//!     }
//! }
//!
//! # fn main() -> Result<(), Trouble> {
//! let mut host = Host::default();
//! let place = SessionLocation::Home { project: layout::NO_PROJECT.into(), id: "first".into() };
//! let session = SessionFiles::new(place.folder(), "the first one".into(), layout::cache(), "");
//! host.drive(session.begin(r#"{"id":"first","title":"The parser"}"#.into()))?;
//!
//! let said = r#"{"role":"user","content":"Rename the parser's entry point."}"#;
//! host.drive(session.append_messages(AppendRequest {
//!     drafts: Drafts::Json(said.into(), None),
//!     is_durable: true,
//!     revives: true,
//!     counts: CountingMode::Estimate,
//! }))?;
//!
//! let asked = r#"{"request":{"window":8000,"encoding":"estimate-1","format":"openai-chat"},"summarizes":false}"#;
//! let context = host.drive(session.context(asked.into(), CountingMode::Estimate))?;
//! assert!(context.starts_with(r#"{"messages":[{"role":"user","content":"Rename the parser's entry point."}]"#));
//! assert!(host.files.contains_key("sessions/projects/none/session-first/messages.jsonl"));
//! # Ok(())
//! # }
//! ```
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(all(feature = "fs", unix))]
extern crate std;

#[cfg(feature = "interop")]
pub mod ask;
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
pub mod outputs;
pub mod plain;
pub mod privacy;
pub mod project;
mod recall;
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
