//! Content in blocks of text and files, without reasoning and calls.

use alloc::vec::Vec;

use crate::json::text::Text;
use crate::record::message::{Attachment, Message, Role};
use crate::shapes::answer_pieces::TEXT_SEPARATOR;

/// Texts and files.
#[derive(Default)]
pub(super) struct PlainContent {
    pub texts: Vec<Text>,
    pub attachments: Vec<Attachment>,
}

impl PlainContent {
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.attachments.is_empty()
    }

    pub fn into_message(self, role: Role) -> Message {
        let content = Text::join(self.texts, TEXT_SEPARATOR);
        Message { role: Some(role), content, attachments: self.attachments, ..Message::default() }
    }
}
