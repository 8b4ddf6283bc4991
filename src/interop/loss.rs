//! Losses: what an import or an export does not take over, and whether that was part of the talk.

use alloc::string::String;

use serde::Serialize;

/// The reason for a field that nobody has a word on.
pub(crate) const NO_PLACE: &str = "leftoff has no field for it";
/// The reason for a field whose value cannot be read.
pub(crate) const ANOTHER_KIND: &str = "unexpected type of value";
/// The reason for a block of an unknown kind.
pub(crate) const UNKNOWN_BLOCK: &str = "unknown type of block";
/// The reason for a message of an unknown role.
pub(crate) const UNKNOWN_MESSAGE: &str = "unknown type of message";
/// The reason for something else among messages.
pub(crate) const NO_MESSAGE: &str = "the item is not a message";
/// As [`NO_MESSAGE`], among blocks.
pub(crate) const NO_BLOCK: &str = "the item is not a block";
/// The reason for an image or a file whose bytes are elsewhere.
pub(crate) const BYTES_ELSEWHERE: &str = "the file doesn't contain the bytes";
/// As [`BYTES_ELSEWHERE`], if nothing names a place.
pub(crate) const NO_BYTES: &str = "names no path and has no bytes";
/// The reason for a part that belongs to another role.
pub(crate) const INVALID_IN_USER_MESSAGE: &str = "not valid in a user message";
/// As [`INVALID_IN_USER_MESSAGE`].
pub(crate) const INVALID_IN_ANSWER: &str = "not valid in an answer";
/// As [`INVALID_IN_USER_MESSAGE`].
pub(crate) const VALID_IN_ANSWER_ONLY: &str = "only valid in an answer";
/// The reason for the missing beginning of a session.
pub(crate) const HISTORY_IN_ANOTHER_FILE: &str = "the earlier history is in another file, which is missing";

// Reasons of losses that were part of the talk.
const TALK_REASONS: [&str; 10] = [
    UNKNOWN_BLOCK,
    UNKNOWN_MESSAGE,
    NO_MESSAGE,
    NO_BLOCK,
    BYTES_ELSEWHERE,
    NO_BYTES,
    INVALID_IN_USER_MESSAGE,
    INVALID_IN_ANSWER,
    VALID_IN_ANSWER_ONLY,
    HISTORY_IN_ANOTHER_FILE,
];
// Records and fields that are part of the talk when lost for other reasons, too, by their last name.
const TALK_RECORDS: [&str; 6] = ["message", "user", "assistant", "tool", "tool_use", "tool_result"];
const TALK_FIELDS: [&str; 9] = [
    "text",
    "content",
    "input",
    "output",
    "arguments",
    "image_url",
    "imageUrl",
    "attachments",
    "functionResponse",
];

/// A field or a record that an import does not take over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Loss {
    /// The field's path, or `record:<type>`.
    pub field: String,
    /// How often it was lost.
    pub count: u64,
    /// The reason.
    pub why: &'static str,
    /// True if it was part of the talk: words, a call, a result, an image or a file. All else is bookkeeping.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    #[cfg_attr(test, ts(as = "Option<bool>", optional))]
    pub is_talk: bool,
}

impl Loss {
    /// Makes the loss of a field, with its count and its reason.
    pub(crate) fn new(field: String, count: u64, why: &'static str) -> Loss {
        let is_talk = is_of_talk(&field, why);
        Loss { field, count, why, is_talk }
    }
}

fn is_of_talk(field: &str, why: &str) -> bool {
    if let Some(record) = field.strip_prefix("record:") {
        let name = record.rsplit('/').next().unwrap_or(record);
        return TALK_REASONS.contains(&why) || TALK_RECORDS.contains(&name);
    }
    let name = field.rsplit('.').next().unwrap_or(field);
    TALK_REASONS.contains(&why) || [NO_PLACE, ANOTHER_KIND].contains(&why) && TALK_FIELDS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_calls_results_and_images_are_of_the_talk_and_nothing_else_is() {
        let check = |field: &str, why: &'static str| Loss::new(field.into(), 1, why).is_talk;
        for (field, why) in [
            ("assistant.message.content[fallback]", UNKNOWN_BLOCK),
            ("user.message.content[image].source", BYTES_ELSEWHERE),
            ("user.message.content[tool_result].text", NO_PLACE),
            ("user.message.content", ANOTHER_KIND),
            ("record:tool_result", "the record is not a message"),
            ("record:narrator", UNKNOWN_MESSAGE),
            ("session_meta.payload.history_base", HISTORY_IN_ANOTHER_FILE),
        ] {
            assert!(check(field, why), "{field}, {why}");
        }
        for (field, why) in [
            ("assistant.requestId", "the provider's id of the request"),
            ("assistant.timestamp", ANOTHER_KIND),
            ("assistant.message.usage.speed", NO_PLACE),
            ("user.toolUseResult", "repeats the tool result, as Claude Code displays it"),
            ("record:file-history-snapshot", "the record is not a message"),
            ("user.displayContent", "repeats the content, as Gemini CLI displays it"),
            ("version:9.9.9", "imported, but this version is newer than those tested"),
        ] {
            assert!(!check(field, why), "{field}, {why}");
        }
    }
}
