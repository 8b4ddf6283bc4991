//! What one model call gets: the messages of a session that fit a window, and why these.
//!
//! [`Build`] is asked for the next outcome until it is ready. It reads the log backward and no further than the budget
//! reaches. What it wants from the host it returns as [`Needs`]; the host answers and asks again. The same input gives
//! the same bytes.

mod budget;
mod build;
mod choose;
mod compare;
mod earlier;
mod offered;
mod price;
mod prompt;
mod read;
mod report;
mod request;
mod shorten;
mod state;
mod strategies;
mod summary;
mod turns;

pub use budget::{Budget, calculate};
pub use build::Build;
pub use compare::{Both, Change, Compared, Reported, compare};
pub use prompt::{prompt, told};
pub use read::{Compacted, Source};
pub use report::{Action, Begins, Decision, Rejection, Report};
pub use request::{Assumed, Counter, Custom, Format, Request};
pub use state::{Fact, Kind, SessionState, State};
pub use summary::{Known, extract};
#[cfg(feature = "interop")]
pub(crate) use turns::INTERRUPTED;

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::session::checkpoint::Span;
use crate::session::message::Message;

/// What a call for the next outcome gives.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The context.
    Ready(Context),
    /// Something that only the host can give; then it asks again.
    Needs(Needs),
}

/// What the core wants from its host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Needs {
    /// A summary that somebody wrote, if there is one, of the messages in a region of the log.
    Summary {
        /// What it may stand for: up to the end of this, or to any later message.
        range: Span,
        /// It stands for all that lies before this byte, at least.
        least: u64,
        /// How many tokens it may have.
        tokens: u32,
    },
    /// The bytes of a blob.
    Blob {
        /// Its SHA-256, hex.
        id: String,
    },
    /// Bytes of the messages log.
    Bytes {
        /// Which.
        range: Span,
    },
    /// What a strategy of the host's makes of the session.
    Strategy {
        /// Its name.
        name: String,
        /// How many tokens it may use.
        budget: u32,
    },
    /// The token count of each text, by the encoding asked for; or, for o200k_base, its vocabulary.
    Counts {
        /// The name of the encoding.
        encoding: String,
        /// The texts.
        texts: Vec<String>,
    },
}

/// Document 004's `ContextBuildResult`, and the report.
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
