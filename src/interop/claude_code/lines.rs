//! A file as lines.

use alloc::format;
use alloc::string::{String, ToString};

use crate::interop::{Losses, Object};
use crate::session::line::MAX_LINE;

/// The longest line that is read, in bytes.
pub(super) const MAX_SOURCE_LINE: usize = 2 * MAX_LINE;

/// The lines that hold something, each with its place; the byte order mark of an editor belongs to none.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut start = 0;
    bytes.split(|byte| *byte == b'\n').filter_map(move |line| {
        let here = start;
        start += line.len() + 1;
        let marked = if here == 0 { line.strip_prefix(b"\xef\xbb\xbf") } else { None };
        let text = marked.unwrap_or(line).trim_ascii_start();
        let place = here + line.len() - text.len();
        Some((place, text.trim_ascii_end())).filter(|(_, text)| !text.is_empty())
    })
}

/// What a line is, for who expected another.
pub(super) fn describe(line: &[u8]) -> String {
    let Ok(text) = core::str::from_utf8(line) else { return "no UTF-8 text".into() };
    match Object::parse("", text) {
        Ok(mut object) => match object.take::<String>("type", &mut Losses::default()) {
            Some(kind) => {
                let kind: String = kind.chars().take(40).collect();
                format!("an object of type {kind:?}")
            }
            None => "an object without a type".into(),
        },
        Err(no_object) => no_object.to_string(),
    }
}
