//! Contexts: the messages of a session that one model call gets within its window, with a report of why these.
//!
//! [`Build`] is asked for the next outcome until the context is ready. It reads the log backward, no farther than the
//! budget reaches. What it needs from the host it returns as an [`InputRequest`]; the host supplies it and asks
//! again. The same input gives the same bytes.

mod budget;
mod build;
mod choose;
mod compare;
mod cut;
mod extend;
mod frame;
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
pub(crate) use frame::FrameName;
pub use frame::{Frame, FrameRecall};
pub use prompt::{render_message, summary_prompt};
#[cfg(feature = "interop")]
pub(crate) use recall::MAX_SCAN_BYTES;
pub(crate) use recall::Recollection;
pub use report::{
    Action, CacheReport, CallCost, CompactionStart, Decision, FrameEnd, Match, Recall, Rejection, Report,
};
pub use request::{AssumedModel, Counter, HostStrategy, Request};
pub(crate) use shorten::cut_middle;
pub use summary::{SummaryInput, extract_summary};
pub use write::write_context;
pub(crate) use write::write_context_in_parts;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::text::to_json;
use crate::record::message::Message;
use crate::session::input_request::InputRequest;
use crate::shapes::Recipient;

/// The next outcome of a build.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "a build ends once, and what it ends with is moved once")]
pub enum Outcome {
    /// The context is ready.
    Ready(Context),
    /// Only the host has this input; it supplies it and asks again.
    Needs(InputRequest),
}

/// The messages of one model call, and the report.
#[derive(Clone, Debug, PartialEq)]
pub struct Context {
    /// The messages to send, in order.
    pub messages: Vec<Message>,
    /// The strategy that was chosen.
    pub strategy: String,
    /// The cost of the messages, in tokens.
    pub tokens_used: u32,
    /// The most that they may cost.
    pub token_budget: u32,
    /// The number of messages of the path.
    pub original_message_count: u64,
    /// The number of them in the context, whole or shortened.
    pub included_message_count: u64,
    /// The number of them that a summary replaces.
    pub summarized_message_count: u64,
    /// Why these messages were chosen.
    pub report: Report,
    /// What the next context extends; absent where it was not asked for, or where nothing can be added.
    pub frame: Option<Box<Frame>>,
}

impl Context {
    /// Returns the recipient of its messages: in a frame, reasoning that was sent stays.
    pub fn recipient<'a>(&'a self, request: &'a Request) -> Recipient<'a> {
        let frame = self.frame.as_deref();
        let is_masked = request.masks_reasoning || frame.is_some_and(|frame| frame.masks_reasoning);
        let since = frame.and_then(|frame| frame.reasoning_since.as_deref());
        Recipient::of(request.model.as_deref(), is_masked).with_reasoning_since(since)
    }

    /// True if reasoning that is sent was changed by redaction: it would be refused.
    pub(crate) fn changes_reasoning(&self, leaves: Option<&str>) -> bool {
        let Some(leaves) = leaves else { return false };
        let is_sent = |id: &str| self.report.reasoning.iter().any(|one| one.is_sent && one.id == id);
        let of_sent = self.messages.iter().filter(|message| is_sent(&message.id));
        let all = of_sent
            .filter_map(|message| message.assistant.as_ref())
            .flat_map(|assistant| &assistant.reasoning);
        let mut texts = all.flat_map(|one| {
            let words = [one.signature.as_deref(), one.data.as_deref()];
            words.into_iter().flatten().chain([one.text.as_str()])
        });
        texts.any(|text| !leaves.contains(to_json(text).trim_matches('"')))
    }
}
