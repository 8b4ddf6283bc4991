//! What a host answers where it is asked to take the secrets out of a value.

use alloc::string::String;
use alloc::vec::Vec;

use super::Trouble;
use crate::json::request;

/// A value as it may leave, of which the host said so.
#[derive(Debug, Default)]
pub(crate) struct RedactionResponse {
    /// JSON; nothing where it is the same.
    pub value: Option<String>,
    /// What was found in it, a JSON array.
    pub secrets: String,
    /// The texts that are others now, before and after.
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
