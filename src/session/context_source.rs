//! What a context is built from.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::record::span::Span;
use crate::session::branch::{BranchPath, Branches};
use crate::state::State;

/// What is known of the log that a context is built from.
#[derive(Clone, Debug, Default)]
pub struct ContextSource {
    /// Where the last complete line ends.
    pub end: u64,
    /// How many messages the path has.
    pub message_count: u64,
    /// The system messages of the log; those off the path are left out.
    pub systems: Vec<Span>,
    /// The pinned messages of the log; those off the path are left out.
    pub pins: Vec<Span>,
    /// The newest user message of the path, where it is known.
    pub newest_user: Option<Span>,
    /// Its first line, where it was written again.
    pub newest_user_first: Option<Span>,
    /// Lines that say again what was said before.
    pub skipped: Vec<Span>,
    /// Revisions that are the first line of their message, in their order.
    pub firsts: Vec<Span>,
    /// The path, where the log has more than one.
    pub path: Option<(Branches, BranchPath)>,
    /// What the conversation has come to.
    pub state: Arc<State>,
    /// Where the project lies; empty where nobody said.
    pub project: String,
    /// What the conversation was compacted to.
    pub compaction: Option<CompactionPoint>,
}

/// Contexts begin behind a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompactionPoint {
    /// The last message that a summary stands for.
    pub last_message_id: String,
    /// Where its line ends: one that ends elsewhere is another, or something was merged before it.
    pub end_byte: Option<u64>,
    /// What somebody wrote of it; without it, what was learned on the way stands for it.
    pub summary: Option<String>,
}
