//! The host's response to a request to redact a value.

use alloc::string::String;
use alloc::vec::Vec;

use super::Trouble;
use crate::json::request;

/// A redacted value, as the host returned it.
#[derive(Debug, Default)]
pub(crate) struct RedactionResponse {
    /// JSON; `None` where it is unchanged.
    pub value: Option<String>,
    /// The secrets found in it, a JSON array.
    pub secrets: String,
    /// The changed texts, before and after.
    pub changed: Vec<(String, String)>,
}

impl RedactionResponse {
    /// Reads `{"value","secrets","changed"}`.
    pub fn from_json(json: &str) -> Result<RedactionResponse, Trouble> {
        let (mut fields, bad) = (request::parse_object(json)?, &mut Vec::new());
        let changed = fields.take::<Vec<Vec<String>>>("changed", bad).unwrap_or_default();
        let pair =
            |pair: Vec<String>| <[String; 2]>::try_from(pair).ok().map(|[before, after]| (before, after));
        Ok(RedactionResponse {
            value: fields.take_raw("value").map(String::from),
            secrets: fields.take_raw("secrets").unwrap_or("[]").into(),
            changed: changed.into_iter().filter_map(pair).collect(),
        })
    }
}
