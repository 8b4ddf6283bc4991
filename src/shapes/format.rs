//! The names of the message shapes.

use alloc::format;

use crate::error::{Code, Error};
use crate::tokens::Images;

/// The shape of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// As stored, without the fields that only storage needs.
    Leftoff,
    /// The messages of OpenAI's chat completions.
    OpenaiChat,
    /// The items of OpenAI's Responses.
    OpenaiResponses,
    /// Anthropic's Messages.
    Anthropic,
    /// Gemini's contents.
    Gemini,
    /// Vercel AI SDK's `ModelMessage`.
    AiSdk,
    /// Vercel AI SDK's `UIMessage`.
    AiSdkUi,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 7] = [
        Format::Leftoff,
        Format::OpenaiChat,
        Format::OpenaiResponses,
        Format::Anthropic,
        Format::Gemini,
        Format::AiSdk,
        Format::AiSdkUi,
    ];

    /// Returns the format's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Leftoff => "leftoff",
            Format::OpenaiChat => "openai-chat",
            Format::OpenaiResponses => "openai-responses",
            Format::Anthropic => "anthropic",
            Format::Gemini => "gemini",
            Format::AiSdk => "ai-sdk",
            Format::AiSdkUi => "ai-sdk-ui",
        }
    }

    /// Returns the image rule of the shape's provider; `None` for a shape of no single provider.
    pub(crate) fn images(self) -> Option<Images> {
        match self {
            Format::Leftoff | Format::AiSdk | Format::AiSdkUi => None,
            Format::OpenaiChat | Format::OpenaiResponses => Some(Images::Tiles(85, 170)),
            Format::Anthropic => Some(Images::Area(1568, 1600)),
            Format::Gemini => Some(Images::Crops),
        }
    }

    /// Returns the format of this name.
    ///
    /// # Errors
    /// `invalid_request` for any other name.
    pub fn parse(name: &str) -> Result<Format, Error> {
        let known = Format::ALL.into_iter().find(|format| format.as_str() == name);
        known.ok_or_else(|| {
            let words = Format::ALL.map(Format::as_str).join(", ");
            Error::new(
                Code::InvalidRequest,
                format!("expected a format of {words}, but found {name:?} instead"),
            )
        })
    }
}
