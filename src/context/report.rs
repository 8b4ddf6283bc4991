//! Reports of contexts: what each message became, and by which rule.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::context::budget::Budget;
use crate::context::request::AssumedModel;
use crate::context::steps::Item;
use crate::record::message::{Message, Role};
use crate::shapes::{ReasoningReport, UnsentFile};
use crate::tokens::prices::{Dollars, Prices};

/// The report of a context, without any texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields, rename = "ContextReport"))]
pub struct Report {
    /// The division of the window.
    pub budget: Budget,
    /// The encoding that counted.
    pub encoding: String,
    /// What was assumed about an unknown model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumed: Option<Box<AssumedModel>>,
    /// The strategies that did not serve, in the order of trial.
    pub rejected: Vec<Rejection>,
    /// Each message that was read, in order.
    pub messages: Vec<Decision>,
    /// The number of older messages that were not read.
    pub unread_message_count: u64,
    /// The bytes of the log read for messages, without those scanned for recall.
    pub bytes_read: u64,
    /// The cost of the summary, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary_tokens: Option<u32>,
    /// The number of facts that the summary has no room for, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary_left_out: Option<u32>,
    /// The messages that were recalled, if any match the newest user message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall: Option<Recall>,
    /// Files that the provider does not take, in order, each replaced by a line of text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub unsent_files: Vec<UnsentFile>,
    /// The reasoning of answers whose calls led to the newest results. Other reasoning is not sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<_>"))]
    pub reasoning: Vec<ReasoningReport>,
    /// Where the context of a compacted conversation begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compacted: Option<CompactionStart>,
    /// What a provider may have of it in its cache, where a frame was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheReport>,
}

/// What a context has in common with the last one of the same request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct CacheReport {
    /// The number of messages at its beginning that are the same bytes.
    pub unchanged_messages: u64,
    /// The tokens of these, by their share of the bytes.
    pub unchanged_tokens: u32,
    /// Why the context does not extend the last one; absent where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<FrameEnd>,
    /// What to send as `prompt_cache_key`, in OpenAI's shapes: calls with one key find each other's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_cache_key: Option<String>,
    /// What the call's input costs, with the system prompt and the tools; absent for a model whose prices are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<CallCost>,
}

/// What a call's input costs, in US dollars.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct CallCost {
    /// Where the provider has what is unchanged in its cache, and puts the rest into it.
    #[cfg_attr(test, ts(type = "number"))]
    pub cached: Dollars,
    /// Without a cache.
    #[cfg_attr(test, ts(type = "number"))]
    pub uncached: Dollars,
    /// The day of the price list; absent where the request gives the prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listed_on: Option<&'static str>,
}

impl CallCost {
    /// Computes it for so many tokens that are in the cache, and so many others.
    pub fn of(prices: &Prices, cached: u64, fresh: u64) -> CallCost {
        CallCost {
            cached: prices.cost_of_input(cached, fresh),
            uncached: prices.cost_uncached(cached + fresh),
            listed_on: prices.listed_on,
        }
    }
}

/// Why a frame ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum FrameEnd {
    /// There was none for the request.
    None,
    /// What came since does not fit the budget.
    Budget,
    /// The provider's cache has it no more, or the caller says so.
    Cold,
    /// What was sent no longer holds: most of it is different now, as another branch is current or a secret is hidden;
    /// or an older message was pinned, unpinned or revised.
    Changed,
    /// The conversation was compacted, or a compaction was undone.
    Compacted,
    /// It was cut in another process, and the log is too long to be read again for a proof that it still holds.
    Unverified,
    /// The log is shorter than it was.
    LogShrunk,
}

/// The older messages that were recalled, and the words they match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Recall {
    /// The words looked for from the newest user message, as written.
    pub words: Vec<String>,
    /// The cost of the recall block.
    pub tokens: u32,
    /// The quoted messages, the best first.
    pub messages: Vec<Match>,
    /// The next best ones that were left out, at most three.
    pub left_out: Vec<Match>,
}

/// A message that matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Match {
    /// Its id.
    pub id: String,
    /// The question's words in it, as asked.
    pub words: Vec<String>,
}

/// The place where contexts of a compacted conversation begin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Begins", optional_fields))]
pub struct CompactionStart {
    /// The id of the last compacted message.
    pub through: String,
    /// The offset of its line's end in the log; absent if the budget does not reach back to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_byte: Option<u64>,
}

/// A strategy that did not serve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Rejection {
    /// Its name.
    pub strategy: String,
    /// The reason.
    pub why: String,
}

/// The decision about one message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Decision {
    /// The message's id.
    pub id: String,
    /// What was done with it.
    pub action: Action,
    /// The rule that decided.
    pub rule: &'static str,
    /// Its cost in the context; for an omitted message, the least that it would have cost.
    pub tokens: u32,
}

impl Decision {
    /// Decides about an item: `None` means omitted, else whether it is shortened. An omitted item may be in the
    /// summary.
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

    /// Decides about a message in no step. Unless everything was read, its call may lie farther back.
    pub(crate) fn orphan(message: &Message, is_whole: bool) -> Decision {
        let rule = if is_whole { "result-without-call" } else { "call-not-read" };
        Decision { id: message.id.clone(), action: Action::Dropped, rule, tokens: 0 }
    }
}

/// What was done with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Action {
    /// Kept whole.
    Kept,
    /// Kept, shortened.
    Shortened,
    /// Replaced by the summary.
    Summarized,
    /// Omitted.
    Dropped,
}
