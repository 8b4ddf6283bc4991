//! Reads a file that is named by an address.

use alloc::string::String;
use alloc::vec::Vec;

use crate::record::message::Attachment;

/// Returns the file at an address: its bytes, if they stand in it (`data:`), or its path (`file:`, or no address at
/// all). `None` if only the network has it: a viewer must not ask there.
pub(super) fn attachment_from_address(
    address: &str,
    mime: Option<String>,
    name: Option<String>,
) -> Option<Attachment> {
    let known = Attachment { mime: mime.unwrap_or_default(), name, ..Attachment::default() };
    if let Some(inline) = address.strip_prefix("data:") {
        let (mime, data) = inline.split_once(";base64,")?;
        let mime = if known.mime.is_empty() { mime.into() } else { known.mime };
        return Some(Attachment { mime, data: Some(data.into()), ..known });
    }
    let path = match address.strip_prefix("file://") {
        Some(path) => unescape(path),
        None if address.is_empty() || address.contains("://") => return None,
        None => address.into(),
    };
    Some(Attachment { path: Some(path), ..known })
}

// An invalid escape stands for itself, and so does a path whose bytes are no text.
fn unescape(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = || {
            let digit = |at: usize| char::from(*after.get(at)?).to_digit(16);
            Some((digit(0)? * 16 + digit(1)?) as u8)
        };
        match escaped().filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(address: &str, path: Option<&str>, data: Option<&str>) {
        let file = attachment_from_address(address, None, None).unwrap_or_default();
        assert_eq!((file.path.as_deref(), file.data.as_deref()), (path, data), "{address}");
    }

    #[test]
    fn an_address_gives_a_path_or_bytes_and_never_the_network() {
        check("file:///home/dev/a%20b%C3%BC.txt", Some("/home/dev/a bü.txt"), None);
        check("file:///home/50%", Some("/home/50%"), None);
        check("file:///%ff", Some("/%ff"), None);
        check("notes.txt", Some("notes.txt"), None);
        check("data:image/png;base64,AAAA", None, Some("AAAA"));
        check("data:text/plain,abc", None, None);
        check("https://example.com/a.png", None, None);
        check("", None, None);
    }
}
