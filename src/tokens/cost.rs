//! What a message costs a context: the one function that counts it.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::record::blob::is_text;
use crate::record::message::{Attachment, Message, Tokens};
use crate::record::scan::Record;
use crate::tokens::{Count, Encoding, Images, Vocabulary, count, images};

/// What surrounds each message in the shape that a model reads.
pub const FRAME: u32 = 4;

// No file costs less: what OpenAI takes for the smallest image.
const LEAST: u64 = 85;
// Where nothing else is known of a file.
const BYTES_A_TOKEN: u64 = 750;

/// What a context sends of a message: texts, and what costs the same in every encoding, its frame and its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedParts<'a> {
    /// The content, each call's id, name and arguments, and files that are texts. Reasoning is not sent.
    pub texts: Vec<Cow<'a, str>>,
    /// The frame, and images and other files.
    pub fixed_tokens: u32,
}

/// What a context sends of a message; images cost what this rule says, or the dearest of all.
pub fn parts(message: &Message, images: Option<Images>) -> CountedParts<'_> {
    parts_with(message, message.content.as_str(), images)
}

/// The same with other content.
pub(crate) fn parts_with<'a>(
    message: &'a Message,
    content: &'a str,
    images: Option<Images>,
) -> CountedParts<'a> {
    let mut parts = CountedParts { texts: Vec::from([Cow::from(content)]), fixed_tokens: FRAME };
    for call in message.tool_calls() {
        parts.texts.extend([&*call.id, &*call.name, call.arguments.as_str()].map(Cow::from));
    }
    for file in &message.attachments {
        match sent_attachment(file, images) {
            SentFile::Text(text) => parts.texts.push(text.into()),
            SentFile::Tokens(tokens) => parts.fixed_tokens = parts.fixed_tokens.saturating_add(tokens),
        }
    }
    parts.texts.retain(|text| !text.is_empty());
    parts
}

/// The cost of a message.
pub fn message(message: &Message, vocabulary: Option<&Vocabulary>) -> Count {
    let by = vocabulary.map_or(Encoding::Estimate1, Vocabulary::encoding);
    let CountedParts { texts, fixed_tokens: fixed } = parts(message, None);
    texts.iter().fold(Count { tokens: fixed, encoding: by }, |sum, text| sum.plus(count(text, vocabulary)))
}

/// The stored count of a message, where it can be believed: the line's checksum is right, and a counter that we know made it.
pub fn trusted_count<'a>(record: &Record, message: &'a Message) -> Option<&'a Tokens> {
    let is_known = |tokens: &&Tokens| tokens.by.as_deref().and_then(Encoding::parse).is_some();
    message.tokens.as_ref().filter(|_| record.is_sound).filter(is_known)
}

/// What a model gets of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SentFile {
    /// This, to be counted as any text.
    Text(String),
    /// Something that costs so much.
    Tokens(u32),
}

/// What a model gets of a file whose bytes are sent, in base64.
pub(crate) fn sent_file(mime: &str, base64: &str, images: Option<Images>) -> SentFile {
    let kind = mime.split_once('/').map_or("", |(kind, _)| kind);
    if let Some(tokens) = images::cost(base64, images).filter(|_| kind == "image" || kind.is_empty()) {
        return SentFile::Tokens(tokens);
    }
    let may_be_text = match kind {
        "image" => mime.starts_with("image/svg"),
        "audio" | "video" => false,
        _ => mime != "application/pdf",
    };
    let text = may_be_text.then(|| text_of(base64)).flatten();
    match text.filter(|text| is_text(mime) || !text.contains('\0')) {
        Some(text) => SentFile::Text(text),
        None => SentFile::Tokens(cost_of_bytes(base64.len() as u64 / 4 * 3)),
    }
}

/// What a file in base64 says, where it is a text.
#[inline(never)]
pub(crate) fn text_of(base64: &str) -> Option<String> {
    String::from_utf8(STANDARD.decode(base64).ok()?).ok()
}

/// What a file of so many bytes costs, where nothing else is known of it.
pub(crate) fn cost_of_bytes(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(BYTES_A_TOKEN).max(LEAST)).unwrap_or(u32::MAX)
}

fn sent_attachment(attachment: &Attachment, images: Option<Images>) -> SentFile {
    match &attachment.data {
        Some(data) => sent_file(&attachment.mime, data, images),
        // What lies in a blob may be put in by whoever sends it; of anything else there is no more than its name.
        None => SentFile::Tokens(cost_of_bytes(
            attachment.bytes.filter(|_| attachment.blob.is_some()).unwrap_or_default(),
        )),
    }
}
