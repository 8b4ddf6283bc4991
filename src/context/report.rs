//! Why a context is as it is.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::context::budget::Budget;

/// Why a context is as it is, without its texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// How the window was divided.
    pub budget: Budget,
    /// By what it was counted.
    pub encoding: String,
    /// The strategies that did not serve, in the order they were tried.
    pub rejected: Vec<Rejection>,
    /// Each message that was read, in order.
    pub messages: Vec<Decision>,
    /// Older messages that were not even read.
    pub unread_message_count: u64,
    /// How many bytes of the log were read.
    pub bytes_read: u64,
}

/// A strategy that did not serve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rejection {
    /// Its name.
    pub strategy: &'static str,
    /// Why.
    pub why: &'static str,
}

/// What became of one message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The message.
    pub id: String,
    /// What became of it.
    pub action: Action,
    /// By which rule.
    pub rule: &'static str,
    /// What it costs in the context; of one left out, what it would have cost at least.
    pub tokens: u32,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It is there, whole.
    Kept,
    /// It is there, shortened.
    Shortened,
    /// A summary stands for it.
    Summarised,
    /// It is not there.
    Dropped,
}
