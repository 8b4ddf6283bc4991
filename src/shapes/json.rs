//! Writes JSON in one pass.

use alloc::string::String;

use memchr::memchr2;

use crate::json::text::{on_one_line, to_json};
use crate::shapes::file::{File, FileSource};
use crate::tokens::Images;
use crate::tokens::cost::{self, SentFile};

/// A JSON writer that adds commas between values by itself.
#[derive(Default)]
pub(super) struct JsonWriter {
    text: String,
    counting: Option<Counting>,
}

/// The cost of files whose bytes are no text.
struct Counting {
    images: Option<Images>,
    tokens: u32,
}

// A file costs what its provider says, not what its base64 would as text; these few bytes stand for any file.
const ANY_DATA: &str = "AAAA";

impl JsonWriter {
    /// Creates a writer for counting, not sending: images cost what this rule says, and no bytes are written.
    pub fn for_counting(images: Option<Images>) -> JsonWriter {
        JsonWriter { text: String::new(), counting: Some(Counting { images, tokens: 0 }) }
    }

    /// When counting, adds the cost of a file that is sent, and returns the stand-in for its bytes.
    pub fn stand_in(&mut self, file: &File<'_>) -> Option<String> {
        let counting = self.counting.as_mut()?;
        let sent = match file.source {
            FileSource::Data(data) => cost::sent_file(file.mime, data, counting.images),
            FileSource::Url(_) => SentFile::Tokens(cost::cost_of_bytes(0)),
            FileSource::Away(_) => return None,
        };
        match (sent, &file.source) {
            (SentFile::Text(text), _) => Some(text),
            (SentFile::Tokens(tokens), source) => {
                counting.tokens = counting.tokens.saturating_add(tokens);
                matches!(source, FileSource::Data(_)).then(|| ANY_DATA.into())
            }
        }
    }

    /// Writes a pattern in which `?0` is replaced by the first word as a string, and `!0` by the word as JSON.
    pub fn put(&mut self, pattern: &str, words: &[&str]) {
        let closes = pattern.starts_with([']', '}']);
        // No value ends with a character after which one may begin.
        if !closes && !matches!(self.text.as_bytes().last(), None | Some(b'{' | b'[' | b':')) {
            self.text.push(',');
        }
        let mut rest = pattern;
        while let Some(at) = memchr2(b'?', b'!', rest.as_bytes()) {
            let (before, [mark, nth, ..]) = (&rest[..at], &rest.as_bytes()[at..]) else { break };
            let word = words.get(usize::from(nth - b'0')).copied().unwrap_or_default();
            self.text.push_str(before);
            if *mark == b'?' {
                self.text.push_str(&to_json(word));
            } else {
                self.text.push_str(word);
            }
            rest = &rest[at + 2..];
        }
        self.text.push_str(rest);
    }

    pub fn finish(self) -> String {
        on_one_line(self.text)
    }

    /// Returns the JSON, and the cost of the files that are not in it.
    pub fn into_counted(self) -> (String, u32) {
        let files = self.counting.as_ref().map_or(0, |counting| counting.tokens);
        (self.finish(), files)
    }
}
