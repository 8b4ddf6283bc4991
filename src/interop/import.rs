//! The result of reading an agent's file.
//!
//! It has no session state: that is folded by whoever takes the session up. Of a hundred imports few are taken up, and
//! folding takes as long as reading.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::interop::Loss;
use crate::record::event::{ForkOrigin, Parent};
use crate::record::message::Message;
use crate::record::scan::Problem;
use crate::time;

/// The sessions in an agent's file, and its problems.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Import {
    /// The conversation, and those of its sub-agents; never empty.
    pub sessions: Vec<ImportedSession>,
    /// Problems of reading, with their places in the file.
    pub problems: Vec<Problem>,
}

/// One conversation from an agent's file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportedSession {
    /// Its uuid in leftoff, the same at each import.
    pub id: String,
    /// The agent's name, or that of a program of one's own.
    pub agent: String,
    /// Its id in the agent's files; for a sub-agent's conversation `<session>/<agent>`.
    pub source_id: String,
    /// For a sub-agent's conversation: the call that began it. If the caller lies in another file, its uuid cannot be
    /// known from this one, and `session` is `<agent's name>/<source id>`.
    pub parent: Option<Parent>,
    /// For a copy of another session: that one, and the last message that was taken over.
    pub fork: Option<ForkOrigin>,
    /// The sub-agents that this conversation began, which may lie in files of their own.
    pub sub_agents: Vec<SubAgent>,
    /// The title that the user or the agent gave.
    pub title: Option<String>,
    /// The folder it was begun in.
    pub folder: Option<String>,
    /// The git branch of its newest message.
    pub git_branch: Option<String>,
    /// The model of the newest answer.
    pub model: Option<String>,
    /// The tools that it had, as far as the file says so, and those that it called; sorted.
    pub tools: Vec<String>,
    /// The version of the client that wrote the newest message.
    pub version: Option<String>,
    /// The time of its first record, in milliseconds since 1970.
    pub created_ms: Option<i64>,
    /// The time of its newest message, in milliseconds since 1970.
    pub last_ms: Option<i64>,
    /// The messages, in file order.
    pub messages: Vec<Message>,
    /// The fields that were not taken over.
    pub losses: Vec<Loss>,
}

impl ImportedSession {
    /// Returns when it began, as far as the source says so: not after anything that was said.
    pub fn began_ms(&self) -> Option<i64> {
        let times = self.messages.iter().filter_map(|message| message.timestamp.as_deref());
        times.filter_map(time::parse).chain(self.created_ms).min()
    }
}

/// A sub-agent and the call that began it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SubAgent {
    /// The `source_id` of its conversation.
    pub source_id: String,
    /// The id of the call.
    pub call_id: String,
}
