//! Recall: older messages that match what is asked. Texts become words, words rank messages, and of the best a share of a
//! context's budget quotes what answers.

// What the index and contexts do not use yet.
#![allow(dead_code)]

mod english;
pub(crate) mod texts;
pub(crate) mod words;
