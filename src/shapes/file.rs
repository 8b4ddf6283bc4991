//! Images and files, as base64 or at an address.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::record::blob::is_text;
use crate::record::message::Attachment;
use crate::tokens::cost::text_of;
use crate::tokens::images;

/// The type of a file whose type was not given.
pub(super) const UNKNOWN_MEDIA_TYPE: &str = "application/octet-stream";

/// An image or a file as it is sent to a provider.
pub(crate) struct File<'a> {
    pub mime: &'a str,
    pub name: Option<&'a str>,
    pub source: FileSource<'a>,
    /// The provider's limit that it exceeds.
    pub exceeded_limit: Option<&'static str>,
}

/// The place of a file's bytes.
pub(crate) enum FileSource<'a> {
    /// Inline, in base64.
    Data(&'a str),
    /// At an address that the provider can fetch.
    Url(&'a str),
    /// At a place that only this machine knows, if anywhere.
    Away(Option<&'a str>),
}

impl<'a> File<'a> {
    pub fn of(attachment: &'a Attachment) -> File<'a> {
        let (data, path) = (attachment.data.as_deref(), attachment.path.as_deref());
        let (mime, data, path) = match path.and_then(in_address) {
            Some((mime, inner)) => (mime, data.or(Some(inner)), None),
            None => (&*attachment.mime, data, path),
        };
        let source = match (data.filter(|data| is_base64(data)), path) {
            (Some(data), _) => FileSource::Data(data),
            (None, Some(path)) if is_url(path) => FileSource::Url(path),
            (None, path) => FileSource::Away(path),
        };
        let mime = match &source {
            // A provider refuses the whole request if the declared type differs from the bytes.
            FileSource::Data(data) if may_be_image(mime) => {
                images::detect_type(data.as_bytes()).unwrap_or(mime)
            }
            _ => mime,
        };
        let mime = if mime.is_empty() { UNKNOWN_MEDIA_TYPE } else { mime };
        File { mime, name: attachment.name.as_deref(), source, exceeded_limit: None }
    }

    /// True if it is sent as an image.
    pub fn is_image(&self) -> bool {
        self.mime.starts_with("image/") && !matches!(self.source, FileSource::Away(_))
    }

    /// Returns the bytes that it takes of a request.
    pub fn sent_bytes(&self) -> usize {
        match self.source {
            FileSource::Data(data) if self.exceeded_limit.is_none() => data.len(),
            FileSource::Data(_) | FileSource::Url(_) | FileSource::Away(_) => 0,
        }
    }

    /// Returns its address, or a `data:` address; empty if it has neither.
    pub fn url(&self) -> String {
        match self.source {
            FileSource::Data(data) => format!("data:{};base64,{data}", self.mime),
            FileSource::Url(url) => url.to_owned(),
            FileSource::Away(_) => String::new(),
        }
    }

    /// Describes a file that cannot be sent: by its text if it is one, else by its type and name.
    pub fn describe(&self) -> String {
        let named = self.name.map(|name| format!(" {name:?}")).unwrap_or_default();
        let mime = self.mime;
        match self.exceeded_limit {
            Some("count") => {
                return format!("[Not sent: {mime}{named}, more images than the provider takes]");
            }
            Some("bytes") => return format!("[Not sent: {mime}{named}, larger than the provider takes]"),
            Some("pixels") => {
                return format!("[Not sent: {mime}{named}, more pixels than the provider takes]");
            }
            Some("request") => {
                return format!("[Not sent: {mime}{named}, a larger request than the provider takes]");
            }
            Some(_) | None => {}
        }
        match self.source {
            FileSource::Data(data) if is_text(self.mime) => match text_of(data) {
                Some(text) => format!("[File{named}]\n{text}"),
                None => format!("[Not sent: {}{named}]", self.mime),
            },
            FileSource::Url(place) | FileSource::Away(Some(place)) => {
                format!("[Not sent: {}{named} at {place}]", self.mime)
            }
            FileSource::Data(_) | FileSource::Away(None) => format!("[Not sent: {}{named}]", self.mime),
        }
    }
}

/// Resolves the path that a provider gave: base64, an address, or a `data:` address, whose type is the more reliable
/// one.
pub(super) fn resolve_path(mut file: Attachment) -> Attachment {
    let Some(place) = file.path.take() else { return file };
    if let Some((mime, data)) = in_address(&place) {
        file.mime = mime.to_owned();
        file.data = Some(data.to_owned());
    } else if is_url(&place) {
        file.path = Some(place);
    } else {
        file.data = Some(place);
    }
    if let Some(mime) = file
        .data
        .as_deref()
        .filter(|_| is_vague(&file.mime))
        .and_then(|data| images::detect_type(data.as_bytes()))
    {
        file.mime = mime.to_owned();
    }
    file
}

/// Encodes the text of a document as base64, the form that attachments have.
pub(super) fn encode_base64(text: &str) -> String {
    STANDARD.encode(text)
}

// Splits a `data:` address into its type and its bytes.
fn in_address(place: &str) -> Option<(&str, &str)> {
    place.strip_prefix("data:")?.split_once(";base64,")
}

fn is_url(place: &str) -> bool {
    ["http://", "https://", "gs://", "data:"].iter().any(|scheme| place.starts_with(scheme))
}

fn is_base64(data: &str) -> bool {
    let inner = data.trim_end_matches('=');
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    !inner.is_empty()
        && data.len().is_multiple_of(4)
        && data.len() - inner.len() < 3
        && inner.bytes().all(is_digit)
}

fn is_vague(mime: &str) -> bool {
    mime.is_empty() || mime == "image" || mime == "image/*"
}

// A declared type other than an image or a document is believed.
fn may_be_image(mime: &str) -> bool {
    is_vague(mime) || mime.starts_with("image/") || matches!(mime, UNKNOWN_MEDIA_TYPE | "application/pdf")
}
