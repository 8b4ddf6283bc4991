//! Blobs: what is too large for a line lies in a file of its own, named by the SHA-256 of its bytes.
//!
//! The line keeps the blob's name, and enough of a text's beginning and end to show it. A blob is written, and
//! confirmed by the disk, before the line that names it.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::json::blob::Blob;
use crate::json::hash::sha256;
use crate::json::text::Text;
use crate::record::message::{Attachment, Message};

/// The longest text that stays in its line, in bytes.
pub const MAX_TEXT: usize = 256 * 1024;

/// The largest attachment that stays in its line, in bytes.
pub const MAX_ATTACHMENT: usize = 32 * 1024;

/// Moves out of a message what is too large for its line; returns the blobs to write before the line.
pub fn move_to_blobs(message: &mut Message) -> Vec<Blob> {
    let mut blobs: Vec<Blob> =
        texts(message).into_iter().filter_map(|text| text.move_to_blob(MAX_TEXT)).collect();
    blobs.extend(message.attachments.iter_mut().filter_map(move_data_to_blob));
    blobs
}

/// Returns the ids of the blobs that a message names.
pub fn blob_ids(message: &Message) -> Vec<&str> {
    let texts = all_texts(message).filter_map(Text::blob);
    texts.chain(message.attachments.iter().filter_map(|file| file.blob.as_deref())).collect()
}

fn all_texts(message: &Message) -> impl Iterator<Item = &Text> {
    let assistant = message.assistant.iter();
    let reasoning = assistant.clone().flat_map(|assistant| &assistant.reasoning).map(|one| &one.text);
    let calls = assistant.flat_map(|assistant| &assistant.tool_calls).map(|call| &call.arguments);
    core::iter::once(&message.content).chain(reasoning).chain(calls)
}

/// A message whose blobs are put back, one after another.
#[derive(Clone, Debug)]
pub(crate) struct BlobRestoration {
    message: Message,
    wanted_blobs: VecDeque<String>,
}

impl BlobRestoration {
    pub fn new(message: Message) -> BlobRestoration {
        let wanted = blob_ids(&message).into_iter().map(String::from).collect();
        BlobRestoration { message, wanted_blobs: wanted }
    }

    /// Returns the id of the next blob to read.
    pub fn next_blob(&self) -> Option<&str> {
        self.wanted_blobs.front().map(String::as_str)
    }

    /// Puts a blob back. If it is missing or holds other bytes, the beginning and the end of its text stay.
    pub fn take(&mut self, id: &str, bytes: Option<&[u8]>) -> Result<(), BlobFailure> {
        self.wanted_blobs.retain(|other| other != id);
        let found = match bytes {
            Some(bytes) if restore_blob(&mut self.message, id, bytes) => return Ok(()),
            Some(_) => BlobFailure::OtherBytes,
            None => BlobFailure::Missing,
        };
        show_ends(&mut self.message, |blob| blob == id);
        Err(found)
    }

    /// Estimates the text bytes in the message's blobs; another attachment counts as a text of about the same cost.
    pub fn pending_bytes(&self) -> u64 {
        // A token for 750 bytes; but an image's cost hardly grows with its bytes.
        const ATTACHMENT_TOKENS: u64 = 64;
        const IMAGE_TOKENS: u64 = 16 * 1024;
        let texts: u64 =
            all_texts(&self.message).filter(|text| text.blob().is_some()).map(Text::byte_len).sum();
        let weight = |file: &Attachment| {
            let bytes = file.bytes.unwrap_or_default();
            if file.is_text() { bytes } else { bytes.min(IMAGE_TOKENS).max(bytes / ATTACHMENT_TOKENS) }
        };
        let files = self.message.attachments.iter().filter(|file| file.blob.is_some());
        texts + files.map(weight).sum::<u64>()
    }

    pub fn into_message(self) -> Message {
        self.message
    }
}

impl Attachment {
    /// True if its media type is a text, which is sent as one.
    pub(crate) fn is_text(&self) -> bool {
        is_text(&self.mime)
    }

    /// Copies the attachment without its bytes, with their number.
    pub(crate) fn without_data(&self) -> Attachment {
        let bytes = self.data.as_ref().map(|data| data.len() as u64 / 4 * 3).or(self.bytes);
        Attachment { data: None, bytes, ..self.clone() }
    }
}

/// True for the media types of texts.
pub(crate) fn is_text(mime: &str) -> bool {
    mime.starts_with("text/") || mime == "application/json"
}

/// Why a blob could not be put back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlobFailure {
    Missing,
    OtherBytes,
}

/// Copies a message with the beginning and the end of each text that lies in a blob.
pub(crate) fn truncate_blobs(message: &Message) -> Message {
    let mut folded = message.clone();
    show_ends(&mut folded, |_| true);
    // Both describe the whole text.
    folded.tokens = None;
    if let Some(assistant) = folded.assistant.as_mut().filter(|_| message.content.blob().is_some()) {
        assistant.order.clear();
    }
    folded
}

fn restore_blob(message: &mut Message, id: &str, bytes: &[u8]) -> bool {
    if sha256(bytes) != id {
        return false;
    }
    let mut is_whole = true;
    for text in texts(message) {
        if text.blob() == Some(id) {
            is_whole &= text.restore_from_blob(bytes);
        }
    }
    for file in message.attachments.iter_mut().filter(|file| file.blob.as_deref() == Some(id)) {
        file.data = Some(STANDARD.encode(bytes));
        file.blob = None;
        file.bytes = None;
    }
    is_whole
}

fn show_ends(message: &mut Message, is_meant: impl Fn(&str) -> bool) {
    for text in texts(message) {
        if text.blob().is_some_and(&is_meant) {
            *text = text.as_shown();
        }
    }
}

fn texts(message: &mut Message) -> Vec<&mut Text> {
    let mut texts = Vec::from([&mut message.content]);
    if let Some(assistant) = &mut message.assistant {
        texts.extend(assistant.reasoning.iter_mut().map(|one| &mut one.text));
        texts.extend(assistant.tool_calls.iter_mut().map(|call| &mut call.arguments));
    }
    texts
}

// Only base64 that encodes back to the same letters is moved: base64 can be written in more than one way.
fn move_data_to_blob(file: &mut Attachment) -> Option<Blob> {
    let data = file.data.as_ref().filter(|data| data.len() / 4 * 3 > MAX_ATTACHMENT)?;
    let bytes = STANDARD.decode(data).ok().filter(|bytes| bytes.len() > MAX_ATTACHMENT)?;
    (STANDARD.encode(&bytes) == *data).then(|| {
        let blob = Blob::new(bytes);
        file.data = None;
        file.bytes = Some(blob.bytes.len() as u64);
        file.blob = Some(blob.id.clone());
        blob
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::message::{Assistant, OrderPart, ToolCall};

    #[test]
    fn a_file_that_is_a_text_weighs_all_its_bytes_and_another_what_it_costs() {
        const MIB: u64 = 1 << 20;
        let weight = |mime: &str| {
            let (blob, bytes) = (Some("0".repeat(64)), Some(MIB));
            let file = Attachment { mime: mime.into(), blob, bytes, ..Attachment::default() };
            BlobRestoration::new(Message { attachments: [file].into(), ..Message::default() }).pending_bytes()
        };
        assert_eq!((weight("text/markdown"), weight("application/json")), (MIB, MIB));
        assert!(weight("image/png") < MIB && weight("application/pdf") < MIB);
    }

    // The order's places are bytes of the whole content.
    #[test]
    fn what_is_shown_of_a_content_has_no_order_of_the_whole_one() {
        let order = [OrderPart::Text(0, 9), OrderPart::Call(0)];
        let moved = |content: String, arguments: String| {
            let call = ToolCall { arguments: arguments.into(), ..ToolCall::default() };
            let assistant =
                Assistant { tool_calls: [call].into(), order: order.into(), ..Assistant::default() };
            let mut message =
                Message { content: content.into(), assistant: Some(assistant), ..Message::default() };
            assert_eq!(move_to_blobs(&mut message).len(), 1);
            truncate_blobs(&message).assistant.expect("an answer").order
        };
        let (short, long) = ("We begin.", "x".repeat(MAX_TEXT + 1));
        assert_eq!(moved(long.clone(), short.into()), []);
        assert_eq!(moved(short.into(), long), order);
    }
}
