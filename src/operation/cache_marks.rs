//! Marks in messages that tell a provider up to where to keep them in its cache: Anthropic's `cache_control`, and the
//! AI SDK's provider options for it. A provider that is not told caches by itself, or not at all.
//!
//! A mark is no part of what is cached, so it may move.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::json::fields::{Fields, parse_items};
use crate::shapes::Format;

const ANTHROPIC_MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;
const AI_SDK_MARK: &str = r#","providerOptions":{"anthropic":{"cacheControl":{"type":"ephemeral"}}}"#;

/// Returns the messages, a JSON array, with a mark in the last one and one in the last unchanged one, or where these
/// can't have one, in the message before.
pub(super) fn mark_messages(messages: &str, unchanged: usize, format: Format) -> String {
    let items = parse_items(messages).unwrap_or_default();
    let mut marked: Vec<String> = items.iter().map(|item| (*item).to_string()).collect();
    for end in [unchanged, items.len()] {
        let of_these = items.iter().enumerate().take(end).rev();
        if let Some((place, message)) =
            of_these.filter_map(|(at, item)| Some((at, mark(item, format)?))).next()
        {
            marked[place] = message;
        }
    }
    format!("[{}]", marked.join(","))
}

// Returns the message with a mark; `None` where the provider takes none there.
fn mark(message: &str, format: Format) -> Option<String> {
    match format {
        Format::Anthropic => {
            let fields = Fields::parse(message).ok()?;
            let last = *parse_items(fields.raw("content")?)?.last()?;
            let kind: String = Fields::parse(last).ok()?.take("type", &mut Vec::new())?;
            let beginning = message.strip_suffix("}]}")?;
            (!kind.ends_with("thinking")).then(|| [beginning, ANTHROPIC_MARK, "}]}"].concat())
        }
        Format::AiSdk => Some([message.strip_suffix('}')?, AI_SDK_MARK, "}"].concat()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKED: &str = r#""text":"b","cache_control":{"type":"ephemeral"}}]}"#;

    #[test]
    fn the_last_message_and_the_last_unchanged_one_are_marked() {
        let said = |role: &str, text: &str| {
            format!(
                r#"{{"role":"{role}","content":[{{"type":"text","text":"a"}},{{"type":"text","text":"{text}"}}]}}"#
            )
        };
        let messages = [said("user", "a"), said("assistant", "b"), said("user", "c"), said("assistant", "b")];
        let all = format!("[{}]", messages.join(","));
        let marked = mark_messages(&all, 2, Format::Anthropic);
        let items = parse_items(&marked).unwrap();
        assert_eq!(items.len(), 4);
        assert_eq!((items[0], items[2]), (&*messages[0], &*messages[2]));
        assert!(items[1].ends_with(MARKED) && items[3].ends_with(MARKED), "{marked}");
        assert_eq!(marked.replace(ANTHROPIC_MARK, ""), all);
    }

    #[test]
    fn thinking_takes_no_mark_and_other_shapes_have_none() {
        let user = r#"{"role":"user","content":[{"type":"text","text":"b"}]}"#;
        let thought =
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"}]}"#;
        let all = format!("[{user},{thought}]");
        let marked = mark_messages(&all, 0, Format::Anthropic);
        assert!(parse_items(&marked).unwrap()[0].ends_with(MARKED), "{marked}");
        assert_eq!(mark_messages(&all, 0, Format::Gemini), all);
        assert_eq!(mark_messages("[]", 0, Format::Anthropic), "[]");
        let by_sdk = mark_messages(r#"[{"role":"user","content":"x"}]"#, 0, Format::AiSdk);
        assert_eq!(by_sdk, [r#"[{"role":"user","content":"x""#, AI_SDK_MARK, "}]"].concat());
    }
}
