//! Images and files, as bytes in base64 or at an address.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::record::blob::is_text;
use crate::record::message::Attachment;
use crate::tokens::cost::text_of;
use crate::tokens::images;

/// The type of what nobody has said the type of.
pub(super) const UNKNOWN: &str = "application/octet-stream";

/// An image or a file on its way to a provider.
pub(crate) struct File<'a> {
    pub mime: &'a str,
    pub name: Option<&'a str>,
    pub source: FileSource<'a>,
    /// Which limit of the provider's it exceeds.
    pub exceeded_limit: Option<&'static str>,
}

/// Where its bytes are.
pub(crate) enum FileSource<'a> {
    /// Here, in base64.
    Data(&'a str),
    /// At an address that the provider can ask.
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
            // A provider that is told another type than the bytes have refuses the whole request.
            FileSource::Data(data) if may_be_image(mime) => {
                images::detect_type(data.as_bytes()).unwrap_or(mime)
            }
            _ => mime,
        };
        let mime = if mime.is_empty() { UNKNOWN } else { mime };
        File { mime, name: attachment.name.as_deref(), source, exceeded_limit: None }
    }

    /// Whether it is sent as an image, if at all.
    pub fn is_image(&self) -> bool {
        self.mime.starts_with("image/") && !matches!(self.source, FileSource::Away(_))
    }

    /// How many bytes of a request it takes.
    pub fn sent_bytes(&self) -> usize {
        match self.source {
            FileSource::Data(data) if self.exceeded_limit.is_none() => data.len(),
            FileSource::Data(_) | FileSource::Url(_) | FileSource::Away(_) => 0,
        }
    }

    /// The address, or one that has the bytes in it; nothing where there is none.
    pub fn url(&self) -> String {
        match self.source {
            FileSource::Data(data) => format!("data:{};base64,{data}", self.mime),
            FileSource::Url(url) => url.to_owned(),
            FileSource::Away(_) => String::new(),
        }
    }

    /// What stands in the place of a file that cannot be sent: what it says, if it is a text, or what it is.
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

/// A file whose path is what a provider said: base64, an address, or an address with the bytes in it, which says the type
/// better.
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

/// The text of a document in base64, as attachments hold it.
pub(super) fn encode_base64(text: &str) -> String {
    STANDARD.encode(text)
}

// The type and the bytes that stand in an address.
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

// What is said to be something else than an image or a document is believed.
fn may_be_image(mime: &str) -> bool {
    is_vague(mime) || mime.starts_with("image/") || matches!(mime, UNKNOWN | "application/pdf")
}
