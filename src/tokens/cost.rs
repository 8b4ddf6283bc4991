//! What a message costs a context: the one function that counts it.

use alloc::vec::Vec;

use crate::session::message::{Attachment, Message};
use crate::tokens::{Count, Encoding, Vocabulary, count};

/// What surrounds each message in the shape that a model reads.
pub const FRAME: u32 = 4;

/// The texts of a message that a context sends: its content, and each call's id, name and arguments.
/// Reasoning is not sent.
pub fn texts(message: &Message) -> Vec<&str> {
    texts_with(message, message.content.as_str())
}

/// The same with other content.
pub(crate) fn texts_with<'a>(message: &'a Message, content: &'a str) -> Vec<&'a str> {
    let mut texts = Vec::from([content]);
    for call in message.tool_calls() {
        texts.extend([call.id.as_str(), call.name.as_str(), call.arguments.as_str()]);
    }
    texts.retain(|text| !text.is_empty());
    texts
}

/// What does not depend on the encoding: the frame and the attachments.
pub fn fixed(message: &Message) -> u32 {
    FRAME.saturating_add(files(message))
}

/// What the attachments cost.
pub fn files(message: &Message) -> u32 {
    message.attachments.iter().map(attachment).fold(0, u32::saturating_add)
}

/// The cost of a message.
pub fn message(message: &Message, vocabulary: Option<&Vocabulary>) -> Count {
    let by = vocabulary.map_or(Encoding::Estimate1, Vocabulary::encoding);
    let fixed = Count { tokens: fixed(message), by };
    texts(message).into_iter().fold(fixed, |sum, text| sum.plus(count(text, vocabulary)))
}

// Without the provider's own rule: a token for 750 bytes, and never less than the smallest image costs.
fn attachment(file: &Attachment) -> u32 {
    let inline = file.data.as_ref().map_or(0, |base64| base64.len() as u64 / 4 * 3);
    let bytes = file.bytes.unwrap_or_default().max(inline);
    u32::try_from(bytes.div_ceil(750)).unwrap_or(u32::MAX).max(85)
}
