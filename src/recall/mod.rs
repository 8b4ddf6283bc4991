//! Recall: finds older messages that match a question. Texts become terms, terms rank messages, and the best of
//! these are quoted within a share of a context's budget.

#[cfg(feature = "interop")]
pub(crate) mod dates;
pub(crate) mod document_feed;
pub(crate) mod documents;
mod english;
#[cfg(feature = "interop")]
pub(crate) mod index_file;
pub(crate) mod meaning;
pub(crate) mod passages;
pub(crate) mod portable_math;
pub(crate) mod question;
pub(crate) mod quotes;
pub(crate) mod rank;
#[cfg(feature = "interop")]
pub(crate) mod recall_sources;
pub(crate) mod scan;
pub(crate) mod searchable_texts;
#[cfg(feature = "interop")]
pub(crate) mod sessions;
pub(crate) mod shortlist;
#[cfg(feature = "interop")]
pub(crate) mod targets;
pub(crate) mod terms;
