//! JSON, written from its beginning to its end.

use alloc::string::String;

use memchr::memchr2;

use crate::text::{on_one_line, to_json};

/// JSON on its way. Commas between what is put come by themselves.
#[derive(Default)]
pub(super) struct Json(String);

impl Json {
    /// Puts a piece of JSON, in which `?0` is the first word as a string, and `!0` the same as the JSON it is.
    pub fn put(&mut self, pattern: &str, words: &[&str]) {
        let closes = pattern.starts_with([']', '}']);
        // No value ends with what one may begin behind.
        if !closes && !matches!(self.0.as_bytes().last(), None | Some(b'{' | b'[' | b':')) {
            self.0.push(',');
        }
        let mut rest = pattern;
        while let Some(at) = memchr2(b'?', b'!', rest.as_bytes()) {
            let (before, [mark, nth, ..]) = (&rest[..at], &rest.as_bytes()[at..]) else { break };
            let word = words.get(usize::from(nth - b'0')).copied().unwrap_or_default();
            self.0.push_str(before);
            if *mark == b'?' {
                self.0.push_str(&to_json(word));
            } else {
                self.0.push_str(word);
            }
            rest = &rest[at + 2..];
        }
        self.0.push_str(rest);
    }

    pub fn finish(self) -> String {
        on_one_line(self.0)
    }
}
