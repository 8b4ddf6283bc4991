//! What one model call gets: the messages of a session that fit a window, and why these.
//!
//! [`Build`] is asked for the next outcome until it is ready. It reads the log backward and no further than the budget
//! reaches. What it wants from the host it returns as [`InputRequest`]; the host answers and asks again. The same input gives
//! the same bytes.

mod budget;
mod build;
mod choose;
mod compare;
mod host_strategies;
mod price;
mod priced_summary;
mod prompt;
mod reading;
mod recall;
mod report;
mod request;
mod shorten;
mod steps;
mod strategies;
mod summary;
mod write;

pub use budget::{Budget, calculate};
pub use build::Build;
pub use compare::{BeforeAfter, ComparedContext, ContextComparison, MessageChange, compare_contexts};
pub use prompt::{render_message, summary_prompt};
#[cfg(feature = "interop")]
pub(crate) use recall::FARTHEST;
pub(crate) use recall::Recollection;
pub use report::{Action, CompactionStart, Decision, Match, Recall, Rejection, Report};
pub use request::{AssumedModel, Counter, HostStrategy, Request};
pub(crate) use shorten::cut_middle;
pub use summary::{SummaryInput, extract_summary};
pub use write::write_context;
pub(crate) use write::write_context_in_parts;

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::text::to_json;
use crate::record::message::Message;
use crate::session::input_request::InputRequest;

/// What a call for the next outcome gives.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "a build ends once, and what it ends with is moved once")]
pub enum Outcome {
    /// The context.
    Ready(Context),
    /// Something that only the host can give; then it asks again.
    Needs(InputRequest),
}

/// What one model call gets, and the report.
#[derive(Clone, Debug, PartialEq)]
pub struct Context {
    /// What to send, in order.
    pub messages: Vec<Message>,
    /// The strategy that fitted.
    pub strategy: String,
    /// What the messages cost.
    pub tokens_used: u32,
    /// What they may cost.
    pub token_budget: u32,
    /// How many messages the path has.
    pub original_message_count: u64,
    /// How many of them are in the context, whole or shortened.
    pub included_message_count: u64,
    /// How many of them a summary stands for.
    pub summarized_message_count: u64,
    /// Why these.
    pub report: Report,
}

impl Context {
    /// Whether reasoning that is sent is not in what leaves, word for word: it would be refused.
    pub(crate) fn changes_reasoning(&self, leaves: Option<&str>) -> bool {
        let Some(leaves) = leaves else { return false };
        let is_sent = |id: &str| self.report.reasoning.iter().any(|one| one.is_sent && one.id == id);
        let of_sent = self.messages.iter().filter(|message| is_sent(&message.id));
        let all = of_sent.filter_map(|message| message.assistant.as_ref()).flat_map(|said| &said.reasoning);
        let mut texts = all.flat_map(|one| {
            let words = [one.signature.as_deref(), one.data.as_deref()];
            words.into_iter().flatten().chain([one.text.as_str()])
        });
        texts.any(|text| !leaves.contains(to_json(text).trim_matches('"')))
    }
}
