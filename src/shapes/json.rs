//! JSON, written from its beginning to its end.

use alloc::string::String;

use memchr::memchr2;

use crate::json::text::{on_one_line, to_json};
use crate::shapes::file::{File, FileSource};
use crate::tokens::Images;
use crate::tokens::cost::{self, SentFile};

/// JSON on its way. Commas between what is put come by themselves.
#[derive(Default)]
pub(super) struct JsonWriter {
    text: String,
    counting: Option<Counting>,
}

/// What files cost whose bytes are no text.
struct Counting {
    images: Option<Images>,
    tokens: u32,
}

// A file costs what its provider says, not what its base64 would as a text: so little of it stands for any.
const ANY_DATA: &str = "AAAA";

impl JsonWriter {
    /// JSON that is counted, not sent: images cost what this rule says, and no bytes are in it.
    pub fn for_counting(images: Option<Images>) -> JsonWriter {
        JsonWriter { text: String::new(), counting: Some(Counting { images, tokens: 0 }) }
    }

    /// Where it is counted, notes what a file costs that is sent as one; gives what stands there for its bytes.
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

    /// Puts a piece of JSON, in which `?0` is the first word as a string, and `!0` the same as the JSON it is.
    pub fn put(&mut self, pattern: &str, words: &[&str]) {
        let closes = pattern.starts_with([']', '}']);
        // No value ends with what one may begin behind.
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

    /// The JSON, and what the files cost that it does not have in it.
    pub fn into_counted(self) -> (String, u32) {
        let files = self.counting.as_ref().map_or(0, |counting| counting.tokens);
        (self.finish(), files)
    }
}
