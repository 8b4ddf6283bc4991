//! The source of a context: the places and the state in a log that it is built from.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::record::span::Span;
use crate::session::branch::{BranchPath, Branches};
use crate::state::State;

/// What a context is built from.
#[derive(Clone, Debug, Default)]
pub struct ContextSource {
    /// Where the last complete line ends.
    pub end: u64,
    /// How many messages the path has.
    pub message_count: u64,
    /// The system messages of the log; those off the path are skipped later.
    pub systems: Vec<Span>,
    /// The pinned messages of the log; those off the path are skipped later.
    pub pins: Vec<Span>,
    /// The newest user message of the path, where it is known.
    pub newest_user: Option<Span>,
    /// Its first line, where it was revised.
    pub newest_user_first: Option<Span>,
    /// Lines that do not count.
    pub skipped: Vec<Span>,
    /// Revisions that are the first line of their message, in their order.
    pub firsts: Vec<Span>,
    /// The path, where the log has more than one.
    pub path: Option<(Branches, BranchPath)>,
    /// The session state.
    pub state: Arc<State>,
    /// The project's folder; empty where unknown.
    pub project: String,
    /// The compaction in force.
    pub compaction: Option<CompactionPoint>,
}

/// The point after which contexts begin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompactionPoint {
    /// Id of the last message that the summary stands for.
    pub last_message_id: String,
    /// Where its line ends: if it ends elsewhere now, it is another line, or something was merged before it.
    pub end_byte: Option<u64>,
    /// The written summary; without it, one is rendered from the session state.
    pub summary: Option<String>,
}
