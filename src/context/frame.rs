//! Frames: what a context was cut to, so that the next one for the same request extends it byte for byte, and a
//! provider finds its beginning in its cache.
//!
//! A frame holds what the cut decided: where the unbroken run of newest messages begins, which older messages stand
//! before it, what is shortened, the summary, and what was recalled. It is derived: without it the next context is cut
//! anew.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::context::recall::RecallBlock;
use crate::context::report::{Match, Recall};
use crate::json::fields::{BadValue, Fields, FromFields};
use crate::json::text::to_json;
use crate::record::message::{Message, Role};
use crate::record::span::Span;
use crate::session::context_source::ContextSource;

/// What a context was cut to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Frame {
    /// The strategy that cut it.
    pub strategy: String,
    /// Where the unbroken run of newest messages begins: all messages from there on are in the context.
    pub start: u64,
    /// Where the log ended at the cut.
    pub end: u64,
    /// The lines of the required messages before the run.
    pub required: Vec<Span>,
    /// Where the lines of the pinned messages before the run begin.
    pub pins: BTreeSet<u64>,
    /// Where the lines of shortened messages begin.
    pub shortened: BTreeSet<u64>,
    /// Where the lines of messages begin of whose blobs only the ends are shown.
    pub folded: BTreeSet<u64>,
    /// The id of the message from which on reasoning is sent, once it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_since: Option<String>,
    /// True if no reasoning is sent, since some of it has a secret.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub masks_reasoning: bool,
    /// The text of the summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What was recalled for each user message that was the newest one.
    pub recalled: Vec<FrameRecall>,
    /// The id of the last compacted message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compacted: Option<String>,
    /// The hash of the log up to the cut, unless that was too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_hash: Option<String>,
}

/// What was recalled for a user message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameRecall {
    /// Where the user message stands in the log.
    pub question: u64,
    /// What was reported of it; absent where nothing matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Recall>,
    /// The block that stands before it; absent where nothing matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl Frame {
    /// Reads a frame that [`Frame::to_json`] wrote; `None` where it is damaged.
    pub fn from_json(json: &str) -> Option<Frame> {
        let bad = &mut Vec::new();
        let frame = Frame::from_fields(Fields::parse(json).ok()?, bad)?;
        bad.is_empty().then_some(frame)
    }

    /// Writes the frame as JSON. It has texts of the conversation.
    pub fn to_json(&self) -> String {
        to_json(self)
    }

    /// True if the same messages before its run are pinned as at the cut.
    pub(crate) fn has_pins_of(&self, source: &ContextSource) -> bool {
        self.pins == pins_before(source, self.start)
    }

    /// True if it has texts of the conversation, which somebody may have masked in the log since.
    pub(crate) fn has_texts(&self) -> bool {
        self.summary.is_some() || self.recalled.iter().any(|one| one.text.is_some())
    }

    /// Returns the block that was recalled for a user message; `None` if recall was not asked yet.
    pub(super) fn recalled_for(&self, question: u64) -> Option<&FrameRecall> {
        self.recalled.iter().find(|one| one.question == question)
    }
}

impl FrameRecall {
    /// Takes down what is quoted for the user message that stands there.
    pub(super) fn of(question: u64, block: &RecallBlock, report: Option<&Recall>) -> FrameRecall {
        let text = || block.item.message.content.as_str().into();
        FrameRecall { question, report: report.cloned(), text: (!block.quotes.is_empty()).then(text) }
    }

    /// Returns the ids of the quoted messages.
    pub(super) fn quoted_ids(&self) -> impl Iterator<Item = &str> {
        self.report.iter().flat_map(|report| &report.messages).map(|one| one.id.as_str())
    }
}

impl FromFields for Frame {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Frame> {
        let mut offsets = |fields: &mut Fields<'_>, key: &str| -> Option<BTreeSet<u64>> {
            Some(fields.take::<Vec<u64>>(key, bad)?.into_iter().collect())
        };
        let (shortened, folded) = (offsets(&mut fields, "shortened")?, offsets(&mut fields, "folded")?);
        let pins = offsets(&mut fields, "pins")?;
        Some(Frame {
            strategy: fields.take("strategy", bad)?,
            start: fields.take("start", bad)?,
            end: fields.take("end", bad)?,
            required: fields.take("required", bad)?,
            pins,
            shortened,
            folded,
            reasoning_since: fields.take("reasoningSince", bad),
            masks_reasoning: fields.take("masksReasoning", bad).unwrap_or_default(),
            summary: fields.take("summary", bad),
            recalled: fields.take("recalled", bad)?,
            compacted: fields.take("compacted", bad),
            log_hash: fields.take("logHash", bad),
        })
    }
}

impl FromFields for FrameRecall {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<FrameRecall> {
        Some(FrameRecall {
            question: fields.take("question", bad)?,
            report: fields.take("report", bad),
            text: fields.take("text", bad),
        })
    }
}

impl FromFields for Recall {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Recall> {
        Some(Recall {
            words: fields.take("words", bad)?,
            tokens: fields.take("tokens", bad)?,
            messages: fields.take("messages", bad)?,
            left_out: fields.take("leftOut", bad)?,
        })
    }
}

impl FromFields for Match {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<Match> {
        Some(Match { id: fields.take("id", bad)?, words: fields.take("words", bad)? })
    }
}

/// Names a frame, so that a context that extends it can be built again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct FrameName {
    /// The hash of the request.
    pub key: String,
    /// Where its run begins.
    pub start: u64,
    /// Where the log ended at the cut.
    pub end: u64,
}

impl FromFields for FrameName {
    fn from_fields(mut fields: Fields<'_>, bad: &mut Vec<BadValue>) -> Option<FrameName> {
        Some(FrameName {
            key: fields.take("key", bad)?,
            start: fields.take("start", bad)?,
            end: fields.take("end", bad)?,
        })
    }
}

/// Returns where the lines of the pinned messages before this offset begin.
pub(super) fn pins_before(source: &ContextSource, start: u64) -> BTreeSet<u64> {
    source.pins.iter().map(|span| span.start).filter(|place| *place < start).collect()
}

/// Returns a text of leftoff's own as the message that it is sent in.
pub(super) fn frame_message(text: &str) -> Message {
    Message { role: Some(Role::User), content: text.into(), ..Message::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_read_as_it_was_written_and_a_damaged_one_is_none() {
        let quoted = Match { id: "a".into(), words: ["vault".into()].into() };
        let report = Recall {
            words: ["vault".into()].into(),
            tokens: 9,
            messages: [quoted.clone()].into(),
            left_out: [quoted].into(),
        };
        let recalled = FrameRecall { question: 7, report: Some(report), text: Some("quoted".into()) };
        let frame = Frame {
            strategy: "full-history".into(),
            start: 12,
            end: 99,
            required: [Span { start: 1, end: 5 }].into(),
            pins: [1].into(),
            shortened: [13, 40].into(),
            folded: [50].into(),
            reasoning_since: Some("u1".into()),
            masks_reasoning: true,
            summary: Some("so far \"this\"".into()),
            recalled: [recalled, FrameRecall { question: 8, ..FrameRecall::default() }].into(),
            compacted: Some("m".into()),
            log_hash: Some("0123456789abcdef".into()),
        };
        let json = frame.to_json();
        assert_eq!(Frame::from_json(&json), Some(frame));
        assert_eq!(Frame::from_json(&Frame::default().to_json()), Some(Frame::default()));
        for end in 0..json.len() {
            assert_eq!(Frame::from_json(&json[..end]), None, "{end}");
        }
        assert_eq!(Frame::from_json(&json.replace("12", "\"12\"")), None);
    }
}
