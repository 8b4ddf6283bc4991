//! Recall: older messages that match what is asked. Texts become words, words rank messages, and of the best a share of a
//! context's budget quotes what answers.

#[cfg(feature = "interop")]
pub(crate) mod dates;
mod english;
#[cfg(feature = "interop")]
pub(crate) mod lines;
#[cfg(feature = "interop")]
mod number;
#[cfg(feature = "interop")]
pub(crate) mod run;
#[cfg(feature = "interop")]
pub(crate) mod sessions;
pub(crate) mod texts;
pub(crate) mod words;
