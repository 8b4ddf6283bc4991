//! The cost of a message in a context; this is the only function that counts one.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::record::blob::is_text;
use crate::record::message::{Attachment, Message, Tokens};
use crate::record::scan::Record;
use crate::tokens::{Count, Encoding, Images, Vocabulary, count, images};

/// The tokens around each message in the form that a model reads.
pub const FRAME: u32 = 4;

// The least cost of a file: what OpenAI charges for the smallest image.
const MIN_FILE_TOKENS: u64 = 85;
// The rate for a file of which nothing else is known.
const BYTES_PER_TOKEN: u64 = 750;

/// The parts of a message that a context sends: texts, and the tokens that no encoding changes, for its frame and
/// files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedParts<'a> {
    /// The content, each call's id, name and arguments, and files that are texts. Reasoning is not sent.
    pub texts: Vec<Cow<'a, str>>,
    /// The tokens of the frame, images and other files.
    pub fixed_tokens: u32,
}

/// Returns the parts of a message; images cost by this rule, or by the most expensive one.
pub fn parts(message: &Message, images: Option<Images>) -> CountedParts<'_> {
    parts_with(message, message.content.as_str(), images)
}

/// Like [`parts`], with other content.
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

/// Counts a message.
pub fn message(message: &Message, vocabulary: Option<&Vocabulary>) -> Count {
    let by = vocabulary.map_or(Encoding::Estimate1, Vocabulary::encoding);
    let CountedParts { texts, fixed_tokens: fixed } = parts(message, None);
    texts.iter().fold(Count { tokens: fixed, encoding: by }, |sum, text| sum.plus(count(text, vocabulary)))
}

/// Returns the stored count of a message if it can be trusted: the line's checksum is right, and a known counter made
/// it.
pub fn trusted_count<'a>(record: &Record, message: &'a Message) -> Option<&'a Tokens> {
    let is_known = |tokens: &&Tokens| tokens.by.as_deref().and_then(Encoding::parse).is_some();
    message.tokens.as_ref().filter(|_| record.is_sound).filter(is_known)
}

/// The part of a file that a model gets.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SentFile {
    /// A text, counted like any other.
    Text(String),
    /// Anything else, at this cost.
    Tokens(u32),
}

/// Returns what a model gets of a file that is sent in base64.
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

/// Returns the text of a file in base64, if it is one.
#[inline(never)]
pub(crate) fn text_of(base64: &str) -> Option<String> {
    String::from_utf8(STANDARD.decode(base64).ok()?).ok()
}

/// Returns the cost of a file of which only the size is known.
pub(crate) fn cost_of_bytes(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(BYTES_PER_TOKEN).max(MIN_FILE_TOKENS)).unwrap_or(u32::MAX)
}

fn sent_attachment(attachment: &Attachment, images: Option<Images>) -> SentFile {
    match &attachment.data {
        Some(data) => sent_file(&attachment.mime, data, images),
        // A file in a blob may be inlined by the sender; of any other, only the name is sent.
        None => SentFile::Tokens(cost_of_bytes(
            attachment.bytes.filter(|_| attachment.blob.is_some()).unwrap_or_default(),
        )),
    }
}
