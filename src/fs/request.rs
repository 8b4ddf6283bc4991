//! Builds the requests that go into the core from callers' JSON objects.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::value::RawValue;

use super::helpers::Helpers;
use crate::error::{Code, Error};

/// A field's name, and its JSON if it has a value.
pub(super) type RequestField<'a> = (&'a str, Option<String>);

/// Adds this host's fields to a request.
pub(super) fn with_fields(request: &str, more: &[RequestField<'_>]) -> Result<String, Error> {
    let fields_text = check_json(request)?.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let fields_text = fields_text.ok_or_else(no_request_error)?.trim();
    let more = more.iter().filter_map(|(name, json)| Some(format!("\"{name}\":{}", json.as_ref()?)));
    let fields: Vec<String> =
        (!fields_text.is_empty()).then(|| fields_text.into()).into_iter().chain(more).collect();
    Ok(format!("{{{}}}", fields.join(",")))
}

/// Adds to a request whether the caller makes vectors.
pub(super) fn with_embeds(request: &str, helpers: &Helpers<'_>) -> Result<String, Error> {
    with_fields(request, &[("embeds", helpers.embed.is_some().then(|| "true".into()))])
}

/// Checks that a text is one JSON value, so that it can stand within another one.
pub(super) fn check_json(text: &str) -> Result<&str, Error> {
    serde_json::from_str(text).map(RawValue::get).map_err(|_| no_request_error())
}

pub(super) fn no_request_error() -> Error {
    Error::new(Code::InvalidRequest, "expected a request object, but found no JSON")
}
