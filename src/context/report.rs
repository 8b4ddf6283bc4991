//! Why a context is as it is.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::context::budget::Budget;
use crate::context::request::AssumedModel;
use crate::context::steps::Item;
use crate::record::message::{Message, Role};
use crate::shapes::{ReasoningReport, UnsentFile};

/// Why a context is as it is, without its texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields, rename = "ContextReport"))]
pub struct Report {
    /// How the window was divided.
    pub budget: Budget,
    /// By what it was counted.
    pub encoding: String,
    /// What was assumed of the model, where nobody knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumed: Option<Box<AssumedModel>>,
    /// The strategies that did not serve, in the order they were tried.
    pub rejected: Vec<Rejection>,
    /// Each message that was read, in order.
    pub messages: Vec<Decision>,
    /// Older messages that were not even read.
    pub unread_message_count: u64,
    /// How many bytes of the log were read for its messages, beside those that older ones were looked for in.
    pub bytes_read: u64,
    /// What the summary costs, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary_tokens: Option<u32>,
    /// How many lines of what was learned of the conversation the summary has no room for, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary_left_out: Option<u32>,
    /// What was brought back of older messages, where any match the newest user message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall: Option<Recall>,
    /// Files that the provider does not take, in order: a line of text stands for each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub unsent_files: Vec<UnsentFile>,
    /// What became of the reasoning of answers whose calls led to the newest results. That of others is not sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub reasoning: Vec<ReasoningReport>,
    /// Where the context begins, where the conversation was compacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compacted: Option<CompactionStart>,
}

/// What was brought back of older messages, and by what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Recall {
    /// The words of the newest user message that were looked for, as they were written.
    pub words: Vec<String>,
    /// What the message that quotes them costs.
    pub tokens: u32,
    /// The messages that are quoted, the best first.
    pub messages: Vec<Match>,
    /// Those that came next and were left out, the best first: three at most.
    pub left_out: Vec<Match>,
}

/// A message that matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Match {
    /// The message.
    pub id: String,
    /// The words that it has, as they were asked.
    pub words: Vec<String>,
}

/// Where contexts of a compacted conversation begin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Begins", optional_fields))]
pub struct CompactionStart {
    /// Behind this message.
    pub through: String,
    /// Where its line ends in the log; nothing where the budget does not reach as far back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_byte: Option<u64>,
}

/// A strategy that did not serve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Rejection {
    /// Its name.
    pub strategy: String,
    /// Why.
    pub why: String,
}

/// What became of one message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
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

impl Decision {
    /// Of an item that is left out, or there, shortened or not. What is left out may have a summary.
    pub(crate) fn of(item: &Item, is_short: Option<bool>, has_summary: bool) -> Decision {
        let is_result = item.message.role == Some(Role::Tool);
        let (action, rule, tokens) = match is_short {
            None if has_summary => (Action::Summarized, "did-not-fit", item.least_cost()),
            None => (Action::Dropped, "did-not-fit", item.least_cost()),
            Some(true) if is_result => (Action::Shortened, "tool-result", item.least_cost()),
            Some(true) => (Action::Shortened, "cut-to-fit", item.least_cost()),
            Some(false) if item.is_required => (Action::Kept, "required", item.whole_cost()),
            Some(false) => (Action::Kept, "fits", item.whole_cost()),
        };
        Decision { id: item.message.id.clone(), action, rule, tokens }
    }

    /// Of a message that is in no step. Unless everything was read, its call may lie farther back.
    pub(crate) fn orphan(message: &Message, is_whole: bool) -> Decision {
        let rule = if is_whole { "result-without-call" } else { "call-not-read" };
        Decision { id: message.id.clone(), action: Action::Dropped, rule, tokens: 0 }
    }
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Action {
    /// It is there, whole.
    Kept,
    /// It is there, shortened.
    Shortened,
    /// A summary stands for it.
    Summarized,
    /// It is not there.
    Dropped,
}
