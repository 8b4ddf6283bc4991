//! Recall: older messages that match what is asked. Texts become words, words rank messages, and of the best a share of a
//! context's budget quotes what answers.

#[cfg(feature = "interop")]
pub(crate) mod dates;
pub(crate) mod documents;
mod english;
pub(crate) mod lines;
pub(crate) mod meaning;
pub(crate) mod number;
pub(crate) mod passages;
pub(crate) mod question;
pub(crate) mod quotes;
pub(crate) mod rank;
#[cfg(feature = "interop")]
pub(crate) mod run;
pub(crate) mod scan;
#[cfg(feature = "interop")]
pub(crate) mod sessions;
pub(crate) mod shortlist;
#[cfg(feature = "interop")]
pub(crate) mod sources;
pub(crate) mod texts;
#[cfg(feature = "interop")]
pub(crate) mod things;
pub(crate) mod words;
