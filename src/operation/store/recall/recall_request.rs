//! What recall is asked for, read from JSON: of which sessions, in how many tokens.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::request;
use crate::operation::Trouble;
use crate::session::session_list::ListRequest;
use crate::tokens::Encoding;

const DEFAULT_MAX_TOKENS: u32 = 800;
const REQUEST_FIELDS: &str = "maxTokens, maxBytes, project, all, exclude, encoding, model or embeds";

/// What recall is asked for.
pub(in crate::operation::store) struct RecallRequest {
    pub list_request: ListRequest,
    pub excluded_ids: Vec<String>,
    pub max_tokens: u32,
    pub max_bytes: usize,
    pub encoding: Encoding,
    // The host has vectors of texts.
    pub has_vectors: bool,
}

impl RecallRequest {
    /// Recalls from the store's project, in at most `most` bytes, and as many tokens.
    pub fn with_limit(most: u32, exclude: Vec<String>) -> RecallRequest {
        RecallRequest {
            list_request: ListRequest::for_recall(false, None),
            excluded_ids: exclude,
            max_tokens: most,
            max_bytes: most as usize,
            encoding: Encoding::O200kBase,
            has_vectors: false,
        }
    }

    /// Reads `{"maxTokens","maxBytes","project","all","exclude","encoding","model","embeds"}`.
    ///
    /// # Errors
    /// `invalid_request`, `no_counter`.
    pub fn from_json(json: &str) -> Result<RecallRequest, Trouble> {
        let (mut fields, bad) = (request::parse(json, REQUEST_FIELDS)?, &mut Vec::new());
        let mut number = |key: &str, least: u64| match fields.take_raw(key) {
            None => Ok(least),
            Some(raw) => raw.parse().map_err(|_| {
                request::error(format!("expected a whole number for \"{key}\", but found {raw} instead"))
            }),
        };
        let max_tokens = number("maxTokens", DEFAULT_MAX_TOKENS.into())?;
        let max_bytes = number("maxBytes", u64::MAX)?;
        let (all, project) = (fields.take("all", bad), fields.take::<String>("project", bad));
        let exclude = fields.take("exclude", bad).unwrap_or_default();
        let embeds = fields.take("embeds", bad).unwrap_or_default();
        let (encoding, model) = (fields.take::<String>("encoding", bad), fields.take::<String>("model", bad));
        request::reject_bad(bad)?;
        Ok(RecallRequest {
            list_request: ListRequest::for_recall(all.unwrap_or_default(), project),
            excluded_ids: exclude,
            max_tokens: u32::try_from(max_tokens).unwrap_or(u32::MAX),
            max_bytes: usize::try_from(max_bytes).unwrap_or(usize::MAX),
            encoding: Encoding::resolve(encoding.as_deref(), model.as_deref())?,
            has_vectors: embeds,
        })
    }
}
