//! The documented limits of providers for images and for whole requests.
//!
//! Of the limits that a provider documents, the strictest is applied: a request that one place refuses is refused with
//! all its messages. If a request has too many images for their size, the newest decide.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::record::message::{Message, Role};
use crate::shapes::Format;
use crate::shapes::file::{File, FileSource};
use crate::shapes::steps::Step;
use crate::tokens::images;

/// The limits of one provider.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileLimits {
    /// The accepted media types of images; empty if the sending library knows them.
    pub types: &'static [&'static str],
    /// The most images in a request.
    pub count: usize,
    /// The most bytes of an image, as base64.
    pub image_bytes: usize,
    /// The most pixels of an image's side.
    pub side: u32,
    /// The number of images above which the second, lower limit of a side holds.
    pub side_of_many: (usize, u32),
    /// The most bytes of a request, with the system prompt and the tools.
    pub request_bytes: usize,
}

const MIB: usize = 1 << 20;
// Room for the system prompt and the tools, which the caller sends beside the messages.
const REQUEST_MARGIN_BYTES: usize = MIB;
const UNLIMITED_SIDE: u32 = u32::MAX;
const USUAL_IMAGE_TYPES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

// platform.claude.com/docs/en/build-with-claude/vision, November 2026: 100 images for windows of 200,000 tokens, 8,000
// pixels a side, 2,000 in a request of more than 20, 32 MB in all; 5 MB of base64 an image, which Bedrock and Vertex
// take, too.
const ANTHROPIC_LIMITS: FileLimits = FileLimits {
    types: USUAL_IMAGE_TYPES,
    count: 100,
    image_bytes: 5 * MIB,
    side: 8000,
    side_of_many: (20, 2000),
    request_bytes: 32_000_000,
};

// platform.openai.com/docs/guides/images-vision, November 2026: 500 images and 50 MB in a request, 20 MB an image.
// Newer models take more.
const OPENAI_LIMITS: FileLimits = FileLimits {
    types: USUAL_IMAGE_TYPES,
    count: 500,
    image_bytes: 20_000_000,
    side: UNLIMITED_SIDE,
    side_of_many: (usize::MAX, UNLIMITED_SIDE),
    request_bytes: 50_000_000,
};

// ai.google.dev/gemini-api/docs/image-understanding, November 2026: 20 MB for a request with its files, which newer
// versions exceed, 3,600 images, and these types; Vertex takes 3,000 images and 7 MB of each.
const GEMINI_LIMITS: FileLimits = FileLimits {
    types: &["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"],
    count: 3000,
    image_bytes: 7_000_000 / 3 * 4,
    side: UNLIMITED_SIDE,
    side_of_many: (usize::MAX, UNLIMITED_SIDE),
    request_bytes: 20_000_000,
};

// For an unknown provider, the limits that all of them accept; the AI SDK's providers know the types.
const STRICTEST_LIMITS: FileLimits =
    FileLimits { types: &[], request_bytes: GEMINI_LIMITS.request_bytes, ..ANTHROPIC_LIMITS };

impl FileLimits {
    /// Returns the limits of a shape's provider; leftoff's own shape has none.
    pub fn of(format: Format) -> Option<FileLimits> {
        match format {
            Format::Leftoff => None,
            Format::OpenaiChat | Format::OpenaiResponses => Some(OPENAI_LIMITS),
            Format::Anthropic => Some(ANTHROPIC_LIMITS),
            Format::Gemini => Some(GEMINI_LIMITS),
            Format::AiSdk | Format::AiSdkUi => Some(STRICTEST_LIMITS),
        }
    }

    // Returns why an image cannot be sent, whatever else is.
    fn refuses(&self, file: &File<'_>) -> Option<&'static str> {
        let FileSource::Data(data) = file.source else { return None };
        if !self.types.is_empty() && !self.types.contains(&file.mime) {
            return Some("type");
        }
        if data.len() > self.image_bytes {
            return Some("bytes");
        }
        (longer_side(data) > self.side).then_some("pixels")
    }
}

// Returns the longer side of an image, in pixels.
fn longer_side(data: &str) -> u32 {
    images::measure_size(data.as_bytes()).map_or(0, |(wide, high)| wide.max(high))
}

/// A file in the context that is not sent to the provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct UnsentFile {
    /// The id of its message.
    pub id: String,
    /// Its media type.
    pub mime: String,
    /// The limit that it exceeds: `count`, `bytes`, `pixels`, `request`; or `type`, if the provider does not read it.
    pub why: &'static str,
}

/// Takes out files that the provider does not accept, keeping the newest images. If images are too large for a
/// request of many, the newest decide which limit holds. `beside` returns the bytes of all else.
pub(super) fn drop_unsendable_files(
    steps: &mut [Step<'_>],
    format: Format,
    beside: impl FnOnce(&[Step<'_>]) -> usize,
) -> Vec<UnsentFile> {
    let Some(limits) = FileLimits::of(format) else { return Vec::new() };
    let mut unsent = Vec::new();
    let mut refuse = |file: &mut File<'_>, message: Option<&Message>, why| {
        let id = message.map(|message| message.id.clone()).unwrap_or_default();
        unsent.push(UnsentFile { id, mime: file.mime.into(), why });
        file.exceeded_limit = Some(why);
    };
    let (mut count, mut has_large) = (0, false);
    let (few, small) = limits.side_of_many;
    newest_first(steps, format, &mut |file, message| {
        if !file.is_image() {
            return;
        }
        let is_large = matches!(file.source, FileSource::Data(data) if longer_side(data) > small);
        let most = if has_large { limits.count.min(few) } else { limits.count };
        match limits.refuses(file) {
            Some(why) => refuse(file, message, why),
            None if count >= most => refuse(file, message, "count"),
            None if is_large && count >= few => refuse(file, message, "pixels"),
            None => (count, has_large) = (count + 1, has_large || is_large),
        }
    });
    let mut bytes = 0;
    newest_first(steps, format, &mut |file, _| bytes += file.sent_bytes());
    if bytes > limits.request_bytes / 2 {
        let room = limits.request_bytes.saturating_sub(REQUEST_MARGIN_BYTES).saturating_sub(beside(steps));
        let mut used = 0;
        newest_first(steps, format, &mut |file, message| {
            let bytes = file.sent_bytes();
            if bytes == 0 || used + bytes <= room {
                used += bytes;
                return;
            }
            // Everything older than the first file that does not fit is left out, too, except after a file that no
            // request could hold.
            used = if bytes > room { used } else { room };
            refuse(file, message, "request");
        });
    }
    unsent.reverse();
    unsent
}

// Visits each file that the shape has a place for.
fn newest_first<'a>(
    steps: &mut [Step<'a>],
    format: Format,
    each: &mut impl FnMut(&mut File<'a>, Option<&'a Message>),
) {
    let are_answers = matches!(format, Format::Gemini | Format::AiSdk | Format::AiSdkUi);
    let are_results = !matches!(format, Format::OpenaiChat | Format::AiSdkUi);
    let are_errors = matches!(format, Format::OpenaiResponses | Format::Gemini);
    for step in steps.iter_mut().rev() {
        let results = step.calls.iter_mut().rev().filter_map(|call| call.result.as_mut());
        for result in results.filter(|result| are_results && (are_errors || !result.is_error)) {
            let message = result.message;
            result.files.iter_mut().rev().for_each(|file| each(file, message));
        }
        if step.role == Role::User || (step.role == Role::Assistant && are_answers) {
            let message = step.message;
            step.files.iter_mut().rev().for_each(|file| each(file, message));
        }
    }
}
