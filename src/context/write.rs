//! Writes a context as JSON.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::context::{Context, Report};
use crate::json::text::to_json;
use crate::shapes::{Format, Recipient, ShapedMessages, write_to};

/// Writes a context and its report; without a shape, messages are as stored.
pub fn write_context(context: &Context, shape: Option<Format>, to: Recipient<'_>) -> String {
    let (messages, rest) = write_context_in_parts(context, shape, to);
    // The messages are JSON already, sometimes of megabytes: they are not parsed again.
    ["{\"messages\":", &messages, ",", &rest[1..]].concat()
}

/// Like [`write_context`], in two parts: the messages, and an object of the rest.
pub(crate) fn write_context_in_parts(
    context: &Context,
    shape: Option<Format>,
    to: Recipient<'_>,
) -> (String, String) {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct WithoutMessages<'a> {
        strategy: &'a str,
        tokens_used: u32,
        token_budget: u32,
        original_message_count: u64,
        included_message_count: u64,
        summarized_message_count: u64,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        orphaned_results: Vec<String>,
        report: &'a Report,
    }
    let stored = || ShapedMessages { json: to_json(&context.messages), orphaned_results: Vec::new() };
    let ShapedMessages { json, orphaned_results } =
        shape.map_or_else(stored, |format| write_to(&context.messages, format, to));
    let rest = to_json(&WithoutMessages {
        strategy: &context.strategy,
        tokens_used: context.tokens_used,
        token_budget: context.token_budget,
        original_message_count: context.original_message_count,
        included_message_count: context.included_message_count,
        summarized_message_count: context.summarized_message_count,
        orphaned_results,
        report: &context.report,
    });
    (json, rest)
}
